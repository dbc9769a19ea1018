//! CRISP: run time at another SM clock, predicted from counters; the models that it is compared with; and controllers of the
//! SMs' P-state that use any of them.
//!
//! R. Nath, D. Tullsen, *The CRISP performance model for dynamic voltage and frequency scaling in a GPGPU*, MICRO 2015.
//!
//! - The machine classifies each SM cycle (§3.5: [`CycleKind`](warpwatt_machine::hooks::CycleKind)) and tells of each L1
//!   miss that goes out and comes back.
//! - [`model`]: what each model counts of that. CRISP (§3.6): adjusted load critical path with a time stamp for each
//!   outstanding miss, load stalls, store stalls. CRISP-L (§5.3): cycles with a load outstanding instead of the path. LEAD,
//!   CRIT, MISS, STALL (§2.1), all from the L1 miss on (§2.2).
//! - [`predict`]: equations 2 to 5, and §5.2's form towards higher clocks.
//! - [`observer`]: a model at an SM, as a policy of its own (`crisp`, `lead` …: any number in one run) it counts launch by
//!   launch; `warpwatt predict` makes times of it.
//! - [`objective`], [`governor`]: the controllers `crisp-edp`, `lead-ed2p` … (§4).
//! - [`oracle`]: what they would do if they knew.
//!
//! §3.4 works Fig. 6 out with a load critical path of 20 cycles, 10 of exposed computation and 1 store stall, 54 cycles at
//! half the clock; the hardware of §3.6 counts 21, 9 and 1 for the same timeline, 52 cycles: §3.4 counts cycle 27 twice, as
//! a stall of the path's and as computation of the rest. What is implemented is the hardware; tests hold both numbers.
//!
//! *Decisions*: SM cycles without a warp, and cycles in which the controller's software or a change of P-state keeps the
//! SMs from issuing, count for nothing. Cycles in which all warps that are left wait for their stores are store stalls
//! (`store_wait`; by the letter of rule D they are computation). When an interval ends, what is outstanding counts up to
//! there, and is stamped anew. Dynamic energy is predicted by the work done, ∝ V² (`dynamic`), but that of the clock tree,
//! which takes V²f as long as time passes: §4 writes power at the P-state (∝ V²f) times the present time for all of it, which
//! promises a slower clock more than it keeps (`dynamic=power`). The software's 109 cycles were measured on a CPU (§4), whose
//! clock is not said and does not follow the SMs': they take the time of as many cycles of the nominal SM clock.
//! Towards a higher clock all of the load critical path stays, as §5.2 writes it: a controller that has slowed down a kernel
//! with much computation under loads then sees no gain in going back. `upwards=stalls` scales that computation too.

pub mod governor;
pub mod model;
pub mod objective;
pub mod observer;
pub mod oracle;
pub mod predict;

