// Cheapest way down a grid, one row after another: the cost of a cell is its own plus the least of the three above it.
//
// A launch advances `steps` rows. Neighbouring blocks overlap by `steps` cells on each side, because each row spoils
// one more cell at the block's edges.
#include "warpwatt.cuh"

#define THREADS 256

extern "C" __global__ void pathfinder(const int *wall, const int *from, int *to, int columns, int first_row,
                                      int steps, int overlap) {
  __shared__ int above[THREADS];
  __shared__ int current[THREADS];
  int t = threadIdx.x;
  int x = (int)blockIdx.x * (THREADS - 2 * overlap) - overlap + t;
  bool on_grid = x >= 0 && x < columns;
  int left = max(t - 1, t - x), right = min(t + 1, t + columns - 1 - x);

  if (on_grid) above[t] = from[x];
  __syncthreads();

  bool good = false;
  for (int s = 1; s <= steps; ++s) {
    good = on_grid && t >= s && t < THREADS - s;
    if (good) {
      int least = min(above[t], min(above[left], above[right]));
      current[t] = least + wall[(first_row + s - 1) * columns + x];
    }
    __syncthreads();
    if (s == steps) break;
    if (good) above[t] = current[t];
    __syncthreads();
  }

  if (on_grid && t >= overlap && t < THREADS - overlap) to[x] = current[t];
}
