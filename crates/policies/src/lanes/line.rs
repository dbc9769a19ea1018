//! The lanes of a pipe by their histories, and which of these something happens to.

use super::cohort::{Cohort, Pipe};
use super::control::Control;
use serde::{Deserialize, Serialize};

/// Most cohorts of a pipe, and one that is being split off.
pub(super) const MOST: usize = 33;

/// The lanes of a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    /// First those to which something happens by itself, or that are awake; then those that sleep until somebody asks for
    /// them.
    pub cohorts: Vec<Cohort>,
    /// How many the first ones are.
    pub stirring: usize,
    /// The lanes of the others.
    pub resting: u32,
    /// No lane falls asleep or wakes up before this cycle.
    pub turn: u64,
    /// Lanes that are awake, until then.
    pub awake: u32,
    /// The answer to a demand for these lanes, while it is the last thing that happened here. It holds until its cycle:
    /// lanes that are wanted do not fall asleep before.
    pub promise: Option<(u32, u64)>,
}

impl Line {
    /// One cohort of lanes that are awake.
    pub fn of(cohort: Cohort) -> Line {
        let mut line =
            Line { cohorts: Vec::new(), stirring: 1, resting: 0, turn: 0, awake: cohort.lanes, promise: None };
        line.reserve();
        line.cohorts.push(cohort);
        line
    }

    /// Makes room for all cohorts that there can be.
    pub fn reserve(&mut self) {
        self.cohorts.reserve(MOST);
    }

    /// Where those lanes of a stirring cohort are that are among `lanes`, some of which are. The others are no longer with
    /// them.
    #[inline]
    pub fn part(&mut self, at: usize, lanes: u32) -> usize {
        let c = &mut self.cohorts[at];
        let taken = c.lanes & lanes;
        if taken == c.lanes {
            return at;
        }
        let part = c.split(taken);
        self.add(part)
    }

    /// Adds a stirring cohort. Gives its place.
    #[inline]
    pub fn add(&mut self, cohort: Cohort) -> usize {
        let (at, last) = (self.stirring, self.cohorts.len());
        self.cohorts.push(cohort);
        if at != last {
            self.cohorts.swap(at, last);
        }
        self.stirring += 1;
        at
    }

    /// Removes a stirring cohort; the last one takes its place.
    #[inline]
    pub fn remove(&mut self, at: usize) {
        self.stirring -= 1;
        self.cohorts.swap(at, self.stirring);
        self.cohorts.swap_remove(self.stirring);
    }

    /// A stirring cohort has come to rest; the last one takes its place.
    #[inline]
    pub fn rest(&mut self, at: usize) {
        self.resting |= self.cohorts[at].lanes;
        self.stirring -= 1;
        self.cohorts.swap(at, self.stirring);
    }

    /// Resting lanes among these stir.
    #[inline]
    pub fn rouse(&mut self, lanes: u32) {
        if self.resting & lanes != 0 {
            self.rouse_them(lanes);
        }
    }

    fn rouse_them(&mut self, lanes: u32) {
        self.resting &= !lanes;
        for at in self.stirring..self.cohorts.len() {
            let c = &mut self.cohorts[at];
            let taken = c.lanes & lanes;
            if taken == c.lanes {
                self.cohorts.swap(at, self.stirring);
                self.stirring += 1;
            } else if taken != 0 {
                let part = c.split(taken);
                self.add(part);
            }
        }
    }

    /// A cohort has changed.
    #[inline]
    pub fn changed(&mut self, at: usize, pipe: &Pipe, control: &(impl Control + ?Sized)) {
        let c = &mut self.cohorts[at];
        c.look_ahead(pipe, control);
        self.awake = if c.awake() { self.awake | c.lanes } else { self.awake & !c.lanes };
        self.turn = self.turn.min(c.turn);
    }
}
