// C = alpha A B + beta C in single precision, tiled in registers: a thread computes 16 neighbouring columns of one row,
// a block of 128 threads a tile of 128 x 16. A and C are column-major, B is row-major, so that every access to global
// memory is coalesced; B passes through shared memory, from which all threads of a warp read the same word.
#include "warpwatt.cuh"

#define ROWS 128
#define COLUMNS 16
#define DEPTH 8

extern "C" __global__ __launch_bounds__(ROWS) void sgemm(const float *a, const float *b, float *c, int m, int n,
                                                         int k, float alpha, float beta) {
  __shared__ float tile[DEPTH][COLUMNS];
  int t = threadIdx.x;
  int row = blockIdx.x * ROWS + t, column = blockIdx.y * COLUMNS;
  int load_row = t / COLUMNS, load_column = t % COLUMNS;
  float sum[COLUMNS];
#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) sum[j] = 0.0f;

#pragma unroll 1
  for (int start = 0; start < k; start += DEPTH) {
    tile[load_row][load_column] = b[(start + load_row) * n + column + load_column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEPTH; ++i) {
      float x = a[(start + i) * m + row];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) sum[j] = __fmaf_rn(x, tile[i][j], sum[j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) {
    int at = (column + j) * m + row;
    c[at] = __fmaf_rn(alpha, sum[j], beta * c[at]);
  }
}
