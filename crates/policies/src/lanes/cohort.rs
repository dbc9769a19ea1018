//! Lanes with the same history: their state, and what becomes of them if they are left alone.

use super::account::Account;
use super::control::Control;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::LaneState;

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
pub(super) const NEVER: u64 = u64::MAX;

/// Lanes of a pipe that have the same history. As large as a line of the host's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cohort {
    /// Which lanes.
    pub lanes: u32,
    /// How many: counting is slow where code for any processor is made, as here.
    count: u8,
    /// The policy has rules of its own for them ([`Control::marks`]).
    pub marked: bool,
    /// Power state.
    pub state: LaneState,
    /// The state after the next change, if they are left alone.
    pub(super) next: LaneState,
    /// When that is, or [`NEVER`].
    pub(super) next_at: u64,
    /// They are waking up, or will as soon as they may: the cycle from which they are awake; 0: they are not.
    pub(super) wanted: u64,
    /// An instruction wants them, and can start in this cycle: once awake they stay so until then.
    pub(super) held: u64,
    /// First cycle in this state.
    pub since: u64,
    /// First cycle after the last one in which they work, or worked.
    pub idle_from: u64,
    /// Until this cycle, it included, they remain awake, or not awake, whatever changes before. Changes that leave this as
    /// it is, as from on to idle-detect, are made only when somebody needs to know.
    pub(super) turn: u64,
    /// Before this cycle they do not fall asleep, whether or not a rule keeps them awake; 0 if they sleep, and nobody has asked
    /// for them. Not by what is planned, which is known only of lanes that have been looked at: a rule may let them go.
    pub(super) calm: u64,
}

#[inline]
fn gated(state: LaneState) -> bool {
    matches!(state, LaneState::Gated | LaneState::Blackout)
}

/// The state that falling asleep and waking up are counted under: a blackout is the beginning of being gated.
#[inline]
fn kind_of_sleep(state: LaneState) -> LaneState {
    if gated(state) { LaneState::Gated } else { state }
}

impl Cohort {
    /// So many lanes that are on since a cycle, and work until another one. Nothing is planned for them.
    #[inline]
    pub(super) fn on((lanes, count): (u32, u64), marked: bool, since: u64, idle_from: u64) -> Cohort {
        Cohort {
            lanes,
            count: count as u8,
            marked,
            state: LaneState::On,
            next: LaneState::On,
            next_at: NEVER,
            wanted: 0,
            held: 0,
            since,
            idle_from,
            turn: NEVER,
            calm: 0,
        }
    }

    /// They can take an instruction without waking up.
    #[inline]
    pub fn awake(&self) -> bool {
        matches!(self.state, LaneState::On | LaneState::IdleDetect)
    }

    /// They are in a sleep state.
    #[inline]
    pub fn asleep(&self) -> bool {
        !self.awake() && self.state != LaneState::Waking
    }

    /// They sleep, and no instruction has asked for them.
    #[inline]
    pub fn sleeps_on(&self) -> bool {
        self.asleep() && self.wanted == 0
    }

