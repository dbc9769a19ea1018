//! Exits, returns, calls, branches through lists, barriers.

use super::{Env, Outcome, builtin, problem};
use crate::alu::Row;
use crate::cta::{Arrival, BarrierOp, Cta};
use crate::effect::{Effect, EffectKind};
use crate::fault::{BarrierProblem, FaultKind};
use crate::memory::{GlobalAccess, lanes_of};
use crate::program::Program;
use crate::program::op::{Argument, Barrier, Call, Slot, Src, Target};
use crate::space::FUNCTION_BASE;
use crate::warp::{Frame, PendingReduction, ReductionDest, Warp};

/// Lanes exit; the last one of the warp may complete barriers.
#[inline(always)]
pub(super) fn exit(warp: &mut Warp, cta: &mut Cta, effect: &mut Effect, lanes: u32) {
    warp.stack.exit(lanes);
    if warp.done() {
        effect.finished = true;
        effect.released = cta.exit(warp.warp_in_cta());
    } else {
        warp.resume_frame();
    }
}

/// Lanes return from a function: return values go to where the caller wants them.
pub(super) fn ret(warp: &mut Warp, effect: &mut Effect, program: &Program, lanes: u32) {
    effect.kind = EffectKind::Branch;
    let frame = warp.frame;
    let callee = &program.functions[frame.function as usize];
    let below = (warp.stack.top.frame as usize).checked_sub(1).and_then(|f| warp.frames.get(f)).copied();
    let call = program.code.get(frame.call as usize).map(|op| &op.kind);
    if let (Some(caller), Some(crate::program::op::Kind::Call(call))) = (below, call) {
        for (&from, &to) in callee.returns.iter().zip(&call.returns) {
            copy_slot(warp, frame, from, caller, to, lanes);
        }
    }
    warp.stack.leave_frame(lanes);
    warp.resume_frame();
}

/// Copies a parameter or return value between frames.
fn copy_slot(warp: &mut Warp, from_frame: Frame, from: Slot, to_frame: Frame, to: Slot, lanes: u32) {
    match (from, to) {
        (Slot::Pred { slot: from }, Slot::Pred { slot: to }) => {
            let value = warp.preds[from_frame.pred as usize + from as usize];
            let place = &mut warp.preds[to_frame.pred as usize + to as usize];
            *place = *place & !lanes | value & lanes;
        }
        (Slot::Pred { .. }, _) | (_, Slot::Pred { .. }) => {}
        _ => {
            let words = slot_words(from).min(slot_words(to));
            for word in 0..words {
                let value = read_word(warp, from_frame, from, word);
                write_word(warp, to_frame, to, word, &value, lanes);
            }
        }
    }
}

fn slot_words(slot: Slot) -> u32 {
    match slot {
        Slot::Local { bytes, .. } => bytes.div_ceil(4),
        Slot::Row { wide, .. } => 1 + wide as u32,
        Slot::Pred { .. } => 0,
    }
}

/// A 32-bit word of a slot. The words of a 64-bit register are every lane's low half, then every lane's high half.
fn read_word(warp: &Warp, frame: Frame, slot: Slot, word: u32) -> Row {
    match slot {
        Slot::Local { offset, .. } => warp.local[((frame.local + offset) / 4 + word) as usize],
        Slot::Row { row, wide: false } => warp.rows[(frame.row + row) as usize],
        Slot::Row { row, wide: true } => {
            let at = (frame.row + row) as usize;
            let values = bytemuck::cast_slice::<Row, u64>(&warp.rows[at..at + 2]);
            Row(std::array::from_fn(|lane| (values[lane] >> (32 * word)) as u32))
        }
        Slot::Pred { .. } => Row::ZERO,
    }
}

