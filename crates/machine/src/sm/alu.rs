//! The SP and SFU pipelines: an instruction enters a unit, and its result comes out a fixed number of cycles later.
//!
//! A unit accepts an instruction every initiation interval; two results never leave one unit in the same cycle, and only
//! as many leave all units in a cycle as there are result buses. So a pipeline is a calendar of write-backs.

use crate::hooks::{LanesHook, StartQuery};
use crate::kernel::{Kernel, Port};
use crate::sm::collector::{Collector, Flight};
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// Slots of the calendar: more than the longest latency.
const CALENDAR: u64 = 512;
/// Cycles from entering a unit to write-back, beyond the latency: one into the pipeline, one into the EX/WB register.
const OVERHEAD: u64 = 2;
/// Longest latency that the calendar holds.
pub const MAX_LATENCY: u32 = (CALENDAR - OVERHEAD - 1) as u32;

const BUSES: usize = 4;

/// A set of cycles in the near future.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Cycles([u64; CALENDAR as usize / 64]);

impl Cycles {
    fn has(&self, cycle: u64) -> bool {
        let i = cycle % CALENDAR;
        self.0[i as usize / 64] >> (i % 64) & 1 != 0
    }
    fn add(&mut self, cycle: u64) {
        let i = cycle % CALENDAR;
        self.0[i as usize / 64] |= 1 << (i % 64);
    }
    fn remove(&mut self, cycle: u64) {
        let i = cycle % CALENDAR;
        self.0[i as usize / 64] &= !(1 << (i % 64));
    }
    /// The first cycle at or after `now` in the set.
    fn next(&self, now: u64) -> Option<u64> {
        let start = now % CALENDAR;
        let n = self.0.len();
        let mut word = start as usize / 64;
        let mut bits = self.0[word] & (u64::MAX << (start % 64));
        for step in 0..=n {
            if bits != 0 {
                let i = word as u64 * 64 + bits.trailing_zeros() as u64;
                return Some(now + (i + CALENDAR - start) % CALENDAR);
            }
            word = (word + 1) % n;
            bits = self.0[word];
            if step + 1 == n {
                bits &= !(u64::MAX << (start % 64));
            }
        }
        None
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Unit {
    port: u8,
    /// First cycle in which it can accept an instruction.
    free_at: u64,
    leaving: Cycles,
    in_flight: u32,
    /// Not tuned down.
    on: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Slot {
    flights: [(Flight, u8); BUSES],
    len: u8,
}

/// SP and SFU pipelines of one SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alus {
    units: Vec<Unit>,
    calendar: Vec<Slot>,
    occupied: Cycles,
    buses: u8,
    in_flight: u32,
    /// Stages that a policy's hardware adds to the SPs.
    extra: u64,
}

impl Alus {
    /// Empty pipelines of a GPU.
    pub fn new(spec: &Spec) -> Alus {
        let unit =
            |port: Port| Unit { port: port as u8, free_at: 0, leaving: Cycles::default(), in_flight: 0, on: true };
        let sp = (0..spec.sp_units).map(|_| unit(Port::Sp));
        let sfu = (0..spec.sfu_units).map(|_| unit(Port::Sfu));
        Alus {
            units: sp.chain(sfu).collect(),
            calendar: vec![Slot::default(); CALENDAR as usize],
            occupied: Cycles::default(),
            buses: spec.result_buses.clamp(1, BUSES as u32) as u8,
            in_flight: 0,
            extra: 0,
        }
    }

    /// Adds pipeline stages to the SPs.
    pub fn add_stages(&mut self, stages: u32) {
        self.extra = stages as u64;
    }

    /// Leaves only the first `on` units of a port on; the others drain.
    pub fn limit(&mut self, port: Port, on: u32) {
        let units = self.units.iter_mut().filter(|u| u.port == port as u8);
        units.enumerate().for_each(|(i, u)| u.on = (i as u32) < on.max(1));
    }

    /// Nothing is in any pipeline.
    #[inline]
    pub fn idle(&self) -> bool {
        self.in_flight == 0
    }

    /// The next cycle at or after `now` with a write-back.
    #[inline]
    pub fn next_write_back(&self, now: u64) -> Option<u64> {
        if self.in_flight == 0 { None } else { self.occupied.next(now) }
    }

    /// Units of a port that hold an instruction.
    #[inline]
    pub fn busy_units(&self, port: Port) -> u32 {
        self.units.iter().map(|u| (u.port == port as u8 && u.in_flight > 0) as u32).sum()
    }

    /// Instructions that write back in this cycle.
    #[inline]
    pub fn write_backs(&mut self, now: u64) -> ([Flight; BUSES], usize) {
        let mut out = [Flight::default(); BUSES];
        if self.in_flight == 0 || !self.occupied.has(now) {
            return (out, 0);
        }
        self.occupied.remove(now);
        let slot = &mut self.calendar[(now % CALENDAR) as usize];
        let n = slot.len as usize;
        slot.len = 0;
        for (o, (flight, unit)) in out.iter_mut().zip(&slot.flights[..n]) {
            *o = *flight;
            let unit = &mut self.units[*unit as usize];
            unit.leaving.remove(now);
            unit.in_flight -= 1;
        }
        self.in_flight -= n as u32;
        (out, n)
    }

    /// Units take instructions from the OCEX registers, if the lanes' policy lets them start.
    #[inline]
    pub fn accept(
        &mut self,
        now: u64,
        collector: &mut Collector,
        kernel: &Kernel,
        mut lanes: Option<&mut dyn LanesHook>,
    ) {
        for i in 0..self.units.len() {
            let port = self.units[i].port as usize;
            let Some(flight) = collector.ocex[port].front() else { continue };
            let op = &kernel.ops[flight.pc as usize];
            let halves = 1 + (flight.second != 0) as u64;
            let initiation = op.initiation as u64 * halves;
            let extra = if port == Port::Sp as usize { self.extra } else { 0 };
            let done = now + op.latency as u64 + (initiation - op.initiation as u64) + extra + OVERHEAD;
            let unit = &mut self.units[i];
            let slot = &mut self.calendar[(done % CALENDAR) as usize];
            if !unit.on || unit.free_at > now || unit.leaving.has(done) || slot.len >= self.buses {
                continue;
            }
            if let Some(lanes) = lanes.as_deref_mut() {
                let port = if port == Port::Sp as usize { Port::Sp } else { Port::Sfu };
                let used = flight.lanes | flight.second;
                let query = StartQuery { now, port, unit: i, fp: op.fp, lanes: used, busy: initiation as u32 };
                if lanes.start(&query) > now {
                    continue;
                }
            }
            unit.free_at = now + initiation;
            unit.leaving.add(done);
            unit.in_flight += 1;
            slot.flights[slot.len as usize] = (flight, i as u8);
            slot.len += 1;
            self.occupied.add(done);
            self.in_flight += 1;
            collector.ocex[port].pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_finds_its_next_cycle() {
        let mut c = Cycles::default();
        assert_eq!(c.next(5), None);
        for cycle in [700, 1100] {
            c.add(cycle);
            assert_eq!(c.next(cycle - 300), Some(cycle));
            assert_eq!(c.next(cycle), Some(cycle));
            c.remove(cycle);
        }
        c.add(1000 + 511);
        assert_eq!(c.next(1000), Some(1511));
    }
}
