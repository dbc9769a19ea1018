// Monte Carlo pricing in the LIBOR market model: a thread follows one path of all forward rates and values a portfolio of
// swaptions at its end.
#include "warpwatt.cuh"

#define MOST_RATES 80
#define MOST_SWAPTIONS 16

// Volatility by the number of periods until a rate is fixed; the rates of today.
__constant__ float volatility[MOST_RATES];
__constant__ float today[MOST_RATES];
// Last period (in ascending order) and fixed rate of each swaption's swap; all expire after the last step.
__constant__ int maturity[MOST_SWAPTIONS];
__constant__ float fixed_rate[MOST_SWAPTIONS];

// Twelve uniform numbers less six, by a 32-bit xorshift generator.
static __device__ __forceinline__ float normal(unsigned &state) {
  float sum = -6.0f;
#pragma unroll 4
  for (int i = 0; i < 12; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    sum = __fmaf_rn((float)(int)(state >> 8), 5.9604645e-8f, sum);  // 2^-24
  }
  return sum;
}

extern "C" __global__ void lib_portfolio(float *value, int paths, int rates, int steps, int swaptions, float period,
                                         float root_period) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  float rate[MOST_RATES];
  for (int i = 0; i < rates; ++i) rate[i] = today[i];

  unsigned state = (path + 1) * 2654435761u;
  for (int i = 0; i < 4; ++i) normal(state);
  float numeraire = 1.0f;
  for (int n = 0; n < steps; ++n) {
    // The rate that is fixed now earns interest for one period; the later ones move on under one shock.
    numeraire = numeraire * __fmaf_rn(period, rate[n], 1.0f);
    float shock = root_period * normal(state), drift = 0.0f;
    for (int i = n + 1; i < rates; ++i) {
      float sigma = volatility[i - n - 1], now = rate[i], accrual = period * now;
      drift = __fmaf_rn(sigma, __fdividef(accrual, 1.0f + accrual), drift);
      float exponent = sigma * __fmaf_rn(period, __fmaf_rn(-0.5f, sigma, drift), shock);
      rate[i] = now * __expf(exponent);
    }
  }

  float bond = 1.0f, annuity = 0.0f, sum = 0.0f;
  int next = 0;
  for (int n = steps; n < rates; ++n) {
    bond = __fdividef(bond, __fmaf_rn(period, rate[n], 1.0f));
    annuity = __fmaf_rn(period, bond, annuity);
    while (next < swaptions && maturity[next] == n) {
      float swap = 1.0f - __fmaf_rn(fixed_rate[next], annuity, bond);
      if (swap > 0.0f) sum += swap;
      ++next;
    }
  }
  value[path] = __fdividef(100.0f * sum, numeraire);
}
