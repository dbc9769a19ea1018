//! What a controller with perfect foresight would do, interval by interval: `oracle-edp`, `oracle-ed2p`, `oracle-energy`.
//!
//! Every interval each P-state is tried: the machine runs ahead with it for the length of an interval, from the present state,
//! which it then takes up again ([`Future`]). What is compared is time and energy for a warp instruction, since the
//! P-states do different amounts of work in the same time; a change of P-state is paid for in the future that begins with
//! one. The choice is greedy: it looks no further than the interval, nor past the end of a launch, so a sequence of
//! choices may be worse than a fixed P-state. There is no such hardware: deciding costs nothing but the changes.

use super::governor::states;
use super::objective::{Objective, Outlook, PState};
use serde::{Deserialize, Serialize};
use warpwatt_machine::hooks::{ChipView, Foresight, Future, GovernorHook, Hook, Order, Report};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PowerModel;

/// The oracle.
#[derive(Debug)]
pub struct Oracle {
    objective: Objective,
    interval_us: f64,
    transition_us: f64,
    states: Vec<PState>,
    power: PowerModel,
    own: Own,
}

/// What a checkpoint keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Own {
    /// The clock before the last decision, and the one that it chose.
    from: f64,
    mhz: f64,
    decisions: u64,
    switches: u64,
    /// Decisions for each P-state.
    chosen: Vec<u64>,
    /// Time and energy of the last choice, over those of the highest P-state.
    time: f64,
    energy: f64,
}

impl Oracle {
    /// An oracle of a GPU.
    pub fn new(objective: Objective, interval_us: f64, power: PowerModel, spec: &Spec) -> Oracle {
        let states = states(spec);
        let own = Own { from: spec.core_mhz, mhz: spec.core_mhz, chosen: vec![0; states.len()], ..Own::default() };
        let transition_us = spec.dvfs.transition_ns / 1000.0;
        Oracle { objective, interval_us, transition_us, states, power, own }
    }

    /// Time and energy for a warp instruction.
    fn outlook(&self, future: &Future) -> Outlook {
        let work = future.instructions.max(1) as f64;
        let energy: f64 = future
            .activity
            .iter()
            .map(|s| self.power.sample(s).components().iter().map(|e| e.total()).sum::<f64>())
            .sum();
        let volts = self.states.iter().find(|s| s.mhz == future.mhz).map_or(1.0, |s| s.volts);
        Outlook { state: PState { mhz: future.mhz, volts }, time: future.time as f64 / work, energy: energy / work }
    }
}

impl Hook for Oracle {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.own).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.own = postcard::from_bytes(state).map_err(|e| format!("oracle: {e}"))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("dvfs.decisions", self.own.decisions);
        report.add("dvfs.switches", self.own.switches);
        report.add_histogram("dvfs.decisions_by_level", &self.own.chosen);
    }
}

impl GovernorHook for Oracle {
    fn interval(&self) -> u64 {
        // Whole intervals of time: until a change takes effect cycles have the old length.
        let (from, to) = (self.own.from, self.own.mhz);
        let before = if from == to { 0.0 } else { self.transition_us };
        let after = (self.interval_us - before).max(0.0);
        ((before * from + after * to).round() as u64).max(1)
    }

    fn foresees(&self) -> Option<Foresight> {
        let mhz = self.states.iter().map(|s| s.mhz).collect();
        Some(Foresight { mhz, time: (self.interval_us * 1e9) as u64 })
    }

    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let outlooks: Vec<Outlook> = chip.futures.iter().map(|f| self.outlook(f)).collect();
        let Some(best) = self.objective.best(&outlooks).and_then(|at| outlooks.get(at)) else { return Vec::new() };
        if let Some(fastest) = outlooks.last() {
            (self.own.time, self.own.energy) = (best.time / fastest.time, best.energy / fastest.energy);
        }
        self.own.decisions += 1;
        (self.own.from, self.own.mhz) = (chip.core_mhz, best.state.mhz);
        if let Some(at) = self.states.iter().position(|s| s.mhz == best.state.mhz) {
            self.own.chosen[at] += 1;
        }
        if best.state.mhz == chip.core_mhz {
            return Vec::new();
        }
        self.own.switches += 1;
        vec![Order::CoreMhz(best.state.mhz)]
    }

    fn wants_activity(&self) -> bool {
        true
    }

    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        note("time", self.own.time);
        note("energy", self.own.energy);
    }
}
