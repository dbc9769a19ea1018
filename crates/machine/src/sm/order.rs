//! The built-in warp schedulers: which of the warps that can issue does.
//!
//! LRR: round-robin over warp slots. GTO: the warp that issued last, else the oldest (Rogers et al., MICRO 2012).
//! Two-level with an active set: a warp leaves the set when it stalls on memory or a barrier, the next eligible one takes
//! its place; round-robin within (Gebhart et al., ISCA 2011; the scheduler that Origami builds on). Two-level with fetch
//! groups: fixed groups of slots, round-robin within the current one, which changes when none of its warps can issue
//! (Narasiman et al., MICRO 2011; ITAP's baseline). State changes only when asked or when warps change, so skipped
//! cycles make no difference.

use crate::sm::warps::Warps;
use crate::spec::{Scheduler, Spec};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// One scheduler of an SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    kind: Scheduler,
    /// Warp slots that belong to it.
    pub own: u64,
    last: u8,
    active: ActiveSet,
    groups: Vec<u64>,
    group: usize,
}

impl Order {
    /// Scheduler `index` of a GPU's SM: it has the slots w with w mod n = index.
    pub fn new(spec: &Spec, index: u32) -> Order {
        let slots: Vec<u32> = (0..spec.warps_per_sm).filter(|w| w % spec.schedulers == index).collect();
        let mask = |slots: &[u32]| slots.iter().fold(0u64, |m, w| m | 1 << w);
        Order {
            kind: spec.scheduler,
            own: mask(&slots),
            last: 0,
            active: ActiveSet::new(spec.active_set_warps),
            groups: slots.chunks(spec.fetch_group_warps.max(1) as usize).map(mask).collect(),
            group: 0,
        }
    }

    /// Chooses among `available` warps (able to issue, their port free) and notes the choice. `pool`: the scheduler's warps,
    /// those of a partner that is tuned down included.
    #[inline(always)]
    pub fn pick(&mut self, available: u64, pool: u64, warps: &Warps) -> Option<usize> {
        if self.kind == Scheduler::TwoLevelActive {
            self.active.refill(pool, warps, self.last);
        }
        let choice = match self.kind {
            Scheduler::Gto => {
                if available == 0 {
                    return None;
                }
                let greedy = available >> self.last & 1 != 0;
                select_unpredictable(greedy, self.last as usize, oldest(available, warps))
            }
            Scheduler::Lrr => rotate(available, self.last)?,
            Scheduler::TwoLevelActive => rotate(available & self.active.warps(), self.last)?,
            Scheduler::TwoLevelFetch => {
                let n = self.groups.len();
                match (0..n).map(|i| (self.group + i) % n).find(|&g| self.groups[g] & available != 0) {
                    Some(group) => {
                        self.group = group;
                        rotate(available & self.groups[group], self.last)?
                    }
                    // A partner's warps are in no group of this scheduler.
                    None => rotate(available, self.last)?,
                }
            }
        };
        self.last = choice as u8;
        Some(choice)
    }
}

/// The active set of a two-level scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveSet {
    warps: u64,
    limit: u32,
    /// How many they are: counting is slow where code for any processor is made, as here.
    count: u32,
}

impl ActiveSet {
    /// An empty set for so many warps.
    pub fn new(limit: u32) -> ActiveSet {
        ActiveSet { warps: 0, limit, count: 0 }
    }

    /// The warps in it.
    #[inline]
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// Warps of `pool` that stalled on memory, a barrier or an atomic, or whose CTA is paused, leave; others, next in turn after slot `last`, take
    /// their place.
    pub fn refill(&mut self, pool: u64, warps: &Warps, last: u8) {
        let stalled = warps.finished | warps.on_memory | warps.at_barrier | warps.on_atomic | warps.paused;
        let eligible = pool & warps.resident & !stalled;
        if self.warps & !eligible != 0 {
            self.warps &= eligible;
            self.count = self.warps.count_ones();
        }
        while self.count < self.limit {
            let Some(w) = rotate(eligible & !self.warps, last) else { return };
            self.warps |= 1 << w;
            self.count += 1;
        }
    }
}

/// The first set bit above `last`, wrapping around.
#[inline(always)]
pub fn rotate(mask: u64, last: u8) -> Option<usize> {
    if mask == 0 {
        return None;
    }
    let above = mask & !(u64::MAX >> (63 - last as u32));
    Some((if above != 0 { above } else { mask }).trailing_zeros() as usize)
}

/// The oldest of some warps (at least one).
#[inline(always)]
pub fn oldest(mask: u64, warps: &Warps) -> usize {
    // From the youngest CTA to the oldest: which one has a warp cannot be predicted, how many there are can.
    let oldest =
        warps.by_age.iter().rev().map(|cta| cta & mask).fold(mask, |m, of| select_unpredictable(of != 0, of, m));
    oldest.trailing_zeros() as usize
}
