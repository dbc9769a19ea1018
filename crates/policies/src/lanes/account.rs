//! Lane-cycles by state, and idle periods, of one kind of pipe.
//!
//! A stay in a state from cycle a to b counts b − a. So −a is counted when lanes enter it, b when they leave, and nothing
//! in between; for those that are in it when the counts are taken, the present cycle makes up for the missing end.

use super::idle::IdlePeriods;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};

/// What is counted. Sums are modulo 2^64 while stays are open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    open: LaneResidency,
    /// Lengths of idle periods that have ended.
    pub idle: IdlePeriods,
}

impl Account {
    /// Lanes change from one state to another at a cycle.
    #[inline]
    pub fn moves(&mut self, lanes: u64, at: u64, from: LaneState, to: LaneState) {
        let moment = lanes.wrapping_mul(at);
        let cycles = &mut self.open.cycles;
        cycles[from as usize] = cycles[from as usize].wrapping_add(moment);
        cycles[to as usize] = cycles[to as usize].wrapping_sub(moment);
    }

    /// Lanes that are on have detected idleness for so many cycles, and are on again.
    #[inline]
    pub fn detect(&mut self, lanes: u64, cycles: u64) {
        let spent = lanes * cycles;
        let of = &mut self.open.cycles;
        of[LaneState::On as usize] = of[LaneState::On as usize].wrapping_sub(spent);
        of[LaneState::IdleDetect as usize] = of[LaneState::IdleDetect as usize].wrapping_add(spent);
    }

    /// Lanes will work for so many cycles more than was known.
    #[inline]
    pub fn works(&mut self, lanes: u64, cycles: u64) {
        self.open.busy = self.open.busy.wrapping_add(lanes * cycles);
    }

    /// Lanes enter a sleep state.
    #[inline]
    pub fn falls_asleep(&mut self, state: LaneState, lanes: u64) {
        self.open.entries[state as usize] += lanes;
    }

    /// Lanes begin to leave a sleep state.
    #[inline]
    pub fn wakes(&mut self, state: LaneState, lanes: u64) {
        self.open.wakes[state as usize] += lanes;
    }

    /// Lanes are in a state, and will work until a cycle, when the counts are taken at `now`: closes their stay
    /// (`closed`), and opens it again in what is counted from then on.
    #[inline]
    pub fn cut(&mut self, closed: &mut LaneResidency, lanes: u64, now: u64, state: LaneState, works_until: u64) {
        let (moment, to_come) = (lanes.wrapping_mul(now), lanes * works_until.saturating_sub(now));
        let state = state as usize;
        closed.cycles[state] = closed.cycles[state].wrapping_add(moment);
        closed.busy = closed.busy.wrapping_sub(to_come);
        self.open.cycles[state] = self.open.cycles[state].wrapping_sub(moment);
        self.open.busy = self.open.busy.wrapping_add(to_come);
    }

    /// Takes the counts. They are to be closed by all lanes' [`Account::cut`].
    pub fn take(&mut self) -> LaneResidency {
        std::mem::take(&mut self.open)
    }
}
