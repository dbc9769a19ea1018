//! What a system says of itself, once: for the registry, the command line, run records and comparisons.

use crate::error::PolicyError;
use crate::parameters::{self, Parameter, ParameterSet};
use warpwatt_machine::hooks::{Policy, Report};
use warpwatt_machine::simd::Simd;
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

/// Where a system was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Title.
    pub title: &'static str,
    /// Authors.
    pub authors: &'static str,
    /// Journal or conference.
    pub venue: &'static str,
    /// Year.
    pub year: u32,
}

/// A hook of the machine that only one policy may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// Which warp issues.
    Order,
    /// How warp instructions enter the lanes.
    Issue,
    /// Power states of lanes.
    Lanes,
    /// Pipeline widths.
    Datapath,
    /// CTAs, voltage and frequency.
    Governor,
    /// Counts only; any number of policies may.
    Observer,
    /// No hook: only how power is computed. Any number of policies may.
    Power,
}

impl HookKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            HookKind::Order => "order",
            HookKind::Issue => "issue",
            HookKind::Lanes => "lanes",
            HookKind::Datapath => "datapath",
            HookKind::Governor => "governor",
            HookKind::Observer => "observer",
            HookKind::Power => "power",
        }
    }

    /// What it controls, in words.
    pub fn controls(self) -> &'static str {
        match self {
            HookKind::Order => "order of warps (hook `order`)",
            HookKind::Issue => "shape of issued warps (hook `issue`)",
            HookKind::Lanes => "power states of lanes (hook `lanes`)",
            HookKind::Datapath => "widths of the pipeline (hook `datapath`)",
            HookKind::Governor => "CTAs and clocks (hook `governor`)",
            HookKind::Observer => "observers",
            HookKind::Power => "power model",
        }
    }

    /// Only one policy may have it.
    pub fn exclusive(self) -> bool {
        !matches!(self, HookKind::Observer | HookKind::Power)
    }
}

/// What a paper measures its system against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// GPU preset.
    pub gpu: &'static str,
    /// Settings on top of it, as for `--set`.
    pub set: &'static [&'static str],
}

/// Something that a policy reports at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name, unique within the policy.
    pub name: &'static str,
    /// Unit; `1` for a share.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// Its value, from what the hook objects have counted; `None` is "not available".
    pub value: fn(&Report) -> Option<f64>,
}

/// What a system says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
    /// Where it was published.
    pub paper: Paper,
    /// The hooks that it uses.
    pub hooks: &'static [HookKind],
    /// Beside the named policy it leaves the hook to that one: pairs that a paper defines.
    pub yields: &'static [(&'static str, HookKind)],
    /// What its paper measures it against.
    pub baseline: Baseline,
    /// What it reports.
    pub metrics: &'static [Metric],
}

/// A policy made for a GPU.
#[derive(Debug)]
pub struct Built {
    /// Maker of its hook objects.
    pub policy: Box<dyn Policy>,
    /// How it changes the computation of power.
    pub power: PolicyPower,
}

/// A published system.
pub trait System {
    /// Its parameters.
    type Parameters: ParameterSet;
    /// What it says of itself.
    const ABOUT: About;

    /// The policy with these parameters on a GPU.
    fn build(parameters: Self::Parameters, spec: &Spec) -> Result<Built, PolicyError>;
}

/// A [`System`] as an entry of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// What it says of itself.
    pub about: About,
    declared: fn() -> Vec<Parameter>,
    build: fn(&[(String, String)], &Spec) -> Result<(Built, Values), PolicyError>,
}

/// Key and value of each parameter.
pub(crate) type Values = Vec<(&'static str, String)>;

impl Definition {
    /// The entry of a system.
    pub const fn of<S: System>() -> Definition {
        Definition { about: S::ABOUT, declared: parameters::declared::<S::Parameters>, build: build::<S> }
    }

    /// Its parameters.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.declared)()
    }

    /// The policy with some parameters changed, and the values of all.
    pub(crate) fn build(&self, given: &[(String, String)], spec: &Spec) -> Result<(Built, Values), PolicyError> {
        (self.build)(given, spec)
    }
}

fn build<S: System>(given: &[(String, String)], spec: &Spec) -> Result<(Built, Values), PolicyError> {
    // Folding puts the halves of a warp on the lower lanes of clusters of an SP as wide as a warp; permuting moves threads
    // among its lanes. On a narrow SP both would move threads from one sub-warp to another, which no paper defines.
    let simd = Simd::of(spec);
    if simd.narrow() && S::ABOUT.hooks.contains(&HookKind::Issue) {
        return Err(PolicyError::NarrowSimd { policy: S::ABOUT.name.to_owned(), width: simd.width() });
    }
    let mut set: S::Parameters = parameters::read(S::ABOUT.name, given)?;
    let values = parameters::shown(&mut set);
    Ok((S::build(set, spec)?, values))
}