fn write_word(warp: &mut Warp, frame: Frame, slot: Slot, word: u32, value: &Row, lanes: u32) {
    match slot {
        Slot::Local { offset, .. } => warp.local[((frame.local + offset) / 4 + word) as usize].merge(value, lanes),
        Slot::Row { row, wide: false } => warp.rows[(frame.row + row) as usize].merge(value, lanes),
        Slot::Row { row, wide: true } => {
            let at = (frame.row + row) as usize;
            let values = bytemuck::cast_slice_mut::<Row, u64>(&mut warp.rows[at..at + 2]);
            let shift = 32 * word;
            for lane in lanes_of(lanes) {
                values[lane] = values[lane] & !(0xffff_ffff << shift) | (value.0[lane] as u64) << shift;
            }
        }
        Slot::Pred { .. } => {}
    }
}

pub(super) fn call<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    call: &Call,
    lanes: u32,
) -> Outcome {
    let pc = effect.pc;
    effect.kind = EffectKind::Branch;
    match &call.target {
        Target::Function(f) => enter(warp, program, call, *f, lanes, pc),
        Target::Builtin(b) => {
            builtin::call(warp, cta, env, effect, program, (*b, call), lanes)?;
            warp.stack.jump(pc + 1);
            Ok(())
        }
        Target::Indirect { src, wide, functions } => {
            let first = lanes.trailing_zeros();
            let regs = warp.registers(program);
            let target = regs.lane(*src, *wide, first as usize);
            let function = functions.iter().copied().find(|&f| {
                let id = program.functions[f as usize].id.0;
                target == FUNCTION_BASE + 16 * id as u64
            });
            let Some(function) = function else {
                return problem(first, FaultKind::InvalidCall { target });
            };
            let same = lanes_of(lanes).filter(|&lane| regs.lane(*src, *wide, lane) == target);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            if same != lanes {
                // The others call again once these have returned.
                warp.stack.split_call(same, lanes & !same, pc);
            }
            enter(warp, program, call, function, same, pc)
        }
    }
}

/// Calls `function` for the lanes of the top entry that are in `lanes`.
fn enter(warp: &mut Warp, program: &Program, call: &Call, function: u32, lanes: u32, pc: u32) -> Outcome {
    let Some(frame) = warp.push_frame(program, function, pc) else {
        return problem(lanes.trailing_zeros(), FaultKind::StackOverflow { depth: warp.depth() });
    };
    let caller = warp.frame;
    let callee = &program.functions[function as usize];
    for (argument, &param) in call.arguments.iter().zip(&callee.params) {
        match *argument {
            Argument::Local { offset, bytes } => {
                copy_slot(warp, caller, Slot::Local { offset, bytes }, frame, param, lanes);
            }
            Argument::Pred(p) => {
                if let Slot::Pred { slot } = param {
                    let value = warp.pred(p);
                    let place = &mut warp.preds[frame.pred as usize + slot as usize];
                    *place = *place & !lanes | value & lanes;
                }
            }
            Argument::Row { src, wide } => pass(warp, program, src, wide, frame, param, lanes),
        }
    }
    warp.stack.top.pc = pc + 1;
    let index = warp.enter_frame(frame);
    warp.stack.call(lanes, callee.entry, index);
    Ok(())
}

/// Passes a register or immediate.
fn pass(warp: &mut Warp, program: &Program, src: Src, wide: bool, frame: Frame, param: Slot, lanes: u32) {
    let values: [u64; 32] = {
        let regs = warp.registers(program);
        std::array::from_fn(|lane| regs.lane(src, wide, lane))
    };
    for word in 0..slot_words(param) {
        let value = Row(values.map(|v| (v >> (32 * word)) as u32));
        write_word(warp, frame, param, word, &value, lanes);
    }
}

