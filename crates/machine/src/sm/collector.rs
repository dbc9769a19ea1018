//! Operand collection: the IDOC registers, the collector units that read an instruction's operands from the banked
//! register file, and the OCEX registers from which execution units take it.
//!
//! Each cycle every bank serves one read and every collector unit receives at most one operand; write-backs go first.
//! Banks: register name plus warp, modulo the number of banks. (Structure after the operand collector that GPGPU-Sim's
//! manual and Lindholm et al., US patent 7,834,881, describe.)

use crate::kernel::{Kernel, Op, PORTS, Port};
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// A warp instruction on its way through the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// Instruction.
    pub pc: u32,
    /// Lanes that it uses; those of its first half if it goes through as two.
    pub lanes: u32,
    /// Lanes of the second half (0: it goes through as one).
    pub second: u32,
    /// Warp slot.
    pub warp: u8,
    /// For memory instructions: access list in the load/store unit.
    pub slot: u16,
}

impl Flight {
    /// Threads that it carries.
    #[inline]
    pub fn threads(&self) -> u32 {
        self.lanes.count_ones() + self.second.count_ones()
    }
}

/// A queue of a few entries, in place.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Register {
    entries: [Flight; Register::MAX],
    len: u8,
    width: u8,
}

impl Register {
    const MAX: usize = 4;

    fn new(width: u32) -> Register {
        Register { width: width.clamp(1, Register::MAX as u32) as u8, ..Register::default() }
    }

    /// Narrows it to `groups` of its `of` groups. What it holds stays.
    fn limit(&mut self, width: u32, groups: u32, of: u32) {
        self.width = (width * groups).div_ceil(of.max(1)).clamp(1, Register::MAX as u32) as u8;
    }

    /// There is room.
    #[inline]
    pub fn free(&self) -> bool {
        self.len < self.width
    }

    /// Adds an entry; there must be room.
    #[inline]
    pub fn push(&mut self, f: Flight) {
        self.entries[self.len as usize] = f;
        self.len += 1;
    }

    /// The oldest entry.
    #[inline]
    pub fn front(&self) -> Option<Flight> {
        (self.len > 0).then_some(self.entries[0])
    }

    /// Removes the oldest entry.
    #[inline]
    pub fn pop(&mut self) {
        self.entries.copy_within(1.., 0);
        self.len -= 1;
    }

    /// Entries held.
    #[inline]
    pub fn held(&self) -> u32 {
        self.len as u32
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Unit {
    flight: Flight,
    /// Operands still to be read, as bank numbers.
    banks: [u8; crate::kernel::MAX_SOURCES],
    left: u8,
}

/// IDOC registers, collector units and OCEX registers of one SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collector {
    /// From issue to collectors, per port.
    pub idoc: [Register; PORTS],
    /// From collectors to execution units, per port.
    pub ocex: [Register; PORTS],
    units: Vec<Unit>,
    /// First unit of each port, and the end.
    first: [usize; PORTS + 1],
    /// Units in use, units whose operands are all there.
    busy: u64,
    ready: u64,
    /// Where the search for a ready unit and for a unit to serve starts.
    turn: [u8; PORTS],
    read_turn: u8,
    banks: u32,
    /// Instructions that may enter and leave the collectors in a cycle, per port, and IDOC and OCEX entries.
    width: [u8; PORTS],
    /// Units that may be allocated.
    powered: u64,
}

const PORT: [Port; PORTS] = [Port::Sp, Port::Sfu, Port::Mem];

impl Collector {
    /// Empty collectors of a GPU.
    pub fn new(spec: &Spec) -> Collector {
        let count = [spec.collectors_sp as usize, spec.collectors_sfu as usize, spec.collectors_mem as usize];
        let mut first = [0; PORTS + 1];
        for p in 0..PORTS {
            first[p + 1] = first[p] + count[p].max(1);
        }
        let width = [spec.sp_units, spec.sfu_units, spec.ldst_units];
        Collector {
            idoc: width.map(Register::new),
            ocex: width.map(Register::new),
            units: vec![Unit::default(); first[PORTS]],
            first,
            busy: 0,
            ready: 0,
            turn: [0; PORTS],
            read_turn: 0,
            banks: spec.register_banks,
            width: width.map(|w| w.clamp(1, Register::MAX as u32) as u8),
            powered: u64::MAX,
        }
    }

