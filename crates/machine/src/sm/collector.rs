//! Operand collection: the IDOC registers, the collector units that read an instruction's operands from the banked
//! register file, and the OCEX registers from which execution units take it.
//!
//! Each cycle every bank serves one read and every collector unit receives at most one operand; write-backs go first.
//! Banks: register name plus warp, modulo the number of banks. (Structure after the operand collector that GPGPU-Sim's
//! manual and Lindholm et al., US patent 7,834,881, describe.)

use crate::kernel::{Kernel, PORTS, Port, turned};
use crate::spec::Spec;
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// A warp instruction on its way through the pipeline: instruction, warp slot, lanes, and for memory instructions the
/// access list in the load/store unit. Two words, so that it travels in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    pc_lanes: u64,
    rest: u64,
}

impl Flight {
    /// An instruction that uses these lanes; `second`: those of its second half, if it goes through as two.
    #[inline(always)]
    pub fn new(pc: u32, warp: usize, lanes: u32, second: u32, slot: u16) -> Flight {
        Flight {
            pc_lanes: pc as u64 | (lanes as u64) << 32,
            rest: second as u64 | (warp as u64 & 0xff) << 32 | (slot as u64) << 48,
        }
    }

    /// Instruction.
    #[inline(always)]
    pub fn pc(self) -> u32 {
        self.pc_lanes as u32
    }

    /// Lanes that it uses; those of its first half if it goes through as two.
    #[inline(always)]
    pub fn lanes(self) -> u32 {
        (self.pc_lanes >> 32) as u32
    }

    /// Lanes of the second half (0: it goes through as one).
    #[inline(always)]
    pub fn second(self) -> u32 {
        self.rest as u32
    }

    /// Warp slot.
    #[inline(always)]
    pub fn warp(self) -> u8 {
        (self.rest >> 32) as u8
    }

    /// For memory instructions: access list in the load/store unit.
    #[inline(always)]
    pub fn slot(self) -> u16 {
        (self.rest >> 48) as u16
    }

    /// The execution unit that it is in.
    #[inline(always)]
    pub fn unit(self) -> usize {
        (self.rest >> 40 & 0xff) as usize
    }

    /// The same instruction, in an execution unit.
    #[inline(always)]
    pub fn in_unit(self, unit: usize) -> Flight {
        Flight { rest: self.rest & !(0xff << 40) | (unit as u64 & 0xff) << 40, ..self }
    }

    /// Threads that it carries.
    #[inline(always)]
    pub fn threads(self) -> u32 {
        (self.pc_lanes & !0xffff_ffff | self.rest & 0xffff_ffff).count_ones()
    }
}

/// A stage between issue and execution; each has an entry per port. In the order in which components count them as busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Register from issue to collectors.
    Idoc = 0,
    /// Collector units.
    Oc,
    /// Register from collectors to execution units.
    Ocex,
}

/// Places of all stages: stage by stage, a place for each port.
pub const PLACES: usize = 3 * PORTS;
/// Places that there is space for: a word that the host handles at once.
const SIDE_BY_SIDE: usize = 16;

impl Stage {
    #[inline(always)]
    fn of(self, port: usize) -> usize {
        (self as usize * PORTS + port) % SIDE_BY_SIDE
    }
}

/// Most entries of a pipeline register: a power of two, and at least as many as a GPU has units of one kind.
const MOST_ENTRIES: usize = 16;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Unit {
    flight: Flight,
    /// Banks still to be read of the present layer: an instruction's operands are one or more sets of different banks.
    want: u64,
    /// Sets that are still to come.
    layers: u8,
}

