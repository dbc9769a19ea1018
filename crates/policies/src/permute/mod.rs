//! Ideal thread permutation: the active threads of a warp move to its lowest lanes, anywhere in the SIMD, at no cost.
//!
//! M. Sadrosadati et al., *ITAP: Idle-Time-Aware Power Management for GPU Execution Units*, TACO 2019, §3.2 (Fig. 7):
//! active masks with equally many ones are the same. No stage, no energy, no time is charged. Alone it changes nothing but
//! the lanes that work; it goes with a policy that switches lanes (`cpg+permute`).

use crate::error::PolicyError;
use crate::parameters::NoParameters;
use crate::system::{About, Baseline, Built, HookKind, Paper, System};
use warpwatt_machine::hooks::{Hook, IssueHook, IssueQuery, Policy, Shape, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

/// Ideal thread permutation.
#[derive(Clone, Copy, Debug)]
pub struct Permute;

impl System for Permute {
    type Parameters = NoParameters;
    const ABOUT: About = About {
        name: "permute",
        meaning: "ideal thread permutation: active threads use the lowest lanes, at no cost",
        paper: Paper {
            title: "ITAP: Idle-Time-Aware Power Management for GPU Execution Units",
            authors: "M. Sadrosadati et al.",
            venue: "ACM TACO",
            year: 2019,
        },
        hooks: &[HookKind::Issue],
        yields: &[],
        baseline: Baseline { gpu: "pascal16", set: &["scheduler=two-level-fetch"] },
        metrics: &[],
    };

    fn build(_: NoParameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(Built { policy: Box::new(Maker), power: PolicyPower::default() })
    }
}

/// As many lanes, the lowest ones.
#[inline]
pub fn compact(lanes: u32) -> u32 {
    ((1u64 << lanes.count_ones()) - 1) as u32
}

#[derive(Debug)]
struct Maker;

impl Policy for Maker {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { issue: Some(Box::new(Compact)), ..SmHooks::default() }
    }
}

/// The object of an SM; it has no state.
#[derive(Debug)]
struct Compact;

impl Hook for Compact {}

impl IssueHook for Compact {
    #[inline]
    fn shape(&mut self, query: &IssueQuery) -> Shape {
        Shape::Permuted(compact(query.lanes))
    }
}
