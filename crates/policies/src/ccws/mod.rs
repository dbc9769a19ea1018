//! CCWS: warps that lose cache lines to others keep the others from loading.
//!
//! T. G. Rogers, M. O'Connor, T. M. Aamodt, *Cache-Conscious Wavefront Scheduling*, MICRO 2012, as Equalizer (§V-B, Fig. 10)
//! compares with it. A re-implementation from the description: a line that leaves the L1 becomes a victim tag of the warp
//! that brought it. A warp that misses on one of its own victim tags has lost locality: its score becomes lost hits ×
//! `throttle` × cut-off / instructions issued, and decays by one a cycle to the base. Warps are stacked by score, highest
//! first; those past the cut-off, the sum of as many base scores as there are warps, may not load ([`score`]).
//!
//! *Decisions*: victim tags are fully associative and the least recent makes room. A hit never lowers a score
//! (`on_hit=add` adds to it instead of setting it). Who may load is settled every `settle` cycles, when a scheduler with
//! a ready warp asks; the warp at the top of the stack always may. Among warps that may issue the order is greedy, then
//! oldest, as in the paper. Stores and atomics are not held. A line that a store evicts has left the L1 as well. Each launch
//! begins with an empty L1, and so with no victim tags, scores or counts.

pub mod score;

use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::system::{About, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use score::{Detector, Rules};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpwatt_machine::hooks::{Event, Hook, ObserverHook, OrderHook, OrderQuery, Policy, Report, SmHooks};
use warpwatt_machine::sm::order::oldest;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Slot;
use warpwatt_power::PolicyPower;

policy_choices! {
    /// What a lost hit does to a score.
    OnHit {
        /// Sets it, if that makes it higher.
        Set = "set",
        /// Adds to it.
        Add = "add",
    }
}

policy_parameters! {
    /// Parameters of CCWS.
    Parameters {
        /// Victim tags of each warp.
        tags: u32 = 16, number("tags", 1.0, 1024.0).from("CCWS, as recalled");
        /// K_throttle, the gain of a lost hit.
        throttle: u32 = 8, number("", 0.0, 100_000.0).from("CCWS, as recalled");
        /// Base score.
        base: u32 = 100, number("", 1.0, 1e6).from("CCWS, as recalled");
        /// What a lost hit does to a score: `set` or `add`.
        on_hit: OnHit = OnHit::Set, plain().from("decision");
        /// Cycles after which it is settled anew which warps may load.
        settle: u32 = 16, number("cycles", 1.0, 100_000.0).from("decision");
    }
}

/// CCWS.
#[derive(Clone, Copy, Debug)]
pub struct Ccws;

impl System for Ccws {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "ccws",
        meaning: "warps that lose cache lines to others keep the others from loading",
        paper: Paper {
            title: "Cache-Conscious Wavefront Scheduling",
            authors: "T. G. Rogers, M. O'Connor, T. M. Aamodt",
            venue: "MICRO",
            year: 2012,
        },
        hooks: &[HookKind::Order, HookKind::Observer],
        yields: &[],
        baseline: crate::equalizer::BASELINE,
        metrics: &[
            Metric {
                name: "lost_hits",
                unit: "misses",
                meaning: "misses on lines that the warp itself had brought and lost",
                value: |r| Some(r.count("ccws.lost_hits") as f64),
            },
            Metric {
                name: "held_warps",
                unit: "warps",
                meaning: "warps that might not load, on average over the settlements",
                value: |r| Some(r.count("ccws.held") as f64 / r.count("ccws.settled") as f64),
            },
        ],
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower::default() })
    }
}

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let p = &self.0;
        let rules = Rules {
            tags: p.tags as usize,
            throttle: p.throttle.into(),
            base: p.base.into(),
            adds: p.on_hit == OnHit::Add,
        };
        let detector = Mutex::new(Detector::new(spec.warps_per_sm as usize));
        let shared = Arc::new(Shared { rules, detector, issued: AtomicU64::new(0), cutoff: AtomicU64::new(0) });
        let state = State { last: vec![0; spec.schedulers as usize], ..State::default() };
        SmHooks {
            order: Some(Box::new(Order { shared: shared.clone(), settle: p.settle.into(), state })),
            observers: vec![Box::new(Watch(shared))],
            ..SmHooks::default()
        }
    }
}

