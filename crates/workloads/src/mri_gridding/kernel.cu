// Gridding of MRI samples that lie anywhere in k-space: samples are sorted into bins of 4 x 4 x 4 grid points, and each
// grid point gathers from the bins around it.
#include "warpwatt.cuh"

#define BIN 4
#define THREADS 64  // grid points of a bin
#define SCAN 256

// position: x, y, z, unused. Which bin each sample belongs to, and its rank among those of the bin.
extern "C" __global__ void gridding_bin(const float4 *position, unsigned *count, int *bin, int *rank, int samples,
                                        int bins_across) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  float4 p = position[i];
  int b = ((int)p.z / BIN * bins_across + (int)p.y / BIN) * bins_across + (int)p.x / BIN;
  bin[i] = b;
  rank[i] = (int)atomicAdd(&count[b], 1u);
}

// Where each bin begins: the sum of the counts before it. One block, SCAN bins at a time.
extern "C" __global__ __launch_bounds__(SCAN) void gridding_scan(const unsigned *count, int *start, int bins) {
  __shared__ int sum[2][SCAN];
  int t = threadIdx.x, before = 0;
  for (int first = 0; first < bins; first += SCAN) {
    int mine = first + t < bins ? (int)count[first + t] : 0, now = 0;
    sum[0][t] = mine;
    __syncthreads();
    for (int step = 1; step < SCAN; step *= 2) {
      sum[1 - now][t] = t >= step ? sum[now][t] + sum[now][t - step] : sum[now][t];
      now = 1 - now;
      __syncthreads();
    }
    if (first + t < bins) start[first + t] = before + sum[now][t] - mine;
    before += sum[now][SCAN - 1];
    __syncthreads();
  }
  if (t == 0) start[bins] = before;
}

// To its place: position and value (real, imaginary).
extern "C" __global__ void gridding_reorder(const float4 *position, const float *real, const float *imaginary,
                                            const int *bin, const int *rank, const int *start, float4 *sorted_position,
                                            float *sorted_real, float *sorted_imaginary, int samples) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  int to = start[bin[i]] + rank[i];
  sorted_position[to] = position[i];
  sorted_real[to] = real[i];
  sorted_imaginary[to] = imaginary[i];
}

// A block per bin, a thread per grid point. Window: e^(-falloff r^2) within the cut-off.
extern "C" __global__ __launch_bounds__(THREADS) void gridding_gather(const float4 *position, const float *real,
                                                                      const float *imaginary, const int *start,
                                                                      float *grid_real, float *grid_imaginary,
                                                                      int bins_across, float falloff, float cutoff2) {
  __shared__ float4 place[THREADS];
  __shared__ float re[THREADS], im[THREADS];
  int t = threadIdx.x, bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z;
  int gx = bx * BIN + t % BIN, gy = by * BIN + t / BIN % BIN, gz = bz * BIN + t / BIN / BIN;
  float x = gx, y = gy, z = gz, sum_re = 0.0f, sum_im = 0.0f;
  for (int nz = max(bz - 1, 0); nz <= min(bz + 1, bins_across - 1); ++nz) {
    for (int ny = max(by - 1, 0); ny <= min(by + 1, bins_across - 1); ++ny) {
      // The bins of a row follow each other.
      int row = (nz * bins_across + ny) * bins_across;
      int end = start[row + min(bx + 1, bins_across - 1) + 1];
      for (int first = start[row + max(bx - 1, 0)]; first < end; first += THREADS) {
        int loaded = min(end - first, THREADS);
        if (t < loaded) {
          place[t] = position[first + t];
          re[t] = real[first + t];
          im[t] = imaginary[first + t];
        }
        __syncthreads();
        for (int k = 0; k < loaded; ++k) {
          float4 p = place[k];
          float dx = p.x - x, dy = p.y - y, dz = p.z - z;
          float r2 = __fmaf_rn(dz, dz, __fmaf_rn(dy, dy, dx * dx));
          if (r2 < cutoff2) {
            float window = __expf(-falloff * r2);
            sum_re = __fmaf_rn(re[k], window, sum_re);
            sum_im = __fmaf_rn(im[k], window, sum_im);
          }
        }
        __syncthreads();
      }
    }
  }
  int width = bins_across * BIN, at = (gz * width + gy) * width + gx;
  grid_real[at] = sum_re;
  grid_imaginary[at] = sum_im;
}
