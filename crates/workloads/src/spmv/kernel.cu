// Sparse matrix times vector, matrix in jagged diagonal storage: rows sorted by falling length, the k-th entries of all
// rows side by side, so that a warp reads entries coalesced and its rows are nearly equally long.
#include "warpwatt.cuh"

#define MOST_DIAGONALS 1024

__constant__ int diagonal_start[MOST_DIAGONALS];

// warp_length: entries (padding included) of each group of 32 sorted rows. permutation: sorted position to row.
extern "C" __global__ void spmv(const float *value, const int *column, const int *warp_length,
                                const int *permutation, const float *__restrict__ x, float *y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  int length = warp_length[i / 32];
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < length; ++k) {
    int at = diagonal_start[k] + i;
    sum = __fmaf_rn(value[at], x[column[at]], sum);
  }
  y[permutation[i]] = sum;
}
