//! Lanes with the same history, and what becomes of them if they are left alone.

use super::account::Account;
use super::control::{Control, Idle};
use serde::{Deserialize, Serialize};

/// What a pipe's lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PipeKind {
    /// INT pipelines of an SP.
    Int,
    /// FP pipelines of an SP.
    Fp,
    /// INT and FP pipelines of an SP, switched together.
    Both,
    /// An SFU.
    Sfu,
}

/// Lanes of one type in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipe {
    /// Index among the pipes.
    pub index: usize,
    /// Type.
    pub kind: PipeKind,
    /// The unit, as the machine numbers them.
    pub unit: usize,
}

/// No cycle at all.
const NEVER: u64 = u64::MAX;

/// Lanes of a pipe that have the same history. If they are left alone they are on from one cycle, detect idleness from a
/// second, and sleep from a third one on. What they did before the first of these has been counted, also where it is to
/// come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cohort {
    /// Which lanes.
    pub lanes: u32,
    /// How many: counting is slow where code for any processor is made, as here.
    pub(super) count: u8,
    /// The policy has rules of its own for them ([`super::Control::marks`]).
    pub marked: bool,
    /// First cycle after the last one in which they work, or worked.
    pub idle_from: u64,
    /// The cycle in which they began, or will begin, to wake up, if that is what they do before they are on.
    pub(super) wakes_at: u64,
    /// The first cycle in which they are on.
    pub awake_at: u64,
    /// The first cycle in which they are idle, and no instruction is known to want them.
    pub detects_at: u64,
    /// The first cycle in which they sleep; `u64::MAX`: they do not.
    pub sleeps_at: u64,
}

impl Cohort {
    /// So many lanes that are on since a cycle, and work until another one. When they sleep is not said yet.
    #[inline]
    pub(super) fn on((lanes, count): (u32, u64), marked: bool, since: u64, idle_from: u64) -> Cohort {
        let (awake_at, detects_at) = (since, idle_from);
        Cohort { lanes, count: count as u8, marked, idle_from, wakes_at: 0, awake_at, detects_at, sleeps_at: NEVER }
    }

    /// They sleep in the cycle before `now`, and no instruction has asked for them.
    #[inline]
    pub fn asleep(&self, now: u64) -> bool {
        self.sleeps_at < now
    }

    /// They will be awake, but are not before `now`.
    #[inline]
    pub(super) fn waking(&self, now: u64) -> bool {
        self.awake_at > now
    }

    /// Until when they are on, as far as is known while an instruction starts on some of them. Where instructions are
    /// announced they stay on for those behind it; otherwise one that has not come by then has gone to another unit.
    #[inline]
    pub(super) fn on_until(&self, announced: bool) -> u64 {
        if announced { self.detects_at } else { self.idle_from }
    }

    /// How many.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count.into()
    }

    /// How many of them are among `taken`, which some are.
    #[inline]
    pub(super) fn count_of(&self, taken: u32) -> u64 {
        if taken == self.lanes { self.count() } else { taken.count_ones().into() }
    }

    /// Some of them, not all, become a cohort of their own.
    #[inline]
    pub(super) fn split(&mut self, taken: u32) -> Cohort {
        let count = taken.count_ones() as u8;
        self.leave(taken, count.into());
        Cohort { lanes: taken, count, ..*self }
    }

    /// Some of them, not all, are no longer with them.
    #[inline]
    pub(super) fn leave(&mut self, taken: u32, count: u64) {
        self.lanes &= !taken;
        self.count -= count as u8;
    }

    /// The policy says when they sleep.
    #[inline]
    pub(super) fn left_alone(mut self, pipe: &Pipe, control: &(impl Control + ?Sized)) -> Cohort {
        let idle = Idle { from: self.idle_from, detects_at: self.detects_at, marked: self.marked };
        self.sleeps_at = control.sleeps_at(pipe, idle);
        self
    }

    /// The policy says it anew, if they do not sleep: at `now` at the earliest.
    pub(super) fn replan(&mut self, pipe: &Pipe, control: &(impl Control + ?Sized), now: u64) {
        if self.asleep(now) {
            return;
        }
        let detects_at = self.detects_at;
        // Who has detected idleness is looked at from there on.
        let from = if detects_at < now { detects_at } else { self.idle_from.max(self.awake_at) };
        self.sleeps_at = control.sleeps_at(pipe, Idle { from, detects_at, marked: self.marked }).max(now);
    }

    /// They sleep, and wake up from a cycle on, to be awake from another one on.
    pub(super) fn wake(&mut self, account: &mut Account, blackout: u64, wakes_at: u64, awake_at: u64) {
        account.sleep(self.count(), self, blackout, wakes_at, awake_at);
        (self.wakes_at, self.awake_at, self.detects_at) = (wakes_at, awake_at, awake_at);
    }

    /// They are awake, and wanted: from `now` on they are on again.
    #[inline]
    pub(super) fn stay(&mut self, account: &mut Account, now: u64) {
        if self.detects_at < now {
            account.detect(self.count(), now - self.detects_at);
            self.awake_at = now;
        }
    }

    /// So many of them work from `now` on, until a cycle; they may be asleep if waking up takes no time.
    #[inline]
    pub(super) fn works(&self, account: &mut Account, blackout: u64, now: u64, (lanes, until): (u64, u64)) {
        if self.asleep(now) {
            account.sleep(lanes, self, blackout, now, now);
        } else {
            // Whether there were any such cycles cannot be foreseen: no branches.
            account.detect(lanes, now.saturating_sub(self.detects_at));
        }
        if self.idle_from < now {
            account.idle.add(now - self.idle_from, lanes);
        }
        account.works(lanes, until.saturating_sub(self.idle_from.max(now)));
    }
}
