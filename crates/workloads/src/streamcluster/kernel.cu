// Clustering of a stream's points by local search: what would be gained if a point became a centre?
#include "warpwatt.cuh"

#define THREADS 512
#define MOST_DIMENSIONS 64

// For each point, how much its cost falls if it moves to the candidate. coordinates: dimension after dimension.
extern "C" __global__ __launch_bounds__(THREADS) void streamcluster_gain(const float *coordinates, const float *weight,
                                                                         const float *cost, float *gain, int points,
                                                                         int dimensions, int candidate) {
  __shared__ float place[MOST_DIMENSIONS];
  int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  if (t < dimensions) place[t] = coordinates[t * points + candidate];
  __syncthreads();
  if (i >= points) return;
  float distance = 0.0f;
  for (int d = 0; d < dimensions; ++d) {
    float apart = coordinates[d * points + i] - place[d];
    distance = __fmaf_rn(apart, apart, distance);
  }
  gain[i] = __fmaf_rn(-weight[i], distance, cost[i]);
}
