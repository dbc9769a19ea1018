// The action potential of heart muscle cells by the equations of Beeler and Reuter, a thread a cell.
#include "warpwatt.cuh"

#define STATES 8  // potential, calcium, then the gates x1, m, h, j, d, f
#define GATES 6

// a + x / 2 for small x: the limit of x / (1 - e^(-x / a)), which is 0 / 0 at 0.
static __device__ __forceinline__ float ramp(float x, float a) {
  if (fabsf(x) < 0.1f) return __fmaf_rn(0.5f, x, a);
  return __fdividef(x, 1.0f - __expf(__fdividef(-x, a)));
}

// A gate opens at rate `alpha` and closes at rate `beta`: the exact solution over one step.
static __device__ __forceinline__ float relax(float gate, float alpha, float beta, float step) {
  float rate = alpha + beta, rest = __fdividef(alpha, rate);
  return __fmaf_rn(gate - rest, __expf(-step * rate), rest);
}

// c1 e^(c2 v) / (e^(c3 v) + 1)
static __device__ __forceinline__ float sigmoid(float c1, float c2, float c3, float v) {
  return __fdividef(c1 * __expf(c2 * v), __expf(c3 * v) + 1.0f);
}

// Milliseconds, millivolts, microamperes and millisiemens per square centimetre. state: variable after variable.
// stimulus: current from time 0 to `lasts`; slow: conductance of the slow inward current.
extern "C" __global__ void myocyte_run(float *state, const float *stimulus, const float *slow, int cells, int first,
                                       int steps, float step, float lasts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float v = state[i], calcium = state[cells + i];
  float x1 = state[2 * cells + i], m = state[3 * cells + i], h = state[4 * cells + i];
  float j = state[5 * cells + i], d = state[6 * cells + i], f = state[7 * cells + i];
  float pulse = stimulus[i], slow_conductance = slow[i];
#pragma unroll 1
  for (int n = first; n < first + steps; ++n) {
    // Currents: two of potassium, sodium, calcium.
    float e4 = __expf(0.04f * (v + 53.0f));
    float rectified = __fdividef(4.0f * (__expf(0.04f * (v + 85.0f)) - 1.0f), __fmaf_rn(e4, e4, e4));
    float potassium = 0.35f * __fmaf_rn(0.2f, ramp(v + 23.0f, 25.0f), rectified);
    float rest = __fdividef(0.8f * (__expf(0.04f * (v + 77.0f)) - 1.0f), __expf(0.04f * (v + 35.0f)));
    float sodium = __fmaf_rn(4.0f * m * m * m, h * j, 0.003f) * (v - 50.0f);
    float reversal = __fmaf_rn(-13.0287f, __logf(calcium), -82.3f);
    float inward = slow_conductance * d * f * (v - reversal);
    float pushed = (float)n * step < lasts ? pulse : 0.0f;
    float current = potassium + __fmaf_rn(x1, rest, sodium) + inward - pushed;

    // Rates of the gates at this potential.
    x1 = relax(x1, sigmoid(0.0005f, 0.083f, 0.057f, v + 50.0f), sigmoid(0.0013f, -0.06f, -0.04f, v + 20.0f), step);
    m = relax(m, ramp(v + 47.0f, 10.0f), 40.0f * __expf(-0.056f * (v + 72.0f)), step);
    h = relax(h, 0.126f * __expf(-0.25f * (v + 77.0f)), sigmoid(1.7f, 0.0f, -0.082f, v + 22.5f), step);
    j = relax(j, sigmoid(0.055f, -0.25f, -0.2f, v + 78.0f), sigmoid(0.3f, 0.0f, -0.1f, v + 32.0f), step);
    d = relax(d, sigmoid(0.095f, -0.01f, -0.072f, v - 5.0f), sigmoid(0.07f, -0.017f, 0.05f, v + 44.0f), step);
    f = relax(f, sigmoid(0.012f, -0.008f, 0.15f, v + 28.0f), sigmoid(0.0065f, -0.02f, -0.2f, v + 30.0f), step);
    calcium = __fmaf_rn(step, __fmaf_rn(-1e-7f, inward, 0.07f * (1e-7f - calcium)), calcium);
    v = __fmaf_rn(-step, current, v);
  }
  state[i] = v;
  state[cells + i] = calcium;
  state[2 * cells + i] = x1;
  state[3 * cells + i] = m;
  state[4 * cells + i] = h;
  state[5 * cells + i] = j;
  state[6 * cells + i] = d;
  state[7 * cells + i] = f;
}
