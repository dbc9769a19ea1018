//! The hook object: a tracker and a policy's rules.

use super::control::Control;
use super::setup::{Demand, Occupancy, Scope, Setup};
use super::tracker::Tracker;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::LaneResidency;
use warpwatt_machine::hooks::{Hook, IssueQuery, LanesHook, Report, SmState, StartQuery, Watches};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::simd::Simd;
use warpwatt_machine::spec::Spec;

/// The lanes of an SM under a policy's rules.
#[derive(Debug)]
pub struct Lanes<C> {
    setup: Setup,
    demand: Demand,
    simd: Simd,
    /// For each SP, the first cycle in which no instruction is expected that has demanded its lanes at issue.
    expected: Vec<u64>,
    tracker: Tracker,
    control: C,
}

/// Cycles from issue to the unit, if nothing is in the way: IDOC register, collector, OCEX register.
const COLLECTION: u64 = 4;

#[derive(Serialize, Deserialize)]
struct Saved {
    expected: Vec<u64>,
    tracker: Tracker,
    control: Vec<u8>,
}

impl<C: Control> Lanes<C> {
    /// The lanes of an SM.
    pub fn new(spec: &Spec, setup: Setup, control: C) -> Lanes<C> {
        let simd = Simd::of(spec);
        let setup = setup.on(simd);
        let tracker = Tracker::new(spec, &setup, &control);
        Lanes { setup, demand: Demand::Unit, simd, expected: vec![0; spec.sp_units as usize], tracker, control }
    }

    /// Lanes are demanded at another time than in front of the unit.
    pub fn demanded_at(self, demand: Demand) -> Lanes<C> {
        let mut lanes = Lanes { demand, ..self };
        if demand == Demand::Issue {
            lanes.tracker.expect_announcements();
        }
        lanes
    }

    /// The policy's rules.
    pub fn control(&self) -> &C {
        &self.control
    }

    fn sp_units(&self) -> usize {
        self.expected.len()
    }

    /// The pipe of an instruction and its lanes there; `None`: its lanes are always on.
    #[inline]
    fn place(&self, query: &StartQuery) -> Option<(usize, u32)> {
        if query.port == Port::Sfu {
            let sfus = self.sp_units() * if self.setup.scope == Scope::Type { 2 } else { 1 };
            return self.setup.sfu.then(|| (sfus + query.unit - self.sp_units(), 0b1111));
        }
        Some((self.pipe(query.unit, query.fp), self.setup.widen(query.lanes)))
    }

    /// The pipe of an SP.
    #[inline]
    fn pipe(&self, unit: usize, fp: bool) -> usize {
        let apart = (self.setup.scope == Scope::Type) as usize;
        (unit << apart) + (fp as usize & apart)
    }

    /// Cycles for which the lanes of an instruction work.
    #[inline]
    fn works(&self, query: &StartQuery) -> u64 {
        u64::from(match self.setup.occupancy {
            Occupancy::Issue => query.busy,
            Occupancy::Pipeline => query.latency.max(query.busy),
        })
    }

    /// The SP in which an instruction that is issued can start soonest, and when; of several the one whose lanes are awake
    /// first.
    #[inline]
    fn soonest(&self, query: &IssueQuery, lanes: u32) -> (usize, u64) {
        let (now, arrives) = (query.now, query.now + COLLECTION);
        let (mut best, mut start, mut soonest) = (0, u64::MAX, u64::MAX);
        for unit in 0..self.sp_units() {
            let ready = self.tracker.ready(self.pipe(unit, query.fp), &self.control, now, lanes);
            let from = ready.max(arrives).max(self.expected[unit]);
            if ready <= now && from == arrives {
                return (unit, from);
            }
            if from < start || from == start && ready < soonest {
                (best, start, soonest) = (unit, from, ready);
            }
        }
        (best, start)
    }

    /// Lanes that threads issued as one or as two sub-warps use in an SP, and for how many cycles.
    #[inline]
    fn shape(&self, first: u32, second: u32) -> (u32, u64) {
        if self.simd.narrow() {
            return self.narrow_shape(first, second);
        }
        (first | second, 1 + u64::from(second != 0))
    }

    /// The same on a narrow SP.
    #[cold]
    fn narrow_shape(&self, first: u32, second: u32) -> (u32, u64) {
        let sub_warps = self.simd.sub_warps(first) + if second != 0 { self.simd.sub_warps(second) } else { 0 };
        (self.simd.lanes(first) | self.simd.lanes(second), u64::from(sub_warps))
    }
}

impl<C: Control> Hook for Lanes<C> {
    fn next_event(&self, now: u64) -> u64 {
        self.control.next_event(now)
    }

    fn act(&mut self, state: &SmState<'_>) {
        self.control.act(&mut self.tracker, state);
    }

    fn save(&self) -> Vec<u8> {
        let (expected, tracker) = (self.expected.clone(), self.tracker.clone());
        let saved = Saved { expected, tracker, control: self.control.save() };
        postcard::to_allocvec(&saved).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let mut saved: Saved = postcard::from_bytes(state).map_err(|e| format!("lanes: {e}"))?;
        saved.tracker.complete(&self.tracker)?;
        (self.expected, self.tracker) = (saved.expected, saved.tracker);
        self.control.load(&saved.control)
    }

    fn report(&self, now: u64, report: &mut Report) {
        let (waits, waited) = self.tracker.waits();
        report.add("lanes.waits", waits);
        report.add("lanes.waited", waited);
        let names = [("idle.int", "idle_cycles.int"), ("idle.fp", "idle_cycles.fp"), ("idle.sfu", "idle_cycles.sfu")];
        let shown = if self.setup.sfu { 3 } else { 2 };
        for ((histogram, cycles), idle) in names.iter().zip(self.tracker.idle_until(now)).take(shown) {
            report.add_histogram(histogram, &idle.bins);
            report.add(cycles, idle.cycles);
        }
        self.control.report(report);
    }
}

impl<C: Control> LanesHook for Lanes<C> {
    fn ready(&mut self, query: &StartQuery) -> u64 {
        match self.place(query) {
            Some((pipe, lanes)) => self.tracker.ready(pipe, &self.control, query.now, lanes),
            None => query.now,
        }
    }

    fn start(&mut self, query: &StartQuery) -> u64 {
        let Some((pipe, lanes)) = self.place(query) else { return query.now };
        let busy = self.works(query);
        self.tracker.start(pipe, &mut self.control, query.now, lanes, busy)
    }

    fn starts_awake(&mut self, query: &StartQuery) -> bool {
        let Some((pipe, lanes)) = self.place(query) else { return true };
        let busy = self.works(query);
        self.tracker.starts_awake(pipe, &self.control, query.now, lanes, busy)
    }

    fn issued(&mut self, query: &IssueQuery, (first, second): (u32, u32)) {
        if self.demand != Demand::Issue {
            return;
        }
        let (now, (lanes, sub_warps)) = (query.now, self.shape(first, second));
        let lanes = self.setup.widen(lanes);
        let (best, start) = self.soonest(query, lanes);
        // One that is issued beside it takes a cycle of its own, or each of its sub-warps does.
        self.expected[best] = start + sub_warps;
        self.tracker.announce(self.pipe(best, query.fp), &mut self.control, now, lanes, start);
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        for (all, own) in [int, fp, sfu].into_iter().zip(self.tracker.take_residency(&self.control, now)) {
            all.add(&own);
        }
    }

    fn watches(&self) -> Watches {
        self.control.watches()
    }

    fn watch(&mut self, state: &SmState<'_>) {
        self.control.watch(&mut self.tracker, state);
    }
}
