//! The controller of CRISP §4: every interval it predicts time and energy of each P-state from what the SMs have counted
//! and from the power of the interval, and makes for the best.
//!
//! The interval's program behaviour stands for the next one's. Counters are averaged over the SMs, each weighted by the
//! cycles in which it had work (*decision*: an idle SM says nothing of the others' memory time). Power is what the power
//! model makes of the interval's activity, with its default options (*decision*: a controller does not know under which
//! options the run is accounted).
//!
//! Costs: while the controller's software runs nothing issues, once per decision; the machine
//! halts the SMs for the transition time of the GPU when the P-state changes.

use super::Upwards;
use super::objective::{DynamicEnergy, Energies, Objective, Outlook, PState};
use super::observer::{TOLD, Totals};
use super::predict::{Form, Times};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::Sample;
use warpwatt_machine::hooks::{ChipView, GovernorHook, Hook, Order, Report};
use warpwatt_machine::spec::Spec;
use warpwatt_power::component::SM_COMPONENTS;
use warpwatt_power::{Component, PowerModel};

/// What a controller is made with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How the model predicts.
    pub form: Form,
    /// What does not scale towards a higher clock.
    pub upwards: Upwards,
    /// What is to be least.
    pub objective: Objective,
    /// How dynamic energy is predicted.
    pub dynamic: DynamicEnergy,
    /// Interval, µs.
    pub interval_us: f64,
    /// Cycles of the controller's software, at the GPU's nominal SM clock.
    pub software: u64,
    /// Power model.
    pub power: PowerModel,
}

/// The controller.
#[derive(Debug)]
pub struct Controller {
    setup: Setup,
    /// P-states, upwards.
    states: Vec<PState>,
    spec: Spec,
    /// Transition time, µs.
    transition_us: f64,
    own: Own,
}

/// What a checkpoint keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Own {
    /// The clock until now, and the one made for.
    from: f64,
    to: f64,
    /// Time of the last question, fs.
    asked: u64,
    decisions: u64,
    switches: u64,
    /// Nanoseconds under way to or at each P-state.
    spent: Vec<u64>,
    /// What the last decision was made from.
    last: Why,
}

/// What a decision was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Why {
    /// T_Memory, load and store stalls as shares of the interval's counted time.
    memory: f64,
    load_stall: f64,
    store_stall: f64,
    /// Time and energy at the P-state chosen, over those at the one before.
    time: f64,
    energy: f64,
}

/// A GPU's P-states, upwards.
pub(super) fn states(spec: &Spec) -> Vec<PState> {
    let mut states: Vec<PState> = spec.dvfs.core_levels.iter().map(|l| PState { mhz: l.mhz, volts: l.volts }).collect();
    states.sort_by(|a, b| a.mhz.total_cmp(&b.mhz));
    states
}

impl Controller {
    /// A controller of a GPU.
    pub fn new(setup: Setup, spec: &Spec) -> Controller {
        let states = states(spec);
        let own = Own { from: spec.core_mhz, to: spec.core_mhz, spent: vec![0; states.len()], ..Own::default() };
        let transition_us = spec.dvfs.transition_ns / 1000.0;
        Controller { setup, states, spec: spec.clone(), transition_us, own }
    }

    /// SM cycles at a clock in which the software runs: it runs elsewhere, so its time is the same at every clock.
    fn software(&self, mhz: f64) -> f64 {
        self.setup.software as f64 * mhz / self.spec.core_mhz
    }

    fn nearest(&self, mhz: f64) -> usize {
        let off = |s: &PState| (s.mhz - mhz).abs();
        let nearest = self.states.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        nearest.map_or(0, |(at, _)| at)
    }

    /// What is predicted of each P-state, from an interval at `from`.
    fn outlooks(&self, times: &Times, energies: &Energies, from: PState) -> Vec<Outlook> {
        let present = times.predict(self.setup.form, 1.0);
        let stalls_alone = self.setup.form == Form::StalledPath && self.setup.upwards == Upwards::Stalls;
        let outlook = |state: &PState| {
            let time = match from.mhz / state.mhz {
                slower if slower < 1.0 && stalls_alone => times.predict_stalls_alone(slower),
                slower => times.predict(self.setup.form, slower),
            } / present;
            Outlook { state: *state, time, energy: energies.at(from, *state, time, self.setup.dynamic) }
        };
        self.states.iter().map(outlook).collect()
    }

