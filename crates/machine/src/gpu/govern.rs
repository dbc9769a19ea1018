//! Governors: asked at window boundaries, their orders carried out there.
//!
//! A V/f change is ordered at one boundary and takes effect at the first one after the transition time of the GPU's
//! `dvfs` parameters; where these say so the SMs issue nothing in between. Work under way goes on. Clocks outside the
//! levels of the GPU are refused by taking the nearest level. Every change closes the activity sample, so that each
//! sample has one level per domain.

use super::{Gpu, lock};
use crate::clock::period_of;
use crate::hooks::{ChipView, Order};
use crate::memory::Domain;
use crate::message::Femtoseconds;
use crate::sm::exchange::CtaStart;
use crate::spec::VfLevel;
use serde::{Deserialize, Serialize};

/// Clocks in force, and changes under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clocks {
    pub core_mhz: f64,
    pub noc_mhz: f64,
    pub dram_mhz: f64,
    /// Changes ordered: when they take effect, for the memory domain or the SMs, and the new clock.
    changes: Vec<(Femtoseconds, bool, f64)>,
    /// V/f transitions carried out.
    pub transitions: u64,
    /// Core tick of the next question.
    pub ask_at: u64,
}

impl Clocks {
    pub(super) fn new(core_mhz: f64, noc_mhz: f64, dram_mhz: f64) -> Clocks {
        Clocks { core_mhz, noc_mhz, dram_mhz, changes: Vec::new(), transitions: 0, ask_at: u64::MAX }
    }
}

/// The level nearest to a clock.
fn nearest(levels: &[VfLevel], mhz: f64) -> Option<f64> {
    levels.iter().map(|l| l.mhz).min_by(|a, b| (a - mhz).abs().total_cmp(&(b - mhz).abs()))
}

impl Gpu {
    /// When the engine must stop for the governor.
    pub(super) fn attention_at(&self) -> Femtoseconds {
        let clocks = &self.state.clocks;
        // The question's own time, though it be past: a checkpoint or a sample at this very boundary must not put it off.
        let ask = self.governor.as_ref().map_or(u64::MAX, |_| self.state.sms[0].clock().time_or_never(clocks.ask_at));
        clocks.changes.iter().map(|c| c.0).fold(ask, u64::min)
    }

    /// The engine has stopped: due changes take effect, and the governor is asked if its time has come.
    pub(super) fn govern(&mut self) {
        let now = self.state.now;
        let due: Vec<_> = self.state.clocks.changes.iter().copied().filter(|c| c.0 <= now).collect();
        self.state.clocks.changes.retain(|c| c.0 > now);
        for (_, memory, mhz) in due {
            self.change_clock(memory, mhz);
        }
        let tick = self.state.sms[0].clock().tick_at(now);
        if tick < self.state.clocks.ask_at {
            return;
        }
        let Some(mut governor) = self.governor.take() else { return };
        let mut views: Vec<_> = self.state.sms.iter().map(|sm| sm.view()).collect();
        if let Some(r) = &self.state.running {
            views.iter_mut().enumerate().for_each(|(i, v)| v.cta_limit = r.dispatcher.allowed(i));
        }
        let (core_mhz, dram_mhz) = (self.state.clocks.core_mhz, self.state.clocks.dram_mhz);
        let orders = governor.decide(&ChipView { time: now, cycle: tick, core_mhz, dram_mhz, sms: &views });
        self.state.clocks.ask_at = tick + governor.interval().max(1);
        self.governor = Some(governor);
        for order in orders {
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        let now = self.state.now;
        match order {
            Order::CtaLimit { sm, limit } => {
                let Some(r) = self.state.running.as_mut() else { return };
                r.dispatcher.allow(sm, limit);
                while let Some(cta) = r.dispatcher.next_for(sm) {
                    lock(&self.state.exchanges[sm]).starts.push(CtaStart { time: now + self.window, cta });
                }
            }
            Order::CoreMhz(mhz) => self.order_clock(false, mhz),
            Order::DramMhz(mhz) => self.order_clock(true, mhz),
        }
    }

    fn order_clock(&mut self, memory: bool, mhz: f64) {
        let dvfs = &self.spec.dvfs;
        let levels = if memory { &dvfs.mem_levels } else { &dvfs.core_levels };
        let Some(mhz) = nearest(levels, mhz) else { return };
        let clocks = &self.state.clocks;
        let present = if memory { clocks.dram_mhz } else { clocks.core_mhz };
        let planned = clocks.changes.iter().rev().find(|c| c.1 == memory).map_or(present, |c| c.2);
        if planned == mhz {
            return;
        }
        let period = self.state.sms[0].clock().period();
        let transition = (dvfs.transition_ns * 1e6) as Femtoseconds + dvfs.transition_core_cycles as u64 * period;
        let at = self.state.now + transition;
        if dvfs.transition_halts && !memory {
            for sm in &mut self.state.sms {
                let until = sm.clock().tick_at(at);
                sm.stall_until(until);
            }
        }
        self.state.clocks.changes.push((at, memory, mhz));
        self.state.clocks.changes.sort_by_key(|c| c.0);
    }

    /// A clock changes now, at a window boundary.
    fn change_clock(&mut self, memory: bool, mhz: f64) {
        let now = self.state.now;
        let (counters, events) = self.memory_side.take_tally();
        if let Some(r) = self.state.running.as_mut() {
            r.stats.counters.add(&counters);
        }
        self.cut_sample(now, &events, false);
        let clocks = &mut self.state.clocks;
        clocks.transitions += 1;
        if memory {
            let ratio = mhz / self.spec.dram_mhz;
            clocks.dram_mhz = mhz;
            clocks.noc_mhz = self.spec.noc_mhz * ratio;
            self.memory_side.set_clock(Domain::Dram, mhz, now);
            self.memory_side.set_clock(Domain::L2, self.spec.l2_mhz * ratio, now);
            self.memory_side.set_clock(Domain::Noc, clocks.noc_mhz, now);
            let latency = self.spec.noc_latency_cycles as u64 * period_of(clocks.noc_mhz);
            self.state.sms.iter_mut().for_each(|sm| sm.set_noc_latency(latency.max(self.window)));
        } else {
            clocks.core_mhz = mhz;
            self.state.sms.iter_mut().for_each(|sm| sm.set_period(now, period_of(mhz)));
        }
        for x in &self.state.exchanges {
            lock(x).next_time = 0;
        }
    }
}
