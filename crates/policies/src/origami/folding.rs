//! Phases, and which warps are folded in them (§3.1).

use super::shape::{halves, shift};
use super::{Folding, Most};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use warpwatt_machine::hooks::{Hook, IssueHook, IssueQuery, Report, Shape, SmState};
use warpwatt_machine::spec::Spec;

/// The folded part of a phase: core cycles from `from` up to, not including, `until`, of INT and of FP warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The phase's first cycle.
    pub from: u64,
    /// The end of folding, of INT and FP.
    pub until: [u64; 2],
}

/// The fold-enable signals of an SM, from the folding logic to its lanes (§3.3). An SM runs on one thread at a time.
#[derive(Debug, Default)]
pub struct Signals([AtomicU64; 3]);

impl Signals {
    /// What the lanes see.
    pub fn window(&self) -> Window {
        let [from, int, fp] = &self.0;
        Window { from: from.load(Relaxed), until: [int.load(Relaxed), fp.load(Relaxed)] }
    }

    fn set(&self, window: Window) {
        let [from, int, fp] = &self.0;
        from.store(window.from, Relaxed);
        int.store(window.until[0], Relaxed);
        fp.store(window.until[1], Relaxed);
    }
}

/// The folding logic of an SM.
#[derive(Debug)]
pub struct Folder {
    parameters: Folding,
    /// Most instructions that a phase can issue.
    most: u64,
    signals: Arc<Signals>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct State {
    window: Window,
    /// End of the phase.
    end: u64,
    /// Instructions issued before it began.
    issued: u64,
    /// Phases begun, and those in which some type is folded.
    phases: u64,
    folded_phases: u64,
    /// INT and FP warps issued to the SPs; while their type was folded; as two sub-warps.
    warps: [u64; 2],
    enabled: [u64; 2],
    folded: [u64; 2],
}

impl Folder {
    /// The folding logic of an SM.
    pub fn new(parameters: Folding, spec: &Spec, signals: Arc<Signals>) -> Folder {
        let phase = u64::from(parameters.phase);
        let most = match parameters.cutoff_of {
            Most::Issue => phase * u64::from(spec.schedulers),
            Most::Folded => phase * u64::from(spec.sp_units) / 2,
        };
        Folder { parameters, most, signals, state: State::default() }
    }

    /// A phase begins: INT and FP warps in the instruction buffers, instructions issued (SP, SFU, LDST) since the run
    /// began.
    pub fn begin(&mut self, now: u64, int: u32, fp: u32, issued: [u64; 3]) -> Window {
        let (p, s) = (&self.parameters, &mut self.state);
        let issued = match p.cutoff_of {
            Most::Issue => issued.iter().sum(),
            Most::Folded => issued[0],
        };
        let (aggressive, conservative) = (p.share(p.aggressive), p.share(p.conservative));
        let in_last = issued - s.issued;
        let busy = p.adaptive && s.phases > 0 && in_last * 100 >= self.most * u64::from(p.cutoff);
        let shares = match int.cmp(&fp) {
            _ if busy => [0, 0],
            std::cmp::Ordering::Less => [aggressive, conservative],
            std::cmp::Ordering::Equal => [conservative, conservative],
            std::cmp::Ordering::Greater => [conservative, aggressive],
        };
        s.window = Window { from: now, until: shares.map(|cycles| now + cycles) };
        (s.end, s.issued) = (now + u64::from(p.phase), issued);
        s.phases += 1;
        s.folded_phases += (shares != [0, 0]) as u64;
        self.signals.set(s.window);
        s.window
    }
}

impl Hook for Folder {
    fn next_event(&self, _: u64) -> u64 {
        self.state.end
    }

    fn act(&mut self, state: &SmState<'_>) {
        if state.now >= self.state.end {
            let (int, fp) = (state.int().count_ones(), state.fp().count_ones());
            self.begin(state.now, int, fp, state.issued);
        }
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.state = postcard::from_bytes(state).map_err(|e| format!("folding: {e}"))?;
        self.signals.set(self.state.window);
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        let s = &self.state;
        report.add("fold.phases", s.phases);
        report.add("fold.phases.folded", s.folded_phases);
        for (kind, name) in ["int", "fp"].iter().enumerate() {
            report.add(&format!("fold.warps.{name}"), s.warps[kind]);
            report.add(&format!("fold.enabled.{name}"), s.enabled[kind]);
            report.add(&format!("fold.folded.{name}"), s.folded[kind]);
        }
    }
}

impl IssueHook for Folder {
    #[inline]
    fn shape(&mut self, query: &IssueQuery) -> Shape {
        let (kind, s) = (query.fp as usize, &mut self.state);
        s.warps[kind] += 1;
        if query.now < s.window.until[kind] {
            s.enabled[kind] += 1;
            let (first, second) = halves(query.lanes);
            let both = first != 0 && second != 0;
            s.folded[kind] += both as u64;
            // A half without a thread is not issued (§3.3).
            return if both { Shape::Split(shift(first), shift(second)) } else { Shape::Permuted(shift(query.lanes)) };
        }
        if self.parameters.shift { Shape::Permuted(shift(query.lanes)) } else { Shape::Whole }
    }

    fn extra_stages(&self) -> u32 {
        self.parameters.stages
    }
}
