//! Rows of a register file: registers that are never live together share a place.
//!
//! A row is one 32-bit value per lane. Why sharing is safe although lanes of a warp take different ways: every write is
//! masked, so it changes only the rows' values in the lanes that execute it, and no lane's value is ever changed by
//! another lane's instruction. What a lane finds in a row therefore depends on the instructions along *its own* path
//! alone, and that path is a path through the control-flow graph. On each such path a register's value is in danger only
//! from writes to the same row between its own last write and its next read; at those instructions the register is live
//! (a guarded or partial write does not end its life), and the allocation lets no other register that is live or written
//! at an instruction share a row with it. A lane that waits at a reconvergence point while others execute the other side
//! of a branch is simply not in their mask. (Reading *another* lane's register, as `shfl` does, is defined by PTX only for
//! lanes that execute the same instruction, where the same register is read.)
//!
//! A register that is read before it is written is live from the body's beginning, so nothing is written over it: it
//! reads what the row held at first.
//!
//! The method is linear scan (M. Poletto, V. Sarkar, "Linear Scan Register Allocation", TOPLAS 1999) over intervals of
//! the text order that cover every place where a register is live, read or written. A result never shares a row with a
//! source of the same instruction. Rows are handed out by buddies: pairs for 64 bits at even rows, quads for 128 bits at
//! multiples of four.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::Liveness;
use crate::access::for_each_access;
use crate::cfg::Cfg;
use crate::ir::*;

/// Where a register lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// First of its rows; the components of a vector register follow each other.
    Row(u32),
    /// Number among the predicates.
    Predicate(u32),
}

/// Places of a body's registers.
#[derive(Clone, Debug)]
pub struct RowAllocation {
    /// By register. Registers that no instruction mentions lie at 0.
    pub places: Vec<Place>,
    /// Rows in use.
    pub rows: u32,
    /// Predicates in use.
    pub predicates: u32,
}

impl RowAllocation {
    /// Where a register lies.
    pub fn place(&self, register: RegId) -> Place {
        self.places[register.0 as usize]
    }
}

/// Gives every register of a function its place.
pub fn allocate_rows(function: &Function, cfg: &Cfg, liveness: &Liveness) -> RowAllocation {
    let none = Body::default();
    let body = function.body.as_ref().unwrap_or(&none);
    let intervals = intervals(function, body, cfg, liveness);
    let mut order: Vec<usize> = (0..intervals.len()).filter(|&r| intervals[r].is_some()).collect();
    order.sort_by_key(|&r| intervals[r].map(|(start, _)| (start, r)));

    let mut places: Vec<Place> = body.registers.iter().map(|r| Place::at(r.ty, 0)).collect();
    let (mut rows, mut predicates) = (Buddies::default(), Buddies::default());
    let mut ends: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
    for r in order {
        let Some((start, end)) = intervals[r] else { continue };
        while let Some(&Reverse((over, old))) = ends.peek()
            && over < start
        {
            ends.pop();
            match places[old] {
                Place::Row(row) => rows.give_back(row, class(&body.registers[old])),
                Place::Predicate(number) => predicates.give_back(number, 0),
            }
        }
        let register = &body.registers[r];
        let from = if register.ty == Type::Pred { &mut predicates } else { &mut rows };
        places[r] = Place::at(register.ty, from.take(class(register)));
        ends.push(Reverse((end, r)));
    }
    RowAllocation { places, rows: rows.used, predicates: predicates.used }
}

impl Place {
    fn at(ty: Type, number: u32) -> Place {
        if ty == Type::Pred { Place::Predicate(number) } else { Place::Row(number) }
    }
}

/// First and last instruction at which each register is live, read or written.
fn intervals(function: &Function, body: &Body, cfg: &Cfg, liveness: &Liveness) -> Vec<Option<(u32, u32)>> {
    let mut intervals: Vec<Option<(u32, u32)>> = vec![None; body.registers.len()];
    let mut cover = |id: RegId, at: u32| {
        let slot = &mut intervals[id.0 as usize];
        *slot = Some(slot.map_or((at, at), |(start, end)| (start.min(at), end.max(at))));
    };
    // Arguments in registers are there before the first instruction, results behind the last.
    let last = (body.instructions.len() as u32).saturating_sub(1);
    function.params.iter().filter_map(|v| v.reg).for_each(|id| cover(id, 0));
    for id in function.returns.iter().filter_map(|v| v.reg) {
        cover(id, 0);
        cover(id, last);
    }
    for (i, instruction) in body.instructions.iter().enumerate() {
        for_each_access(instruction, |id, _| cover(id, i as u32));
    }
    for (b, block) in cfg.blocks().iter().enumerate() {
        liveness.block_live_in(b as u32).for_each(|id| cover(id, block.instructions.start));
        liveness.block_live_out(b as u32).for_each(|id| cover(id, block.instructions.end - 1));
    }
    intervals
}

/// 0, 1 or 2 for 1, 2 or 4 rows.
fn class(register: &Register) -> usize {
    let rows = register.ty.bytes().div_ceil(4) * u32::from(register.vector.max(1));
    rows.next_power_of_two().trailing_zeros().min(2) as usize
}

/// Free rows in groups of 1, 2 and 4; the lowest is taken first.
#[derive(Default)]
struct Buddies {
    free: [BTreeSet<u32>; 3],
    /// Rows that the groups of four made so far extend to.
    top: u32,
    /// One past the highest row ever taken.
    used: u32,
}

impl Buddies {
    fn take(&mut self, class: usize) -> u32 {
        let row = self.find(class);
        self.used = self.used.max(row + (1 << class));
        row
    }

    fn find(&mut self, class: usize) -> u32 {
        if let Some(row) = self.free[class].pop_first() {
            return row;
        }
        if class == 2 {
            self.top += 4;
            return self.top - 4;
        }
        let row = self.find(class + 1);
        self.free[class].insert(row + (1 << class));
        row
    }

    fn give_back(&mut self, row: u32, class: usize) {
        let buddy = row ^ (1 << class);
        if class < 2 && self.free[class].remove(&buddy) {
            self.give_back(row.min(buddy), class + 1);
        } else {
            self.free[class].insert(row);
        }
    }
}
