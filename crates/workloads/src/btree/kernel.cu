// Look-ups in a B+ tree, a block per query and a thread per key of a node.
#include "warpwatt.cuh"

#define ORDER 128

// A node's keys ascend; slot 0 holds the least key there is, and slots beyond the last hold the greatest, as does the
// sentinel at ORDER. In an inner node, child[t] leads to the keys from key[t] up to (not including) key[t + 1]; in a leaf
// it is the place of key[t]'s record. Leaves number their records in ascending order of the keys.
struct Node {
  int key[ORDER + 1];
  int child[ORDER];
};

// The record whose key is the query; -1 if there is none.
extern "C" __global__ __launch_bounds__(ORDER) void btree_find(const Node *nodes, int height, const int *queries,
                                                               const int *records, int *answers) {
  __shared__ volatile int at;  // written by one thread, read by all
  int t = threadIdx.x, query = queries[blockIdx.x];
  if (t == 0) {
    at = 0;
    answers[blockIdx.x] = -1;
  }
  __syncthreads();
  for (int level = 0; level < height; ++level) {
    const Node &node = nodes[at];
    bool mine = node.key[t] <= query && query < node.key[t + 1];
    __syncthreads();
    if (mine) at = node.child[t];
    __syncthreads();
  }
  const Node &leaf = nodes[at];
  if (leaf.key[t] == query) answers[blockIdx.x] = records[leaf.child[t]];
}

// Places in the order of the keys: of the first record that is not below the range, and how many are in it.
// Both ends descend together.
extern "C" __global__ __launch_bounds__(ORDER) void btree_range(const Node *nodes, int height, const int *lows,
                                                                const int *highs, int *firsts, int *counts) {
  __shared__ volatile int at_low, at_high, first, beyond;
  int t = threadIdx.x, low = lows[blockIdx.x], high = highs[blockIdx.x];
  if (t == 0) {
    at_low = 0;
    at_high = 0;
  }
  __syncthreads();
  for (int level = 0; level < height; ++level) {
    const Node &left = nodes[at_low];
    const Node &right = nodes[at_high];
    bool low_is_mine = left.key[t] <= low && low < left.key[t + 1];
    bool high_is_mine = right.key[t] <= high && high < right.key[t + 1];
    __syncthreads();
    if (low_is_mine) at_low = left.child[t];
    if (high_is_mine) at_high = right.child[t];
    __syncthreads();
  }
  const Node &left = nodes[at_low];
  const Node &right = nodes[at_high];
  if (left.key[t] <= low && low < left.key[t + 1]) first = left.key[t] == low ? left.child[t] : left.child[t] + 1;
  if (right.key[t] <= high && high < right.key[t + 1]) beyond = right.child[t] + 1;
  __syncthreads();
  if (t == 0) {
    firsts[blockIdx.x] = first;
    counts[blockIdx.x] = beyond - first;
  }
}
