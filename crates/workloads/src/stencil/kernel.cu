// Seven-point Jacobi step on a 3D grid. A block owns a 32 x 8 column of cells and walks it in z: the planes above and
// below wait in registers, the current plane is shared.
#include "warpwatt.cuh"

#define BX 32
#define BY 8

extern "C" __global__ void stencil(const float *from, float *to, int nx, int ny, int nz, float centre_weight,
                                   float neighbour_weight) {
  __shared__ float plane[BY + 2][BX + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty;
  int step = nx * ny, i = y * nx + x;
  bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;

  float below = from[i];
  i += step;
  float current = from[i];
#pragma unroll 1
  for (int z = 1; z < nz - 1; ++z, i += step) {
    plane[ty + 1][tx + 1] = current;
    if (tx == 0 && x > 0) plane[ty + 1][0] = from[i - 1];
    if (tx == BX - 1 && x < nx - 1) plane[ty + 1][BX + 1] = from[i + 1];
    if (ty == 0 && y > 0) plane[0][tx + 1] = from[i - nx];
    if (ty == BY - 1 && y < ny - 1) plane[BY + 1][tx + 1] = from[i + nx];
    float above = from[i + step];
    __syncthreads();
    if (inner) {
      float beside = plane[ty + 1][tx] + plane[ty + 1][tx + 2];
      float along = plane[ty][tx + 1] + plane[ty + 2][tx + 1];
      float around = (above + below) + (along + beside);
      to[i] = __fmaf_rn(neighbour_weight, around, -(centre_weight * current));
    }
    __syncthreads();
    below = current;
    current = above;
  }
}
