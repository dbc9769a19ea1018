// Prices of European call and put options by the Black-Scholes formula, a grid-stride loop over the options.
#include "warpwatt.cuh"

// The normal distribution function by the five-term polynomial of Abramowitz and Stegun, 26.2.17.
static __device__ __forceinline__ float normal_below(float d) {
  float k = __fdividef(1.0f, __fmaf_rn(0.2316419f, fabsf(d), 1.0f));
  float p = 1.330274429f;
  p = __fmaf_rn(p, k, -1.821255978f);
  p = __fmaf_rn(p, k, 1.781477937f);
  p = __fmaf_rn(p, k, -0.356563782f);
  p = __fmaf_rn(p, k, 0.319381530f);
  float tail = 0.3989422804f * __expf(-0.5f * d * d) * (p * k);
  return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float *stock, const float *strike, const float *years, float *call,
                                         float *put, int options, float rate, float volatility) {
  int threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += threads) {
    float s = stock[i], x = strike[i], t = years[i];
    float spread = volatility * __fsqrt_rn(t);
    float drift = __fmaf_rn(0.5f * volatility, volatility, rate);
    float d1 = __fdividef(__fmaf_rn(drift, t, __logf(__fdividef(s, x))), spread);
    float d2 = d1 - spread;
    float n1 = normal_below(d1), n2 = normal_below(d2);
    float discounted = x * __expf(-rate * t);
    call[i] = __fmaf_rn(s, n1, -(discounted * n2));
    put[i] = __fmaf_rn(discounted, 1.0f - n2, -(s * (1.0f - n1)));
  }
}
