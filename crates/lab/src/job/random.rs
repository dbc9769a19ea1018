//! Random numbers for initial data: the same on every machine and in every version of this program.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014); normal numbers by
//! the polar method (Marsaglia and Bray 1964) with a software logarithm, since the system's may differ.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    spare: Option<f64>,
}

impl Random {
    /// A stream by its seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed, spare: None }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴: exact as a single, so that rounding never reaches 1.
    pub fn unit24(&mut self) -> f64 {
        (self.bits() >> 40) as f64 / (1u64 << 24) as f64
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit53(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..=last, by multiplication (bias below 2⁻³² for the ranges that matter).
    pub fn up_to(&mut self, last: u64) -> u64 {
        match last.checked_add(1) {
            Some(count) => ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64,
            None => self.bits(),
        }
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.unit53() - 1.0, 2.0 * self.unit53() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let factor = libm::sqrt(-2.0 * libm::log(s) / s);
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_seed_zero_are_the_published_ones() {
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.bits(), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(random.bits(), 0x06C4_5D18_8009_454F);
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let mut random = Random::new(7);
        let numbers: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn a_range_is_covered_and_not_left() {
        let mut random = Random::new(3);
        let mut seen = [false; 5];
        (0..1000).for_each(|_| seen[random.up_to(4) as usize] = true);
        assert_eq!(seen, [true; 5]);
    }
}
