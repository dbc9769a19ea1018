//! Input data: a small deterministic generator, so that a workload's inputs are the same on every machine and for ever.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014), seeded by a name
//! through 64-bit FNV-1a. Every array of every workload has its own name, so adding one never shifts another.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream that belongs to `name`.
    pub fn named(name: &str) -> Self {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Rng { state: hash }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer in `0..limit` (0 if `limit` is 0). The bias of this multiplication is below 2⁻³² for the limits used here.
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.next_u64() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A float in [0, 1), a multiple of 2⁻²⁴.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 * (1.0 / 16_777_216.0)
    }

    /// A float in [low, high).
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        self.unit() * (high - low) + low
    }

    /// Roughly normal with mean 0 and standard deviation 1: the sum of twelve uniforms less six.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.unit()).sum::<f32>() - 6.0
    }

    /// `count` floats in [low, high).
    pub fn floats(&mut self, count: usize, low: f32, high: f32) -> Vec<f32> {
        (0..count).map(|_| self.range(low, high)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // First output of SplitMix64 with seed 0, from the algorithm's published test vector.
        let mut rng = Rng { state: 0 };
        assert_eq!(rng.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(rng.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn names_give_different_streams() {
        assert_ne!(Rng::named("a").next_u64(), Rng::named("b").next_u64());
        assert_eq!(Rng::named("a").next_u64(), Rng::named("a").next_u64());
    }

    #[test]
    fn ranges_hold() {
        let mut rng = Rng::named("ranges");
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[rng.below(7) as usize] += 1;
            let x = rng.range(-2.0, 3.0);
            assert!((-2.0..3.0).contains(&x));
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
    }
}
