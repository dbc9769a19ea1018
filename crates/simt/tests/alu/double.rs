//! Double precision.

use crate::harness::cases;

const INF: f64 = f64::INFINITY;
const MAX: f64 = f64::MAX;
const TINY: f64 = f64::from_bits(1);
const NORMAL: f64 = f64::MIN_POSITIVE;
const ABOVE: f64 = f64::from_bits(0x3ff0_0000_0000_0001);
const BELOW: f64 = f64::from_bits(0x3fef_ffff_ffff_ffff);
/// Half a unit in the last place of 1.
const HALF: f64 = 1.110_223_024_625_156_5e-16;
/// NaN of an invalid operation.
const NAN: u64 = 0xfff8_0000_0000_0000;
/// A NaN with a payload, and as it comes out.
const PAYLOAD: f64 = f64::from_bits(0x7ff0_0000_0000_1234);
const QUIET: u64 = 0x7ff8_0000_0000_1234;

cases! {
    add_f64: "add.f64" {
        [1f64, 2f64] => 3f64, [ABOVE, HALF] => f64::from_bits(0x3ff0_0000_0000_0002), [INF, -INF] => NAN,
        [PAYLOAD, 1f64] => QUIET, [1f64, PAYLOAD] => QUIET, [TINY, TINY] => 1e-323f64,
    }
    add_rn_f64: "add.rn.f64" { [1f64, HALF] => 1f64, [MAX, MAX] => INF, [1f64, -1f64] => 0f64, }
    add_rz_f64: "add.rz.f64" {
        [1f64, -TINY] => BELOW, [MAX, MAX] => MAX, [-MAX, -MAX] => -MAX, [INF, 1f64] => INF,
        [PAYLOAD, 1f64] => QUIET,
    }
    add_rm_f64: "add.rm.f64" {
        [1f64, TINY] => 1f64, [-1f64, -TINY] => -ABOVE, [1f64, -1f64] => -0f64, [0f64, 0f64] => 0f64,
        [0f64, -0f64] => -0f64, [-MAX, -MAX] => -INF, [TINY, 0f64] => TINY,
    }
    add_rp_f64: "add.rp.f64" {
        [1f64, TINY] => ABOVE, [-1f64, -TINY] => -1f64, [1f64, -1f64] => 0f64, [MAX, TINY] => INF,
        [-0f64, -0f64] => -0f64,
    }
    sub_f64: "sub.f64" { [1f64, 2f64] => -1f64, [INF, INF] => NAN, [1f64, PAYLOAD] => QUIET, }
    sub_rn_f64: "sub.rn.f64" { [1f64, HALF] => BELOW, }
    sub_rz_f64: "sub.rz.f64" { [1f64, TINY] => BELOW, }
    sub_rm_f64: "sub.rm.f64" { [1f64, 1f64] => -0f64, }
    sub_rp_f64: "sub.rp.f64" { [1f64, -TINY] => ABOVE, }
    mul_f64: "mul.f64" { [3f64, 4f64] => 12f64, [0f64, INF] => NAN, [NORMAL, 0.5f64] => f64::from_bits(1 << 51), }
    mul_rn_f64: "mul.rn.f64" { [ABOVE, ABOVE] => f64::from_bits(0x3ff0_0000_0000_0002), [TINY, 0.5f64] => 0f64, }
    mul_rz_f64: "mul.rz.f64" { [TINY, 0.75f64] => 0f64, [MAX, 2f64] => MAX, [-TINY, TINY] => -0f64, }
    mul_rm_f64: "mul.rm.f64" {
        [-TINY, TINY] => -TINY, [TINY, TINY] => 0f64, [-MAX, 2f64] => -INF,
        [ABOVE, ABOVE] => f64::from_bits(0x3ff0_0000_0000_0002),
    }
    mul_rp_f64: "mul.rp.f64" {
        [TINY, TINY] => TINY, [ABOVE, ABOVE] => f64::from_bits(0x3ff0_0000_0000_0003), [-0f64, 5f64] => -0f64,
        [2f64, 3f64] => 6f64,
    }
    fma_rn_f64: "fma.rn.f64" {
        [2f64, 3f64, 4f64] => 10f64,
        [ABOVE, ABOVE, -f64::from_bits(0x3ff0_0000_0000_0002)] => 4.930_380_657_631_324e-32f64,
        [INF, 0f64, 1f64] => NAN, [1f64, 1f64, PAYLOAD] => QUIET, [0f64, INF, PAYLOAD] => QUIET,
    }
    fma_rz_f64: "fma.rz.f64" { [1f64, 1f64, -TINY] => BELOW, [MAX, MAX, 0f64] => MAX, [2f64, 3f64, 4f64] => 10f64, }
    fma_rm_f64: "fma.rm.f64" {
        [1f64, 1f64, -1f64] => -0f64, [TINY, -TINY, 0f64] => -TINY, [TINY, -TINY, 1f64] => BELOW,
        [0f64, 1f64, 0f64] => 0f64,
    }
    fma_rp_f64: "fma.rp.f64" {
        [TINY, TINY, 1f64] => ABOVE, [1e300f64, 1e300f64, -INF] => -INF, [-0f64, 1f64, -0f64] => -0f64,
    }
    mad_rn_f64: "mad.rn.f64" { [ABOVE, ABOVE, -f64::from_bits(0x3ff0_0000_0000_0002)] => 4.930_380_657_631_324e-32f64, }
    div_rn_f64: "div.rn.f64" {
        [1f64, 3f64] => 0.333_333_333_333_333_3f64, [1f64, 0f64] => INF, [0f64, 0f64] => NAN,
        [PAYLOAD, 0f64] => QUIET,
    }
    div_rz_f64: "div.rz.f64" {
        [2f64, 3f64] => f64::from_bits(0x3fe5_5555_5555_5555), [MAX, 0.5f64] => MAX, [TINY, 2f64] => 0f64,
        [6f64, 3f64] => 2f64,
    }
    div_rm_f64: "div.rm.f64" {
        [-1f64, 3f64] => f64::from_bits(0xbfd5_5555_5555_5556), [TINY, -3f64] => -TINY, [1f64, 0f64] => INF,
    }
    div_rp_f64: "div.rp.f64" {
        [1f64, 3f64] => f64::from_bits(0x3fd5_5555_5555_5556), [TINY, 3f64] => TINY, [-1f64, INF] => -0f64,
    }
    rcp_rn_f64: "rcp.rn.f64" { [3f64] => 0.333_333_333_333_333_3f64, [-0f64] => -INF, [PAYLOAD] => QUIET, }
    rcp_rz_f64: "rcp.rz.f64" { [3f64] => f64::from_bits(0x3fd5_5555_5555_5555), }
    rcp_rm_f64: "rcp.rm.f64" { [-3f64] => f64::from_bits(0xbfd5_5555_5555_5556), }
    rcp_rp_f64: "rcp.rp.f64" { [3f64] => f64::from_bits(0x3fd5_5555_5555_5556), }
    sqrt_rn_f64: "sqrt.rn.f64" { [2f64] => std::f64::consts::SQRT_2, [-1f64] => NAN, [-0f64] => -0f64, }
    sqrt_rz_f64: "sqrt.rz.f64" {
        [2f64] => f64::from_bits(0x3ff6_a09e_667f_3bcc), [9f64] => 3f64,
        [TINY] => f64::from_bits(0x1e60_0000_0000_0000),
    }
    sqrt_rm_f64: "sqrt.rm.f64" {
        [2f64] => f64::from_bits(0x3ff6_a09e_667f_3bcc), [BELOW] => BELOW, [-0f64] => -0f64, [INF] => INF,
    }
    sqrt_rp_f64: "sqrt.rp.f64" { [2f64] => f64::from_bits(0x3ff6_a09e_667f_3bcd), [BELOW] => 1f64, [-2f64] => NAN, }
    rsqrt_approx_f64: "rsqrt.approx.f64" {
        [4f64] => 0.5f64, [0f64] => INF, [-0f64] => -INF, [-1f64] => NAN, [INF] => 0f64,
    }
    rcp_approx_ftz_f64: "rcp.approx.ftz.f64" {
        [2f64] => 0.5f64, [TINY] => INF, [-TINY] => -INF, [-INF] => -0f64, [PAYLOAD] => 0f64,
        [f64::NAN] => 0x7fff_ffff_0000_0000u64,
        // The low word of the operand is ignored (a NaN all of whose payload is there is an infinity), and zero in the result.
        [f64::from_bits(0x4008_0000_ffff_ffff)] => f64::from_bits(0x3fd5_5555_0000_0000), [MAX] => 0f64,
    }
    rsqrt_approx_ftz_f64: "rsqrt.approx.ftz.f64" {
        [4f64] => 0.5f64, [TINY] => INF, [-1f64] => 0x7fff_ffff_0000_0000u64, [-TINY] => -INF, [INF] => 0f64,
    }

    abs_f64: "abs.f64" {
        [-1f64] => 1f64, [-0f64] => 0f64, [f64::from_bits(0xfff8_0000_0000_0001)] => 0xfff8_0000_0000_0001u64,
    }
    neg_f64: "neg.f64" { [1f64] => -1f64, [0f64] => -0f64, }
    copysign_f64: "copysign.f64" { [-1f64, 5f64] => -5f64, }
    min_f64: "min.f64" {
        [1f64, 2f64] => 1f64, [0f64, -0f64] => -0f64, [-0f64, 0f64] => -0f64, [f64::NAN, 2f64] => 2f64,
        [2f64, f64::NAN] => 2f64, [PAYLOAD, PAYLOAD] => QUIET,
    }
    max_f64: "max.f64" {
        [1f64, 2f64] => 2f64, [0f64, -0f64] => 0f64, [-0f64, 0f64] => 0f64, [f64::NAN, 2f64] => 2f64,
        [2f64, f64::NAN] => 2f64,
    }
}
