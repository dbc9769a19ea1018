// The Q matrix of non-Cartesian MRI reconstruction: for every voxel, a sum over all sample points of k-space of the
// sample's magnitude times e^(2 pi i k.x).
#include "warpwatt.cuh"

#define CHUNK 1024
#define TWO_PI 6.2831853071795864769f

// A chunk of k-space, read by all threads in step: x, y, z, magnitude.
__constant__ float4 samples[CHUNK];

extern "C" __global__ void mriq_phi_magnitude(const float *real, const float *imaginary, float *magnitude, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float r = real[i], m = imaginary[i];
    magnitude[i] = __fmaf_rn(m, m, r * r);
  }
}

// Adds the chunk's samples to every voxel. The phase is counted in turns, so that dropping whole turns is exact and the
// argument of sine and cosine stays where their approximations are best.
extern "C" __global__ void mriq_compute_q(const float *x, const float *y, const float *z, float *q_real,
                                          float *q_imaginary, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float vx = x[i], vy = y[i], vz = z[i];
  float re = q_real[i], im = q_imaginary[i];
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    float4 s = samples[k];
    float turns = __fmaf_rn(s.z, vz, __fmaf_rn(s.y, vy, s.x * vx));
    float angle = TWO_PI * (turns - rintf(turns));
    re = __fmaf_rn(s.w, __cosf(angle), re);
    im = __fmaf_rn(s.w, __sinf(angle), im);
  }
  q_real[i] = re;
  q_imaginary[i] = im;
}
