//! SPs with fewer lanes than a warp has threads ([`crate::simd`]): an instruction enters as sub-warps, one initiation
//! interval after the other, each when its lanes are awake. Its place among the write-backs is found when the last one enters.
//!
//! Kept apart from the SPs that take warps whole, so that these do not pay for it. SFUs take instructions as ever.

use super::Alus;
use crate::activity::SmEvent;
use crate::hooks::{Ahead, LanesHook};
use crate::kernel::Kernel;
use crate::simd::Simd;
use crate::sm::collector::Flight;
use crate::sm::counts::Counts;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// What of an instruction has not entered its SP.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rest {
    pub(super) flight: Flight,
    /// Threads; those of its second half if it goes through as two.
    pub(super) threads: u32,
    pub(super) second: u32,
}

/// Instructions that enter SPs in parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Narrow {
    simd: Simd,
    /// Units with an instruction that has begun to enter; what is left of it, by unit.
    pub(crate) under_way: u64,
    rest: Vec<Rest>,
    /// Lanes without a thread in the sub-warps of INT and of FP instructions that count them, not yet taken.
    inactive: [u64; 2],
}

impl Narrow {
    pub(super) fn new(spec: &Spec) -> Narrow {
        let simd = Simd::of(spec);
        let units = if simd.narrow() { spec.sp_units as usize } else { 0 };
        Narrow { simd, under_way: 0, rest: vec![Rest::default(); units], inactive: [0; 2] }
    }

    /// The lanes of the next sub-warp, and what is left behind it.
    pub(super) fn cut(&self, rest: Rest) -> (u32, Option<Rest>) {
        let (lanes, threads) = self.simd.cut(rest.threads);
        match (threads, rest.second) {
            (0, 0) => (lanes, None),
            (0, second) => (lanes, Some(Rest { threads: second, second: 0, ..rest })),
            (threads, _) => (lanes, Some(Rest { threads, ..rest })),
        }
    }

    /// A sub-warp has entered a unit. `counts`: lanes beside its threads are counted.
    pub(super) fn entered(&mut self, unit: usize, lanes: u32, rest: Option<Rest>, fp: bool, counts: bool) {
        if counts {
            self.inactive[fp as usize] += u64::from(self.simd.width() - lanes.count_ones());
        }
        self.under_way &= !(1 << unit);
        if let (Some(rest), Some(place)) = (rest, self.rest.get_mut(unit)) {
            *place = rest;
            self.under_way |= 1 << unit;
        }
    }
}

impl Alus {
    /// Instructions that have begun go on where their SP is free and the next sub-warp's lanes are awake.
    pub(super) fn go_on(&mut self, now: u64, kernel: &Kernel, mut lanes: Option<&mut (dyn LanesHook + '_)>) {
        let mut under_way = self.narrow.under_way;
        while under_way != 0 {
            let unit = under_way.trailing_zeros() as usize;
            under_way &= under_way - 1;
            if self.units[unit].free_at <= now
                && let Some(&rest) = self.narrow.rest.get(unit)
            {
                self.enter::<true>(now, unit, rest, false, kernel, lanes.as_deref_mut().map(|lanes| (lanes, false)));
            }
        }
    }

    /// Takes what narrow SPs have counted of inactive lanes.
    pub fn count_inactive(&mut self, counts: &mut Counts) {
        let [int, fp] = std::mem::take(&mut self.narrow.inactive);
        counts.events(SmEvent::IntInactive, int);
        counts.events(SmEvent::FpInactive, fp);
    }

    /// What is left of instructions that have begun, seen from the end of cycle `now`.
    pub(crate) fn under_way(&self, now: u64, kernel: &Kernel, mut f: impl FnMut(usize, Ahead)) {
        for (i, rest) in self.narrow.rest.iter().enumerate().filter(|(i, _)| self.narrow.under_way >> i & 1 != 0) {
            let op = &kernel.ops[rest.flight.pc() as usize];
            let soonest = self.units[i].free_at.max(now + 1) - now;
            f(i, Ahead::of(op, rest.threads, rest.second, soonest as u32));
        }
    }
}
