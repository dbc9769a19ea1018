//! Static facts of an instruction: unit, class, registers.
//!
//! Which unit and class an opcode has follows the execution units of Fermi (whitepaper, "Third Generation Streaming
//! Multiprocessor"): divisions run on the special function unit, whose reciprocal they start from.

use warpwatt_ptx::access::destinations;
use warpwatt_ptx::ir::*;

use super::storage::Storage;
use crate::opinfo::{Class, MemSpace, OpInfo, RegName, Unit};

/// The type that decides the pipeline: the one that an instruction computes in.
fn kind_of(instruction: &Instruction) -> Option<Type> {
    let types = &instruction.mods.types;
    match instruction.opcode {
        // The result's type comes first; the comparison is in the second.
        Opcode::Set | Opcode::Slct => types[1].or(types[0]),
        _ => types[0],
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    Int,
    Single,
    Double,
}

fn domain(ty: Option<Type>) -> Domain {
    match ty {
        Some(Type::F64) => Domain::Double,
        Some(t) if t.is_float() => Domain::Single,
        _ => Domain::Int,
    }
}

/// Unit and class of an instruction.
fn pipeline(instruction: &Instruction) -> (Unit, Class) {
    use Opcode::*;
    let d = domain(kind_of(instruction));
    let by = |int: Class, single: Class, double: Class| match d {
        Domain::Int => (Unit::Int, int),
        Domain::Single => (Unit::Fp, single),
        Domain::Double => (Unit::Dp, double),
    };
    match instruction.opcode {
        Add | Sub | Addc | Subc | Sad => by(Class::IntAdd, Class::FpAdd, Class::DpAdd),
        Min | Max => by(Class::IntMinMax, Class::FpMinMax, Class::DpMinMax),
        Mul => by(Class::IntMul, Class::FpMul, Class::DpMul),
        Mul24 | Mad24 => (Unit::Int, Class::IntMul24),
        Mad | Fma | Madc => by(Class::IntMad, Class::FpFma, Class::DpFma),
        Dp2a | Dp4a => (Unit::Int, Class::IntMad),
        Div | Rem => match d {
            Domain::Int => (Unit::Sfu, Class::IntDiv),
            Domain::Single => (Unit::Sfu, Class::FpDiv),
            Domain::Double => (Unit::Dp, Class::DpDiv),
        },
        Rcp | Sqrt | Rsqrt | Sin | Cos | Lg2 | Ex2 | Tanh if d == Domain::Double => (Unit::Dp, Class::DpDiv),
        Rcp | Sqrt | Rsqrt => (Unit::Sfu, Class::SfuSqrt),
        Sin | Cos => (Unit::Sfu, Class::SfuSinCos),
        Lg2 | Ex2 | Tanh => (Unit::Sfu, Class::SfuLog),
        Set | Setp | Slct | Testp => by(Class::Simple, Class::Simple, Class::DpMinMax),
        Abs | Neg | Copysign | Cvt => match d {
            Domain::Int => (Unit::Int, Class::Simple),
            _ => (Unit::Fp, Class::Simple),
        },
        Ld | Ldu => (Unit::Mem, Class::Load),
        St => (Unit::Mem, Class::Store),
        Atom | Red => (Unit::Mem, Class::Atomic),
        Tex => (Unit::Mem, Class::Texture),
        Membar => (Unit::Mem, Class::Fence),
        Bar if instruction.mods.bar != Some(BarMode::WarpSync) => (Unit::Control, Class::Barrier),
        Bar | Bra | Brx | Call | Ret | Exit | Trap | Brkpt | Nanosleep => (Unit::Control, Class::Control),
        _ => (Unit::Int, Class::Simple),
    }
}

/// Scoreboard names of a function's registers.
pub(super) struct Names<'a> {
    pub(super) storage: &'a Storage,
    /// Name of the function's first row.
    pub(super) rows: u32,
    /// Name of its first predicate.
    pub(super) preds: u32,
}

struct Collector<'a> {
    names: &'a Names<'a>,
    body: &'a Body,
    info: OpInfo,
}