use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use governor::{Controller, Setup};
use model::{Crisp, CrispL, Crit, Lead, Miss, Model, Stall};
use objective::{DynamicEnergy, Objective};
use observer::{Observer, Span};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use warpwatt_machine::hooks::{GovernorHook, Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::{PolicyPower, PowerModel, PowerOptions};

policy_choices! {
    /// What cycles are in which all warps that are left wait for their stores.
    #[derive(Serialize, Deserialize)]
    StoreWait {
        /// Store stalls.
        Stall = "stall",
        /// Computation.
        Compute = "compute",
    }
}

policy_choices! {
    /// What stays as it is when CRISP and CRISP-L predict for a higher clock.
    Upwards {
        /// The load critical path with the computation under it, as §5.2 has it.
        Path = "path",
        /// Stalls alone.
        Stalls = "stalls",
    }
}

policy_parameters! {
    /// Parameters of a model.
    Watching {
        /// Cycles in which all warps that are left wait for their stores: `stall` or `compute`.
        store_wait: StoreWait = StoreWait::Stall, plain().from("decision");
        /// Memory latency that MISS counts with; 0 for that of a DRAM read on the idle GPU.
        latency_ns: f64 = 0.0, number("ns", 0.0, 1e6).from("CRISP §2.1; the figure is a decision");
    }
}

policy_parameters! {
    /// Parameters of a controller.
    Controlling {
        /// Time between two decisions.
        interval_us: f64 = 10.0, number("µs", 1.0, 1e6).from("CRISP §4");
        /// Time without issue that a decision costs, in cycles of the nominal SM clock.
        software_cycles: u32 = 109, number("cycles", 0.0, 1e6).from("CRISP §4");
        /// Time that `energy` may lose against the highest clock.
        loss: f64 = 0.01, number("1", 0.0, 10.0).from("CRISP §5.4");
        /// Dynamic energy at another P-state: `power` (V²f × present time) or `work` (V²; of the clock tree V²f × new time).
        dynamic: DynamicEnergy = DynamicEnergy::Work, plain().from("decision; CRISP §4 writes `power`");
        /// What CRISP and CRISP-L keep towards a higher clock: the load critical `path`, or `stalls` alone.
        upwards: Upwards = Upwards::Path, plain().from("CRISP §5.2");
        /// Cycles in which all warps that are left wait for their stores: `stall` or `compute`.
        store_wait: StoreWait = StoreWait::Stall, plain().from("decision");
        /// Memory latency that MISS counts with; 0 for that of a DRAM read on the idle GPU.
        latency_ns: f64 = 0.0, number("ns", 0.0, 1e6).from("CRISP §2.1; the figure is a decision");
    }
}

/// Where all of it was published.
const PAPER: Paper = Paper {
    title: "The CRISP Performance Model for Dynamic Voltage and Frequency Scaling in a GPGPU",
    authors: "R. Nath, D. Tullsen",
    venue: "MICRO",
    year: 2015,
};

const BASELINE: Baseline = Baseline { gpu: "gtx480-crisp", set: &[] };

/// The latency that MISS counts with, fs.
fn latency(spec: &Spec, given_ns: f64) -> u64 {
    if given_ns > 0.0 {
        return (given_ns * 1e6) as u64;
    }
    let of = |cycles: u32, mhz: f64| f64::from(cycles) * 1e9 / mhz;
    let dram = spec.dram.rp + spec.dram.rcd + spec.dram.cl + spec.dram_burst / spec.dram_beats_per_clock.max(1);
    let way = of(2 * spec.noc_latency_cycles, spec.noc_mhz);
    (way + of(spec.rop_latency_cycles + spec.dram_latency_cycles, spec.l2_mhz) + of(dram, spec.dram_mhz)) as u64
}

/// Makes a model's observers, and a governor if they are a controller's.
#[derive(Debug)]
struct Maker<M> {
    store_wait: StoreWait,
    latency: u64,
    controller: Option<Setup>,
    model: PhantomData<fn() -> M>,
}

impl<M: Model> Policy for Maker<M> {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        let span = if self.controller.is_some() { Span::Interval } else { Span::Launch };
        let observer = Observer::<M>::new(span, self.store_wait, self.latency);
        SmHooks { observers: vec![Box::new(observer)], ..SmHooks::default() }
    }

    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        let setup = self.controller.clone()?;
        Some(Box::new(Controller::new(setup, spec)))
    }
}

fn watch<M: Model>(p: Watching, spec: &Spec) -> Built {
    let latency = latency(spec, p.latency_ns);
    let maker = Maker::<M> { store_wait: p.store_wait, latency, controller: None, model: PhantomData };
    Built { policy: Box::new(maker), power: PolicyPower::default() }
}

