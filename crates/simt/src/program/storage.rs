//! Where a function's registers lie in its frame.

use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::ir::{Body, Function, RegId};
use warpwatt_ptx::liveness::{Liveness, Place, RowAllocation, allocate_rows};

/// Rows and predicate slots of a function's registers: registers that are never live together share a place.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    allocation: RowAllocation,
    /// Rows of an element of each register.
    per_element: Vec<u32>,
    pub(super) rows: u32,
    pub(super) preds: u32,
}

impl Storage {
    pub(super) fn new(function: &Function, body: &Body, cfg: &Cfg) -> Storage {
        let allocation = allocate_rows(function, cfg, &Liveness::new(function, cfg));
        let per_element = body.registers.iter().map(|r| r.ty.bytes().div_ceil(4)).collect();
        let (rows, preds) = (allocation.rows, allocation.predicates);
        Storage { allocation, per_element, rows, preds }
    }

    /// First row of a register's element. Predicates have none: 0.
    pub(super) fn element_row(&self, reg: RegId, element: u8) -> u32 {
        match self.allocation.place(reg) {
            Place::Row(row) => row + self.element_rows(reg) * element as u32,
            Place::Predicate(_) => 0,
        }
    }

    /// Rows of an element of a register.
    pub(super) fn element_rows(&self, reg: RegId) -> u32 {
        self.per_element[reg.0 as usize]
    }

    /// Slot of a predicate register.
    pub(super) fn pred(&self, reg: RegId) -> Option<u16> {
        match self.allocation.place(reg) {
            Place::Predicate(slot) => Some(slot as u16),
            Place::Row(_) => None,
        }
    }
}
