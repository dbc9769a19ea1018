//! Single precision.

use crate::harness::cases;

const NAN: u32 = 0x7fff_ffff;
const INF: f32 = f32::INFINITY;
const MAX: f32 = f32::MAX;
/// Least subnormal and least normal number.
const TINY: f32 = f32::from_bits(1);
const NORMAL: f32 = f32::MIN_POSITIVE;
/// 1 and its neighbours.
const ABOVE: f32 = f32::from_bits(0x3f80_0001);
const BELOW: f32 = f32::from_bits(0x3f7f_ffff);
/// Half a unit in the last place of 1.
const HALF: f32 = 5.960_464_5e-8;

cases! {
    add_f32: "add.f32" {
        [1f32, 2f32] => 3f32, [1f32, HALF] => 1f32, [ABOVE, HALF] => f32::from_bits(0x3f80_0002), [MAX, MAX] => INF,
        [INF, -INF] => NAN, [f32::NAN, 1f32] => NAN, [0f32, -0f32] => 0f32, [-0f32, -0f32] => -0f32,
        [TINY, TINY] => f32::from_bits(2),
        [f32::from_bits(0x7f80_0001), 1f32] => NAN,
    }
    add_rn_f32: "add.rn.f32" { [ABOVE, HALF] => f32::from_bits(0x3f80_0002), [1f32, -1f32] => 0f32, }
    add_rz_f32: "add.rz.f32" {
        [ABOVE, HALF] => ABOVE, [-1f32, -HALF] => -1f32, [MAX, MAX] => MAX, [-MAX, -MAX] => -MAX,
        [1f32, -TINY] => BELOW, [INF, 1f32] => INF,
        [1f32, -1f32] => 0f32,
    }
    add_rm_f32: "add.rm.f32" {
        [1f32, TINY] => 1f32, [-1f32, -TINY] => -ABOVE, [MAX, MAX] => MAX, [-MAX, -MAX] => -INF, [1f32, -1f32] => -0f32,
        [0f32, 0f32] => 0f32, [0f32, -0f32] => -0f32,
    }
    add_rp_f32: "add.rp.f32" {
        [1f32, TINY] => ABOVE, [-1f32, -TINY] => -1f32, [MAX, TINY] => INF, [1f32, -1f32] => 0f32,
        [0f32, -0f32] => 0f32,
    }
    add_ftz_f32: "add.ftz.f32" {
        [TINY, TINY] => 0f32, [-TINY, -TINY] => -0f32, [NORMAL, -TINY] => NORMAL, [1.5f32 * NORMAL, -NORMAL] => 0f32,
        [NORMAL, -1.5f32 * NORMAL] => -0f32, [1f32, 2f32] => 3f32,
    }
    add_sat_f32: "add.sat.f32" {
        [0.5f32, 0.25f32] => 0.75f32, [1f32, 1f32] => 1f32, [-1f32, 0f32] => 0f32, [f32::NAN, 0f32] => 0f32,
        [INF, 0f32] => 1f32,
        [-0f32, -0f32] => 0f32, [-INF, 0f32] => 0f32,
    }
    add_rz_ftz_sat_f32: "add.rz.ftz.sat.f32" { [1f32, HALF] => 1f32, [TINY, 0f32] => 0f32, [1f32, -TINY] => 1f32, }
    sub_f32: "sub.f32" {
        [1f32, 2f32] => -1f32, [1f32, 1f32] => 0f32, [INF, INF] => NAN, [-0f32, 0f32] => -0f32, [0f32, 0f32] => 0f32,
    }
    sub_rn_f32: "sub.rn.f32" { [1f32, HALF / 2f32] => 1f32, [1f32, HALF] => BELOW, }
    sub_rz_f32: "sub.rz.f32" { [1f32, TINY] => BELOW, [-MAX, MAX] => -MAX, }
    sub_rm_f32: "sub.rm.f32" { [1f32, 1f32] => -0f32, [1f32, -TINY] => 1f32, }
    sub_rp_f32: "sub.rp.f32" { [1f32, 1f32] => 0f32, [1f32, -TINY] => ABOVE, }
    sub_ftz_f32: "sub.ftz.f32" { [TINY, -TINY] => 0f32, [NORMAL, 1.5f32 * NORMAL] => -0f32, }
    sub_sat_f32: "sub.sat.f32" { [3f32, 1f32] => 1f32, [1f32, 3f32] => 0f32, }
    mul_f32: "mul.f32" {
        [3f32, 4f32] => 12f32, [0f32, INF] => NAN, [MAX, 2f32] => INF,
        [NORMAL, 0.5f32] => f32::from_bits(0x0040_0000), [-0f32, 5f32] => -0f32,
    }
    mul_rn_f32: "mul.rn.f32" {
        [ABOVE, ABOVE] => f32::from_bits(0x3f80_0002), [TINY, 0.5f32] => 0f32, [TINY, 0.75f32] => TINY,
    }
    mul_rz_f32: "mul.rz.f32" { [TINY, 0.75f32] => 0f32, [-TINY, 0.75f32] => -0f32, [MAX, 2f32] => MAX, }
    mul_rm_f32: "mul.rm.f32" { [-TINY, 0.25f32] => -TINY, [TINY, 0.75f32] => 0f32, [-MAX, 2f32] => -INF, }
    mul_rp_f32: "mul.rp.f32" {
        [TINY, TINY] => TINY, [-TINY, TINY] => -0f32, [ABOVE, ABOVE] => f32::from_bits(0x3f80_0003),
    }
    mul_ftz_f32: "mul.ftz.f32" {
        [NORMAL, 0.5f32] => 0f32, [-NORMAL, 0.5f32] => -0f32, [TINY, 1e30f32] => 0f32, [TINY, INF] => NAN,
    }
    mul_sat_f32: "mul.sat.f32" {
        [2f32, 3f32] => 1f32, [-2f32, 3f32] => 0f32, [0.5f32, 0.5f32] => 0.25f32, [0f32, INF] => 0f32,
    }

    fma_rn_f32: "fma.rn.f32" {
        [2f32, 3f32, 4f32] => 10f32,
        // 1 + 2⁻²³, squared, less its rounded self: the product is not rounded.
        [ABOVE, ABOVE, -f32::from_bits(0x3f80_0002)] => 1.421_085_5e-14f32,
        [INF, 0f32, 1f32] => NAN, [INF, 1f32, -INF] => NAN, [1f32, -1f32, 1f32] => 0f32, [-0f32, 1f32, -0f32] => -0f32,
        [MAX, 2f32, -MAX] => MAX,
    }
    fma_rz_f32: "fma.rz.f32" {
        [1f32, 1f32, TINY] => 1f32, [1f32, 1f32, -TINY] => BELOW, [MAX, MAX, 0f32] => MAX, [-MAX, MAX, 1f32] => -MAX,
    }
    fma_rm_f32: "fma.rm.f32" {
        [1f32, 1f32, TINY] => 1f32, [1f32, 1f32, -TINY] => BELOW, [1f32, 1f32, -1f32] => -0f32,
        [TINY, -TINY, 0f32] => -TINY,
        [12_582_912f32, 1f32, -0.25f32] => 12_582_911f32,
    }
    fma_rp_f32: "fma.rp.f32" { [1f32, 1f32, TINY] => ABOVE, [TINY, TINY, 0f32] => TINY, [1f32, 1f32, -1f32] => 0f32, }
    fma_rn_ftz_f32: "fma.rn.ftz.f32" {
        [TINY, 1e38f32, 1f32] => 1f32, [NORMAL, 0.5f32, 0f32] => 0f32, [1f32, 1f32, TINY] => 1f32,
    }
    fma_rm_ftz_f32: "fma.rm.ftz.f32" { [1f32, 1f32, -TINY] => 1f32, [NORMAL, -0.5f32, 0f32] => -0f32, }
    fma_rn_sat_f32: "fma.rn.sat.f32" {
        [2f32, 3f32, 4f32] => 1f32, [2f32, -3f32, 4f32] => 0f32, [0.5f32, 0.5f32, 0.25f32] => 0.5f32,
        [INF, 0f32, 0f32] => 0f32,
    }
    /// On every target from sm_20 on, `mad` is fused.
    mad_f32: "mad.f32" { [ABOVE, ABOVE, -f32::from_bits(0x3f80_0002)] => 1.421_085_5e-14f32, }
    mad_rn_f32: "mad.rn.f32" { [ABOVE, ABOVE, -f32::from_bits(0x3f80_0002)] => 1.421_085_5e-14f32, }
    mad_ftz_f32: "mad.ftz.f32" { [TINY, 1e38f32, 1f32] => 1f32, }
    mad_rz_f32: "mad.rz.f32" { [1f32, 1f32, -TINY] => BELOW, }

    div_rn_f32: "div.rn.f32" {
        [1f32, 3f32] => 0.333_333_34f32, [1f32, 0f32] => INF, [-1f32, 0f32] => -INF, [0f32, 0f32] => NAN,
        [INF, INF] => NAN, [1f32, INF] => 0f32,
        [TINY, 2f32] => 0f32, [TINY, 1.5f32] => TINY, [MAX, 0.5f32] => INF,
    }
    div_rz_f32: "div.rz.f32" {
        [1f32, 3f32] => f32::from_bits(0x3eaa_aaaa), [-1f32, 3f32] => f32::from_bits(0xbeaa_aaaa),
        [MAX, 0.5f32] => MAX, [1f32, 0f32] => INF,
    }
    div_rm_f32: "div.rm.f32" {
        [1f32, -3f32] => f32::from_bits(0xbeaa_aaab), [TINY, -3f32] => -TINY,
        [2f32, 3f32] => f32::from_bits(0x3f2a_aaaa), [6f32, 3f32] => 2f32,
    }
    div_rp_f32: "div.rp.f32" {
        [1f32, 3f32] => f32::from_bits(0x3eaa_aaab), [TINY, 3f32] => TINY,
        [-2f32, 3f32] => f32::from_bits(0xbf2a_aaaa), [1f32, INF] => 0f32,
    }
    div_rn_ftz_f32: "div.rn.ftz.f32" { [NORMAL, 2f32] => 0f32, [1f32, TINY] => INF, [TINY, TINY] => NAN, }
    rcp_rn_f32: "rcp.rn.f32" {
        [3f32] => 0.333_333_34f32, [0f32] => INF, [-0f32] => -INF, [-INF] => -0f32,
        [MAX] => f32::from_bits(0x0020_0000), [f32::NAN] => NAN,
    }
    rcp_rz_f32: "rcp.rz.f32" { [3f32] => f32::from_bits(0x3eaa_aaaa), }
    rcp_rm_f32: "rcp.rm.f32" { [-3f32] => f32::from_bits(0xbeaa_aaab), }
    rcp_rp_f32: "rcp.rp.f32" { [3f32] => f32::from_bits(0x3eaa_aaab), [2f32] => 0.5f32, }
    rcp_rn_ftz_f32: "rcp.rn.ftz.f32" { [TINY] => INF, [MAX] => 0f32, }
    sqrt_rn_f32: "sqrt.rn.f32" {
        [4f32] => 2f32, [2f32] => std::f32::consts::SQRT_2, [-1f32] => NAN, [-0f32] => -0f32, [INF] => INF,
        [TINY] => 3.743_392e-23f32,
    }
    sqrt_rz_f32: "sqrt.rz.f32" {
        [2f32] => f32::from_bits(0x3fb5_04f3), [3f32] => f32::from_bits(0x3fdd_b3d7), [9f32] => 3f32,
    }
    sqrt_rm_f32: "sqrt.rm.f32" {
        [2f32] => f32::from_bits(0x3fb5_04f3), [BELOW] => BELOW, [-0f32] => -0f32, [INF] => INF,
    }
    sqrt_rp_f32: "sqrt.rp.f32" { [2f32] => f32::from_bits(0x3fb5_04f4), [BELOW] => 1f32, [16f32] => 4f32, }
    sqrt_rn_ftz_f32: "sqrt.rn.ftz.f32" { [TINY] => 0f32, [-TINY] => -0f32, }

    abs_f32: "abs.f32" { [-1f32] => 1f32, [-0f32] => 0f32, [-TINY] => TINY, [-INF] => INF, [f32::NAN] => NAN, }
    abs_ftz_f32: "abs.ftz.f32" { [-TINY] => 0f32, [-NORMAL] => NORMAL, }
    neg_f32: "neg.f32" { [1f32] => -1f32, [0f32] => -0f32, [TINY] => -TINY, [f32::NAN] => NAN, }
    neg_ftz_f32: "neg.ftz.f32" { [TINY] => -0f32, }
    copysign_f32: "copysign.f32" { [-1f32, 5f32] => -5f32, [0f32, -5f32] => 5f32, [-0f32, 0f32] => -0f32, }

    min_f32: "min.f32" {
        [1f32, 2f32] => 1f32, [0f32, -0f32] => -0f32, [-0f32, 0f32] => -0f32, [f32::NAN, 2f32] => 2f32,
        [2f32, f32::NAN] => 2f32,
        [f32::NAN, f32::NAN] => NAN, [-INF, 5f32] => -INF, [TINY, 0f32] => 0f32,
    }
    max_f32: "max.f32" {
        [1f32, 2f32] => 2f32, [0f32, -0f32] => 0f32, [-0f32, 0f32] => 0f32, [f32::NAN, -2f32] => -2f32,
        [-2f32, f32::NAN] => -2f32,
        [f32::NAN, f32::NAN] => NAN, [INF, 5f32] => INF, [-TINY, -0f32] => -0f32,
    }
    min_ftz_f32: "min.ftz.f32" { [-TINY, 1f32] => -0f32, [TINY, -0f32] => -0f32, }
    max_ftz_f32: "max.ftz.f32" { [TINY, -1f32] => 0f32, [-TINY, -1f32] => -0f32, }
    min_nan_f32: "min.NaN.f32" { [f32::NAN, 2f32] => NAN, [2f32, f32::NAN] => NAN, [1f32, 2f32] => 1f32, }
    max_nan_f32: "max.NaN.f32" { [f32::NAN, 2f32] => NAN, [2f32, f32::NAN] => NAN, [1f32, 2f32] => 2f32, }
    min_xorsign_abs_f32: "min.xorsign.abs.f32" {
        [-1f32, 2f32] => -1f32, [-1f32, -2f32] => 1f32, [3f32, 2f32] => 2f32, [f32::NAN, -2f32] => -2f32,
    }
    max_xorsign_abs_f32: "max.xorsign.abs.f32" {
        [-1f32, 2f32] => -2f32, [-1f32, -2f32] => 2f32, [3f32, -2f32] => -3f32,
    }
    max_nan_xorsign_abs_f32: "max.NaN.xorsign.abs.f32" { [f32::NAN, -2f32] => NAN, [-1f32, 2f32] => -2f32, }
}
