//! A model at an SM: an observer that keeps a model's counters, and load and store stalls beside them.

use super::StoreWait;
use super::model::{Model, Passed};
use super::predict::Times;
use serde::{Deserialize, Serialize};
use warpwatt_machine::hooks::{CYCLE_KINDS, CycleKind, Event, Hook, Interest, ObserverHook, Report};

/// What was counted over an interval or a launch, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Cycles in which the SM had warps and could issue.
    pub cycles: u64,
    /// T_Memory.
    pub memory: u64,
    /// Load stalls.
    pub load_stall: u64,
    /// Store stalls.
    pub store_stall: u64,
}

/// Names of the counters, in the order of [`Totals::list`].
pub const COUNTERS: [&str; 4] = ["cycles", "memory", "load_stall", "store_stall"];

impl Totals {
    /// In the order of [`COUNTERS`].
    pub fn list(&self) -> [u64; 4] {
        [self.cycles, self.memory, self.load_stall, self.store_stall]
    }

    /// From the order of [`COUNTERS`]; what is missing is 0.
    pub fn from_list(list: &[u64]) -> Totals {
        let at = |i: usize| list.get(i).copied().unwrap_or(0);
        Totals { cycles: at(0), memory: at(1), load_stall: at(2), store_stall: at(3) }
    }

    /// As times.
    pub fn times(&self) -> Times {
        let [all, memory, load_stall, store_stall] = self.list().map(|n| n as f64);
        Times { all, memory, load_stall, store_stall }
    }
}

/// When counters begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Span {
    /// At each launch; they are reported at the end of the run.
    Launch,
    /// When the governor is asked, who is told of them.
    Interval,
}

/// The name under which a governor is told of an interval's counters.
pub const TOLD: &str = "crisp.interval";

/// A model at an SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "M: Model")]
pub struct Observer<M> {
    model: M,
    span: Span,
    store_wait: StoreWait,
    /// The SM's own time.
    now: u64,
    present: Totals,
    /// Launches that have ended.
    launches: Vec<Totals>,
    begun: bool,
}

impl<M: Model> Observer<M> {
    /// Nothing counted yet. `latency`: MISS's, fs.
    pub fn new(span: Span, store_wait: StoreWait, latency: u64) -> Observer<M> {
        Observer {
            model: M::new(latency),
            span,
            store_wait,
            now: 0,
            present: Totals::default(),
            launches: Vec::new(),
            begun: false,
        }
    }

    /// What was counted since the last call.
    pub fn take(&mut self) -> Totals {
        let memory = self.model.take(self.now);
        Totals { memory, ..std::mem::take(&mut self.present) }
    }
}

impl<M: Model> Hook for Observer<M> {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        *self = postcard::from_bytes(state).map_err(|e| format!("{}: {e}", M::NAME))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        if self.span == Span::Interval {
            return;
        }
        let mut all = self.launches.clone();
        if self.begun {
            all.push(self.clone().take());
        }
        for (i, name) in COUNTERS.iter().enumerate() {
            let bins: Vec<u64> = all.iter().map(|t| t.list()[i]).collect();
            report.add_histogram(&format!("{}.{name}", M::NAME), &bins);
        }
        let cycles: Vec<u64> = all.iter().map(|t| t.cycles).collect();
        report.raise_histogram(&format!("{}.busiest", M::NAME), &cycles);
    }
}

impl<M: Model> Observer<M> {
    #[inline(always)]
    fn passed(&mut self, cycles: [u64; CYCLE_KINDS]) {
        let of = |kind| cycles[kind as usize];
        let store_stall = of(CycleKind::StoreStall);
        let store_wait = of(CycleKind::StoreWait);
        let full_stall = of(CycleKind::LoadStall);
        let load_stall = full_stall + of(CycleKind::MixedStall);
        let all = of(CycleKind::Compute) + load_stall + store_stall + store_wait;
        self.now += all;
        self.present.cycles += all;
        self.present.load_stall += load_stall;
        self.present.store_stall += store_stall + if self.store_wait == StoreWait::Stall { store_wait } else { 0 };
        self.model.passed(Passed { all, load_stall, full_stall });
    }

    fn launch(&mut self) {
        let last = self.take();
        if std::mem::replace(&mut self.begun, true) {
            self.launches.push(last);
        }
    }
}

impl<M: Model> ObserverHook for Observer<M> {
    #[inline(always)]
    fn event(&mut self, _: u64, event: Event) {
        match event {
            Event::Cycles(cycles) => self.passed(cycles),
            Event::Requested(request) => self.model.requested(self.now, request),
            Event::Answered(request) => self.model.answered(self.now, request),
            Event::Period(period) => self.model.period(period),
            Event::Launch if self.span == Span::Launch => self.launch(),
            _ => {}
        }
    }

    fn interest(&self) -> Interest {
        Interest { cycles: true, ..Interest::NONE }
    }

    fn tell(&mut self, _: u64, observed: &mut Vec<(&'static str, Vec<u64>)>) {
        if self.span == Span::Interval {
            observed.push((TOLD, self.take().list().to_vec()));
        }
    }
}
