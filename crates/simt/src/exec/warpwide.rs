//! Votes, shuffles, matches and reductions across the lanes of a warp.
//!
//! A `.sync` form waits for the lanes that its member mask names. A warp that executes in lockstep cannot wait for lanes
//! of its own: if one of them has diverged, that is a fault. Lanes that have exited are not waited for (PTX manual), nor
//! those whose guard is false (undefined there). A lane that executes the instruction must be in its own mask (PTX manual:
//! otherwise the behaviour is undefined; here it is a fault). Masks may differ from lane to lane, as groups made by
//! `match` have them.

use warpwatt_ptx::ir::ShflMode;

use super::{Outcome, problem};
use crate::alu::Row;
use crate::effect::AtomicOp;
use crate::fault::FaultKind;
use crate::memory::lanes_of;
use crate::program::Program;
use crate::program::op::{NO_PRED, PredSrc, Shuffle, Src, Vote};
use crate::warp::Warp;

/// Checks the member masks of the executing lanes, and gives them. A form without `.sync` has none: all lanes that
/// execute it.
fn members(warp: &Warp, program: &Program, instruction: &str, member: Option<Src>, lanes: u32) -> Outcome<[u32; 32]> {
    let Some(member) = member else { return Ok([u32::MAX; 32]) };
    let masks = *warp.registers(program).row(member);
    let diverged = warp.diverged();
    for lane in lanes_of(lanes) {
        if masks[lane] >> lane & 1 == 0 {
            return problem(lane as u32, FaultKind::MemberMask { mask: masks[lane] });
        }
        let missing = masks[lane] & diverged;
        if missing != 0 {
            return problem(lane as u32, FaultKind::Diverged { instruction: instruction.to_string(), missing });
        }
    }
    Ok(masks)
}

/// `bar.warp.sync`: lanes that execute in lockstep have met already.
pub(super) fn sync(warp: &Warp, program: &Program, member: Src, lanes: u32) -> Outcome {
    members(warp, program, "bar.warp.sync", Some(member), lanes).map(|_| ())
}

pub(super) fn vote(
    warp: &mut Warp,
    program: &Program,
    mode: Vote,
    dest: u32,
    src: PredSrc,
    member: Option<Src>,
    lanes: u32,
) -> Outcome {
    let masks = members(warp, program, "vote.sync", member, lanes)?;
    let value = warp.pred(src);
    let mut ballots = [0; 32];
    let mut result = 0;
    for lane in lanes_of(lanes) {
        let group = masks[lane] & lanes;
        let ones = value & group;
        ballots[lane] = ones;
        let holds = match mode {
            Vote::All => ones == group,
            Vote::Any => ones != 0,
            Vote::Uni => ones == group || ones == 0,
            Vote::Ballot => false,
        };
        result |= (holds as u32) << lane;
    }
    if mode == Vote::Ballot {
        warp.row_mut(dest).merge(&Row(ballots), lanes);
    } else {
        warp.set_pred(dest as u16, result, lanes);
    }
    Ok(())
}

/// PTX manual, `shfl`: the pseudo code under "Description". The value of a lane that does not execute is undefined there;
/// here it is what its register holds.
pub(super) fn shuffle(warp: &mut Warp, program: &Program, s: &Shuffle, lanes: u32) -> Outcome {
    members(warp, program, "shfl.sync", s.member, lanes)?;
    let regs = warp.registers(program);
    let (values, b, c) = (*regs.row(s.src), *regs.row(s.lane), *regs.row(s.clamp));
    let mut result = [0; 32];
    let mut inside = 0u32;
    for lane in lanes_of(lanes) {
        let me = lane as i32;
        let (bval, cval, segment) = ((b[lane] & 31) as i32, (c[lane] & 31) as i32, (c[lane] >> 8 & 31) as i32);
        let max = me & segment | cval & !segment;
        let min = me & segment;
        let (from, valid) = match s.mode {
            ShflMode::Up => (me - bval, me - bval >= max),
            ShflMode::Down => (me + bval, me + bval <= max),
            ShflMode::Bfly => (me ^ bval, me ^ bval <= max),
            ShflMode::Idx => {
                let j = min | bval & !segment;
                (j, j <= max)
            }
        };
        let from = if valid { from } else { me };
        result[lane] = values[from as usize & 31];
        inside |= (valid as u32) << lane;
    }
    warp.row_mut(s.dest).merge(&Row(result), lanes);
    warp.set_pred(s.pred, inside, lanes);
    Ok(())
}

/// Destinations of `match`.
#[derive(Clone, Copy)]
pub(super) struct MatchDest {
    pub(super) dest: u32,
    pub(super) pred: u16,
}

#[allow(clippy::too_many_arguments)]
pub(super) fn matching(
    warp: &mut Warp,
    program: &Program,
    all: bool,
    wide: bool,
    to: MatchDest,
    src: Src,
    member: Option<Src>,
    lanes: u32,
) -> Outcome {
    let masks = members(warp, program, "match.sync", member, lanes)?;
    let regs = warp.registers(program);
    let mut result = [0; 32];
    let mut pred = 0u32;
    for lane in lanes_of(lanes) {
        let group = masks[lane] & lanes;
        let mine = regs.lane(src, wide, lane);
        let equal = lanes_of(group).filter(|&l| regs.lane(src, wide, l) == mine).fold(0, |m, l| m | 1 << l);
        if !all {
            result[lane] = equal;
        } else if equal == group {
            result[lane] = group;
            pred |= 1 << lane;
        }
    }
    warp.row_mut(to.dest).merge(&Row(result), lanes);
    if to.pred != NO_PRED {
        warp.set_pred(to.pred, pred, lanes);
    }
    Ok(())
}

pub(super) fn redux(
    warp: &mut Warp,
    program: &Program,
    (op, signed): (AtomicOp, bool),
    dest: u32,
    src: Src,
    member: Option<Src>,
    lanes: u32,
) -> Outcome {
    let masks = members(warp, program, "redux.sync", member, lanes)?;
    let values = *warp.registers(program).row(src);
    let mut result = [0; 32];
    for lane in lanes_of(lanes) {
        let group = lanes_of(masks[lane] & lanes).map(|l| values[l]);
        let reduced = group.reduce(|a, b| match op {
            AtomicOp::Min if signed => (a as i32).min(b as i32) as u32,
            AtomicOp::Max if signed => (a as i32).max(b as i32) as u32,
            AtomicOp::Min => a.min(b),
            AtomicOp::Max => a.max(b),
            AtomicOp::And => a & b,
            AtomicOp::Or => a | b,
            AtomicOp::Xor => a ^ b,
            _ => a.wrapping_add(b),
        });
        result[lane] = reduced.unwrap_or(0);
    }
    warp.row_mut(dest).merge(&Row(result), lanes);
    Ok(())
}