/// What the order and the observer of an SM share. One thread at a time has both.
#[derive(Debug)]
struct Shared {
    rules: Rules,
    detector: Mutex<Detector>,
    issued: AtomicU64,
    cutoff: AtomicU64,
}

impl Shared {
    /// A launch begins: the L1 is empty, other warps will come, and instructions and losses are counted anew.
    fn begin(&self) {
        self.detector().begin();
        self.issued.store(0, Ordering::Relaxed);
    }

    fn detector(&self) -> MutexGuard<'_, Detector> {
        self.detector.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears of issues, misses and lines that leave.
#[derive(Debug)]
struct Watch(Arc<Shared>);

/// The order keeps the shared state.
impl Hook for Watch {}

impl ObserverHook for Watch {
    fn event(&mut self, now: u64, event: Event) {
        let shared = &self.0;
        match event {
            Event::Slot(Slot::Issued, n) => {
                shared.issued.fetch_add(n, Ordering::Relaxed);
            }
            Event::Launch => shared.begin(),
            Event::Evicted { line } => shared.detector().evicted(&shared.rules, line),
            Event::Miss { warp, line } => {
                let (issued, cutoff) = (shared.issued.load(Ordering::Relaxed), shared.cutoff.load(Ordering::Relaxed));
                shared.detector().missed(&shared.rules, now, warp, line, issued, cutoff);
            }
            _ => {}
        }
    }
}

/// Greedy, then oldest, among the warps that may issue.
#[derive(Debug)]
struct Order {
    shared: Arc<Shared>,
    settle: u64,
    state: State,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    held: u64,
    settle_at: u64,
    /// Warp that issued last, per scheduler.
    last: Vec<u8>,
    settled: u64,
    held_sum: u64,
}

impl Order {
    fn settle(&mut self, query: &OrderQuery<'_>) {
        let w = query.warps;
        let running = w.resident & !(w.finished | w.paused);
        let mut live = Vec::with_capacity(64);
        for cta in &w.by_age {
            let mut left = cta & running;
            while left != 0 {
                live.push(left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        let s = &mut self.state;
        s.held = self.shared.detector().held(&self.shared.rules, query.now, &live);
        self.shared.cutoff.store(self.shared.rules.base * live.len() as u64, Ordering::Relaxed);
        s.settled += 1;
        s.held_sum += u64::from(s.held.count_ones());
        s.settle_at = query.now + self.settle;
    }
}

impl Hook for Order {
    fn save(&self) -> Vec<u8> {
        let counts = [&self.shared.issued, &self.shared.cutoff].map(|n| n.load(Ordering::Relaxed));
        postcard::to_allocvec(&(&self.state, &*self.shared.detector(), counts)).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let (state, detector, [issued, cutoff]): (State, Detector, [u64; 2]) =
            postcard::from_bytes(state).map_err(|e| format!("ccws: {e}"))?;
        if state.last.len() != self.state.last.len() {
            return Err("ccws: saved with another number of schedulers".to_owned());
        }
        self.state = state;
        *self.shared.detector() = detector;
        self.shared.issued.store(issued, Ordering::Relaxed);
        self.shared.cutoff.store(cutoff, Ordering::Relaxed);
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("ccws.lost_hits", self.shared.detector().all_lost_hits());
        report.add("ccws.settled", self.state.settled);
        report.add("ccws.held", self.state.held_sum);
    }
}

impl OrderHook for Order {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        // A warp that is let go loads from the next pick on.
        let mut held = self.state.held;
        if query.now >= self.state.settle_at {
            self.settle(query);
            held |= self.state.held;
        }
        let available = query.available & !(held & query.warps.load);
        if available == 0 {
            return None;
        }
        let last = self.state.last.get_mut(query.scheduler)?;
        let choice = if available >> *last & 1 != 0 { *last as usize } else { oldest(available, query.warps) };
        *last = choice as u8;
        Some(choice)
    }
}
