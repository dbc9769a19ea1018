//! Expected outputs, and whether they came out.

use super::data::{Contents, fnv1a};
use super::file::ElementType;

/// What a buffer should hold at the end.
#[derive(Clone, Debug)]
pub struct Expect {
    /// Index of the buffer.
    pub buffer: usize,
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
    /// These bytes, at its beginning.
    Bytes(Vec<u8>),
    /// This FNV-1a of all its bytes.
    Checksum(u64),
    /// This sum of its elements.
    Sum(f64),
}

impl Expect {
    /// `Err` says what differs.
    pub fn check(&self, name: &str, contents: &Contents, found: &[u8]) -> Result<(), String> {
        let element = contents.element;
        match &self.what {
            What::Checksum(wanted) => {
                let found = fnv1a(found);
                (found == *wanted)
                    .then_some(())
                    .ok_or_else(|| format!("`{name}`: FNV-1a is {found:016x}, expected {wanted:016x}"))
            }
            What::Sum(wanted) => {
                let found: f64 = found.chunks_exact(element.bytes()).map(|c| element.value(c)).sum();
                self.near(found, *wanted)
                    .then_some(())
                    .ok_or_else(|| format!("`{name}`: sum is {found}, expected {wanted}"))
            }
            What::Bytes(wanted) => self.compare(name, element, wanted, found),
        }
    }

    fn compare(&self, name: &str, element: ElementType, wanted: &[u8], found: &[u8]) -> Result<(), String> {
        let width = element.bytes();
        let pairs = wanted.chunks_exact(width).zip(found.chunks_exact(width)).enumerate();
        let mut wrong = pairs.filter(|(_, (w, f))| w != f && !self.near(element.value(f), element.value(w)));
        let Some((index, (w, f))) = wrong.next() else { return Ok(()) };
        let (w, f) = (element.value(w), element.value(f));
        let more = wrong.count();
        let others = if more > 0 { format!(" ({more} more differ)") } else { String::new() };
        Err(format!("`{name}`[{index}] is {f}, expected {w}{others}"))
    }

    fn near(&self, found: f64, wanted: f64) -> bool {
        let difference = (found - wanted).abs();
        found == wanted || difference <= self.absolute || difference <= self.relative * wanted.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &[f32], found: &[f32], relative: f64, absolute: f64) -> Result<(), String> {
        let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
        let contents = Contents { element: ElementType::F32, count: found.len() as u64, bytes: Vec::new() };
        Expect { buffer: 0, what: What::Bytes(bytes(wanted)), relative, absolute }.check("a", &contents, &bytes(found))
    }

    #[test]
    fn equal_means_equal_without_a_tolerance() {
        assert!(check(&[1.0, 2.0], &[1.0, 2.0], 0.0, 0.0).is_ok());
        let message = check(&[1.0, 2.0, 3.0], &[1.0, 2.5, 4.0], 0.0, 0.0).unwrap_err();
        assert_eq!(message, "`a`[1] is 2.5, expected 2 (1 more differ)");
    }

    #[test]
    fn either_tolerance_suffices_and_nan_is_never_near() {
        assert!(check(&[100.0], &[101.0], 0.01, 0.0).is_ok());
        assert!(check(&[100.0], &[101.0], 0.0, 1.0).is_ok());
        assert!(check(&[100.0], &[101.1], 0.01, 1.0).is_err());
        assert!(check(&[1.0], &[f32::NAN], 1e9, 1e9).is_err());
    }
}
