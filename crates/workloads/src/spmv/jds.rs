//! Jagged diagonal storage, padded so that the 32 rows of a warp are equally long.

/// A sparse matrix by jagged diagonals.
pub(super) struct Jagged {
    pub(super) value: Vec<f32>,
    pub(super) column: Vec<i32>,
    /// Where each diagonal begins in `value` and `column`.
    pub(super) diagonal_start: Vec<i32>,
    /// Entries per row for each 32 sorted rows.
    pub(super) warp_length: Vec<i32>,
    /// The row at each sorted position.
    pub(super) permutation: Vec<i32>,
}

impl Jagged {
    pub(super) fn from_rows(rows: &[Vec<(usize, f32)>]) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        // A stable sort: rows of one length stay in their order.
        order.sort_by_key(|&r| std::cmp::Reverse(rows[r].len()));
        let warp_length: Vec<i32> = order.chunks(32).map(|warp| rows[warp[0]].len() as i32).collect();

        let (mut value, mut column, mut diagonal_start) = (Vec::new(), Vec::new(), Vec::new());
        let longest = warp_length.first().map_or(0, |&length| length as usize);
        for k in 0..longest {
            diagonal_start.push(value.len() as i32);
            let warps = warp_length.iter().take_while(|&&length| length as usize > k).count();
            for &r in order.iter().take(warps * 32) {
                let (c, v) = rows[r].get(k).copied().unwrap_or((0, 0.0));
                value.push(v);
                column.push(c as i32);
            }
        }
        Jagged { value, column, diagonal_start, warp_length, permutation: order.iter().map(|&r| r as i32).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rows_worked_by_hand() {
        let rows = vec![vec![(0, 1.0)], vec![(0, 2.0), (1, 3.0), (2, 4.0)], vec![(1, 5.0), (2, 6.0)]];
        let jds = Jagged::from_rows(&rows);
        assert_eq!(jds.permutation, [1, 2, 0]);
        assert_eq!(jds.warp_length, [3]);
        assert_eq!(jds.diagonal_start, [0, 3, 6]);
        // All three rows are in one warp, so the short ones are padded to three entries.
        assert_eq!(jds.value, [2.0, 5.0, 1.0, 3.0, 6.0, 0.0, 4.0, 0.0, 0.0]);
        assert_eq!(jds.column, [0, 1, 0, 1, 2, 0, 2, 0, 0]);
    }

    #[test]
    fn later_warps_end_earlier() {
        let rows: Vec<_> = (0..64).map(|r| vec![(0, 1.0); if r < 32 { 2 } else { 1 }]).collect();
        let jds = Jagged::from_rows(&rows);
        assert_eq!(jds.warp_length, [2, 1]);
        assert_eq!(jds.diagonal_start, [0, 64]);
        assert_eq!(jds.value.len(), 96);
    }
}
