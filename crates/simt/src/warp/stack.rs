//! The SIMT stack: which lanes execute which instruction, with reconvergence at immediate post-dominators.
//!
//! Models: the stack of (pc, reconvergence pc, lanes) of Fung et al., "Dynamic Warp Formation" (MICRO 2007), section 2,
//! extended by call frames: an entry belongs to the frame of the function that it executes, and a frame ends when its
//! last entry does. The top entry is kept apart, as every instruction looks at it.

use serde::{Deserialize, Serialize};

use crate::program::NO_PC;

/// Lanes that execute together, until they reach `meet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Next instruction.
    pub(crate) pc: u32,
    /// Where they wait for those below; [`NO_PC`]: at the return.
    pub(crate) meet: u32,
    /// The lanes; never empty, except in a finished warp.
    pub(crate) lanes: u32,
    /// Index of the call frame.
    pub(crate) frame: u32,
}

const FINISHED: Entry = Entry { pc: NO_PC, meet: NO_PC, lanes: 0, frame: 0 };

/// The stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stack {
    pub(crate) top: Entry,
    /// The entries under the top, lowest first.
    below: Vec<Entry>,
}

impl Stack {
    /// A finished warp's.
    pub(crate) fn new() -> Stack {
        // 31 splits part 32 lanes; each leaves a waiting entry and one side. Deeper only with calls.
        Stack { top: FINISHED, below: Vec::with_capacity(80) }
    }

    /// All `lanes` at instruction `pc` of frame 0.
    pub(crate) fn reset(&mut self, pc: u32, lanes: u32) {
        self.below.clear();
        self.top = Entry { pc, meet: NO_PC, lanes, frame: 0 };
    }

    /// Goes to `pc`, all lanes of the top entry.
    #[inline(always)]
    pub(crate) fn jump(&mut self, pc: u32) {
        self.top.pc = pc;
        if pc == self.top.meet {
            self.settle();
        }
    }

    /// Removes top entries that are at their meeting point or have no lanes.
    #[inline(never)]
    fn settle(&mut self) {
        while self.top.lanes == 0 || (self.top.pc == self.top.meet && self.top.pc != NO_PC) {
            match self.below.pop() {
                Some(entry) => self.top = entry,
                None => {
                    self.top = FINISHED;
                    return;
                }
            }
        }
    }

    /// The top entry's lanes part: `taken` go to `target`, the others to `next`, and all meet at `meet`. Both sides
    /// have lanes. The side that falls through goes first.
    pub(crate) fn split(&mut self, taken: u32, target: u32, next: u32, meet: u32) {
        let Entry { lanes, frame, .. } = self.top;
        self.wait_at(meet);
        let meet = self.meeting(meet);
        self.push_side(Entry { pc: target, meet, lanes: taken, frame });
        self.push_side(Entry { pc: next, meet, lanes: lanes & !taken, frame });
        self.pull();
    }

    /// As [`Stack::split`], for many targets: `sides` gives lanes and pc of each.
    pub(crate) fn split_many(&mut self, sides: impl Iterator<Item = (u32, u32)>, meet: u32) {
        let frame = self.top.frame;
        self.wait_at(meet);
        let meet = self.meeting(meet);
        for (lanes, pc) in sides {
            self.push_side(Entry { pc, meet, lanes, frame });
        }
        self.pull();
    }

    /// Sides of a branch from which the return cannot be reached have no meeting point of their own; they keep that of
    /// the entry they come from.
    fn meeting(&self, meet: u32) -> u32 {
        if meet == NO_PC { self.top.meet } else { meet }
    }

    /// Turns the top entry into the one that waits at `meet`, unless the one below waits there already.
    fn wait_at(&mut self, meet: u32) {
        if meet != NO_PC && meet != self.top.meet {
            self.below.push(Entry { pc: meet, ..self.top });
        }
    }

    fn push_side(&mut self, side: Entry) {
        if side.pc != side.meet {
            self.below.push(side);
        }
    }

    /// Makes the highest entry below the top.
    fn pull(&mut self) {
        self.top = self.below.pop().unwrap_or(FINISHED);
        self.settle();
    }

