//! Comparisons and selections.

use crate::harness::{Bits, cases, op, run};
use std::cmp::Ordering;

const COMPARISONS: [&str; 14] =
    ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

/// The manual's definition, for an order that is `None` if a NaN is involved.
fn holds(cmp: &str, order: Option<Ordering>) -> bool {
    use Ordering::*;
    let ordered = match cmp.trim_end_matches('u') {
        "eq" => order == Some(Equal),
        "ne" => matches!(order, Some(Less | Greater)),
        "lt" | "lo" => order == Some(Less),
        "le" | "ls" => matches!(order, Some(Less | Equal)),
        "gt" | "hi" => order == Some(Greater),
        "ge" | "hs" => matches!(order, Some(Greater | Equal)),
        "num" => order.is_some(),
        "nan" => order.is_none(),
        _ => panic!("{cmp}"),
    };
    ordered || cmp.len() == 3 && cmp.ends_with('u') && order.is_none()
}

/// `setp`, with p and q, and `set` of a comparison, alone and with each Boolean operator.
fn check(cmp: &str, ty: &str, a: u64, b: u64, want: bool) {
    let pair = |p: bool, q: bool| p as u64 | (q as u64) << 1;
    let form = format!("setp.{cmp}.{ty}");
    assert_eq!(run(&form, &[a, b]), pair(want, !want), "{form} {a:#x} {b:#x}");
    for c in [false, true] {
        for (name, combine) in
            [("and", (|t, c| t & c) as fn(bool, bool) -> bool), ("or", |t, c| t | c), ("xor", |t, c| t ^ c)]
        {
            let form = format!("setp.{cmp}.{name}.{ty}");
            assert_eq!(run(&form, &[a, b, c as u64]), pair(combine(want, c), combine(!want, c)), "{form}");
            let form = format!("set.{cmp}.{name}.u32.{ty}");
            let value = if combine(want, c) { 0xffff_ffff } else { 0 };
            assert_eq!(run(&form, &[a, b, c as u64]), value, "{form} {a:#x} {b:#x}");
        }
    }
    for (dtype, yes) in [("u32", u32::MAX as u64), ("s32", u32::MAX as u64), ("f32", 1f32.bits())] {
        let form = format!("set.{cmp}.{dtype}.{ty}");
        assert_eq!(run(&form, &[a, b]), if want { yes } else { 0 }, "{form} {a:#x} {b:#x}");
    }
}

fn integers<T: Bits + Ord>(ty: &str, comparisons: &[&str], values: &[T]) {
    for &a in values {
        for &b in values {
            for cmp in comparisons {
                check(cmp, ty, a.bits(), b.bits(), holds(cmp, Some(a.cmp(&b))));
            }
        }
    }
}

const SIGNED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const UNSIGNED: [&str; 10] = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"];

#[test]
fn setp_and_set_s16() {
    integers("s16", &SIGNED, &[i16::MIN, -1, 0, i16::MAX]);
}

#[test]
fn setp_and_set_u16() {
    integers("u16", &UNSIGNED, &[0u16, 1, 0x8000, 0xffff]);
}

#[test]
fn setp_and_set_s32() {
    integers("s32", &SIGNED, &[i32::MIN, -1, 0, i32::MAX]);
}

#[test]
fn setp_and_set_u32() {
    integers("u32", &UNSIGNED, &[0u32, 1, 0x8000_0000, u32::MAX]);
}

#[test]
fn setp_and_set_s64() {
    integers("s64", &SIGNED, &[i64::MIN, -1, 0, 1 << 40]);
}

#[test]
fn setp_and_set_u64() {
    integers("u64", &UNSIGNED, &[0u64, 1 << 32, 1 << 63, u64::MAX]);
}

#[test]
fn setp_and_set_untyped() {
    integers("b16", &["eq", "ne"], &[0u16, 0xffff]);
    integers("b32", &["eq", "ne"], &[0u32, 0x8000_0000]);
    integers("b64", &["eq", "ne"], &[0u64, 1 << 63]);
}

#[test]
fn setp_and_set_f32() {
    let values = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, f32::from_bits(1), 1.0, f32::NAN];
    for a in values {
        for b in values {
            for cmp in COMPARISONS {
                check(cmp, "f32", a.bits(), b.bits(), holds(cmp, a.partial_cmp(&b)));
            }
        }
    }
}

