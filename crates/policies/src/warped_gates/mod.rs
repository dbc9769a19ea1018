//! Warped Gates: warps ordered by type, units that sleep for the break-even time whoever wants them.
//!
//! M. Abdel-Majeed, D. Wong, M. Annavaram, *Warped gates: gating aware scheduling and power gating for GPGPUs*, MICRO
//! 2013. **A re-implementation from descriptions** (Origami §2.2, §4 and Fig. 10–13 compare with it), not from the paper's
//! own text; what it does, exactly:
//!
//! - *GATES* ([`gates`]): two-level, with an active set of warps for each scheduler, as the GPU's own
//!   `two-level-active`. A scheduler keeps a type, INT or FP: warps whose next instruction is of this type go first, those
//!   for load/store unit and SFU next, those of the other type last, round-robin among equals. When no warp of the type is
//!   ready in the active set and one of the other type is, the types change places.
//! - *Blackout* ([`blackout`]): the unit that is gated is the INT or the FP pipelines of one SP, all 32 lanes. After an
//!   idle-detect window without work it is gated and sleeps for the break-even time at least; a wake-up begins then at the
//!   earliest. *Naive*: each unit alone. *Coordinated*: the last unit of a type that is awake stays so while a warp of the
//!   type is in the active set.
//! - *Adaptive idle-detect* ([`window`]): a wake-up that is demanded in the first cycle in which it is allowed is critical
//!   (an instruction that has waited through the blackout demands it in that cycle too). More than 5 critical ones in an
//!   epoch of 1000 cycles lengthen the window by a cycle, four epochs in a row without this shorten it, from 5 to 10 cycles.
//!
//! *Decisions*: every scheduler has its own type, INT first. Windows are adapted for INT and FP apart. A warp counts as of
//! a type by its buffered instruction. Of several units that are awake the one that would be gated last is kept; a unit
//! that wakes up counts as awake. The active set is seen as it was at the last issue, without warps that have stalled on
//! memory, a barrier or an atomic since. Lanes and schedulers act at the end of a cycle: what they then see holds from the
//! next cycle on. SFUs stay on, as in Origami's comparison. An instruction demands its unit when it issues, as under `cpg`, so
//! that waking up is hidden behind its operands' collection as far as it goes; it issues whether or not its unit is in
//! blackout, and waits in front of the unit.

pub mod blackout;
pub mod gates;
pub mod window;

