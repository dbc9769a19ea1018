// k-means clustering: the device assigns points to the nearest centroid, the host moves the centroids.
#include "warpwatt.cuh"

#define MOST_CENTROIDS 4096  // floats: clusters x features

__constant__ float centroids[MOST_CENTROIDS];

// Point-major to feature-major, so that the threads of a warp read one feature of 32 points side by side.
extern "C" __global__ void kmeans_transpose(const float *points, float *by_feature, int count, int features) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (int f = 0; f < features; ++f) by_feature[f * count + i] = points[i * features + f];
}

extern "C" __global__ void kmeans_assign(const float *__restrict__ by_feature, int *membership, int count,
                                         int features, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int nearest = 0;
  float least = 3.402823466e38f;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < features; ++f) {
      float d = by_feature[f * count + i] - centroids[c * features + f];
      distance = __fmaf_rn(d, d, distance);
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[i] = nearest;
}
