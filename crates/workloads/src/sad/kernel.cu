// Sums of absolute differences between blocks of a frame and an earlier frame, at all displacements in a square, for
// motion estimation: first blocks of 4 x 4 pixels, then larger ones as sums of four.
#include "warpwatt.cuh"

#define THREADS 64

// A block per 4 x 4 pixels, a thread per displacement, again and again. earlier: the earlier frame with a border of `reach`
// pixels. sums: block after block, displacement after displacement.
extern "C" __global__ __launch_bounds__(THREADS) void sad_4x4(const unsigned char *frame,
                                                              const unsigned char *__restrict__ earlier,
                                                              unsigned short *sums, int width, int reach) {
  __shared__ int pixels[16];
  int t = threadIdx.x, left = 4 * blockIdx.x, top = 4 * blockIdx.y;
  int across = 2 * reach + 1, displacements = across * across, stride = width + 2 * reach;
  if (t < 16) pixels[t] = frame[(top + t / 4) * width + left + t % 4];
  __syncthreads();
  unsigned short *mine = sums + (blockIdx.y * gridDim.x + blockIdx.x) * displacements;
  for (int d = t; d < displacements; d += THREADS) {
    const unsigned char *from = earlier + (top + d / across) * stride + left + d % across;
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        int difference = pixels[4 * i + j] - from[i * stride + j];
        sum += difference < 0 ? -difference : difference;
      }
    }
    mine[d] = sum;
  }
}

// Twice as large: the sum of four neighbours, at each displacement. A block per block of pixels.
static __device__ __forceinline__ void join(const unsigned short *parts, unsigned short *sums, int displacements) {
  const unsigned short *upper = parts + (4 * blockIdx.y * gridDim.x + 2 * blockIdx.x) * displacements;
  const unsigned short *lower = upper + 2 * gridDim.x * displacements;
  unsigned short *mine = sums + (blockIdx.y * gridDim.x + blockIdx.x) * displacements;
  for (int d = threadIdx.x; d < displacements; d += THREADS)
    mine[d] = upper[d] + upper[displacements + d] + lower[d] + lower[displacements + d];
}

extern "C" __global__ __launch_bounds__(THREADS) void sad_8x8(const unsigned short *parts, unsigned short *sums,
                                                              int displacements) {
  join(parts, sums, displacements);
}

extern "C" __global__ __launch_bounds__(THREADS) void sad_16x16(const unsigned short *parts, unsigned short *sums,
                                                                int displacements) {
  join(parts, sums, displacements);
}
