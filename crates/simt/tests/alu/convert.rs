//! Conversions.

use crate::harness::{Bits, cases, op, run};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = f32::from_bits(1);

cases! {
    // Integers to integers: the low bits count; the result is extended by its own signedness to the register.
    cvt_s64_s32: "cvt.s64.s32" { [-5] => -5i64, [i32::MIN] => i32::MIN as i64, }
    cvt_u64_u32: "cvt.u64.u32" { [u32::MAX] => u32::MAX as u64, }
    cvt_u64_s32: "cvt.u64.s32" { [-5] => -5i64, }
    cvt_s64_u32: "cvt.s64.u32" { [u32::MAX] => u32::MAX as u64, }
    cvt_u32_u64: "cvt.u32.u64" { [0x1_2345_6789u64] => 0x2345_6789u32, }
    cvt_s32_s64: "cvt.s32.s64" { [-5i64] => -5, [0x1_8000_0000i64] => i32::MIN, }
    cvt_s32_u64: "cvt.s32.u64" { [0x1_8000_0000u64] => i32::MIN, }
    cvt_u32_s64: "cvt.u32.s64" { [-1i64] => u32::MAX, }
    cvt_s32_u32: "cvt.s32.u32" { [u32::MAX] => -1, }
    cvt_u32_u32: "cvt.u32.u32" { [7u32] => 7u32, }
    cvt_u16_u32: "cvt.u16.u32" { [0x1_2345u32] => 0x2345u16, }
    cvt_s16_s32: "cvt.s16.s32" { [-5] => -5i16, [0x1_8000] => i16::MIN, }
    cvt_u16_u64: "cvt.u16.u64" { [0x1_2345_6789u64] => 0x6789u16, }
    cvt_u64_u16: "cvt.u64.u16" { [0xffffu16] => 0xffffu64, }
    cvt_s64_s16: "cvt.s64.s16" { [-1i16] => -1i64, }
    cvt_u32_u16: "cvt.u32.u16" { [0xffffu16] => 0xffffu32, }
    cvt_s32_s16: "cvt.s32.s16" { [-5i16] => -5, }
    cvt_s32_u16: "cvt.s32.u16" { [0xffffu16] => 0xffff, }
    cvt_u16_u8: "cvt.u16.u8" { [0x12ffu16] => 0xffu16, }
    cvt_s16_s8: "cvt.s16.s8" { [0x12ffu16] => -1i16, [0x127fu16] => 127i16, }
    cvt_s32_s8: "cvt.s32.s8" { [0xff80u16] => -128, [0xff7fu16] => 127, }
    cvt_u32_u8: "cvt.u32.u8" { [0xff80u16] => 0x80u32, }
    cvt_s8_s32_into_32_bits: "cvt.s8.s32 %r0, %r1" { [0x1ff] => -1, [0x17f] => 127, [-128] => -128, }
    cvt_s8_s32_into_16_bits: "cvt.s8.s32 %s0, %r1" { [0x1ff] => -1i16, [0x17f] => 127i16, }
    cvt_s8_s32_into_64_bits: "cvt.s8.s32 %d0, %r1" { [0x1ff] => -1i64, [0x17f] => 127i64, }
    cvt_u8_u32_into_32_bits: "cvt.u8.u32 %r0, %r1" { [0x1ffu32] => 0xffu32, }
    cvt_u8_u32_into_16_bits: "cvt.u8.u32 %s0, %r1" { [0x1ffu32] => 0xffu16, }
    /// Sign-extended to the type, zero-extended to the register.
    cvt_u16_s8_into_32_bits: "cvt.u16.s8 %r0, %s1" { [0xffu16] => 0xffffu32, }
    cvt_u32_s16_into_64_bits: "cvt.u32.s16 %d0, %s1" { [-1i16] => 0xffff_ffffu64, }
    cvt_s64_s32_of_a_wide_register: "cvt.s64.s32 %d0, %d1" { [0x5_8000_0000u64] => i32::MIN as i64, }
    cvt_u32_u8_of_a_wide_register: "cvt.u32.u8 %r0, %d1" { [0x1_0000_01ffu64] => 0xffu32, }
    cvt_s32_s8_of_a_register: "cvt.s32.s8 %r0, %r1" { [0x1ff] => -1, }
    cvt_u16_u32_into_32_bits: "cvt.u16.u32 %r0, %r1" { [0x1_2345u32] => 0x2345u32, }
    cvt_sat_u8_s32: "cvt.sat.u8.s32" { [-5] => 0u16, [300] => 255u16, [77] => 77u16, }
    cvt_sat_s8_s32: "cvt.sat.s8.s32" { [-500] => -128i16, [500] => 127i16, [-5] => -5i16, }
    cvt_sat_u32_s32: "cvt.sat.u32.s32" { [-5] => 0u32, [5] => 5u32, }
    cvt_sat_s32_u32: "cvt.sat.s32.u32" { [u32::MAX] => i32::MAX, [5u32] => 5, }
    cvt_sat_s32_s64: "cvt.sat.s32.s64" { [i64::MIN] => i32::MIN, [1i64 << 40] => i32::MAX, [-7i64] => -7, }
    cvt_sat_u32_u64: "cvt.sat.u32.u64" { [1u64 << 63] => u32::MAX, [9u64] => 9u32, }
    cvt_sat_s64_u64: "cvt.sat.s64.u64" { [u64::MAX] => i64::MAX, }
    cvt_sat_u64_s64: "cvt.sat.u64.s64" { [-1i64] => 0u64, [5i64] => 5u64, }

    // Integers to floating point.
    cvt_rn_f32_s32: "cvt.rn.f32.s32" {
        [-7] => -7f32, [i32::MAX] => 2_147_483_648f32, [16_777_217] => 16_777_216f32, [0] => 0f32,
    }
    cvt_rn_f32_u32: "cvt.rn.f32.u32" { [u32::MAX] => 4_294_967_296f32, [16_777_219u32] => 16_777_220f32, }
    cvt_rz_f32_s32: "cvt.rz.f32.s32" { [i32::MAX] => 2_147_483_520f32, [-16_777_217] => -16_777_216f32, }
    cvt_rm_f32_s32: "cvt.rm.f32.s32" { [-16_777_217] => -16_777_218f32, }
    cvt_rp_f32_u32: "cvt.rp.f32.u32" { [16_777_217u32] => 16_777_218f32, }
    cvt_rn_f32_s64: "cvt.rn.f32.s64" { [-(1i64 << 40) - 1] => -(1i64 << 40) as f32, }
    cvt_rn_f32_u64: "cvt.rn.f32.u64" {
        [u64::MAX] => 18_446_744_073_709_551_616f32,
        [(1u64 << 40) + (1 << 16) + 1] => ((1u64 << 40) + (1 << 17)) as f32,
    }
    cvt_rz_f32_u64: "cvt.rz.f32.u64" {
        [u64::MAX] => f32::from_bits(0x5f7f_ffff), [(1u64 << 54) + 1] => (1u64 << 54) as f32,
    }
    cvt_rp_f32_u64: "cvt.rp.f32.u64" {
        [(1u64 << 54) + 1] => f32::from_bits(0x5a80_0001), [1u64 << 54] => (1u64 << 54) as f32,
    }
    cvt_rm_f32_s64: "cvt.rm.f32.s64" { [-(1i64 << 54) - 1] => f32::from_bits(0xda80_0001), }
    cvt_rn_f32_u16: "cvt.rn.f32.u16" { [0xffffu16] => 65_535f32, }
    cvt_rn_f32_s16: "cvt.rn.f32.s16" { [-1i16] => -1f32, }
    cvt_rn_f32_u8: "cvt.rn.f32.u8" { [0xff05u16] => 5f32, }
    cvt_rn_f32_s8: "cvt.rn.f32.s8" { [0x05ffu16] => -1f32, }
    cvt_rn_f32_s32_of_a_wide_register: "cvt.rn.f32.s32 %r0, %d1" { [0x7_ffff_fffbu64] => -5f32, }
    cvt_rn_f64_s32: "cvt.rn.f64.s32" { [i32::MIN] => -2_147_483_648f64, }
    cvt_rn_f64_u32: "cvt.rn.f64.u32" { [u32::MAX] => 4_294_967_295f64, }
    cvt_rn_f64_s64: "cvt.rn.f64.s64" { [i64::MAX] => 9_223_372_036_854_775_808f64, [-3i64] => -3f64, }
    cvt_rn_f64_u64: "cvt.rn.f64.u64" { [u64::MAX] => 18_446_744_073_709_551_616f64, }
    cvt_rz_f64_u64: "cvt.rz.f64.u64" { [u64::MAX] => f64::from_bits(0x43ef_ffff_ffff_ffff), }
    cvt_rm_f64_s64: "cvt.rm.f64.s64" { [i64::MIN + 1] => -9_223_372_036_854_775_808f64, [0i64] => 0f64, }
    cvt_rn_f16_s32: "cvt.rn.f16.s32" { [2049] => 0x6800u16, [-1] => 0xbc00u16, [70_000] => 0x7c00u16, }
    cvt_rz_f16_u32: "cvt.rz.f16.u32" { [70_000u32] => 0x7bffu16, [2049u32] => 0x6800u16, }
    cvt_rp_f16_u64: "cvt.rp.f16.u64" { [2049u64] => 0x6801u16, [u64::MAX] => 0x7c00u16, }
    cvt_rn_bf16_s32: "cvt.rn.bf16.s32" { [257] => 0x4380u16, [259] => 0x4382u16, }

    // Floating point to integers: clamped.
    cvt_rzi_s32_f32: "cvt.rzi.s32.f32" {
        [-2.7f32] => -2, [2.7f32] => 2, [3e9f32] => i32::MAX, [-3e9f32] => i32::MIN, [NAN] => 0, [INF] => i32::MAX,
        [-INF] => i32::MIN,
        [-0f32] => 0, [TINY] => 0, [2_147_483_520f32] => 2_147_483_520,
    }
    cvt_rni_s32_f32: "cvt.rni.s32.f32" {
        [2.5f32] => 2, [3.5f32] => 4, [-2.5f32] => -2, [0.5f32] => 0, [8_388_609f32] => 8_388_609, [NAN] => 0,
        [1e20f32] => i32::MAX,
    }
    cvt_rmi_s32_f32: "cvt.rmi.s32.f32" { [-2.1f32] => -3, [2.9f32] => 2, [-TINY] => -1, }
    cvt_rpi_s32_f32: "cvt.rpi.s32.f32" { [-2.9f32] => -2, [2.1f32] => 3, [TINY] => 1, }
    cvt_rzi_u32_f32: "cvt.rzi.u32.f32" {
        [2.7f32] => 2u32, [-1f32] => 0u32, [5e9f32] => u32::MAX, [NAN] => 0u32,
        [4_294_967_040f32] => 4_294_967_040u32, [-INF] => 0u32, [INF] => u32::MAX,
    }
    cvt_rni_u32_f32: "cvt.rni.u32.f32" { [2.5f32] => 2u32, [3.5f32] => 4u32, [-0.5f32] => 0u32, }
    cvt_rzi_ftz_s32_f32: "cvt.rzi.ftz.s32.f32" { [TINY] => 0, [-5.5f32] => -5, }
    cvt_rmi_ftz_s32_f32: "cvt.rmi.ftz.s32.f32" { [-TINY] => 0, [-5.5f32] => -6, }
    cvt_rzi_ftz_u32_f32: "cvt.rzi.ftz.u32.f32" { [5.5f32] => 5u32, }
    cvt_rzi_ftz_sat_s32_f32: "cvt.rzi.ftz.sat.s32.f32" { [3e9f32] => i32::MAX, }
    cvt_rzi_ftz_sat_u32_f32: "cvt.rzi.ftz.sat.u32.f32" { [-3f32] => 0u32, }
    cvt_rzi_u16_f32: "cvt.rzi.u16.f32" { [70_000f32] => 0xffffu16, [-5f32] => 0u16, [77.9f32] => 77u16, [NAN] => 0u16, }
    cvt_rzi_s16_f32: "cvt.rzi.s16.f32" { [-70_000f32] => i16::MIN, [-5.9f32] => -5i16, }
    cvt_rzi_u8_f32_into_32_bits: "cvt.rzi.u8.f32 %r0, %r1" { [300f32] => 255u32, [-1f32] => 0u32, }
    cvt_rni_s8_f32_into_32_bits: "cvt.rni.s8.f32 %r0, %r1" { [-200f32] => -128, [-1.5f32] => -2, }
    cvt_rzi_s32_f32_into_64_bits: "cvt.rzi.s32.f32 %d0, %r1" { [-2.7f32] => -2i64, [3e9f32] => i32::MAX as i64, }
    cvt_rzi_u32_f32_into_64_bits: "cvt.rzi.u32.f32 %d0, %r1" { [3e9f32] => 3_000_000_000u64, }
    cvt_rzi_s64_f32: "cvt.rzi.s64.f32" {
        [-2.7f32] => -2i64, [1e20f32] => i64::MAX, [-INF] => i64::MIN, [NAN] => i64::MIN,
    }
    cvt_rzi_u64_f32: "cvt.rzi.u64.f32" {
        [1e19f32] => 9_999_999_980_506_447_872u64, [-1f32] => 0u64, [INF] => u64::MAX, [NAN] => 1u64 << 63,
    }
    cvt_rni_u64_f32: "cvt.rni.u64.f32" { [2.5f32] => 2u64, }
    cvt_rzi_s32_f64: "cvt.rzi.s32.f64" {
        [-2.7f64] => -2, [3e9f64] => i32::MAX, [f64::NAN] => i32::MIN, [2_147_483_646.9f64] => 2_147_483_646,
        [-2_147_483_648.5f64] => i32::MIN,
    }
    cvt_rni_s32_f64: "cvt.rni.s32.f64" { [2.5f64] => 2, [-3.5f64] => -4, [1e300f64] => i32::MAX, }
    cvt_rzi_u32_f64: "cvt.rzi.u32.f64" {
        [4_294_967_295.9f64] => u32::MAX, [-0.9f64] => 0u32, [f64::NAN] => 1u32 << 31,
    }
    cvt_rzi_s64_f64: "cvt.rzi.s64.f64" {
        [-2.7f64] => -2i64, [1e19f64] => i64::MAX, [f64::NAN] => i64::MIN,
        [9_007_199_254_740_993f64] => 9_007_199_254_740_992i64,
    }
    cvt_rzi_u64_f64: "cvt.rzi.u64.f64" { [1e19f64] => 10_000_000_000_000_000_000u64, [f64::NAN] => 1u64 << 63, }
    cvt_rmi_s64_f64: "cvt.rmi.s64.f64" { [-2.1f64] => -3i64, }
    cvt_rzi_s32_f16: "cvt.rzi.s32.f16" { [0xc100u16] => -2, [0x7c00u16] => i32::MAX, [0x7e00u16] => 0, }
    cvt_rni_u16_f16: "cvt.rni.u16.f16" { [0x4100u16] => 2u16, [0x7bffu16] => 65_504u16, [0xbc00u16] => 0u16, }
    cvt_rzi_s32_bf16: "cvt.rzi.s32.bf16" { [0xc020u16] => -2, }

    // Floating point to floating point.
    cvt_f64_f32: "cvt.f64.f32" {
        [1.5f32] => 1.5f64, [TINY] => 1.401_298_464_324_817e-45f64, [-INF] => f64::NEG_INFINITY,
        [f32::from_bits(0xffc0_0001)] => 0xfff8_0000_2000_0000u64,
    }
    cvt_ftz_f64_f32: "cvt.ftz.f64.f32" { [-TINY] => -0f64, [1.5f32] => 1.5f64, }
    cvt_rn_f32_f64: "cvt.rn.f32.f64" {
        [0.1f64] => 0.1f32, [1e300f64] => INF, [1e-46f64] => 0f32, [7.1e-46f64] => TINY,
        [f64::NAN] => 0x7fff_ffffu32, [-0f64] => -0f32,
    }
    cvt_rz_f32_f64: "cvt.rz.f32.f64" {
        [1e300f64] => f32::MAX, [-1e-46f64] => -0f32, [0.1f64] => f32::from_bits(0x3dcc_cccc),
    }
    cvt_rm_f32_f64: "cvt.rm.f32.f64" { [-1e-46f64] => -TINY, [1e300f64] => f32::MAX, [-1e300f64] => -INF, }
    cvt_rp_f32_f64: "cvt.rp.f32.f64" { [1e-46f64] => TINY, [-1e300f64] => -f32::MAX, [0.1f64] => 0.1f32, }
    cvt_rn_ftz_f32_f64: "cvt.rn.ftz.f32.f64" { [1e-40f64] => 0f32, [-1e-40f64] => -0f32, [1.5f64] => 1.5f32, }
    cvt_rn_sat_f32_f64: "cvt.rn.sat.f32.f64" { [2f64] => 1f32, [-2f64] => 0f32, [f64::NAN] => 0f32, }
    cvt_f32_f32: "cvt.f32.f32" { [1.5f32] => 1.5f32, [NAN] => 0x7fff_ffffu32, [TINY] => TINY, }
    cvt_sat_f32_f32: "cvt.sat.f32.f32" {
        [1.5f32] => 1f32, [-1.5f32] => 0f32, [-0f32] => 0f32, [NAN] => 0f32, [0.5f32] => 0.5f32, [TINY] => TINY,
    }
    cvt_ftz_f32_f32: "cvt.ftz.f32.f32" { [-TINY] => -0f32, }
    cvt_ftz_sat_f32_f32: "cvt.ftz.sat.f32.f32" { [TINY] => 0f32, [7f32] => 1f32, }
    cvt_rni_f32_f32: "cvt.rni.f32.f32" {
        [2.5f32] => 2f32, [-0.3f32] => -0f32, [1e20f32] => 1e20f32, [NAN] => 0x7fff_ffffu32, [-INF] => -INF,
    }
    cvt_rzi_f32_f32: "cvt.rzi.f32.f32" { [-2.7f32] => -2f32, [0.9f32] => 0f32, }
    cvt_rmi_f32_f32: "cvt.rmi.f32.f32" { [-2.1f32] => -3f32, [2.9f32] => 2f32, [-TINY] => -1f32, }
    cvt_rpi_f32_f32: "cvt.rpi.f32.f32" { [-2.9f32] => -2f32, [2.1f32] => 3f32, [-0.5f32] => -0f32, [TINY] => 1f32, }
    cvt_rmi_ftz_f32_f32: "cvt.rmi.ftz.f32.f32" { [-TINY] => -0f32, [-1.5f32] => -2f32, }
    cvt_rpi_ftz_f32_f32: "cvt.rpi.ftz.f32.f32" { [TINY] => 0f32, }
    cvt_rni_sat_f32_f32: "cvt.rni.sat.f32.f32" { [0.6f32] => 1f32, [-7f32] => 0f32, }
    cvt_rni_f64_f64: "cvt.rni.f64.f64" {
        [2.5f64] => 2f64, [3.5f64] => 4f64, [-0.2f64] => -0f64,
        [f64::from_bits(0x7ff0_0000_0000_0007)] => 0x7ff8_0000_0000_0007u64,
    }
    cvt_rzi_f64_f64: "cvt.rzi.f64.f64" { [-2.7f64] => -2f64, }
    cvt_rmi_f64_f64: "cvt.rmi.f64.f64" { [-2.1f64] => -3f64, }
    cvt_rpi_f64_f64: "cvt.rpi.f64.f64" { [2.1f64] => 3f64, }
    cvt_sat_f64_f64: "cvt.sat.f64.f64" { [2f64] => 1f64, [-1f64] => 0f64, [f64::NAN] => 0f64, }
    cvt_f32_f16: "cvt.f32.f16" {
        [0x3c00u16] => 1f32, [0xc000u16] => -2f32, [0x0001u16] => 5.960_464_5e-8f32, [0x7c00u16] => INF,
        [0xfc00u16] => -INF, [0x7e00u16] => 0x7fff_ffffu32, [0x8000u16] => -0f32, [0x7bffu16] => 65_504f32,
    }
    cvt_f32_f16_of_a_register: "cvt.f32.f16 %r0, %r1" { [0xffff_3c00u32] => 1f32, }
    cvt_f64_f16: "cvt.f64.f16" {
        [0x3c00u16] => 1f64, [0x0001u16] => 5.960_464_477_539_063e-8f64, [0x7e00u16] => 0xfff8_0000_0000_0000u64,
    }
    cvt_sat_f32_f16: "cvt.sat.f32.f16" { [0x4000u16] => 1f32, }
    cvt_sat_f64_f16: "cvt.sat.f64.f16" {
        [0x4000u16] => 1f64, [0xf860u16] => 0f64, [0x7e00u16] => 0f64, [0x3800u16] => 0.5f64, [0x8000u16] => 0f64,
    }
    cvt_rn_f16_f32: "cvt.rn.f16.f32" {
        [1f32] => 0x3c00u16, [65_519f32] => 0x7bffu16, [65_520f32] => 0x7c00u16, [NAN] => 0x7fffu16,
        [-INF] => 0xfc00u16, [5.960_464_5e-8f32] => 1u16,
        [2.980_232_2e-8f32] => 0u16, [2.980_232_6e-8f32] => 1u16, [6.103_515_6e-5f32] => 0x0400u16,
        [1.000_488_3f32] => 0x3c00u16, [1.001_464_8f32] => 0x3c02u16, [-0f32] => 0x8000u16,
    }
    cvt_rz_f16_f32: "cvt.rz.f16.f32" { [65_520f32] => 0x7bffu16, [1.000_9f32] => 0x3c00u16, [5e-8f32] => 0u16, }
    cvt_rm_f16_f32: "cvt.rm.f16.f32" { [-1e-10f32] => 0x8001u16, [70_000f32] => 0x7bffu16, }
    cvt_rp_f16_f32: "cvt.rp.f16.f32" { [1e-10f32] => 1u16, [-70_000f32] => 0xfbffu16, }
    cvt_rn_sat_f16_f32: "cvt.rn.sat.f16.f32" { [2f32] => 0x3c00u16, [NAN] => 0u16, }
    cvt_rn_relu_f16_f32: "cvt.rn.relu.f16.f32" { [-2f32] => 0u16, [2f32] => 0x4000u16, [NAN] => 0x7fffu16, }
    cvt_rn_f16_f64: "cvt.rn.f16.f64" {
        // A tie but for a bit that single precision does not hold.
        [1f64 + 0.000_488_281_25f64 + 1e-12f64] => 0x3c01u16, [1f64 + 0.000_488_281_25f64] => 0x3c00u16,
        [1e300f64] => 0x7c00u16,
    }
    cvt_rn_f16x2_f32: "cvt.rn.f16x2.f32 %r0, %r1, %r2" {
        [1f32, 2f32] => 0x3c00_4000u32, [NAN, 1e9f32] => 0x7fff_7c00u32,
    }
    cvt_rz_f16x2_f32: "cvt.rz.f16x2.f32 %r0, %r1, %r2" { [1e9f32, 1.000_9f32] => 0x7bff_3c00u32, }
    cvt_rn_bf16x2_f32: "cvt.rn.bf16x2.f32 %r0, %r1, %r2" { [1f32, 2f32] => 0x3f80_4000u32, }
    cvt_rn_bf16_f32: "cvt.rn.bf16.f32" {
        [1f32] => 0x3f80u16, [f32::from_bits(0x3f80_8000)] => 0x3f80u16, [f32::from_bits(0x3f81_8000)] => 0x3f82u16,
        [f32::MAX] => 0x7f80u16, [NAN] => 0x7fffu16,
    }
    cvt_rz_bf16_f32: "cvt.rz.bf16.f32" { [f32::MAX] => 0x7f7fu16, [f32::from_bits(0xbf80_ffff)] => 0xbf80u16, }
    cvt_f32_bf16: "cvt.f32.bf16" { [0x3f80u16] => 1f32, [0x7fc0u16] => 0x7fff_ffffu32, }
    cvt_rni_f16_f16: "cvt.rni.f16.f16" { [0x4100u16] => 0x4000u16, [0xb800u16] => 0x8000u16, }
    cvt_rna_tf32_f32: "cvt.rna.tf32.f32" {
        [f32::from_bits(0x3f80_1000)] => 0x3f80_2000u32, [f32::from_bits(0x3f80_0fff)] => 0x3f80_0000u32,
        [NAN] => 0x7fff_ffffu32, [INF] => 0x7f80_0000u32,
    }
    cvt_rn_tf32_f32: "cvt.rn.tf32.f32" {
        [f32::from_bits(0x3f80_1000)] => 0x3f80_0000u32, [f32::from_bits(0x3f80_3000)] => 0x3f80_4000u32,
    }
    cvt_rz_tf32_f32: "cvt.rz.tf32.f32" { [f32::from_bits(0x3f80_1fff)] => 0x3f80_0000u32, }
}

