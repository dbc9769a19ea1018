//! The adaptive idle-detect window: longer where gated units are wanted back as soon as they may wake up.

use serde::{Deserialize, Serialize};

/// How the windows are adapted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The shortest window, cycles; where it starts.
    pub least: u64,
    /// The longest.
    pub most: u64,
    /// Cycles of an epoch.
    pub epoch: u64,
    /// More critical wake-ups than this in an epoch lengthen the window.
    pub critical: u64,
    /// So many epochs in a row without lengthening shorten it.
    pub quiet: u32,
}

/// The windows of INT, FP, INT and FP together, and SFU: each type its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Windows {
    of: [Window; 4],
    /// First cycle of the next epoch.
    end: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Window {
    cycles: u64,
    critical: u64,
    quiet: u32,
    all_critical: u64,
}

impl Windows {
    /// The shortest windows, at the beginning of an epoch.
    pub fn new(rules: &Rules) -> Windows {
        Windows { of: [Window { cycles: rules.least, ..Window::default() }; 4], end: rules.epoch }
    }

    /// The window of a type, cycles.
    pub fn cycles(&self, kind: usize) -> u64 {
        self.of[kind].cycles
    }

    /// A unit of a type was wanted in the first cycle in which it may wake up.
    pub fn critical(&mut self, kind: usize) {
        self.of[kind].critical += 1;
        self.of[kind].all_critical += 1;
    }

    /// Critical wake-ups of all types since the beginning.
    pub fn all_critical(&self) -> u64 {
        self.of.iter().map(|w| w.all_critical).sum()
    }

    /// First cycle of the next epoch.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Cycle `now` begins: epochs that have ended are judged, those in which nothing ran as quiet ones. True if a window
    /// has changed.
    pub fn pass(&mut self, rules: &Rules, now: u64) -> bool {
        let before = self.of.map(|w| w.cycles);
        while now >= self.end {
            self.of.iter_mut().for_each(|w| w.judge(rules));
            let settled = self.of.iter().all(|w| w.cycles == rules.least && w.critical == 0);
            // Nothing can change any more in epochs without a wake-up.
            let epochs = if settled { (now - self.end) / rules.epoch + 1 } else { 1 };
            self.end += epochs * rules.epoch;
        }
        before != self.of.map(|w| w.cycles)
    }
}

impl Window {
    fn judge(&mut self, rules: &Rules) {
        if self.critical > rules.critical {
            self.cycles = (self.cycles + 1).min(rules.most);
            self.quiet = 0;
        } else {
            self.quiet += 1;
            if self.quiet >= rules.quiet {
                self.cycles = self.cycles.saturating_sub(1).max(rules.least);
                self.quiet = 0;
            }
        }
        self.critical = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { least: 5, most: 10, epoch: 1000, critical: 5, quiet: 4 };

    /// Epochs with so many critical INT wake-ups each; the window after each.
    fn after(epochs: &[u64]) -> Vec<u64> {
        let mut windows = Windows::new(&RULES);
        let mut after = Vec::new();
        for (i, &critical) in epochs.iter().enumerate() {
            (0..critical).for_each(|_| windows.critical(0));
            windows.pass(&RULES, 1000 * i as u64 + 999);
            windows.pass(&RULES, 1000 * (i as u64 + 1));
            after.push(windows.cycles(0));
            assert_eq!(windows.cycles(1), 5, "FP has its own");
        }
        after
    }

    #[test]
    fn more_than_five_critical_wake_ups_lengthen_it_up_to_ten() {
        assert_eq!(after(&[5, 6, 100]), [5, 6, 7]);
        assert_eq!(after(&[6; 7]), [6, 7, 8, 9, 10, 10, 10]);
    }

    #[test]
    fn four_quiet_epochs_in_a_row_shorten_it_down_to_five() {
        assert_eq!(after(&[9, 9, 0, 0, 0, 0]), [6, 7, 7, 7, 7, 6]);
        // One that is not quiet begins the count anew; after shortening it begins anew too.
        assert_eq!(after(&[9, 0, 0, 0, 9, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0]), {
            [6, 6, 6, 6, 7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 5]
        });
    }

    #[test]
    fn many_epochs_at_once_are_what_they_are_one_by_one() {
        let busy = || {
            let mut windows = Windows::new(&RULES);
            for epoch in 1..=3 {
                (0..6).for_each(|_| windows.critical(1));
                windows.pass(&RULES, 1000 * epoch);
            }
            windows
        };
        let (mut once, mut each) = (busy(), busy());
        assert!(once.pass(&RULES, 1_000_500));
        for epoch in 4..=1000 {
            each.pass(&RULES, 1000 * epoch);
        }
        assert_eq!((once.cycles(1), once.end()), (5, 1_001_000));
        assert_eq!((each.cycles(1), each.end()), (5, 1_001_000));
    }
}
