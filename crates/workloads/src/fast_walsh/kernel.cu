// The fast Walsh-Hadamard transform and dyadic convolution by it: large strides in global memory, the last ten levels in
// shared memory.
#include "warpwatt.cuh"

#define THREADS 256
#define LENGTH 1024  // of a part that is transformed in shared memory

// Two levels, with strides 2 `stride` and `stride`: a thread takes four elements.
static __device__ __forceinline__ void butterfly(float *data, int at, int stride) {
  float a = data[at], b = data[at + stride], c = data[at + 2 * stride], d = data[at + 3 * stride];
  float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
  data[at] = ac + bd;
  data[at + stride] = ac - bd;
  data[at + 2 * stride] = a_c + b_d;
  data[at + 3 * stride] = a_c - b_d;
}

extern "C" __global__ void walsh_global(float *data, int stride) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int within = t & (stride - 1);
  butterfly(data, (t - within) * 4 + within, stride);
}

extern "C" __global__ __launch_bounds__(THREADS) void walsh_shared(float *data) {
  __shared__ float part[LENGTH];
  int t = threadIdx.x;
  float *mine = data + blockIdx.x * LENGTH;
  for (int i = t; i < LENGTH; i += THREADS) part[i] = mine[i];
  for (int stride = LENGTH / 4; stride > 0; stride /= 4) {
    __syncthreads();
    int within = t & (stride - 1);
    butterfly(part, (t - within) * 4 + within, stride);
  }
  __syncthreads();
  for (int i = t; i < LENGTH; i += THREADS) mine[i] = part[i];
}

// Element by element, scaled.
extern "C" __global__ void walsh_modulate(float *data, const float *other, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = data[i] * other[i] * scale;
}
