// A convolutional neural network that reads digits, layer by layer, many images at once.
#include "warpwatt.cuh"

#define KERNEL 5
#define STRIDE 2

// 1.7159 tanh(2 x / 3), through e^(4 x / 3).
static __device__ __forceinline__ float activation(float x) {
  return __fmaf_rn(-3.4318f, __fdividef(1.0f, __expf(1.3333333f * x) + 1.0f), 1.7159f);
}

// Every second 5 x 5 window of all input maps. A block computes one map of one image, a thread one neuron.
// input: images x maps_in x edge_in^2. weights: per output map, a bias and maps_in x 25.
extern "C" __global__ void nn_convolve(const float *input, const float *weights, float *output, int maps_in,
                                       int edge_in) {
  int map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
  const float *weight = weights + map * (maps_in * KERNEL * KERNEL + 1);
  const float *window = input + image * maps_in * edge_in * edge_in + STRIDE * (y * edge_in + x);
  float sum = *weight++;
#pragma unroll 1
  for (int from = 0; from < maps_in; ++from) {
    for (int i = 0; i < KERNEL; ++i)
      for (int j = 0; j < KERNEL; ++j) sum = __fmaf_rn(window[i * edge_in + j], *weight++, sum);
    window += edge_in * edge_in;
  }
  output[((image * gridDim.x + map) * blockDim.y + y) * blockDim.x + x] = activation(sum);
}

// Every input of an image. A block, of one thread, computes one neuron of one image.
// weights: per neuron, a bias and `inputs`.
extern "C" __global__ void nn_connect(const float *input, const float *weights, float *output, int inputs) {
  int neuron = blockIdx.x, image = blockIdx.y;
  const float *weight = weights + neuron * (inputs + 1);
  float sum = *weight++;
  input += image * inputs;
#pragma unroll 5
  for (int i = 0; i < inputs; ++i) sum = __fmaf_rn(input[i], weight[i], sum);
  output[image * gridDim.x + neuron] = activation(sum);
}
