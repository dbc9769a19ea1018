//! All rounding modes against an independent soft-float (LLVM's APFloat in Rust), on random and special operands.

use crate::harness::{Op, op};
use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const MODES: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Bits of a format with `fraction` fraction bits in `width`: anything, specials, and numbers near 1 whose last bits
/// are all zeros or all ones, so that ties and cancellations are frequent.
fn floats(width: u32, fraction: u32) -> BoxedStrategy<u64> {
    let mask = u64::MAX >> (64 - width);
    let exponent_mask = (mask >> 1) & !((1 << fraction) - 1);
    let bias = exponent_mask >> 1 & exponent_mask;
    let special = prop::sample::select(vec![
        0,
        1,
        (1 << fraction) - 1,
        1 << fraction,
        (1 << fraction) + 1,
        bias,
        bias + 1,
        bias - 1,
        exponent_mask - 1,
        exponent_mask,
        exponent_mask | 1 << (fraction - 1),
    ]);
    let signed = move |x: u64, negative: bool| x | (negative as u64) << (width - 1);
    let near = (any::<u64>(), 0..fraction, -3i64..4, any::<bool>()).prop_map(move |(x, shift, exponent, ones)| {
        let kept = x & ((1 << fraction) - 1) & !((1 << shift) - 1);
        let low = if ones { (1 << shift) - 1 } else { 0 };
        bias.wrapping_add((exponent << fraction) as u64) | kept | low
    });
    // Exponents near both ends: subnormal and overflowing results.
    let ends = (any::<u64>(), 0u64..30, any::<bool>()).prop_map(move |(x, e, top)| {
        let highest = exponent_mask >> fraction;
        let e = e % (highest / 2);
        (if top { highest - 1 - e } else { e }) << fraction | x & ((1 << fraction) - 1)
    });
    prop_oneof![
        3 => any::<u64>().prop_map(move |x| x & mask),
        2 => (special, any::<bool>()).prop_map(move |(x, s)| signed(x, s)),
        4 => (near, any::<bool>()).prop_map(move |(x, s)| signed(x & (mask >> 1), s)),
        2 => (ends, any::<bool>()).prop_map(move |(x, s)| signed(x, s)),
    ]
    .boxed()
}

fn lanes(strategy: BoxedStrategy<u64>) -> impl Strategy<Value = [u64; 32]> {
    prop::collection::vec(strategy, 32).prop_map(|v| std::array::from_fn(|i| v[i]))
}

fn f32s() -> impl Strategy<Value = [u64; 32]> {
    lanes(floats(32, 23))
}

fn f64s() -> impl Strategy<Value = [u64; 32]> {
    lanes(floats(64, 52))
}

fn f16s() -> impl Strategy<Value = [u64; 32]> {
    lanes(floats(16, 10))
}

fn bf16s() -> impl Strategy<Value = [u64; 32]> {
    lanes(floats(16, 7))
}

/// A format of the oracle: bits in and out, NaN as this project's kernels give it where only one is possible.
trait Format: Float {
    const QNAN: u64;
    fn get(bits: u64) -> Self {
        Self::from_bits(bits as u128)
    }
    fn put(self) -> u64 {
        if self.is_nan() { Self::QNAN } else { self.to_bits() as u64 }
    }
}

impl Format for Single {
    const QNAN: u64 = 0x7fff_ffff;
}
impl Format for Double {
    const QNAN: u64 = 0xfff8_0000_0000_0000;
}
impl Format for Half {
    const QNAN: u64 = 0x7fff;
}
impl Format for BFloat {
    const QNAN: u64 = 0x7fff;
}

/// Runs `op` and compares each lane with `want`; a double-precision NaN may be any NaN (payloads have tests of their
/// own).
fn compare(
    name: &str,
    op: &Op,
    sources: &[[u64; 32]],
    nan: u64,
    want: impl Fn(&[u64]) -> u64,
) -> Result<(), TestCaseError> {
    let got = op.lanes(sources, 0).lanes;
    for lane in 0..32 {
        let operands: Vec<u64> = sources.iter().map(|s| s[lane]).collect();
        let want = want(&operands);
        let same = got[lane] == want || want == nan && nan == Double::QNAN && f64::from_bits(got[lane]).is_nan();
        prop_assert!(same, "{name} on {operands:#x?}: got {:#x}, want {want:#x}", got[lane]);
    }
    Ok(())
}

