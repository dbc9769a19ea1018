//! From an instruction of the module to a decoded one.

mod control;
mod memory;
mod moves;
mod operand;
mod warpwide;

use std::collections::BTreeMap;

use warpwatt_ptx::access::destinations;
use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::ir::*;

use super::build::BuildErrorKind;
use super::image::ModuleImage;
use super::layout::{FrameLayout, SharedLayout};
use super::op::*;
use super::storage::Storage;
use crate::alu::{self, AluOp, Level, Row, Window};
use crate::opinfo::MemSpace;

/// Immediates and addresses as rows, each value once.
#[derive(Debug)]
pub(super) struct Constants {
    pub(super) rows: Vec<Row>,
    known: BTreeMap<(bool, u64), Src>,
}

impl Constants {
    pub(super) fn new() -> Constants {
        let mut c = Constants { rows: Vec::new(), known: BTreeMap::new() };
        c.get(true, 0);
        c
    }

    /// The value in every lane of a 32-bit (`wide`: 64-bit) register.
    pub(super) fn get(&mut self, wide: bool, bits: u64) -> Src {
        let bits = if wide { bits } else { bits as u32 as u64 };
        let rows = &mut self.rows;
        *self.known.entry((wide, bits)).or_insert_with(|| {
            let src = Src::new(Src::CONSTANT, rows.len() as u32);
            let window: Window =
                if wide { bytemuck::cast([bits; 32]) } else { [Row::broadcast(bits as u32), Row::ZERO] };
            // A window of the last row must exist too.
            rows.extend_from_slice(if wide { &window } else { &window[..1] });
            src
        })
    }
}

/// Special registers that the program reads.
#[derive(Debug, Default)]
pub(super) struct Specials {
    pub(super) list: Vec<SpecialRow>,
    pub(super) rows: u32,
}

impl Specials {
    fn get(&mut self, special: Special, wide: bool) -> (Src, u16) {
        let index = self.list.iter().position(|s| s.special == special && s.wide == wide).unwrap_or_else(|| {
            self.list.push(SpecialRow { special, wide, row: self.rows });
            self.rows += 1 + wide as u32;
            self.list.len() - 1
        });
        (Src::new(Src::SPECIAL, self.list[index].row), index as u16)
    }
}

/// Whether a special register changes while a warp runs, or depends on where it runs.
pub(crate) fn changes(special: Special) -> bool {
    use Special::*;
    matches!(
        special,
        WarpId
            | NWarpId
            | SmId
            | NSmId
            | Clock
            | ClockHi
            | Clock64
            | GlobalTimer
            | GlobalTimerLo
            | GlobalTimerHi
            | EnvReg(_)
    )
}

/// One of the program's functions.
pub(super) struct Unit<'a> {
    pub(super) id: FuncId,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) cfg: Cfg,
    pub(super) storage: Storage,
    pub(super) frame: FrameLayout,
    /// First instruction.
    pub(super) entry: u32,
}

/// Decodes the instructions of one function.
pub(super) struct Decoder<'a> {
    pub(super) module: &'a Module,
    pub(super) image: &'a ModuleImage,
    pub(super) level: Level,
    pub(super) shared: &'a SharedLayout,
    pub(super) params: &'a [super::Param],
    pub(super) units: &'a [Unit<'a>],
    /// Index of the function being decoded.
    pub(super) unit: usize,
    pub(super) constants: &'a mut Constants,
    pub(super) specials: &'a mut Specials,
    /// Set by an instruction that reads a changing special register.
    pub(super) refresh: Option<u16>,
}

/// A decoded instruction with what its facts need.
pub(super) struct Decoded {
    pub(super) op: Op,
    /// Space of a memory instruction.
    pub(super) space: Option<MemSpace>,
    pub(super) quiet: bool,
}

pub(super) type Decode<T> = Result<T, BuildErrorKind>;

/// Whether an instruction flushes subnormal numbers though it does not say so. Code for `sm_1x` does, in single precision
/// (PTX ISA manual, "Subnormal numbers" of each instruction; its `mad.f32` is a fused `.rn.ftz` one on later GPUs). Up to
/// PTX 1.4 a conversion to 64 bits does not (`cvt`, notes).
fn flushes(module: &Module, instruction: &Instruction) -> bool {
    use Opcode::*;
    let single = instruction.mods.types.contains(&Some(Type::F32));
    let first = |word: &String| {
        let number = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"));
        number.is_some_and(|n| n.len() == 2 && n.starts_with('1'))
    };
    let old = single && module.target.iter().any(first);
    let wide = || instruction.mods.types[0].is_some_and(|dest| dest.bytes() == 8);
    old && match instruction.opcode {
        Add | Sub | Mul | Mad | Div | Abs | Neg | Min | Max | Rcp | Sqrt | Rsqrt | Sin | Cos | Lg2 | Ex2 | Set
        | Setp | Slct => true,
        Cvt => module.version > (1, 4) || !wide(),
        _ => false,
    }
}

