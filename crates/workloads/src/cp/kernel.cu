// Coulomb potential of all atoms on one plane of a lattice, every atom at every point.
#include "warpwatt.cuh"

#define CHUNK 1024
#define POINTS 8  // points of a thread, a block's width apart

// x, y, squared distance from the plane, charge.
__constant__ float4 atoms[CHUNK];

extern "C" __global__ __launch_bounds__(128) void cp_plane(float *potential, int atom_count, float spacing) {
  int column = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  float x = spacing * column, y = spacing * row, step = spacing * blockDim.x;
  float sum[POINTS] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int i = 0; i < atom_count; ++i) {
    float dx = x - atoms[i].x, dy = y - atoms[i].y;
    float aside = __fmaf_rn(dy, dy, atoms[i].z), charge = atoms[i].w;
#pragma unroll
    for (int k = 0; k < POINTS; ++k) {
      sum[k] = __fmaf_rn(charge, rsqrtf(__fmaf_rn(dx, dx, aside)), sum[k]);
      dx += step;
    }
  }
  float *points = potential + row * (gridDim.x * blockDim.x * POINTS) + column;
#pragma unroll
  for (int k = 0; k < POINTS; ++k) points[k * blockDim.x] += sum[k];
}
