//! Half precision.

use crate::harness::cases;

const NAN: u16 = 0x7fff;
const NAN2: u32 = 0x7fff_7fff;

cases! {
    add_f16: "add.f16" {
        [0x3c00u16, 0x4000u16] => 0x4200u16, [0x7bffu16, 0x7bffu16] => 0x7c00u16, [0x7c00u16, 0xfc00u16] => NAN,
        // 2048 + 1: a tie to even, 2049 + 2: to the odd side's neighbour.
        [0x6800u16, 0x3c00u16] => 0x6800u16, [0x6801u16, 0x3c00u16] => 0x6802u16,
        [0x0001u16, 0x0001u16] => 0x0002u16, [0x7e00u16, 0u16] => NAN,
    }
    add_rn_f16: "add.rn.f16" { [0x3c00u16, 0x1000u16] => 0x3c00u16, [0x3c00u16, 0x1001u16] => 0x3c01u16, }
    add_f16x2: "add.f16x2" { [0x3c00_4000u32, 0x3c00_c000u32] => 0x4000_0000u32, [0x7e00_7c00u32, 0xfc00u32] => NAN2, }
    add_ftz_f16: "add.ftz.f16" {
        [0x0001u16, 0x0001u16] => 0u16, [0x0400u16, 0x8001u16] => 0x0400u16, [0x8001u16, 0x8001u16] => 0x8000u16,
    }
    add_sat_f16: "add.sat.f16" {
        [0x3c00u16, 0x3c00u16] => 0x3c00u16, [0xbc00u16, 0u16] => 0u16, [0x7e00u16, 0u16] => 0u16,
    }
    sub_f16: "sub.f16" { [0x3c00u16, 0x4000u16] => 0xbc00u16, [0x3c00u16, 0x3c00u16] => 0u16, }
    mul_f16: "mul.f16" {
        [0x4200u16, 0x4200u16] => 0x4880u16, [0x0001u16, 0x3800u16] => 0u16, [0x0003u16, 0x3800u16] => 0x0002u16,
        [0x7c00u16, 0u16] => NAN,
    }
    mul_f16x2: "mul.f16x2" { [0x4200_3c00u32, 0x4200_bc00u32] => 0x4880_bc00u32, }
    fma_rn_f16: "fma.rn.f16" {
        [0x3c01u16, 0x3c01u16, 0xbc02u16] => 0x0010u16, [0x4000u16, 0x4200u16, 0x3c00u16] => 0x4700u16,
        // 2¹⁵ × 1 − 2⁻²⁴ rounds to 2¹⁵; a product of tiny numbers breaks the tie.
        [0x7800u16, 0x3c00u16, 0x8001u16] => 0x7800u16, [0x3c00u16, 0x1000u16, 0x3c00u16] => 0x3c00u16,
        [0x3c01u16, 0x1000u16, 0x3c00u16] => 0x3c01u16,
    }
    fma_rn_f16x2: "fma.rn.f16x2" { [0x4000_4200u32, 0x4200_4000u32, 0x3c00_3c00u32] => 0x4700_4700u32, }
    fma_rn_relu_f16: "fma.rn.relu.f16" {
        [0x3c00u16, 0xbc00u16, 0u16] => 0u16, [0x3c00u16, 0x3c00u16, 0u16] => 0x3c00u16,
        [0x7e00u16, 0u16, 0u16] => NAN,
    }
    abs_f16: "abs.f16" { [0xbc00u16] => 0x3c00u16, [0x8000u16] => 0u16, }
    neg_f16: "neg.f16" { [0x3c00u16] => 0xbc00u16, [0u16] => 0x8000u16, }
    neg_f16x2: "neg.f16x2" { [0x3c00_bc00u32] => 0xbc00_3c00u32, }
    min_f16: "min.f16" {
        [0x3c00u16, 0x4000u16] => 0x3c00u16, [0u16, 0x8000u16] => 0x8000u16, [0x7e00u16, 0x3c00u16] => 0x3c00u16,
    }
    max_f16: "max.f16" { [0x3c00u16, 0x4000u16] => 0x4000u16, [0x8000u16, 0u16] => 0u16, }
    max_f16x2: "max.f16x2" { [0x3c00_4000u32, 0x4000_3c00u32] => 0x4000_4000u32, }
    min_nan_f16: "min.NaN.f16" { [0x7e00u16, 0x3c00u16] => NAN, }
    max_xorsign_abs_f16: "max.xorsign.abs.f16" { [0xbc00u16, 0x4000u16] => 0xc000u16, }
    add_bf16: "add.bf16" {
        [0x3f80u16, 0x4000u16] => 0x4040u16, [0x7f7fu16, 0x7f7fu16] => 0x7f80u16,
        [0x3f80u16, 0x3b80u16] => 0x3f80u16, [0x3f81u16, 0x3b80u16] => 0x3f82u16,
    }
    sub_bf16: "sub.bf16" { [0x3f80u16, 0x3f80u16] => 0u16, }
    mul_bf16: "mul.bf16" {
        [0x4040u16, 0x4040u16] => 0x4110u16, [0x0001u16, 0x3f40u16] => 0x0001u16, [0x0001u16, 0x3f00u16] => 0u16,
    }
    /// 1.0625² is halfway between two values; the least subnormal number breaks the tie, 133 bits below.
    fma_rn_bf16: "fma.rn.bf16" {
        [0x3f81u16, 0x3f81u16, 0xbf82u16] => 0x3880u16, [0x3f88u16, 0x3f88u16, 0u16] => 0x3f90u16,
        [0x3f88u16, 0x3f88u16, 0x0001u16] => 0x3f91u16,
        [0x3f88u16, 0x3f88u16, 0x8001u16] => 0x3f90u16, [0x3f90u16, 0x3f90u16, 0u16] => 0x3fa2u16,
    }
    fma_rn_bf16x2: "fma.rn.bf16x2" { [0x3f80_4000u32, 0x4040_4040u32, 0u32] => 0x4040_40c0u32, }
    ex2_approx_f16: "ex2.approx.f16" {
        [0x4200u16] => 0x4800u16, [0u16] => 0x3c00u16, [0xfc00u16] => 0u16, [0x7c00u16] => 0x7c00u16,
        [0x7e00u16] => NAN,
    }
    ex2_approx_ftz_bf16: "ex2.approx.ftz.bf16" {
        [0x4040u16] => 0x4100u16, [0x0001u16] => 0x3f80u16, [0xff80u16] => 0u16,
    }
    tanh_approx_f16: "tanh.approx.f16" {
        [0u16] => 0u16, [0x8000u16] => 0x8000u16, [0x7c00u16] => 0x3c00u16, [0xfc00u16] => 0xbc00u16,
        [0x3c00u16] => 0x3a18u16,
    }
    tanh_approx_f16x2: "tanh.approx.f16x2" { [0x7c00_0000u32] => 0x3c00_0000u32, }
}
