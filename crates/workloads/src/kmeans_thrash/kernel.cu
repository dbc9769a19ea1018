// k-means clustering on points as the host has them, without a transposition: a thread reads its own row.
#include "warpwatt.cuh"

// A warp's lanes read 32 rows, so each load touches 32 lines, which the next loads of the same warp could use if the
// other warps' lines did not push them out.
extern "C" __global__ void kmeans_assign_rows(const float *points, const float *centroids, int *membership, int count,
                                              int features, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float *point = points + i * features;
  int nearest = 0;
  float least = 3.402823466e38f;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < features; ++f) {
      float d = point[f] - centroids[c * features + f];
      distance = __fmaf_rn(d, d, distance);
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[i] = nearest;
}
