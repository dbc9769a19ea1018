//! Expected outputs, and whether they came out.
//!
//! Whole numbers are compared and summed as what they are, whatever their width; only floats are computed with in double
//! precision. Without tolerances the bytes must be the same, so that −0 is not 0.

use super::data::{Contents, fnv1a, sum};
use super::file::ElementType;
use std::fmt;
use std::ops::Range;

/// What a buffer should hold at the end.
#[derive(Clone, Debug)]
pub struct Expect {
    /// Index of the buffer.
    pub buffer: usize,
    /// The elements meant: not empty, and all in the buffer.
    pub elements: Range<usize>,
    /// What.
    pub what: What,
    /// Allowed difference relative to the expected value.
    pub relative: f64,
    /// Allowed absolute difference. Either of the two suffices.
    pub absolute: f64,
}

/// The kind of expectation.
#[derive(Clone, Debug)]
pub enum What {
    /// These bytes, as many as the elements have.
    Bytes(Vec<u8>),
    /// This FNV-1a of their bytes.
    Checksum(u64),
    /// This sum of them: a whole number exactly if they are.
    Sum(Value),
}

/// An element's value, or a sum of elements.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// Of integers.
    Whole(i128),
    /// Of floats.
    Real(f64),
}

impl Value {
    /// In double precision.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::Whole(value) => value as f64,
            Value::Real(value) => value,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(value) => value.fmt(f),
            Value::Real(value) => value.fmt(f),
        }
    }
}

impl Expect {
    /// `Err` says what differs.
    pub fn check(&self, name: &str, contents: &Contents, found: &[u8]) -> Result<(), String> {
        let element = contents.element;
        let width = element.bytes();
        let Some(found) = found.get(self.elements.start * width..self.elements.end * width) else {
            return Err(format!("`{name}` has no elements {:?}", self.elements));
        };
        match &self.what {
            What::Checksum(wanted) => {
                let found = fnv1a(found);
                (found == *wanted)
                    .then_some(())
                    .ok_or_else(|| format!("`{name}`: FNV-1a is {found:016x}, expected {wanted:016x}"))
            }
            What::Sum(wanted) => {
                let found = sum(element, found);
                self.near(found, *wanted)
                    .then_some(())
                    .ok_or_else(|| format!("`{name}`: sum is {found}, expected {wanted}"))
            }
            What::Bytes(wanted) => self.compare(name, element, wanted, found),
        }
    }

    fn compare(&self, name: &str, element: ElementType, wanted: &[u8], found: &[u8]) -> Result<(), String> {
        let (width, exact) = (element.bytes(), self.relative == 0.0 && self.absolute == 0.0);
        let pairs = wanted.chunks_exact(width).zip(found.chunks_exact(width)).enumerate();
        let differ = |w: &[u8], f: &[u8]| w != f && (exact || !self.near(element.value(f), element.value(w)));
        let mut wrong = pairs.filter(|(_, (w, f))| differ(w, f));
        let Some((index, (w, f))) = wrong.next() else { return Ok(()) };
        let more = wrong.count();
        let others = if more > 0 { format!(" ({more} more differ)") } else { String::new() };
        let show = |bytes: &[u8]| element.value(bytes).to_string();
        let (mut shown, mut expected) = (show(f), show(w));
        if shown == expected {
            // Two kinds of NaN, say.
            let bits = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
            (shown, expected) = (format!("{shown} (0x{})", bits(f)), format!("{expected} (0x{})", bits(w)));
        }
        Err(format!("`{name}`[{}] is {shown}, expected {expected}{others}", self.elements.start + index))
    }

