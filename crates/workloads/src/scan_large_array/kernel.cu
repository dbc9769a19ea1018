// Exclusive prefix sums of a large array: blocks by a work-efficient tree in shared memory, then the sums of the blocks,
// then both together.
#include "warpwatt.cuh"

#define THREADS 256
#define PART (2 * THREADS)
// One word is left out after every 32, so that the tree's strides fall into different banks.
#define PADDED(i) ((i) + ((i) >> 5))

// Scans each part by itself; sums: the sum of each part. Elements beyond the end count as 0.
extern "C" __global__ __launch_bounds__(THREADS) void scan_parts(const float *in, float *out, float *sums, int count) {
  __shared__ float tree[PADDED(PART)];
  int t = threadIdx.x, first = blockIdx.x * PART;
  int low = first + t, high = low + THREADS;
  tree[PADDED(t)] = low < count ? in[low] : 0.0f;
  tree[PADDED(t + THREADS)] = high < count ? in[high] : 0.0f;

  // Up: sums of ever longer stretches. Down: each stretch hands what lies before it to its halves.
  int stride = 1;
  for (int busy = THREADS; busy > 0; busy /= 2) {
    __syncthreads();
    if (t < busy) {
      int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
      tree[PADDED(right)] += tree[PADDED(left)];
    }
    stride *= 2;
  }
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = tree[PADDED(PART - 1)];
    tree[PADDED(PART - 1)] = 0.0f;
  }
  for (int busy = 1; busy <= THREADS; busy *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < busy) {
      int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
      float before = tree[PADDED(right)];
      tree[PADDED(right)] = before + tree[PADDED(left)];
      tree[PADDED(left)] = before;
    }
  }
  __syncthreads();
  if (low < count) out[low] = tree[PADDED(t)];
  if (high < count) out[high] = tree[PADDED(t + THREADS)];
}

// Adds to each part what lies before it.
extern "C" __global__ __launch_bounds__(THREADS) void scan_add(float *out, const float *before, int count) {
  int t = threadIdx.x, low = blockIdx.x * PART + t, high = low + THREADS;
  float mine = before[blockIdx.x];
  if (low < count) out[low] += mine;
  if (high < count) out[high] += mine;
}
