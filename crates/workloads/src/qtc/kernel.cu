// Quality-threshold clustering: from each point, the cluster that grows by the nearest point until it would be too wide.
#include "warpwatt.cuh"

#define THREADS 64
#define MOST_POINTS 512
#define FREE -1

// All distances; a thread an element, a block a stretch of a row.
extern "C" __global__ void qtc_distances(const float *x, const float *y, float *distance, int points) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= points) return;
  float dx = x[i] - x[j], dy = y[i] - y[j];
  distance[i * points + j] = __fsqrt_rn(__fmaf_rn(dy, dy, dx * dx));
}

// Grows the cluster of one seed per block, from seeds that are still free; sizes: 0 for the others. Every step takes the
// point that makes the cluster least wide (the first of several). With `owner_of`, the points of the cluster are given
// that owner.
extern "C" __global__ __launch_bounds__(THREADS) void qtc_grow(const float *distance, int *owner, int *sizes,
                                                               int points, int first, float widest, int owner_of) {
  __shared__ float width[MOST_POINTS];  // of the cluster with each point; infinite for those that cannot join
  __shared__ float best[THREADS];
  __shared__ int place[THREADS];
  const float never = 3.402823466e38f;
  int t = threadIdx.x, seed = first + blockIdx.x;
  if (owner[seed] != FREE) {
    if (t == 0) sizes[seed] = 0;
    return;
  }
  for (int j = t; j < points; j += THREADS)
    width[j] = owner[j] == FREE && j != seed ? distance[seed * points + j] : never;
  int size = 1;
  for (;;) {
    float least = never;
    int nearest = points;
    for (int j = t; j < points; j += THREADS) {
      if (width[j] < least) {
        least = width[j];
        nearest = j;
      }
    }
    best[t] = least;
    place[t] = nearest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
      if (t < half) {
        bool better = best[t + half] < best[t] || (best[t + half] == best[t] && place[t + half] < place[t]);
        if (better) {
          best[t] = best[t + half];
          place[t] = place[t + half];
        }
      }
      __syncthreads();
    }
    int joined = place[0];
    bool full = best[0] > widest;
    __syncthreads();
    if (full) break;
    ++size;
    if (owner_of != FREE && t == 0) owner[joined] = owner_of;
    for (int j = t; j < points; j += THREADS)
      width[j] = j == joined ? never : fmaxf(width[j], distance[joined * points + j]);
  }
  if (t == 0) {
    sizes[seed] = size;
    if (owner_of != FREE) owner[seed] = owner_of;
  }
}