    /// They sleep until somebody asks for them.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.next_at == NEVER && self.sleeps_on()
    }

    /// How many.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count.into()
    }

    /// How many of them are among `lanes`, which some are.
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

    /// The cycle from which on they are awake, idle, and no instruction is known to want them, if they are left alone (and
    /// somebody has asked for them, if they are asleep).
    pub fn idle_at(&self) -> u64 {
        self.since.max(self.idle_from).max(self.held).max(self.wanted)
    }

    /// The cycle from which an instruction can start on them, if it asks at `now`.
    #[inline]
    pub(super) fn ready(&self, pipe: &Pipe, control: &(impl Control + ?Sized), now: u64) -> u64 {
        match self.wanted {
            _ if self.awake() => now,
            0 => control.wake(pipe, self, now).until.max(now),
            ready => ready.max(now),
        }
    }

    /// They are held until a cycle, and do what the policy says.
    #[inline]
    pub(super) fn planned(mut self, held: u64, pipe: &Pipe, control: &(impl Control + ?Sized)) -> Cohort {
        self.held = held;
        self.plan(pipe, control, held);
        self.look_ahead(pipe, control);
        self
    }

    /// What the policy says comes next, not before `earliest`.
    #[inline]
    pub(super) fn plan(&mut self, pipe: &Pipe, control: &(impl Control + ?Sized), earliest: u64) {
        (self.next_at, self.next) = match control.next(pipe, self) {
            Some((at, state)) => (at.max(earliest), state),
            None => (NEVER, self.state),
        };
    }

    /// Finds the cycle up to which they are as awake as they are, or one before it, and how long they stay awake.
    #[inline]
    pub(super) fn look_ahead(&mut self, pipe: &Pipe, control: &(impl Control + ?Sized)) {
        let detects = control.detects(pipe, self);
        let longer = if self.next == LaneState::IdleDetect { detects } else { 0 };
        self.turn = self.next_at.saturating_add(longer);
        self.calm = if self.sleeps_on() { 0 } else { self.idle_at() + detects };
    }

    /// Makes the changes that are due before `now`, if there are any.
    #[inline]
    pub(super) fn bring_up(&mut self, account: &mut Account, pipe: &Pipe, control: &(impl Control + ?Sized), now: u64) {
        if self.next_at < now {
            self.catch_up(account, pipe, control, now);
            self.look_ahead(pipe, control);
        }
    }

    /// Makes the next change.
    #[inline]
    fn change(&mut self, pipe: &Pipe, control: &(impl Control + ?Sized)) {
        (self.state, self.since) = (self.next, self.next_at);
        if self.state == LaneState::Waking && self.wanted != 0 {
            (self.next_at, self.next) = (self.wanted, LaneState::On);
        } else {
            self.wanted = 0;
            self.plan(pipe, control, self.held);
        }
    }

    /// Makes the next change, and accounts for it.
    #[inline]
    pub(super) fn enter(&mut self, account: &mut Account, pipe: &Pipe, control: &(impl Control + ?Sized)) {
        let (from, at) = (self.state, self.next_at);
        // A blackout is the beginning of being gated, one event with it.
        let falls_asleep = match self.next {
            LaneState::Gated | LaneState::Blackout => (!gated(from)).then_some(LaneState::Gated),
            LaneState::Vs05 | LaneState::Vs03 => (from != self.next).then_some(self.next),
            LaneState::On | LaneState::IdleDetect | LaneState::Waking => None,
        };
        let lanes = self.count();
        if let Some(entered) = falls_asleep {
            account.falls_asleep(entered, lanes);
        }
        if self.asleep() && self.next == LaneState::Waking {
            account.wakes(kind_of_sleep(from), lanes);
        }
        account.moves(lanes, at, from, self.next);
        self.change(pipe, control);
    }

    /// Makes the changes that are due before `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, account: &mut Account, pipe: &Pipe, control: &(impl Control + ?Sized), now: u64) {
        while self.next_at < now {
            self.enter(account, pipe, control);
        }
    }

    /// An instruction starts on so many of them, which then work until a cycle.
    #[inline]
    pub(super) fn works(
        &mut self,
        account: &mut Account,
        pipe: &Pipe,
        control: &(impl Control + ?Sized),
        now: u64,
        (lanes, until): (u64, u64),
    ) {
        if self.state == LaneState::On && self.next == LaneState::IdleDetect && now <= self.turn {
            // Most often they have been on since they last worked, and have at most detected idleness.
            account.detect(lanes, now.saturating_sub(self.next_at));
        } else {
            self.catch_up(account, pipe, control, now);
            if self.state != LaneState::On {
                account.moves(lanes, now, self.state, LaneState::On);
                if self.asleep() {
                    account.wakes(kind_of_sleep(self.state), lanes);
                }
            }
        }
        if self.idle_from < now {
            account.idle.add(now - self.idle_from, lanes);
        }
        account.works(lanes, until.saturating_sub(self.idle_from.max(now)));
    }
}
