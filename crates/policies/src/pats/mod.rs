//! PATS, pattern-aware scheduling and power gating: warps with the same divergence pattern follow each other, so that the
//! lanes that the pattern leaves idle stay so for longer.
//!
//! Q. Xu, M. Annavaram, *PATS: pattern aware scheduling and power gating for GPGPUs*, PACT 2014. **A re-implementation from
//! ITAP's description** (§3.1.1, §5), not from the paper's own text; what it does, exactly:
//!
//! - Each SM counts the active masks of issued warp instructions over an epoch. The five most frequent ones are the
//!   dominant patterns of the next epoch ([`order`]).
//! - A scheduler has a two-level scheduler's active set. It keeps a current pattern as long as a ready warp of the set has
//!   it; then comes the next dominant pattern, in order of frequency and round, that a ready warp has; then all other warps.
//!   Among equals, round-robin. A warp of another pattern fills a cycle in which no port takes the current pattern's.
//! - Conventional power gating of each SIMD lane, with the energies that ITAP's comparison uses (Table 4).
//!
//! Beside `itap-pow` it orders the warps and leaves the lanes to ITAP, with what sleeping costs there: the pair that ITAP
//! evaluates (§6).
//!
//! *Decisions*: an epoch of 1000 cycles (ITAP names none); instructions of all units count; a pattern is what the SIMT
//! stack says, before the guard; all schedulers of an SM share the dominant patterns, each has its own current one; an
//! epoch without any instruction changes nothing; before the first epoch ends the order is round-robin.

pub mod order;

use crate::cpg::{self, Gate};
use crate::error::PolicyError;
use crate::lanes::{Demand, Lanes, Occupancy, Scope, Setup};
use crate::parameters::{number, plain};
use crate::policy_parameters;
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use order::Pats as Order;
use warpwatt_machine::hooks::{Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_parameters! {
    /// Parameters of PATS.
    Parameters {
        /// Cycles of an epoch, over which patterns are counted.
        epoch: u32 = 1000, number("cycles", 1.0, 1_000_000_000.0).from("decision");
        /// Dominant patterns.
        patterns: u32 = 5, number("patterns", 1.0, 64.0).from("ITAP §3.1.1");
        /// Cycles without work after which lanes are gated.
        idle_detect: u32 = 5, number("cycles", 0.0, 100_000.0).from("ITAP §5");
        /// Break-even time: what a gating event costs with `energy=bet`, in cycles of the lanes' leakage.
        bet: u32 = 14, number("cycles", 0.0, 100_000.0).from("ITAP Table 4");
        /// Cycles from the demand until gated lanes work.
        wake_up: u32 = 3, number("cycles", 0.0, 10_000.0).from("ITAP Table 4");
        /// When an instruction demands its lanes: when it issues, or in front of the unit.
        demand: Demand = Demand::Unit, plain().from("decision: not hidden, as in ITAP's comparison");
        /// What a gating event costs: `bet`, or the wake-up energy of ITAP's Table 4.
        energy: cpg::Energy = cpg::Energy::Table4, plain().from("ITAP §5");
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Lane, plain().from("ITAP §7");
        /// Adjacent lanes that are switched together.
        granularity: u32 = 1, number("lanes", 1.0, 32.0).power_of_two().from("ITAP §3.1.1");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// Gate SFU lanes too.
        sfu: bool = false, plain().from("decision");
    }
}

/// PATS.
#[derive(Clone, Copy, Debug)]
pub struct Pats;

impl System for Pats {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "pats",
        meaning: "warps with the same divergence pattern follow each other; idle lanes are gated one by one",
        paper: Paper {
            title: "PATS: pattern aware scheduling and power gating for GPGPUs",
            authors: "Q. Xu, M. Annavaram",
            venue: "PACT",
            year: 2014,
        },
        hooks: &[HookKind::Order, HookKind::Lanes],
        yields: &[("itap-pow", HookKind::Lanes)],
        baseline: Baseline { gpu: "pascal16", set: &["scheduler=two-level-fetch"] },
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let gating = Some(parameters.energy.cost(parameters.bet));
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower { gating, ..PolicyPower::default() } })
    }
}

const METRICS: &[Metric] = &[
    cpg::METRICS[0],
    cpg::METRICS[1],
    Metric {
        name: "dominant_share",
        unit: "1",
        meaning: "share of warp instructions that issued with a dominant pattern",
        value: |r| Some(r.count("pats.dominant") as f64 / r.count("pats.issued") as f64),
    },
];

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let p = &self.0;
        let setup = Setup { scope: p.scope, granularity: p.granularity, occupancy: p.occupancy, sfu: p.sfu };
        let gate = Gate { idle_detect: p.idle_detect.into(), wake_up: p.wake_up.into() };
        let order = Order::new(spec.schedulers, spec.active_set_warps, p.epoch.into(), p.patterns as usize);
        let lanes = Lanes::new(spec, setup, gate).demanded_at(p.demand);
        SmHooks { order: Some(Box::new(order)), lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}
