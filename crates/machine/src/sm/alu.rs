//! The SP and SFU pipelines: an instruction enters a unit, and its result comes out a fixed number of cycles later.
//!
//! A unit accepts an instruction every initiation interval; two results never leave one unit in the same cycle, and only
//! as many leave all units in a cycle as there are result buses. So a pipeline is a calendar of write-backs.

pub(crate) mod narrow;

use crate::hooks::{LanesHook, StartQuery};
use crate::kernel::{Kernel, Port};
use crate::seldom::seldom;
use crate::sm::collector::{Collector, Flight};
use crate::spec::Spec;
use crate::table::Table;
use narrow::{Narrow, Rest};
use serde::{Deserialize, Serialize};

/// Cycles from entering a unit to write-back, beyond the latency: one into the pipeline, one into the EX/WB register.
const OVERHEAD: u64 = 2;
/// Most pipeline stages that a policy may add.
const MOST_STAGES: u32 = 16;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Unit {
    /// First cycle in which it can accept an instruction.
    free_at: u64,
    port: u8,
    in_flight: u16,
    /// Not tuned down.
    on: bool,
}

/// SP and SFU pipelines of one SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alus {
    units: Table<Unit, 32>,
    /// How many of them there are, and which are SPs, and SFUs.
    count: u32,
    of_port: [u64; 2],
    /// Per slot of the calendar, the units from which a result leaves. A power of two of them, more than the longest time
    /// in a unit.
    leaving: Vec<u32>,
    /// Slots in use, less one: enough for the kernel's own instructions, so that the calendar stays in the host's cache.
    last_slot: usize,
    /// Those results, in the order in which they entered: `buses` places a slot.
    flights: Vec<Flight>,
    buses: u32,
    in_flight: u32,
    /// Cycles for which the units of the SPs and of the SFU have been taken, by all instructions that have entered.
    taken: [u64; 2],
    /// Stages that a policy's hardware adds to the SPs.
    extra: u64,
    /// SPs that take warps in parts.
    pub(crate) narrow: Narrow,
}

/// Whether an instruction, or its next part, enters a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It does.
    Entered,
    /// The cycle of its result is taken, or its lanes are known to sleep.
    Stays,
    /// Its lanes sleep.
    Asleep,
    /// They do, and those of a unit after this one do not.
    PassedOver,
}

/// Slots of a calendar for instructions that take at most so many cycles, split instructions apart, and so many stages
/// more.
fn slots(longest: u32, stages: u32) -> usize {
    (longest + stages + OVERHEAD as u32 + 1).next_power_of_two() as usize
}

impl Alus {
    /// Empty pipelines of a GPU.
    pub fn new(spec: &Spec) -> Alus {
        let unit = |port: Port| Unit { port: port as u8, free_at: 0, in_flight: 0, on: true };
        let sp = (0..spec.sp_units).map(|_| unit(Port::Sp));
        let sfu = (0..spec.sfu_units).map(|_| unit(Port::Sfu));
        let mut units = Table::default();
        let mut count = 0;
        for (place, unit) in units.iter_mut().zip(sp.chain(sfu)) {
            *place = unit;
            count += 1;
        }
        let of = |port: Port| (0..count as usize).filter(move |&i| units[i].port == port as u8);
        let of_port = [Port::Sp, Port::Sfu].map(|port| of(port).fold(0, |m, i| m | 1 << i));
        let buses = spec.result_buses.clamp(1, count);
        let longest = spec.op.all().iter().map(|t| t.latency + t.initiation).max().unwrap_or(0);
        let slots = slots(longest, MOST_STAGES);
        Alus {
            units,
            count,
            of_port,
            leaving: vec![0; slots],
            last_slot: slots - 1,
            flights: vec![Flight::default(); slots * buses as usize],
            buses,
            in_flight: 0,
            taken: [0; 2],
            extra: 0,
            narrow: Narrow::new(spec),
        }
    }

