// Coulomb potential with a cut-off on a 3D lattice. Atoms are sorted into cubic bins; a block owns a cube of 8 x 8 x 8
// lattice points (one bin's edge) and visits the bins that reach it.
#include "warpwatt.cuh"

#define BIN_DEPTH 8
#define CUBE 8
#define MOST_OFFSETS 512

// Offsets of the bins to visit, packed by the host: x, y, z + 128 in one byte each.
__constant__ int offsets[MOST_OFFSETS];

// 8 x 8 x 2 threads, four points each: z, z + 2, z + 4, z + 6. atoms: BIN_DEPTH slots a bin (x, y, z, charge); a bin's
// atoms end at the first charge of zero.
extern "C" __global__ __launch_bounds__(128) void cutcp(const float4 *atoms, float *potential, int bins_x, int bins_y,
                                                        int bins_z, int offset_count, float spacing, float cutoff2) {
  __shared__ float4 bin[BIN_DEPTH];
  int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  int t = (tz * CUBE + ty) * CUBE + tx;
  int px = blockIdx.x * CUBE + tx, py = blockIdx.y * CUBE + ty, pz = blockIdx.z * CUBE + tz;
  float x = px * spacing, y = py * spacing, z = pz * spacing, rise = 2 * spacing;
  float per_cutoff2 = 1.0f / cutoff2;
  float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;

#pragma unroll 1
  for (int k = 0; k < offset_count; ++k) {
    int packed = offsets[k];
    int bx = (int)blockIdx.x + (packed & 255) - 128;
    int by = (int)blockIdx.y + (packed >> 8 & 255) - 128;
    int bz = (int)blockIdx.z + (packed >> 16 & 255) - 128;
    if (bx < 0 || bx >= bins_x || by < 0 || by >= bins_y || bz < 0 || bz >= bins_z) continue;
    __syncthreads();
    if (t < BIN_DEPTH) bin[t] = atoms[((bz * bins_y + by) * bins_x + bx) * BIN_DEPTH + t];
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < BIN_DEPTH; ++j) {
      float4 atom = bin[j];
      if (atom.w == 0.0f) break;
      float dx = atom.x - x, dy = atom.y - y, dz = atom.z - z;
      float flat = __fmaf_rn(dy, dy, dx * dx);
      float r2 = __fmaf_rn(dz, dz, flat);
      if (r2 < cutoff2) {
        float s = __fmaf_rn(-r2, per_cutoff2, 1.0f);
        sum0 = __fmaf_rn(atom.w * rsqrtf(r2), s * s, sum0);
      }
      dz -= rise;
      r2 = __fmaf_rn(dz, dz, flat);
      if (r2 < cutoff2) {
        float s = __fmaf_rn(-r2, per_cutoff2, 1.0f);
        sum1 = __fmaf_rn(atom.w * rsqrtf(r2), s * s, sum1);
      }
      dz -= rise;
      r2 = __fmaf_rn(dz, dz, flat);
      if (r2 < cutoff2) {
        float s = __fmaf_rn(-r2, per_cutoff2, 1.0f);
        sum2 = __fmaf_rn(atom.w * rsqrtf(r2), s * s, sum2);
      }
      dz -= rise;
      r2 = __fmaf_rn(dz, dz, flat);
      if (r2 < cutoff2) {
        float s = __fmaf_rn(-r2, per_cutoff2, 1.0f);
        sum3 = __fmaf_rn(atom.w * rsqrtf(r2), s * s, sum3);
      }
    }
  }

  int width = bins_x * CUBE, plane = width * bins_y * CUBE;
  int at = pz * plane + py * width + px;
  potential[at] = sum0;
  potential[at + 2 * plane] = sum1;
  potential[at + 4 * plane] = sum2;
  potential[at + 6 * plane] = sum3;
}
