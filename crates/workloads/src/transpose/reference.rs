//! The same on the CPU.

use super::Input;

pub(super) fn transpose(input: &Input) -> Vec<f32> {
    (0..input.width).flat_map(|x| input.matrix.iter().skip(x).step_by(input.width)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_by_two() {
        let input = Input { width: 3, height: 2, matrix: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        assert_eq!(transpose(&input), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
