// Minimum spanning forest by Boruvka's rounds: each tree finds its lightest way out, and trees are joined along it.
// Weights are all different. An edge's number stands for the edge; `parent[v]` is the root of v's tree.
#include "warpwatt.cuh"

#define NONE 0xffffffffu

// For each tree, the weight of the lightest edge that leads out of it. edges of v: numbers at row[v] .. row[v + 1], and
// at `column` their other ends.
extern "C" __global__ void mst_lightest(const int *row, const int *column, const int *edge, const unsigned *weight,
                                        const int *parent, unsigned *lightest, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  int mine = parent[v];
  unsigned least = NONE;
  for (int k = row[v]; k < row[v + 1]; ++k) {
    if (parent[column[k]] != mine) least = min(least, weight[edge[k]]);
  }
  if (least != NONE) atomicMin(&lightest[mine], least);
}

// Hooks each root to the tree at the other end of its edge, and takes the edge. Of two trees that chose the same edge,
// the lower root stays one. of_weight: the edge with this weight; ends: both ends of each edge.
extern "C" __global__ void mst_hook(const int *parent, const unsigned *lightest, const int *of_weight, const int *ends,
                                    int *next, unsigned char *taken, int *more, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  int root = parent[v];
  unsigned least = lightest[v];
  if (root == v && least != NONE) {
    int chosen = of_weight[least];
    int a = parent[ends[2 * chosen]], b = parent[ends[2 * chosen + 1]];
    int other = a == v ? b : a;
    taken[chosen] = 1;
    *more = 1;
    if (lightest[other] != least || other < v) root = other;
  }
  next[v] = root;
}

// Follows the hooks to the root, and forgets what was the lightest.
extern "C" __global__ void mst_jump(const int *next, int *parent, unsigned *lightest, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  int root = next[v];
  while (next[root] != root) root = next[root];
  parent[v] = root;
  lightest[v] = NONE;
}
