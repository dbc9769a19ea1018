//! From a module to a program: which functions, where everything lies, then instruction by instruction.

use thiserror::Error;
use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::ir::*;
use warpwatt_ptx::support;

use super::decode::{Constants, Decoder, Specials, Unit};
use super::facts::{self, Names};
use super::layout;
use super::op::{Kind, MAX_PREDS, Op, Target};
use super::storage::Storage;
use super::{ModuleImage, NO_PC, Program};
use crate::alu::Level;
use crate::opinfo::{Class, OpInfo, Unit as ExecutionUnit};
use crate::space::{MAX_CONST_BYTES, MAX_LOCAL_ALIGN, MAX_LOCAL_BYTES, MAX_PARAM_BYTES};

/// What a build needs beside the module.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Where the module's variables are.
    pub image: &'a ModuleImage,
    /// Registers per thread, instead of the estimate from live registers.
    pub registers_override: Option<u32>,
}

/// Why a kernel cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum BuildErrorKind {
    #[error("no such kernel")]
    NoKernel,
    #[error("{0} is a function, not a kernel")]
    NotAKernel(String),
    #[error("{0} is declared but not defined")]
    Undefined(String),
    #[error("{0}")]
    Unsupported(String),
    #[error("{what} needs {bytes} bytes; at most {limit} are possible")]
    TooLarge { what: &'static str, bytes: u64, limit: u64 },
    #[error("the program has too many registers for the scoreboard's {limit} names")]
    TooManyRegisters { limit: u32 },
}

/// Why a kernel cannot be built, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct BuildError {
    /// Why.
    pub kind: BuildErrorKind,
    /// Place in the module's source.
    pub span: Span,
    /// Line of the place, 1-based.
    pub line: u32,
}

pub(super) fn build(module: &Module, kernel: FuncId, options: &BuildOptions<'_>) -> Result<Program, BuildError> {
    let lines = &options.image.lines;
    let fail = |kind, span: Span| BuildError { kind, span, line: lines.line(span.start) };
    let Some(function) = module.functions.get(kernel.0 as usize) else {
        return Err(fail(BuildErrorKind::NoKernel, Span::default()));
    };
    if !function.entry {
        return Err(fail(BuildErrorKind::NotAKernel(function.name.clone()), function.span));
    }
    let at_kernel = |kind| fail(kind, function.span);
    if let Some(first) = support::kernel_report(module, kernel).into_iter().next() {
        return Err(fail(BuildErrorKind::Unsupported(first.reason), first.span));
    }
    // Those that the device provides have no body.
    let mut reachable = support::reachable(module, kernel);
    reachable.retain(|id| *id == kernel || !support::is_provided(&module.functions[id.0 as usize]));
    let shared = layout::shared(module, &reachable);
    let (params, param_bytes) = layout::parameter_block(function);
    limit("the kernel's parameter block", param_bytes, MAX_PARAM_BYTES).map_err(at_kernel)?;
    limit("shared memory", shared.bytes, crate::launch::MAX_SHARED_BYTES).map_err(at_kernel)?;
    limit("the module's constant bank", options.image.constants.len() as u64, MAX_CONST_BYTES).map_err(at_kernel)?;

    let mut units = Vec::with_capacity(reachable.len());
    let mut entry = 0;
    for &id in &reachable {
        let function = &module.functions[id.0 as usize];
        let Some(body) = &function.body else {
            return Err(fail(BuildErrorKind::Undefined(function.name.clone()), function.span));
        };
        let cfg = Cfg::new(function);
        let storage = Storage::new(function, body, &cfg);
        let frame = layout::frame(function, body, &storage);
        limit("the local memory of a function", frame.bytes, MAX_LOCAL_BYTES)
            .map_err(|kind| fail(kind, function.span))?;
        limit("the alignment of a function's local memory", frame.align as u64, MAX_LOCAL_ALIGN)
            .map_err(|kind| fail(kind, function.span))?;
        if storage.preds > MAX_PREDS {
            let kind = BuildErrorKind::TooManyRegisters { limit: MAX_PREDS };
            return Err(fail(kind, function.span));
        }
        units.push(Unit { id, function, body, cfg, storage, frame, entry });
        // One more than the text: falling off the end returns.
        entry += body.instructions.len() as u32 + 1;
    }
    let rows: u32 = units.iter().map(|u| u.storage.rows).sum();
    let names = rows + units.iter().map(|u| u.storage.preds).sum::<u32>();
    if names > u16::MAX as u32 {
        return Err(at_kernel(BuildErrorKind::TooManyRegisters { limit: u16::MAX as u32 }));
    }

    let (mut constants, mut specials) = (Constants::new(), Specials::default());
    let (mut ops, mut code, mut reconvergence) = (Vec::new(), Vec::new(), Vec::new());
    let (mut row_name, mut pred_name) = (0, rows);
    for index in 0..units.len() {
        let unit = &units[index];
        let names = Names { storage: &unit.storage, rows: row_name, preds: pred_name };
        row_name += unit.storage.rows;
        pred_name += unit.storage.preds;
        let mut decoder = Decoder {
            module,
            image: options.image,
            level: Level::detect(),
            shared: &shared,
            params: &params,
            units: &units,
            unit: index,
            constants: &mut constants,
            specials: &mut specials,
            refresh: None,
        };
        for (n, i) in unit.body.instructions.iter().enumerate() {
            let line = lines.line(i.span.start);
            let decoded = decoder.decode(i).map_err(|kind| fail(kind, i.span))?;
            let kernel = unit.function.entry;
            ops.push(facts::facts(i, unit.body, &names, kernel, decoded.space, decoded.quiet, line));
            let branch = matches!(i.opcode, Opcode::Bra | Opcode::Brx);
            reconvergence.push(if branch { unit.entry + unit.cfg.reconvergence(n as u32) } else { NO_PC });
            code.push(decoded.op);
        }
        let last = unit.body.instructions.last().map_or(unit.function.span, |i| i.span);
        code.push(end_of(unit.function.entry));
        ops.push(end_info(unit.function.entry, lines.line(last.start)));
        reconvergence.push(NO_PC);
    }
    // A window of the last constant.
    constants.rows.push(crate::alu::Row::ZERO);
    let depths = Depths::new(&units, &code);
    Ok(Program {
        kernel: function.name.clone(),
        ops,
        code,
        reconvergence,
        names,
        registers_per_thread: options
            .registers_override
            .unwrap_or_else(|| warpwatt_ptx::liveness::registers_per_thread(module, kernel)),
        functions: units
            .iter()
            .map(|u| super::Function {
                name: u.function.name.clone(),
                id: u.id,
                entry: u.entry,
                end: u.entry + u.body.instructions.len() as u32 + 1,
                rows: u.storage.rows,
                preds: u.storage.preds,
                local_bytes: u.frame.bytes as u32,
                local_align: u.frame.align,
                params: u.frame.params.clone(),
                returns: u.frame.returns.clone(),
            })
            .collect(),
        params,
        param_bytes: param_bytes as u32,
        address_size: module.address_size,
        static_shared: shared.bytes as u32,
        local_bytes: depths.local,
        constants: options.image.constants.clone(),
        constant_base: options.image.constant_base,
        textures: options.image.textures.clone(),
        reqntid: function.reqntid,
        maxntid: function.maxntid,
        rows: depths.rows,
        preds: depths.preds,
        specials: specials.list,
        special_rows: specials.rows,
        constant_rows: constants.rows,
        level: Level::detect(),
    })
}

