//! Saturating counters that estimate an idle period's length (§4.2), and the three ways of updating them (§6.4.1).

use crate::policy_choices;
use serde::{Deserialize, Serialize};

policy_choices! {
    /// How counters learn from an idle period (§6.4.1).
    Update {
        /// Up when the prediction "longer" would have been right, down when not.
        Simple = "1",
        /// The same, but two wrong predictions in a row from at or above the threshold reset it.
        TwoWrong = "2",
        /// Simple below the threshold; above it a wrong prediction resets it.
        OneWrong = "3",
    }
}

policy_choices! {
    /// From which idle periods counters learn.
    Learn {
        /// All of them (§4.2 to the letter).
        All = "all",
        /// Those in which there was something to decide: of four cycles and more for the mode-change counter, of eight
        /// and more, where leaving VS0.5 was right, for the confidence counter.
        Decided = "decided",
    }
}

/// Rules of a counter.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Largest value: all of its bits set.
    pub most: u8,
    /// From this value on it predicts the longer period.
    pub threshold: u8,
    /// How it learns.
    pub update: Update,
}

impl Rules {
    /// A counter with `values` values (a power of two, at most 256) and its threshold at a share of them.
    pub fn new(values: u32, share: f64, update: Update) -> Rules {
        let most = (values.clamp(2, 256).next_power_of_two() - 1) as u8;
        let threshold = (f64::from(values) * share).round().clamp(1.0, f64::from(most)) as u8;
        Rules { most, threshold, update }
    }

    /// Bits of a value.
    #[inline]
    fn bits(&self) -> usize {
        (8 - self.most.leading_zeros()) as usize
    }
}

/// A saturating counter for each of 32 lanes, bit by bit: a plane holds the same bit of all of them. So all lanes that
/// learn the same do so at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    planes: [u32; 8],
    /// Lanes whose last prediction was "longer", and wrong.
    missed: u32,
}

impl Counters {
    /// Counters at a share of their values.
    pub fn at(share: f64, rules: &Rules) -> Counters {
        let value = (f64::from(rules.most) + 1.0) * share;
        Counters::of(value.round().clamp(0.0, f64::from(rules.most)) as u8)
    }

    /// All of them at a value.
    fn of(value: u8) -> Counters {
        let plane = |bit: usize| if value >> bit & 1 != 0 { u32::MAX } else { 0 };
        Counters { planes: std::array::from_fn(plane), missed: 0 }
    }

    /// The value of a lane's.
    pub fn value(&self, lane: usize) -> u8 {
        self.planes.iter().enumerate().fold(0, |value, (bit, plane)| value | ((plane >> lane & 1) as u8) << bit)
    }

    /// Lanes whose counter predicts the longer period.
    #[inline]
    pub fn high(&self, rules: &Rules) -> u32 {
        if u32::from(rules.threshold) * 2 == u32::from(rules.most) + 1 {
            // Half of the values: the most significant bit says it.
            return self.planes[rules.bits() - 1];
        }
        let (mut above, mut equal) = (0, u32::MAX);
        for (bit, &plane) in self.planes.iter().enumerate().rev() {
            if rules.threshold >> bit & 1 != 0 {
                equal &= plane;
            } else {
                above |= equal & plane;
                equal &= !plane;
            }
        }
        above | equal
    }

