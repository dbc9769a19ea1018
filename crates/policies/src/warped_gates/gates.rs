//! GATES, the gating-aware two-level scheduler: warps of one type first, so that the other type's units idle for longer.

use super::Switch;
use crate::ones::first_of;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use warpwatt_machine::hooks::{Hook, OrderHook, OrderQuery, Report};
use warpwatt_machine::sm::order::{ActiveSet, rotate};

/// The active sets of an SM's schedulers, as its lanes see them. The objects of an SM are never used at the same time:
/// nothing has to be ordered.
#[derive(Debug)]
pub struct ActiveWarps(AtomicU64);

impl ActiveWarps {
    /// Every warp: what holds without GATES.
    pub fn all() -> ActiveWarps {
        ActiveWarps(AtomicU64::new(u64::MAX))
    }

    /// No warp yet.
    pub fn none() -> ActiveWarps {
        ActiveWarps(AtomicU64::new(0))
    }

    /// The warps in the active sets.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// The active set of the scheduler that has the warps of `pool`.
    pub fn set(&self, pool: u64, active: u64) {
        self.0.store(self.0.load(Relaxed) & !pool | active, Relaxed);
    }
}

/// The order of an SM.
#[derive(Debug)]
pub struct Gates {
    switch: Switch,
    state: State,
    shared: Arc<ActiveWarps>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    schedulers: Vec<Scheduler>,
    switches: u64,
    shared: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Scheduler {
    active: ActiveSet,
    last: u8,
    /// FP is the type that has priority.
    fp: bool,
}

impl Gates {
    /// So many schedulers with so many warps in the active set of each; INT has priority first.
    pub fn new(schedulers: u32, active: u32, switch: Switch, shared: Arc<ActiveWarps>) -> Gates {
        let scheduler = Scheduler { active: ActiveSet::new(active), last: 0, fp: false };
        let state = State { schedulers: vec![scheduler; schedulers as usize], switches: 0, shared: 0 };
        Gates { switch, state, shared }
    }

    /// FP has priority at a scheduler.
    pub fn fp_first(&self, scheduler: usize) -> bool {
        self.state.schedulers.get(scheduler).is_some_and(|s| s.fp)
    }
}

impl Hook for Gates {
    fn save(&self) -> Vec<u8> {
        let state = State { shared: self.shared.get(), ..self.state.clone() };
        postcard::to_allocvec(&state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let state: State = postcard::from_bytes(state).map_err(|e| format!("warped-gates, order: {e}"))?;
        if state.schedulers.len() != self.state.schedulers.len() {
            return Err("warped-gates: saved with another number of schedulers".to_owned());
        }
        self.shared.set(u64::MAX, state.shared);
        self.state = state;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("gates.switches", self.state.switches);
    }
}

impl OrderHook for Gates {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        let s = self.state.schedulers.get_mut(query.scheduler)?;
        s.active.refill(query.pool, query.warps, s.last);
        let active = s.active.warps();
        self.shared.set(query.pool, active);
        let looked_at = match self.switch {
            Switch::Ready => active & query.ready,
            Switch::Present => active,
        };
        let of = |fp: bool| if fp { query.fp } else { query.int };
        if looked_at & of(s.fp) == 0 && looked_at & of(!s.fp) != 0 {
            s.fp = !s.fp;
            self.state.switches += 1;
        }
        let can = query.available & active;
        let between = !(query.int | query.fp);
        let choice = rotate(first_of([of(s.fp), between, of(!s.fp)].map(|warps| can & warps)), s.last)?;
        s.last = choice as u8;
        Some(choice)
    }
}
