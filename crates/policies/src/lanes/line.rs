//! The lanes of a pipe by their histories.

use super::cohort::{Cohort, NEVER};
use serde::{Deserialize, Serialize};

/// Most cohorts of a pipe, and one that is being split off.
pub(super) const MOST: usize = 33;

/// The lanes of a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    /// Lanes with the same history.
    pub cohorts: Vec<Cohort>,
    /// Lanes that are awake, up to `turn`.
    pub awake: u32,
    /// The last cycle in which these lanes can take an instruction, and the others cannot.
    pub turn: u64,
    /// The answer to a demand for these lanes, while it is the last thing that happened here. It holds until its cycle:
    /// lanes that are wanted do not fall asleep before.
    pub promise: Option<(u32, u64)>,
}

impl Line {
    /// One cohort of lanes that are awake.
    pub fn of(cohort: Cohort) -> Line {
        let mut line = Line { cohorts: Vec::new(), turn: 0, awake: cohort.lanes, promise: None };
        line.reserve();
        line.cohorts.push(cohort);
        line
    }

    /// Makes room for all cohorts that there can be.
    pub fn reserve(&mut self) {
        self.cohorts.reserve(MOST);
    }

    /// Where those lanes of a cohort are that are among `lanes`, some of which are. The others are no longer with them.
    #[inline]
    pub fn part(&mut self, at: usize, lanes: u32) -> usize {
        let c = &mut self.cohorts[at];
        let taken = c.lanes & lanes;
        if taken == c.lanes {
            return at;
        }
        let part = c.split(taken);
        self.cohorts.push(part);
        self.cohorts.len() - 1
    }

    /// Finds which lanes are awake in cycle `now`, and for how long that holds.
    pub fn look(&mut self, now: u64) {
        (self.awake, self.turn) = (0, NEVER);
        for c in &self.cohorts {
            self.awake |= if c.awake(now) { c.lanes } else { 0 };
            self.turn = self.turn.min(c.turn(now));
        }
    }
}
