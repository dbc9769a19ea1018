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
    /// Kinds of pipes that such a warp may want, a bit each.
    fn kinds(self) -> u32 {
        let bit = |kind: PipeKind, present: bool| (present as u32) << kind as u32;
        bit(PipeKind::Int, self.int)
            | bit(PipeKind::Fp, self.fp)
            | bit(PipeKind::Both, self.int || self.fp)
            | bit(PipeKind::Sfu, self.sfu)
    }
}

/// The rules on lanes.
#[derive(Debug)]
pub struct Blackout {
    figures: Figures,
    active: Arc<ActiveWarps>,
    state: State,
    /// For which types it has last been said which units may not gate; `None`: not yet.
    coordinated: Option<Present>,
    /// By pipe, what it is, and from which cycle on it is idle ([`idle_at`]).
    idle: Vec<(PipeKind, u64)>,
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
        Blackout { figures, active, state, coordinated: None, idle: Vec::new() }
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
        if tracker.turns_before(next) {
            (0..tracker.pipes().len()).for_each(|pipe| tracker.turn(pipe, self, next));
        }
        let mut touched = tracker.take_touched();
        if self.coordinated.is_none() {
            touched = (1 << tracker.pipes().len()) - 1;
            self.idle = tracker.pipes().iter().map(|pipe| (pipe.kind, 0)).collect();
        }
        self.coordinated = Some(present);
        while touched != 0 {
            let pipe = touched.trailing_zeros() as usize;
            self.idle[pipe].1 = idle_at(tracker.cohorts(pipe));
            touched &= touched - 1;
        }
        let present = present.kinds();
        // Of each kind the last one, and from when on it is idle. Without branches: they would be hard to foresee.
        let (mut last, mut held_of) = ([1; 4], [0u64; 4]);
        for (pipe, &(kind, idle)) in self.idle.iter().enumerate() {
            let kind = kind as usize;
            let later = (present >> kind & 1 != 0) & (idle >= last[kind]);
            last[kind] = if later { idle } else { last[kind] };
            held_of[kind] = if later { 1 << pipe } else { held_of[kind] };
        }
        let held = held_of.iter().fold(0, |held, of| held | of);
        // Lanes that have not been looked at since they fell idle are not concerned: none of them would have been gated so far.
        let detects = |pipe: usize| tracker.cohorts(pipe).iter().any(|c| c.state == LaneState::IdleDetect);
        let (mut changed, mut concerned) = (held ^ self.state.held, 0u64);
        while changed != 0 {
            let pipe = changed.trailing_zeros() as usize;
            concerned |= u64::from(detects(pipe)) << pipe;
            changed &= changed - 1;
        }
        if concerned == 0 {
            self.state.held = held;
            return;
        }
        let concerned = (0..tracker.pipes().len()).filter(|pipe| concerned >> pipe & 1 != 0);
        concerned.clone().for_each(|pipe| tracker.settle(pipe, self, next));
        self.state.held = held;
        concerned.for_each(|pipe| tracker.revise(pipe, self, next, u32::MAX, |_| {}));
        // Other plans are no news.
        tracker.take_touched();
    }
}

/// The cycle after the one from which on a unit is idle; 0 if it is asleep, and nobody has asked for it.
#[inline]
fn idle_at(lanes: &[Cohort]) -> u64 {
    lanes.iter().fold(0, |idle, c| idle.max(if c.sleeps_on() { 0 } else { c.idle_at() + 1 }))
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
        // In most cycles nothing has changed that the answer depends on: that a unit is used which is held already only
        // makes it the last one all the more.
        let news = tracker.touched() & !self.state.held;
        if news != 0 || self.coordinated != Some(present) || tracker.turns_before(next) {
            self.coordinate(tracker, next, present);
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
        self.coordinated = None;
        Ok(())
    }
}
