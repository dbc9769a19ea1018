// Speckle-reducing anisotropic diffusion of an ultrasound image: one iteration measures the speckle (prepare, reduce),
// computes each pixel's diffusion coefficient (diffuse) and moves the image (update).
#include "warpwatt.cuh"

#define TILE 16
#define REDUCE 512

// Image to the linear scale on which speckle is multiplicative, and back.
extern "C" __global__ void srad_extract(const float *image, float *j, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) j[i] = __expf(image[i] * (1.0f / 255.0f));
}

extern "C" __global__ void srad_compress(const float *j, float *image, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) image[i] = __logf(j[i]) * 255.0f;
}

// The summands of the mean and of the mean square.
extern "C" __global__ void srad_prepare(const float *j, float *sum, float *squares, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) {
    float v = j[i];
    sum[i] = v;
    squares[i] = v * v;
  }
}

// Each block replaces its 512 summands by their sum; launched again and again until one is left.
extern "C" __global__ void srad_reduce(const float *sum_in, const float *squares_in, float *sum_out,
                                       float *squares_out, int count) {
  __shared__ float sum[REDUCE];
  __shared__ float squares[REDUCE];
  int t = threadIdx.x, i = blockIdx.x * REDUCE + t;
  sum[t] = i < count ? sum_in[i] : 0.0f;
  squares[t] = i < count ? squares_in[i] : 0.0f;
  __syncthreads();
  for (int stride = REDUCE / 2; stride > 0; stride /= 2) {
    if (t < stride) {
      sum[t] += sum[t + stride];
      squares[t] += squares[t + stride];
    }
    __syncthreads();
  }
  if (t == 0) {
    sum_out[blockIdx.x] = sum[0];
    squares_out[blockIdx.x] = squares[0];
  }
}

// Derivatives to the four neighbours (mirrored at the border) and the diffusion coefficient.
extern "C" __global__ void srad_diffuse(const float *j, float *north, float *south, float *west, float *east,
                                        float *coefficient, int width, int height, float speckle) {
  __shared__ float tile[TILE + 2][TILE + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  int i = y * width + x;

  float centre = j[i];
  tile[ty + 1][tx + 1] = centre;
  if (ty == 0) tile[0][tx + 1] = j[y > 0 ? i - width : i];
  if (ty == TILE - 1) tile[TILE + 1][tx + 1] = j[y < height - 1 ? i + width : i];
  if (tx == 0) tile[ty + 1][0] = j[x > 0 ? i - 1 : i];
  if (tx == TILE - 1) tile[ty + 1][TILE + 1] = j[x < width - 1 ? i + 1 : i];
  __syncthreads();

  float n = tile[ty][tx + 1] - centre, s = tile[ty + 2][tx + 1] - centre;
  float w = tile[ty + 1][tx] - centre, e = tile[ty + 1][tx + 2] - centre;
  float squares = __fmaf_rn(e, e, __fmaf_rn(w, w, __fmaf_rn(s, s, n * n)));
  float gradient = squares / (centre * centre);
  float laplacian = (n + s + w + e) / centre;
  float above = __fmaf_rn(-0.0625f * laplacian, laplacian, 0.5f * gradient);
  float below = __fmaf_rn(0.25f, laplacian, 1.0f);
  float q = above / (below * below);
  float excess = (q - speckle) / (speckle * (1.0f + speckle));
  float c = 1.0f / (1.0f + excess);
  c = c < 0.0f ? 0.0f : (c > 1.0f ? 1.0f : c);

  north[i] = n;
  south[i] = s;
  west[i] = w;
  east[i] = e;
  coefficient[i] = c;
}

// Divergence of coefficient x gradient, with the coefficients of the southern and eastern neighbours, and the step.
extern "C" __global__ void srad_update(float *j, const float *north, const float *south, const float *west,
                                       const float *east, const float *coefficient, int width, int height,
                                       float step) {
  __shared__ float tile[TILE + 1][TILE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  int i = y * width + x;

  float c = coefficient[i];
  tile[ty][tx] = c;
  if (ty == TILE - 1) tile[TILE][tx] = coefficient[y < height - 1 ? i + width : i];
  if (tx == TILE - 1) tile[ty][TILE] = coefficient[x < width - 1 ? i + 1 : i];
  __syncthreads();

  float divergence = c * north[i];
  divergence = __fmaf_rn(tile[ty + 1][tx], south[i], divergence);
  divergence = __fmaf_rn(c, west[i], divergence);
  divergence = __fmaf_rn(tile[ty][tx + 1], east[i], divergence);
  j[i] = __fmaf_rn(0.25f * step, divergence, j[i]);
}