/// The error for a form that is not executed.
pub(super) fn unsupported<T>(what: impl Into<String>) -> Decode<T> {
    Err(BuildErrorKind::Unsupported(format!("{} is not supported", what.into())))
}

impl<'a> Decoder<'a> {
    pub(super) fn here(&self) -> &'a Unit<'a> {
        &self.units[self.unit]
    }

    fn body(&self) -> &'a Body {
        self.here().body
    }

    fn register(&self, reg: RegId) -> &'a Register {
        &self.body().registers[reg.0 as usize]
    }

    /// Decodes an instruction.
    pub(super) fn decode(&mut self, instruction: &Instruction) -> Decode<Decoded> {
        use Opcode::*;
        self.refresh = None;
        let guard = match instruction.guard {
            Some(g) => Some(self.pred_register(g.reg, g.negated)?),
            None => None,
        };
        let kind = match instruction.opcode {
            Mov => self.mov(instruction)?,
            Cvta => self.cvta(instruction)?,
            Isspacep => self.isspacep(instruction)?,
            Ld | Ldu => self.load(instruction)?,
            St => self.store(instruction)?,
            Atom | Red => self.atomic(instruction)?,
            Tex => self.texture(instruction)?,
            Membar => Kind::Fence,
            Bra => self.branch(instruction)?,
            Brx => self.branch_list(instruction)?,
            Call => self.call(instruction)?,
            Ret if self.here().function.entry => Kind::Exit,
            Ret => Kind::Ret,
            Exit => Kind::Exit,
            Trap => Kind::Trap,
            Bar => self.barrier(instruction)?,
            Nanosleep => Kind::Sleep(self.source32(instruction.operands.first())?),
            Activemask => Kind::ActiveMask { dest: self.dest32(instruction.operands.first())? },
            Vote => self.vote(instruction)?,
            Shfl => self.shuffle(instruction)?,
            Match => self.matching(instruction)?,
            Redux => self.redux(instruction)?,
            _ => self.arithmetic(instruction)?,
        };
        let (space, quiet) = match &kind {
            Kind::Load(m) | Kind::Store(m) => (Some(m.space), m.quiet),
            Kind::Atomic(a) => (Some(a.space), false),
            Kind::Texture(_) => (Some(MemSpace::Texture), false),
            _ => (None, false),
        };
        Ok(Decoded { op: Op { guard, refresh: self.refresh, kind }, space, quiet })
    }

    fn arithmetic(&mut self, instruction: &Instruction) -> Decode<Kind> {
        let flushing;
        let mut instruction = instruction;
        if flushes(self.module, instruction) {
            flushing = Instruction { mods: Modifiers { ftz: true, ..instruction.mods.clone() }, ..instruction.clone() };
            instruction = &flushing;
        }
        let Some(op) = alu::select(instruction, &self.body().registers, self.level) else {
            return unsupported(format!("this form of `{}`", self.mnemonic(instruction)));
        };
        let dests = destinations(instruction);
        let shape = *op.shape();
        let operands = &instruction.operands;
        let (mut sources, mut pred_sources) = ([Src::ZERO; 4], [PredSrc::FALSE; 2]);
        let (mut row, mut pred) = (0, 0);
        for (ty, operand) in shape.sources.iter().map_while(|t| *t).zip(operands.get(dests..).unwrap_or(&[])) {
            if ty == Type::Pred {
                pred_sources[pred] = self.pred_source(operand)?;
                pred += 1;
            } else {
                let (src, wide) = self.source(operand, ty)?;
                if wide != (ty.bytes() == 8) {
                    return unsupported(format!("a 64-bit register where {} bits are read", 8 * ty.bytes()));
                }
                sources[row] = src;
                row += 1;
            }
        }
        let dest = self.result(instruction, op)?;
        Ok(Kind::Alu(Alu { op, sources, dest, pred_sources }))
    }

    fn result(&self, instruction: &Instruction, op: AluOp) -> Decode<Dest> {
        let first = instruction.operands.first();
        match op.shape().dest {
            alu::Dest::Pred => {
                let q = if instruction.mods.dual { self.pred_dest(instruction.operands.get(1))? } else { NO_PRED };
                Ok(Dest::Preds([self.pred_dest(first)?, q]))
            }
            alu::Dest::Row64 => Ok(Dest::Wide(self.dest(first, 8)?.0)),
            alu::Dest::Row32 => match self.dest(first, 1)? {
                (_, 8) => unsupported("a 64-bit register where 32 bits are written"),
                (row, _) => Ok(Dest::Row(row)),
            },
        }
    }

    /// The instruction's opcode and modifiers as written.
    fn mnemonic(&self, instruction: &Instruction) -> String {
        let Span { start, end } = instruction.span;
        let text = self.module.source.get(start as usize..end as usize).unwrap_or("");
        let mut words = text.split_whitespace();
        words.find(|w| !w.starts_with('@')).unwrap_or("").trim_end_matches(';').to_string()
    }
}
