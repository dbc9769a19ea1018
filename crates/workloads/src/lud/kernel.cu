// LU decomposition without pivoting, in place, by blocks of 16: for each block column, the diagonal tile, then the
// tiles beside and below it, then everything that remains.
#include "warpwatt.cuh"

#define B 16

// Factors the tile at (start, start). One block of 16 threads, a row of the tile each.
extern "C" __global__ void lud_diagonal(float *m, int n, int start) {
  __shared__ float tile[B][B];
  int t = threadIdx.x;
  float *corner = m + start * n + start;
  for (int i = 0; i < B; ++i) tile[i][t] = corner[i * n + t];
  __syncthreads();
  for (int k = 0; k < B - 1; ++k) {
    if (t > k) {
      float l = tile[t][k] / tile[k][k];
      tile[t][k] = l;
      for (int j = k + 1; j < B; ++j) tile[t][j] = __fmaf_rn(-l, tile[k][j], tile[t][j]);
    }
    __syncthreads();
  }
  for (int i = 1; i < B; ++i) corner[i * n + t] = tile[i][t];
}

// Block b takes the tile b + 1 to the right of the diagonal tile and the tile b + 1 below it. 32 threads: the first
// half solves for a column of U each, the second half for a row of L each.
extern "C" __global__ void lud_perimeter(float *m, int n, int start) {
  __shared__ float diagonal[B][B];
  __shared__ float right[B][B];
  __shared__ float below[B][B];
  int half = threadIdx.x / B, t = threadIdx.x % B;
  int distance = (blockIdx.x + 1) * B;
  float *corner = m + start * n + start;
  float *right_tile = corner + distance;
  float *below_tile = corner + distance * n;

  for (int i = half; i < B; i += 2) {
    diagonal[i][t] = corner[i * n + t];
    right[i][t] = right_tile[i * n + t];
    below[i][t] = below_tile[i * n + t];
  }
  __syncthreads();

  if (half == 0) {
    for (int i = 1; i < B; ++i) {
      float x = right[i][t];
      for (int k = 0; k < i; ++k) x = __fmaf_rn(-diagonal[i][k], right[k][t], x);
      right[i][t] = x;
    }
  } else {
    for (int i = 0; i < B; ++i) {
      float x = below[t][i];
      for (int k = 0; k < i; ++k) x = __fmaf_rn(-below[t][k], diagonal[k][i], x);
      below[t][i] = x / diagonal[i][i];
    }
  }
  __syncthreads();

  for (int i = half; i < B; i += 2) {
    right_tile[i * n + t] = right[i][t];
    below_tile[i * n + t] = below[i][t];
  }
}

// Subtracts L x U from one of the remaining tiles. 16 x 16 threads.
extern "C" __global__ void lud_internal(float *m, int n, int start) {
  __shared__ float l[B][B];
  __shared__ float u[B][B];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = start + (blockIdx.y + 1) * B + ty, column = start + (blockIdx.x + 1) * B + tx;
  l[ty][tx] = m[row * n + start + tx];
  u[ty][tx] = m[(start + ty) * n + column];
  __syncthreads();
  float x = m[row * n + column];
#pragma unroll
  for (int k = 0; k < B; ++k) x = __fmaf_rn(-l[ty][k], u[k][tx], x);
  m[row * n + column] = x;
}
