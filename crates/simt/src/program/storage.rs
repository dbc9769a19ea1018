//! Where a function's registers lie in its frame.

use warpwatt_ptx::ir::{Body, RegId, Type};

/// Rows and predicate slots of a body's registers.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    /// Per register: first row, or predicate slot.
    place: Vec<Place>,
    pub(super) rows: u32,
    pub(super) preds: u32,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Row { row: u32, per_element: u32 },
    Pred(u16),
}

impl Storage {
    /// Every register a place of its own.
    pub(super) fn new(body: &Body) -> Storage {
        let (mut rows, mut preds) = (0, 0);
        let mut place = Vec::with_capacity(body.registers.len());
        for register in &body.registers {
            if register.ty == Type::Pred {
                place.push(Place::Pred(preds as u16));
                preds += 1;
            } else {
                let per_element = register.ty.bytes().div_ceil(4);
                place.push(Place::Row { row: rows, per_element });
                rows += per_element * register.vector.max(1) as u32;
            }
        }
        Storage { place, rows, preds }
    }

    /// First row of a register's element. Predicates have none: 0.
    pub(super) fn element_row(&self, reg: RegId, element: u8) -> u32 {
        match self.place[reg.0 as usize] {
            Place::Row { row, per_element } => row + per_element * element as u32,
            Place::Pred(_) => 0,
        }
    }

    /// Slot of a predicate register.
    pub(super) fn pred(&self, reg: RegId) -> Option<u16> {
        match self.place[reg.0 as usize] {
            Place::Pred(slot) => Some(slot),
            Place::Row { .. } => None,
        }
    }
}
