// The Euler equations of gas flow on an unstructured mesh of quadrilaterals, by finite volumes.
//
// Cell i, face f: neighbour f * cells + i (WALL, FAR at the mesh's edges), and in the same order the face's normal, as long
// as the face. Variables v * cells + i: density, momentum x and y, energy.
#include "warpwatt.cuh"

#define FACES 4
#define VARIABLES 4
#define WALL -1
#define GAMMA 1.4f

struct State {
  float density, mx, my, energy;          // what is conserved
  float u, v, pressure, enthalpy, sound;  // what follows
};

// The undisturbed flow far away: the conserved variables.
__constant__ float far_away[VARIABLES];

static __device__ __forceinline__ State complete(float density, float mx, float my, float energy) {
  State s = {density, mx, my, energy, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  float volume = 1.0f / density;
  s.u = mx * volume;
  s.v = my * volume;
  float inner = __fmaf_rn(-0.5f, __fmaf_rn(my, s.v, mx * s.u), energy);
  s.pressure = (GAMMA - 1.0f) * inner;
  s.enthalpy = __fmaf_rn(GAMMA - 1.0f, inner, energy);
  s.sound = __fsqrt_rn(GAMMA * s.pressure * volume);
  return s;
}

static __device__ __forceinline__ State state_of(const float *variables, int cells, int i) {
  return complete(variables[i], variables[cells + i], variables[2 * cells + i], variables[3 * cells + i]);
}

// The time step of each cell, by what the fastest wave allows, over its area.
extern "C" __global__ void cfd_step(const float *variables, const float *area, float *factor, int cells, float courant) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  State s = state_of(variables, cells, i);
  float speed = __fsqrt_rn(__fmaf_rn(s.v, s.v, s.u * s.u));
  factor[i] = courant / (__fsqrt_rn(area[i]) * (speed + s.sound));
}

// What flows into each cell through its faces: the mean of both sides' fluxes, less the fastest wave times their
// difference (Rusanov).
extern "C" __global__ void cfd_flux(const float *variables, const int *neighbour, const float *normal_x,
                                    const float *normal_y, float *inflow, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  State here = state_of(variables, cells, i);
  float density = 0.0f, mx = 0.0f, my = 0.0f, energy = 0.0f;
  for (int f = 0; f < FACES; ++f) {
    int at = f * cells + i, other = neighbour[at];
    float nx = normal_x[at], ny = normal_y[at];
    if (other == WALL) {
      mx = __fmaf_rn(-here.pressure, nx, mx);
      my = __fmaf_rn(-here.pressure, ny, my);
      continue;
    }
    State there = other >= 0 ? state_of(variables, cells, other)
                             : complete(far_away[0], far_away[1], far_away[2], far_away[3]);
    float length = __fsqrt_rn(__fmaf_rn(ny, ny, nx * nx));
    float out = __fmaf_rn(here.v, ny, here.u * nx), in = __fmaf_rn(there.v, ny, there.u * nx);
    float wave = fmaxf(__fmaf_rn(here.sound, length, fabsf(out)), __fmaf_rn(there.sound, length, fabsf(in)));
    float pressure = here.pressure + there.pressure;
    float f0 = __fmaf_rn(there.density, in, here.density * out);
    float f1 = __fmaf_rn(there.mx, in, __fmaf_rn(here.mx, out, pressure * nx));
    float f2 = __fmaf_rn(there.my, in, __fmaf_rn(here.my, out, pressure * ny));
    float f3 = __fmaf_rn(there.enthalpy, in, here.enthalpy * out);
    density = __fmaf_rn(0.5f, __fmaf_rn(wave, there.density - here.density, -f0), density);
    mx = __fmaf_rn(0.5f, __fmaf_rn(wave, there.mx - here.mx, -f1), mx);
    my = __fmaf_rn(0.5f, __fmaf_rn(wave, there.my - here.my, -f2), my);
    energy = __fmaf_rn(0.5f, __fmaf_rn(wave, there.energy - here.energy, -f3), energy);
  }
  inflow[i] = density;
  inflow[cells + i] = mx;
  inflow[2 * cells + i] = my;
  inflow[3 * cells + i] = energy;
}

// A stage of the Runge-Kutta scheme, from the variables at the beginning of the step.
extern "C" __global__ void cfd_advance(const float *before, const float *inflow, const float *factor, float *variables,
                                       int cells, float part) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float step = part * factor[i];
  for (int v = 0; v < VARIABLES; ++v) variables[v * cells + i] = __fmaf_rn(step, inflow[v * cells + i], before[v * cells + i]);
}

// Keeps the variables of the beginning of a step: nothing but loads and stores.
extern "C" __global__ void cfd_copy(const float *variables, float *before, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) before[i] = variables[i];
}