/// The power model that a controller of a GPU with P-states looks at.
fn power(name: &str, spec: &Spec) -> Result<PowerModel, PolicyError> {
    if spec.dvfs.core_levels.len() < 2 {
        let message = format!("`{name}` chooses among P-states, and {} has fewer than two", spec.name);
        let help = "give dvfs.core_levels more levels, or take another GPU, for example gtx480-crisp".to_owned();
        return Err(PolicyError::Inconsistent { message, help });
    }
    PowerModel::new(spec, PowerOptions::default()).map_err(|e| PolicyError::Inconsistent {
        message: format!("`{name}` cannot estimate power: {e}"),
        help: "take a GPU with an energy table".to_owned(),
    })
}

fn control<M: Model>(name: &str, p: Controlling, objective: Objective, spec: &Spec) -> Result<Built, PolicyError> {
    let power = power(name, spec)?;
    let controller = Setup {
        form: M::FORM,
        upwards: p.upwards,
        objective,
        dynamic: p.dynamic,
        interval_us: p.interval_us,
        software: p.software_cycles.into(),
        power,
    };
    let latency = latency(spec, p.latency_ns);
    let maker = Maker::<M> { store_wait: p.store_wait, latency, controller: Some(controller), model: PhantomData };
    Ok(Built { policy: Box::new(maker), power: PolicyPower::default() })
}

/// What a controller reports.
const METRICS: &[Metric] = &[
    Metric {
        name: "decisions",
        unit: "decisions",
        meaning: "decisions, each of which costs the controller's software",
        value: |r| Some(r.count("dvfs.decisions") as f64),
    },
    Metric {
        name: "switches",
        unit: "changes",
        meaning: "changes of the P-state ordered",
        value: |r| Some(r.count("dvfs.switches") as f64),
    },
    Metric {
        name: "mean_mhz",
        unit: "MHz",
        meaning: "SM clock ordered, averaged over the time up to the last decision",
        value: |r| Some(r.count("dvfs.mhz_ns") as f64 / r.count("dvfs.ns") as f64),
    },
];

macro_rules! systems {
    ($($model:ident $text:literal: $watch:ident $name:literal, $edp:ident $edp_name:literal, $ed2p:ident $ed2p_name:literal,
       $energy:ident $energy_name:literal;)*) => {
        $(
            #[doc = concat!("The model of ", $text, ".")]
            #[derive(Clone, Copy, Debug)]
            pub struct $watch;

            impl System for $watch {
                type Parameters = Watching;
                const ABOUT: About = About {
                    name: $name,
                    meaning: concat!("counts ", $text, " to predict run times at other SM clocks (warpwatt predict)"),
                    paper: PAPER,
                    hooks: &[HookKind::Observer],
                    yields: &[],
                    baseline: BASELINE,
                    metrics: &[],
                };

                fn build(parameters: Watching, spec: &Spec) -> Result<Built, PolicyError> {
                    Ok(watch::<$model>(parameters, spec))
                }
            }

            systems!(@ $model $text, $edp $edp_name "energy × delay", |_| Objective::Edp);
            systems!(@ $model $text, $ed2p $ed2p_name "energy × delay²", |_| Objective::Ed2p);
            systems!(@ $model $text, $energy $energy_name "energy, with a bound on the time lost",
                     |p: &Controlling| Objective::Energy { loss: p.loss });
        )*
    };
    (@ $model:ident $text:literal, $own:ident $name:literal $aim:literal, $objective:expr) => {
        #[doc = concat!("SM P-states for the least ", $aim, ", predicted from ", $text, ".")]
        #[derive(Clone, Copy, Debug)]
        pub struct $own;

        impl System for $own {
            type Parameters = Controlling;
            const ABOUT: About = About {
                name: $name,
                meaning: concat!("SM P-states for the least ", $aim, ", predicted from ", $text),
                paper: PAPER,
                hooks: &[HookKind::Governor, HookKind::Observer],
                yields: &[],
                baseline: BASELINE,
                metrics: METRICS,
            };

            fn build(parameters: Controlling, spec: &Spec) -> Result<Built, PolicyError> {
                let objective: fn(&Controlling) -> Objective = $objective;
                control::<$model>($name, parameters, objective(&parameters), spec)
            }
        }
    };
}

