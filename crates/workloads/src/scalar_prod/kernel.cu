// Scalar products of many pairs of vectors, a block a pair.
#include "warpwatt.cuh"

#define THREADS 256
#define SUMS 1024  // partial sums of a pair

extern "C" __global__ __launch_bounds__(THREADS) void scalar_prod(const float *a, const float *b, float *products,
                                                                  int pairs, int length) {
  __shared__ float sum[SUMS];
  int t = threadIdx.x;
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const float *x = a + pair * length, *y = b + pair * length;
    for (int k = t; k < SUMS; k += THREADS) {
      float mine = 0.0f;
      for (int i = k; i < length; i += SUMS) mine = __fmaf_rn(x[i], y[i], mine);
      sum[k] = mine;
    }
    for (int half = SUMS / 2; half > 0; half /= 2) {
      __syncthreads();
      for (int k = t; k < half; k += THREADS) sum[k] += sum[k + half];
    }
    if (t == 0) products[pair] = sum[0];
    __syncthreads();
  }
}
