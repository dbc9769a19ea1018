//! Power gating of the lanes under folding: idle-detect, and eager gating of the upper half of each cluster (§3.3).

use super::folding::{Signals, Window};
use super::shape::UPPER;
use crate::cpg::Gate;
use crate::lanes::{Control, Idle, Pipe, PipeKind, Tracker};
use std::hint::select_unpredictable;
use std::sync::Arc;
use warpwatt_machine::hooks::SmState;

/// The rules: conventional power gating, without the idle-detect window for the upper half while its type is folded.
#[derive(Debug)]
pub struct FoldGate {
    gate: Gate,
    eager: bool,
    signals: Arc<Signals>,
    window: Window,
    /// The end of eager gating, by kind of pipe; 0: there is none.
    until: [u64; 4],
}

impl FoldGate {
    /// Rules that follow an SM's fold-enable signals.
    pub fn new(gate: Gate, eager: bool, signals: Arc<Signals>) -> FoldGate {
        FoldGate { gate, eager, signals, window: Window::default(), until: [0; 4] }
    }

    /// The folded part of the present phase has become known.
    pub fn enter(&mut self, tracker: &mut Tracker, now: u64, window: Window) {
        if !self.eager || window == self.window {
            return;
        }
        self.set(window);
        tracker.mark(self, now, UPPER);
    }

    fn set(&mut self, window: Window) {
        self.window = window;
        let [int, fp] = if self.eager { window.until } else { [0, 0] };
        for (kind, until) in
            [(PipeKind::Int, int), (PipeKind::Fp, fp), (PipeKind::Both, int.min(fp)), (PipeKind::Sfu, 0)]
        {
            self.until[kind as usize] = until;
        }
    }

    /// The first cycle, from `idle` on, in which lanes of the upper half are gated eagerly.
    #[inline]
    fn eagerly(&self, pipe: &Pipe, idle: u64) -> Option<u64> {
        let at = idle.max(self.window.from);
        (at < self.until[pipe.kind as usize]).then_some(at)
    }
}

impl Control for FoldGate {
    #[inline]
    fn sleeps_at(&self, pipe: &Pipe, idle: Idle) -> u64 {
        let usual = self.gate.sleeps_at(pipe, idle);
        if !idle.marked {
            return usual;
        }
        if self.eagerly(pipe, idle.from) == Some(idle.from) {
            return idle.detects_at;
        }
        // Lanes that fall idle before the window are first counted as such.
        self.eagerly(pipe, idle.detects_at).map_or(usual, |at| usual.min(at))
    }

    #[inline]
    fn detects(&self, pipe: &Pipe, marked: bool) -> u64 {
        select_unpredictable(marked, 0, self.gate.detects(pipe, marked))
    }

    /// Outside of the folded part of a phase both halves follow the same rules.
    #[inline]
    fn marks(&self, pipe: &Pipe, idle_from: u64) -> u32 {
        if self.eagerly(pipe, idle_from).is_some() { UPPER } else { 0 }
    }

    #[inline]
    fn wake_up(&self) -> u64 {
        self.gate.wake_up()
    }

    fn act(&mut self, tracker: &mut Tracker, state: &SmState<'_>) {
        self.enter(tracker, state.now, self.signals.window());
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.window).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.set(postcard::from_bytes(state).map_err(|e| format!("eager gating: {e}"))?);
        Ok(())
    }
}