systems! {
    Crisp "the critical stalled path": CrispModel "crisp", CrispEdp "crisp-edp", CrispEd2p "crisp-ed2p", CrispEnergy "crisp-energy";
    CrispL "cycles with loads outstanding": CrispLModel "crisp-l", CrispLEdp "crisp-l-edp", CrispLEd2p "crisp-l-ed2p", CrispLEnergy "crisp-l-energy";
    Lead "leading loads": LeadModel "lead", LeadEdp "lead-edp", LeadEd2p "lead-ed2p", LeadEnergy "lead-energy";
    Crit "the critical path": CritModel "crit", CritEdp "crit-edp", CritEd2p "crit-ed2p", CritEnergy "crit-energy";
    Stall "load stalls": StallModel "stall", StallEdp "stall-edp", StallEd2p "stall-ed2p", StallEnergy "stall-energy";
    Miss "stand-alone misses": MissModel "miss", MissEdp "miss-edp", MissEd2p "miss-ed2p", MissEnergy "miss-energy";
}

policy_parameters! {
    /// Parameters of an oracle.
    Foreseeing {
        /// Time between two decisions, and how far ahead it looks.
        interval_us: f64 = 10.0, number("µs", 1.0, 1e6).from("CRISP §4");
        /// Time that `oracle-energy` may lose against the highest clock.
        loss: f64 = 0.01, number("1", 0.0, 10.0).from("CRISP §5.4");
    }
}

/// Makes an oracle.
#[derive(Debug)]
struct Foreseer {
    objective: Objective,
    interval_us: f64,
    power: PowerModel,
}

impl Policy for Foreseer {
    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        Some(Box::new(oracle::Oracle::new(self.objective, self.interval_us, self.power.clone(), spec)))
    }
}

macro_rules! oracles {
    ($($own:ident $name:literal $aim:literal $objective:expr;)*) => {
        $(
            #[doc = concat!("Of each interval the SM P-state with the least ", $aim, ", found by trying all.")]
            #[derive(Clone, Copy, Debug)]
            pub struct $own;

            impl System for $own {
                type Parameters = Foreseeing;
                const ABOUT: About = About {
                    name: $name,
                    meaning: concat!("of each interval the SM P-state with the least ", $aim, ", found by simulating all"),
                    paper: PAPER,
                    hooks: &[HookKind::Governor],
                    yields: &[],
                    baseline: BASELINE,
                    metrics: &[METRICS[0], METRICS[1]],
                };

                fn build(parameters: Foreseeing, spec: &Spec) -> Result<Built, PolicyError> {
                    let objective: fn(&Foreseeing) -> Objective = $objective;
                    let power = power($name, spec)?;
                    let interval_us = parameters.interval_us;
                    let maker = Foreseer { objective: objective(&parameters), interval_us, power };
                    Ok(Built { policy: Box::new(maker), power: PolicyPower::default() })
                }
            }
        )*
    };
}

oracles! {
    OracleEdp "oracle-edp" "energy × delay" |_| Objective::Edp;
    OracleEd2p "oracle-ed2p" "energy × delay²" |_| Objective::Ed2p;
    OracleEnergy "oracle-energy" "energy, with a bound on the time lost" |p| Objective::Energy { loss: p.loss };
}

/// The names of all models.
pub const MODELS: [&str; 6] = [Crisp::NAME, CrispL::NAME, Lead::NAME, Crit::NAME, Stall::NAME, Miss::NAME];

/// How a model makes predictions.
pub fn form(model: &str) -> Option<predict::Form> {
    let forms = [Crisp::FORM, CrispL::FORM, Lead::FORM, Crit::FORM, Stall::FORM, Miss::FORM];
    MODELS.iter().position(|name| *name == model).map(|at| forms[at])
}
