//! SPs with fewer lanes than a warp has threads ([`crate::simd`]): an instruction enters as sub-warps, one initiation
//! interval after the other, each when its lanes are awake. Its place among the write-backs is found when the last one enters.
//!
//! Kept apart from the SPs that take warps whole, so that these do not pay for it. SFUs take instructions as ever.

use super::{Alus, OVERHEAD};
use crate::activity::SmEvent;
use crate::hooks::{Ahead, LanesHook, StartQuery};
use crate::kernel::{Kernel, Port};
use crate::simd::Simd;
use crate::sm::collector::{Collector, Flight};
use crate::sm::counts::Counts;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// What of an instruction has not entered its SP.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rest {
    flight: Flight,
    /// Threads; those of its second half if it goes through as two.
    threads: u32,
    second: u32,
}

/// Instructions that enter SPs in parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Narrow {
    /// SPs are narrow.
    pub(crate) on: bool,
    simd: Simd,
    /// Units with an instruction that has begun to enter; what is left of it, by unit.
    pub(crate) under_way: u64,
    rest: Vec<Rest>,
    /// Lanes without a thread in the sub-warps of INT and of FP instructions that count them, not yet taken.
    inactive: [u64; 2],
}

/// Why an instruction, or its next sub-warp, does not enter a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Entered,
    /// The cycle of its result is taken.
    Clash,
    /// Its lanes sleep.
    Asleep,
    /// They do, and those of a unit after this one do not.
    PassedOver,
}

impl Narrow {
    pub(super) fn new(spec: &Spec) -> Narrow {
        let simd = Simd::of(spec);
        let units = if simd.narrow() { spec.sp_units as usize } else { 0 };
        Narrow { on: simd.narrow(), simd, under_way: 0, rest: vec![Rest::default(); units], inactive: [0; 2] }
    }

    /// Sub-warps of an instruction.
    pub(crate) fn parts(&self, flight: Flight) -> u32 {
        self.sub_warps(flight.lanes(), flight.second())
    }

    fn sub_warps(&self, threads: u32, second: u32) -> u32 {
        self.simd.sub_warps(threads) + if second != 0 { self.simd.sub_warps(second) } else { 0 }
    }

    /// The lanes of the next sub-warp, and what is left behind it.
    fn cut(&self, rest: Rest) -> (u32, Option<Rest>) {
        let (lanes, threads) = self.simd.cut(rest.threads);
        match (threads, rest.second) {
            (0, 0) => (lanes, None),
            (0, second) => (lanes, Some(Rest { threads: second, second: 0, ..rest })),
            (threads, _) => (lanes, Some(Rest { threads, ..rest })),
        }
    }
}

