//! The same product on the CPU, row by row.

use super::Matrix;

pub(crate) fn multiply(matrix: &Matrix, x: &[f32]) -> Vec<f32> {
    matrix.rows.iter().map(|row| row.iter().fold(0.0f32, |sum, &(c, v)| v.mul_add(x[c], sum))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_worked_by_hand() {
        let rows = vec![vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, -1.0)]];
        assert_eq!(multiply(&Matrix { rows }, &[10.0, 20.0, 30.0]), [70.0, 0.0, -20.0]);
    }

    #[test]
    fn generated_rows_are_sorted_and_in_range() {
        let matrix = Matrix::generate(300, 13);
        for row in &matrix.rows {
            assert!(!row.is_empty() && row.len() <= 25);
            assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0) && row.iter().all(|entry| entry.0 < 300));
        }
    }
}
