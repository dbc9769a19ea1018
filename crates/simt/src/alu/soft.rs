//! Double-precision arithmetic in `.rz`, `.rm` and `.rp`, exactly, in integers.
//!
//! There is no wider type to compute in and then narrow (compare [`round`](super::round)), and real programs hardly use
//! these forms, so this is simple rather than fast. A number is ±m·2ᵉ with a 128-bit m whose last bit is set if
//! anything below it was cut off; one function rounds that to double precision.

use super::round::{RM, RN, RZ};

/// ±m·2ᵉ; the last bit of a normalised m may stand for more bits below it.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    exponent: i32,
    m: u128,
}

/// Where the first bit of a normalised m lies: a sum of two still fits.
const TOP: u32 = 125;

/// A finite number; m is not normalised.
fn unpack(x: f64) -> Exact {
    let bits = x.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as u128;
    let (exponent, m) = if field == 0 { (-1074, fraction) } else { (field - 1075, fraction | 1 << 52) };
    Exact { negative: bits >> 63 != 0, exponent, m }
}

impl Exact {
    /// The first bit at `TOP`; m must be below 2^(TOP+1), and not zero.
    fn normalised(self) -> Exact {
        let shift = self.m.leading_zeros() - (127 - TOP);
        Exact { m: self.m << shift, exponent: self.exponent - shift as i32, ..self }
    }

    /// Rounds to double precision. m is not zero.
    fn round<const R: u8>(self) -> f64 {
        let top = 127 - self.m.leading_zeros() as i32;
        let unit = (self.exponent + top - 52).max(-1074);
        let shift = unit - self.exponent;
        let (mut kept, half, rest) = match shift {
            ..=0 => ((self.m << -shift) as u64, false, false),
            1..=127 => {
                ((self.m >> shift) as u64, self.m >> (shift - 1) & 1 != 0, self.m & ((1 << (shift - 1)) - 1) != 0)
            }
            _ => (0, false, true),
        };
        let up = match R {
            RN => half & (rest | (kept & 1 != 0)),
            RZ => false,
            RM => self.negative & (half | rest),
            _ => !self.negative & (half | rest),
        };
        kept += up as u64;
        // Adding the exponent field to a subnormal that became 2^52, or to a carry out of the fraction, does the
        // right thing.
        let magnitude = if kept < 1 << 52 {
            kept
        } else if unit + 1075 + (kept >> 53) as i32 >= 0x7ff {
            let infinite = match R {
                RN => true,
                RZ => false,
                RM => self.negative,
                _ => !self.negative,
            };
            if infinite { 0x7ff << 52 } else { (0x7ff << 52) - 1 }
        } else {
            ((unit + 1075) as u64) * (1 << 52) + (kept - (1 << 52))
        };
        f64::from_bits(magnitude | (self.negative as u64) << 63)
    }
}

/// x + y, zeros included.
fn sum<const R: u8>(x: Exact, y: Exact) -> f64 {
    if x.m == 0 && y.m == 0 {
        return zero::<R>(x.negative, y.negative);
    }
    if x.m == 0 || y.m == 0 {
        return if x.m == 0 { y } else { x }.round::<R>();
    }
    let (x, y) = (x.normalised(), y.normalised());
    let (big, small) = if (x.exponent, x.m) >= (y.exponent, y.m) { (x, y) } else { (y, x) };
    let shift = (big.exponent - small.exponent) as u32;
    let aligned = if shift >= 128 {
        1
    } else {
        let kept = small.m >> shift;
        kept | (kept << shift != small.m) as u128
    };
    let m = if big.negative == small.negative { big.m + aligned } else { big.m - aligned };
    if m == 0 {
        return zero::<R>(x.negative, y.negative);
    }
    Exact { m, ..big }.round::<R>()
}

/// An exact zero sum of two numbers with these signs.
fn zero<const R: u8>(x_negative: bool, y_negative: bool) -> f64 {
    let negative = if R == RM { x_negative | y_negative } else { x_negative & y_negative };
    if negative { -0.0 } else { 0.0 }
}

fn product(x: f64, y: f64) -> Exact {
    let (a, b) = (unpack(x), unpack(y));
    Exact { negative: a.negative != b.negative, exponent: a.exponent + b.exponent, m: a.m * b.m }
}

/// x + y.
pub(super) fn add<const R: u8>(x: f64, y: f64) -> f64 {
    if x.is_finite() && y.is_finite() { sum::<R>(unpack(x), unpack(y)) } else { x + y }
}

/// x × y.
pub(super) fn mul<const R: u8>(x: f64, y: f64) -> f64 {
    if x.is_finite() && y.is_finite() && x != 0.0 && y != 0.0 { product(x, y).round::<R>() } else { x * y }
}

/// x × y + z, rounded once.
pub(super) fn fma<const R: u8>(x: f64, y: f64, z: f64) -> f64 {
    if x.is_finite() && y.is_finite() && z.is_finite() { sum::<R>(product(x, y), unpack(z)) } else { x.mul_add(y, z) }
}

/// x / y.
pub(super) fn div<const R: u8>(x: f64, y: f64) -> f64 {
    if !(x.is_finite() && y.is_finite() && x != 0.0 && y != 0.0) {
        return x / y;
    }
    let (a, b) = (unpack(x).normalised(), unpack(y));
    let (q, r) = (a.m / b.m, a.m % b.m);
    let m = q | (r != 0) as u128;
    Exact { negative: a.negative != b.negative, exponent: a.exponent - b.exponent, m }.round::<R>()
}

/// √x.
pub(super) fn sqrt<const R: u8>(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return x.sqrt();
    }
    let mut a = unpack(x).normalised();
    if a.exponent % 2 != 0 {
        a.m <<= 1;
        a.exponent -= 1;
    }
    let root = a.m.isqrt();
    let m = root | (root * root != a.m) as u128;
    Exact { negative: false, exponent: a.exponent / 2, m }.round::<R>()
}

/// An integer.
pub(super) fn from_u64<const R: u8>(negative: bool, magnitude: u64) -> f64 {
    if magnitude == 0 { 0.0 } else { Exact { negative, exponent: 0, m: magnitude as u128 }.round::<R>() }
}
