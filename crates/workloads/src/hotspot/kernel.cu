// Transient temperature of a chip on a grid of thermal RC cells, several time steps per launch.
//
// A block loads a 16 x 16 tile and advances it `steps` steps in shared memory; each step spoils one more ring of the
// tile, so the blocks overlap by `steps` cells on every side and write only what is still right.
#include "warpwatt.cuh"

#define TILE 16

extern "C" __global__ void hotspot(const float *power, const float *from, float *to, int width, int height, int steps,
                                   float step_over_capacity, float per_rx, float per_ry, float per_rz,
                                   float ambient) {
  __shared__ float now[TILE][TILE];
  __shared__ float then[TILE][TILE];
  __shared__ float heat[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int inner = TILE - 2 * steps;
  int x = (int)blockIdx.x * inner - steps + tx;
  int y = (int)blockIdx.y * inner - steps + ty;
  bool on_chip = x >= 0 && x < width && y >= 0 && y < height;
  int cell = y * width + x;

  if (on_chip) {
    now[ty][tx] = from[cell];
    heat[ty][tx] = power[cell];
  }
  __syncthreads();

  // Beyond the chip's edge there is a mirror: a cell's missing neighbour is the cell itself. (tx - x is the tile column
  // of the chip's first column, and so on.)
  int west = max(tx - 1, tx - x), east = min(tx + 1, tx + width - 1 - x);
  int north = max(ty - 1, ty - y), south = min(ty + 1, ty + height - 1 - y);

  for (int s = 1; s <= steps; ++s) {
    bool good = on_chip && tx >= s && tx < TILE - s && ty >= s && ty < TILE - s;
    if (good) {
      float t = now[ty][tx];
      float across = __fmaf_rn(-2.0f, t, now[ty][west] + now[ty][east]);
      float along = __fmaf_rn(-2.0f, t, now[north][tx] + now[south][tx]);
      float flow = __fmaf_rn(across, per_rx, heat[ty][tx]);
      flow = __fmaf_rn(along, per_ry, flow);
      flow = __fmaf_rn(ambient - t, per_rz, flow);
      then[ty][tx] = __fmaf_rn(step_over_capacity, flow, t);
    }
    __syncthreads();
    if (good) now[ty][tx] = then[ty][tx];
    __syncthreads();
  }

  bool mine = tx >= steps && tx < TILE - steps && ty >= steps && ty < TILE - steps;
  if (on_chip && mine) to[cell] = now[ty][tx];
}