impl Collector<'_> {
    /// Names of a register's element (a 64-bit one has two, its rows), and whether it is a predicate.
    fn element(&self, reg: RegId, element: u8) -> (std::ops::Range<u32>, bool) {
        let storage = self.names.storage;
        match storage.pred(reg) {
            Some(slot) => {
                let name = self.names.preds + slot as u32;
                (name..name + 1, true)
            }
            None => {
                let name = self.names.rows + storage.element_row(reg, element);
                (name..name + storage.element_rows(reg), false)
            }
        }
    }

    fn read(&mut self, reg: RegId, element: u8) {
        let (names, pred) = self.element(reg, element);
        let first = names.start as RegName;
        if !pred && !self.info.sources.contains(&first) {
            self.info.sources.push(first);
            self.info.reads += names.len() as u8;
        }
        names.for_each(|name| add(&mut self.info.names, name as RegName));
    }

    fn write(&mut self, reg: RegId, element: u8) {
        let (names, pred) = self.element(reg, element);
        for name in names {
            let name = name as RegName;
            if !self.info.dests.contains(&name) {
                self.info.dests.push(name);
                self.info.writes += !pred as u8;
            }
            add(&mut self.info.names, name);
        }
    }

    fn source(&mut self, operand: &Operand) {
        match operand {
            Operand::Reg(r) | Operand::NotReg(r) => {
                for element in 0..self.body.registers[r.0 as usize].vector.max(1) {
                    self.read(*r, element);
                }
            }
            Operand::RegElement(r, e) => self.read(*r, *e),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Variable(..) | Operand::Function(_) => {
                self.info.immediates = self.info.immediates.saturating_add(1);
            }
            Operand::Vector(list) | Operand::Params(list) => list.iter().for_each(|o| self.source(o)),
            Operand::Address(AddressBase::Reg(r), _) => self.read(*r, 0),
            Operand::Texture { texture, sampler, coords } => {
                for base in [Some(*texture), *sampler].into_iter().flatten() {
                    if let TextureBase::Reg(r) = base {
                        self.read(r, 0);
                    }
                }
                coords.iter().for_each(|o| self.source(o));
            }
            _ => {}
        }
    }

    fn dest(&mut self, operand: &Operand) {
        match operand {
            Operand::Reg(r) => {
                for element in 0..self.body.registers[r.0 as usize].vector.max(1) {
                    self.write(*r, element);
                }
            }
            Operand::RegElement(r, e) => self.write(*r, *e),
            Operand::Vector(list) | Operand::Params(list) => list.iter().for_each(|o| self.dest(o)),
            _ => {}
        }
    }
}

fn add(list: &mut Vec<RegName>, name: RegName) {
    if !list.contains(&name) {
        list.push(name);
    }
}

/// The facts of one instruction. `space` is that of a memory instruction as resolved; `quiet` accesses (parameter storage
/// of called functions, which hardware keeps in registers) count as moves.
pub(super) fn facts(
    instruction: &Instruction,
    body: &Body,
    names: &Names<'_>,
    kernel: bool,
    space: Option<MemSpace>,
    quiet: bool,
    line: u32,
) -> OpInfo {
    use Opcode::*;
    let (unit, class) = if quiet { (Unit::Int, Class::Simple) } else { pipeline(instruction) };
    let opcode = instruction.opcode;
    let returns = opcode == Ret;
    let info = OpInfo {
        unit,
        class,
        space: if quiet { None } else { space },
        sources: Vec::new(),
        dests: Vec::new(),
        names: Vec::new(),
        reads: 0,
        writes: 0,
        immediates: 0,
        control: matches!(opcode, Bra | Brx | Call | Ret | Exit | Trap | Brkpt),
        exit: matches!(opcode, Exit | Trap) || (returns && kernel),
        store: !quiet && matches!(opcode, St | Atom | Red),
        drain: matches!(opcode, Ret | Exit | Membar) || class == Class::Barrier,
        line,
    };
    let mut c = Collector { names, body, info };
    let operands = &instruction.operands;
    if opcode == Call {
        let mut before_target = true;
        for operand in operands {
            match operand {
                Operand::Params(_) if before_target => c.dest(operand),
                Operand::Params(_) => c.source(operand),
                Operand::Reg(_) => {
                    before_target = false;
                    c.source(operand);
                }
                _ => before_target = false,
            }
        }
        c.info.immediates = 0;
    } else {
        let dests = destinations(instruction).min(operands.len());
        operands[dests..].iter().for_each(|o| c.source(o));
        operands[..dests].iter().for_each(|o| c.dest(o));
    }
    if let Some(guard) = instruction.guard {
        c.element(guard.reg, 0).0.for_each(|name| add(&mut c.info.names, name as RegName));
    }
    c.info
}