use crate::cpg;
use crate::error::PolicyError;
use crate::lanes::{Demand, Lanes, Occupancy, Scope, Setup};
use crate::parameters::{number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use blackout::{Blackout, Figures};
use gates::{ActiveWarps, Gates};
use std::sync::Arc;
use warpwatt_machine::hooks::{OrderHook, Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_choices! {
    /// Units on their own, or together.
    BlackoutKind {
        /// Each unit alone.
        Naive = "naive",
        /// The last unit of a type stays awake while a warp of the type is in the active set.
        Coordinated = "coordinated",
    }
}

policy_choices! {
    /// When the type that has priority changes.
    Switch {
        /// No warp of it is ready in the active set.
        Ready = "ready",
        /// No warp of it is in the active set at all.
        Present = "present",
    }
}

const SOURCE: &str = "Warped Gates, as described; see the module";

policy_parameters! {
    /// Parameters of Warped Gates.
    Parameters {
        /// Order warps by GATES; otherwise by the GPU's own scheduler, and every warp counts as in the active set.
        gates: bool = true, plain().from(SOURCE);
        /// The type that has priority changes when no warp of it is ready in the active set, or none present.
        switch: Switch = Switch::Ready, plain().from(SOURCE);
        /// Units gate each alone, or coordinated.
        blackout: BlackoutKind = BlackoutKind::Coordinated, plain().from(SOURCE);
        /// Adapt the idle-detect window.
        adaptive: bool = true, plain().from(SOURCE);
        /// Cycles without work after which a unit is gated: the shortest window.
        idle_detect: u32 = 5, number("cycles", 0.0, 100_000.0).from(SOURCE);
        /// The longest window.
        idle_detect_most: u32 = 10, number("cycles", 0.0, 100_000.0).from(SOURCE);
        /// Cycles of an epoch, after which the windows are adapted.
        epoch: u32 = 1000, number("cycles", 1.0, 1_000_000_000.0).from(SOURCE);
        /// More critical wake-ups than this in an epoch lengthen the window.
        critical: u32 = 5, number("wake-ups", 0.0, 1_000_000.0).from(SOURCE);
        /// So many epochs in a row without lengthening shorten the window.
        quiet_epochs: u32 = 4, number("epochs", 1.0, 1_000_000.0).from(SOURCE);
        /// Break-even time: cycles for which a gated unit sleeps at least, and what a gating event costs.
        bet: u32 = 14, number("cycles", 0.0, 100_000.0).from("Origami §4.1");
        /// Cycles from the beginning of a wake-up until the unit works.
        wake_up: u32 = 3, number("cycles", 0.0, 10_000.0).from("ITAP Table 4; Origami §4.4 tries 9");
        /// When an instruction demands its lanes: when it issues, or in front of the unit.
        demand: Demand = Demand::Issue, plain().from("decision, after Origami §4.4");
        /// What a gating event costs: `bet`, or the wake-up energy of ITAP's Table 4.
        energy: cpg::Energy = cpg::Energy::Bet, plain().from("Origami §4.2");
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Type, plain().from(SOURCE);
        /// Adjacent lanes that are switched together.
        granularity: u32 = 32, number("lanes", 1.0, 32.0).power_of_two().from("Origami §4.3: the entire SIMT lanes cluster");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// Gate SFU lanes too.
        sfu: bool = false, plain().from("Origami §2.2");
    }
}

/// Warped Gates.
#[derive(Clone, Copy, Debug)]
pub struct WarpedGates;

impl System for WarpedGates {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "warped-gates",
        meaning: "GATES orders warps by type; gated units sleep for the break-even time (Blackout)",
        paper: Paper {
            title: "Warped gates: gating aware scheduling and power gating for GPGPUs",
            authors: "M. Abdel-Majeed, D. Wong, M. Annavaram",
            venue: "MICRO",
            year: 2013,
        },
        hooks: &[HookKind::Order, HookKind::Lanes],
        yields: &[],
        baseline: Baseline { gpu: "gtx480", set: &["scheduler=two-level-active"] },
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let (least, most) = (parameters.idle_detect, parameters.idle_detect_most);
        if parameters.adaptive && least > most {
            return Err(PolicyError::Inconsistent {
                message: format!(
                    "`warped-gates.idle_detect` = {least} cycles is above `warped-gates.idle_detect_most` = {most} cycles"
                ),
                help: "raise idle_detect_most, or set warped-gates.adaptive=false".to_owned(),
            });
        }
        let gating = Some(parameters.energy.cost(parameters.bet));
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower { gating, ..PolicyPower::default() } })
    }
}

const METRICS: &[Metric] = &[
    cpg::METRICS[0],
    cpg::METRICS[1],
    Metric {
        name: "critical_wake_ups",
        unit: "wake-ups",
        meaning: "wake-ups demanded in the first cycle in which they are allowed, or before",
        value: |r| Some(r.count("blackout.critical") as f64),
    },
    Metric {
        name: "type_switches",
        unit: "switches",
        meaning: "times that the type with priority changed",
        value: |r| Some(r.count("gates.switches") as f64),
    },
];

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let p = &self.0;
        let setup = Setup { scope: p.scope, granularity: p.granularity, occupancy: p.occupancy, sfu: p.sfu };
        let active = Arc::new(if p.gates { ActiveWarps::none() } else { ActiveWarps::all() });
        let order: Option<Box<dyn OrderHook>> = match p.gates {
            true => Some(Box::new(Gates::new(spec.schedulers, spec.active_set_warps, p.switch, active.clone()))),
            false => None,
        };
        let lanes = Lanes::new(spec, setup, Blackout::new(p.figures(), active)).demanded_at(p.demand);
        SmHooks { order, lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}

impl Parameters {
    /// Figures of the rules on lanes.
    pub fn figures(&self) -> Figures {
        let windows = window::Rules {
            least: self.idle_detect.into(),
            most: self.idle_detect_most.into(),
            epoch: self.epoch.into(),
            critical: self.critical.into(),
            quiet: self.quiet_epochs,
        };
        let (bet, wake_up) = (self.bet.into(), self.wake_up.into());
        Figures { kind: self.blackout, bet, wake_up, adaptive: self.adaptive, windows }
    }
}