    /// Of the lanes that call at `pc`, `now` are about to, and `later` call again once those are back.
    pub(crate) fn split_call(&mut self, now: u32, later: u32, pc: u32) {
        let (meet, frame) = (pc + 1, self.top.frame);
        self.wait_at(meet);
        self.below.push(Entry { pc, meet, lanes: later, frame });
        self.top = Entry { pc: meet, meet, lanes: now, frame };
    }

    /// The top entry goes on at `next` once the function called for `lanes` has returned.
    pub(crate) fn call(&mut self, lanes: u32, entry: u32, frame: u32) {
        self.below.push(self.top);
        self.top = Entry { pc: entry, meet: NO_PC, lanes, frame };
    }

    /// Lanes return from the frame of the top entry.
    pub(crate) fn leave_frame(&mut self, lanes: u32) {
        let frame = self.top.frame;
        self.top.lanes &= !lanes;
        for entry in self.below.iter_mut().rev().take_while(|e| e.frame == frame) {
            entry.lanes &= !lanes;
        }
        self.settle();
    }

    /// Lanes exit.
    pub(crate) fn exit(&mut self, lanes: u32) {
        self.top.lanes &= !lanes;
        for entry in &mut self.below {
            entry.lanes &= !lanes;
        }
        self.settle();
    }

    /// Lanes that have not exited.
    pub(crate) fn live(&self) -> u32 {
        self.below.iter().fold(self.top.lanes, |lanes, e| lanes | e.lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack() -> Stack {
        let mut s = Stack::new();
        s.reset(0, 0xf);
        s
    }

    #[test]
    fn sides_run_one_after_the_other_and_meet() {
        let mut s = stack();
        s.split(0b0011, 10, 1, 20);
        assert_eq!((s.top.pc, s.top.lanes), (1, 0b1100));
        s.jump(20);
        assert_eq!((s.top.pc, s.top.lanes), (10, 0b0011));
        s.jump(20);
        assert_eq!((s.top.pc, s.top.lanes), (20, 0b1111));
    }

    #[test]
    fn a_loop_that_lanes_leave_one_by_one_does_not_grow_the_stack() {
        let mut s = stack();
        for left in [0b0111, 0b0011, 0b0001] {
            // Taken: back to 0; the others fall through to the meeting point.
            s.split(left, 0, 5, 5);
            assert_eq!((s.top.pc, s.top.lanes), (0, left));
            assert_eq!(s.below.len(), 1);
        }
        s.jump(5);
        assert_eq!((s.top.pc, s.top.lanes), (5, 0b1111));
        assert!(s.below.is_empty());
    }

    #[test]
    fn exited_lanes_do_not_come_back() {
        let mut s = stack();
        s.split(0b0011, 10, 1, 20);
        s.exit(0b1100);
        assert_eq!((s.top.pc, s.top.lanes), (10, 0b0011));
        s.jump(20);
        assert_eq!((s.top.pc, s.top.lanes), (20, 0b0011));
        s.exit(0b0011);
        assert_eq!((s.top.pc, s.live()), (NO_PC, 0));
    }

    #[test]
    fn a_function_returns_lane_by_lane() {
        let mut s = stack();
        s.top.pc = 1;
        s.call(0b1111, 100, 1);
        s.split(0b0011, 110, 101, NO_PC);
        assert_eq!((s.top.pc, s.top.lanes, s.top.frame), (101, 0b1100, 1));
        s.leave_frame(0b1100);
        assert_eq!((s.top.pc, s.top.lanes, s.top.frame), (110, 0b0011, 1));
        s.leave_frame(0b0011);
        assert_eq!((s.top.pc, s.top.lanes, s.top.frame), (1, 0b1111, 0));
    }

    #[test]
    fn many_targets_meet() {
        let mut s = stack();
        s.split_many([(0b0001, 10), (0b0110, 20), (0b1000, 30)].into_iter(), 30);
        assert_eq!((s.top.pc, s.top.lanes), (20, 0b0110));
        s.jump(30);
        assert_eq!((s.top.pc, s.top.lanes), (10, 0b0001));
        s.jump(30);
        assert_eq!((s.top.pc, s.top.lanes), (30, 0b1111));
    }
}