pub(super) fn branch_list(
    warp: &mut Warp,
    effect: &mut Effect,
    program: &Program,
    index: Src,
    targets: &[u32],
    lanes: u32,
) -> Outcome {
    effect.kind = EffectKind::Branch;
    let pc = effect.pc;
    let values = *warp.registers(program).row(index);
    let mut sides = [(0u32, 0u32); 33];
    let mut used = 0;
    if effect.active & !lanes != 0 {
        sides[0] = (effect.active & !lanes, pc + 1);
        used = 1;
    }
    for lane in lanes_of(lanes) {
        let value = values[lane];
        let Some(&target) = targets.get(value as usize) else {
            let kind = FaultKind::InvalidBranch { index: value, targets: targets.len() as u32 };
            return problem(lane as u32, kind);
        };
        match sides[..used].iter_mut().find(|s| s.1 == target) {
            Some(side) => side.0 |= 1 << lane,
            None => {
                sides[used] = (1 << lane, target);
                used += 1;
            }
        }
    }
    if used == 1 {
        warp.stack.jump(sides[0].1);
    } else {
        // The first target's lanes go first.
        warp.stack.split_many(sides[..used].iter().rev().copied(), program.reconvergence[pc as usize]);
    }
    Ok(())
}

/// Value of an operand that must be the same for all lanes.
fn uniform(warp: &Warp, program: &Program, src: Src, lanes: u32) -> Option<u32> {
    let row = warp.registers(program).row(src);
    let first = row[lanes.trailing_zeros() as usize & 31];
    lanes_of(lanes).all(|lane| row[lane] == first).then_some(first)
}

pub(super) fn barrier(
    warp: &mut Warp,
    cta: &mut Cta,
    effect: &mut Effect,
    program: &Program,
    b: &Barrier,
    lanes: u32,
) -> Outcome {
    let lane = lanes.trailing_zeros();
    let fault = |barrier, p| problem(lane, FaultKind::Barrier { barrier, problem: p });
    if !b.aligned && warp.diverged() != 0 {
        let barrier = warp.registers(program).row(b.number)[lane as usize & 31];
        return fault(barrier, BarrierProblem::Diverged(warp.diverged()));
    }
    let Some(number) = uniform(warp, program, b.number, lanes) else {
        return fault(warp.registers(program).row(b.number)[lane as usize & 31], BarrierProblem::NotUniform);
    };
    let count = match b.count {
        None => None,
        Some(src) => match uniform(warp, program, src, lanes) {
            None => return fault(number, BarrierProblem::NotUniform),
            some => some,
        },
    };
    let dest = match b.op {
        BarrierOp::RedPopc => Some(ReductionDest::Row(warp.frame.row + b.dest)),
        BarrierOp::RedAnd | BarrierOp::RedOr if b.dest != crate::program::op::NO_PRED as u32 => {
            Some(ReductionDest::Pred(warp.frame.pred + b.dest))
        }
        _ => None,
    };
    warp.reduction = dest.map(|dest| PendingReduction { lanes, dest });
    let arrival = Arrival {
        warp: warp.warp_in_cta(),
        barrier: number,
        count,
        op: b.op,
        lanes,
        predicate: warp.pred(b.predicate),
    };
    match cta.arrive(arrival) {
        Ok(answer) => {
            effect.kind = EffectKind::Barrier;
            effect.waits = answer.waits;
            effect.released = answer.released;
            Ok(())
        }
        Err(p) => fault(number, p),
    }
}

/// Writes the result of the barrier reduction that released the warp.
#[cold]
pub(super) fn finish_reduction(warp: &mut Warp, cta: &Cta) {
    let Some(PendingReduction { lanes, dest }) = warp.reduction.take() else { return };
    let value = cta.result(warp.warp_in_cta());
    match dest {
        ReductionDest::Row(row) => {
            if let Some(row) = warp.rows.get_mut(row as usize) {
                row.merge(&Row::broadcast(value), lanes);
            }
        }
        ReductionDest::Pred(slot) => {
            if let Some(p) = warp.preds.get_mut(slot as usize) {
                let value = if value != 0 { u32::MAX } else { 0 };
                *p = *p & !lanes | value & lanes;
            }
        }
    }
}
