//! The same histograms on the CPU.

use super::BINS;

pub(super) fn histograms(images: &[Vec<u32>]) -> Vec<u8> {
    let histogram = |image: &Vec<u32>| {
        let mut bins = vec![0u8; BINS];
        for &value in image {
            let bin = &mut bins[value as usize];
            // A byte saturates where the device cuts off: at 255.
            *bin = bin.saturating_add(1);
        }
        bins
    };
    images.iter().flat_map(histogram).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histo::{WINDOW, generate, window_start};

    #[test]
    fn counts_and_saturation() {
        let mut image = vec![3; 300];
        image.extend([5, 5, 16_383]);
        let bins = histograms(&[image]);
        assert_eq!((bins[3], bins[5], bins[16_383], bins[4]), (255, 2, 1, 0));
    }

    #[test]
    fn the_window_stays_within_the_bins() {
        assert_eq!(window_start(6000, 8000), 7000 - WINDOW / 2);
        assert_eq!(window_start(0, 10), 0);
        assert_eq!(window_start(16_000, 16_383), 16_384 - WINDOW);
        // A broken device's range must not send the main pass outside.
        assert_eq!(window_start(u32::MAX, u32::MAX), 16_384 - WINDOW);
    }

    #[test]
    fn the_input_is_crowded_and_has_stragglers() {
        let image = &generate(131_072, 1)[0];
        let start = window_start(*image.iter().min().unwrap(), *image.iter().max().unwrap());
        let outside = image.iter().filter(|&&v| v < start || v >= start + WINDOW).count();
        assert!((100..10_000).contains(&outside), "{outside}");
    }
}
