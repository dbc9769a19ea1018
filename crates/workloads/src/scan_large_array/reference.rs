//! The same sums on the CPU, one after the other.

/// What lies before each element.
pub(super) fn scan(elements: &[f32]) -> Vec<f32> {
    elements
        .iter()
        .scan(0.0, |sum, x| {
            let before = *sum;
            *sum += x;
            Some(before)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_elements() {
        assert_eq!(scan(&[3.0, 1.0, 4.0, 1.0]), [0.0, 3.0, 4.0, 8.0]);
    }

    #[test]
    fn sums_stay_exact() {
        let elements = super::super::generate(1_500_000);
        assert!(elements.iter().map(|&x| f64::from(x)).sum::<f64>() < 16_777_216.0);
    }
}