    /// Prepares for a kernel whose instructions take an SP or SFU for no more than so many cycles.
    pub fn begin(&mut self, longest: u32) {
        debug_assert_eq!(self.in_flight, 0, "a launch ends with its last instruction");
        self.last_slot = slots(longest, self.extra as u32).min(self.leaving.len()) - 1;
    }

    /// Adds pipeline stages to the SPs, from the next launch on.
    pub fn add_stages(&mut self, stages: u32) {
        self.extra = stages.min(MOST_STAGES) as u64;
    }

    /// Leaves only the first `on` units of a port on; the others drain.
    pub fn limit(&mut self, port: Port, on: u32) {
        let units = self.units.iter_mut().filter(|u| u.port == port as u8);
        units.enumerate().for_each(|(i, u)| u.on = (i as u32) < on.max(1));
    }

    /// Nothing is in any pipeline.
    #[inline(always)]
    pub fn idle(&self) -> bool {
        self.in_flight == 0
    }

    /// The calendar's slot of a cycle.
    #[inline(always)]
    fn slot(&self, cycle: u64) -> usize {
        cycle as usize & self.last_slot
    }

    /// The next cycle at or after `now` with a write-back.
    #[inline]
    pub fn next_write_back(&self, now: u64) -> Option<u64> {
        if self.in_flight == 0 {
            return None;
        }
        (now..=now + self.last_slot as u64).find(|&cycle| self.leaving[self.slot(cycle)] != 0)
    }

    /// Unit-cycles before `now` in which a unit of a port (SP or SFU) was taken: an instruction takes its unit for the
    /// initiation interval.
    pub fn occupied(&self, port: Port, now: u64) -> u64 {
        let own = self.units.iter().filter(|u| u.port == port as u8);
        let to_come: u64 = own.map(|u| u.free_at.saturating_sub(now)).sum();
        self.taken[port as usize % 2] - to_come
    }

    /// A unit of a port holds nothing.
    pub fn drained(&self, port: Port, unit: usize) -> bool {
        self.units.iter().filter(|u| u.port == port as u8).nth(unit).is_none_or(|u| u.in_flight == 0)
    }

    /// Whether instructions write back in this cycle, and how many.
    #[inline(always)]
    pub fn write_backs(&self, now: u64) -> usize {
        self.leaving[self.slot(now)].count_ones() as usize
    }

    /// Takes the `i`th of the instructions that write back in this cycle. All of them must be taken.
    #[inline(always)]
    pub fn write_back(&mut self, now: u64, i: usize) -> Flight {
        let slot = self.slot(now);
        let flight = self.flights[slot * self.buses as usize + i];
        let unit = &mut self.units[flight.unit()];
        unit.in_flight -= 1;
        self.in_flight -= 1;
        self.leaving[slot] &= !(1 << flight.unit());
        flight
    }

