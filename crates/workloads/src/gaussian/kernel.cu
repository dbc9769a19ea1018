// Gaussian elimination without pivoting: for each column one launch that finds the multipliers of the rows below the
// diagonal and one that subtracts the pivot row, so often, from each of them.
#include "warpwatt.cuh"

extern "C" __global__ void gaussian_multipliers(const float *matrix, float *multiplier, int n, int column) {
  int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  multiplier[row * n + column] = matrix[row * n + column] / matrix[column * n + column];
}

// x runs over rows, y over columns: a half warp's stores fall into four rows.
extern "C" __global__ void gaussian_eliminate(float *matrix, float *right, const float *multiplier, int n, int column) {
  int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  int j = column + blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || j >= n) return;
  float m = multiplier[row * n + column];
  matrix[row * n + j] = __fmaf_rn(-m, matrix[column * n + j], matrix[row * n + j]);
  if (j == column) right[row] = __fmaf_rn(-m, right[column], right[row]);
}
