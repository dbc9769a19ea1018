// A particle filter that follows a bright disc through noisy frames: move and weigh, add the weights up, draw anew.
#include "warpwatt.cuh"

#define THREADS 256
#define MOST_OFFSETS 128

// The pixels of the disc, as offsets from its centre: x, y.
__constant__ int offset_x[MOST_OFFSETS];
__constant__ int offset_y[MOST_OFFSETS];

// A linear congruential generator; six uniform numbers less three.
static __device__ __forceinline__ float spread(unsigned &state) {
  float sum = -3.0f;
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    state = state * 1664525u + 1013904223u;
    sum = __fmaf_rn((float)(int)(state >> 8), 5.9604645e-8f, sum);  // 2^-24
  }
  return sum;
}

// Moves each particle at random and weighs it by how bright the frame is on its disc.
extern "C" __global__ __launch_bounds__(THREADS) void particle_weigh(const unsigned char *__restrict__ frame, int width,
                                                                     int height, float *x, float *y, unsigned *seeds,
                                                                     float *weight, int particles, int offsets) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  unsigned seed = seeds[i];
  float px = __fmaf_rn(2.0f, spread(seed), x[i] + 1.0f);  // the disc is known to drift to the right
  float py = __fmaf_rn(2.0f, spread(seed), y[i]);
  seeds[i] = seed;
  x[i] = px;
  y[i] = py;
  int column = (int)rintf(px), row = (int)rintf(py), square = 0;
#pragma unroll 1
  for (int k = 0; k < offsets; ++k) {
    int cx = min(max(column + offset_x[k], 0), width - 1), cy = min(max(row + offset_y[k], 0), height - 1);
    int dark = 228 - frame[cy * width + cx];
    square += dark * dark;
  }
  float off = (float)square / (400.0f * (float)offsets);
  float likelihood = 1.0f / __fmaf_rn(off, off, 1.0f);
  weight[i] = likelihood * likelihood;
}

// Turns the weights into sums of all weights up to each particle's. One block for all: each thread a stretch, and one
// thread the stretches. estimate: the mean place times the sum of weights, and this sum.
extern "C" __global__ __launch_bounds__(THREADS) void particle_sum(const float *x, const float *y, const float *weight,
                                                                   float *sums, float *estimate, int particles) {
  __shared__ float total[3][THREADS + 1];
  int t = threadIdx.x, stretch = (particles + THREADS - 1) / THREADS;
  int first = t * stretch, last = min(first + stretch, particles);
  float sum = 0.0f, sum_x = 0.0f, sum_y = 0.0f;
  for (int i = first; i < last; ++i) {
    float w = weight[i];
    sum += w;
    sum_x = __fmaf_rn(w, x[i], sum_x);
    sum_y = __fmaf_rn(w, y[i], sum_y);
  }
  total[0][t + 1] = sum;
  total[1][t + 1] = sum_x;
  total[2][t + 1] = sum_y;
  if (t < 3) total[t][0] = 0.0f;
  __syncthreads();
  if (t < 3) {
    for (int i = 1; i <= THREADS; ++i) total[t][i] += total[t][i - 1];
    estimate[t] = total[t][THREADS];
  }
  __syncthreads();
  sum = total[0][t];
  for (int i = first; i < last; ++i) {
    sum += weight[i];
    sums[i] = sum;
  }
}

// Draws the particles of the next frame: evenly spaced marks on the sum of weights, and for each the first particle
// whose sum reaches it, looked for from the beginning.
extern "C" __global__ __launch_bounds__(THREADS) void particle_draw(const float *sums, const float *estimate,
                                                                    const float *x, const float *y, float *new_x,
                                                                    float *new_y, int particles, float shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  float mark = ((float)i + shift) / (float)particles * estimate[0];
  int drawn = 0;
#pragma unroll 1
  while (drawn < particles - 1 && sums[drawn] < mark) ++drawn;
  new_x[i] = x[drawn];
  new_y[i] = y[drawn];
}
