//! The same sums on the CPU, each block by itself.

use super::Input;

/// Of all blocks with this edge, displacement after displacement.
pub(super) fn sums(input: &Input, edge: usize) -> Vec<u16> {
    let earlier = input.bordered();
    let (stride, reach) = (input.width + 2 * input.reach, 2 * input.reach + 1);
    let [across, down] = input.grid(edge);
    let mut sums = Vec::with_capacity(across * down * input.displacements());
    for block in 0..across * down {
        let (left, top) = (block % across * edge, block / across * edge);
        for displacement in 0..input.displacements() {
            let (dx, dy) = (displacement % reach, displacement / reach);
            let row = |i: usize| {
                let now = &input.frame[(top + i) * input.width + left..][..edge];
                let then = &earlier[(top + i + dy) * stride + left + dx..][..edge];
                now.iter().zip(then).map(|(a, b)| u16::from(a.abs_diff(*b))).sum::<u16>()
            };
            sums.push((0..edge).map(row).sum());
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_by_hand() {
        // All pixels 10, then 13 but for one of 5: 15 × 3 + 5.
        let mut frame = vec![13; 16];
        frame[6] = 5;
        let input = Input { width: 4, height: 4, reach: 1, frame, earlier: vec![10; 16] };
        assert_eq!(sums(&input, 4), [50; 9]);
    }

    #[test]
    fn the_movement_is_found_in_most_blocks() {
        let input = Input::generate(64, 48, 8);
        let sums = sums(&input, 16);
        // The frame shows the picture moved by (3, −2), so the earlier one matches at (−3, 2).
        let moved = (2 + 8) * 17 + 8 - 3;
        let found = sums.chunks_exact(289).filter(|block| (0..289).min_by_key(|&d| block[d]) == Some(moved)).count();
        assert!(found >= 8, "{found} of 12");
    }
}
