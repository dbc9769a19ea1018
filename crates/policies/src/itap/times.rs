//! A cycle for each of some lanes: since when they are idle, until when they wake up.

use serde::{Deserialize, Serialize};

/// Lanes, and a cycle for each; those with the same one are kept together.
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

    /// Lanes whose cycle has come.
    #[inline]
    pub fn reached(&self, now: u64) -> u32 {
        self.0.iter().fold(0, |lanes, &(of, cycle)| lanes | if cycle <= now { of } else { 0 })
    }

    /// The first cycle, after `now`, of some lanes.
    #[inline]
    pub fn next(&self, lanes: u32, now: u64) -> u64 {
        let mut next = u64::MAX;
        for &(of, cycle) in &self.0 {
            if of & lanes != 0 && cycle > now {
                next = next.min(cycle);
            }
        }
        next
    }

    /// Lanes have none any more.
    #[inline]
    pub fn remove(&mut self, lanes: u32) {
        if self.lanes() & lanes != 0 {
            self.0.iter_mut().for_each(|entry| entry.0 &= !lanes);
            self.0.retain(|entry| entry.0 != 0);
        }
    }

    /// Lanes have this one.
    #[inline]
    pub fn set(&mut self, lanes: u32, cycle: u64) {
        let (mut at, mut found) = (0, lanes == 0);
        while let Some(entry) = self.0.get_mut(at) {
            if entry.1 == cycle && lanes != 0 {
                entry.0 |= lanes;
                found = true;
            } else {
                entry.0 &= !lanes;
            }
            if entry.0 == 0 {
                self.0.swap_remove(at);
            } else {
                at += 1;
            }
        }
        if !found {
            self.0.push((lanes, cycle));
        }
    }

    /// Lanes that have an earlier one, or none, have this one.
    #[inline]
    pub fn raise(&mut self, lanes: u32, cycle: u64) {
        // Most often all lanes are alike.
        if let [(of, own)] = &mut self.0[..]
            && *of == lanes
        {
            *own = cycle.max(*own);
            return;
        }
        let later = self.0.iter().fold(0, |later, entry| later | if entry.1 > cycle { entry.0 } else { 0 });
        self.set(lanes & !later, cycle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_one_cycle() {
        let mut times = Times::of(u32::MAX, 3);
        times.set(0xff, 9);
        times.raise(0xfff, 7);
        assert_eq!(times.among(u32::MAX).collect::<Vec<_>>(), [(!0xfff, 3), (0xff, 9), (0xf00, 7)]);
        assert_eq!([2, 3, 7, 8, 9].map(|now| times.reached(now)), [0, !0xfff, !0xff, !0xff, u32::MAX]);
        assert_eq!((times.next(u32::MAX, 3), times.next(0xff, 3), times.next(0xff, 9)), (7, 9, u64::MAX));
        times.raise(0xf00, 9);
        times.remove(0xf);
        assert_eq!(times.among(0xffff).collect::<Vec<_>>(), [(0xf000, 3), (0xff0, 9)]);
        assert_eq!(times.lanes(), !0xf);
        times.set(u32::MAX, 1);
        assert_eq!(times, Times::of(u32::MAX, 1));
    }
}