/// `add sub mul fma div` of one format in one mode.
fn arithmetic<F: Format>(
    ty: &str,
    modes: &[(&str, Round)],
    division: bool,
    a: [u64; 32],
    b: [u64; 32],
    c: [u64; 32],
) -> Result<(), TestCaseError> {
    for &(mode, round) in modes {
        let check = |name: &str, sources: &[[u64; 32]], want: &dyn Fn(&[F]) -> F| {
            let name = format!("{name}.{mode}.{ty}");
            compare(&name, &op(&name, sources.len()), sources, F::QNAN, |x| {
                want(&x.iter().map(|&x| F::get(x)).collect::<Vec<F>>()).put()
            })
        };
        check("add", &[a, b], &|x| x[0].add_r(x[1], round).value)?;
        check("sub", &[a, b], &|x| x[0].sub_r(x[1], round).value)?;
        check("mul", &[a, b], &|x| x[0].mul_r(x[1], round).value)?;
        check("fma", &[a, b, c], &|x| x[0].mul_add_r(x[1], x[2], round).value)?;
        if division {
            check("div", &[a, b], &|x| x[0].div_r(x[1], round).value)?;
            check("rcp", &[a], &|x| F::from_u128(1).value.div_r(x[0], round).value)?;
        }
    }
    Ok(())
}

fn flush(x: u64) -> u64 {
    if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x }
}

fn saturate(x: u64) -> u64 {
    let x = f32::from_bits(x as u32);
    (if x > 1.0 {
        1.0
    } else if x > 0.0 {
        x
    } else {
        0.0f32
    })
    .to_bits() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn single(a in f32s(), b in f32s(), c in f32s()) {
        check_single(a, b, c)?;
    }

    #[test]
    fn double(a in f64s(), b in f64s(), c in f64s()) {
        check_double(a, b, c)?;
    }

    #[test]
    fn half(a in f16s(), b in f16s(), c in f16s()) {
        check_half(a, b, c)?;
    }

    #[test]
    fn bfloat(a in bf16s(), b in bf16s(), c in bf16s()) {
        check_bfloat(a, b, c)?;
    }

    #[test]
    fn pairs(a in f16s(), b in f16s(), c in f16s(), d in f16s()) {
        check_pairs(a, b, c, d)?;
    }

    #[test]
    fn single_flushed_and_saturated(a in f32s(), b in f32s(), c in f32s()) {
        check_single_flushed_and_saturated(a, b, c)?;
    }

    #[test]
    fn square_roots(a in f32s(), b in f64s()) {
        check_square_roots(a, b)?;
    }

    #[test]
    fn conversions_between_floats(a in f64s(), b in f32s()) {
        check_conversions_between_floats(a, b)?;
    }

    #[test]
    fn conversions_from_integers(a in prop::collection::vec((any::<u64>(), 0u32..64), 32)) {
        check_conversions_from_integers(a)?;
    }

    #[test]
    fn conversions_to_integers(a in f32s(), b in f64s(), c in f16s(), shift in 0u64..70) {
        check_conversions_to_integers(a, b, c, shift)?;
    }

    #[test]
    fn rounding_to_integers(a in f32s(), b in f64s(), shift in 0u64..30) {
        check_rounding_to_integers(a, b, shift)?;
    }

    #[test]
    fn integer_division(a in prop::collection::vec((any::<u32>(), any::<u32>(), 0u32..32, 0u32..32), 32)) {
        check_integer_division(a)?;
    }
}

fn check_single(a: [u64; 32], b: [u64; 32], c: [u64; 32]) -> Result<(), TestCaseError> {
    arithmetic::<Single>("f32", &MODES, true, a, b, c)?;
    Ok(())
}

