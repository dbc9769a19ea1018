//! DynCTA: the number of CTAs follows idle and memory-stall cycles.
//!
//! O. Kayiran, A. Jog, M. T. Kandemir, C. R. Das, *Neither More nor Less: Optimizing Thread-level Parallelism for GPGPUs*,
//! PACT 2013, as Equalizer (§V-B, Fig. 10) compares with it. A re-implementation from the description: per SM and interval,
//! C_idle are cycles in which nothing issues and no warp waits, C_mem those in which all wait for memory. Many idle cycles
//! call for one CTA more; else few memory cycles call for one more, many for one less. A launch begins with half the CTAs
//! that fit; CTAs above the number are paused.
//!
//! *Decisions*: cycles are issue slots over schedulers. C_idle are slots without a warp, at a barrier or draining; C_mem
//! those on loads, on the order of atomics, and behind a load/store port that takes no more (`port=false` leaves these
//! out). An SM that holds no warp decides nothing, nor does any at the end of an interval in which a launch began.

use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::policy_parameters;
use crate::system::{About, Built, HookKind, Metric, Paper, System};
use serde::{Deserialize, Serialize};
use warpwatt_machine::hooks::{ChipView, GovernorHook, Hook, LaunchView, Order, Policy, Report, SmView};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Slot;
use warpwatt_power::PolicyPower;

policy_parameters! {
    /// Parameters of DynCTA.
    Parameters {
        /// Cycles between two decisions.
        interval: u32 = 2048, number("cycles", 64.0, 10_000_000.0).from("DynCTA, as recalled");
        /// Idle cycles of an interval from which on there is one CTA more.
        idle: u32 = 16, number("cycles", 0.0, 1e7).from("DynCTA, as recalled");
        /// Memory cycles of an interval below which there is one CTA more.
        memory_low: u32 = 128, number("cycles", 0.0, 1e7).from("DynCTA, as recalled");
        /// Memory cycles of an interval from which on there is one CTA less.
        memory_high: u32 = 384, number("cycles", 0.0, 1e7).from("DynCTA, as recalled");
        /// Cycles behind a load/store port that takes no more are memory cycles.
        port: bool = true, plain().from("decision");
    }
}

/// DynCTA.
#[derive(Clone, Copy, Debug)]
pub struct DynCta;

impl System for DynCta {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "dyncta",
        meaning: "the number of CTAs follows idle and memory-stall cycles",
        paper: Paper {
            title: "Neither More nor Less: Optimizing Thread-level Parallelism for GPGPUs",
            authors: "O. Kayiran, A. Jog, M. T. Kandemir, C. R. Das",
            venue: "PACT",
            year: 2013,
        },
        hooks: &[HookKind::Governor],
        yields: &[],
        baseline: crate::equalizer::BASELINE,
        metrics: &[Metric {
            name: "cta_changes",
            unit: "changes",
            meaning: "changes of an SM's number of CTAs",
            value: |r| Some((r.count("dyncta.fewer") + r.count("dyncta.more")) as f64),
        }],
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower::default() })
    }
}

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        let sms = vec![Sm::default(); spec.sms as usize];
        let state = State { sms, ..State::default() };
        Some(Box::new(Governor { parameters: self.0, schedulers: spec.schedulers.max(1).into(), state }))
    }
}

/// One more CTA, one less or as many, after an interval with so many idle and memory cycles.
pub fn decide(parameters: &Parameters, idle: u64, memory: u64) -> i32 {
    if idle >= u64::from(parameters.idle) || memory < u64::from(parameters.memory_low) {
        1
    } else if memory >= u64::from(parameters.memory_high) {
        -1
    } else {
        0
    }
}

#[derive(Debug)]
struct Governor {
    parameters: Parameters,
    schedulers: u64,
    state: State,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    sms: Vec<Sm>,
    /// A launch has begun amid the present interval: its counts are not a whole one's.
    amid: bool,
    fewer: u64,
    more: u64,
    /// Means over the SMs of the last interval: idle cycles, memory cycles, CTAs.
    last: [f64; 3],
}

/// One SM: its number of CTAs, and idle and memory slots at the last decision.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sm {
    limit: u32,
    slots: [u64; 2],
}

