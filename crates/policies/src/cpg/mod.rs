//! Conventional power gating: a lane that has been idle for a while is gated, and woken up when it is wanted.
//!
//! Z. Hu et al., *Microarchitectural techniques for power gating of execution units*, ISLPED 2004, as Origami (§2.2, §4.1)
//! and ITAP (§5) use it for comparison. After `idle_detect` cycles without work lanes are gated; an instruction that wants
//! them waits `wake_up` cycles, whether or not they have slept for the break-even time. The break-even time has no part in
//! the control: it is what a gating event costs.
//!
//! Left out: the state in which Hu et al. count the break-even time down (it changes nothing).
//! *Decisions*: the 32 lanes of an SP are gated together by default, INT and FP pipelines apart. Hu et al. gate execution
//! units, Origami calls gating lane by lane its own (§5), and in its Fig. 10 conventional gating loses energy on MUM, whose
//! warps have few active threads: lane by lane (`cpg.granularity=1`) it does not. The SFUs stay on (Origami §2.2 leaves them
//! out); lanes wake up while operands are collected. ITAP's comparison is `cpg.scope=lane`, `cpg.energy=table-4`,
//! `cpg.demand=unit` on `pascal16`: it compares with gating whose wake-up is not hidden.

use crate::error::PolicyError;
use crate::lanes::{Control, Demand, Idle, Lanes, Occupancy, Pipe, Scope, Setup};
use crate::parameters::{number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use warpwatt_machine::hooks::{Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::{GatingEnergy, PolicyPower};

policy_choices! {
    /// What a gating event costs.
    Energy {
        /// The break-even time's leakage (Origami §4.2).
        Bet = "bet",
        /// 1300 % of one cycle's leakage (ITAP Table 4).
        Table4 = "table-4",
    }
}

impl Energy {
    /// The cost, with a break-even time of so many cycles.
    pub fn cost(self, bet: u32) -> GatingEnergy {
        match self {
            Energy::Bet => GatingEnergy::break_even(f64::from(bet)),
            Energy::Table4 => GatingEnergy::ITAP,
        }
    }
}

policy_parameters! {
    /// Parameters of conventional power gating.
    Parameters {
        /// Cycles without work after which lanes are gated.
        idle_detect: u32 = 5, number("cycles", 0.0, 100_000.0).from("Origami §4.1; ITAP §5");
        /// Break-even time: what a gating event costs, in cycles of the lanes' leakage.
        bet: u32 = 14, number("cycles", 0.0, 100_000.0).from("Origami §4.1");
        /// Cycles from the demand until gated lanes work.
        wake_up: u32 = 3, number("cycles", 0.0, 10_000.0).from("ITAP Table 4; Origami §4.4 tries 9");
        /// When an instruction demands its lanes: when it issues, or in front of the unit.
        demand: Demand = Demand::Issue, plain().from("decision, after Origami §4.4");
        /// What a gating event costs: `bet`, or the wake-up energy of ITAP's Table 4.
        energy: Energy = Energy::Bet, plain().from("Origami §4.2");
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Type, plain().from("Origami §4.1; ITAP §7: lane");
        /// Adjacent lanes that are switched together.
        granularity: u32 = 32, number("lanes", 1.0, 32.0).power_of_two().from("decision, after Origami §2.2, §5; ITAP §5");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// Gate SFU lanes too.
        sfu: bool = false, plain().from("Origami §2.2");
    }
}

/// Conventional power gating.
#[derive(Clone, Copy, Debug)]
pub struct Cpg;

impl System for Cpg {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "cpg",
        meaning: "conventional power gating: idle lanes are gated after a window, woken on demand",
        paper: Paper {
            title: "Microarchitectural techniques for power gating of execution units",
            authors: "Z. Hu, A. Buyuktosunoglu, V. Srinivasan, V. Zyuban, H. Jacobson, P. Bose",
            venue: "ISLPED",
            year: 2004,
        },
        hooks: &[HookKind::Lanes],
        yields: &[],
        baseline: Baseline { gpu: "gtx480", set: &["scheduler=two-level-active"] },
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let gating = Some(parameters.energy.cost(parameters.bet));
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower { gating, ..PolicyPower::default() } })
    }
}

/// What every policy that gates lanes reports.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "wake_waits",
        unit: "instructions",
        meaning: "warp instructions that waited for lanes to wake up",
        value: |r| Some(r.count("lanes.waits") as f64),
    },
    Metric {
        name: "wake_wait_cycles",
        unit: "cycles",
        meaning: "cycles for which they waited, altogether",
        value: |r| Some(r.count("lanes.waited") as f64),
    },
];

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let p = &self.0;
        let setup = Setup { scope: p.scope, granularity: p.granularity, occupancy: p.occupancy, sfu: p.sfu };
        let gate = Gate { idle_detect: p.idle_detect.into(), wake_up: p.wake_up.into() };
        SmHooks { lanes: Some(Box::new(Lanes::new(spec, setup, gate).demanded_at(p.demand))), ..SmHooks::default() }
    }
}

/// The rules: idle-detect, gate, wake on demand.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Window, cycles.
    pub idle_detect: u64,
    /// Wake-up delay, cycles.
    pub wake_up: u64,
}

impl Control for Gate {
    #[inline]
    fn sleeps_at(&self, _: &Pipe, idle: Idle) -> u64 {
        idle.detects_at + self.idle_detect
    }

    #[inline]
    fn detects(&self, _: &Pipe, _: bool) -> u64 {
        self.idle_detect
    }

    #[inline]
    fn wake_up(&self) -> u64 {
        self.wake_up
    }
}