    /// Energies of samples.
    fn energies(&self, samples: &[Sample]) -> Energies {
        let mut sum = Energies::default();
        for sample in samples {
            let energy = self.setup.power.sample(sample).components();
            for (at, e) in energy.iter().enumerate() {
                let in_sm = at < SM_COMPONENTS;
                let (dynamic, leakage) = match in_sm {
                    true => (&mut sum.sm_dynamic, &mut sum.sm_static),
                    false if at == Component::Clock as usize => (&mut sum.clock, &mut sum.rest_static),
                    false => (&mut sum.rest_dynamic, &mut sum.rest_static),
                };
                *dynamic += e.dynamic;
                *leakage += e.leakage + e.overhead;
            }
        }
        sum
    }
}

impl Hook for Controller {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.own).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let own: Own = postcard::from_bytes(state).map_err(|e| format!("controller: {e}"))?;
        if own.spent.len() != self.states.len() {
            return Err("the controller was saved with other P-states".to_owned());
        }
        self.own = own;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("dvfs.decisions", self.own.decisions);
        report.add("dvfs.switches", self.own.switches);
        report.add("dvfs.ns", self.own.spent.iter().sum());
        let weighted = self.states.iter().zip(&self.own.spent).map(|(s, ns)| (s.mhz * *ns as f64) as u64);
        report.add("dvfs.mhz_ns", weighted.sum());
        report.add_histogram("dvfs.ns_by_level", &self.own.spent);
    }
}

impl GovernorHook for Controller {
    fn interval(&self) -> u64 {
        // Whole intervals of time: after a change of clock the cycles before it have the old length.
        let (from, to) = (self.own.from, self.own.to);
        let before = if from == to { 0.0 } else { self.software(from) / from + self.transition_us };
        let after = (self.setup.interval_us - before).max(0.0);
        ((before * from + after * to).round() as u64).max(1)
    }

    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let at = self.nearest(self.own.to);
        self.own.spent[at] += chip.time.saturating_sub(self.own.asked) / 1_000_000;
        self.own.asked = chip.time;
        self.own.from = chip.core_mhz;
        self.own.to = chip.core_mhz;
        let told = chip.sms.iter().flat_map(|sm| &sm.observed).filter(|(name, _)| *name == TOLD);
        let sum = told.fold(Times::default(), |sum, (_, list)| sum.and(&Totals::from_list(list).times()));
        if sum.all <= 0.0 {
            return Vec::new();
        }
        let energies = self.energies(chip.activity);
        let volts = self.spec.core_volts(chip.core_mhz);
        let outlooks = self.outlooks(&sum, &energies, PState { mhz: chip.core_mhz, volts });
        let Some(best) = self.setup.objective.best(&outlooks) else { return Vec::new() };
        let here = &outlooks[self.nearest(chip.core_mhz)];
        self.own.last = Why {
            memory: sum.memory / sum.all,
            load_stall: sum.load_stall / sum.all,
            store_stall: sum.store_stall / sum.all,
            time: outlooks[best].time,
            energy: outlooks[best].energy / here.energy,
        };
        self.own.decisions += 1;
        let mut orders = vec![Order::Halt(self.software(chip.core_mhz).round() as u64)];
        let state = self.states[best];
        if state.mhz != chip.core_mhz {
            self.own.switches += 1;
            self.own.to = state.mhz;
            orders.push(Order::CoreMhz(state.mhz));
        }
        orders
    }

    fn wants_activity(&self) -> bool {
        true
    }

    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        let why = &self.own.last;
        note("memory", why.memory);
        note("load_stall", why.load_stall);
        note("store_stall", why.store_stall);
        note("predicted_time", why.time);
        note("predicted_energy", why.energy);
    }
}