impl Governor {
    fn slots(&self, view: &SmView) -> [u64; 2] {
        let sum = |slots: &[Slot]| slots.iter().map(|s| view.slots.get(*s as usize).copied().unwrap_or(0)).sum::<u64>();
        let port = if self.parameters.port { sum(&[Slot::MemoryPort]) } else { 0 };
        [sum(&[Slot::Empty, Slot::Barrier, Slot::Drain]), sum(&[Slot::Memory, Slot::Fence]) + port]
    }
}

impl Hook for Governor {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.state = postcard::from_bytes(state).map_err(|e| format!("dyncta: {e}"))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("dyncta.fewer", self.state.fewer);
        report.add("dyncta.more", self.state.more);
    }
}

impl GovernorHook for Governor {
    fn interval(&self) -> u64 {
        self.parameters.interval.into()
    }

    fn launch(&mut self, launch: &LaunchView<'_>) -> Vec<Order> {
        let limit = (launch.ctas_per_sm / 2).max(1);
        // The first one begins with the run, and with an interval.
        self.state.amid = launch.index > 0;
        self.state.sms.iter_mut().for_each(|sm| *sm = Sm { limit, slots: [0; 2] });
        (0..self.state.sms.len()).map(|sm| Order::CtaLimit { sm, limit }).collect()
    }

    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let mut orders = Vec::new();
        let mut sums = [0; 3];
        let amid = std::mem::take(&mut self.state.amid);
        for (sm, view) in chip.sms.iter().enumerate() {
            let slots = self.slots(view);
            let Some(own) = self.state.sms.get_mut(sm) else { continue };
            let [idle, memory] = [0, 1].map(|i| (slots[i] - own.slots[i]) / self.schedulers);
            own.slots = slots;
            let wanted = if amid || view.ctas == 0 { 0 } else { decide(&self.parameters, idle, memory) };
            let limit = own.limit.saturating_add_signed(wanted).clamp(1, chip.launch.ctas_per_sm.max(1));
            if limit != own.limit {
                self.state.fewer += (limit < own.limit) as u64;
                self.state.more += (limit > own.limit) as u64;
                own.limit = limit;
                orders.push(Order::CtaLimit { sm, limit });
            }
            sums.iter_mut().zip([idle, memory, limit.into()]).for_each(|(sum, one)| *sum += one);
        }
        self.state.last = sums.map(|sum| sum as f64 / chip.sms.len().max(1) as f64);
        orders
    }

    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        for (name, value) in ["idle_cycles", "memory_cycles", "ctas"].iter().zip(self.state.last) {
            note(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_cycles_first_then_memory_cycles() {
        let decide = |idle, memory| decide(&Parameters::default(), idle, memory);
        assert_eq!([decide(16, 2000), decide(15, 127), decide(0, 0)], [1, 1, 1]);
        assert_eq!([decide(15, 128), decide(15, 383)], [0, 0]);
        assert_eq!([decide(15, 384), decide(0, 2048)], [-1, -1]);
    }

    #[test]
    fn an_interval_in_which_a_launch_began_decides_nothing() {
        let state = State { sms: vec![Sm::default()], ..State::default() };
        let mut governor = Governor { parameters: Parameters::default(), schedulers: 2, state };
        // Nothing but issued slots: few memory cycles call for one CTA more.
        let sms = [SmView { ctas: 1, slots: vec![0; warpwatt_machine::stats::SLOTS], ..SmView::default() }];
        let launch = |index| LaunchView { index, kernel: "k", ctas: 99, warps_per_cta: 8, ctas_per_sm: 6 };
        let mut orders = |index: u32, begins: bool| {
            if begins {
                governor.launch(&launch(index));
            }
            let launch = launch(index);
            let chip = ChipView {
                time: 0,
                cycle: 0,
                launch,
                core_mhz: 700.0,
                dram_mhz: 924.0,
                sms: &sms,
                activity: &[],
                futures: &[],
            };
            governor.decide(&chip).len()
        };
        assert_eq!([orders(0, true), orders(0, false)], [1, 1]);
        assert_eq!([orders(1, true), orders(1, false), orders(1, false)], [0, 1, 1]);
    }
}
