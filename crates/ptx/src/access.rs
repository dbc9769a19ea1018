//! Which registers an instruction reads and writes, whether or not its form executes.

use crate::ir::*;
use crate::support::call_parts;

/// A mention of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its value is used.
    Read,
    /// Its value is replaced, all of it, whenever the instruction executes.
    Write,
    /// A component of it is replaced.
    PartialWrite,
}

/// How many operands at the front are destinations (calls apart).
pub fn destinations(instruction: &Instruction) -> usize {
    use Opcode::*;
    let mods = &instruction.mods;
    let says = |word: &str| mods.other.iter().any(|other| other == word);
    let none = match instruction.opcode {
        St | Red | Bra | Brx | Call | Ret | Exit | Trap | Brkpt | Membar | Nanosleep | Prefetch | Prefetchu
        | Discard | Applypriority | Griddepcontrol | Pmevent | Setmaxnreg | Sust | Sured | Stmatrix | Cp => true,
        Bar => !matches!(mods.bar, Some(BarMode::Red | BarMode::RedPopc)),
        Wmma => says("store"),
        Wgmma => !says("mma_async"),
        Mbarrier => ["init", "inval", "expect_tx", "complete_tx"].iter().any(|word| says(word)) && !says("arrive"),
        _ => false,
    };
    if none { 0 } else { 1 + usize::from(mods.dual) }
}

/// Visits every register that an instruction mentions, the guard included: all reads first, then the writes. A `ret` of a
/// function with register return values reads them; that is not seen here (see [`crate::liveness`]).
pub fn for_each_access(instruction: &Instruction, mut visit: impl FnMut(RegId, Access)) {
    if let Some(guard) = instruction.guard {
        visit(guard.reg, Access::Read);
    }
    if let Some(call) = call_parts(instruction) {
        visit_reads(call.target, &mut visit);
        call.arguments.iter().for_each(|operand| visit_reads(operand, &mut visit));
        call.returns.iter().for_each(|operand| visit_writes(operand, &mut visit));
        return;
    }
    let count = destinations(instruction).min(instruction.operands.len());
    let (written, read) = instruction.operands.split_at(count);
    read.iter().for_each(|operand| visit_reads(operand, &mut visit));
    // An address in a destination's place is read all the same.
    for operand in written.iter().filter(|o| matches!(o, Operand::Address(..) | Operand::Texture { .. })) {
        visit_reads(operand, &mut visit);
    }
    written.iter().for_each(|operand| visit_writes(operand, &mut visit));
}

fn visit_reads(operand: &Operand, visit: &mut impl FnMut(RegId, Access)) {
    match operand {
        Operand::Reg(id) | Operand::NotReg(id) | Operand::RegElement(id, _) => visit(*id, Access::Read),
        Operand::Address(AddressBase::Reg(id), _) => visit(*id, Access::Read),
        Operand::Vector(list) | Operand::Params(list) => list.iter().for_each(|o| visit_reads(o, visit)),
        Operand::Texture { texture, sampler, coords } => {
            for base in std::iter::once(texture).chain(sampler) {
                if let TextureBase::Reg(id) = base {
                    visit(*id, Access::Read);
                }
            }
            coords.iter().for_each(|o| visit_reads(o, visit));
        }
        _ => {}
    }
}

fn visit_writes(operand: &Operand, visit: &mut impl FnMut(RegId, Access)) {
    match operand {
        Operand::Reg(id) => visit(*id, Access::Write),
        Operand::RegElement(id, _) => visit(*id, Access::PartialWrite),
        Operand::Vector(list) => list.iter().for_each(|o| visit_writes(o, visit)),
        _ => {}
    }
}
