// Transposition of a matrix: straight, and through tiles in shared memory.
#include "warpwatt.cuh"

#define TILE 16

// Reads along rows, writes along columns: a half warp's stores go to sixteen rows.
extern "C" __global__ void transpose_naive(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

// Reads and writes along rows; one more column keeps the tile's columns in different banks.
extern "C" __global__ void transpose_tiled(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