fn check_double(a: [u64; 32], b: [u64; 32], c: [u64; 32]) -> Result<(), TestCaseError> {
    arithmetic::<Double>("f64", &MODES, true, a, b, c)?;
    Ok(())
}

fn check_half(a: [u64; 32], b: [u64; 32], c: [u64; 32]) -> Result<(), TestCaseError> {
    arithmetic::<Half>("f16", &MODES[..1], false, a, b, c)?;
    Ok(())
}

fn check_bfloat(a: [u64; 32], b: [u64; 32], c: [u64; 32]) -> Result<(), TestCaseError> {
    arithmetic::<BFloat>("bf16", &MODES[..1], false, a, b, c)?;
    Ok(())
}

/// Pairs are two halves.
fn check_pairs(a: [u64; 32], b: [u64; 32], c: [u64; 32], d: [u64; 32]) -> Result<(), TestCaseError> {
    let pair = |x: [u64; 32], y: [u64; 32]| std::array::from_fn(|i| x[i] | y[i] << 16);
    let packed = op("fma.rn.f16x2", 3).lanes(&[pair(a, b), pair(c, d), pair(d, a)], 0).lanes;
    let low = op("fma.rn.f16", 3).lanes(&[a, c, d], 0).lanes;
    let high = op("fma.rn.f16", 3).lanes(&[b, d, a], 0).lanes;
    prop_assert_eq!(packed, pair(low, high));
    Ok(())
}

fn check_single_flushed_and_saturated(a: [u64; 32], b: [u64; 32], c: [u64; 32]) -> Result<(), TestCaseError> {
    for (mode, round) in MODES {
        for (ftz, sat) in [(true, false), (false, true), (true, true)] {
            let after = |x: Single| {
                let x = if ftz { flush(x.put()) } else { x.put() };
                if sat { saturate(x) } else { x }
            };
            let before = |x: u64| Single::get(if ftz { flush(x) } else { x });
            let suffix = [if ftz { ".ftz" } else { "" }, if sat { ".sat" } else { "" }].concat();
            let name = |op: &str| format!("{op}.{mode}{suffix}.f32");
            compare(&name("add"), &op(&name("add"), 2), &[a, b], 0, |x| {
                after(before(x[0]).add_r(before(x[1]), round).value)
            })?;
            compare(&name("mul"), &op(&name("mul"), 2), &[a, b], 0, |x| {
                after(before(x[0]).mul_r(before(x[1]), round).value)
            })?;
            compare(&name("fma"), &op(&name("fma"), 3), &[a, b, c], 0, |x| {
                after(before(x[0]).mul_add_r(before(x[1]), before(x[2]), round).value)
            })?;
            if !sat {
                compare(&name("div"), &op(&name("div"), 2), &[a, b], 0, |x| {
                    after(before(x[0]).div_r(before(x[1]), round).value)
                })?;
            }
        }
    }
    Ok(())
}

/// √x lies between the neighbours that exact squares name: y² ≤ x < (y + ulp)² when rounding down, and so on.
fn check_square_roots(a: [u64; 32], b: [u64; 32]) -> Result<(), TestCaseError> {
    check_roots::<Single>("f32", a.map(|x| x & 0x7fff_ffff), 0x7f80_0000)?;
    check_roots::<Double>("f64", b.map(|x| x & (u64::MAX >> 1)), 0x7ff0_0000_0000_0000)?;
    Ok(())
}

fn check_conversions_between_floats(a: [u64; 32], b: [u64; 32]) -> Result<(), TestCaseError> {
    for (mode, round) in MODES {
        for ftz in [false, true] {
            let name = format!("cvt.{mode}{}.f32.f64", if ftz { ".ftz" } else { "" });
            compare(&name, &op(&name, 1), &[a], 0, |x| {
                let y: Single = Double::get(x[0]).convert_r(round, &mut false).value;
                if ftz { flush(y.put()) } else { y.put() }
            })?;
        }
        let name = format!("cvt.{mode}.f16.f32");
        compare(&name, &op(&name, 1), &[b], 0, |x| {
            FloatConvert::<Half>::convert_r(Single::get(x[0]), round, &mut false).value.put()
        })?;
        let name = format!("cvt.{mode}.bf16.f32");
        compare(&name, &op(&name, 1), &[b], 0, |x| {
            FloatConvert::<BFloat>::convert_r(Single::get(x[0]), round, &mut false).value.put()
        })?;
        let name = format!("cvt.{mode}.f16.f64");
        compare(&name, &op(&name, 1), &[a], 0, |x| {
            FloatConvert::<Half>::convert_r(Double::get(x[0]), round, &mut false).value.put()
        })?;
    }
    compare("cvt.f64.f32", &op("cvt.f64.f32", 1), &[b], Double::QNAN, |x| {
        FloatConvert::<Double>::convert(Single::get(x[0]), &mut false).value.put()
    })?;
    Ok(())
}

