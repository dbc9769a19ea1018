// Needleman-Wunsch global alignment: the score table in tiles of 16 x 16 along the tile anti-diagonals, one block of 16
// threads per tile; within a tile, along its own anti-diagonals.
#include "warpwatt.cuh"

#define B 16

// `table` has n + 1 rows and columns, its first ones filled in by the host; `similarity` is n x n.
static __device__ __forceinline__ void align_tile(const int *similarity, int *table, int n, int gap, int tile_x,
                                                  int tile_y) {
  __shared__ int score[B + 1][B + 1];
  __shared__ int match[B][B];
  int t = threadIdx.x, stride = n + 1;
  int *corner = table + tile_y * B * stride + tile_x * B;
  const int *pairs = similarity + tile_y * B * n + tile_x * B;

  for (int i = 0; i < B; ++i) match[i][t] = pairs[i * n + t];
  if (t == 0) score[0][0] = corner[0];
  score[t + 1][0] = corner[(t + 1) * stride];
  score[0][t + 1] = corner[t + 1];
  __syncthreads();

  for (int wave = 0; wave < 2 * B - 1; ++wave) {
    int i = wave - t;
    if (i >= 0 && i < B) {
      int aligned = score[i][t] + match[i][t];
      int gap_left = score[i + 1][t] - gap, gap_up = score[i][t + 1] - gap;
      score[i + 1][t + 1] = max(aligned, max(gap_left, gap_up));
    }
    __syncthreads();
  }

  for (int i = 1; i <= B; ++i) corner[i * stride + t + 1] = score[i][t + 1];
}

// Tile anti-diagonal `diagonal` of the upper left triangle, the longest included.
extern "C" __global__ void nw_upper(const int *similarity, int *table, int n, int gap, int diagonal) {
  align_tile(similarity, table, n, gap, blockIdx.x, diagonal - blockIdx.x);
}

// Tile anti-diagonal `diagonal` of the lower right triangle: it begins at the last row.
extern "C" __global__ void nw_lower(const int *similarity, int *table, int n, int gap, int diagonal) {
  int last = n / B - 1;
  align_tile(similarity, table, n, gap, diagonal - last + blockIdx.x, last - blockIdx.x);
}
