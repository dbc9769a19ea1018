//! Comparing what the device computed with what the CPU reference says.

use crate::host::Element;

/// The outcome of a workload's check of its own results.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// Every element is equal to the reference, or within the tolerance.
    pub verified: bool,
    /// Elements compared.
    pub checked: u64,
    /// The largest error, of the part (if there are several) that came nearest to its tolerance or went furthest beyond.
    /// An element's error is |got − want| divided by the larger of |want| and a scale that the workload states.
    pub max_error: f64,
    /// The error that was allowed for that part; 0 means equal bits.
    pub tolerance: f64,
    /// What was compared and how, or the first element that is wrong.
    pub detail: String,
}

/// Collects comparisons into one [`Verification`].
#[derive(Default)]
pub(crate) struct Checker {
    checked: u64,
    worst: Option<(f64, f64)>,
    passed: Vec<String>,
    failed: Vec<String>,
}

impl Checker {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Bit for bit.
    pub(crate) fn exact<T: Element>(self, what: &str, got: &[T], want: &[T]) -> Self {
        let count = got.len();
        let error = |i: usize| {
            if got[i].same_bits(want[i]) {
                return 0.0;
            }
            let (got, want) = (got[i].to_f64(), want[i].to_f64());
            // Different bits are an error even where the values are equal (−0 and 0).
            (relative(got, want, 0.0)).max(f64::MIN_POSITIVE)
        };
        let show = |i: usize| (got[i].to_f64(), want[i].to_f64());
        self.compare(what, count, want.len(), 0.0, error, show)
    }

    /// Within `tolerance`, relative to the larger of |want| and `scale`.
    pub(crate) fn close(
        self,
        what: &str,
        got: &[f32],
        want: &[f64],
        scale: impl Fn(usize) -> f64,
        tolerance: f64,
    ) -> Self {
        let error = |i: usize| relative(f64::from(got[i]), want[i], scale(i));
        self.compare(what, got.len(), want.len(), tolerance, error, |i| (f64::from(got[i]), want[i]))
    }

    fn compare(
        mut self,
        what: &str,
        count: usize,
        expected_count: usize,
        tolerance: f64,
        error: impl Fn(usize) -> f64,
        show: impl Fn(usize) -> (f64, f64),
    ) -> Self {
        if count != expected_count {
            self.failed.push(format!("{what}: {count} elements, not {expected_count}"));
            return self;
        }
        // A workload names no part that it does not expect to have: nothing on both sides is a mistake, not equality.
        if count == 0 {
            self.failed.push(format!("{what}: no elements"));
            return self;
        }
        let (mut wrong, mut first, mut largest) = (0u64, None, 0.0f64);
        for i in 0..count {
            let error = error(i);
            largest = largest.max(error);
            if error > tolerance {
                wrong += 1;
                first.get_or_insert(i);
            }
        }
        self.checked += count as u64;
        let nearness = |(error, tolerance): (f64, f64)| if error == 0.0 { 0.0 } else { error / tolerance };
        if self.worst.is_none_or(|worst| nearness((largest, tolerance)) > nearness(worst)) {
            self.worst = Some((largest, tolerance));
        }
        match first {
            None if tolerance == 0.0 => self.passed.push(format!("{what}: equal")),
            None => self.passed.push(format!("{what}: within {tolerance:.1e}")),
            Some(i) => {
                let (got, want) = show(i);
                self.failed.push(format!("{what}[{i}]: got {got}, not {want} ({wrong} of {count} wrong)"));
            }
        }
        self
    }

    pub(crate) fn finish(self) -> Verification {
        let (max_error, tolerance) = self.worst.unwrap_or_default();
        let verified = self.failed.is_empty() && self.checked > 0;
        let detail = if verified { self.passed } else { self.failed }.join("; ");
        Verification { verified, checked: self.checked, max_error, tolerance, detail }
    }
}

/// Relative error, finite even for NaN and infinity, so that it can be written anywhere.
fn relative(got: f64, want: f64, scale: f64) -> f64 {
    if got == want {
        return 0.0;
    }
    let error = (got - want).abs() / want.abs().max(scale);
    if error.is_finite() { error } else { f64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_is_verified() {
        let v = Checker::new().exact("x", &[1u32, 2], &[1, 2]).finish();
        assert!(v.verified);
        assert_eq!((v.checked, v.max_error, v.tolerance), (2, 0.0, 0.0));
    }

    #[test]
    fn one_wrong_bit_is_not() {
        let v = Checker::new().exact("x", &[1.0f32, f32::from_bits(1.0f32.to_bits() + 1)], &[1.0, 1.0]).finish();
        assert!(!v.verified && v.max_error > 0.0);
        assert!(v.detail.contains("x[1]") && v.detail.contains("1 of 2"), "{}", v.detail);
        assert!(!Checker::new().exact("x", &[-0.0f32], &[0.0]).finish().verified);
    }

    #[test]
    fn tolerance_is_relative_to_value_or_scale() {
        let close = |got, scale| Checker::new().close("x", &[got], &[1.0], |_| scale, 1e-3).finish();
        assert!(close(1.0005, 0.0).verified);
        assert!(!close(1.005, 0.0).verified);
        assert!(close(1.005, 10.0).verified);
    }

    #[test]
    fn nan_fails_with_a_finite_error() {
        let v = Checker::new().close("x", &[f32::NAN], &[1.0], |_| 0.0, 1e-3).finish();
        assert!(!v.verified && v.max_error.is_finite());
    }

    #[test]
    fn nothing_compared_is_not_verified() {
        assert!(!Checker::new().finish().verified);
        assert!(!Checker::new().exact("x", &[1u32], &[1, 2]).finish().verified);
    }

    #[test]
    fn a_part_without_elements_is_not_verified_whatever_others_are() {
        let v = Checker::new().exact("x", &[1u32], &[1]).exact("y", &[0u32; 0], &[]).finish();
        assert!(!v.verified);
        assert_eq!(v.detail, "y: no elements");
        assert!(!Checker::new().close("y", &[], &[], |_| 1.0, 1e-3).exact("x", &[1u32], &[1]).finish().verified);
    }

    #[test]
    fn the_worst_part_is_reported() {
        let v = Checker::new()
            .close("a", &[1.0005], &[1.0], |_| 0.0, 1e-3)
            .close("b", &[1.0005], &[1.0], |_| 0.0, 1e-1)
            .finish();
        assert!(v.verified);
        assert_eq!(v.tolerance, 1e-3);
    }
}
