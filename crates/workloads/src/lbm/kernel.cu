// A step of the lattice Boltzmann method with 19 velocities in three dimensions (D3Q19): collision, then streaming.
#include "warpwatt.cuh"

#define Q 19

// The velocities, each followed by its opposite after the resting one; weights 1/3, 1/18 (six), 1/36 (twelve).
static constexpr int EX[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static constexpr int EY[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static constexpr int EZ[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

static __device__ __forceinline__ float along(int e, float u, float sum) {
  return e == 0 ? sum : e > 0 ? sum + u : sum - u;
}

// One thread a cell, a block a row in x, periodic in all directions. from, to: velocity after velocity. A solid cell sends
// back what it receives. push: what a body force adds to the velocity.
extern "C" __global__ void lbm_step(const float *from, float *to, const unsigned char *solid, int cells, float omega,
                                    float push_x, float push_y, float push_z) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  int width = blockDim.x, height = gridDim.x, depth = gridDim.y;
  int i = (z * height + y) * width + x;
  float f[Q];
#pragma unroll
  for (int q = 0; q < Q; ++q) f[q] = from[q * cells + i];

  if (solid[i]) {
#pragma unroll
    for (int q = 1; q < Q; q += 2) {
      float forth = f[q];
      f[q] = f[q + 1];
      f[q + 1] = forth;
    }
  } else {
    float density = 0.0f, jx = 0.0f, jy = 0.0f, jz = 0.0f;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      density += f[q];
      jx = along(EX[q], f[q], jx);
      jy = along(EY[q], f[q], jy);
      jz = along(EZ[q], f[q], jz);
    }
    float volume = 1.0f / density;
    float ux = __fmaf_rn(jx, volume, push_x), uy = __fmaf_rn(jy, volume, push_y), uz = __fmaf_rn(jz, volume, push_z);
    float square = __fmaf_rn(uz, uz, __fmaf_rn(uy, uy, ux * ux));
    float base = __fmaf_rn(-1.5f, square, 1.0f);
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      float weight = (q == 0 ? 1.0f / 3.0f : q < 7 ? 1.0f / 18.0f : 1.0f / 36.0f) * density;
      float eu = along(EZ[q], uz, along(EY[q], uy, along(EX[q], ux, 0.0f)));
      float shape = __fmaf_rn(eu, __fmaf_rn(4.5f, eu, 3.0f), base);
      f[q] = __fmaf_rn(omega, __fmaf_rn(weight, shape, -f[q]), f[q]);
    }
  }

#pragma unroll
  for (int q = 0; q < Q; ++q) {
    int tx = x + EX[q], ty = y + EY[q], tz = z + EZ[q];
    tx = tx < 0 ? width - 1 : tx == width ? 0 : tx;
    ty = ty < 0 ? height - 1 : ty == height ? 0 : ty;
    tz = tz < 0 ? depth - 1 : tz == depth ? 0 : tz;
    to[q * cells + (tz * height + ty) * width + tx] = f[q];
  }
}
