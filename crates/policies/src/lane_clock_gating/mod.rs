//! Per-lane clock gating under divergence: the lanes of an issued warp that are inactive do not switch.
//!
//! J. Leng et al., *GPUWattch: enabling energy optimizations in GPGPUs*, ISCA 2013, as µC-States (§6.3) compares and
//! combines it with its own mechanism: "clock gates the individual SIMD lanes that are not used in the presence of branch
//! divergence". It acts on no hook: time, and what is counted, are the same; an inactive lane's share of an operation's
//! dynamic energy (half an active lane's, the power model's charge for it) is left out. Hence it goes together with every
//! other policy.
//!
//! A re-implementation from that description. Left out: energy and area of the gates themselves. *Decision*: only lanes
//! of issued warps count; the clock of a unit in which nothing is under way is part of the constant terms.

use crate::error::PolicyError;
use crate::parameters::NoParameters;
use crate::system::{About, Baseline, Built, HookKind, Paper, System};
use warpwatt_machine::hooks::Nominal;
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

/// Per-lane clock gating.
#[derive(Clone, Copy, Debug)]
pub struct LaneClockGating;

impl System for LaneClockGating {
    type Parameters = NoParameters;
    const ABOUT: About = About {
        name: "lane-clock-gating",
        meaning: "per-lane clock gating: inactive lanes of a divergent warp cost no dynamic energy",
        paper: Paper {
            title: "GPUWattch: enabling energy optimizations in GPGPUs",
            authors: "J. Leng, T. Hetherington, A. ElTantawy, S. Gilani, N. S. Kim, T. M. Aamodt, V. J. Reddi",
            venue: "ISCA",
            year: 2013,
        },
        hooks: &[HookKind::Power],
        yields: &[],
        baseline: Baseline { gpu: "kepler-big", set: &["scheduler=gto"] },
        metrics: &[],
    };

    fn build(_: NoParameters, _: &Spec) -> Result<Built, PolicyError> {
        let power = PolicyPower { lane_clock_gating: true, ..PolicyPower::default() };
        Ok(Built { policy: Box::new(Nominal), power })
    }
}