impl Alus {
    /// [`Alus::accept`] with narrow SPs: first those that have begun go on.
    pub fn accept_narrow(
        &mut self,
        now: u64,
        collector: &mut Collector,
        kernel: &Kernel,
        mut lanes: Option<&mut (dyn LanesHook + '_)>,
    ) {
        let mut under_way = self.narrow.under_way;
        while under_way != 0 {
            let unit = under_way.trailing_zeros() as usize;
            under_way &= under_way - 1;
            if self.units[unit].free_at <= now
                && let Some(&rest) = self.narrow.rest.get(unit)
            {
                self.enter(now, unit, rest, false, kernel, lanes.as_deref_mut());
            }
        }
        // Ports whose next instruction waits for lanes to wake up.
        let mut refused = 0u32;
        // Units that have left an instruction to a later one whose lanes are awake.
        let mut passed_over = 0u64;
        let mut asked = 0;
        for port in [Port::Sp, Port::Sfu] {
            if collector.next(port as usize).is_some() {
                asked |= self.of_port[port as usize];
            }
        }
        while asked != 0 {
            let i = asked.trailing_zeros() as usize;
            asked &= asked - 1;
            let unit = &self.units[i];
            let port = unit.port as usize % 2;
            let Some(flight) = collector.next(port) else { continue };
            if unit.free_at > now || !unit.on || self.narrow.under_way >> i & 1 != 0 || refused >> port & 1 != 0 {
                continue;
            }
            let whole = Rest { flight, threads: flight.lanes(), second: flight.second() };
            match self.enter(now, i, whole, true, kernel, lanes.as_deref_mut()) {
                Outcome::Entered => {
                    collector.leave(port);
                    // The instruction behind it has to do with what is left.
                    asked |= std::mem::take(&mut passed_over);
                }
                Outcome::Clash => {}
                Outcome::Asleep => refused |= 1 << port,
                Outcome::PassedOver => passed_over |= 1 << i,
            }
        }
    }

    /// An instruction, or the next sub-warp of one that has begun, wants to enter a unit that is free.
    fn enter(
        &mut self,
        now: u64,
        i: usize,
        whole: Rest,
        begins: bool,
        kernel: &Kernel,
        lanes: Option<&mut (dyn LanesHook + '_)>,
    ) -> Outcome {
        let flight = whole.flight;
        let op = &kernel.ops[flight.pc() as usize];
        let sp = self.units[i].port == Port::Sp as u8;
        let (used, rest) = if sp { self.narrow.cut(whole) } else { (whole.threads, None) };
        let extra = if sp { self.extra } else { 0 };
        let done = now + op.latency as u64 + extra + OVERHEAD;
        let slot = self.slot(done);
        let leaving = self.leaving[slot];
        let place = leaving.count_ones();
        if rest.is_none() && (leaving >> i & 1 != 0 || place >= self.buses) {
            return Outcome::Clash;
        }
        if let Some(lanes) = lanes {
            let query = StartQuery {
                now,
                port: if sp { Port::Sp } else { Port::Sfu },
                unit: i,
                fp: op.fp,
                lanes: used,
                busy: op.initiation.into(),
                latency: (done - now) as u32,
                begins: begins.then_some(whole.threads | whole.second),
            };
            if begins && self.prefers_later(&query, lanes) {
                return Outcome::PassedOver;
            }
            if lanes.start(&query) > now {
                return Outcome::Asleep;
            }
        }
        let unit = &mut self.units[i];
        unit.free_at = now + u64::from(op.initiation);
        self.taken[!sp as usize] += u64::from(op.initiation);
        if begins {
            unit.in_flight += 1;
            self.in_flight += 1;
        }
        if sp && kernel.events[flight.pc() as usize].inactive.is_some() {
            self.narrow.inactive[op.fp as usize] += u64::from(self.narrow.simd.width() - used.count_ones());
        }
        match (rest, self.narrow.rest.get_mut(i)) {
            (Some(rest), Some(place)) => {
                *place = rest;
                self.narrow.under_way |= 1 << i;
            }
            _ => {
                self.narrow.under_way &= !(1 << i);
                self.leaving[slot] |= 1 << i;
                self.flights[slot * self.buses as usize + place as usize] = flight.in_unit(i);
            }
        }
        Outcome::Entered
    }

    /// Takes what narrow SPs have counted of inactive lanes.
    pub fn count_inactive(&mut self, counts: &mut Counts) {
        let [int, fp] = std::mem::take(&mut self.narrow.inactive);
        counts.events(SmEvent::IntInactive, int);
        counts.events(SmEvent::FpInactive, fp);
    }

    /// What is left of instructions that have begun, seen from the end of cycle `now`.
    pub(crate) fn under_way(&self, now: u64, kernel: &Kernel, mut f: impl FnMut(usize, Ahead)) {
        for (i, rest) in self.narrow.rest.iter().enumerate().filter(|(i, _)| self.narrow.under_way >> i & 1 != 0) {
            let op = &kernel.ops[rest.flight.pc() as usize];
            let busy = u32::from(op.initiation) * self.narrow.sub_warps(rest.threads, rest.second);
            let soonest = self.units[i].free_at.max(now + 1) - now;
            f(i, Ahead { lanes: rest.threads | rest.second, fp: op.fp, busy, soonest: soonest as u32 });
        }
    }
}