fn check_conversions_from_integers(a: Vec<(u64, u32)>) -> Result<(), TestCaseError> {
    // Numbers of all lengths.
    let values: [u64; 32] = std::array::from_fn(|i| a[i].0 >> a[i].1);
    for (mode, round) in MODES {
        for (ty, bits, signed) in [
            ("u64", 64, false),
            ("s64", 64, true),
            ("u32", 32, false),
            ("s32", 32, true),
            ("s16", 16, true),
            ("u8", 8, false),
        ] {
            let values = values.map(|v| v & (u64::MAX >> (64 - u32::max(bits, 16))));
            let number = move |x: u64| {
                let x = x << (64 - bits);
                if signed { (x as i64 >> (64 - bits)) as i128 } else { (x >> (64 - bits)) as i128 }
            };
            let name = |to: &str| format!("cvt.{mode}.{to}.{ty}");
            compare(&name("f32"), &op(&name("f32"), 1), &[values], 0, |x| {
                Single::from_i128_r(number(x[0]), round).value.put()
            })?;
            compare(&name("f64"), &op(&name("f64"), 1), &[values], 0, |x| {
                Double::from_i128_r(number(x[0]), round).value.put()
            })?;
            compare(&name("f16"), &op(&name("f16"), 1), &[values], 0, |x| {
                Half::from_i128_r(number(x[0]), round).value.put()
            })?;
            compare(&name("bf16"), &op(&name("bf16"), 1), &[values], 0, |x| {
                BFloat::from_i128_r(number(x[0]), round).value.put()
            })?;
        }
    }
    Ok(())
}

fn check_conversions_to_integers(a: [u64; 32], b: [u64; 32], c: [u64; 32], shift: u64) -> Result<(), TestCaseError> {
    // Exponents around those of the integers' limits.
    let a2 = std::array::from_fn(|i| a[i] & 0x807f_ffff | (120 + (shift + i as u64) % 70) << 23);
    let b2 = std::array::from_fn(|i| b[i] & 0x800f_ffff_ffff_ffff | (1016 + (shift + i as u64) % 70) << 52);
    for (mode, round) in MODES {
        for (ty, bits, signed) in [
            ("s32", 32, true),
            ("u32", 32, false),
            ("s64", 64, true),
            ("u64", 64, false),
            ("s16", 16, true),
            ("u16", 16, false),
        ] {
            for (from, sources) in [("f32", [a, a2]), ("f64", [b, b2]), ("f16", [c, c])] {
                let name = format!("cvt.{mode}i.{ty}.{from}");
                let op = op(&name, 1);
                for source in sources {
                    compare(&name, &op, &[source], 0, |x| match from {
                        "f32" => to_integer(Single::get(x[0]), bits, signed, round, false),
                        "f64" => to_integer(Double::get(x[0]), bits, signed, round, true),
                        _ => to_integer(Half::get(x[0]), bits, signed, round, false),
                    })?;
                }
            }
        }
    }
    Ok(())
}

