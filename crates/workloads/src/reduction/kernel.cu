// The sum of an array: each block a share of it, then the blocks' sums.
#include "warpwatt.cuh"

#define THREADS 256

// Each thread adds up every so many elements, two at a time; the block adds its threads' sums up as a tree.
extern "C" __global__ __launch_bounds__(THREADS) void reduction_sum(const float *data, float *sums, int count) {
  __shared__ float sum[THREADS];
  int t = threadIdx.x, stride = gridDim.x * 2 * THREADS;
  float mine = 0.0f;
  for (int i = blockIdx.x * 2 * THREADS + t; i < count; i += stride) {
    mine += data[i];
    if (i + THREADS < count) mine += data[i + THREADS];
  }
  sum[t] = mine;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) sum[t] += sum[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = sum[0];
}
