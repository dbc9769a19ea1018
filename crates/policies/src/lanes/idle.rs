//! Lengths of idle periods.

use serde::{Deserialize, Serialize};

/// Bins of a histogram: lengths 0 to `BINS` − 2 cycles, and all longer ones.
pub const BINS: usize = 257;

/// How many idle periods (of one lane each) had each length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdlePeriods {
    /// By length in cycles; the last one counts all that are longer.
    pub bins: Vec<u64>,
    /// Lane-cycles of all of them.
    pub cycles: u64,
}

impl Default for IdlePeriods {
    fn default() -> Self {
        IdlePeriods { bins: vec![0; BINS], cycles: 0 }
    }
}

impl IdlePeriods {
    /// Adds an idle period of some lanes.
    #[inline]
    pub fn add(&mut self, cycles: u64, lanes: u64) {
        self.bins[(cycles as usize).min(BINS - 1)] += lanes;
        self.cycles += cycles * lanes;
    }

    /// Adds the idle periods of other lanes.
    pub fn join(&mut self, other: &IdlePeriods) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
        self.cycles += other.cycles;
    }
}
