//! The same sums on the CPU, in the device's order of additions.

use super::THREADS;

const BLOCK: usize = THREADS as usize;

/// The sum that each of so many blocks makes of its share.
pub(super) fn block_sums(data: &[f32], blocks: usize) -> Vec<f32> {
    let mut sums = vec![[0.0f32; BLOCK]; blocks];
    // Each block takes two rows of elements at a time.
    for (turn, rows) in data.chunks(2 * BLOCK).enumerate() {
        for row in rows.chunks(BLOCK) {
            sums[turn % blocks].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
    }
    sums.iter_mut().map(tree).collect()
}

fn tree(sum: &mut [f32; BLOCK]) -> f32 {
    let mut half = BLOCK / 2;
    while half > 0 {
        (0..half).for_each(|t| sum[t] += sum[t + half]);
        half /= 2;
    }
    sum[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_whole_numbers() {
        let data: Vec<f32> = (1..=1500).map(|i| i as f32).collect();
        // Blocks of 512: 1 to 512 and 1025 to 1500, and 513 to 1024.
        assert_eq!(block_sums(&data, 2), [732_278.0, 393_472.0]);
        assert_eq!(block_sums(&data, 1), [1_125_750.0]);
    }
}
