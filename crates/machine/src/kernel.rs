//! A kernel as the pipeline sees it: one flat row of static facts per instruction, and its registers as bit masks.

use crate::activity::SmEvent;
use crate::simd::Simd;
use crate::spec::{OpTiming, OpTimings, Spec};
use std::sync::Arc;
use warpwatt_simt::launch::Launch;
use warpwatt_simt::opinfo::{Class, OpInfo, Unit};

/// Execution port of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Port {
    /// One of the SPs.
    Sp,
    /// The SFU (double precision included).
    Sfu,
    /// The load/store unit.
    Mem,
}

/// Number of ports.
pub const PORTS: usize = 3;

/// Static facts of one instruction.
#[derive(Clone, Debug)]
#[repr(align(64))] // in one line of the host's cache
pub struct Op {
    /// Port.
    pub port: Port,
    /// Cycles from entering the unit to the last pipeline stage.
    pub latency: u16,
    /// Cycles between two instructions into one unit.
    pub initiation: u16,
    /// Banks of the register operands to collect, for warp slot 0 (see [`turned`]).
    pub banks: u64,
    /// Banks that hold a second operand, a third, …, one mask each.
    pub more_banks: Box<[u64]>,
    /// Names that must not be pending, and those written: the first word of each mask.
    pub need: u64,
    /// See `need`.
    pub dest: u64,
    /// Banks of the registers written, for warp slot 0.
    pub dest_banks: u64,
    /// 32-bit register writes per lane.
    pub writes: u8,
    /// Goes to the FP pipeline rather than the INT pipeline.
    pub fp: bool,
    /// A load.
    pub load: bool,
}

/// What an issue of the instruction counts.
#[derive(Clone, Debug)]
pub struct OpEvents {
    /// 32-bit register reads per lane.
    pub reads: u8,
    /// Immediate operands.
    pub immediates: u8,
    /// Lane event, and how often it counts per lane.
    pub event: Option<(SmEvent, u8)>,
    /// Event of the lanes that are inactive.
    pub inactive: Option<SmEvent>,
}

/// A set of register banks, as seen by a warp whose registers begin `turn` banks further on: register r of warp w is in
/// bank (r + w) modulo the number of banks.
#[inline(always)]
pub fn turned(set: u64, turn: u32, banks: u32) -> u64 {
    (set << turn | set >> 1 >> (banks - 1 - turn)) & (u64::MAX >> (64 - banks))
}

/// One launch of a kernel, ready to run on SMs.
#[derive(Debug)]
pub struct Kernel {
    /// The functional side.
    pub launch: Arc<Launch>,
    /// Facts per instruction.
    pub ops: Vec<Op>,
    /// What its issues count.
    pub events: Vec<OpEvents>,
    /// Most cycles that an instruction takes an SP or SFU for: latency and initiation interval.
    pub longest: u32,
    /// SPs take its warps in several cycles.
    pub narrow: bool,
    /// 64-bit words of a register mask.
    pub words: usize,
    need: Vec<u64>,
    dest: Vec<u64>,
    /// Address of the first instruction, for the instruction cache.
    pub code_base: u64,
    /// Bytes of one instruction.
    pub instruction_bytes: u64,
    /// CTAs that fit an SM.
    pub ctas_per_sm: u32,
    /// Warps of one CTA.
    pub warps_per_cta: u32,
}

/// Where kernels' instructions are, apart from all data.
const CODE_BASE: u64 = 0x2_0000_0000;

impl Kernel {
    /// Prepares a launch.
    pub fn new(launch: Arc<Launch>, spec: &Spec, ctas_per_sm: u32) -> Kernel {
        let program = &launch.program;
        let words = (program.names as usize).div_ceil(64).max(1);
        let mask = |names: &[u16]| {
            let mut m = vec![0u64; words];
            names.iter().for_each(|&n| m[n as usize / 64] |= 1 << (n % 64));
            m
        };
        let need: Vec<u64> = program.ops.iter().flat_map(|o| mask(&o.names)).collect();
        let dest: Vec<u64> = program.ops.iter().flat_map(|o| mask(&o.dests)).collect();
        let first = need.iter().step_by(words).zip(dest.iter().step_by(words));
        let op = |(info, (&need, &dest))| Op { need, dest, ..Op::new(info, spec) };
        let ops: Vec<Op> = program.ops.iter().zip(first).map(op).collect();
        Kernel {
            longest: ops.iter().map(|op| (op.latency + op.initiation).into()).max().unwrap_or(0),
            ops,
            narrow: Simd::of(spec).narrow(),
            events: program.ops.iter().map(OpEvents::new).collect(),
            need,
            dest,
            words,
            code_base: CODE_BASE,
            instruction_bytes: spec.instruction_bytes as u64,
            ctas_per_sm,
            warps_per_cta: launch.warps_per_cta(),
            launch,
        }
    }

