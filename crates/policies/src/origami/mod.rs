//! Origami: Warp Folding, and the Origami scheduler on top of it.
//!
//! M. Abdel-Majeed, D. Wong, J. Kuang, M. Annavaram, *Origami: Folding Warps for Energy Efficient GPUs*, ICS 2016. Short
//! idle periods of the lanes are too short to be gated. Folding issues a warp as two halves on the lower half of each
//! cluster of four lanes, so that the upper half rests for long.
//!
//! - `fold` (§3.1): folding by phases on the GPU's own scheduler, gating after the idle-detect window. The type with more
//!   warps in the instruction buffers is folded for a smaller share of the phase than the other.
//! - `origami` (§3): the same, but no folding after a phase that issued nearly all it could (§3.1.1, adaptive folding); with an
//!   order of warps by type and by active lanes ([`order`]), lane shifting, and eager gating ([`gate`]).
//!
//! *Decisions*, where the paper is silent:
//! - The folded part of a phase comes first in it. Types with equally many warps are both folded conservatively; so are
//!   both in the first phase, when nothing is known.
//! - A phase is counted from the first cycle in which the SM holds warps after the last one has ended. INT and FP warps
//!   are counted over the SM, whose schedulers share the SPs; turns of the order belong to a scheduler.
//! - Folding alone has the two extra stages, but no lane shifting outside the folded part, no eager gating and no adaptive
//!   folding (`fold.shift`, `fold.eager`, `fold.adaptive`): §4.3 calls it naive, and puts Origami's speed down to the "adaptive
//!   folding policies".
//! - A forced switch of the order goes only to a type or group that has warps. A type's turn also ends when none of its
//!   warps is in the active set.
//! - "90 % of the maximum possible issued instructions" (§3.1.1) is taken of the warps that the SPs can take when all are
//!   folded (`cutoff_of=folded`). Taken of all issue slots (`issue`) no phase of backprop reaches it, which Fig. 12 and
//!   §4.3 name as one that is hardly folded for that reason, and kernels that keep the SPs more than half busy lose a
//!   fifth of their speed.
//! - Lanes are demanded when an instruction issues (`demand`); see [`crate::lanes`].
//! - Whether a warp is folded is decided when it issues. Lanes of either half work for both halves' initiation intervals.
//! - Of a share of 0 no phase is folded; any other share must last [`Folding::n_fold`] cycles.

pub mod folding;
pub mod gate;
pub mod order;
pub mod shape;

