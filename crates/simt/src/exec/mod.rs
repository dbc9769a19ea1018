//! Executing one warp instruction.
//!
//! [`step`] is one large function that the compiler sees whole, compiled twice: for the baseline processor and for one
//! with wide vectors; the program knows which ([`crate::alu::Level`]).

mod atomic;
mod builtin;
mod control;
mod format;
mod memory;
mod registers;
mod texture;
mod warpwide;

use warpwatt_ptx::ir::Special;

use crate::alu::{Inputs, Output};
use crate::cta::Cta;
use crate::effect::{Effect, EffectKind};
use crate::fault::{Fault, FaultKind};
use crate::launch::Launch;
use crate::memory::GlobalAccess;
use crate::program::Program;
use crate::program::op::{Alu, Dest, Kind, Op};
use crate::warp::Warp;

/// A text printed by `vprintf`: one record per lane and call, in order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Printed {
    /// Linear CTA index.
    pub cta: u64,
    /// Linear thread index in the CTA.
    pub thread: u32,
    /// The formatted text.
    pub text: String,
}

/// What surrounds a warp: memory, where it runs, what time it is.
#[derive(Debug)]
pub struct Env<'a, M> {
    /// The launch that the warp belongs to.
    pub launch: &'a Launch,
    /// Global memory.
    pub memory: M,
    /// `%smid`.
    pub sm: u32,
    /// `%nsmid`.
    pub sms: u32,
    /// `%warpid`: the warp's slot in the SM.
    pub warp_slot: u32,
    /// `%nwarpid`: slots of an SM.
    pub warp_slots: u32,
    /// `%clock64`.
    pub cycle: u64,
    /// `%globaltimer`.
    pub nanoseconds: u64,
    /// Receives printed text; only `vprintf` allocates here.
    pub print: &'a mut Vec<Printed>,
}

impl<'a, M: GlobalAccess> Env<'a, M> {
    /// An environment at time zero on SM 0 of one.
    pub fn new(launch: &'a Launch, memory: M, print: &'a mut Vec<Printed>) -> Env<'a, M> {
        Env { launch, memory, sm: 0, sms: 1, warp_slot: 0, warp_slots: 48, cycle: 0, nanoseconds: 0, print }
    }
}

/// A fault before its place is known.
#[derive(Debug)]
pub(crate) struct Problem {
    lane: u32,
    kind: FaultKind,
}

pub(crate) type Outcome<T = ()> = Result<T, Box<Problem>>;

#[cold]
pub(crate) fn problem<T>(lane: u32, kind: FaultKind) -> Outcome<T> {
    Err(Box::new(Problem { lane, kind }))
}

/// Executes the next instruction of a warp that is not done: changes registers, memory, the CTA's barriers, advances the
/// pc, and describes what happened in `effect`. Does not allocate, except to print, to fault, and for recursion deeper
/// than before. A warp that the effect says must wait at a barrier must not be stepped until it is released. After a
/// fault the warp's state is not defined.
#[inline]
pub fn step<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
) -> Result<(), Box<Fault>> {
    #[cfg(target_arch = "x86_64")]
    if env.launch.program.level.is_wide() {
        // SAFETY: such a level comes from `Level::detect` alone, which has found the processor's features.
        return unsafe { step_wide(warp, cta, env, effect) };
    }
    step_portable(warp, cta, env, effect)
}

/// [`step_inline`], apart from the caller's code: several times what that has itself, and the caller seldom comes here.
#[inline(never)]
fn step_portable<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
) -> Result<(), Box<Fault>> {
    step_inline(warp, cta, env, effect)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn step_wide<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
) -> Result<(), Box<Fault>> {
    step_inline(warp, cta, env, effect)
}

#[inline(always)]
pub(crate) fn step_inline<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
) -> Result<(), Box<Fault>> {
    if warp.reduction.is_some() {
        control::finish_reduction(warp, cta);
    }
    let launch = env.launch;
    let program = &*launch.program;
    let pc = warp.pc();
    let Some(op) = program.code.get(pc as usize) else {
        let kind = FaultKind::Internal { problem: "a step of a finished warp".to_string() };
        return Err(Fault::new(kind, launch, warp, cta, pc, 0));
    };
    let active = warp.active();
    let lanes = match op.guard {
        None => active,
        Some(guard) => active & warp.pred(guard),
    };
    effect.pc = pc;
    effect.active = active;
    effect.executed = lanes;
    effect.kind = EffectKind::Alu;
    effect.waits = false;
    effect.released = 0;
    effect.finished = false;
    if lanes == 0 {
        if program.ops[pc as usize].control {
            effect.kind = EffectKind::Branch;
        }
        warp.stack.jump(pc + 1);
        return Ok(());
    }
    if let Some(index) = op.refresh {
        refresh(warp, env, index);
    }
    match execute(warp, cta, env, effect, program, op, lanes) {
        Ok(()) => Ok(()),
        Err(problem) => Err(Fault::new(problem.kind, launch, warp, cta, pc, problem.lane)),
    }
}

