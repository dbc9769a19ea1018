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
    /// Largest value.
    pub most: u8,
    /// From this value on it predicts the longer period.
    pub threshold: u8,
    /// How it learns.
    pub update: Update,
}

impl Rules {
    /// A counter with `values` values (at most 256) and its threshold at a share of them.
    pub fn new(values: u32, share: f64, update: Update) -> Rules {
        let most = (values.clamp(2, 256) - 1) as u8;
        let threshold = (f64::from(values) * share).round().clamp(1.0, f64::from(most)) as u8;
        Rules { most, threshold, update }
    }
}

/// A saturating counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Its value.
    pub value: u8,
    /// Its last prediction was "longer", and wrong.
    missed: bool,
}

impl Counter {
    /// A counter at a share of its values.
    pub fn at(share: f64, rules: &Rules) -> Counter {
        let value = (f64::from(rules.most) + 1.0) * share;
        Counter { value: value.round().clamp(0.0, f64::from(rules.most)) as u8, missed: false }
    }

    /// It predicts the longer period.
    #[inline]
    pub fn high(self, rules: &Rules) -> bool {
        self.value >= rules.threshold
    }

    /// Learns that a period was long.
    #[inline]
    pub fn up(&mut self, rules: &Rules) {
        self.value = self.value.saturating_add(1).min(rules.most);
        self.missed = false;
    }

    /// Learns that a period was not long.
    #[inline]
    pub fn down(&mut self, rules: &Rules) {
        let wrong = self.high(rules);
        let reset = match rules.update {
            Update::Simple => false,
            Update::TwoWrong => wrong && self.missed,
            Update::OneWrong => wrong,
        };
        self.value = if reset { 0 } else { self.value.saturating_sub(1) };
        self.missed = wrong && !reset;
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Counter::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: u8) -> Counter {
        Counter { value, missed: false }
    }

    #[test]
    fn eight_bits_saturate_at_both_ends() {
        let rules = Rules::new(256, 0.5, Update::Simple);
        assert_eq!((rules.most, rules.threshold), (255, 128));
        let mut c = Counter::default();
        c.down(&rules);
        assert_eq!(c.value, 0);
        (0..300).for_each(|_| c.up(&rules));
        assert_eq!(c.value, 255);
        c.down(&rules);
        assert_eq!(c.value, 254);
        (0..300).for_each(|_| c.down(&rules));
        assert_eq!(c.value, 0);
        // Half of the values: the most significant bit decides.
        for value in 0..=255u8 {
            assert_eq!(at(value).high(&rules), value >> 7 == 1);
        }
    }

    #[test]
    fn it_starts_at_a_share_of_its_values() {
        for (values, half) in [(4, 2), (16, 8), (256, 128)] {
            let rules = Rules::new(values, 0.5, Update::Simple);
            let starts = [0.0, 0.5, 1.0].map(|share| u32::from(Counter::at(share, &rules).value));
            assert_eq!(starts, [0, half, values - 1]);
            assert!(Counter::at(0.5, &rules).high(&rules));
        }
    }

    #[test]
    fn other_sizes_and_thresholds() {
        for (values, most) in [(4, 3), (16, 15), (64, 63), (256, 255)] {
            for (share, threshold) in [(0.25, values / 4), (0.5, values / 2), (0.75, values * 3 / 4)] {
                let rules = Rules::new(values, share, Update::Simple);
                assert_eq!((rules.most, u32::from(rules.threshold)), (most, threshold));
                let mut c = Counter::default();
                (0..1000).for_each(|_| c.up(&rules));
                assert_eq!(c.value, most);
            }
        }
    }

    #[test]
    fn policy_2_resets_after_two_wrong_predictions_in_a_row() {
        let rules = Rules::new(256, 0.5, Update::TwoWrong);
        let mut c = at(200);
        c.down(&rules);
        assert_eq!(c.value, 199);
        c.up(&rules);
        c.down(&rules);
        assert_eq!(c.value, 199);
        c.down(&rules);
        assert_eq!(c.value, 0);
        // Below the threshold nothing was predicted wrongly.
        let mut c = at(128);
        c.down(&rules);
        c.down(&rules);
        assert_eq!(c.value, 126);
    }

    #[test]
    fn policy_3_resets_after_one_wrong_prediction() {
        let rules = Rules::new(256, 0.5, Update::OneWrong);
        let mut c = at(127);
        c.down(&rules);
        assert_eq!(c.value, 126);
        c.up(&rules);
        c.up(&rules);
        c.up(&rules);
        assert_eq!(c.value, 129);
        c.down(&rules);
        assert_eq!(c.value, 0);
    }
}
