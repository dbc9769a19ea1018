//! Equalizer: CTAs and clocks follow what warps wait for.
//!
//! A. Sethia, S. Mahlke, *Equalizer: Dynamic Tuning of GPU Resources for Efficient Execution*, MICRO 2014. Every 128 cycles
//! the heads of all instruction buffers are counted ([`WarpCounts`]); every 4096 cycles each SM decides by Algorithm 1
//! ([`algorithm`]) on its number of CTAs, which changes when three epochs in a row say so ([`blocks`]), and votes on the
//! clocks of the SMs and of the memory system, which move by one of three steps of 15 % when most SMs want it
//! ([`governor`]). `equalizer-energy` throttles what is not the bottleneck, `equalizer-performance` boosts what is.
//!
//! *Corrections*: the comment in line 1 of Algorithm 1 has nMem and nALU the wrong way round; in Table I memory is
//! maintained, not decreased, for memory-intensive kernels under the energy objective ([`algorithm::requests`]).
//!
//! *Decisions*, where the paper is silent: comparisons are of averages over an epoch's samples. A majority is more than
//! half of all SMs, those that ask for nothing included; an SM without work votes by line 21. "Maintain" is a step towards
//! the normal level (`maintain=hold` leaves it). A kernel that is launched again, with as many CTAs that fit, begins with
//! the numbers of CTAs that it ended with (`at_launch=reset`: with the most). Epochs and samples run on over launches; an epoch's
//! end is judged by the kernel that then runs. A paused CTA is the youngest, the first to go on the oldest of those
//! paused. A ready load/store instruction counts in X_mem only while the load/store unit takes no more, after the cycle's
//! issue (§IV-A: "the maximum number of instructions … have been issued"); one that lost its slot to arithmetic counts
//! nowhere. A warp that waits for its own atomics is waiting. On a GPU whose levels are not ±15 % the steps are its levels
//! next to the nominal one, and a step that it lacks is the nominal one.
//!
//! Left out: the energy of the counters and of the decision, which the paper finds negligible (§V-A2).
//!
//! *Limits*: pausing assumes, as in the paper, that CTAs do not wait for each other: one that spins on what a paused CTA
//! of its SM holds never ends.
//!
//! [`WarpCounts`]: warpwatt_machine::hooks::WarpCounts

pub mod algorithm;
pub mod blocks;
pub mod governor;

use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::steps::Steps;
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use algorithm::{Maintain, Objective};
use governor::Governor;
use warpwatt_machine::hooks::{GovernorHook, Policy};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_choices! {
    /// How many CTAs a launch begins with.
    AtLaunch {
        /// As many as its kernel ended with last time.
        Keep = "keep",
        /// As many as fit.
        Reset = "reset",
    }
}

policy_parameters! {
    /// Parameters of Equalizer.
    Parameters {
        /// Cycles between two decisions.
        epoch: u32 = 4096, number("cycles", 128.0, 10_000_000.0).from("Equalizer §V-A2");
        /// Cycles between two samples.
        sample: u32 = 128, number("cycles", 1.0, 1_000_000.0).from("Equalizer §IV");
        /// Epochs in a row that must ask for a change of the number of CTAs.
        hysteresis: u32 = 3, number("epochs", 1.0, 1000.0).from("Equalizer §IV-B");
        /// Warps in X_mem above which the bandwidth is saturated.
        saturated: f64 = 2.0, number("warps", 0.0, 64.0).from("Equalizer Algorithm 1, line 12");
        /// What "maintain" does to a domain off its normal level: a step towards it, or nothing.
        maintain: Maintain = Maintain::Normal, plain().from("decision: Table I does not say");
        /// CTAs that a kernel's next launch begins with: as many as it ended with, or as fit.
        at_launch: AtLaunch = AtLaunch::Keep, plain().from("decision: Fig. 11a does not say");
        /// Change the number of CTAs.
        blocks: bool = true, plain().from("Equalizer §III");
        /// Change the clocks; off in Fig. 11a.
        frequency: bool = true, plain().from("Equalizer §III");
    }
}

