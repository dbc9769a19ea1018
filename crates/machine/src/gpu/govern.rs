//! Governors: asked at window boundaries, their orders carried out there.
//!
//! A V/f change is ordered at one boundary and takes effect at the first one after the transition time of the GPU's
//! `dvfs` parameters; where these say so the SMs issue nothing in between. Work under way goes on. Clocks outside the
//! levels of the GPU are refused by taking the nearest level. Every change closes the activity sample, so that each
//! sample has one level per domain; the sample that it closes counts the transition.
//!
//! Questions keep to a fixed grid of core cycles, launches or not. Whatever a governor has decided is written down in the
//! run's log.

use super::{Gpu, lock};
use crate::clock::period_of;
use crate::hooks::{ChipView, LaunchView, Order};
use crate::memory::Domain;
use crate::message::Femtoseconds;
use crate::sm::exchange::CtaStart;
use crate::spec::VfLevel;
use crate::stats::Decision;
use serde::{Deserialize, Serialize};
use std::sync::RwLock;
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::memory::GlobalMemory;

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
    /// Activity samples that the governor has seen.
    seen: usize,
    /// Core tick of the next question.
    pub ask_at: u64,
}

impl Clocks {
    pub(super) fn new(core_mhz: f64, noc_mhz: f64, dram_mhz: f64) -> Clocks {
        Clocks { core_mhz, noc_mhz, dram_mhz, changes: Vec::new(), transitions: 0, seen: 0, ask_at: u64::MAX }
    }
}

impl Clocks {
    /// The clock in force once all changes under way are over.
    fn planned(&self, memory: bool) -> f64 {
        let present = if memory { self.dram_mhz } else { self.core_mhz };
        self.changes.iter().rev().find(|c| c.1 == memory).map_or(present, |c| c.2)
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
        clocks.changes.iter().map(|c| c.0).fold(ask.min(self.trial_until), u64::min)
    }

    /// The engine has stopped: due changes take effect, and the governor is asked if its time has come.
    pub(super) fn govern(&mut self, memory: &RwLock<GlobalMemory>) -> Result<(), DeviceError> {
        let now = self.state.now;
        let due: Vec<_> = self.state.clocks.changes.iter().copied().filter(|c| c.0 <= now).collect();
        self.state.clocks.changes.retain(|c| c.0 > now);
        if !due.is_empty() {
            self.close_sample(due.len() as u32);
            due.iter().for_each(|&(_, memory, mhz)| self.change_clock(memory, mhz));
        }
        let tick = self.state.sms[0].clock().tick_at(now);
        if tick < self.state.clocks.ask_at {
            return Ok(());
        }
        if self.governor.as_ref().is_some_and(|g| g.wants_activity()) {
            self.close_sample(0);
        }
        let Some(mut governor) = self.governor.take() else { return Ok(()) };
        let futures = governor.foresees().map_or(Ok(Vec::new()), |wish| self.foresee(&wish, memory))?;
        let Some(r) = &self.state.running else {
            self.governor = Some(governor);
            return Ok(());
        };
        let mut views: Vec<_> = self.state.sms.iter_mut().map(|sm| sm.view()).collect();
        for (i, (view, sm)) in views.iter_mut().zip(&mut self.state.sms).enumerate() {
            view.cta_limit = r.dispatcher.allowed(i);
            view.sampled = sm.take_sampled();
        }
        let (core_mhz, dram_mhz) = (self.state.clocks.core_mhz, self.state.clocks.dram_mhz);
        let index = self.state.launches.len() as u32;
        let launch = LaunchView {
            index,
            kernel: &r.stats.kernel,
            ctas: r.dispatcher.progress().1,
            warps_per_cta: self.state.sms[0].warps_per_cta(),
            ctas_per_sm: r.stats.ctas_per_sm,
        };
        let activity = self.state.samples.get(self.state.clocks.seen..).unwrap_or_default();
        let view =
            ChipView { time: now, cycle: tick, launch, core_mhz, dram_mhz, sms: &views, activity, futures: &futures };
        let orders = governor.decide(&view);
        self.state.clocks.seen = self.state.samples.len();
        let mut notes = Vec::new();
        governor.explain(&mut |name, value| notes.push((name.to_owned(), value)));
        let (asked, interval) = (self.state.clocks.ask_at, governor.interval().max(1));
        self.state.clocks.ask_at = asked.saturating_add((tick - asked) / interval * interval + interval);
        self.governor = Some(governor);
        for order in orders {
            self.obey(order);
        }
        let clocks = &self.state.clocks;
        let (core_mhz, dram_mhz) = (clocks.planned(false), clocks.planned(true));
        let allowed = |i| self.state.running.as_ref().map_or(0, |r| r.dispatcher.allowed(i));
        let cta_limits = (0..self.state.sms.len()).map(allowed).collect();
        let decision = Decision { time: now, cycle: tick, launch: index, core_mhz, dram_mhz, cta_limits, notes };
        self.state.decisions.push(decision);
        Ok(())
    }

