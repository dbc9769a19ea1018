//! What a policy decides about lanes.

use super::cohort::{Cohort, Pipe};
use super::tracker::Tracker;
use warpwatt_machine::activity::LaneState;
use warpwatt_machine::hooks::{Report, SmState};

/// When lanes that sleep wake up for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The cycle in which they begin to wake up: now, unless they are forced to sleep on.
    pub from: u64,
    /// The first cycle in which they are awake.
    pub until: u64,
}

/// The rules of a policy on lanes.
///
/// States are [`LaneState`]s; `On` and `IdleDetect` are awake, `Waking` is on the way there, all others are asleep.
pub trait Control: Send + std::fmt::Debug {
    /// The next change of some lanes that are left alone, and its cycle, not before `lanes.since`; `None`: they stay as
    /// they are. Asked when they have entered `lanes.state`, at `lanes.since`. For lanes that are `On` the change is due
    /// at `lanes.idle_from` or later; it must not lead in a circle within one cycle.
    fn next(&self, pipe: &Pipe, lanes: &Cohort) -> Option<(u64, LaneState)>;

    /// Lanes that are about to enter idle-detect do not leave it before so many cycles have passed.
    fn detects(&self, pipe: &Pipe, lanes: &Cohort) -> u64 {
        let _ = (pipe, lanes);
        0
    }

    /// Lanes that are kept apart, as `marked`, among those that work until `idle_from`: rules of their own hold for them.
    fn marks(&self, pipe: &Pipe, idle_from: u64) -> u32 {
        let _ = (pipe, idle_from);
        0
    }

    /// Lanes that are asleep are wanted at `now`. The same for all lanes of a pipe that sleep until somebody asks for them
    /// ([`Control::next`] has said `None`).
    fn wake(&self, pipe: &Pipe, lanes: &Cohort, now: u64) -> Wake;

    /// An instruction at `now` is the first to want lanes that are asleep; they will wake up for it.
    fn demanded(&mut self, pipe: &Pipe, lanes: &Cohort, now: u64) {
        let _ = (pipe, lanes, now);
    }

    /// See [`LanesHook::watches`](warpwatt_machine::hooks::LanesHook::watches).
    fn watches(&self) -> bool {
        false
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