    /// Units take instructions from the OCEX registers, if the lanes' policy lets them start. `NARROW`: SPs take them in
    /// parts, and first those go on that have begun.
    #[inline(always)]
    pub fn accept<const NARROW: bool>(
        &mut self,
        now: u64,
        collector: &mut Collector,
        kernel: &Kernel,
        mut lanes: Option<&mut (dyn LanesHook + '_)>,
    ) {
        if NARROW {
            self.go_on(now, kernel, lanes.as_deref_mut());
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
            if unit.free_at > now || !unit.on || NARROW && self.narrow.under_way >> i & 1 != 0 {
                continue;
            }
            let whole = Rest { flight, threads: flight.lanes(), second: flight.second() };
            let lanes = lanes.as_deref_mut().map(|lanes| (lanes, refused >> port & 1 != 0));
            match self.enter::<NARROW>(now, i, whole, true, kernel, lanes) {
                Outcome::Entered => {
                    collector.leave(port);
                    // The instruction behind it has to do with what is left.
                    asked |= std::mem::take(&mut passed_over);
                }
                Outcome::Stays => {}
                Outcome::Asleep => refused |= 1 << port,
                Outcome::PassedOver => passed_over |= 1 << i,
            }
        }
    }

    /// An instruction, or the next part of one that has begun, wants to enter a unit that is free. Beside the lanes' policy:
    /// it has refused the instruction already.
    #[inline(always)]
    fn enter<const NARROW: bool>(
        &mut self,
        now: u64,
        i: usize,
        whole: Rest,
        begins: bool,
        kernel: &Kernel,
        lanes: Option<(&mut (dyn LanesHook + '_), bool)>,
    ) -> Outcome {
        let flight = whole.flight;
        let op = &kernel.ops[flight.pc() as usize];
        let port = self.units[i].port as usize % 2;
        let sp = port == Port::Sp as usize;
        let in_parts = NARROW && sp;
        let (used, rest) = if in_parts { self.narrow.cut(whole) } else { (whole.threads | whole.second, None) };
        let initiation = (op.initiation as u64) << (!in_parts && whole.second != 0) as u32;
        let extra = if sp { self.extra } else { 0 };
        let done = now + op.latency as u64 + (initiation - op.initiation as u64) + extra + OVERHEAD;
        let slot = self.slot(done);
        let leaving = self.leaving[slot];
        let place = leaving.count_ones();
        let no_bus = rest.is_none() && (leaving >> i & 1 != 0 || place >= self.buses);
        if let Some((lanes, refused)) = lanes {
            seldom();
            if refused {
                return Outcome::Stays;
            }
            let query = StartQuery {
                now,
                port: if sp { Port::Sp } else { Port::Sfu },
                unit: i,
                fp: op.fp,
                lanes: used,
                busy: initiation as u32,
                latency: (done - now) as u32,
                begins: begins.then_some(whole.threads | whole.second),
            };
            if no_bus {
                lanes.held_up(&query);
                return Outcome::Stays;
            }
            if !lanes.starts_awake(&query) {
                if begins && self.prefers_later(&query, lanes) {
                    return Outcome::PassedOver;
                }
                if lanes.start(&query) > now {
                    return Outcome::Asleep;
                }
            }
        }
        if no_bus {
            return Outcome::Stays;
        }
        let unit = &mut self.units[i];
        unit.free_at = now + initiation;
        self.taken[port] += initiation;
        if begins {
            unit.in_flight += 1;
            self.in_flight += 1;
        }
        if in_parts {
            self.narrow.entered(i, used, rest, op.fp, kernel.events[flight.pc() as usize].inactive.is_some());
            if rest.is_some() {
                return Outcome::Entered;
            }
        }
        self.leaving[slot] |= 1 << i;
        self.flights[slot * self.buses as usize + place as usize] = flight.in_unit(i);
        Outcome::Entered
    }
}

impl Alus {
    /// A free unit after this one could take the instruction sooner: its lanes are awake, or wake up earlier.
    #[inline(never)]
    fn prefers_later(&self, query: &StartQuery, lanes: &mut dyn LanesHook) -> bool {
        let mut later = self.of_port[query.port as usize % 2] & (u64::MAX << 1 << query.unit);
        // A narrow SP whose lanes sleep amid an instruction is not free.
        later &= !self.narrow.under_way;
        let mut free = 0u64;
        while later != 0 {
            let unit = &self.units[later.trailing_zeros() as usize];
            free |= ((unit.on && unit.free_at <= query.now) as u64) << later.trailing_zeros();
            later &= later - 1;
        }
        if free == 0 {
            return false;
        }
        let soonest = lanes.ready(query);
        while soonest > query.now && free != 0 {
            let unit = free.trailing_zeros() as usize;
            if lanes.ready(&StartQuery { unit, ..*query }) < soonest {
                return true;
            }
            free &= free - 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_finds_its_next_cycle() -> Result<(), Box<dyn std::error::Error>> {
        let mut a = Alus::new(&Spec::preset("gtx480")?);
        assert_eq!(a.next_write_back(5), None);
        a.in_flight = 1;
        let slot = a.slot(1511);
        a.leaving[slot] = 1;
        assert_eq!(a.next_write_back(1000), Some(1511));
        assert_eq!(a.next_write_back(1511), Some(1511));
        Ok(())
    }
}