use crate::cpg::Gate;
use crate::error::PolicyError;
use crate::lanes::{Demand, Lanes, Occupancy, Scope, Setup};
use crate::parameters::{ParameterSet, Visitor, number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use folding::{Folder, Signals};
use gate::FoldGate;
use std::sync::Arc;
use warpwatt_machine::hooks::{Policy, Report, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::{GatingEnergy, PolicyPower};

policy_choices! {
    /// The most that a phase can issue.
    Most {
        /// An instruction of each scheduler in every cycle.
        Issue = "issue",
        /// A warp of each SP in every second cycle: what is left when all are folded.
        Folded = "folded",
    }
}

policy_parameters! {
    /// Parameters of folding.
    Folding {
        /// Length of a phase (N_phase).
        phase: u32 = 300, number("cycles", 1.0, 1_000_000.0).from("Origami §3.1.1");
        /// Cycles in which a pipeline runs empty (N_pipeflush).
        pipe_flush: u32 = 19, number("cycles", 0.0, 10_000.0).from("Origami §3.1.1");
        /// Cycles without work after which lanes are gated.
        idle_detect: u32 = 5, number("cycles", 0.0, 100_000.0).from("Origami §4.1");
        /// Break-even time: what a gating event costs, in cycles of the lanes' leakage.
        bet: u32 = 14, number("cycles", 0.0, 100_000.0).from("Origami §4.1");
        /// Cycles from the demand until gated lanes work.
        wake_up: u32 = 3, number("cycles", 0.0, 10_000.0).from("decision; Origami §4.4 tries 9");
        /// When an instruction demands its lanes: when it issues, or in front of the unit.
        demand: Demand = Demand::Issue, plain().from("decision, after Origami §4.4");
        /// Share of a phase in which the type with fewer warps is folded; 0: never.
        aggressive: u32 = 70, number("%", 0.0, 100.0).from("Origami §3.1.1");
        /// Share of a phase in which the type with more warps is folded; 0: never.
        conservative: u32 = 40, number("%", 0.0, 100.0).from("Origami §3.1.1");
        /// No folding in a phase after one that issued much.
        adaptive: bool = false, plain().from("Origami §3.1.1; `origami`: true (§4.3)");
        /// Instructions issued in a phase, of the most possible, from which on it is not followed by folding.
        cutoff: u32 = 90, number("%", 0.0, 100.0).from("Origami §3.1.1");
        /// What that is a share of: instructions that the schedulers could issue, or warps that the SPs could take if all
        /// were folded.
        cutoff_of: Most = Most::Folded, plain().from("decision, after Origami Fig. 12");
        /// Gate the upper half of each cluster in its first idle cycle while its type is folded.
        eager: bool = false, plain().from("Origami §3.3: a part of `origami`");
        /// Move active threads to the lowest lanes of their cluster.
        shift: bool = false, plain().from("Origami §3.2: a part of `origami`");
        /// Pipeline stages that shifting and re-shifting add to the SPs.
        stages: u32 = 2, number("stages", 0.0, 16.0).from("Origami §3.4");
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Type, plain().from("Origami §4.1");
        /// Adjacent lanes that are switched together.
        granularity: u32 = 1, number("lanes", 1.0, 32.0).power_of_two().from("Origami §3.4");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// Gate SFU lanes too.
        sfu: bool = false, plain().from("Origami §2.2");
        /// Power of the added logic of a SIMD lane when it is used.
        logic_power: f64 = 0.64, number("mW", 0.0, 1000.0).from("Origami §4.5");
        /// Power of the idle-detect counter of a SIMD lane.
        counter_power: f64 = 0.1, number("uW", 0.0, 1_000_000.0).from("Origami §3.4");
    }
}

impl Folding {
    /// The shortest time of folding that gating can profit from (equation 1).
    pub fn n_fold(&self) -> u64 {
        u64::from(self.pipe_flush) + u64::from(self.idle_detect) + u64::from(self.bet)
    }

    /// Cycles of a share of the phase.
    pub fn share(&self, percent: u32) -> u64 {
        u64::from(self.phase) * u64::from(percent) / 100
    }

    fn check(&self, policy: &str) -> Result<(), PolicyError> {
        let least = self.n_fold();
        for (name, percent) in [("aggressive", self.aggressive), ("conservative", self.conservative)] {
            let cycles = self.share(percent);
            if percent != 0 && cycles < least {
                let phase = (least * 100).div_ceil(percent.into());
                return Err(PolicyError::Inconsistent {
                    message: format!(
                        "`{policy}.phase` = {} leaves {cycles} cycles for {name} folding (`{policy}.{name}` = {percent} %), \
                         fewer than N_fold = pipe_flush + idle_detect + bet = {least}",
                        self.phase
                    ),
                    help: format!("legal: {policy}.phase from {phase} on, or a larger share"),
                });
            }
        }
        if self.eager && self.granularity > 2 {
            return Err(PolicyError::Inconsistent {
                message: format!(
                    "`{policy}.granularity` = {} switches both halves of a cluster of 4 lanes together, `{policy}.eager` \
                     one of them",
                    self.granularity
                ),
                help: format!("legal: {policy}.granularity of 1 or 2, or {policy}.eager=false"),
            });
        }
        Ok(())
    }

    fn power(&self) -> PolicyPower {
        PolicyPower {
            gating: Some(GatingEnergy::break_even(f64::from(self.bet))),
            hardware_lane_used_w: self.logic_power * 1e-3,
            hardware_lane_w: self.counter_power * 1e-6,
            ..PolicyPower::default()
        }
    }

    /// Folding and gating on an SM.
    fn hooks(&self, spec: &Spec) -> SmHooks {
        let signals = Arc::new(Signals::default());
        let gate = Gate { idle_detect: self.idle_detect.into(), wake_up: self.wake_up.into() };
        let gate = FoldGate::new(gate, self.eager, signals.clone());
        let setup =
            Setup { scope: self.scope, granularity: self.granularity, occupancy: self.occupancy, sfu: self.sfu };
        SmHooks {
            issue: Some(Box::new(Folder::new(*self, spec, signals))),
            lanes: Some(Box::new(Lanes::new(spec, setup, gate).demanded_at(self.demand))),
            ..SmHooks::default()
        }
    }
}

/// Parameters of Origami: those of folding, and its scheduler's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Folding, gating and shifting.
    pub folding: Folding,
    /// The scheduler's.
    pub order: Turns,
}

policy_parameters! {
    /// Parameters of the Origami scheduler.
    Turns {
        /// Phases after which the scheduler is forced to another type, and to another group (M).
        forced: u32 = 2, number("phases", 1.0, 1_000_000.0).from("Origami §3.3");
    }
}

impl Default for Parameters {
    fn default() -> Self {
        let folding = Folding { adaptive: true, eager: true, shift: true, ..Folding::default() };
        Parameters { folding, order: Turns::default() }
    }
}

impl ParameterSet for Parameters {
    fn visit(&mut self, f: &mut Visitor<'_>) {
        self.folding.visit(f);
        self.order.visit(f);
    }
}

const PAPER: Paper = Paper {
    title: "Origami: Folding Warps for Energy Efficient GPUs",
    authors: "M. Abdel-Majeed, D. Wong, J. Kuang, M. Annavaram",
    venue: "ICS",
    year: 2016,
};

const BASELINE: Baseline = Baseline { gpu: "gtx480", set: &["scheduler=two-level-active"] };

/// Warp Folding.
#[derive(Clone, Copy, Debug)]
pub struct Fold;

impl System for Fold {
    type Parameters = Folding;
    const ABOUT: About = About {
        name: "fold",
        meaning: "Warp Folding: warps issue as two halves on half of the lanes, for a part of each phase",
        paper: PAPER,
        hooks: &[HookKind::Issue, HookKind::Lanes],
        yields: &[],
        baseline: BASELINE,
        metrics: FOLD_METRICS,
    };

    fn build(parameters: Folding, _: &Spec) -> Result<Built, PolicyError> {
        parameters.check(Self::ABOUT.name)?;
        Ok(Built { policy: Box::new(FoldMaker(parameters)), power: parameters.power() })
    }
}

/// Origami: Warp Folding with the Origami scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Origami;

impl System for Origami {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "origami",
        meaning: "Warp Folding, warps ordered by type and active lanes, lane shifting, eager gating",
        paper: PAPER,
        hooks: &[HookKind::Order, HookKind::Issue, HookKind::Lanes],
        yields: &[],
        baseline: BASELINE,
        metrics: ORIGAMI_METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        parameters.folding.check(Self::ABOUT.name)?;
        Ok(Built { policy: Box::new(OrigamiMaker(parameters)), power: parameters.folding.power() })
    }
}

