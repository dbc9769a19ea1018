//! Loads, stores, atomics, texture fetches.

use std::borrow::Cow;

use warpwatt_ptx::ir::*;

use super::super::op::*;
use super::{Decode, Decoder, unsupported};
use crate::effect::{AtomicOp, AtomicType};
use crate::opinfo::MemSpace;

/// An address operand with the space that it turns out to be in.
struct Located {
    space: MemSpace,
    address: Address,
    quiet: bool,
}

impl Decoder<'_> {
    /// The space that an instruction names. `.param` in a called function is the frame.
    fn named_space(&self, i: &Instruction) -> Decode<MemSpace> {
        Ok(match i.mods.space {
            None | Some(Space::Generic) => MemSpace::Generic,
            Some(Space::Global) => MemSpace::Global,
            Some(Space::Shared) => MemSpace::Shared,
            Some(Space::Local) => MemSpace::Local,
            Some(Space::Const) => MemSpace::Const,
            Some(Space::Param) if self.here().function.entry => MemSpace::Param,
            Some(Space::Param) => MemSpace::Local,
            Some(_) => return unsupported("an access to this space"),
        })
    }

    fn locate(&mut self, i: &Instruction, operand: Option<&Operand>) -> Decode<Located> {
        let space = self.named_space(i)?;
        let Some(Operand::Address(base, offset)) = operand else {
            return unsupported("a memory instruction without an address in brackets");
        };
        let absolute = |space, address: u64, frame, quiet| Located {
            space,
            address: Address { base: None, wide: true, frame, offset: address as i64 },
            quiet,
        };
        match *base {
            AddressBase::Reg(reg) => {
                let (base, wide) = self.base(reg)?;
                let address = Address { base: Some(base), wide, frame: false, offset: *offset };
                Ok(Located { space, address, quiet: space == MemSpace::Local && i.mods.space == Some(Space::Param) })
            }
            AddressBase::Absolute => Ok(absolute(space, *offset as u64, false, false)),
            AddressBase::Variable(var) => {
                let place = self.place(var)?;
                let address = place.address.wrapping_add_signed(*offset);
                match (space, place.space) {
                    // A variable's name without a space, or with the space that it is in.
                    (MemSpace::Generic, MemSpace::Texture) => unsupported("an access to a texture reference"),
                    (MemSpace::Generic, actual) => Ok(absolute(actual, address, place.frame, place.parameter)),
                    (named, actual) if named == actual => Ok(absolute(actual, address, place.frame, place.parameter)),
                    // The kernel's own storage for the arguments of its calls.
                    (MemSpace::Param, MemSpace::Local) => Ok(absolute(MemSpace::Local, address, true, true)),
                    _ => unsupported("an access to a variable of another space"),
                }
            }
        }
    }

    /// The registers of a vector operand, of a vector register, or the one register.
    fn elements<'o>(&self, operand: Option<&'o Operand>) -> Decode<Cow<'o, [Operand]>> {
        match operand {
            Some(Operand::Vector(list)) if list.len() <= 4 => Ok(Cow::Borrowed(list)),
            Some(Operand::Vector(_)) => unsupported("a vector of more than four elements"),
            Some(Operand::Reg(r)) if self.register(*r).vector > 1 => {
                Ok((0..self.register(*r).vector).map(|e| Operand::RegElement(*r, e)).collect())
            }
            Some(one) => Ok(Cow::Borrowed(std::slice::from_ref(one))),
            None => unsupported("a memory instruction without its operands"),
        }
    }

    pub(super) fn load(&mut self, i: &Instruction) -> Decode<Kind> {
        let located = self.locate(i, i.operands.get(1))?;
        let ty = i.mods.ty().unwrap_or(Type::B32);
        let mut registers = [Src::ZERO; 4];
        let (mut count, mut size) = (0, 0);
        let list = self.elements(i.operands.first())?;
        for (slot, operand) in registers.iter_mut().zip(list.iter()) {
            let (row, bytes) = self.dest(Some(operand), ty.bytes())?;
            let bytes = if *operand == Operand::Sink { 0 } else { bytes };
            if size != 0 && bytes != 0 && size != bytes {
                return unsupported("a load to registers of different sizes");
            }
            size = size.max(bytes);
            *slot = Src::new(Src::FRAME, row);
            count += 1;
        }
        let size = if size == 0 { ty.bytes().max(4) } else { size };
        self.access(i, located, ty, count, registers, size)
    }

    pub(super) fn store(&mut self, i: &Instruction) -> Decode<Kind> {
        let located = self.locate(i, i.operands.first())?;
        let ty = i.mods.ty().unwrap_or(Type::B32);
        let mut registers = [Src::ZERO; 4];
        let mut count = 0;
        let list = self.elements(i.operands.get(1))?;
        // Immediates take the size of the registers beside them.
        let mut size = if ty.bytes() == 8 { 8 } else { 0 };
        for operand in list.iter().filter(|o| matches!(o, Operand::Reg(_) | Operand::RegElement(..))) {
            let bytes = if self.source(operand, ty)?.1 { 8 } else { 4 };
            if size != 0 && size != bytes {
                return unsupported("a store of registers of different sizes");
            }
            size = bytes;
        }
        for (slot, operand) in registers.iter_mut().zip(list.iter()) {
            let (mut src, wide) = self.source(operand, ty)?;
            if size == 8 && !wide {
                let Some(bits) = crate::alu::immediate_bits(ty, operand) else {
                    return unsupported("a store of a special register beside registers of 64 bits");
                };
                src = self.constants.get(true, bits);
            }
            *slot = src;
            count += 1;
        }
        let size = if size == 0 { 4 } else { size };
        match self.access(i, located, ty, count, registers, size)? {
            Kind::Load(m) if matches!(m.space, MemSpace::Const | MemSpace::Param) => {
                unsupported("a store to constant memory")
            }
            Kind::Load(m) => Ok(Kind::Store(m)),
            other => Ok(other),
        }
    }

    fn access(
        &self,
        i: &Instruction,
        located: Located,
        ty: Type,
        count: u8,
        registers: [Src; 4],
        size: u32,
    ) -> Decode<Kind> {
        let element = ty.bytes() as u8;
        if !matches!(element, 1 | 2 | 4 | 8) || !matches!(count, 1 | 2 | 4) || element * count > 16 {
            return unsupported(format!("an access to {count} × {element} bytes"));
        }
        if i.mods.vector.max(1) != count {
            return unsupported("a vector access whose width differs from its operand's");
        }
        Ok(Kind::Load(Mem {
            space: located.space,
            address: located.address,
            element,
            count,
            signed: ty.is_signed(),
            register: size as u8,
            quiet: located.quiet,
            bypass_l1: bypass(&i.mods),
            read_only: i.mods.nc || i.opcode == Opcode::Ldu,
            registers,
        }))
    }

    pub(super) fn atomic(&mut self, i: &Instruction) -> Decode<Kind> {
        let reduction = i.opcode == Opcode::Red;
        let at = !reduction as usize;
        let located = self.locate(i, i.operands.get(at))?;
        if !matches!(located.space, MemSpace::Global | MemSpace::Shared | MemSpace::Generic) || i.mods.vector > 1 {
            return unsupported("this form of an atomic operation");
        }
        let (Some(op), Some(ty)) = (i.mods.atom, i.mods.ty()) else {
            return unsupported("an atomic without operation");
        };
        let op = atomic_op(op);
        let Some(kind) = atomic_type(op, ty) else { return unsupported(format!("an atomic on {ty:?}")) };
        let size = kind.bytes();
        let operand = |d: &mut Self, index: usize| match i.operands.get(index) {
            Some(o) => match d.source(o, ty)? {
                (src, wide) if wide == (size == 8) => Ok(src),
                _ => unsupported("an atomic on a register of another size"),
            },
            None => unsupported("an atomic without its operands"),
        };
        let b = operand(self, at + 1)?;
        let c = if op == AtomicOp::Cas { operand(self, at + 2)? } else { Src::ZERO };
        let dest = match i.operands.first() {
            _ if reduction => None,
            Some(Operand::Sink) => None,
            to => match self.dest(to, size)? {
                (row, bytes) if bytes == size => Some(row),
                _ => return unsupported("an atomic to a register of another size"),
            },
        };
        Ok(Kind::Atomic(Box::new(Atomic {
            space: located.space,
            address: located.address,
            op,
            ty: kind,
            dest,
            reduction: reduction || dest.is_none(),
            operand: b,
            swap: c,
            bypass_l1: true,
        })))
    }

    pub(super) fn texture(&mut self, i: &Instruction) -> Decode<Kind> {
        let Some(Operand::Texture { texture, coords, .. }) = i.operands.get(1) else {
            return unsupported("a texture fetch without a texture operand");
        };
        let Some(geometry) = i.mods.geom else { return unsupported("a texture fetch without geometry") };
        let wanted = match geometry {
            TexGeom::D1 => 1,
            TexGeom::D2 | TexGeom::A1d => 2,
            TexGeom::D3 | TexGeom::A2d | TexGeom::Cube => 3,
            _ => return unsupported("this texture geometry"),
        };
        if coords.len() < wanted {
            return unsupported("a texture fetch with too few coordinates");
        }
        let float_coords = match i.mods.types[1] {
            Some(Type::F32) => true,
            Some(Type::S32) => false,
            _ => return unsupported("texture coordinates of this type"),
        };
        let texture = match *texture {
            TextureBase::Variable(var) => {
                let handle = self.place(var)?.address;
                let index = handle.wrapping_sub(crate::space::TEXTURE_BASE) / 16;
                if index >= self.image.textures.len() as u64 {
                    return unsupported("a texture fetch from a variable that is no texture reference");
                }
                TextureHandle::Index(index as u32)
            }
            TextureBase::Reg(reg) => {
                let (src, wide) = self.base(reg)?;
                TextureHandle::Register { src, wide }
            }
        };
        let mut sources = [Src::ZERO; 4];
        let layered = matches!(geometry, TexGeom::A1d | TexGeom::A2d);
        for (n, (slot, operand)) in sources.iter_mut().zip(coords.iter().take(wanted)).enumerate() {
            let ty = if layered && n == 0 {
                Type::U32
            } else if float_coords {
                Type::F32
            } else {
                Type::S32
            };
            *slot = match self.source(operand, ty)? {
                (src, false) => src,
                _ => return unsupported("64-bit texture coordinates"),
            };
        }
        let mut dests = [None; 4];
        for (slot, operand) in dests.iter_mut().zip(self.elements(i.operands.first())?.iter()) {
            if *operand != Operand::Sink {
                *slot = Some(self.dest32(Some(operand))?);
            }
        }
        // Results are the texel's bits, whatever the type says.
        if !matches!(i.mods.types[0], Some(Type::F32 | Type::U32 | Type::S32 | Type::B32)) {
            return unsupported("texture results of this type");
        }
        Ok(Kind::Texture(Box::new(Texture { texture, geometry, float_coords, coords: sources, dests })))
    }
}

