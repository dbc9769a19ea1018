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
//! expected in one whose lanes are awake, else in the first. On narrow SPs ([`warpwatt_machine::simd`]) an instruction wants
//! the lanes of its sub-warps one after the other, and what is left of one that has begun comes before all others: this is why
//! §6.4.3 finds the window more accurate there.

use super::frame::Pipes;
use crate::lanes::Scope;
use warpwatt_machine::hooks::Ahead;

/// Cycles of the window: the longest wake-up (§4.2).
pub const WINDOW: usize = 3;
/// Most SPs that are looked at.
pub const MOST_UNITS: usize = 16;

/// Lanes wanted in the cycle of the decision, and in those of the window.
pub type Wanted = [u32; 1 + WINDOW];

/// An SP as the window sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    /// Cycles from the window's decision on for which it can take no instruction.
    pub busy: u32,
    /// Lanes that are not awake, of its INT and its FP pipeline.
    pub asleep: [u32; 2],
}

/// The last cycle of the window, counted from the decision's.
const END: u32 = WINDOW as u32;

/// Cycles from `now` to a cycle; those beyond the window are alike.
#[inline(always)]
pub fn within(now: u64, cycle: u64) -> u32 {
    cycle.saturating_sub(now).min(u64::from(END) + 1) as u32
}

/// The window over the three cycles after one. Cycles are counted from that one, the decision's.
#[derive(Debug)]
pub struct Sight<'a> {
    pipes: &'a Pipes,
    /// The next instruction will not start before this cycle.
    last: u32,
    units: &'a mut [Unit],
    ahead: &'a mut [Wanted],
    /// An instruction will start in one of the cycles: the window gives information.
    pub known: bool,
}