/// IDOC registers, collector units and OCEX registers of one SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collector {
    /// Instructions in all of them.
    inside: u32,
    /// Instructions in each place. Side by side, so that all are added up at once.
    held: [u8; SIDE_BY_SIDE],
    /// Those that the pipeline registers among them take.
    room: [u8; SIDE_BY_SIDE],
    /// The pipeline registers: queues in place, and where each begins.
    entries: [[Flight; MOST_ENTRIES]; SIDE_BY_SIDE],
    heads: [u8; SIDE_BY_SIDE],
    /// As many as bits in a mask; `count` of them exist.
    units: Table<Unit, 64>,
    count: usize,
    /// First unit of each port, and the end.
    first: [u8; PORTS + 1],
    /// Units of each port.
    of_port: [u64; PORTS],
    /// Units in use, units whose operands are all there.
    busy: u64,
    ready: u64,
    /// Where the search for a ready unit and for a unit to serve starts.
    turn: [u8; PORTS],
    read_turn: u8,
    /// Register banks, a power of two.
    pub banks: u32,
    /// IDOC and OCEX entries per port, of all groups.
    width: [u8; PORTS],
    /// Instructions that may enter and leave the collectors in a cycle, per port.
    ports: [u8; PORTS],
    /// Collector units of the SPs to each of their ports. A GTX 480's six have two in and two out; of the twelve of
    /// µC-States' big core half still serve two instructions a cycle, as those of its small core do.
    sp_units_per_port: u32,
    /// Units that may be allocated.
    powered: u64,
    /// Most banks that may be read in a cycle.
    reads: u32,
}

impl Collector {
    /// Empty collectors of a GPU.
    pub fn new(spec: &Spec) -> Collector {
        let count = [spec.collectors_sp as usize, spec.collectors_sfu as usize, spec.collectors_mem as usize];
        let mut first = [0; PORTS + 1];
        for p in 0..PORTS {
            first[p + 1] = first[p] + count[p].max(1) as u8;
        }
        let width = [spec.sp_units, spec.sfu_units, spec.ldst_units].map(|w| w.clamp(1, MOST_ENTRIES as u32) as u8);
        let mut room = [0; SIDE_BY_SIDE];
        for p in 0..PORTS {
            room[Stage::Idoc.of(p)] = width[p];
            room[Stage::Ocex.of(p)] = width[p];
        }
        Collector {
            inside: 0,
            held: [0; SIDE_BY_SIDE],
            room,
            entries: [[Flight::default(); MOST_ENTRIES]; SIDE_BY_SIDE],
            heads: [0; SIDE_BY_SIDE],
            units: Table::default(),
            count: first[PORTS] as usize,
            first,
            of_port: std::array::from_fn(|p| (1u64 << first[p + 1]) - (1u64 << first[p])),
            busy: 0,
            ready: 0,
            turn: [0; PORTS],
            read_turn: 0,
            banks: spec.register_banks,
            width,
            ports: width,
            sp_units_per_port: spec.sp_collectors_per_port.max(1),
            powered: u64::MAX,
            reads: u32::MAX,
        }
    }

    /// Narrows a port's IDOC register, collectors and OCEX register to some of their groups. What is inside drains.
    pub fn limit(&mut self, port: Port, idoc: u32, units: u32, ocex: u32, of: u32) {
        let p = port as usize;
        let width = self.width[p] as u32;
        let of_width = |groups: u32| (width * groups).div_ceil(of.max(1)).clamp(1, MOST_ENTRIES as u32) as u8;
        self.room[Stage::Idoc.of(p)] = of_width(idoc);
        self.room[Stage::Ocex.of(p)] = of_width(ocex);
        let count = (self.first[p + 1] - self.first[p]) as u32;
        let on = (count * units).div_ceil(of.max(1)).max(1);
        // More ports than the registers have entries for make a difference only here.
        let all = if port == Port::Sp { width.max(count / self.sp_units_per_port) } else { width };
        self.ports[p] = (all * units).div_ceil(of.max(1)).max(1) as u8;
        self.powered = self.powered & !self.of_port[p] | ((1u64 << on) - 1) << self.first[p];
    }

    /// Halves the register file's read bandwidth, or gives it back: in each cycle at most half of the banks are read. Every
    /// bank stays within reach, so that no register is lost.
    pub fn halve_reads(&mut self, half: bool) {
        self.reads = if half { (self.banks / 2).max(1) } else { u32::MAX };
    }

    /// A port's IDOC register, collectors, OCEX register: each holds no more than the groups that are on can.
    pub fn drained(&self, port: usize) -> [bool; 3] {
        let fits = |stage: Stage| self.held[stage.of(port)] <= self.room[stage.of(port)];
        let outside = self.busy & self.of_port[port] & !self.powered;
        [fits(Stage::Idoc), outside == 0, fits(Stage::Ocex)]
    }

