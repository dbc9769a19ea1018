//! `mov` with its packing forms, `cvta`, `isspacep`.

use warpwatt_ptx::ir::*;

use super::super::op::*;
use super::{Decode, Decoder, unsupported};
use crate::opinfo::MemSpace;
use crate::space::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};

impl Decoder<'_> {
    pub(super) fn mov(&mut self, i: &Instruction) -> Decode<Kind> {
        let (Some(to), Some(from)) = (i.operands.first(), i.operands.get(1)) else {
            return unsupported("mov without its operands");
        };
        let ty = i.mods.ty().unwrap_or(Type::B32);
        if ty == Type::Pred {
            return Ok(Kind::MovePred { dest: self.pred_dest(Some(to))?, src: self.pred_source(from)? });
        }
        match (to, from) {
            (_, Operand::Vector(parts)) => self.pack(to, parts, ty),
            (Operand::Vector(parts), _) => self.unpack(parts, from, ty),
            (_, Operand::Variable(var, offset)) if self.place(*var)?.frame => {
                let address = self.place(*var)?.address.wrapping_add_signed(*offset);
                let (dest, bytes) = self.dest(Some(to), ty.bytes())?;
                Ok(Kind::Offset { dest, wide: bytes == 8, src: Src::ZERO, add: address, frame: true })
            }
            _ => {
                let (src, wide) = self.source(from, ty)?;
                let (dest, bytes) = self.dest(Some(to), ty.bytes())?;
                match (ty.bytes(), bytes, wide) {
                    (8, 8, true) => Ok(Kind::MoveWide { dest, src }),
                    (4, 4, false) => Ok(Kind::Move { dest, src }),
                    (1 | 2, 1..=4, false) => Ok(Kind::Move16 { dest, src }),
                    _ => unsupported("mov between registers of different sizes"),
                }
            }
        }
    }

    fn pack(&mut self, to: &Operand, parts: &[Operand], ty: Type) -> Decode<Kind> {
        let (row, bytes) = self.dest(Some(to), ty.bytes())?;
        let bits = 8 * ty.bytes() / parts.len().max(1) as u32;
        let part_type = part_type(bits)?;
        let wide_parts = bits == 64;
        let mut list = Vec::with_capacity(parts.len());
        for part in parts {
            let (src, wide) = self.source(part, part_type)?;
            if wide != wide_parts {
                return unsupported("mov of a vector of registers of another size");
            }
            list.push(Some(src));
        }
        let whole = Src::new(Src::FRAME, row);
        Ok(Kind::Pack(Box::new(Pieces { bits, parts: list, wide_parts, whole, wide: bytes == 8 })))
    }

    fn unpack(&mut self, parts: &[Operand], from: &Operand, ty: Type) -> Decode<Kind> {
        let (whole, wide) = self.source(from, ty)?;
        if wide != (ty.bytes() == 8) {
            return unsupported("mov of a register of another size to a vector");
        }
        let bits = 8 * ty.bytes() / parts.len().max(1) as u32;
        let part_type = part_type(bits)?;
        let mut list = Vec::with_capacity(parts.len());
        for part in parts {
            list.push(match part {
                Operand::Sink => None,
                part => {
                    let (row, bytes) = self.dest(Some(part), part_type.bytes())?;
                    if (bytes == 8) != (bits == 64) {
                        return unsupported("mov to a vector of registers of another size");
                    }
                    Some(Src::new(Src::FRAME, row))
                }
            });
        }
        Ok(Kind::Unpack(Box::new(Pieces { bits, parts: list, wide_parts: bits == 64, whole, wide })))
    }

    /// Generic addresses of shared and local memory lie in windows; all other spaces have generic addresses anyway.
    pub(super) fn cvta(&mut self, i: &Instruction) -> Decode<Kind> {
        let base = match i.mods.space {
            Some(Space::Shared) => SHARED_WINDOW,
            Some(Space::Local) => LOCAL_WINDOW,
            Some(Space::Param) if self.here().function.entry => PARAM_WINDOW,
            Some(Space::Param) => LOCAL_WINDOW,
            Some(Space::Global | Space::Const) => 0,
            _ => return unsupported("cvta of this space"),
        };
        let add = if i.mods.to { base.wrapping_neg() } else { base };
        let ty = i.mods.ty().unwrap_or(Type::U64);
        let (dest, bytes) = self.dest(i.operands.first(), ty.bytes())?;
        if bytes != ty.bytes() {
            return unsupported("cvta to a register of another size");
        }
        let wide = bytes == 8;
        let Some(operand) = i.operands.get(1) else { return unsupported("cvta without its operands") };
        if let Operand::Variable(var, offset) = operand {
            let place = self.place(*var)?;
            let address = place.address.wrapping_add_signed(*offset).wrapping_add(add);
            return Ok(Kind::Offset { dest, wide, src: Src::ZERO, add: address, frame: place.frame });
        }
        match self.source(operand, ty)? {
            (src, w) if w == wide => Ok(match (add, wide) {
                (0, true) => Kind::MoveWide { dest, src },
                (0, false) => Kind::Move { dest, src },
                _ => Kind::Offset { dest, wide, src, add, frame: false },
            }),
            _ => unsupported("cvta from a register of another size"),
        }
    }

    pub(super) fn isspacep(&mut self, i: &Instruction) -> Decode<Kind> {
        let space = match i.mods.space {
            Some(Space::Shared) => MemSpace::Shared,
            Some(Space::Local) => MemSpace::Local,
            Some(Space::Global) => MemSpace::Global,
            Some(Space::Const) => MemSpace::Const,
            Some(Space::Param) => MemSpace::Param,
            _ => return unsupported("isspacep of this space"),
        };
        let dest = self.pred_dest(i.operands.first())?;
        let (src, wide) = match i.operands.get(1) {
            Some(Operand::Reg(r)) => self.base(*r)?,
            Some(o) => self.source(o, Type::U64)?,
            None => return unsupported("isspacep without its operands"),
        };
        Ok(Kind::IsSpace { dest, wide, src, space })
    }
}

fn part_type(bits: u32) -> Decode<Type> {
    match bits {
        8 => Ok(Type::B8),
        16 => Ok(Type::B16),
        32 => Ok(Type::B32),
        64 => Ok(Type::B64),
        _ => unsupported(format!("a vector of {bits}-bit parts")),
    }
}
