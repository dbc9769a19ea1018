//! Static shapes of the pipeline: half of some components is off from the beginning to the end (µC-States Table 2).
//!
//! In §3.2 the halves are gated: the instruction decoder, the schedulers, EX_SP and EX_SFU without power, all else without
//! a clock, which still leaks. In §7 a core of that shape is built: its other halves are *absent*, and leak nothing. The
//! parameter `halves` chooses; time is the same. Registers, caches and CTA limits are the big core's in either case;
//! `kepler-small` is a GPU file of its own.
//!
//! C_COMP and C_MEM keep IFID and SCH and the components of one side (SP and SFU, or LDST) at full width.

use crate::datapath::{EX, Fixed, IDOC, IFID, OC, OCEX, SCH, response};
use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, System};
use crate::ucstates::PAPER;
use crate::{policy_choices, policy_parameters};
use warpwatt_machine::activity::COMPONENTS;
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_choices! {
    /// What becomes of the halves that are not used.
    Halves {
        /// Without power, or without a clock.
        Gated = "gated",
        /// Not built.
        Absent = "absent",
    }
}

policy_parameters! {
    /// Parameters of a static shape.
    Parameters {
        /// What becomes of the halves that are not used.
        halves: Halves = Halves::Gated, plain().from("µC-States §3.2; §7: absent");
        /// Cycles between two looks at the components' utilization.
        interval: u32 = 2048, number("cycles", 1.0, 1_000_000.0).from("µC-States §4, for its own intervals");
    }
}

/// A shape: its name, what it is, and what stays at full width.
#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    meaning: &'static str,
    whole: &'static [usize],
}

const SHAPES: [Shape; 8] = [
    Shape { name: "c-half", meaning: "static shape C_HALF: half of all fourteen components is off", whole: &[] },
    Shape { name: "c-ifid", meaning: "static shape C_IFID: half of all but IFID is off", whole: &[IFID] },
    Shape { name: "c-sch", meaning: "static shape C_SCH: half of all but the schedulers is off", whole: &[SCH] },
    Shape { name: "c-sp", meaning: "static shape C_SP: half of all but EX_SP is off", whole: &[EX[0]] },
    Shape { name: "c-sfu", meaning: "static shape C_SFU: half of all but EX_SFU is off", whole: &[EX[1]] },
    Shape { name: "c-ldst", meaning: "static shape C_LDST: half of all but EX_LDST is off", whole: &[EX[2]] },
    Shape {
        name: "c-comp",
        meaning: "static shape C_COMP: half of the components for memory instructions is off",
        whole: &[IFID, SCH, IDOC[0], OC[0], OCEX[0], EX[0], IDOC[1], OC[1], OCEX[1], EX[1]],
    },
    Shape {
        name: "c-mem",
        meaning: "static shape C_MEM: half of the components for SP and SFU instructions is off",
        whole: &[IFID, SCH, IDOC[2], OC[2], OCEX[2], EX[2]],
    },
];

/// The components that the shape of this name tunes down.
pub fn down(name: &str) -> Option<[bool; COMPONENTS]> {
    let shape = SHAPES.iter().find(|shape| shape.name == name)?;
    Some(std::array::from_fn(|c| !shape.whole.contains(&c)))
}

/// The static shape with this place in Table 2.
#[derive(Clone, Copy, Debug)]
pub struct Static<const AT: usize>;

impl<const AT: usize> System for Static<AT> {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: SHAPES[AT].name,
        meaning: SHAPES[AT].meaning,
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
        let down = std::array::from_fn(|c| !SHAPES[AT].whole.contains(&c));
        let policy = Box::new(Fixed::new(down, parameters.interval));
        let absent = parameters.halves == Halves::Absent;
        Ok(Built { policy, power: PolicyPower { absent, ..PolicyPower::default() } })
    }
}
