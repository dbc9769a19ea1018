//! Lane-cycles by state, and idle periods, of a pipe.
//!
//! Of a cohort everything before the cycle from which on it is on ([`Cohort::awake_at`]) has been counted. That it is on
//! from cycle a to b counts b − a: −a is counted when that is known, b when they detect idleness. When the counts are taken,
//! what is missing at that cycle, or too much, is made up for, and taken back in what is counted from then on.

use super::cohort::Cohort;
use super::idle::IdlePeriods;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};

const ON: usize = LaneState::On as usize;
const IDLE_DETECT: usize = LaneState::IdleDetect as usize;
const BLACKOUT: usize = LaneState::Blackout as usize;
const GATED: usize = LaneState::Gated as usize;
const WAKING: usize = LaneState::Waking as usize;

/// What is counted. Sums are modulo 2^64 while stays are open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    open: LaneResidency,
    /// Lengths of idle periods that have ended.
    pub idle: IdlePeriods,
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
        subtract(&mut self.open.cycles[ON], lanes, cycles);
        add(&mut self.open.cycles[IDLE_DETECT], lanes, cycles);
    }

    /// Lanes will work for so many cycles more than was known.
    #[inline]
    pub fn works(&mut self, lanes: u64, cycles: u64) {
        add(&mut self.open.busy, lanes, cycles);
    }

    /// So many lanes of a cohort have fallen asleep, wake up from a cycle on, and are on from another one. A blackout is the
    /// beginning of their sleep, one event with it.
    pub fn sleep(&mut self, lanes: u64, cohort: &Cohort, blackout: u64, wakes_at: u64, awake_at: u64) {
        let r = &mut self.open;
        let slept = wakes_at - cohort.sleeps_at;
        let blackout = blackout.min(slept);
        add(&mut r.cycles[ON], lanes, cohort.detects_at.wrapping_sub(awake_at));
        add(&mut r.cycles[IDLE_DETECT], lanes, cohort.sleeps_at - cohort.detects_at);
        add(&mut r.cycles[BLACKOUT], lanes, blackout);
        add(&mut r.cycles[GATED], lanes, slept - blackout);
        add(&mut r.cycles[WAKING], lanes, awake_at - wakes_at);
        add(&mut r.entries[GATED], lanes, 1);
        add(&mut r.wakes[GATED], lanes, 1);
    }

    /// Takes the counts. They are to be closed by all lanes' [`Account::cut`].
    pub fn take(&mut self) -> LaneResidency {
        std::mem::take(&mut self.open)
    }

    /// The counts are taken at `now`: what a cohort has done before is added (`closed`), and taken back in what is counted
    /// from then on.
    pub fn cut(&mut self, closed: &mut LaneResidency, c: &Cohort, blackout: u64, now: u64) {
        let lanes = c.count();
        let mut carry = |of: fn(&mut LaneResidency) -> &mut u64, cycles: u64| {
            add(of(closed), lanes, cycles);
            subtract(of(&mut self.open), lanes, cycles);
        };
        carry(|r| &mut r.busy, now.wrapping_sub(c.idle_from.max(now)));
        if c.awake_at > now {
            // Counted in advance: the rest of a blackout, and waking up.
            carry(|r| &mut r.cycles[ON], c.awake_at);
            carry(|r| &mut r.cycles[WAKING], c.wakes_at.max(now).wrapping_sub(c.awake_at));
            carry(|r| &mut r.cycles[BLACKOUT], now.wrapping_sub(c.wakes_at.max(now)));
            carry(|r| &mut r.wakes[GATED], 0u64.wrapping_sub((c.wakes_at > now).into()));
            return;
        }
        let (detects, sleeps) = (c.detects_at.min(now), c.sleeps_at.min(now));
        let blackout = blackout.min(now - sleeps);
        carry(|r| &mut r.cycles[ON], detects);
        carry(|r| &mut r.cycles[IDLE_DETECT], sleeps - detects);
        carry(|r| &mut r.cycles[BLACKOUT], blackout);
        carry(|r| &mut r.cycles[GATED], now - sleeps - blackout);
        carry(|r| &mut r.entries[GATED], c.asleep(now).into());
    }
}