    fn near(&self, found: Value, wanted: Value) -> bool {
        match (found, wanted) {
            (Value::Whole(found), Value::Whole(wanted)) => {
                let difference = found.abs_diff(wanted);
                // A difference of whole numbers is within a limit if it is within the limit's whole part.
                difference <= self.absolute as u128
                    || difference <= (self.relative * wanted.unsigned_abs() as f64) as u128
            }
            _ => {
                let (found, wanted) = (found.to_f64(), wanted.to_f64());
                let difference = (found - wanted).abs();
                found == wanted || difference <= self.absolute || difference <= self.relative * wanted.abs()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(element: ElementType, wanted: Vec<u8>, found: Vec<u8>, (relative, absolute): (f64, f64)) -> Outcome {
        let count = found.len() / element.bytes();
        let contents = Contents { element, count: count as u64, bytes: Vec::new() };
        let what = What::Bytes(wanted);
        Expect { buffer: 0, elements: 0..count, what, relative, absolute }.check("a", &contents, &found)
    }

    type Outcome = Result<(), String>;

    fn check(wanted: &[f32], found: &[f32], relative: f64, absolute: f64) -> Outcome {
        let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
        compare(ElementType::F32, bytes(wanted), bytes(found), (relative, absolute))
    }

    fn check_u64(wanted: u64, found: u64, relative: f64, absolute: f64) -> Outcome {
        let bytes = |v: u64| v.to_le_bytes().to_vec();
        compare(ElementType::U64, bytes(wanted), bytes(found), (relative, absolute))
    }

    #[test]
    fn equal_means_equal_without_a_tolerance() {
        assert!(check(&[1.0, 2.0], &[1.0, 2.0], 0.0, 0.0).is_ok());
        let message = check(&[1.0, 2.0, 3.0], &[1.0, 2.5, 4.0], 0.0, 0.0).unwrap_err();
        assert_eq!(message, "`a`[1] is 2.5, expected 2 (1 more differ)");
        assert_eq!(check(&[0.0], &[-0.0], 0.0, 0.0).unwrap_err(), "`a`[0] is -0, expected 0");
        assert!(check(&[0.0], &[-0.0], 0.0, 1e-30).is_ok());
        let quiet = f32::from_bits(0x7fff_ffff);
        assert!(check(&[quiet], &[quiet], 0.0, 0.0).is_ok());
        let message = check(&[f32::from_bits(0x7fc0_0000)], &[quiet], 0.0, 0.0).unwrap_err();
        assert_eq!(message, "`a`[0] is NaN (0x7fffffff), expected NaN (0x7fc00000)");
    }

    #[test]
    fn either_tolerance_suffices_and_nan_is_never_near() {
        assert!(check(&[100.0], &[101.0], 0.01, 0.0).is_ok());
        assert!(check(&[100.0], &[101.0], 0.0, 1.0).is_ok());
        assert!(check(&[100.0], &[101.1], 0.01, 1.0).is_err());
        assert!(check(&[1.0], &[f32::NAN], 1e9, 1e9).is_err());
    }

    #[test]
    fn whole_numbers_of_64_bits_keep_all_their_bits() {
        // Both are 2⁶³ in double precision.
        let message = check_u64((1 << 63) + 1, 1 << 63, 0.0, 0.0).unwrap_err();
        assert_eq!(message, "`a`[0] is 9223372036854775808, expected 9223372036854775809");
        assert!(check_u64(u64::MAX, u64::MAX, 0.0, 0.0).is_ok());
        assert!(check_u64(u64::MAX, u64::MAX - 3, 0.0, 2.9).is_err());
        assert!(check_u64(u64::MAX, u64::MAX - 3, 0.0, 3.0).is_ok());
        assert!(check_u64(1000, 1010, 0.01, 0.0).is_ok() && check_u64(1000, 1011, 0.01, 0.0).is_err());
    }

    #[test]
    fn sums_of_whole_numbers_are_exact() {
        let found: Vec<u8> = [u64::MAX, u64::MAX, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let contents = Contents { element: ElementType::U64, count: 3, bytes: Vec::new() };
        let check = |sum| {
            let what = What::Sum(Value::Whole(sum));
            Expect { buffer: 0, elements: 0..3, what, relative: 0.0, absolute: 0.0 }.check("a", &contents, &found)
        };
        let exact = 2 * i128::from(u64::MAX) + 5;
        assert!(check(exact).is_ok());
        assert_eq!(check(exact + 1).unwrap_err(), "`a`: sum is 36893488147419103235, expected 36893488147419103236");
    }

    #[test]
    fn only_the_elements_meant_are_compared() {
        let found: Vec<u8> = (0..8).collect();
        let contents = Contents { element: ElementType::U8, count: 8, bytes: Vec::new() };
        let check = |elements, wanted: &[u8]| {
            let what = What::Bytes(wanted.to_vec());
            Expect { buffer: 0, elements, what, relative: 0.0, absolute: 0.0 }.check("a", &contents, &found)
        };
        assert!(check(2..4, &[2, 3]).is_ok());
        assert_eq!(check(2..4, &[2, 4]).unwrap_err(), "`a`[3] is 3, expected 4");
    }
}
