// Breadth-first search by levels, one thread per node, in the two passes that keep a level's reads and writes apart.
#include "warpwatt.cuh"

// Every frontier node gives its unvisited neighbours a level. Two nodes may reach one neighbour: both write the same.
extern "C" __global__ void bfs_expand(const int *row, const int *column, unsigned char *frontier, unsigned char *next,
                                      const unsigned char *visited, int *level, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || !frontier[v]) return;
  frontier[v] = 0;
  int depth = level[v] + 1;
  for (int edge = row[v]; edge < row[v + 1]; ++edge) {
    int u = column[edge];
    if (!visited[u]) {
      level[u] = depth;
      next[u] = 1;
    }
  }
}

// The nodes just reached become the frontier; `more` tells the host whether there are any.
extern "C" __global__ void bfs_commit(unsigned char *frontier, unsigned char *next, unsigned char *visited, int *more,
                                      int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || !next[v]) return;
  next[v] = 0;
  frontier[v] = 1;
  visited[v] = 1;
  *more = 1;
}
