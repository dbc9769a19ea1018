// One training step of a layered perceptron: the two halves of it that touch the big weight matrix.
// Weights are row-major, one row of HIDDEN per input unit; the row after the last is the bias.
#include "warpwatt.cuh"

#define HIDDEN 16
#define ROWS 16

// Each block multiplies 16 inputs into their 16 x 16 weights and sums over its inputs by a tree in shared memory.
extern "C" __global__ void backprop_forward(const float *input, const float *weights, float *partial) {
  __shared__ float node[ROWS];
  __shared__ float product[ROWS][HIDDEN];
  int unit = threadIdx.x, row = threadIdx.y;
  int i = blockIdx.x * ROWS + row;

  if (unit == 0) node[row] = input[i];
  product[row][unit] = weights[i * HIDDEN + unit];
  __syncthreads();

  product[row][unit] *= node[row];
  __syncthreads();

  for (int stride = 1; stride < ROWS; stride *= 2) {
    if ((row & (2 * stride - 1)) == 0) product[row][unit] += product[row + stride][unit];
    __syncthreads();
  }
  if (row == 0) partial[blockIdx.x * HIDDEN + unit] = product[0][unit];
}

// Gradient step with momentum on every weight; `change` remembers the last step.
extern "C" __global__ void backprop_adjust(const float *input, const float *delta, float *weights, float *change,
                                           float rate, float momentum, int inputs) {
  int unit = threadIdx.x, row = threadIdx.y;
  int i = blockIdx.x * ROWS + row;
  float gradient = rate * delta[unit];

  int k = i * HIDDEN + unit;
  float step = __fmaf_rn(momentum, change[k], gradient * input[i]);
  weights[k] += step;
  change[k] = step;

  if (blockIdx.x == 0 && row == 0) {
    k = inputs * HIDDEN + unit;
    step = __fmaf_rn(momentum, change[k], gradient);
    weights[k] += step;
    change[k] = step;
  }
}
