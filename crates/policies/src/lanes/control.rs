//! What a policy decides about lanes.

use super::cohort::Pipe;
use super::tracker::Tracker;
use warpwatt_machine::hooks::{Report, SmState, Watches};

/// Lanes that nothing keeps awake any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The first cycle in which they are awake and do not work.
    pub from: u64,
    /// From this one on no instruction is known to want them: they detect idleness.
    pub detects_at: u64,
    /// They are among [`Control::marks`].
    pub marked: bool,
}

/// The rules of a policy on lanes: they are on, detect idleness, sleep, are wanted and wake up.
pub trait Control: Send + std::fmt::Debug {
    /// The first cycle, `detects_at` or later, in which lanes sleep that are left alone; `u64::MAX`: they do not. The answer
    /// holds until the policy says otherwise ([`Tracker::replan`], [`Tracker::mark`]).
    fn sleeps_at(&self, pipe: &Pipe, idle: Idle) -> u64;

    /// Lanes detect idleness for so many cycles at least before they sleep, whatever keeps them awake longer.
    fn detects(&self, pipe: &Pipe, marked: bool) -> u64;

    /// Lanes that are kept apart, as `marked`, among those that work until `idle_from`: rules of their own hold for them.
    fn marks(&self, pipe: &Pipe, idle_from: u64) -> u32 {
        let _ = (pipe, idle_from);
        0
    }

    /// Cycles for which lanes sleep at least, whoever wants them (blackout).
    fn blackout(&self) -> u64 {
        0
    }

    /// Cycles that lanes take to wake up.
    fn wake_up(&self) -> u64;

    /// An instruction is the first to want lanes that are asleep; they will wake up for it. `blackout`: as soon as they may.
    fn demanded(&mut self, pipe: &Pipe, blackout: bool) {
        let _ = (pipe, blackout);
    }

    /// See [`LanesHook::watches`](warpwatt_machine::hooks::LanesHook::watches).
    fn watches(&self) -> Watches {
        Watches::None
    }

    /// See [`LanesHook::watch`](warpwatt_machine::hooks::LanesHook::watch). What lanes do next may be changed with
    /// [`Tracker::replan`].
    fn watch(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        let _ = (tracker, state);
    }

    /// See [`Hook::next_event`](warpwatt_machine::hooks::Hook::next_event).
    fn next_event(&self, now: u64) -> u64 {
        let _ = now;
        u64::MAX
    }

    /// See [`Hook::act`](warpwatt_machine::hooks::Hook::act).
    fn act(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        let _ = (tracker, state);
    }

    /// Adds what it has counted beside what the tracker counts.
    fn report(&self, report: &mut Report) {
        let _ = report;
    }

    /// Its own state, for a checkpoint.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes a saved state back.
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Ok(())
    }
}