fn limit(what: &'static str, bytes: u64, limit: u32) -> Result<(), BuildErrorKind> {
    let limit = limit as u64;
    if bytes > limit { Err(BuildErrorKind::TooLarge { what, bytes, limit }) } else { Ok(()) }
}

/// The instruction behind a function's text.
fn end_of(entry: bool) -> Op {
    Op { guard: None, refresh: None, kind: if entry { Kind::Exit } else { Kind::Ret } }
}

fn end_info(entry: bool, line: u32) -> OpInfo {
    OpInfo {
        unit: ExecutionUnit::Control,
        class: Class::Control,
        space: None,
        sources: Vec::new(),
        dests: Vec::new(),
        names: Vec::new(),
        reads: 0,
        writes: 0,
        immediates: 0,
        control: true,
        exit: entry,
        store: false,
        drain: true,
        line,
    }
}

/// What the deepest chain of calls needs, each function at most once in it.
#[derive(Clone, Copy, Debug, Default)]
struct Depths {
    rows: u32,
    preds: u32,
    local: u32,
}

impl Depths {
    fn new(units: &[Unit<'_>], code: &[Op]) -> Depths {
        let callees: Vec<Vec<usize>> = units
            .iter()
            .map(|u| {
                let mut list: Vec<usize> = code[u.entry as usize..][..u.body.instructions.len()]
                    .iter()
                    .flat_map(|op| match &op.kind {
                        Kind::Call(call) => match &call.target {
                            Target::Function(f) => vec![*f as usize],
                            Target::Indirect { functions, .. } => functions.iter().map(|&f| f as usize).collect(),
                            Target::Builtin(_) => Vec::new(),
                        },
                        _ => Vec::new(),
                    })
                    .collect();
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        let mut known = vec![None; units.len()];
        visit(0, units, &callees, &mut known, 0)
    }
}

/// Calls in progress count as leaves, which cuts recursion. The depth is limited so that a long chain of functions
/// cannot exhaust the host's stack; beyond it, frames grow when they are needed.
fn visit(f: usize, units: &[Unit<'_>], callees: &[Vec<usize>], known: &mut [Option<Depths>], depth: u32) -> Depths {
    if let Some(d) = known[f] {
        return d;
    }
    known[f] = Some(Depths::default());
    let mut deepest = Depths::default();
    if depth < 200 {
        for &callee in &callees[f] {
            let d = visit(callee, units, callees, known, depth + 1);
            deepest.rows = deepest.rows.max(d.rows);
            deepest.preds = deepest.preds.max(d.preds);
            // At most as much lies between the frames, as frames end at multiples of the least alignment.
            let gap = units[callee].frame.align - layout::FRAME_ALIGN;
            deepest.local = deepest.local.max(d.local.saturating_add(gap));
        }
    }
    let own = Depths {
        rows: units[f].storage.rows + deepest.rows,
        preds: units[f].storage.preds + deepest.preds,
        local: (units[f].frame.bytes as u32).next_multiple_of(layout::FRAME_ALIGN).saturating_add(deepest.local),
    };
    known[f] = Some(own);
    own
}
