// A picture of mirrored balls over a chequered floor, by ray tracing with one light, shadows and reflections.
#include "warpwatt.cuh"

#define MOST_BALLS 64
#define MOST_BOUNCES 6
#define NEAR 1e-3f

struct Vector {
  float x, y, z;
};

// Centre and squared radius; colour and the share of light that is mirrored.
__constant__ float4 ball[MOST_BALLS];
__constant__ float4 surface[MOST_BALLS];

static __device__ __forceinline__ float dot(Vector a, Vector b) {
  return __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, a.x * b.x));
}

// a + s b
static __device__ __forceinline__ Vector along(Vector a, float s, Vector b) {
  Vector sum = {__fmaf_rn(s, b.x, a.x), __fmaf_rn(s, b.y, a.y), __fmaf_rn(s, b.z, a.z)};
  return sum;
}

static __device__ __forceinline__ Vector unit(Vector a) {
  float scale = 1.0f / __fsqrt_rn(dot(a, a));
  Vector scaled = {a.x * scale, a.y * scale, a.z * scale};
  return scaled;
}

// How far along the ray the ball is met, from outside or inside; negative: not at all.
static __device__ __forceinline__ float meet(float4 b, Vector from, Vector way) {
  Vector to = {b.x - from.x, b.y - from.y, b.z - from.z};
  float closest = dot(to, way);
  float outside = __fmaf_rn(to.z, to.z, __fmaf_rn(to.y, to.y, __fmaf_rn(to.x, to.x, -b.w)));
  float inside = __fmaf_rn(closest, closest, -outside);
  if (inside <= 0.0f) return -1.0f;
  float half = __fsqrt_rn(inside);
  return closest - half > NEAR ? closest - half : closest + half;
}

// One thread a pixel. The camera looks along z from (0, 2, -8); the light is a point. What is seen at each bounce is kept
// (in local memory), and put together from the last bounce to the first.
extern "C" __global__ void ray_trace(unsigned *pixels, int width, int height, int balls, int bounces, float light_x,
                                     float light_y, float light_z) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float red[MOST_BOUNCES], green[MOST_BOUNCES], blue[MOST_BOUNCES], mirror[MOST_BOUNCES];
  Vector from = {0.0f, 2.0f, -8.0f};
  Vector way = {(float)(px - width / 2), (float)(height / 2 - py), (float)height};
  way = unit(way);
  int bounce = 0;
#pragma unroll 1
  for (;;) {
    float nearest = 1e30f;
    int met = -1;
#pragma unroll 1
    for (int k = 0; k < balls; ++k) {
      float at = meet(ball[k], from, way);
      if (at > NEAR && at < nearest) {
        nearest = at;
        met = k;
      }
    }
    float floor_at = way.y < 0.0f ? -from.y / way.y : 1e30f;
    bool floor = floor_at > NEAR && floor_at < nearest && floor_at < 60.0f;
    if (met < 0 && !floor) {
      // The sky, lighter upwards.
      red[bounce] = __fmaf_rn(0.3f, way.y, 0.3f);
      green[bounce] = __fmaf_rn(0.3f, way.y, 0.4f);
      blue[bounce] = __fmaf_rn(0.3f, way.y, 0.6f);
      mirror[bounce] = 0.0f;
      break;
    }
    Vector here, normal = {0.0f, 1.0f, 0.0f};
    float4 look;
    if (floor) {
      here = along(from, floor_at, way);
      bool dark = ((int)floorf(here.x) + (int)floorf(here.z)) & 1;
      look.x = look.y = look.z = dark ? 0.2f : 0.9f;
      look.w = 0.1f;
    } else {
      here = along(from, nearest, way);
      float4 b = ball[met];
      Vector outwards = {here.x - b.x, here.y - b.y, here.z - b.z};
      normal = unit(outwards);
      look = surface[met];
    }
    Vector light = {light_x - here.x, light_y - here.y, light_z - here.z};
    float distance = __fsqrt_rn(dot(light, light));
    light = unit(light);
    float lit = dot(light, normal);
    if (lit > 0.0f) {
      // In a ball's shadow?
#pragma unroll 1
      for (int k = 0; k < balls; ++k) {
        float at = meet(ball[k], here, light);
        if (at > NEAR && at < distance) {
          lit = 0.0f;
          break;
        }
      }
    }
    float shade = __fmaf_rn(0.8f, fmaxf(lit, 0.0f), 0.2f);
    red[bounce] = look.x * shade;
    green[bounce] = look.y * shade;
    blue[bounce] = look.z * shade;
    mirror[bounce] = look.w;
    if (look.w == 0.0f || bounce == bounces - 1) break;
    ++bounce;
    from = here;
    way = along(way, -2.0f * dot(way, normal), normal);
  }

  float r = red[bounce], g = green[bounce], b = blue[bounce];
#pragma unroll 1
  for (int k = bounce - 1; k >= 0; --k) {
    r = __fmaf_rn(mirror[k], r - red[k], red[k]);
    g = __fmaf_rn(mirror[k], g - green[k], green[k]);
    b = __fmaf_rn(mirror[k], b - blue[k], blue[k]);
  }
  unsigned packed = (unsigned)(255.0f * fminf(r, 1.0f)) | (unsigned)(255.0f * fminf(g, 1.0f)) << 8 |
                    (unsigned)(255.0f * fminf(b, 1.0f)) << 16;
  pixels[py * width + px] = packed;
}
