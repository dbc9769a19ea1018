//! Lane-cycles by state, and idle periods, of a pipe.
//!
//! Of a cohort everything before the cycle from which on it is on ([`Cohort::awake_at`]) has been counted. That it is on
//! from cycle a to b counts b − a: −a is counted when that is known, b when they detect idleness. When the counts are taken,
//! what is missing at that cycle, or too much, is made up for, and taken back in what is counted from then on.

use super::cohort::Cohort;
use super::idle::IdlePeriods;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};

/// What is counted. Sums are modulo 2^64 while stays are open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    open: Sums,
    /// Lengths of idle periods that have ended.
    pub idle: IdlePeriods,
}

/// Lane-cycles by state, and events of lanes: a line of the host's cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Sums {
    on: u64,
    idle_detect: u64,
    blackout: u64,
    gated: u64,
    waking: u64,
    falls_asleep: u64,
    wakes_up: u64,
    busy: u64,
}

impl From<Sums> for LaneResidency {
    fn from(sums: Sums) -> LaneResidency {
        let mut r = LaneResidency { busy: sums.busy, ..LaneResidency::default() };
        r.cycles[LaneState::On as usize] = sums.on;
        r.cycles[LaneState::IdleDetect as usize] = sums.idle_detect;
        r.cycles[LaneState::Blackout as usize] = sums.blackout;
        r.cycles[LaneState::Gated as usize] = sums.gated;
        r.cycles[LaneState::Waking as usize] = sums.waking;
        r.entries[LaneState::Gated as usize] = sums.falls_asleep;
        r.wakes[LaneState::Gated as usize] = sums.wakes_up;
        r
    }
}

/// Adds modulo 2^64.
#[inline]
fn add(sum: &mut u64, lanes: u64, cycles: u64) {
    *sum = sum.wrapping_add(lanes.wrapping_mul(cycles));
}

/// Subtracts modulo 2^64.
#[inline]
fn subtract(sum: &mut u64, lanes: u64, cycles: u64) {
    *sum = sum.wrapping_sub(lanes.wrapping_mul(cycles));
}

impl Account {
    /// Lanes that are on have detected idleness for so many cycles, and are on again.
    #[inline]
    pub fn detect(&mut self, lanes: u64, cycles: u64) {
        subtract(&mut self.open.on, lanes, cycles);
        add(&mut self.open.idle_detect, lanes, cycles);
    }

    /// Lanes will work for so many cycles more than was known.
    #[inline]
    pub fn works(&mut self, lanes: u64, cycles: u64) {
        add(&mut self.open.busy, lanes, cycles);
    }

    /// So many lanes of a cohort have fallen asleep, wake up from a cycle on, and are on from another one. A blackout is the
    /// beginning of their sleep, one event with it.
    pub fn sleep(&mut self, lanes: u64, cohort: &Cohort, blackout: u64, wakes_at: u64, awake_at: u64) {
        let sums = &mut self.open;
        let slept = wakes_at - cohort.sleeps_at;
        let blackout = blackout.min(slept);
        add(&mut sums.on, lanes, cohort.detects_at.wrapping_sub(awake_at));
        add(&mut sums.idle_detect, lanes, cohort.sleeps_at - cohort.detects_at);
        add(&mut sums.blackout, lanes, blackout);
        add(&mut sums.gated, lanes, slept - blackout);
        add(&mut sums.waking, lanes, awake_at - wakes_at);
        add(&mut sums.falls_asleep, lanes, 1);
        add(&mut sums.wakes_up, lanes, 1);
    }

    /// Takes the counts. They are to be closed by all lanes' [`Account::cut`].
    pub fn take(&mut self) -> Sums {
        std::mem::take(&mut self.open)
    }

    /// The counts are taken at `now`: what a cohort has done before is added (`closed`), and taken back in what is counted
    /// from then on.
    pub fn cut(&mut self, closed: &mut Sums, c: &Cohort, blackout: u64, now: u64) {
        let lanes = c.count();
        let mut carry = |of: fn(&mut Sums) -> &mut u64, cycles: u64| {
            add(of(closed), lanes, cycles);
            subtract(of(&mut self.open), lanes, cycles);
        };
        carry(|s| &mut s.busy, now.wrapping_sub(c.idle_from.max(now)));
        if c.awake_at > now {
            // Counted in advance: the rest of a blackout, and waking up.
            carry(|s| &mut s.on, c.awake_at);
            carry(|s| &mut s.waking, c.wakes_at.max(now).wrapping_sub(c.awake_at));
            carry(|s| &mut s.blackout, now.wrapping_sub(c.wakes_at.max(now)));
            carry(|s| &mut s.wakes_up, 0u64.wrapping_sub((c.wakes_at > now).into()));
            return;
        }
        let (detects, sleeps) = (c.detects_at.min(now), c.sleeps_at.min(now));
        let blackout = blackout.min(now - sleeps);
        carry(|s| &mut s.on, detects);
        carry(|s| &mut s.idle_detect, sleeps - detects);
        carry(|s| &mut s.blackout, blackout);
        carry(|s| &mut s.gated, now - sleeps - blackout);
        carry(|s| &mut s.falls_asleep, c.asleep(now).into());
    }
}
