// What a CUDA kernel expects to find, for clang without a CUDA toolkit.
//
// Only what the suite uses. The names and meanings are CUDA's, so a kernel.cu that includes this header also compiles
// with the vendor's compiler, for which the header is empty. The approximate functions are the ones that CUDA's
// `__expf` family is documented to be: one PTX `.approx` instruction, with a scaling multiplication where the base is e.
#pragma once
#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

// threadIdx and its kin: objects without storage whose members read special registers.
#define WARPWATT_INDEX(name)                                                                                           \
  struct warpwatt_##name {                                                                                             \
    __declspec(property(get = get_x)) unsigned x;                                                                      \
    __declspec(property(get = get_y)) unsigned y;                                                                      \
    __declspec(property(get = get_z)) unsigned z;                                                                      \
    static __device__ __forceinline__ unsigned get_x() { return __nvvm_read_ptx_sreg_##name##_x(); }                   \
    static __device__ __forceinline__ unsigned get_y() { return __nvvm_read_ptx_sreg_##name##_y(); }                   \
    static __device__ __forceinline__ unsigned get_z() { return __nvvm_read_ptx_sreg_##name##_z(); }                   \
  }
WARPWATT_INDEX(tid);
WARPWATT_INDEX(ntid);
WARPWATT_INDEX(ctaid);
WARPWATT_INDEX(nctaid);
#undef WARPWATT_INDEX
extern const __device__ warpwatt_tid threadIdx;
extern const __device__ warpwatt_ntid blockDim;
extern const __device__ warpwatt_ctaid blockIdx;
extern const __device__ warpwatt_nctaid gridDim;

typedef float float4 __attribute__((ext_vector_type(4)));

#define WARPWATT_INLINE static __device__ __forceinline__
WARPWATT_INLINE int min(int a, int b) { return a < b ? a : b; }
WARPWATT_INLINE int max(int a, int b) { return a > b ? a : b; }
WARPWATT_INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
WARPWATT_INLINE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
WARPWATT_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPWATT_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
WARPWATT_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
WARPWATT_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
WARPWATT_INLINE float floorf(float x) { return __builtin_floorf(x); }
WARPWATT_INLINE float rintf(float x) { return __builtin_rintf(x); }
WARPWATT_INLINE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
WARPWATT_INLINE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
WARPWATT_INLINE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WARPWATT_INLINE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
WARPWATT_INLINE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
WARPWATT_INLINE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
WARPWATT_INLINE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
WARPWATT_INLINE unsigned atomicAdd(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, (int)v); }
WARPWATT_INLINE unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
WARPWATT_INLINE unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
#undef WARPWATT_INLINE

#endif