/// The L1 is bypassed for `.cg`, `.cv`, `volatile` and the strong orders of a scope beyond the CTA.
fn bypass(mods: &Modifiers) -> bool {
    matches!(mods.cache, CacheOp::Cg | CacheOp::Cv | CacheOp::Wt)
        || (mods.order != Order::Weak && mods.scope != Some(Scope::Cta))
}

pub(super) fn atomic_op(op: AtomOp) -> AtomicOp {
    match op {
        AtomOp::Add => AtomicOp::Add,
        AtomOp::Min => AtomicOp::Min,
        AtomOp::Max => AtomicOp::Max,
        AtomOp::And => AtomicOp::And,
        AtomOp::Or => AtomicOp::Or,
        AtomOp::Xor => AtomicOp::Xor,
        AtomOp::Inc => AtomicOp::Inc,
        AtomOp::Dec => AtomicOp::Dec,
        AtomOp::Exch => AtomicOp::Exch,
        AtomOp::Cas => AtomicOp::Cas,
    }
}

fn atomic_type(op: AtomicOp, ty: Type) -> Option<AtomicType> {
    use AtomicOp::*;
    Some(match ty {
        Type::U32 | Type::B32 => AtomicType::U32,
        Type::S32 => AtomicType::S32,
        Type::U64 | Type::B64 => AtomicType::U64,
        Type::S64 => AtomicType::S64,
        Type::F32 if matches!(op, Add | Exch) => AtomicType::F32,
        Type::F64 if matches!(op, Add | Exch) => AtomicType::F64,
        Type::F16x2 if op == Add => AtomicType::F16x2,
        _ => return None,
    })
}
