//! Blackout: a unit that is gated sleeps for the break-even time at least, whoever wants it.

use super::BlackoutKind;
use super::gates::ActiveWarps;
use super::window::{Rules, Windows};
use crate::lanes::{Cohort, Control, Idle, Pipe, PipeKind, Tracker};
use crate::ones::ones;
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;
use std::sync::Arc;
use warpwatt_machine::hooks::{Report, SmState, Watches};
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
    /// Coordinated: the types, in checkpoints none; all is then said anew.
    types: Vec<Type>,
    /// Those that are looked at now, as pipes and as kinds; and the cycle from which on one more is.
    looked_at: (u64, u32),
    look: u64,
    /// Kinds of which a warp was present when it was last said which of their units may not gate.
    present: u32,
}

/// The units of a type.
#[derive(Clone, Copy, Debug)]
struct Type {
    /// Its kind, as a bit.
    kind: u32,
    /// Their pipes, as bits.
    pipes: u64,
    /// Before this cycle none of their lanes that are awake can have been idle for the shortest window: which unit is held
    /// makes no difference, and is not said. 0: it has not been said yet.
    ripe: u64,
    /// Before this one nor can those that are asleep.
    look: u64,
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
        Blackout { figures, active, state, types: Vec::new(), looked_at: (0, 0), look: 0, present: 0 }
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
        self.look(tracker, next, present.kinds(), true);
    }

    /// The same, in those cycles and of those types where it makes a difference. `shown`: this will be asked at the end of
    /// the next cycle too; otherwise nothing happens until it is asked again.
    pub fn keep_coordinated(&mut self, tracker: &mut Tracker, next: u64, shown: bool, present: Present) {
        // What would be said of a type where it makes no difference can wait for the next time.
        let (pipes, kinds) = if shown { self.looked_at } else { (u64::MAX, u32::MAX) };
        let (due, present) = (self.look <= next, present.kinds());
        // Which of these it is cannot be foreseen.
        let news = tracker.touched() & pipes & !self.state.held | u64::from((present ^ self.present) & kinds);
        if due | (news != 0) {
            self.look(tracker, next, present, !shown);
        }
    }

    /// Looks at all types, or at those for which it may make a difference in cycle `next`.
    fn look(&mut self, tracker: &mut Tracker, next: u64, present: u32, all: bool) {
        if self.types.is_empty() {
            self.types = types(&tracker.pipes().collect::<Vec<_>>());
        }
        let least = self.figures.windows.least;
        let (mut looked_at, mut soonest) = ((0, 0), u64::MAX);
        let mut types = std::mem::take(&mut self.types);
        for t in &mut types {
            if all || t.look <= next {
                // That a unit is used which is held already only makes it the last one all the more.
                let news = tracker.touched() & t.pipes & !self.state.held;
                let changed = (present ^ self.present) & t.kind;
                // Nothing has been said yet, as after a checkpoint, which knows neither what is used nor who is present.
                let first = t.ripe == 0;
                if first || news | u64::from(changed) != 0 {
                    t.ripe = ripe(tracker, next, t.pipes, least);
                    if all || first || t.ripe <= next {
                        self.present ^= changed;
                        tracker.take_touched(t.pipes);
                        self.judge(tracker, next, t.pipes, present & t.kind != 0);
                    }
                }
                t.look = t.ripe.min(next + least);
            }
            let now = t.look <= next;
            looked_at.0 |= select_unpredictable(now, t.pipes, 0);
            looked_at.1 |= select_unpredictable(now, t.kind, 0);
            soonest = soonest.min(select_unpredictable(now, u64::MAX, t.look));
        }
        (self.types, self.looked_at, self.look) = (types, looked_at, soonest);
    }

    /// Says it for the units of a type.
    fn judge(&mut self, tracker: &mut Tracker, next: u64, pipes: u64, present: bool) {
        // The cycle after the one from which on the last unit is idle: 0 would be asleep.
        let (mut last, mut held) = (1, 0);
        for pipe in ones(pipes).filter(|_| present) {
            let idle = |c: &Cohort| select_unpredictable(c.asleep(next), 0, c.detects_at + 1);
            let idle = tracker.cohorts(pipe).iter().fold(0, |latest, c| latest.max(idle(c)));
            held = select_unpredictable(idle >= last, 1 << pipe, held);
            last = last.max(idle);
        }
        let changed = (held ^ self.state.held) & pipes;
        self.state.held ^= changed;
        ones(changed).for_each(|pipe| tracker.replan_pipe(pipe, self, next));
    }
}

/// [`Type::ripe`] of the units of a type, if the shortest window is of `least` cycles.
#[inline]
fn ripe(tracker: &Tracker, next: u64, pipes: u64, least: u64) -> u64 {
    let mut ripe = u64::MAX;
    for pipe in ones(pipes) {
        for c in tracker.cohorts(pipe) {
            ripe = ripe.min(select_unpredictable(c.asleep(next), u64::MAX, c.detects_at + least));
        }
    }
    ripe
}

/// The types of some pipes.
fn types(pipes: &[Pipe]) -> Vec<Type> {
    let of = |kind| {
        let pipes = pipes.iter().filter(|pipe| pipe.kind == kind).fold(0, |mask, pipe| mask | 1 << pipe.index);
        Type { kind: 1 << kind as u32, pipes, ripe: 0, look: 0 }
    };
    let kinds = [PipeKind::Int, PipeKind::Fp, PipeKind::Both, PipeKind::Sfu];
    kinds.into_iter().map(of).filter(|t| t.pipes != 0).collect()
}

impl Control for Blackout {
    #[inline]
    fn sleeps_at(&self, pipe: &Pipe, idle: Idle) -> u64 {
        select_unpredictable(self.holds(pipe), u64::MAX, idle.detects_at + self.window(pipe.kind))
    }

    #[inline]
    fn detects(&self, pipe: &Pipe, _: bool) -> u64 {
        self.window(pipe.kind)
    }

    #[inline]
    fn blackout(&self) -> u64 {
        self.figures.bet
    }

    #[inline]
    fn wake_up(&self) -> u64 {
        self.figures.wake_up
    }

    fn demanded(&mut self, pipe: &Pipe, blackout: bool) {
        if blackout {
            self.state.windows.critical(pipe.kind as usize);
        }
    }

    fn watches(&self) -> Watches {
        if self.figures.kind == BlackoutKind::Coordinated { Watches::All } else { Watches::None }
    }

    fn watch(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        let w = state.warps;
        let active = self.active.get() & !(w.finished | w.on_memory | w.at_barrier | w.on_atomic);
        let any = |warps: u64| warps & active != 0;
        let present = Present { int: any(state.int()), fp: any(state.fp()), sfu: any(state.buffered(Port::Sfu)) };
        self.keep_coordinated(tracker, state.now + 1, state.collecting(), present);
    }

    fn next_event(&self, _: u64) -> u64 {
        if self.figures.adaptive { self.state.windows.end() } else { u64::MAX }
    }

    fn act(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        if !self.figures.adaptive || state.now < self.state.windows.end() {
            return;
        }
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
        (self.types, self.look) = (Vec::new(), 0);
        Ok(())
    }
}
