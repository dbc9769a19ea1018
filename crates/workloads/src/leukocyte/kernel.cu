// White blood cells in microscopy: detection by a score of circles, then the evolution of a flow field around each cell.
#include "warpwatt.cuh"

#define RADII 4
#define ANGLES 32
#define MOST_ELEMENT 128
#define PATCH 24  // edge of the image around a cell
#define THREADS 192

// The circles' points, as offsets from their centre, radius after radius; the direction of each angle; the disc of the
// dilation.
__constant__ int circle_x[RADII * ANGLES], circle_y[RADII * ANGLES];
__constant__ float cosine[ANGLES], sine[ANGLES];
__constant__ int element_x[MOST_ELEMENT], element_y[MOST_ELEMENT];

// For each pixel that is far enough from the edges, over all radii the greatest squared mean of the gradient outwards
// along the circle, over its variance. 0 elsewhere.
extern "C" __global__ __launch_bounds__(THREADS) void leukocyte_score(const float *__restrict__ gradient_x,
                                                                      const float *__restrict__ gradient_y, float *score,
                                                                      int width, int height, int border) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  int x = i % width, y = i / width;
  float most = 0.0f;
  if (x >= border && x < width - border && y >= border && y < height - border) {
#pragma unroll 1
    for (int r = 0; r < RADII; ++r) {
      float sum = 0.0f, squares = 0.0f;
#pragma unroll 1
      for (int a = 0; a < ANGLES; ++a) {
        int at = i + circle_y[r * ANGLES + a] * width + circle_x[r * ANGLES + a];
        float outwards = __fmaf_rn(gradient_x[at], cosine[a], gradient_y[at] * sine[a]);
        sum += outwards;
        squares = __fmaf_rn(outwards, outwards, squares);
      }
      float mean = sum / ANGLES;
      float variance = __fmaf_rn(-mean, sum, squares) / (ANGLES - 1);
      most = fmaxf(most, mean * mean / variance);
    }
  }
  score[i] = most;
}

// The greatest score on a disc around each pixel.
extern "C" __global__ __launch_bounds__(THREADS) void leukocyte_dilate(const float *__restrict__ score, float *dilated,
                                                                       int width, int height, int elements) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  int x = i % width, y = i / width;
  float most = 0.0f;
#pragma unroll 1
  for (int k = 0; k < elements; ++k) {
    int ex = x + element_x[k], ey = y + element_y[k];
    if (ex >= 0 && ex < width && ey >= 0 && ey < height) most = fmaxf(most, score[ey * width + ex]);
  }
  dilated[i] = most;
}

// A smooth step from 0 to 1, in proportion to z where |z| is small against one.
static __device__ __forceinline__ float step(float z) { return __fmaf_rn(0.5f, z / (1.0f + fabsf(z)), 0.5f); }

// Lets the image of each cell spread along its motion until it hardly changes: a block per cell, some pixels a thread.
// patches: PATCH x PATCH a cell, replaced by the field. rounds: how many it took.
extern "C" __global__ __launch_bounds__(THREADS) void leukocyte_evolve(float *patches, int *rounds, int most_rounds,
                                                                       float motion_x, float motion_y, float spread,
                                                                       float hold, float enough) {
  __shared__ float image[PATCH * PATCH], field[2][PATCH * PATCH], change[256];
  int t = threadIdx.x;
  float *patch = patches + blockIdx.x * PATCH * PATCH;
  for (int i = t; i < PATCH * PATCH; i += THREADS) image[i] = field[0][i] = patch[i];
  if (t < 256 - THREADS) change[THREADS + t] = 0.0f;
  __syncthreads();

  int round = 0;
  for (;;) {
    const float *now = field[round % 2];
    float *next = field[1 - round % 2];
    float changed = 0.0f;
#pragma unroll 1
    for (int i = t; i < PATCH * PATCH; i += THREADS) {
      int x = i % PATCH, y = i / PATCH;
      float here = now[i], flow = 0.0f;
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
          if (dx == 0 && dy == 0) continue;
          int nx = min(max(x + dx, 0), PATCH - 1), ny = min(max(y + dy, 0), PATCH - 1);
          float rise = now[ny * PATCH + nx] - here;
          float along = __fmaf_rn(motion_x, (float)dx, motion_y * (float)dy);
          flow = __fmaf_rn(step(along * rise), rise, flow);
        }
      }
      float pull = hold * image[i] * (image[i] - here);
      float moved = __fmaf_rn(spread, flow, pull);
      next[i] = here + moved;
      changed += fabsf(moved);
    }
    change[t] = changed;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (t < half) change[t] += change[t + half];
      __syncthreads();
    }
    bool settled = change[0] < enough;
    __syncthreads();
    ++round;
    if (settled || round == most_rounds) break;
  }
  for (int i = t; i < PATCH * PATCH; i += THREADS) patch[i] = field[round % 2][i];
  if (t == 0) rounds[blockIdx.x] = round;
}