fn check_rounding_to_integers(a: [u64; 32], b: [u64; 32], shift: u64) -> Result<(), TestCaseError> {
    let a2 = std::array::from_fn(|i| a[i] & 0x807f_ffff | (120 + (shift + i as u64) % 30) << 23);
    let b2 = std::array::from_fn(|i| b[i] & 0x800f_ffff_ffff_ffff | (1016 + (shift + 2 * i as u64) % 60) << 52);
    for (mode, round) in MODES {
        let name = format!("cvt.{mode}i.f32.f32");
        for source in [a, a2] {
            compare(&name, &op(&name, 1), &[source], 0, |x| Single::get(x[0]).round_to_integral(round).value.put())?;
        }
        let name = format!("cvt.{mode}i.f64.f64");
        for source in [b, b2] {
            compare(&name, &op(&name, 1), &[source], Double::QNAN, |x| {
                Double::get(x[0]).round_to_integral(round).value.put()
            })?;
        }
    }
    Ok(())
}

/// 32-bit division goes through double precision.
fn check_integer_division(a: Vec<(u32, u32, u32, u32)>) -> Result<(), TestCaseError> {
    let x: [u64; 32] = std::array::from_fn(|i| (a[i].0 >> a[i].2) as u64);
    let y: [u64; 32] = std::array::from_fn(|i| (a[i].1 >> a[i].3) as u64);
    // Multiples of y and their neighbours, where a quotient could be off by one.
    let near: [u64; 32] = std::array::from_fn(|i| {
        (x[i] as u32 / (y[i] as u32).max(1)).wrapping_mul(y[i] as u32).wrapping_add(a[i].2 % 3).wrapping_sub(1) as u64
    });
    for dividend in [x, near] {
        compare("div.u32", &op("div.u32", 2), &[dividend, y], 0, |v| {
            (v[0] as u32).checked_div(v[1] as u32).unwrap_or(u32::MAX) as u64
        })?;
        compare("rem.u32", &op("rem.u32", 2), &[dividend, y], 0, |v| {
            (v[0] as u32).checked_rem(v[1] as u32).unwrap_or(v[0] as u32) as u64
        })?;
        compare("div.s32", &op("div.s32", 2), &[dividend, y], 0, |v| {
            if v[1] == 0 { 0xffff_ffff } else { (v[0] as i32).wrapping_div(v[1] as i32) as u32 as u64 }
        })?;
        compare("rem.s32", &op("rem.s32", 2), &[dividend, y], 0, |v| {
            if v[1] == 0 { v[0] } else { (v[0] as i32).wrapping_rem(v[1] as i32) as u32 as u64 }
        })?;
    }
    Ok(())
}

fn to_integer<F: Float>(x: F, bits: usize, signed: bool, round: Round, double: bool) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    if x.is_nan() {
        return if double || bits == 64 { 1 << (bits - 1) } else { 0 };
    }
    let mut exact = false;
    // The oracle clamps too, and says so in the status, which does not matter here.
    if signed {
        x.to_i128_r(bits, round, &mut exact).value as u64 & mask
    } else {
        x.to_u128_r(bits, round, &mut exact).value as u64 & mask
    }
}

fn check_roots<F: Format>(ty: &str, values: [u64; 32], infinity: u64) -> Result<(), TestCaseError> {
    // y² compared with x, exactly: the square rounded both ways.
    let below_or_equal = |y: u64, x: F| F::get(y).mul_r(F::get(y), Round::TowardPositive).value <= x;
    let above_or_equal = |y: u64, x: F| F::get(y).mul_r(F::get(y), Round::TowardNegative).value >= x;
    for (mode, _) in MODES {
        let name = format!("sqrt.{mode}.{ty}");
        let roots = op(&name, 1).lanes(&[values], 0).lanes;
        for (x, y) in values.into_iter().zip(roots) {
            if x > infinity {
                prop_assert_eq!(y & infinity, infinity);
                continue;
            }
            let number = F::get(x);
            if x == 0 || x == infinity {
                prop_assert_eq!(y, x);
                continue;
            }
            let good = match mode {
                "rz" | "rm" => below_or_equal(y, number) && !below_or_equal(y + 1, number),
                "rp" => above_or_equal(y, number) && !above_or_equal(y - 1, number),
                // Nearest: within one of both.
                _ => below_or_equal(y - 1, number) && above_or_equal(y + 1, number),
            };
            prop_assert!(good, "{name} of {x:#x}: {y:#x}");
        }
    }
    Ok(())
}
