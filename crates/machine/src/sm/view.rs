//! What a governor sees of an SM: its counters, and its warps by what they wait for, as they are or sampled.

use crate::hooks::{SmView, WarpCounts, WarpSums};
use crate::kernel::{Kernel, PORTS, Port};
use crate::message::Femtoseconds;
use crate::sm::exchange::Exchange;
use crate::sm::sampler::Sampler;
use crate::sm::{Sm, sampler};
use std::sync::Arc;
use warpwatt_simt::effect::Effect;
use warpwatt_simt::memory::GlobalMemory;

impl Sm {
    /// What a governor sees, who is about to be asked.
    pub fn view(&mut self) -> SmView {
        self.tell_all();
        let mut observed = Vec::new();
        self.hooks.observers.iter_mut().for_each(|o| o.tell(self.now, &mut observed));
        let ctas = self.warps.by_age.len() as u32;
        SmView {
            counters: self.counts.counters.clone(),
            slots: self.counts.slots.to_vec(),
            warps: self.warps_now(),
            sampled: WarpSums::default(),
            ctas,
            paused_ctas: ctas.saturating_sub(self.cta_limit),
            cta_limit: 0,
            observed,
        }
    }

    /// Warps by what they wait for, as things stand.
    pub(super) fn warps_now(&self) -> WarpCounts {
        let held = !self.collector.free(Port::Mem) || !self.ldst.can_issue();
        sampler::counts(&self.warps).after([0; PORTS], held)
    }

    /// From now on the states of warps are sampled every so many core cycles.
    pub fn sample_warps(&mut self, every: Option<u64>) {
        self.sampler = Sampler::new(every, self.now);
    }

    /// Takes what was sampled since the last call.
    pub fn take_sampled(&mut self) -> WarpSums {
        self.sampler.take()
    }

    /// An issue cycle in which warps are sampled: those that could issue when it began and did not are in excess.
    #[cold]
    #[inline(never)]
    pub(super) fn issue_and_sample(
        &mut self,
        time: Femtoseconds,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        let (found, before) = (sampler::counts(&self.warps), self.issued);
        self.issue(time, kernel, x, memory, effect);
        let held = !self.collector.free(Port::Mem) || !self.ldst.can_issue();
        let issued = std::array::from_fn(|port| self.issued[port] - before[port]);
        self.sampler.add(self.now, 1, &found.after(issued, held));
    }
}