    /// Collector units of a port.
    pub fn units(&self, port: usize) -> u32 {
        (self.first[port + 1] - self.first[port]) as u32
    }

    /// Some collector unit is in use.
    #[inline(always)]
    pub fn collecting(&self) -> bool {
        self.busy != 0
    }

    /// Nothing is held anywhere.
    #[inline(always)]
    pub fn idle(&self) -> bool {
        self.inside == 0
    }

    /// Instructions in each place.
    #[inline(always)]
    pub fn held(&self) -> &[u8; PLACES] {
        const { assert!(PLACES <= SIDE_BY_SIDE) };
        self.held.first_chunk().unwrap_or(&[0; PLACES])
    }

    /// A port's IDOC register has room.
    #[inline(always)]
    pub fn free(&self, port: Port) -> bool {
        let at = Stage::Idoc.of(port as usize);
        self.held[at] < self.room[at]
    }

    /// An issued instruction enters its port's IDOC register; there must be room.
    #[inline(always)]
    pub fn enter(&mut self, port: Port, flight: Flight) {
        self.inside += 1;
        self.push(Stage::Idoc.of(port as usize), flight);
    }

    /// The instruction that leaves next for a port's execution units.
    #[inline(always)]
    pub fn next(&self, port: usize) -> Option<Flight> {
        self.front(Stage::Ocex.of(port))
    }

    /// It leaves.
    #[inline(always)]
    pub fn leave(&mut self, port: usize) {
        self.inside -= 1;
        self.pop(Stage::Ocex.of(port));
    }

    /// The oldest entry of a register.
    #[inline(always)]
    fn front(&self, at: usize) -> Option<Flight> {
        (self.held[at] != 0).then(|| self.entries[at][self.heads[at] as usize % MOST_ENTRIES])
    }

    #[inline(always)]
    fn push(&mut self, at: usize, flight: Flight) {
        self.entries[at][(self.heads[at] + self.held[at]) as usize % MOST_ENTRIES] = flight;
        self.held[at] += 1;
    }

    #[inline(always)]
    fn pop(&mut self, at: usize) {
        self.held[at] -= 1;
        // An empty queue begins anew, so that a short one stays in a line of the host's cache.
        let next = (self.heads[at] + 1) % MOST_ENTRIES as u8;
        self.heads[at] = select_unpredictable(self.held[at] == 0, 0, next);
    }

    /// Banks of a warp's registers; `set`: of those of warp slot 0.
    #[inline(always)]
    pub fn banks_of(&self, set: u64, warp: u8) -> u64 {
        turned(set, warp as u32 & (self.banks - 1), self.banks)
    }

    /// One cycle. `written` has a bit for every bank that a write-back uses. Returns the operand reads that had to wait.
    #[inline(always)]
    pub fn step(&mut self, kernel: &Kernel, written: u64) -> u32 {
        if self.ready != 0 {
            for p in 0..PORTS {
                let ready = self.ready & self.of_port[p];
                if ready != 0 {
                    self.dispatch(p, ready);
                }
            }
        }
        let waiting = self.busy & !self.ready;
        let delayed = match waiting.count_ones() {
            0 => 0,
            // More operands might be read than there are banks for.
            n if n > self.reads => self.read_limited(waiting, written, kernel),
            _ => self.read::<false>(waiting, written, kernel),
        };
        for p in 0..PORTS {
            if self.held[Stage::Idoc.of(p)] != 0 {
                self.allocate(p, kernel);
            }
        }
        delayed
    }

    /// Ready units hand over to the OCEX register.
    #[inline(always)]
    fn dispatch(&mut self, p: usize, mut ready: u64) {
        let ocex = Stage::Ocex.of(p);
        let mut left = self.ports[p].min(self.room[ocex].saturating_sub(self.held[ocex]));
        while ready != 0 && left != 0 {
            left -= 1;
            let u = next_after(ready, self.turn[p]);
            self.turn[p] = u as u8;
            self.push(ocex, self.units[u].flight);
            self.busy ^= 1 << u;
            self.ready ^= 1 << u;
            ready ^= 1 << u;
            self.held[Stage::Oc.of(p)] -= 1;
        }
    }