#[derive(Debug)]
struct FoldMaker(Folding);

impl Policy for FoldMaker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        self.0.hooks(spec)
    }
}

#[derive(Debug)]
struct OrigamiMaker(Parameters);

impl Policy for OrigamiMaker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let Parameters { folding, order } = &self.0;
        let order = order::Order::new(spec, folding.phase, order.forced);
        SmHooks { order: Some(Box::new(order)), ..folding.hooks(spec) }
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of != 0).then(|| part as f64 / of as f64)
}

/// What part of the INT (FP) warps was counted under a name.
fn of_warps(r: &Report, what: &str, kinds: &[&str]) -> Option<f64> {
    let sum = |what: &str| kinds.iter().map(|kind| r.count(&format!("fold.{what}.{kind}"))).sum::<u64>();
    share(sum(what), sum("warps"))
}

const WARPS_FOLDED: Metric = Metric {
    name: "warps_folded",
    unit: "1",
    meaning: "share of INT and FP warp instructions that went through as two halves",
    value: |r| of_warps(r, "folded", &["int", "fp"]),
};

const FOLDING_ON: Metric = Metric {
    name: "folding_on",
    unit: "1",
    meaning: "share of INT and FP warp instructions issued while their type was folded, in one half or two",
    value: |r| of_warps(r, "enabled", &["int", "fp"]),
};

const FOLDING_ON_INT: Metric = Metric {
    name: "folding_on_int",
    unit: "1",
    meaning: "the same of INT warp instructions",
    value: |r| of_warps(r, "enabled", &["int"]),
};

const FOLDING_ON_FP: Metric = Metric {
    name: "folding_on_fp",
    unit: "1",
    meaning: "the same of FP warp instructions",
    value: |r| of_warps(r, "enabled", &["fp"]),
};

const PHASES_FOLDED: Metric = Metric {
    name: "phases_folded",
    unit: "1",
    meaning: "share of phases with folding, not following one that issued much",
    value: |r| share(r.count("fold.phases.folded"), r.count("fold.phases")),
};

const FORCED: Metric = Metric {
    name: "forced_switches",
    unit: "switches",
    meaning: "times that a scheduler was forced to another type or group of warps",
    value: |r| Some(r.count("origami.forced") as f64),
};

const WAITS: Metric = crate::cpg::METRICS[0];
const WAITED: Metric = crate::cpg::METRICS[1];

const FOLD_METRICS: &[Metric] =
    &[WARPS_FOLDED, FOLDING_ON, FOLDING_ON_INT, FOLDING_ON_FP, PHASES_FOLDED, WAITS, WAITED];
const ORIGAMI_METRICS: &[Metric] =
    &[WARPS_FOLDED, FOLDING_ON, FOLDING_ON_INT, FOLDING_ON_FP, PHASES_FOLDED, FORCED, WAITS, WAITED];