#[test]
fn setp_and_set_ftz_f32() {
    let values = [-1.0, f32::from_bits(0x8000_0001), 0.0, f32::from_bits(0x007f_ffff), f32::MIN_POSITIVE, f32::NAN];
    let flush = |x: f32| if x.is_subnormal() { 0.0 } else { x };
    for a in values {
        for b in values {
            for cmp in COMPARISONS {
                let want = holds(cmp, flush(a).partial_cmp(&flush(b)));
                let pair = want as u64 | (!want as u64) << 1;
                assert_eq!(run(&format!("setp.{cmp}.ftz.f32"), &[a.bits(), b.bits()]), pair, "{cmp} {a} {b}");
                let set = run(&format!("set.{cmp}.ftz.u32.f32"), &[a.bits(), b.bits()]);
                assert_eq!(set, if want { 0xffff_ffff } else { 0 }, "{cmp} {a} {b}");
            }
        }
    }
}

#[test]
fn setp_and_set_f64() {
    let values = [f64::NEG_INFINITY, -0.0, 0.0, f64::from_bits(1), 1.0, f64::NAN];
    for a in values {
        for b in values {
            for cmp in COMPARISONS {
                check(cmp, "f64", a.bits(), b.bits(), holds(cmp, a.partial_cmp(&b)));
            }
        }
    }
}

#[test]
fn setp_f16_and_bf16() {
    // −1, −0, 0, the least subnormal, 2, NaN in both formats.
    let values: [(f32, u64, u64); 6] = [
        (-1.0, 0xbc00, 0xbf80),
        (-0.0, 0x8000, 0x8000),
        (0.0, 0, 0),
        (1e-40, 1, 1),
        (2.0, 0x4000, 0x4000),
        (f32::NAN, 0x7e00, 0x7fc0),
    ];
    for (a, a16, ab16) in values {
        for (b, b16, bb16) in values {
            for cmp in COMPARISONS {
                let want = holds(cmp, a.partial_cmp(&b));
                let pair = want as u64 | (!want as u64) << 1;
                assert_eq!(run(&format!("setp.{cmp}.f16"), &[a16, b16]), pair, "{cmp} {a} {b}");
                assert_eq!(run(&format!("setp.{cmp}.bf16"), &[ab16, bb16]), pair, "{cmp} {a} {b}");
                // A pair: p is the lower half's result, q the upper half's.
                let upper = holds(cmp, Some(Ordering::Equal));
                let pair = want as u64 | (upper as u64) << 1;
                assert_eq!(run(&format!("setp.{cmp}.f16x2"), &[a16, b16]), pair, "{cmp} {a} {b}");
                assert_eq!(run(&format!("setp.{cmp}.bf16x2"), &[ab16, bb16]), pair, "{cmp} {a} {b}");
                let set = run(&format!("set.{cmp}.u32.f16"), &[a16, b16]);
                assert_eq!(set, if want { 0xffff_ffff } else { 0 });
                assert_eq!(run(&format!("set.{cmp}.f16.f16"), &[a16, b16]), if want { 0x3c00 } else { 0 });
            }
        }
    }
    assert_eq!(run("setp.lt.and.f16x2", &[0x0000_0000, 0x3c00_3c00, 1]), 0b11);
    assert_eq!(run("setp.lt.and.f16x2", &[0x0000_0000, 0x3c00_3c00, 0]), 0b00);
    assert_eq!(run("setp.gt.ftz.f16", &[0x0001, 0]), 0b10, "a flushed subnormal is no more than zero");
}