    /// A launch is about to begin: the governor is told.
    pub(super) fn govern_launch(&mut self, launch: &LaunchView<'_>) {
        let orders = self.governor.as_mut().map_or(Vec::new(), |g| g.launch(launch));
        for order in orders {
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        let now = self.state.now;
        match order {
            Order::CtaLimit { sm, limit } => {
                let Some(allowed) = self.state.cta_limits.get_mut(sm) else { return };
                *allowed = limit.max(1);
                self.state.sms[sm].limit_ctas(limit);
                let mut mail = lock(&self.state.exchanges[sm]);
                mail.next_time = 0;
                let Some(r) = self.state.running.as_mut() else { return };
                r.dispatcher.allow(sm, limit);
                while let Some(cta) = r.dispatcher.next_for(sm) {
                    mail.starts.push(CtaStart { time: now + self.window, cta });
                }
            }
            Order::CoreMhz(mhz) => self.order_clock(false, mhz),
            Order::DramMhz(mhz) => self.order_clock(true, mhz),
            Order::Halt(cycles) => {
                for sm in &mut self.state.sms {
                    let until = sm.clock().tick_at(now) + cycles;
                    sm.stall_until(until);
                }
            }
        }
    }

    pub(super) fn order_clock(&mut self, memory: bool, mhz: f64) {
        let dvfs = &self.spec.dvfs;
        let levels = if memory { &dvfs.mem_levels } else { &dvfs.core_levels };
        let Some(mhz) = nearest(levels, mhz) else { return };
        if self.state.clocks.planned(memory) == mhz {
            return;
        }
        if self.state.running.is_none() && self.state.launches.is_empty() {
            self.set_clock(memory, mhz);
            return;
        }
        let period = self.state.sms[0].clock().period();
        let transition = (dvfs.transition_ns * 1e6) as Femtoseconds + dvfs.transition_core_cycles as u64 * period;
        // What is ordered while the SMs halt (for the governor's own work) begins when they go on.
        let halted =
            if memory { 0 } else { self.state.sms[0].clock().time_or_never(self.state.sms[0].stalled_until()) };
        let at = self.state.now.max(halted) + transition;
        if dvfs.transition_halts && !memory {
            for sm in &mut self.state.sms {
                let until = sm.clock().tick_at(at);
                sm.stall_until(until);
            }
        }
        self.state.clocks.changes.push((at, memory, mhz));
        self.state.clocks.changes.sort_by_key(|c| c.0);
    }

    /// Closes the sample now, at a window boundary, for clocks that change.
    pub(super) fn close_sample(&mut self, transitions: u32) {
        let now = self.state.now;
        let (counters, events) = self.memory_side.take_tally();
        if let Some(r) = self.state.running.as_mut() {
            r.stats.counters.add(&counters);
        }
        self.cut_sample(now, &events, false);
        if let Some(sample) = self.state.samples.last_mut() {
            sample.transitions += transitions;
        }
    }

    /// A clock changes now, at a window boundary.
    fn change_clock(&mut self, memory: bool, mhz: f64) {
        self.state.clocks.transitions += 1;
        self.set_clock(memory, mhz);
        for x in &self.state.exchanges {
            lock(x).next_time = 0;
        }
    }

    /// Sets a clock from now on.
    pub(super) fn set_clock(&mut self, memory: bool, mhz: f64) {
        let now = self.state.now;
        let clocks = &mut self.state.clocks;
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
    }
}