#[inline(always)]
fn execute<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    op: &Op,
    lanes: u32,
) -> Outcome {
    let pc = effect.pc;
    match &op.kind {
        Kind::Alu(a) => arithmetic(warp, &mut effect.scratch.0, program, a, lanes),
        Kind::Load(m) => memory::load(warp, cta, env, effect, program, m, lanes)?,
        Kind::Store(m) => memory::store(warp, cta, env, effect, program, m, lanes)?,
        Kind::Branch { target } => {
            effect.kind = EffectKind::Branch;
            if lanes == effect.active {
                warp.stack.jump(*target);
            } else {
                warp.stack.split(lanes, *target, pc + 1, program.reconvergence[pc as usize]);
            }
            return Ok(());
        }
        Kind::Move { dest, src } => warp.copy(program, *dest, *src, lanes),
        Kind::MoveWide { dest, src } => warp.copy_wide(program, *dest, *src, lanes),
        Kind::Exit => {
            effect.kind = EffectKind::Exit;
            control::exit(warp, cta, effect, lanes);
            return Ok(());
        }
        other => return rare(warp, cta, env, effect, program, other, lanes),
    }
    warp.stack.jump(pc + 1);
    Ok(())
}

/// Everything that no inner loop is made of.
#[inline(never)]
fn rare<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    kind: &Kind,
    lanes: u32,
) -> Outcome {
    let pc = effect.pc;
    match kind {
        Kind::Move16 { dest, src } => warp.copy16(program, *dest, *src, lanes),
        Kind::MovePred { dest, src } => {
            let value = warp.pred(*src);
            warp.set_pred(*dest, value, lanes);
        }
        Kind::Offset { dest, wide, src, add, frame } => {
            let add = if *frame { add.wrapping_add(warp.frame.local as u64) } else { *add };
            warp.add_constant(program, *dest, *wide, *src, add, lanes);
        }
        Kind::Pack(p) => warp.pack(program, p, lanes),
        Kind::Unpack(p) => warp.unpack(program, p, lanes),
        Kind::IsSpace { dest, wide, src, space } => {
            let value = memory::is_space(warp, program, *wide, *src, *space);
            warp.set_pred(*dest, value, lanes);
        }
        Kind::Atomic(a) => atomic::atomic(warp, cta, env, effect, program, a, lanes)?,
        Kind::Texture(t) => texture::fetch(warp, env, effect, program, t, lanes)?,
        Kind::BranchList { index, targets } => {
            return control::branch_list(warp, effect, program, *index, targets, lanes);
        }
        Kind::Call(call) => return control::call(warp, cta, env, effect, program, call, lanes),
        Kind::Ret => {
            control::ret(warp, effect, program, lanes);
            return Ok(());
        }
        Kind::Trap => return problem(lanes.trailing_zeros(), FaultKind::Trap),
        Kind::Barrier(b) => control::barrier(warp, cta, effect, program, b, lanes)?,
        Kind::WarpSync { member } => {
            warpwide::sync(warp, program, *member, lanes)?;
            effect.kind = EffectKind::WarpSync;
        }
        Kind::Fence => effect.kind = EffectKind::Fence,
        Kind::Sleep(src) => {
            let longest = warp.lanes_max(program, *src, lanes);
            effect.kind = EffectKind::Sleep(longest);
        }
        Kind::ActiveMask { dest } => warp.set_uniform(*dest, lanes, lanes),
        Kind::Vote { mode, dest, src, member } => {
            warpwide::vote(warp, program, *mode, *dest, *src, *member, lanes)?;
        }
        Kind::Shuffle(s) => warpwide::shuffle(warp, program, s, lanes)?,
        Kind::Match { all, wide, dest, pred, src, member } => {
            let to = warpwide::MatchDest { dest: *dest, pred: *pred };
            warpwide::matching(warp, program, *all, *wide, to, *src, *member, lanes)?;
        }
        Kind::Redux { op, signed, dest, src, member } => {
            warpwide::redux(warp, program, (*op, *signed), *dest, *src, *member, lanes)?;
        }
        // The frequent ones.
        Kind::Alu(_)
        | Kind::Load(_)
        | Kind::Store(_)
        | Kind::Branch { .. }
        | Kind::Move { .. }
        | Kind::MoveWide { .. }
        | Kind::Exit => {}
    }
    warp.stack.jump(pc + 1);
    Ok(())
}

#[inline(always)]
fn arithmetic(warp: &mut Warp, out: &mut Output, program: &Program, a: &Alu, lanes: u32) {
    let regs = warp.registers(program);
    let preds = a.pred_sources.map(|p| warp.pred(p));
    let rows = a.sources.map(|s| regs.window(s));
    a.op.execute(&Inputs { rows, preds, carry: warp.carry }, out);
    match a.dest {
        Dest::Row(row) => warp.row_mut(row).merge(&out.window[0], lanes),
        Dest::Wide(row) => crate::alu::merge64(warp.window_mut(row), &out.window, lanes),
        Dest::Preds([p, q]) => {
            let [vp, vq] = out.preds;
            warp.set_pred(p, vp, lanes);
            warp.set_pred(q, vq, lanes);
        }
    }
    if a.op.shape().carry_out {
        warp.carry = warp.carry & !lanes | out.carry & lanes;
    }
}

/// Writes a special register that changes.
#[cold]
#[inline(never)]
fn refresh<M>(warp: &mut Warp, env: &Env<'_, M>, index: u16) {
    let Some(s) = env.launch.program.specials.get(index as usize) else { return };
    let value = match s.special {
        Special::WarpId => env.warp_slot as u64,
        Special::NWarpId => env.warp_slots as u64,
        Special::SmId => env.sm as u64,
        Special::NSmId => env.sms as u64,
        Special::Clock | Special::Clock64 => env.cycle,
        Special::ClockHi => env.cycle >> 32,
        Special::GlobalTimer | Special::GlobalTimerLo => env.nanoseconds,
        Special::GlobalTimerHi => env.nanoseconds >> 32,
        _ => return,
    };
    warp.write_special(s.row, s.wide, [value; 32]);
}