cases! {
    selp_b16: "selp.b16" { [1u16, 2u16, true] => 1u16, [1u16, 2u16, false] => 2u16, }
    selp_u16: "selp.u16" { [1u16, 2u16, false] => 2u16, }
    selp_s16: "selp.s16" { [-1i16, 2i16, true] => -1i16, }
    selp_b32: "selp.b32" { [1u32, 2u32, true] => 1u32, [1u32, 2u32, false] => 2u32, }
    selp_u32: "selp.u32" { [1u32, 2u32, true] => 1u32, }
    selp_s32: "selp.s32" { [-1, 2, true] => -1, }
    selp_f32: "selp.f32" { [f32::from_bits(0x7f80_0001), 2f32, true] => 0x7f80_0001u32, [1f32, -0f32, false] => -0f32, }
    selp_b64: "selp.b64" { [1u64 << 40, 2u64, true] => 1u64 << 40, [1u64, 2u64 << 40, false] => 2u64 << 40, }
    selp_u64: "selp.u64" { [1u64, 2u64, true] => 1u64, }
    selp_s64: "selp.s64" { [-1i64, 2i64, true] => -1i64, }
    selp_f64: "selp.f64" { [1f64, 2f64, true] => 1f64, [1f64, 2f64, false] => 2f64, }

    slct_u32_s32: "slct.u32.s32" { [1u32, 2u32, 0] => 1u32, [1u32, 2u32, -1] => 2u32, [1u32, 2u32, i32::MAX] => 1u32, }
    slct_s32_s32: "slct.s32.s32" { [1, 2, i32::MIN] => 2, }
    slct_b16_s32: "slct.b16.s32" { [1u16, 2u16, -5] => 2u16, }
    slct_f32_s32: "slct.f32.s32" { [1f32, 2f32, 5] => 1f32, [1f32, 2f32, -5] => 2f32, }
    slct_u64_s32: "slct.u64.s32" { [1u64 << 40, 2u64, 0] => 1u64 << 40, }
    slct_f64_s32: "slct.f64.s32" { [1f64, 2f64, -1] => 2f64, }
    slct_f32_f32: "slct.f32.f32" {
        [1f32, 2f32, 0f32] => 1f32, [1f32, 2f32, -0f32] => 1f32, [1f32, 2f32, -1f32] => 2f32,
        [1f32, 2f32, f32::NAN] => 2f32,
        [1f32, 2f32, f32::from_bits(0x8000_0001)] => 2f32,
    }
    slct_ftz_u64_f32: "slct.ftz.u64.f32" {
        [1u64, 2u64, f32::from_bits(0x8000_0001)] => 1u64, [1u64, 2u64, -1f32] => 2u64,
        [1u64, 2u64, f32::NAN] => 2u64,
    }

    testp_finite_f32: "testp.finite.f32" {
        [1f32] => 1u64, [f32::INFINITY] => 2u64, [f32::NAN] => 2u64, [0f32] => 1u64,
    }
    testp_infinite_f32: "testp.infinite.f32" { [f32::NEG_INFINITY] => 1u64, [f32::MAX] => 2u64, [f32::NAN] => 2u64, }
    testp_number_f32: "testp.number.f32" { [f32::INFINITY] => 1u64, [f32::NAN] => 2u64, }
    testp_notanumber_f32: "testp.notanumber.f32" { [f32::NAN] => 1u64, [1f32] => 2u64, }
    testp_normal_f32: "testp.normal.f32" {
        [1f32] => 1u64, [0f32] => 1u64, [-0f32] => 1u64, [f32::from_bits(1)] => 2u64, [f32::INFINITY] => 2u64,
    }
    testp_subnormal_f32: "testp.subnormal.f32" {
        [f32::from_bits(1)] => 1u64, [0f32] => 2u64, [f32::MIN_POSITIVE] => 2u64,
    }
    testp_finite_f64: "testp.finite.f64" { [1f64] => 1u64, [f64::INFINITY] => 2u64, }
    testp_infinite_f64: "testp.infinite.f64" { [f64::INFINITY] => 1u64, [1f64] => 2u64, }
    testp_number_f64: "testp.number.f64" { [f64::NAN] => 2u64, [1f64] => 1u64, }
    testp_notanumber_f64: "testp.notanumber.f64" { [f64::NAN] => 1u64, }
    testp_normal_f64: "testp.normal.f64" { [f64::from_bits(1)] => 2u64, [0f64] => 1u64, }
    testp_subnormal_f64: "testp.subnormal.f64" { [f64::from_bits(1)] => 1u64, [1f64] => 2u64, }
}

/// Masks are per lane.
#[test]
fn a_mask_has_the_lanes_in_order() {
    let a: [u64; 32] = std::array::from_fn(|lane| lane as u64);
    let p = op("setp.lt.u32", 2).lanes(&[a, [5; 32]], 0);
    assert!((0..32).all(|lane| (p.lanes[lane] & 1 != 0) == (lane < 5)));
    let chosen = op("selp.b32", 3).lanes(&[a, [99; 32], std::array::from_fn(|lane| lane as u64 & 1)], 0);
    assert!((0..32).all(|lane| chosen.lanes[lane] == if lane & 1 != 0 { lane as u64 } else { 99 }));
}