    /// Narrows a port's IDOC register, collectors and OCEX register to some of their groups. What is inside drains.
    pub fn limit(&mut self, port: Port, idoc: u32, units: u32, ocex: u32, of: u32) {
        let p = port as usize;
        let width = self.width[p] as u32;
        self.idoc[p].limit(width, idoc, of);
        self.ocex[p].limit(width, ocex, of);
        let count = (self.first[p + 1] - self.first[p]) as u32;
        let on = (count * units).div_ceil(of.max(1)).max(1);
        self.powered = self.powered & !self.mask(p) | ((1u64 << on) - 1) << self.first[p];
    }

    /// Units of a port.
    #[inline]
    fn mask(&self, p: usize) -> u64 {
        (1u64 << self.first[p + 1]) - (1u64 << self.first[p])
    }

    /// Nothing is held anywhere.
    #[inline]
    pub fn idle(&self) -> bool {
        self.busy == 0 && self.idoc.iter().chain(&self.ocex).all(|r| r.len == 0)
    }

    /// Collector units in use by a port.
    #[inline]
    pub fn used(&self, port: Port) -> u32 {
        let p = port as usize;
        (self.busy & self.mask(p)).count_ones()
    }

    /// One cycle. `written` has a bit for every bank that a write-back uses. Returns the operand reads that had to wait.
    pub fn step(&mut self, kernel: &Kernel, written: u64) -> u32 {
        if self.ready != 0 {
            self.dispatch();
        }
        let delayed = if self.busy & !self.ready != 0 { self.read(written) } else { 0 };
        for port in PORT {
            if self.idoc[port as usize].len != 0 {
                self.allocate(port, kernel);
            }
        }
        delayed
    }

    /// Ready units hand over to the OCEX register.
    fn dispatch(&mut self) {
        for p in 0..PORTS {
            let mask = self.mask(p);
            for _ in 0..self.width[p] {
                let ready = self.ready & mask;
                if ready == 0 || !self.ocex[p].free() {
                    break;
                }
                let u = next_after(ready, self.turn[p]);
                self.turn[p] = u as u8;
                self.ocex[p].push(self.units[u].flight);
                self.busy &= !(1 << u);
                self.ready &= !(1 << u);
            }
        }
    }

    /// Banks serve reads.
    fn read(&mut self, written: u64) -> u32 {
        let mut taken = written;
        let mut delayed = 0;
        let waiting = self.busy & !self.ready;
        let low = waiting & ((1 << self.read_turn) - 1);
        for part in [waiting & !low, low] {
            let mut left = part;
            while left != 0 {
                let u = left.trailing_zeros() as usize;
                left &= left - 1;
                let unit = &mut self.units[u];
                let n = unit.left as usize;
                let Some(i) = unit.banks[..n].iter().position(|&b| taken >> b & 1 == 0) else {
                    delayed += 1;
                    continue;
                };
                taken |= 1 << unit.banks[i];
                unit.banks[i] = unit.banks[n - 1];
                unit.left -= 1;
                if unit.left == 0 {
                    self.ready |= 1 << u;
                }
            }
        }
        self.read_turn = (self.read_turn + 1) % self.units.len() as u8;
        delayed
    }

    /// Instructions move from the IDOC register into free units.
    fn allocate(&mut self, port: Port, kernel: &Kernel) {
        let p = port as usize;
        let mask = self.mask(p);
        for _ in 0..self.width[p] {
            let free = !self.busy & self.powered & mask;
            let Some(flight) = self.idoc[p].front() else { return };
            if free == 0 {
                return;
            }
            let u = free.trailing_zeros() as usize;
            self.idoc[p].pop();
            let op: &Op = &kernel.ops[flight.pc as usize];
            let n = op.source_count as usize;
            let unit = &mut self.units[u];
            unit.flight = flight;
            unit.left = n as u8;
            for (bank, source) in unit.banks[..n].iter_mut().zip(&op.sources) {
                *bank = ((*source as u32 + flight.warp as u32) % self.banks) as u8;
            }
            self.busy |= 1 << u;
            if n == 0 {
                self.ready |= 1 << u;
            }
        }
    }
}

/// The first set bit above `after`, wrapping around.
#[inline]
fn next_after(mask: u64, after: u8) -> usize {
    let above = mask & !(u64::MAX >> (63 - after as u32));
    (if above != 0 { above } else { mask }).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::next_after;

    #[test]
    fn rotation() {
        assert_eq!(next_after(0b1011, 0), 1);
        assert_eq!(next_after(0b1011, 1), 3);
        assert_eq!(next_after(0b1011, 3), 0);
        assert_eq!(next_after(1 << 63, 63), 63);
    }
}
