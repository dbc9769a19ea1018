//! Operands: registers to rows, immediates and addresses to constants.

use warpwatt_ptx::ir::*;

use super::super::image::function_address;
use super::super::op::*;
use super::{Decode, Decoder, changes, unsupported};
use crate::alu;
use crate::opinfo::MemSpace;

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) space: MemSpace,
    /// Address in its space.
    pub(super) address: u64,
    /// The address is an offset in the frame's local memory.
    pub(super) frame: bool,
    /// Parameter storage of a called function or of a call.
    pub(super) parameter: bool,
}

impl Decoder<'_> {
    /// Where a variable is.
    pub(super) fn place(&self, var: VarRef) -> Decode<Place> {
        let here = self.here();
        let at = |space, address| Place { space, address, frame: false, parameter: false };
        let in_frame = |address, parameter| Place { space: MemSpace::Local, address, frame: true, parameter };
        let (variable, key, address) = match var {
            VarRef::Module(i) => {
                let known = self.image.addresses.get(i as usize).copied();
                (self.module.variables.get(i as usize), (None, i), known)
            }
            VarRef::Body(i) => {
                let known = self.image.body_address(here.id, i);
                (here.body.variables.get(i as usize), (Some(here.id), i), known)
            }
            VarRef::Param(i) if here.function.entry => {
                return match self.params.get(i as usize) {
                    Some(p) => Ok(at(MemSpace::Param, p.offset as u64)),
                    None => unsupported("this parameter"),
                };
            }
            VarRef::Param(i) | VarRef::Return(i) => {
                let list = if matches!(var, VarRef::Param(_)) { &here.frame.params } else { &here.frame.returns };
                return match list.get(i as usize) {
                    Some(Slot::Local { offset, .. }) => Ok(in_frame(*offset as u64, true)),
                    _ => unsupported("the address of a register parameter"),
                };
            }
        };
        let Some(variable) = variable else { return unsupported("this variable") };
        Ok(match variable.space {
            Space::Global => at(MemSpace::Global, address.unwrap_or(0)),
            Space::Const => at(MemSpace::Const, address.unwrap_or(0)),
            Space::Shared => match self.shared.offsets.get(&key) {
                Some(&offset) => at(MemSpace::Shared, offset),
                None => return unsupported("this shared variable"),
            },
            Space::Local | Space::Param => match here.frame.variables.get(key.1 as usize) {
                Some(&offset) if key.0.is_some() => in_frame(offset as u64, variable.space == Space::Param),
                _ => return unsupported("a local variable at module level"),
            },
            _ => at(MemSpace::Texture, address.unwrap_or(0)),
        })
    }

    /// Row and size in bytes of a register operand.
    fn row(&self, operand: &Operand) -> Option<(u32, u32)> {
        let (reg, element) = match *operand {
            Operand::Reg(r) => (r, 0),
            Operand::RegElement(r, e) => (r, e),
            _ => return None,
        };
        let register = self.register(reg);
        (register.ty != Type::Pred).then(|| (self.here().storage.element_row(reg, element), register.ty.bytes()))
    }

    /// A source operand read as type `ty`, and whether it is a 64-bit register.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Decode<(Src, bool)> {
        if let Some((row, bytes)) = self.row(operand) {
            if bytes > 8 || (bytes < 8 && ty.bytes() == 8) {
                return unsupported(format!("a {}-bit register where {} bits are read", 8 * bytes, 8 * ty.bytes()));
            }
            return Ok((Src::new(Src::FRAME, row), bytes == 8));
        }
        let wide = ty.bytes() == 8;
        if let Some(bits) = alu::immediate_bits(ty, operand) {
            return Ok((self.constants.get(wide, bits), wide));
        }
        match *operand {
            Operand::Special(special) => {
                let (src, index) = self.specials.get(special, wide);
                if changes(special) {
                    if self.refresh.is_some_and(|r| r != index) {
                        return unsupported("two changing special registers in one instruction");
                    }
                    self.refresh = Some(index);
                }
                Ok((src, wide))
            }
            Operand::Variable(var, offset) => {
                let place = self.place(var)?;
                if place.frame {
                    return unsupported("the address of a local variable in an instruction other than mov and cvta");
                }
                Ok((self.constants.get(wide, place.address.wrapping_add_signed(offset)), wide))
            }
            Operand::Function(f) => Ok((self.constants.get(wide, function_address(f.0)), wide)),
            _ => unsupported("this kind of operand"),
        }
    }

    /// A 32-bit source.
    pub(super) fn source32(&mut self, operand: Option<&Operand>) -> Decode<Src> {
        let Some(operand) = operand else { return unsupported("an instruction without its operands") };
        match self.source(operand, Type::B32)? {
            (src, false) => Ok(src),
            (_, true) => unsupported("a 64-bit register where 32 bits are read"),
        }
    }

    /// Row and size in bytes of a destination that holds at least `bytes` bytes. `_` is the spare row behind the frame.
    pub(super) fn dest(&self, operand: Option<&Operand>, bytes: u32) -> Decode<(u32, u32)> {
        match operand {
            Some(Operand::Sink) => Ok((self.here().storage.rows, bytes.max(4))),
            Some(operand) => match self.row(operand) {
                Some((row, size)) if size >= bytes && size <= 8 => Ok((row, size)),
                Some((_, size)) => unsupported(format!("a {}-bit register for {} bits", 8 * size, 8 * bytes)),
                None => unsupported("this kind of destination"),
            },
            None => unsupported("an instruction without its operands"),
        }
    }

    /// A 32-bit destination.
    pub(super) fn dest32(&self, operand: Option<&Operand>) -> Decode<u32> {
        match self.dest(operand, 4)? {
            (row, 4) => Ok(row),
            _ => unsupported("a 64-bit register where 32 bits are written"),
        }
    }

    pub(super) fn pred_register(&self, reg: RegId, negated: bool) -> Decode<PredSrc> {
        match self.here().storage.pred(reg) {
            Some(slot) => Ok(PredSrc::new(slot, negated)),
            None => unsupported(format!("{} as a predicate", self.register(reg).name)),
        }
    }

    pub(super) fn pred_source(&self, operand: &Operand) -> Decode<PredSrc> {
        match *operand {
            Operand::Reg(r) => self.pred_register(r, false),
            Operand::NotReg(r) => self.pred_register(r, true),
            Operand::Int(0) => Ok(PredSrc::FALSE),
            Operand::Int(_) => Ok(PredSrc::TRUE),
            _ => unsupported("this kind of predicate operand"),
        }
    }

    /// Slot of a predicate destination; `_` is none.
    pub(super) fn pred_dest(&self, operand: Option<&Operand>) -> Decode<u16> {
        match operand {
            Some(Operand::Sink) | None => Ok(NO_PRED),
            Some(Operand::Reg(r)) => Ok(self.pred_register(*r, false)?.slot() as u16),
            Some(_) => unsupported("this kind of predicate destination"),
        }
    }

    /// A register as the base of an address: its row and whether it has 64 bits.
    pub(super) fn base(&self, reg: RegId) -> Decode<(Src, bool)> {
        match self.row(&Operand::Reg(reg)) {
            Some((row, bytes @ (4 | 8))) => Ok((Src::new(Src::FRAME, row), bytes == 8)),
            _ => unsupported(format!("{} as an address", self.register(reg).name)),
        }
    }
}
