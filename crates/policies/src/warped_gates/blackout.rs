//! Blackout: a unit that is gated sleeps for the break-even time at least, whoever wants it.

use super::BlackoutKind;
use super::gates::ActiveWarps;
use super::window::{Rules, Windows};
use crate::lanes::{Cohort, Control, Pipe, PipeKind, Tracker, Wake};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use warpwatt_machine::activity::LaneState;
use warpwatt_machine::hooks::{Report, SmState};
use warpwatt_machine::kernel::Port;

/// Figures of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Each unit alone, or those of a type together.
    pub kind: BlackoutKind,
    /// Cycles for which a gated unit sleeps at least.
    pub bet: u64,
    /// Wake-up delay, cycles.
    pub wake_up: u64,
    /// How the idle-detect windows are adapted; `None`: they stay.
    pub adaptive: bool,
    /// Windows.
    pub windows: Rules,
}

/// Types of which a warp is in the active set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// INT.
    pub int: bool,
    /// FP.
    pub fp: bool,
    /// Special functions.
    pub sfu: bool,
}

impl Present {
    fn of(self, kind: PipeKind) -> bool {
        match kind {
            PipeKind::Int => self.int,
            PipeKind::Fp => self.fp,
            PipeKind::Both => self.int || self.fp,
            PipeKind::Sfu => self.sfu,
        }
    }
}

/// The rules on lanes.
#[derive(Debug)]
pub struct Blackout {
    figures: Figures,
    active: Arc<ActiveWarps>,
    state: State,
    /// For which version of the lanes, and which types, it has last been said which units may not gate.
    coordinated: Option<(u64, Present)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    windows: Windows,
    /// Units, as bits by pipe, that may not gate: the last of a type that is awake, while a warp wants the type.
    held: u64,
}

impl Blackout {
    /// The rules of an SM, with sight of its schedulers' active sets.
    pub fn new(figures: Figures, active: Arc<ActiveWarps>) -> Blackout {
        let state = State { windows: Windows::new(&figures.windows), held: 0 };
        Blackout { figures, active, state, coordinated: None }
    }

    /// The idle-detect window of a type, cycles.
    pub fn window(&self, kind: PipeKind) -> u64 {
        self.state.windows.cycles(kind as usize)
    }

    /// Wake-ups that were demanded in the first cycle in which they are allowed.
    pub fn critical(&self) -> u64 {
        self.state.windows.all_critical()
    }

    fn holds(&self, pipe: &Pipe) -> bool {
        self.state.held >> pipe.index & 1 != 0
    }

    /// Coordinated: at the end of a cycle, says which units may not gate from `next` (the cycle after it) on: of each type
    /// of which a warp is present the one that is awake and would be gated last if it were left alone.
    pub fn coordinate(&mut self, tracker: &mut Tracker, next: u64, present: Present) {
        let mut last = [None; 4];
        for pipe in 0..tracker.pipes().len() {
            tracker.turn(pipe, self, next);
            let kind = tracker.pipes()[pipe].kind;
            if present.of(kind) {
                let last = &mut last[kind as usize];
                *last = (*last).max(idle_at(tracker.cohorts(pipe)).map(|idle| (idle, pipe)));
            }
        }
        let held = last.iter().flatten().fold(0, |held, (_, pipe)| held | 1 << pipe);
        let changed = held ^ self.state.held;
        if changed == 0 {
            return;
        }
        let changed = (0..tracker.pipes().len()).filter(|pipe| changed >> pipe & 1 != 0);
        changed.clone().for_each(|pipe| tracker.settle(pipe, self, next));
        self.state.held = held;
        changed.for_each(|pipe| tracker.revise(pipe, self, next, u32::MAX, |_| {}));
    }
}

/// The cycle from which on a unit is idle; `None` if it is asleep, and nobody has asked for it.
fn idle_at(lanes: &[Cohort]) -> Option<u64> {
    lanes.iter().filter(|c| !c.sleeps_on()).map(Cohort::idle_at).max()
}

impl Control for Blackout {
    fn next(&self, pipe: &Pipe, lanes: &Cohort) -> Option<(u64, LaneState)> {
        match lanes.state {
            LaneState::On => Some((lanes.idle_from.max(lanes.since), LaneState::IdleDetect)),
            LaneState::IdleDetect if self.holds(pipe) => None,
            LaneState::IdleDetect => Some((lanes.since + self.window(pipe.kind), LaneState::Blackout)),
            LaneState::Blackout => Some((lanes.since + self.figures.bet, LaneState::Gated)),
            _ => None,
        }
    }

    fn detects(&self, pipe: &Pipe, _: &Cohort) -> u64 {
        self.window(pipe.kind)
    }

    fn wake(&self, _: &Pipe, lanes: &Cohort, now: u64) -> Wake {
        let from = match lanes.state {
            LaneState::Blackout => now.max(lanes.since + self.figures.bet),
            _ => now,
        };
        Wake { from, until: from + self.figures.wake_up }
    }

    fn demanded(&mut self, pipe: &Pipe, lanes: &Cohort, _: u64) {
        if lanes.state == LaneState::Blackout {
            self.state.windows.critical(pipe.kind as usize);
        }
    }

    fn watches(&self) -> bool {
        self.figures.kind == BlackoutKind::Coordinated
    }

    fn watch(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        let w = state.warps;
        let active = self.active.get() & !(w.finished | w.on_memory | w.at_barrier | w.on_atomic);
        let any = |warps: u64| warps & active != 0;
        let present = Present { int: any(state.int()), fp: any(state.fp()), sfu: any(state.buffered(Port::Sfu)) };
        let next = state.now + 1;
        // In most cycles nothing has changed that the answer depends on.
        if self.coordinated != Some((tracker.version(), present)) || tracker.turns_before(next) {
            self.coordinate(tracker, next, present);
            self.coordinated = Some((tracker.version(), present));
        }
    }

    fn next_event(&self, _: u64) -> u64 {
        if self.figures.adaptive { self.state.windows.end() } else { u64::MAX }
    }

    fn act(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        if !self.figures.adaptive || state.now < self.state.windows.end() {
            return;
        }
        // What was due before happened under the old windows.
        (0..tracker.pipes().len()).for_each(|pipe| tracker.settle(pipe, self, state.now));
        if self.state.windows.pass(&self.figures.windows, state.now) {
            tracker.replan(self, state.now);
        }
    }

    fn report(&self, report: &mut Report) {
        report.add("blackout.critical", self.critical());
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.state = postcard::from_bytes(state).map_err(|e| format!("warped-gates, lanes: {e}"))?;
        Ok(())
    }
}
