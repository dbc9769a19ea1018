// Sparse matrix times vector, rows one after the other in memory, a thread a row; all threads go through the matrix from
// top to bottom together.
#include "warpwatt.cuh"

extern "C" __global__ void spmv_rows(const int *start, const int *column, const float *value, const float *x, float *y,
                                     int rows) {
  int threads = gridDim.x * blockDim.x;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += threads) {
    float sum = 0.0f;
    int end = start[row + 1];
#pragma unroll 1
    for (int k = start[row]; k < end; ++k) sum = __fmaf_rn(value[k], x[column[k]], sum);
    y[row] = sum;
  }
}
