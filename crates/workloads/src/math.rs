//! Elementary functions in plain arithmetic.
//!
//! The standard library's come from the platform and may differ in their last bit between platforms. Inputs that go to
//! the simulated device, and the errors that a verification reports, must not.

use std::f64::consts::{LN_2, LOG2_E, PI, SQRT_2};

/// e to the x, to about 2⁻⁵²; 0 and infinity beyond the range of normal numbers.
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 709.0 {
        return f64::INFINITY;
    }
    if x < -708.0 {
        return 0.0;
    }
    let k = (x * LOG2_E).round();
    // ln 2 in two parts, so that k ln 2 is subtracted almost exactly.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // Taylor's series; |r| < 0.35, so 15 terms leave less than 2⁻⁶⁰.
    let mut sum = 1.0;
    for n in (1..15).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// Natural logarithm of a positive normal number, to about 2⁻⁵¹. NaN for anything else.
pub fn ln(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return f64::NAN;
    }
    let mut exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((x.to_bits() & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1) / (m + 1)); the argument is below 0.172, so 12 odd terms leave less than 2⁻⁶⁰.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let t2 = t * t;
    let mut sum = 0.0;
    for n in (0..12).rev() {
        sum = sum * t2 + 1.0 / f64::from(2 * n + 1);
    }
    exponent as f64 * LN_2 + 2.0 * t * sum
}

/// Sine and cosine of an angle given in turns.
pub fn sin_cos_turns(turns: f64) -> (f64, f64) {
    let t = turns - turns.round();
    let quarter = (t * 4.0).round();
    let x = (t - quarter * 0.25) * (2.0 * PI);
    // |x| ≤ π/4: Taylor's series to x¹⁷ and x¹⁶.
    let x2 = x * x;
    let (mut s, mut c) = (1.0, 1.0);
    for n in (1..=8).rev() {
        s = 1.0 - s * x2 / f64::from(2 * n * (2 * n + 1));
        c = 1.0 - c * x2 / f64::from(2 * n * (2 * n - 1));
    }
    s *= x;
    match quarter as i64 & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-3), "{got} for {want}");
    }

    #[test]
    fn exp_and_ln_agree_with_the_platform() {
        for i in -3000..3000 {
            let x = f64::from(i) * 0.0231;
            near(exp(x), x.exp());
            near(ln(exp(x)), x);
        }
        assert_eq!(exp(-1000.0), 0.0);
        assert_eq!(exp(1000.0), f64::INFINITY);
        assert!(ln(-1.0).is_nan());
    }

    #[test]
    fn sine_and_cosine_agree_with_the_platform() {
        for i in -2000..2000 {
            let t = f64::from(i) / 640.0;
            let (s, c) = sin_cos_turns(t);
            let (s2, c2) = (2.0 * PI * t).sin_cos();
            assert!((s - s2).abs() < 1e-14 && (c - c2).abs() < 1e-14, "{t}");
        }
    }
}
