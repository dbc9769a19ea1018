//! CTAs of an SM: they come, pause and go on, and leave when their last warp has retired; and why warps wait, for the report
//! of a deadlock.

use crate::kernel::Kernel;
use crate::message::Femtoseconds;
use crate::sm::Sm;
use crate::sm::exchange::{CtaEnd, Exchange};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use warpwatt_simt::cta::Cta;

/// A CTA slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Slot {
    pub cta: Cta,
    /// Warps that have not retired; 0: the slot is empty.
    pub live: u32,
}

impl Sm {
    /// Warps of a CTA of the kernel in progress.
    pub fn warps_per_cta(&self) -> u32 {
        self.kernel.as_ref().map_or(0, |k| k.warps_per_cta)
    }

    /// At most so many CTAs run; the younger ones are paused.
    pub fn limit_ctas(&mut self, limit: u32) {
        self.cta_limit = limit.max(1);
        self.warps.pause_all_but(self.cta_limit);
    }

    /// A CTA comes to a free slot.
    pub(super) fn start_cta(&mut self, kernel: &Arc<Kernel>, cta: u64) {
        let limit = (kernel.ctas_per_sm as usize).min(self.slots.len());
        let Some(index) = self.slots[..limit].iter().position(|s| s.live == 0) else { return };
        let slot = &mut self.slots[index];
        slot.cta.reset(&kernel.launch, cta);
        slot.live = kernel.warps_per_cta;
        self.counts.cta_begins(self.now);
        let first = index * kernel.warps_per_cta as usize;
        self.warps.start_cta((u64::MAX >> (64 - kernel.warps_per_cta)) << first);
        for i in 0..kernel.warps_per_cta {
            let w = first + i as usize;
            self.threads[w].reset(&kernel.launch, cta, i);
            self.warps.start(w, index as u8, self.started << 8 | i as u64);
        }
        self.started += 1;
        self.warps.pause_all_but(self.cta_limit);
    }

    /// An atomic or a heap call of a warp has been answered.
    pub(super) fn after_atomic(&mut self, w: usize, time: Femtoseconds, x: &mut Exchange) {
        if self.warps.of[w].atomics == 0 {
            self.warps.on_atomic &= !(1 << w);
        }
        self.warps.check_fence(w);
        if self.warps.finished >> w & 1 != 0 {
            self.ending |= 1 << w;
            self.retire(time, x);
        }
    }

    /// Warps that have exited and have nothing under way leave; a CTA whose last warp leaves has ended.
    pub(super) fn retire(&mut self, time: Femtoseconds, x: &mut Exchange) {
        let mut ending = std::mem::take(&mut self.ending);
        while ending != 0 {
            let w = ending.trailing_zeros() as usize;
            ending &= ending - 1;
            if self.warps.resident >> w & 1 == 0 || !self.warps.retired(w) {
                continue;
            }
            let index = self.warps.of[w].cta as usize;
            let slot = &mut self.slots[index];
            slot.live -= 1;
            self.warps.leave(w);
            if slot.live == 0 {
                self.counts.counters.ctas += 1;
                self.counts.cta_ends(self.now);
                self.warps.pause_all_but(self.cta_limit);
                x.ended.push(CtaEnd { time, cta: slot.cta.id });
            }
        }
    }

    /// Who waits for whom, for deadlock reports.
    pub fn explain(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for slot in self.slots.iter().filter(|s| s.live > 0) {
            lines.extend(slot.cta.explain().into_iter().map(|l| format!("SM {}: {l}", self.id)));
        }
        let mut left = self.warps.resident & !self.warps.finished;
        while left != 0 {
            let w = left.trailing_zeros() as usize;
            left &= left - 1;
            let bit = 1u64 << w;
            let why = if self.warps.paused & bit != 0 {
                "is paused with its CTA"
            } else if self.warps.at_barrier & bit != 0 {
                "waits at a barrier"
            } else if self.warps.on_atomic & bit != 0 {
                "waits for its atomics"
            } else if self.warps.on_fence & bit != 0 {
                "waits at a fence"
            } else if self.warps.asleep & bit != 0 {
                "sleeps"
            } else if self.warps.on_memory & bit != 0 {
                "waits for memory"
            } else {
                "can go on"
            };
            let line = self.kernel.as_ref().map_or(0, |k| k.launch.program.text_line(self.threads[w].pc()));
            lines.push(format!("SM {} warp {w} (PTX line {line}) {why}", self.id));
        }
        lines
    }
}
