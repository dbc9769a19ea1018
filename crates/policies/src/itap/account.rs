//! Lane-cycles by mode, and transitions, of a pipe under ITAP's state machine.
//!
//! That lanes are in a mode from cycle a to b counts b − a: −a is counted when they enter it, b as soon as it is known.
//! When the counts are taken, what is missing at that cycle, or too much, is made up for, and taken back in what is counted
//! from then on. Sums are modulo 2^64 meanwhile.

use super::modes::Mode;
use crate::lanes::IdlePeriods;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};

/// How many lanes.
#[inline]
pub fn number(lanes: u32) -> u64 {
    lanes.count_ones().into()
}

/// What is counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Lane-cycles in each mode.
    cycles: [u64; 3],
    /// Lane-cycles of waking up, where they are apart.
    waking: u64,
    /// Lane-cycles of work.
    busy: u64,
    /// Lanes that have entered each mode, and that have paid for leaving it.
    entries: [u64; 3],
    wakes: [u64; 3],
    /// Lengths of idle periods that have ended.
    pub idle: IdlePeriods,
    /// Cycles before this one have been taken.
    taken: u64,
}

impl Account {
    /// So many lanes are in a mode from a cycle on.
    #[inline]
    pub fn enter(&mut self, mode: Mode, lanes: u64, now: u64) {
        self.entries[mode as usize] += lanes;
        self.stays(mode, lanes, now.wrapping_neg());
    }

    /// So many lanes are in a mode for some cycles, or until a cycle, if they have entered it.
    #[inline]
    pub fn stays(&mut self, mode: Mode, lanes: u64, cycles: u64) {
        let sum = &mut self.cycles[mode as usize];
        *sum = sum.wrapping_add(lanes.wrapping_mul(cycles));
    }

    /// So many lanes wake up for some cycles that are counted apart.
    #[inline]
    pub fn wakes_up(&mut self, lanes: u64, cycles: u64) {
        self.waking = self.waking.wrapping_add(lanes.wrapping_mul(cycles));
    }

    /// So many lanes work for some cycles.
    #[inline]
    pub fn works(&mut self, lanes: u64, cycles: u64) {
        self.busy = self.busy.wrapping_add(lanes.wrapping_mul(cycles));
    }

    /// So many lanes pay for leaving a mode.
    #[inline]
    pub fn pay(&mut self, mode: Mode, lanes: u64) {
        self.wakes[mode as usize] += lanes;
    }

    /// Takes what has been counted up to `now`, of so many lanes. `open`: what is counted of cycles from then on, to be taken
    /// back, or is missing of those before, to be added.
    pub fn take(&mut self, now: u64, lanes: u64, open: impl Fn(&mut Account, u64)) -> LaneResidency {
        let cycles = now - self.taken;
        open(self, 1);
        let fresh = Account { taken: now, idle: std::mem::take(&mut self.idle), ..Account::default() };
        let closed = std::mem::replace(self, fresh);
        open(self, 1u64.wrapping_neg());
        let mut taken = LaneResidency { busy: closed.busy, ..LaneResidency::default() };
        for mode in Mode::ALL {
            let state = mode.state() as usize;
            taken.cycles[state] = closed.cycles[mode as usize];
            taken.entries[state] = closed.entries[mode as usize];
            taken.wakes[state] = closed.wakes[mode as usize];
        }
        taken.cycles[LaneState::Waking as usize] = closed.waking;
        taken.cycles[LaneState::On as usize] = lanes * cycles - taken.cycles.iter().sum::<u64>();
        taken
    }
}
