//! Access to a warp's registers by decoded operands.

use crate::alu::{Row, Window, ZERO, lanes64, merge64};
use crate::program::Program;
use crate::program::op::{NO_PRED, Pieces, PredSrc, Src};
use crate::warp::Warp;

/// The arrays that operands point into.
#[derive(Clone, Copy)]
pub(super) struct Registers<'a> {
    bases: [&'a [Row]; 4],
}

impl<'a> Registers<'a> {
    /// A source operand's window.
    #[inline(always)]
    pub(super) fn window(self, src: Src) -> &'a Window {
        self.bases[src.base()].get(src.row()..).and_then(|rows| rows.first_chunk()).unwrap_or(&ZERO)
    }

    /// A 32-bit source operand.
    #[inline(always)]
    pub(super) fn row(self, src: Src) -> &'a [u32; 32] {
        &self.window(src)[0].0
    }

    /// A 64-bit source operand.
    #[inline(always)]
    pub(super) fn wide(self, src: Src) -> &'a [u64; 32] {
        lanes64(self.window(src))
    }

    /// A lane of a source operand.
    #[inline(always)]
    pub(super) fn lane(self, src: Src, wide: bool, lane: usize) -> u64 {
        if wide { self.wide(src)[lane] } else { self.row(src)[lane] as u64 }
    }
}

impl Warp {
    #[inline(always)]
    pub(super) fn registers<'a>(&'a self, program: &'a Program) -> Registers<'a> {
        let frame = self.rows.get(self.frame.row as usize..).unwrap_or(&[]);
        Registers { bases: [frame, &program.constant_rows, &self.rows, &[]] }
    }

    /// A row of the frame.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, row: u32) -> &mut Row {
        &mut self.rows[(self.frame.row + row) as usize]
    }

    /// Two rows of the frame.
    #[inline(always)]
    pub(super) fn window_mut(&mut self, row: u32) -> &mut Window {
        let at = (self.frame.row + row) as usize;
        &mut self.rows[at..at + 2].as_chunks_mut().0[0]
    }

    #[inline(always)]
    pub(super) fn pred(&self, p: PredSrc) -> u32 {
        if let Some(value) = p.constant() {
            return value;
        }
        let value = self.preds[self.frame.pred as usize + p.slot()];
        if p.negated() { !value } else { value }
    }

    #[inline(always)]
    pub(super) fn set_pred(&mut self, slot: u16, value: u32, lanes: u32) {
        if slot != NO_PRED {
            let p = &mut self.preds[self.frame.pred as usize + slot as usize];
            *p = *p & !lanes | value & lanes;
        }
    }

    #[inline(always)]
    pub(super) fn copy(&mut self, program: &Program, dest: u32, src: Src, lanes: u32) {
        let value = self.registers(program).window(src)[0];
        self.row_mut(dest).merge(&value, lanes);
    }

    #[inline(always)]
    pub(super) fn copy_wide(&mut self, program: &Program, dest: u32, src: Src, lanes: u32) {
        let value = *self.registers(program).window(src);
        merge64(self.window_mut(dest), &value, lanes);
    }

    pub(super) fn copy16(&mut self, program: &Program, dest: u32, src: Src, lanes: u32) {
        let value = Row(self.registers(program).row(src).map(|v| v & 0xffff));
        self.row_mut(dest).merge(&value, lanes);
    }

    /// The same value to all lanes of a 32-bit register.
    pub(super) fn set_uniform(&mut self, dest: u32, value: u32, lanes: u32) {
        self.row_mut(dest).merge(&Row::broadcast(value), lanes);
    }

    pub(super) fn add_constant(&mut self, program: &Program, dest: u32, wide: bool, src: Src, add: u64, lanes: u32) {
        let regs = self.registers(program);
        if wide {
            let value: Window = bytemuck::cast(regs.wide(src).map(|v| v.wrapping_add(add)));
            merge64(self.window_mut(dest), &value, lanes);
        } else {
            let value = Row(regs.row(src).map(|v| v.wrapping_add(add as u32)));
            self.row_mut(dest).merge(&value, lanes);
        }
    }

    pub(super) fn pack(&mut self, program: &Program, p: &Pieces, lanes: u32) {
        let regs = self.registers(program);
        let mut whole = [0u64; 32];
        let keep = if p.bits >= 64 { u64::MAX } else { (1 << p.bits) - 1 };
        for (n, part) in p.parts.iter().enumerate() {
            let Some(part) = *part else { continue };
            for (lane, w) in whole.iter_mut().enumerate() {
                *w |= (regs.lane(part, p.wide_parts, lane) & keep) << (n as u32 * p.bits);
            }
        }
        self.set_lanes(p.whole.row() as u32, p.wide, &whole, lanes);
    }

    pub(super) fn unpack(&mut self, program: &Program, p: &Pieces, lanes: u32) {
        let regs = self.registers(program);
        let whole: [u64; 32] = std::array::from_fn(|lane| regs.lane(p.whole, p.wide, lane));
        let keep = if p.bits >= 64 { u64::MAX } else { (1 << p.bits) - 1 };
        for (n, part) in p.parts.iter().enumerate() {
            if let Some(part) = part {
                let values = whole.map(|w| w >> (n as u32 * p.bits) & keep);
                self.set_lanes(part.row() as u32, p.wide_parts, &values, lanes);
            }
        }
    }

    /// Writes a register of the frame from 64-bit lanes.
    pub(super) fn set_lanes(&mut self, dest: u32, wide: bool, values: &[u64; 32], lanes: u32) {
        if wide {
            let value: Window = bytemuck::cast(*values);
            merge64(self.window_mut(dest), &value, lanes);
        } else {
            let value = Row(values.map(|v| v as u32));
            self.row_mut(dest).merge(&value, lanes);
        }
    }

    /// Largest value of a register over the lanes.
    pub(super) fn lanes_max(&self, program: &Program, src: Src, lanes: u32) -> u32 {
        let row = self.registers(program).row(src);
        crate::memory::lanes_of(lanes).map(|lane| row[lane]).max().unwrap_or(0)
    }
}