    /// Names that must not be pending for an instruction to issue.
    #[inline]
    pub fn need(&self, pc: u32) -> &[u64] {
        &self.need[pc as usize * self.words..][..self.words]
    }

    /// Names that an instruction writes.
    #[inline]
    pub fn dest(&self, pc: u32) -> &[u64] {
        &self.dest[pc as usize * self.words..][..self.words]
    }
}

impl Op {
    fn new(info: &OpInfo, spec: &Spec) -> Op {
        let timing = timing(info, &spec.op);
        let bank = |name: &u16| 1u64 << (*name as u32 % spec.register_banks);
        let mut layers = Vec::new();
        for name in &info.sources {
            match layers.iter_mut().find(|l| **l & bank(name) == 0) {
                Some(layer) => *layer |= bank(name),
                None => layers.push(bank(name)),
            }
        }
        let mut layers = layers.into_iter();
        Op {
            port: match info.unit {
                Unit::Int | Unit::Fp | Unit::Control => Port::Sp,
                Unit::Dp | Unit::Sfu => Port::Sfu,
                Unit::Mem => Port::Mem,
            },
            latency: timing.latency as u16,
            initiation: timing.initiation as u16,
            banks: layers.next().unwrap_or(0),
            more_banks: layers.collect(),
            need: 0,
            dest: 0,
            dest_banks: info.dests.iter().fold(0, |m, name| m | bank(name)),
            writes: info.writes,
            fp: info.unit == Unit::Fp,
            load: info.class == Class::Load,
        }
    }
}

impl OpEvents {
    fn new(info: &OpInfo) -> OpEvents {
        let (event, inactive) = lane_event(info);
        OpEvents { reads: info.reads, immediates: info.immediates, event, inactive }
    }
}

fn timing(info: &OpInfo, t: &OpTimings) -> OpTiming {
    match info.class {
        Class::Simple => t.simple,
        Class::IntAdd => t.int_add,
        Class::IntMinMax => t.int_minmax,
        Class::IntMul | Class::IntMul24 => t.int_mul,
        Class::IntMad => t.int_mad,
        Class::IntDiv => t.int_div,
        Class::FpAdd => t.fp_add,
        Class::FpMinMax => t.fp_minmax,
        Class::FpMul => t.fp_mul,
        Class::FpFma => t.fp_fma,
        Class::FpDiv => t.fp_div,
        Class::DpAdd => t.dp_add,
        Class::DpMinMax => t.dp_minmax,
        Class::DpMul => t.dp_mul,
        Class::DpFma => t.dp_fma,
        Class::DpDiv => t.dp_div,
        Class::SfuSinCos | Class::SfuSqrt | Class::SfuLog => t.sfu,
        Class::Control | Class::Barrier => t.control,
        Class::Load | Class::Store | Class::Atomic | Class::Texture | Class::Fence => {
            OpTiming { latency: 1, initiation: 1 }
        }
    }
}

/// Which lane event an instruction counts (64-bit integer multiplications count two 32-bit ones).
fn lane_event(info: &OpInfo) -> (Option<(SmEvent, u8)>, Option<SmEvent>) {
    use SmEvent::*;
    let wide = if info.writes > 1 { 2 } else { 1 };
    let event = match info.class {
        Class::Simple | Class::IntAdd | Class::IntMinMax => match info.unit {
            Unit::Fp => Some((FpAdd, 1)),
            Unit::Dp => Some((DpAdd, 1)),
            _ => Some((IntOp, 1)),
        },
        Class::IntMul24 => Some((IntMul24, 1)),
        Class::IntMul | Class::IntMad => Some((IntMul32, wide)),
        Class::IntDiv => Some((IntDiv, 1)),
        Class::FpAdd | Class::FpMinMax => Some((FpAdd, 1)),
        Class::FpFma => Some((FpFma, 1)),
        Class::FpMul => Some((FpMul, 1)),
        Class::FpDiv => Some((FpDiv, 1)),
        Class::DpAdd | Class::DpMinMax => Some((DpAdd, 1)),
        Class::DpFma => Some((DpFma, 1)),
        Class::DpMul => Some((DpMul, 1)),
        Class::DpDiv => Some((DpDiv, 1)),
        Class::SfuSinCos => Some((SfuSinCos, 1)),
        Class::SfuSqrt => Some((SfuSqrt, 1)),
        Class::SfuLog => Some((SfuLog, 1)),
        Class::Control
        | Class::Barrier
        | Class::Load
        | Class::Store
        | Class::Atomic
        | Class::Texture
        | Class::Fence => None,
    };
    let inactive = match (event, info.unit) {
        (Some(_), Unit::Int) => Some(IntInactive),
        (Some(_), Unit::Fp) => Some(FpInactive),
        _ => None,
    };
    (event, inactive)
}
