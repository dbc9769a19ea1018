//! A cycle for each of some lanes: since when they are idle ([`Times`]), until when they wake up ([`Soon`]).

use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// Lanes, and a cycle for each; those that got it together are kept together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times(Vec<(u32, u64)>);

impl Times {
    /// Lanes at a cycle.
    pub fn of(lanes: u32, cycle: u64) -> Times {
        Times(vec![(lanes, cycle)])
    }

    /// The lanes that have one.
    #[inline]
    pub fn lanes(&self) -> u32 {
        self.0.iter().fold(0, |lanes, entry| lanes | entry.0)
    }

    /// Those of some lanes, with their cycle.
    #[inline]
    pub fn among(&self, lanes: u32) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(move |&(of, cycle)| (of & lanes, cycle)).filter(|entry| entry.0 != 0)
    }

    /// Lanes whose cycle has come, and the first of the cycles that are to come.
    #[inline]
    pub fn reached(&self, now: u64) -> (u32, u64) {
        // Which ones these are cannot be foreseen: no branches.
        self.0.iter().fold((0, u64::MAX), |(lanes, next), &(of, cycle)| {
            let come = cycle <= now;
            (lanes | select_unpredictable(come, of, 0), next.min(select_unpredictable(come, u64::MAX, cycle)))
        })
    }

    /// The first cycle of some lanes.
    #[inline]
    pub fn first(&self, lanes: u32) -> u64 {
        self.among(lanes).fold(u64::MAX, |first, (_, cycle)| first.min(cycle))
    }

    /// Lanes have none any more.
    #[inline]
    pub fn remove(&mut self, lanes: u32) {
        if self.lanes() & lanes != 0 {
            self.0.iter_mut().for_each(|entry| entry.0 &= !lanes);
            self.0.retain(|entry| entry.0 != 0);
        }
    }

    /// None has any.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lanes that have none have this one.
    #[inline]
    pub fn add(&mut self, lanes: u32, cycle: u64) {
        self.0.push((lanes, cycle));
    }

    /// Some of these lanes, with the same cycle, have none any more: which, and their cycle. No lanes: none of them has one.
    #[inline(never)]
    pub fn take(&mut self, lanes: u32) -> (u32, u64) {
        // Those that came last are most often those that come again.
        for at in (0..self.0.len()).rev() {
            let (of, cycle) = self.0[at];
            let some = of & lanes;
            if some == 0 {
                continue;
            }
            if some != of {
                self.0[at].0 = of ^ some;
            } else if at + 1 == self.0.len() {
                // Most often. Nothing is copied that has just been put together.
                self.0.pop();
            } else {
                self.0.swap_remove(at);
            }
            return (some, cycle);
        }
        (0, 0)
    }
}

/// Cycles from the present one on that [`Soon`] has: a power of two, more than waking up takes.
const SOON: usize = 4;

/// Lanes, and one of the next few cycles for each, by the last bits of which they are kept. A cycle's lanes must be taken
/// when it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Soon([u32; SOON]);

impl Soon {
    /// Lanes that have had none have this one.
    #[inline]
    pub fn set(&mut self, lanes: u32, cycle: u64) {
        self.0[cycle as usize % SOON] |= lanes;
    }

    /// Lanes whose cycle comes now.
    #[inline]
    pub fn at(&self, now: u64) -> u32 {
        self.0[now as usize % SOON]
    }

    /// Lanes whose cycle has come: they have none any more.
    #[inline]
    pub fn take(&mut self, now: u64) -> u32 {
        std::mem::take(&mut self.0[now as usize % SOON])
    }

    /// Lanes have none any more.
    #[inline]
    pub fn remove(&mut self, lanes: u32) {
        self.0.iter_mut().for_each(|of| *of &= !lanes);
    }

    /// The cycles after `now` and their lanes.
    #[inline]
    pub fn after(&self, now: u64) -> impl Iterator<Item = (u32, u64)> {
        (1..SOON as u64).map(move |n| (self.0[(now + n) as usize % SOON], now + n))
    }

    /// The first cycle after `now` that some lane has.
    #[inline]
    pub fn next(&self, now: u64) -> u64 {
        self.after(now).fold(u64::MAX, |next, (of, cycle)| next.min(if of != 0 { cycle } else { u64::MAX }))
    }

    /// The last one of some lanes, `now` if they have none after it.
    #[inline]
    pub fn last(&self, lanes: u32, now: u64) -> u64 {
        self.after(now).fold(now, |last, (of, cycle)| if of & lanes != 0 { cycle } else { last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_one_cycle() {
        let mut times = Times::of(!0xfff, 3);
        times.add(0xff, 9);
        times.add(0xf00, 7);
        assert_eq!(times.among(0xf0ff).collect::<Vec<_>>(), [(0xf000, 3), (0xff, 9)]);
        let reached = [(0, 3), (!0xfff, 7), (!0xff, 9), (!0xff, 9), (u32::MAX, u64::MAX)];
        assert_eq!([2, 3, 7, 8, 9].map(|now| times.reached(now)), reached);
        assert_eq!([u32::MAX, 0xfff, 0xff, 0].map(|lanes| times.first(lanes)), [3, 7, 9, u64::MAX]);
        let taken = std::array::from_fn(|_| times.take(0xf_0f0f));
        assert_eq!(taken, [(0xf00, 7), (0xf, 9), (0xf_0000, 3), (0, 0)]);
        assert_eq!(times.lanes(), !0xf_0f0f);
        times.remove(0xf0);
        assert_eq!(times.lanes(), !0xf_0fff);
    }

    #[test]
    fn soon_is_within_three_cycles() {
        let mut soon = Soon::default();
        [(1, 7), (2, 8), (4, 9)].iter().for_each(|&(lanes, cycle)| soon.set(lanes, cycle));
        assert_eq!((soon.next(6), soon.next(7), soon.last(3, 6), soon.last(8, 6)), (7, 8, 8, 6));
        assert_eq!((soon.take(7), soon.take(7)), (1, 0));
        soon.remove(2);
        assert_eq!((soon.next(7), soon.next(9), soon.last(7, 7)), (9, u64::MAX, 9));
    }
}
