// Particle potentials and forces with a cut-off: space is cut into boxes, a particle feels those of its own box and of
// the boxes around it, through a Gaussian of the distance.
#include "warpwatt.cuh"

#define MOST_PER_BOX 128
#define MOST_NEIGHBOURS 27

// One block per home box, one thread per home particle (more threads than particles: the rest only help to load).
// The potential of a charge q at distance r is q e^(-falloff r^2); slope = 2 falloff.
// particle: x, y, z, charge. result: force x, y, z and potential. neighbours: 27 slots a box, the first `degree` used.
extern "C" __global__ __launch_bounds__(MOST_PER_BOX) void lavamd(const float4 *particle, const int *degree,
                                                                  const int *neighbours, float4 *result, int per_box,
                                                                  float falloff, float slope) {
  __shared__ float4 other[MOST_PER_BOX];
  int box = blockIdx.x, t = threadIdx.x;
  int boxes_to_visit = degree[box];
  float4 me = {0.0f, 0.0f, 0.0f, 0.0f};
  if (t < per_box) me = particle[box * per_box + t];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f, potential = 0.0f;

  for (int k = 0; k < boxes_to_visit; ++k) {
    int from = neighbours[box * MOST_NEIGHBOURS + k];
    if (t < per_box) other[t] = particle[from * per_box + t];
    __syncthreads();
    if (t < per_box) {
      for (int j = 0; j < per_box; ++j) {
        float4 it = other[j];
        float dx = me.x - it.x, dy = me.y - it.y, dz = me.z - it.z;
        float r2 = __fmaf_rn(dz, dz, __fmaf_rn(dy, dy, dx * dx));
        float u = __expf(-(falloff * r2));
        float v = it.w * u;
        float s = slope * v;
        potential += v;
        fx = __fmaf_rn(s, dx, fx);
        fy = __fmaf_rn(s, dy, fy);
        fz = __fmaf_rn(s, dz, fz);
      }
    }
    __syncthreads();
  }
  if (t < per_box) {
    float4 sum = {fx, fy, fz, potential};
    result[box * per_box + t] = sum;
  }
}
