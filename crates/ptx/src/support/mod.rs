//! Which instructions execute, as a table, and what a kernel would need that does not.
//!
//! The parser reads every form of the manual; `forms.rs` lists those that the simulator executes. What passes
//! [`check`] has a known form, the right number of operands, registers of the right sizes, and variables in the right
//! spaces, so a decoder meets no surprise. [`kernel_report`] follows calls from a kernel.

mod calls;
mod forms;
mod operands;
mod row;
mod samples;

pub use calls::{Call, EXTERNS, address_taken, call_parts, is_provided, reachable};

pub use samples::samples;

use thiserror::Error;

use crate::ir::*;
use operands::{Context, Mismatch};

/// Something that a kernel needs and the simulator does not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Unsupported {
    /// What and why.
    pub reason: String,
    /// Where.
    pub span: Span,
}

/// Checks an instruction of function `id`.
///
/// # Errors
///
/// The reason, if the instruction does not execute.
pub fn check(module: &Module, id: FuncId, instruction: &Instruction) -> Result<(), Unsupported> {
    let function = module.function(id);
    let unsupported = |reason| Err(Unsupported { reason, span: instruction.span });
    let Some(body) = &function.body else {
        return unsupported(format!("`{}` has no body", function.name));
    };
    match form(Context { module, function, body }, instruction) {
        Ok(()) => Ok(()),
        Err(reason) => unsupported(reason),
    }
}

fn form(context: Context<'_>, instruction: &Instruction) -> Result<(), String> {
    let name = head(context.module, instruction);
    if let Some(family) = family(instruction.opcode) {
        return Err(format!("`{name}`: {family} are not implemented"));
    }
    if instruction.mods.types.contains(&Some(Type::F64)) && context.module.target.iter().any(|t| t == MAP_F64) {
        return Err(format!("`{name}`: double precision under `.target {MAP_F64}` is not implemented"));
    }
    if !instruction.mods.other.is_empty() {
        return Err(format!("`{name}` is not implemented"));
    }
    if instruction.opcode == Opcode::Call {
        return context.check_call(instruction).map_err(|reason| format!("`{name}`: {reason}"));
    }
    let bits = row::bits(&instruction.mods);
    let mut nearest: Option<Mismatch> = None;
    for row in row::rows(instruction.opcode).iter().filter(|row| row.fits(&instruction.mods, bits)) {
        match context.check(row, instruction) {
            Ok(()) => return Ok(()),
            Err(mismatch) if nearest.as_ref().is_none_or(|best| mismatch.at > best.at) => nearest = Some(mismatch),
            Err(_) => {}
        }
    }
    Err(match nearest {
        Some(Mismatch { at: 0, reason }) => format!("`{name}` {reason}"),
        Some(Mismatch { reason, .. }) => format!("`{name}`: {reason}"),
        None => format!("`{name}` is not implemented"),
    })
}

/// The target option that makes every instruction in double precision one in single precision.
const MAP_F64: &str = "map_f64_to_f32";

/// Families of instructions that are refused as a whole.
fn family(opcode: Opcode) -> Option<&'static str> {
    use Opcode::*;
    Some(match opcode {
        Wmma | Mma | Ldmatrix | Stmatrix | Wgmma => "matrix instructions",
        Cp => "asynchronous copies",
        Mbarrier => "barrier objects",
        Griddepcontrol => "dependent launches",
        Suld | Sust | Sured | Suq | Txq => "surfaces and texture queries",
        Vabsdiff | Vabsdiff2 | Vadd | Vadd2 | Vadd4 | Vavrg2 | Vavrg4 | Vmad | Vmax | Vmax2 | Vmax4 | Vmin | Vmin2
        | Vmin4 | Vset | Vset2 | Vset4 | Vshl | Vshr | Vsub | Vsub2 | Vsub4 => "video instructions",
        _ => return None,
    })
}

/// Opcode and modifiers as written.
fn head<'m>(module: &'m Module, instruction: &Instruction) -> &'m str {
    let text = module.text(instruction.span);
    let text = if instruction.guard.is_some() { text.trim_start_matches(['@', '!', ' ', '\t']) } else { text };
    let text = match instruction.guard {
        Some(_) => text.split_once(char::is_whitespace).map_or(text, |(_, rest)| rest.trim_start()),
        None => text,
    };
    text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or(text)
}

/// Everything in a kernel, and in the functions that it can reach, that does not execute; in the order of the module.
pub fn kernel_report(module: &Module, kernel: FuncId) -> Vec<Unsupported> {
    let mut report = Vec::new();
    let function = module.function(kernel);
    if function.body.is_none() {
        let reason = format!("`{}` is declared but not defined", function.name);
        report.push(Unsupported { reason, span: function.span });
    }
    if let Some(param) = function.params.iter().find(|p| p.space == Space::Reg && function.entry) {
        let reason = format!("the kernel's parameter `{}` is a register", param.name);
        report.push(Unsupported { reason, span: param.span });
    }
    for id in reachable(module, kernel) {
        let instructions = module.function(id).body.iter().flat_map(|body| &body.instructions);
        report.extend(instructions.filter_map(|instruction| check(module, id, instruction).err()));
    }
    report
}
