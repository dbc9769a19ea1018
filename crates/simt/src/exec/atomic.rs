//! Atomics and reductions: shared memory at once, global memory at once or deferred, lane by lane in lane order.

use super::memory::{addresses, begin, blame, rebase, split};
use super::{Env, Outcome, problem};
use crate::cta::Cta;
use crate::effect::{AtomicDest, Effect, EffectKind};
use crate::fault::{AccessError, AccessProblem, Direction, FaultKind};
use crate::memory::{GlobalAccess, lanes_of, on_bytes};
use crate::opinfo::MemSpace;
use crate::program::Program;
use crate::program::op::Atomic;
use crate::space::SHARED_WINDOW;
use crate::warp::Warp;

pub(super) fn atomic<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    a: &Atomic,
    lanes: u32,
) -> Outcome {
    let bytes = a.ty.bytes();
    let access = &mut effect.access;
    begin(access, bytes, bytes);
    access.bypass_l1 = a.bypass_l1;
    effect.kind = EffectKind::Atomic;
    addresses(warp, program, &a.address, lanes, &mut access.address);
    let (mut global, mut shared) = (0, 0);
    match a.space {
        MemSpace::Shared => shared = lanes,
        MemSpace::Generic => {
            let s = split(&access.address, lanes);
            let other = s.local | s.param;
            if other != 0 {
                let lane = other.trailing_zeros();
                let (space, address) = (MemSpace::Local, access.address[lane as usize]);
                let e = AccessError { problem: AccessProblem::Forbidden, lane, address };
                return refused(e, space, bytes);
            }
            global = s.global;
            shared = s.shared;
            rebase(&mut access.address, shared, SHARED_WINDOW);
        }
        _ => global = lanes,
    }
    access.global = global;
    access.shared = shared;

    let regs = warp.registers(program);
    let wide = bytes == 8;
    let operands = &mut effect.atomic;
    operands.op = a.op;
    operands.ty = a.ty;
    operands.reduction = a.reduction;
    operands.lanes = 0;
    operands.dest = AtomicDest::None;
    for lane in lanes_of(lanes) {
        operands.operand[lane] = regs.lane(a.operand, wide, lane);
        operands.swap[lane] = regs.lane(a.swap, wide, lane);
    }

    let mut old = [0u64; 32];
    let mut done = shared;
    let size = cta.shared.len() as u64;
    for lane in lanes_of(shared) {
        let at = access.address[lane];
        let place = match cta.shared.get_mut(at as usize..).and_then(|s| s.get_mut(..bytes as usize)) {
            Some(place) if at & (bytes as u64 - 1) == 0 => place,
            _ => return refused(blame(&access.address, 1 << lane, bytes, 0, size), MemSpace::Shared, bytes),
        };
        old[lane] = on_bytes(place, a.op, a.ty, operands.operand[lane], operands.swap[lane], false);
    }
    if M::DEFERRED_ATOMICS {
        for lane in lanes_of(global) {
            if let Err(e) = env.memory.check(lane as u32, access.address[lane], bytes) {
                return refused(e, MemSpace::Global, bytes);
            }
        }
        operands.lanes = global;
        operands.dest = match a.dest {
            _ if global == 0 => AtomicDest::None,
            Some(row) if wide => AtomicDest::Wide(warp.frame.row + row),
            Some(row) => AtomicDest::Row(warp.frame.row + row),
            None => AtomicDest::None,
        };
    } else {
        for lane in lanes_of(global) {
            let (operand, swap) = (operands.operand[lane], operands.swap[lane]);
            match env.memory.atomic(lane as u32, access.address[lane], a.op, a.ty, operand, swap) {
                Ok(value) => old[lane] = value,
                Err(e) => return refused(e, MemSpace::Global, bytes),
            }
        }
        done |= global;
    }
    if let Some(dest) = a.dest {
        warp.set_lanes(dest, wide, &old, done);
    }
    Ok(())
}

#[cold]
fn refused(e: AccessError, space: MemSpace, bytes: u32) -> Outcome {
    problem(e.lane, FaultKind::access(e, space, Direction::Atomic, bytes))
}