    /// [`Collector::read`] with fewer reads than there are banks, out of the way of the usual case.
    #[inline(never)]
    fn read_limited(&mut self, waiting: u64, written: u64, kernel: &Kernel) -> u32 {
        self.read::<true>(waiting, written, kernel)
    }

    /// Banks serve reads.
    #[inline(always)]
    fn read<const LIMITED: bool>(&mut self, waiting: u64, written: u64, kernel: &Kernel) -> u32 {
        let mut taken = written;
        let mut delayed = 0;
        // From the unit whose turn it is upwards, then the rest.
        let turn = self.read_turn as u32 % 64;
        let mut left = waiting.rotate_right(turn);
        while left != 0 {
            let u = (left.trailing_zeros() + turn) as usize % 64;
            left &= left - 1;
            let unit = &mut self.units[u];
            let served = if LIMITED { (taken & !written).count_ones() } else { 0 };
            let free = if LIMITED && served >= self.reads { 0 } else { unit.want & !taken };
            let bank = free & free.wrapping_neg();
            delayed += (free == 0) as u32;
            taken |= bank;
            unit.want &= !bank;
            if unit.layers != 0 && unit.want == 0 {
                unit.layers -= 1;
                let more = kernel.ops[unit.flight.pc() as usize].more_banks[unit.layers as usize];
                unit.want = turned(more, unit.flight.warp() as u32 & (self.banks - 1), self.banks);
            }
            // Which cycle's operand is the last cannot be foreseen: no branch.
            self.ready |= ((unit.want == 0) as u64) << u;
        }
        self.read_turn = if self.read_turn as usize + 1 == self.count { 0 } else { self.read_turn + 1 };
        delayed
    }

    /// Some instruction of a port stands in the OCEX register or has all its operands.
    #[inline]
    pub fn any_ahead(&self, port: Port) -> bool {
        // Which of the two cannot be foreseen.
        u64::from(self.held[Stage::Ocex.of(port as usize)]) | self.ready & self.of_port[port as usize] != 0
    }

    /// Gives the instructions of a port that will leave next, in order, at most so many and as long as the answer is
    /// `true`: OCEX register, then ready units; and how many cycles from now each may start at the earliest.
    #[inline]
    pub fn ahead(&self, port: Port, most: usize, mut f: impl FnMut(Flight, u32) -> bool) {
        let p = port as usize;
        let ocex = Stage::Ocex.of(p);
        let held = (self.held[ocex] as usize).min(most);
        for i in 0..held {
            if !f(self.entries[ocex][(self.heads[ocex] as usize + i) % MOST_ENTRIES], 1) {
                return;
            }
        }
        // From the unit after the last one upwards, then the rest.
        let turn = self.turn[p] as u32 + 1;
        let mut ready = (self.ready & self.of_port[p]).rotate_right(turn);
        let mut left = most - held;
        while ready != 0 && left != 0 {
            let u = (ready.trailing_zeros() + turn) as usize % 64;
            ready &= ready - 1;
            left -= 1;
            if !f(self.units[u].flight, 2) {
                return;
            }
        }
    }

    /// Instructions move from the IDOC register into free units.
    #[inline(always)]
    fn allocate(&mut self, p: usize, kernel: &Kernel) {
        let mut left = self.ports[p];
        let idoc = Stage::Idoc.of(p);
        while left != 0
            && let Some(flight) = self.front(idoc)
        {
            left -= 1;
            let free = !self.busy & self.powered & self.of_port[p];
            if free == 0 {
                return;
            }
            let u = free.trailing_zeros() as usize;
            self.pop(idoc);
            let op = &kernel.ops[flight.pc() as usize];
            let want = self.banks_of(op.banks, flight.warp());
            self.units[u] = Unit { flight, want, layers: op.more_banks.len() as u8 };
            self.busy |= 1 << u;
            self.ready |= ((want == 0) as u64) << u;
            self.held[Stage::Oc.of(p)] += 1;
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
