//! From an instruction to its operation: one function per family, in the family's file.

use super::kernel::{Body, Level, compile, compile_portable};
use super::{AluOp, approx, bits, carry, compare, convert, double, float, half, integer, packed};
use warpwatt_ptx::ir::{Instruction, Modifiers, Opcode, Operand, Register, Type};

/// An instruction's form, as the families look at it.
pub(super) struct Form<'a> {
    pub opcode: Opcode,
    pub mods: &'a Modifiers,
    pub instruction: &'a Instruction,
    registers: &'a [Register],
    level: Level,
}

impl Form<'_> {
    /// The operation that computes `body`.
    pub fn op<B: Body>(&self, body: B) -> Option<AluOp> {
        self.op_with(body, 0)
    }

    /// The operation that computes `body` with the parameter `param`.
    pub fn op_with<B: Body>(&self, body: B, param: u64) -> Option<AluOp> {
        Some(compile(body, param, self.level))
    }

    /// The operation that computes `body`, for forms that real programs hardly use: compiled once, for the baseline
    /// processor, to keep the library small.
    pub fn rare<B: Body>(&self, body: B) -> Option<AluOp> {
        self.rare_with(body, 0)
    }

    /// As [`Form::rare`], with the parameter `param`.
    pub fn rare_with<B: Body>(&self, body: B, param: u64) -> Option<AluOp> {
        Some(compile_portable(body, param))
    }

    /// The first type modifier.
    pub fn ty(&self) -> Option<Type> {
        self.mods.ty()
    }

    /// Size in bytes of the register that operand `index` names; `None` if it is not a register.
    pub fn register_bytes(&self, index: usize) -> Option<u32> {
        match self.instruction.operands.get(index)? {
            Operand::Reg(id) | Operand::NotReg(id) | Operand::RegElement(id, _) => {
                self.registers.get(id.0 as usize).map(|register| register.ty.bytes())
            }
            _ => None,
        }
    }
}

/// The operation of an arithmetic instruction, compiled for `level`; `registers` are those of its body. `None` if the
/// instruction is not arithmetic, or a form that is not supported.
pub fn select(instruction: &Instruction, registers: &[Register], level: Level) -> Option<AluOp> {
    if !instruction.mods.other.is_empty() {
        return None;
    }
    let form = Form { opcode: instruction.opcode, mods: &instruction.mods, instruction, registers, level };
    use Opcode::*;
    let float = form.ty()?.is_float();
    match form.opcode {
        Cvt => convert::select(&form),
        Setp | Set | Selp | Slct | Testp => compare::select(&form),
        Addc | Subc | Madc => carry::select(&form),
        Add | Sub | Mad if form.mods.cc => carry::select(&form),
        Add | Sub | Mul | Mad | Fma | Div | Rcp | Sqrt | Rsqrt | Min | Max | Abs | Neg | Copysign | Sin | Cos | Lg2
        | Ex2 | Tanh
            if float =>
        {
            float::select(&form)
                .or_else(|| approx::select(&form))
                .or_else(|| double::select(&form))
                .or_else(|| half::select(&form))
        }
        Add | Sub | Mul | Mad | Mul24 | Mad24 | Sad | Div | Rem | Min | Max | Abs | Neg => integer::select(&form),
        Dp4a | Dp2a | Vabsdiff4 => packed::select(&form),
        And | Or | Xor | Not | Cnot | Lop3 | Shl | Shr | Shf | Prmt | Popc | Clz | Brev | Bfind | Bfe | Bfi | Bmsk
        | Szext => bits::select(&form),
        _ => None,
    }
}