/// The GPU that the paper measures on.
pub const BASELINE: Baseline = Baseline { gpu: "gtx480-equalizer", set: &[] };

const PAPER: Paper = Paper {
    title: "Equalizer: Dynamic Tuning of GPU Resources for Efficient Execution",
    authors: "A. Sethia, S. Mahlke",
    venue: "MICRO",
    year: 2014,
};

/// Equalizer under the energy objective.
#[derive(Clone, Copy, Debug)]
pub struct EqualizerEnergy;

impl System for EqualizerEnergy {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "equalizer-energy",
        meaning: "CTAs and clocks follow what warps wait for; what is not the bottleneck is slowed down",
        paper: PAPER,
        hooks: &[HookKind::Governor],
        yields: &[],
        baseline: BASELINE,
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        build(Objective::Energy, parameters)
    }
}

/// Equalizer under the performance objective.
#[derive(Clone, Copy, Debug)]
pub struct EqualizerPerformance;

impl System for EqualizerPerformance {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: "equalizer-performance",
        meaning: "CTAs and clocks follow what warps wait for; the bottleneck is sped up",
        paper: PAPER,
        hooks: &[HookKind::Governor],
        yields: &[],
        baseline: BASELINE,
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        build(Objective::Performance, parameters)
    }
}

fn build(objective: Objective, parameters: Parameters) -> Result<Built, PolicyError> {
    if parameters.sample > parameters.epoch {
        return Err(PolicyError::Inconsistent {
            message: format!(
                "equalizer: an epoch of {} cycles has no sample, one every {}",
                parameters.epoch, parameters.sample
            ),
            help: "sample must not be longer than epoch".to_owned(),
        });
    }
    Ok(Built { policy: Box::new(Maker { objective, parameters }), power: PolicyPower::default() })
}

#[derive(Debug)]
struct Maker {
    objective: Objective,
    parameters: Parameters,
}

impl Policy for Maker {
    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        let (sms, memory) = (Steps::of_sms(spec), Steps::of_memory(spec));
        Some(Box::new(Governor::new(self.objective, self.parameters, spec.sms as usize, sms, memory)))
    }
}

const METRICS: &[Metric] = &[
    Metric {
        name: "epochs",
        unit: "epochs",
        meaning: "decisions made",
        value: |r| Some(r.count("equalizer.epochs") as f64),
    },
    Metric {
        name: "vf_steps",
        unit: "steps",
        meaning: "steps of either clock",
        value: |r| Some((r.count("equalizer.sm_steps") + r.count("equalizer.memory_steps")) as f64),
    },
    Metric {
        name: "cta_changes",
        unit: "changes",
        meaning: "changes of an SM's number of CTAs",
        value: |r| Some((r.count("equalizer.fewer_ctas") + r.count("equalizer.more_ctas")) as f64),
    },
    Metric {
        name: "memory_share",
        unit: "1",
        meaning: "SM-epochs decided for memory (Algorithm 1, lines 7, 12 and 18), of all",
        value: |r| share(r, &["memory", "bandwidth", "inclined_memory"]),
    },
    Metric {
        name: "compute_share",
        unit: "1",
        meaning: "SM-epochs decided for compute (lines 10 and 16), of all",
        value: |r| share(r, &["compute", "inclined_compute"]),
    },
    Metric {
        name: "idle_share",
        unit: "1",
        meaning: "SM-epochs without work (line 21), of all",
        value: |r| share(r, &["idle"]),
    },
];

fn share(report: &warpwatt_machine::hooks::Report, kinds: &[&str]) -> Option<f64> {
    let count = |name: &str| report.count(&format!("equalizer.{name}")) as f64;
    let all: f64 = algorithm::KINDS.iter().map(|(_, name)| count(name)).sum();
    (all > 0.0).then(|| kinds.iter().map(|name| count(name)).sum::<f64>() / all)
}