/// Every f16 value to f32 and back is itself (a NaN the canonical one), and lies where IEEE 754 says.
#[test]
fn all_f16_values() {
    let (up, down) = (op("cvt.f32.f16", 1), op("cvt.rn.f16.f32", 1));
    for block in 0..2048u64 {
        let values: [u64; 32] = std::array::from_fn(|i| block * 32 + i as u64);
        let wide = up.lanes(&[values], 0).lanes;
        let back = down.lanes(&[wide], 0).lanes;
        for (h, (w, b)) in values.into_iter().zip(wide.into_iter().zip(back)) {
            let (sign, exponent, fraction) = (h >> 15, (h >> 10 & 31) as i32, (h & 1023) as f64);
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                e => (1024.0 + fraction) * 2f64.powi(e - 25),
            };
            let value = if sign != 0 { -magnitude } else { magnitude };
            if value.is_nan() {
                assert_eq!((w, b), (0x7fff_ffff, 0x7fff));
            } else {
                assert_eq!((w, b), ((value as f32).bits(), h));
            }
        }
    }
}

/// Integer conversions of all widths into all register widths, against the manual's definition.
#[test]
fn integers_between_all_types_and_registers() {
    let types = [("u8", 8, false), ("s8", 8, true), ("u16", 16, false), ("s16", 16, true)];
    let types = [&types[..], &[("u32", 32, false), ("s32", 32, true), ("u64", 64, false), ("s64", 64, true)]].concat();
    let registers = [("s", 16), ("r", 32), ("d", 64)];
    let extend = |x: u64, bits: u32, signed: bool| {
        let low = x << (64 - bits);
        if signed { ((low as i64) >> (64 - bits)) as u64 } else { low >> (64 - bits) }
    };
    for &(to, to_bits, to_signed) in &types {
        for &(from, from_bits, from_signed) in &types {
            for (dest, dest_bits) in registers {
                for (source, source_bits) in registers {
                    if dest_bits < to_bits || source_bits < from_bits {
                        continue;
                    }
                    for x in [
                        0u64,
                        1,
                        0x7f,
                        0x80,
                        0xff,
                        0x7fff,
                        0x8000,
                        0x1_2345,
                        0x8000_0000,
                        u64::MAX,
                        0x8765_4321_fedc_ba98,
                    ] {
                        let x = extend(x, source_bits, false);
                        let value = extend(x, from_bits, from_signed);
                        let want = extend(extend(value, to_bits, to_signed), dest_bits, false);
                        let form = format!("cvt.{to}.{from} %{dest}0, %{source}1");
                        assert_eq!(run(&form, &[x]), want, "{form} {x:#x}");
                        let number = if from_signed { value as i64 as i128 } else { value as i128 };
                        let (low, high) = if to_signed {
                            (-(1i128 << (to_bits - 1)), (1i128 << (to_bits - 1)) - 1)
                        } else {
                            (0, (1i128 << to_bits) - 1)
                        };
                        let want = extend(number.clamp(low, high) as u64, dest_bits, false);
                        let form = format!("cvt.sat.{to}.{from} %{dest}0, %{source}1");
                        assert_eq!(run(&form, &[x]), want, "{form} {x:#x}");
                    }
                }
            }
        }
    }
}
