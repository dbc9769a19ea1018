// Saturating histogram of an image whose values crowd around one place: the crowded bins are counted in shared memory,
// the stragglers with atomics on global memory.
#include "warpwatt.cuh"

#define THREADS 512
#define WINDOW 4096
#define SATURATED 255u

// Least and greatest of a sample of the values (every `stride`-th), from which the host chooses the window.
extern "C" __global__ void histo_prescan(const unsigned *image, unsigned *range, int count, int stride) {
  __shared__ unsigned least[THREADS];
  __shared__ unsigned most[THREADS];
  int t = threadIdx.x;
  unsigned low = 0xffffffffu, high = 0;
  for (int i = (blockIdx.x * THREADS + t) * stride; i < count; i += gridDim.x * THREADS * stride) {
    unsigned v = image[i];
    low = min(low, v);
    high = max(high, v);
  }
  least[t] = low;
  most[t] = high;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      least[t] = min(least[t], least[t + half]);
      most[t] = max(most[t], most[t + half]);
    }
    __syncthreads();
  }
  if (t == 0) {
    atomicMin(&range[0], least[0]);
    atomicMax(&range[1], most[0]);
  }
}

extern "C" __global__ void histo_main(const unsigned *image, unsigned *bins, int count, unsigned window_start) {
  __shared__ unsigned window[WINDOW];
  for (int i = threadIdx.x; i < WINDOW; i += THREADS) window[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
    unsigned v = image[i];
    unsigned at = v - window_start;
    if (at < WINDOW)
      atomicAdd(&window[at], 1u);
    else
      atomicAdd(&bins[v], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WINDOW; i += THREADS) {
    unsigned n = window[i];
    if (n) atomicAdd(&bins[window_start + i], n);
  }
}

// Counts above 255 stay at 255; the 32-bit bins are cleared for the next image.
extern "C" __global__ void histo_final(unsigned *bins, unsigned char *histogram, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  histogram[i] = (unsigned char)min(bins[i], SATURATED);
  bins[i] = 0;
}
