//! The number of CTAs of an SM: it changes by one once the decision has been for it in several epochs in a row (§IV-B).

use serde::{Deserialize, Serialize};

/// One SM's number of CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    /// The most that may run.
    pub limit: u32,
    /// Epochs in a row that asked for one more (positive) or one less (negative).
    asked: i32,
}

impl Blocks {
    /// With a limit to begin with.
    pub fn new(limit: u32) -> Blocks {
        Blocks { limit: limit.max(1), asked: 0 }
    }

    /// An epoch's decision: one more, one less or as many, of at most `most`. The limit changes after `patience` epochs in
    /// a row that ask for the same change. Returns whether it has.
    pub fn epoch(&mut self, wanted: i32, most: u32, patience: u32) -> bool {
        let wanted = match wanted.signum() {
            1 if self.limit < most => 1,
            -1 if self.limit > 1 => -1,
            _ => 0,
        };
        if wanted == 0 || wanted != self.asked.signum() {
            self.asked = 0;
        }
        self.asked += wanted;
        if wanted == 0 || self.asked.unsigned_abs() < patience {
            return false;
        }
        self.asked = 0;
        self.limit = self.limit.saturating_add_signed(wanted).clamp(1, most.max(1));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wanted: &[i32], from: u32, most: u32) -> Vec<u32> {
        let mut blocks = Blocks::new(from);
        let step = |&wanted: &i32| {
            blocks.epoch(wanted, most, 3);
            blocks.limit
        };
        wanted.iter().map(step).collect()
    }

    #[test]
    fn three_epochs_in_a_row() {
        assert_eq!(run(&[-1, -1, -1, -1, -1, -1], 6, 8), [6, 6, 5, 5, 5, 4]);
        assert_eq!(run(&[1, 1, 1], 6, 8), [6, 6, 7]);
        // Another decision in between begins anew.
        assert_eq!(run(&[-1, -1, 0, -1, -1, -1], 6, 8), [6, 6, 6, 6, 6, 5]);
        assert_eq!(run(&[-1, -1, 1, 1, -1, 1, 1, 1], 6, 8), [6, 6, 6, 6, 6, 6, 6, 7]);
    }

    #[test]
    fn never_below_one_nor_above_what_fits() {
        assert_eq!(run(&[-1; 9], 2, 8).last(), Some(&1));
        assert_eq!(run(&[1; 9], 2, 3).last(), Some(&3));
        // At the end of the range the decision is no other than the present number.
        assert_eq!(run(&[1, 1, 1, 1, -1, -1, -1], 3, 3), [3, 3, 3, 3, 3, 3, 2]);
    }
}
