//! The peek-ahead window (§4.2): what the next three cycles will ask of the lanes.
//!
//! An SM's SPs take instructions, in order, out of the OCEX register, and behind it from the collectors whose operands are
//! all there. The paper's scheduler selects a warp to be executed and, for peek-ahead, the two that would follow. Here:
//! for the decision on cycle `d`, made at its beginning, instructions in the OCEX register want to start in `d` itself,
//! those that leave their collectors in `d` start in `d + 1` at the earliest, and so on. What starts in `d + 1` is
//! always known; of the two cycles after it what gets its last operand meanwhile is missing.
//!
//! *Decisions*: the window gives information if any instruction is known that will start within it, for all SPs of the SM;
//! else ("when there is no active warp to schedule") it gives none. Of several SPs that are free an instruction is
//! expected in one whose lanes are awake, else in the first.

use super::frame::Pipes;
use warpwatt_machine::hooks::Ahead;

/// Cycles of the window: the longest wake-up (§4.2).
pub const WINDOW: usize = 3;
/// Most SPs that are looked at.
const MOST_UNITS: usize = 16;

/// An SP as the window sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    /// The first cycle in which it can take an instruction.
    pub free_at: u64,
    /// Lanes that are awake, of its INT and its FP pipeline.
    pub awake: [u32; 2],
}

/// What will happen in the three cycles after `now`, by pipe; `false`: there is no information. `first`: a cycle before
/// which the first instruction will not start.
pub fn foresee(
    pipes: &Pipes,
    now: u64,
    first: u64,
    list: &[Ahead],
    unit: impl Fn(usize) -> Unit,
    ahead: &mut [[u32; WINDOW]],
) -> bool {
    ahead.fill([0; WINDOW]);
    let count = pipes.units.min(MOST_UNITS);
    let mut units = [Unit::default(); MOST_UNITS];
    (0..count).for_each(|u| units[u] = unit(u));
    let units = &mut units[..count];
    let end = now + WINDOW as u64;
    let (mut known, mut last) = (false, now.max(first));
    for op in list {
        let from = last.max(now + u64::from(op.soonest) - 1);
        let sleepy = |u: &Unit| op.lanes & !u.awake[op.fp as usize] != 0;
        let best = (0..count).min_by_key(|&u| (units[u].free_at.max(from), sleepy(&units[u])));
        let Some(best) = best else { break };
        let start = units[best].free_at.max(from);
        if start > end {
            break;
        }
        let after = start + u64::from(op.busy.max(1));
        (units[best].free_at, last) = (after, start);
        known |= start > now;
        for (i, lanes) in ahead[pipes.at(best, op.fp)].iter_mut().enumerate() {
            let cycle = now + 1 + i as u64;
            *lanes |= if (start..after).contains(&cycle) { op.lanes } else { 0 };
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Occupancy, Scope};
    use warpwatt_machine::spec::Spec;

    fn op(lanes: u32, soonest: u32) -> Ahead {
        Ahead { lanes, fp: false, busy: 1, soonest }
    }

    fn look(units: u32, scope: Scope, first: u64, list: &[Ahead]) -> (bool, Vec<[u32; 3]>) {
        let mut spec = Spec::preset("pascal16").unwrap();
        spec.sp_units = units;
        let pipes = Pipes::new(&spec, scope, Occupancy::Issue);
        let mut ahead = vec![[9; 3]; pipes.count()];
        let unit = |_| Unit { free_at: 0, awake: [u32::MAX; 2] };
        (foresee(&pipes, 100, first, list, unit, &mut ahead), ahead)
    }

    #[test]
    fn warps_follow_one_another() {
        // Nothing held: the warp that is dispatched now starts in the next cycle, two more follow.
        let ready = [op(1, 2), op(2, 2), op(4, 2), op(8, 2)];
        assert_eq!(look(1, Scope::Lane, 0, &ready), (true, vec![[1, 2, 4]]));
        // One in the OCEX register starts now.
        let held = [op(1, 1), op(2, 2), op(4, 2)];
        assert_eq!(look(1, Scope::Lane, 0, &held), (true, vec![[2, 4, 0]]));
        // It has to wait for its lanes until cycle 102.
        assert_eq!(look(1, Scope::Lane, 102, &held), (true, vec![[0, 1, 2]]));
    }

    #[test]
    fn nothing_to_schedule_is_no_information() {
        assert_eq!(look(1, Scope::Lane, 0, &[]), (false, vec![[0; 3]]));
        assert_eq!(look(1, Scope::Lane, 0, &[op(1, 1)]), (false, vec![[0; 3]]));
    }

    #[test]
    fn long_instructions_keep_their_unit() {
        let list = [Ahead { busy: 2, ..op(1, 2) }, op(2, 2)];
        assert_eq!(look(1, Scope::Lane, 0, &list), (true, vec![[1, 1, 2]]));
        assert_eq!(look(2, Scope::Lane, 0, &list), (true, vec![[1, 1, 0], [2, 0, 0]]));
    }

    #[test]
    fn types_are_apart() {
        let list = [op(1, 2), Ahead { fp: true, ..op(2, 2) }];
        assert_eq!(look(1, Scope::Type, 0, &list), (true, vec![[1, 0, 0], [0, 2, 0]]));
    }
}
