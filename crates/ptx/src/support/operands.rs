//! Whether an instruction's operands are what its form wants.

use super::row::{Dest, Row, Size, Want};
use crate::ir::*;

/// What the checks look things up in.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub body: &'a Body,
}

/// Complaint: how far the row fitted, and what is wrong there.
pub(super) struct Mismatch {
    pub at: usize,
    pub reason: String,
}

impl<'a> Context<'a> {
    fn register(&self, id: RegId) -> &'a Register {
        &self.body.registers[id.0 as usize]
    }

    /// Compares all operands with a row's.
    pub(super) fn check(&self, row: &Row, instruction: &Instruction) -> Result<(), Mismatch> {
        let operands = &instruction.operands;
        let mods = &instruction.mods;
        let wanted = row.operands.len() + usize::from(mods.dual);
        if operands.len() != wanted {
            let reason = format!("takes {wanted} operand(s), but {} are given", operands.len());
            return Err(Mismatch { at: 0, reason });
        }
        let mut rest = operands.iter();
        for (at, &want) in row.operands.iter().enumerate() {
            let Some(operand) = rest.next() else { break };
            let mut done = self.operand(want, operand, instruction);
            if mods.dual
                && at == 0
                && let Some(second) = rest.next()
            {
                done = done.and_then(|()| self.dest_pred(second, true));
            }
            done.map_err(|reason| Mismatch { at: at + 1, reason: format!("operand {}: {reason}", at + 1) })?;
        }
        Ok(())
    }

    fn operand(&self, want: Want, operand: &Operand, instruction: &Instruction) -> Result<(), String> {
        let mods = &instruction.mods;
        match want {
            Want::Dest(size) => self.dest(operand, mods, size, false),
            Want::DestOrSink(size) => self.dest(operand, mods, size, true),
            Want::Source(size) => self.source(operand, mods, size),
            Want::DestPred => self.dest_pred(operand, false),
            Want::SourcePred => self.source_pred(operand),
            Want::Dual(Dest::Pred) => self.dest_pred(operand, mods.dual),
            Want::Dual(Dest::Value(size)) => self.dest(operand, mods, size, mods.dual),
            Want::DestVector => {
                self.vector(operand, mods, |element| self.dest(element, mods, Size::AtLeast(0), mods.vector > 1))
            }
            Want::SourceVector => self.vector(operand, mods, |element| match element {
                // Registers beside it may be wider.
                Operand::Special(_) if mods.vector > 1 => Err("no special register stands in a vector".to_owned()),
                _ => self.source(element, mods, Size::AtLeast(0)),
            }),
            Want::Mov => self.mov(operand, instruction),
            Want::AddressValue => self.address_value(operand, mods),
            Want::Address => self.address(operand, mods),
            Want::Texture => self.texture(operand, mods),
            Want::Literal if matches!(operand, Operand::Int(_)) => Ok(()),
            Want::Literal => Err("an integer literal is wanted".to_owned()),
            Want::Label if matches!(operand, Operand::Label(_)) => Ok(()),
            Want::Label => Err("a label is wanted".to_owned()),
            Want::BranchTargets if matches!(operand, Operand::BranchTargets(_)) => Ok(()),
            Want::BranchTargets => Err("the label of a `.branchtargets` list is wanted".to_owned()),
        }
    }

    /// A register's type and the name to call it in messages; `None` if it is no (component of a) register.
    fn scalar(&self, operand: &Operand) -> Option<(Type, &'a str)> {
        match *operand {
            Operand::Reg(id) if self.register(id).vector == 1 => Some((self.register(id).ty, &self.register(id).name)),
            Operand::RegElement(id, _) => Some((self.register(id).ty, &self.register(id).name)),
            _ => None,
        }
    }

    /// Whether a register holds a value of that size.
    fn holds(&self, (register, name): (Type, &str), mods: &Modifiers, size: Size) -> Result<(), String> {
        let (ty, bytes, wider) = extent(mods, size);
        let fits = register != Type::Pred
            && (register.bytes() == bytes
                || (wider && !ty.is_float() && !register.is_float() && register.bytes() > bytes));
        if fits {
            return Ok(());
        }
        let least = if wider && !ty.is_float() { "at least " } else { "" };
        Err(format!("a register of {least}{} bits is wanted, but `{name}` is declared .{}", bytes * 8, register.name()))
    }

    fn dest(&self, operand: &Operand, mods: &Modifiers, size: Size, sink: bool) -> Result<(), String> {
        match self.scalar(operand) {
            Some(register) => self.holds(register, mods, size),
            None if sink && *operand == Operand::Sink => Ok(()),
            None => Err("a destination register is wanted".to_owned()),
        }
    }

    fn source(&self, operand: &Operand, mods: &Modifiers, size: Size) -> Result<(), String> {
        if let Some(register) = self.scalar(operand) {
            return self.holds(register, mods, size);
        }
        let (ty, bytes, wider) = extent(mods, size);
        let float = ty.is_float();
        match *operand {
            Operand::Int(_) if !float || bytes == 2 => Ok(()),
            Operand::Int(_) => {
                Err(format!("a .{} literal is written 1.0, 0f3F800000 or 0d3FF0000000000000", ty.name()))
            }
            // A decimal or `0d` literal is rounded to what is wanted; `0f` stays 32 bits (manual, "Floating-Point
            // Constants").
            Operand::F64(_) if bytes == 8 || ty == Type::F32 => Ok(()),
            Operand::F32(_) if bytes == 4 => Ok(()),
            Operand::F32(_) | Operand::F64(_) => Err(format!("a floating literal of another size than .{}", ty.name())),
            Operand::Special(special) => special_fits(special, ty, bytes, wider),
            _ => Err("a register or a literal is wanted".to_owned()),
        }
    }

    fn dest_pred(&self, operand: &Operand, sink: bool) -> Result<(), String> {
        match *operand {
            Operand::Reg(id) if self.register(id).ty == Type::Pred => Ok(()),
            Operand::Sink if sink => Ok(()),
            _ => Err("a predicate register is wanted".to_owned()),
        }
    }

    fn source_pred(&self, operand: &Operand) -> Result<(), String> {
        match *operand {
            Operand::Reg(id) | Operand::NotReg(id) if self.register(id).ty == Type::Pred => Ok(()),
            Operand::Int(_) => Ok(()),
            _ => Err("a predicate is wanted".to_owned()),
        }
    }

    /// One value, or as many as `.v2`/`.v4` says: in braces or in a vector register.
    fn vector(
        &self,
        operand: &Operand,
        mods: &Modifiers,
        element: impl Fn(&Operand) -> Result<(), String>,
    ) -> Result<(), String> {
        let width = usize::from(mods.vector.max(1));
        match operand {
            Operand::Vector(list) if list.len() == width => list.iter().try_for_each(element),
            Operand::Vector(list) => {
                Err(format!("{width} value(s) are wanted, but {} stand in the braces", list.len()))
            }
            Operand::Reg(id) if width > 1 && usize::from(self.register(*id).vector) == width => {
                element(&Operand::RegElement(*id, 0))
            }
            one if width == 1 => element(one),
            _ => Err(format!("{width} values in braces are wanted")),
        }
    }

    /// `mov`: a value, an address, a pack `{a, b}` → wide, or an unpack wide → `{a, b}`.
    fn mov(&self, operand: &Operand, instruction: &Instruction) -> Result<(), String> {
        let mods = &instruction.mods;
        let bytes = mods.ty().map_or(0, Type::bytes);
        let is_dest = std::ptr::eq(operand, &instruction.operands[0]);
        match operand {
            Operand::Vector(parts) => {
                if instruction.operands.iter().all(|o| matches!(o, Operand::Vector(_))) {
                    return Err("only one side may be packed".to_owned());
                }
                if !matches!(parts.len(), 2 | 4) || bytes as usize % parts.len() != 0 {
                    return Err(format!("{bytes} bytes are packed from 2 or 4 equal parts"));
                }
                let part = bytes / parts.len() as u32;
                parts.iter().try_for_each(|p| match (self.scalar(p), p) {
                    (Some((ty, _)), _) if ty != Type::Pred && ty.bytes() == part => Ok(()),
                    (Some((_, name)), _) => Err(format!("`{name}` has not {} bits", part * 8)),
                    (None, Operand::Sink) if is_dest => Ok(()),
                    (None, Operand::Int(_)) if !is_dest => Ok(()),
                    _ => Err("only registers are packed".to_owned()),
                })
            }
            _ if is_dest => self.dest(operand, mods, Size::Type(0), false),
            Operand::Variable(reference, _) if bytes >= 4 => match self.module.variable(self.function, *reference) {
                Some(variable) if variable.space != Space::Reg => self.has_address(*reference, variable),
                _ => Err("this has no address".to_owned()),
            },
            Operand::Function(_) if bytes >= 4 => Ok(()),
            Operand::Variable(..) | Operand::Function(_) => Err("an address has 32 or 64 bits".to_owned()),
            _ => self.source(operand, mods, Size::Type(0)),
        }
    }

    /// A kernel's `.param` addresses are those of its own parameters; storage for the arguments of its calls has none.
    fn has_address(&self, reference: VarRef, variable: &Variable) -> Result<(), String> {
        match reference {
            VarRef::Body(_) if variable.space == Space::Param && self.function.entry => {
                Err(format!("`{}`, which holds an argument of a call, has no address", variable.name))
            }
            _ => Ok(()),
        }
    }

    fn address_value(&self, operand: &Operand, mods: &Modifiers) -> Result<(), String> {
        match *operand {
            Operand::Variable(reference, _) => {
                self.space_agrees(reference, mods.space)?;
                let variable = self.module.variable(self.function, reference);
                variable.map_or(Ok(()), |variable| self.has_address(reference, variable))
            }
            Operand::Int(_) => Ok(()),
            _ => match (self.scalar(operand), mods.ty()) {
                (Some(register), Some(_)) => self.holds(register, mods, Size::Type(0)),
                (Some((ty, _)), None) if matches!(ty.bytes(), 4 | 8) && !ty.is_float() => Ok(()),
                _ => Err("an address is wanted: a register of 32 or 64 bits, or a variable".to_owned()),
            },
        }
    }

    fn address(&self, operand: &Operand, mods: &Modifiers) -> Result<(), String> {
        match *operand {
            Operand::Address(AddressBase::Reg(id), _) => {
                let Register { ty, vector, name } = self.register(id);
                if *vector == 1 && matches!(ty.bytes(), 4 | 8) && !ty.is_float() {
                    Ok(())
                } else {
                    Err(format!("`{name}`, declared .{}, holds no address", ty.name()))
                }
            }
            Operand::Address(AddressBase::Variable(reference), _) => self.space_agrees(reference, mods.space),
            Operand::Address(AddressBase::Absolute, _) => Ok(()),
            _ => Err("an address in brackets is wanted".to_owned()),
        }
    }

    /// Whether a variable lies in the space that the instruction names; without one, in a space that a generic address
    /// reaches.
    fn space_agrees(&self, reference: VarRef, space: Option<Space>) -> Result<(), String> {
        let Some(variable) = self.module.variable(self.function, reference) else {
            return Err("the variable is missing".to_owned());
        };
        let agrees = match space {
            Some(space) => variable.space == space,
            None => matches!(variable.space, Space::Global | Space::Shared | Space::Local | Space::Const),
        };
        if agrees {
            return Ok(());
        }
        let wanted = space.unwrap_or(Space::Generic).name();
        Err(format!("`{}` lies in .{}, not in .{wanted}", variable.name, variable.space.name()))
    }

    fn texture(&self, operand: &Operand, mods: &Modifiers) -> Result<(), String> {
        let Operand::Texture { texture, sampler, coords } = operand else {
            return Err("a texture with its coordinates is wanted".to_owned());
        };
        if sampler.is_some() {
            return Err("samplers apart from their texture are not implemented".to_owned());
        }
        match *texture {
            TextureBase::Variable(reference @ VarRef::Module(_)) => {
                match self.module.variable(self.function, reference) {
                    Some(v) if v.ty == Type::TexRef || v.space == Space::Tex => {}
                    _ => return Err("a `.texref` is wanted".to_owned()),
                }
            }
            TextureBase::Variable(_) => return Err("texture references as parameters are not implemented".to_owned()),
            TextureBase::Reg(_) => return Err("texture handles in registers are not implemented".to_owned()),
        }
        let layered = matches!(mods.geom, Some(TexGeom::A1d | TexGeom::A2d));
        let wanted = match mods.geom {
            Some(TexGeom::D1) => 1,
            Some(TexGeom::D2 | TexGeom::A1d) => 2,
            _ => 3,
        };
        if coords.len() < wanted || coords.len() > 4 {
            return Err(format!("{wanted} coordinate(s) are wanted, but {} are given", coords.len()));
        }
        let vector_register = |c: &Operand| matches!(c, Operand::Reg(id) if self.register(*id).vector > 1);
        if coords.iter().any(vector_register) {
            return Err("coordinates in a vector register are not implemented".to_owned());
        }
        coords[..wanted].iter().enumerate().try_for_each(|(i, c)| {
            if layered && i == 0 { self.source(c, mods, Size::Word) } else { self.source(c, mods, Size::Type(1)) }
        })
    }
}

/// The type and size that an operand is wanted in, and whether an integer register may be wider.
fn extent(mods: &Modifiers, size: Size) -> (Type, u32, bool) {
    let ty = |place: u8| mods.types[usize::from(place)].unwrap_or(Type::B32);
    match size {
        Size::Type(place) => (ty(place), ty(place).bytes(), false),
        Size::AtLeast(place) => (ty(place), ty(place).bytes(), true),
        Size::Wide if ty(0).bytes() == 2 => (Type::B32, 4, false),
        Size::Wide => (Type::B64, 8, false),
        Size::Word => (Type::B32, 4, false),
    }
}

/// Old files read special registers of 32 bits as 16; the 64-bit ones may be read whole or as their low half.
fn special_fits(special: Special, ty: Type, bytes: u32, wider: bool) -> Result<(), String> {
    let natural = match special {
        Special::Pm(_) => return Err("performance counters are not implemented".to_owned()),
        Special::Clock64 | Special::GlobalTimer | Special::GridId => 8,
        _ => 4,
    };
    if !ty.is_float() && bytes >= 2 && (bytes <= natural || wider) {
        Ok(())
    } else {
        Err(format!("a special register of {} bits cannot be read as .{}", natural * 8, ty.name()))
    }
}
