//! A pipeline that is never tuned down, observed: utilization of the fourteen components, instructions decoded and issued
//! by path, and what Little's law needs of EX_LDST (µC-States §2.2, Table 1). It is what `warpwatt bottleneck` runs under,
//! and changes neither time nor energy.

use crate::datapath::{Fixed, response};
use crate::error::PolicyError;
use crate::parameters::number;
use crate::policy_parameters;
use crate::system::{About, Baseline, Built, HookKind, Metric, System};
use crate::ucstates::PAPER;
use warpwatt_machine::activity::COMPONENTS;
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_parameters! {
    /// Parameters of the observer.
    Parameters {
        /// Cycles between two looks; what an SM does after its last one is not counted.
        interval: u32 = 128, number("cycles", 1.0, 1_000_000.0).from("decision: a small part of any kernel");
    }
}

/// A pipeline that is never tuned down.
#[derive(Clone, Copy, Debug)]
pub struct FullWidth;

/// The name of [`FullWidth`].
pub const NAME: &str = "full-width";

impl System for FullWidth {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: NAME,
        meaning: "no component is ever tuned down; the utilization of the pipeline's components is counted",
        paper: PAPER,
        hooks: &[HookKind::Datapath],
        yields: &[],
        baseline: Baseline { gpu: "kepler-big", set: &["scheduler=gto"] },
        metrics: &[Metric {
            name: "response_time",
            unit: "cycles",
            meaning: "response time of EX_LDST by Little's law",
            value: response,
        }],
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let policy = Box::new(Fixed::new([false; COMPONENTS], parameters.interval));
        Ok(Built { policy, power: PolicyPower::default() })
    }
}