impl<'a> Sight<'a> {
    /// Nothing is known yet. `first`: a cycle before which the first instruction will not start. `ahead`: what will happen,
    /// by pipe.
    #[inline(always)]
    pub fn new(pipes: &'a Pipes, first: u32, units: &'a mut [Unit], ahead: &'a mut [Wanted]) -> Sight<'a> {
        ahead.fill(Wanted::default());
        Sight { pipes, last: first, units, ahead, known: false }
    }

    /// The next instruction in order. Gives whether those behind it can be of interest.
    #[inline(always)]
    pub fn add(&mut self, op: &Ahead) -> bool {
        let from = self.last.max(op.soonest - 1);
        let best = self.best(op, from);
        let start = self.units[best].busy.max(from);
        if start > END {
            return false;
        }
        self.last = start;
        self.enter(best, op, start);
        true
    }

    /// Of several SPs the one in which it can start first, not before `from`; of those one whose lanes are awake.
    #[inline(never)]
    fn best(&self, op: &Ahead, from: u32) -> usize {
        let first = self.pipes.simd.cut(op.lanes).0;
        let (mut best, mut start, mut sleepy) = (0, u32::MAX, true);
        for (u, unit) in self.units.iter().enumerate() {
            let (soonest, asleep) = (unit.busy.max(from), first & unit.asleep[op.fp as usize] != 0);
            if soonest < start || soonest == start && sleepy && !asleep {
                (best, start, sleepy) = (u, soonest, asleep);
                if start == from && !sleepy {
                    break;
                }
            }
        }
        best
    }

    /// What is left of an instruction that has begun to enter a narrow SP. It comes before all that [`Sight::add`] gives.
    #[inline(never)]
    pub fn goes_on(&mut self, unit: usize, op: &Ahead) {
        let Some(start) = self.units.get(unit).map(|unit| unit.busy) else { return };
        self.enter(unit, op, start);
    }

    /// An instruction enters an SP in a cycle, its sub-warps one after the other. Gives the cycle after the last.
    #[inline(always)]
    fn enter(&mut self, unit: usize, op: &Ahead, start: u32) -> u32 {
        let (lanes, rest) = self.pipes.simd.cut(op.lanes);
        let after = self.works(unit, op, lanes, start);
        let after = if rest == 0 { after } else { self.follow(unit, op, rest, after) };
        self.units[unit].busy = after;
        after
    }

    /// The same of the sub-warps behind the first.
    #[inline(never)]
    fn follow(&mut self, unit: usize, op: &Ahead, mut rest: u32, mut after: u32) -> u32 {
        while rest != 0 {
            let (lanes, left) = self.pipes.simd.cut(rest);
            (after, rest) = (self.works(unit, op, lanes, after), left);
        }
        after
    }

    /// Lanes of an SP are wanted in a cycle, and work for some. Gives the cycle after these.
    #[inline(always)]
    fn works(&mut self, unit: usize, op: &Ahead, lanes: u32, start: u32) -> u32 {
        let after = start + op.busy.max(1);
        self.known |= start.wrapping_sub(1) < END;
        let wanted = &mut self.ahead[self.pipes.at(unit, op.fp)];
        (start..after.min(END + 1)).for_each(|cycle| wanted[cycle as usize] |= lanes);
        after
    }
}

/// The same of a single SP that is as wide as a warp, where instructions follow one another and nothing is to be chosen.
#[derive(Debug)]
pub struct Single<'a> {
    apart: bool,
    /// The next instruction will not start before this cycle.
    next: u32,
    /// What will happen, by pipe.
    ahead: [&'a mut Wanted; 2],
    /// An instruction will start in one of the window's cycles: it gives information.
    pub known: bool,
}

impl<'a> Single<'a> {
    /// Nothing is known yet. `first`: a cycle before which nothing will start.
    #[inline(always)]
    pub fn new(first: u32, scope: Scope, mut ahead: [&'a mut Wanted; 2]) -> Single<'a> {
        ahead.iter_mut().for_each(|wanted| **wanted = Wanted::default());
        Single { apart: scope == Scope::Type, next: first, ahead, known: false }
    }

    /// The next instruction in order. Gives whether those behind it can be of interest.
    #[inline(always)]
    pub fn add(&mut self, op: &Ahead) -> bool {
        let start = self.next.max(op.soonest - 1);
        if start > END {
            return false;
        }
        self.known |= start > 0;
        self.next = start + op.busy.max(1);
        let wanted = &mut self.ahead[(op.fp & self.apart) as usize];
        wanted[start as usize] |= op.lanes;
        // Most often they work for a cycle.
        if self.next > start + 1 {
            (start + 1..self.next.min(END + 1)).for_each(|cycle| wanted[cycle as usize] |= op.lanes);
        }
        self.next <= END
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Occupancy;
    use warpwatt_machine::spec::Spec;

    fn op(lanes: u32, soonest: u32) -> Ahead {
        Ahead { lanes, fp: false, busy: 1, soonest }
    }

    fn look(units: u32, scope: Scope, first: u64, list: &[Ahead]) -> (bool, Vec<[u32; 3]>) {
        let mut spec = Spec::preset("pascal16").unwrap();
        spec.sp_units = units;
        let pipes = Pipes::new(&spec, scope, Occupancy::Issue);
        let mut ahead = vec![[9; 4]; pipes.count()];
        let mut units = vec![Unit::default(); units as usize];
        let first = within(100, first);
        let mut sight = Sight::new(&pipes, first, &mut units, &mut ahead);
        let _ = list.iter().all(|op| sight.add(op));
        let known = sight.known;
        if units.len() == 1 {
            let [mut int, mut fp] = [[9; 4]; 2];
            let mut single = Single::new(first, scope, [&mut int, &mut fp]);
            let _ = list.iter().all(|op| single.add(op));
            assert_eq!((single.known, &[int, fp][..pipes.count()]), (known, &ahead[..]));
        }
        (known, ahead.iter().map(|wanted| [wanted[1], wanted[2], wanted[3]]).collect())
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
    fn narrow_sps_take_threads_one_sub_warp_after_the_other() {
        let mut spec = Spec::preset("pascal16").unwrap();
        spec.simd_width = 8;
        let pipes = Pipes::new(&spec, Scope::Lane, Occupancy::Issue);
        let look = |under_way: Option<Ahead>, list: &[Ahead]| {
            let (mut ahead, mut units) = (vec![[9; 4]; 1], [Unit { busy: 1, ..Unit::default() }]);
            let mut sight = Sight::new(&pipes, 0, &mut units, &mut ahead);
            under_way.iter().for_each(|op| sight.goes_on(0, op));
            let _ = list.iter().all(|op| sight.add(op));
            (sight.known, [ahead[0][1], ahead[0][2], ahead[0][3]])
        };
        let op = |lanes, busy| Ahead { busy, ..op(lanes, 2) };
        assert_eq!(look(None, &[op(0xff00_0301, 1)]), (true, [1, 3, 0xff]));
        assert_eq!(look(None, &[op(0x0300, 1), op(0x8001, 1)]), (true, [3, 1, 0x80]));
        // Two cycles for each sub-warp; what has begun comes first.
        assert_eq!(look(None, &[op(0x0103, 2)]), (true, [3, 3, 1]));
        assert_eq!(look(Some(op(0x0201_0000, 1)), &[op(4, 1)]), (true, [1, 2, 4]));
    }

    #[test]
    fn types_are_apart() {
        let list = [op(1, 2), Ahead { fp: true, ..op(2, 2) }];
        assert_eq!(look(1, Scope::Type, 0, &list), (true, vec![[1, 0, 0], [0, 2, 0]]));
    }
}