    /// Lanes learn that a period was long.
    #[inline]
    pub fn up(&mut self, lanes: u32, rules: &Rules) {
        let planes = &mut self.planes[..rules.bits()];
        let mut carry = lanes & !planes.iter().fold(u32::MAX, |full, plane| full & plane);
        for plane in planes {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        self.missed &= !lanes;
    }

    /// Lanes learn that a period was not long.
    #[inline]
    pub fn down(&mut self, lanes: u32, rules: &Rules) {
        let wrong = lanes & self.high(rules);
        let reset = match rules.update {
            Update::Simple => 0,
            Update::TwoWrong => wrong & self.missed,
            Update::OneWrong => wrong,
        };
        let mut borrow = lanes & self.planes.iter().fold(0, |any, plane| any | plane);
        for plane in &mut self.planes {
            (*plane, borrow) = ((*plane ^ borrow) & !reset, !*plane & borrow);
        }
        self.missed = self.missed & !lanes | wrong & !reset;
    }

    /// Lanes forget everything.
    pub fn reset(&mut self, lanes: u32) {
        self.planes.iter_mut().for_each(|plane| *plane &= !lanes);
        self.missed &= !lanes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes that learn; the others must stay at 77.
    const LEARN: u32 = 0xf0f0_0001;

    #[derive(Clone, Copy)]
    struct Counter(Counters);

    fn at(value: u8) -> Counter {
        let (value, other) = (Counters::of(value), Counters::of(77));
        let plane = |bit: usize| value.planes[bit] & LEARN | other.planes[bit] & !LEARN;
        Counter(Counters { planes: std::array::from_fn(plane), missed: 0 })
    }

    impl Counter {
        fn up(&mut self, rules: &Rules) {
            self.0.up(LEARN, rules);
        }

        fn down(&mut self, rules: &Rules) {
            self.0.down(LEARN, rules);
        }

        fn high(&self, rules: &Rules) -> bool {
            let others = if 77 >= rules.threshold { !LEARN } else { 0 };
            let high = self.0.high(rules);
            assert_eq!(high & !LEARN, others);
            assert!(high & LEARN == 0 || high & LEARN == LEARN);
            high & LEARN != 0
        }

        fn value(&self) -> u8 {
            let value = self.0.value(0);
            (0..32).for_each(|l| assert_eq!(self.0.value(l), if LEARN >> l & 1 != 0 { value } else { 77 }));
            value
        }
    }

    #[test]
    fn eight_bits_saturate_at_both_ends() {
        let rules = Rules::new(256, 0.5, Update::Simple);
        assert_eq!((rules.most, rules.threshold), (255, 128));
        let mut c = at(0);
        c.down(&rules);
        assert_eq!(c.value(), 0);
        (0..300).for_each(|_| c.up(&rules));
        assert_eq!(c.value(), 255);
        c.down(&rules);
        assert_eq!(c.value(), 254);
        (0..300).for_each(|_| c.down(&rules));
        assert_eq!(c.value(), 0);
        // Half of the values: the most significant bit decides.
        for value in 0..=255u8 {
            assert_eq!(at(value).high(&rules), value >> 7 == 1);
        }
        for share in [0.0, 0.1, 0.25, 0.4, 0.75, 1.0] {
            let rules = Rules::new(256, share, Update::Simple);
            (0..=255u8).for_each(|v| {
                assert_eq!(Counters::of(v).high(&rules) == u32::MAX, v >= rules.threshold, "{v} {share}")
            });
        }
    }

    #[test]
    fn it_starts_at_a_share_of_its_values() {
        for (values, half) in [(4, 2), (16, 8), (256, 128)] {
            let rules = Rules::new(values, 0.5, Update::Simple);
            let starts = [0.0, 0.5, 1.0].map(|share| u32::from(Counters::at(share, &rules).value(31)));
            assert_eq!(starts, [0, half, values - 1]);
            assert_eq!(Counters::at(0.5, &rules).high(&rules), u32::MAX);
        }
    }

    #[test]
    fn other_sizes_and_thresholds() {
        for (values, most) in [(4, 3), (16, 15), (64, 63), (256, 255)] {
            for (share, threshold) in [(0.25, values / 4), (0.5, values / 2), (0.75, values * 3 / 4)] {
                let rules = Rules::new(values, share, Update::Simple);
                assert_eq!((rules.most, u32::from(rules.threshold)), (most, threshold));
                let mut c = at(0);
                (0..1000).for_each(|_| c.up(&rules));
                assert_eq!(c.value(), most);
            }
        }
    }

    #[test]
    fn policy_2_resets_after_two_wrong_predictions_in_a_row() {
        let rules = Rules::new(256, 0.5, Update::TwoWrong);
        let mut c = at(200);
        c.down(&rules);
        assert_eq!(c.value(), 199);
        c.up(&rules);
        c.down(&rules);
        assert_eq!(c.value(), 199);
        c.down(&rules);
        assert_eq!(c.value(), 0);
        // Below the threshold nothing was predicted wrongly.
        let mut c = at(128);
        c.down(&rules);
        c.down(&rules);
        assert_eq!(c.value(), 126);
    }

    #[test]
    fn policy_3_resets_after_one_wrong_prediction() {
        let rules = Rules::new(256, 0.5, Update::OneWrong);
        let mut c = at(127);
        c.down(&rules);
        assert_eq!(c.value(), 126);
        c.up(&rules);
        c.up(&rules);
        c.up(&rules);
        assert_eq!(c.value(), 129);
        c.down(&rules);
        assert_eq!(c.value(), 0);
    }

    #[test]
    fn lanes_forget_apart() {
        let mut c = at(200).0;
        c.reset(1 << 4);
        assert_eq!([0, 4, 5, 31].map(|lane| c.value(lane)), [200, 0, 77, 200]);
        c.reset(LEARN);
        assert_eq!([0, 4, 5, 31].map(|lane| c.value(lane)), [0, 0, 77, 0]);
    }
}
