//! What a governor is measured against: fixed V/f points, and a fixed number of CTAs.
//!
//! `sm-high`, `sm-low`, `mem-high` and `mem-low` run everything with one domain a step off its nominal level (Equalizer
//! §II-A, §V-B: 15 %), from the first cycle on and without a transition. `ctas` allows so many CTAs on an SM (Figs. 1e, 2a
//! and 5). `warpwatt run --sm-mhz --mem-mhz` sets any other point.

use crate::error::PolicyError;
use crate::parameters::{NoParameters, number};
use crate::policy_parameters;
use crate::steps::Steps;
use crate::system::{About, Built, HookKind, Paper, System};
use warpwatt_machine::hooks::{ChipView, GovernorHook, Hook, LaunchView, Order, Policy};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

/// Questions to a governor that has nothing to decide: as good as none.
const NEVER: u64 = 1 << 40;

const fn about(name: &'static str, meaning: &'static str) -> About {
    About {
        name,
        meaning,
        paper: Paper {
            title: "Equalizer: Dynamic Tuning of GPU Resources for Efficient Execution",
            authors: "A. Sethia, S. Mahlke",
            venue: "MICRO",
            year: 2014,
        },
        hooks: &[HookKind::Governor],
        yields: &[],
        baseline: crate::equalizer::BASELINE,
        metrics: &[],
    }
}

/// A point: one domain a step up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// SMs up.
    SmHigh,
    /// SMs down.
    SmLow,
    /// Memory up.
    MemHigh,
    /// Memory down.
    MemLow,
}

/// All points.
pub const POINTS: [(Point, About); 4] = [
    (Point::SmHigh, about("sm-high", "the SM domain one V/f level above nominal, always")),
    (Point::SmLow, about("sm-low", "the SM domain one V/f level below nominal, always")),
    (Point::MemHigh, about("mem-high", "the memory domain one V/f level above nominal, always")),
    (Point::MemLow, about("mem-low", "the memory domain one V/f level below nominal, always")),
];

impl Point {
    /// The order that sets it, if the GPU has the level.
    pub fn order(self, spec: &Spec) -> Option<Order> {
        let (sms, memory) = (Steps::of_sms(spec), Steps::of_memory(spec));
        let (order, normal, mhz): (fn(f64) -> Order, f64, f64) = match self {
            Point::SmHigh => (Order::CoreMhz, sms.normal, sms.high),
            Point::SmLow => (Order::CoreMhz, sms.normal, sms.low),
            Point::MemHigh => (Order::DramMhz, memory.normal, memory.high),
            Point::MemLow => (Order::DramMhz, memory.normal, memory.low),
        };
        (mhz != normal).then(|| order(mhz))
    }
}

/// The system of the point `POINTS[P]`.
#[derive(Clone, Copy, Debug)]
pub struct Static<const P: usize>;

impl<const P: usize> System for Static<P> {
    type Parameters = NoParameters;
    const ABOUT: About = POINTS[P].1;

    fn build(_: NoParameters, spec: &Spec) -> Result<Built, PolicyError> {
        let (point, about) = &POINTS[P];
        let Some(order) = point.order(spec) else {
            let memory = matches!(point, Point::MemHigh | Point::MemLow);
            let levels = if memory { &spec.dvfs.mem_levels } else { &spec.dvfs.core_levels };
            let levels: Vec<String> = levels.iter().map(|l| l.mhz.to_string()).collect();
            return Err(PolicyError::Inconsistent {
                message: format!("`{}`: {} has no such V/f level", about.name, spec.name),
                help: format!("its levels, in MHz: {}; gtx480-equalizer has three of each domain", levels.join(", ")),
            });
        };
        let once = Once { clock: Some(order), ctas: None };
        Ok(Built { policy: Box::new(once), power: PolicyPower::default() })
    }
}

policy_parameters! {
    /// Parameters of a fixed number of CTAs.
    Parameters {
        /// CTAs that may run on an SM, at most: no more than fit do.
        count: u32 = 1, number("CTAs", 1.0, 64.0).from("Equalizer Fig. 2a");
    }
}

/// A fixed number of CTAs.
#[derive(Clone, Copy, Debug)]
pub struct Ctas;

impl System for Ctas {
    type Parameters = Parameters;
    const ABOUT: About = about("ctas", "a fixed number of CTAs on every SM (ctas.count)");

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let once = Once { clock: None, ctas: Some(parameters.count) };
        Ok(Built { policy: Box::new(once), power: PolicyPower::default() })
    }
}

/// Makes the governor.
#[derive(Clone, Copy, Debug)]
struct Once {
    clock: Option<Order>,
    ctas: Option<u32>,
}

impl Policy for Once {
    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        let limits =
            self.ctas.iter().flat_map(|&limit| (0..spec.sms as usize).map(move |sm| Order::CtaLimit { sm, limit }));
        Some(Box::new(Fixed(self.clock.into_iter().chain(limits).collect())))
    }
}

/// Gives the same orders before every launch.
#[derive(Debug)]
struct Fixed(Vec<Order>);

impl Hook for Fixed {}

impl GovernorHook for Fixed {
    fn interval(&self) -> u64 {
        NEVER
    }

    fn launch(&mut self, _: &LaunchView<'_>) -> Vec<Order> {
        self.0.clone()
    }

    fn decide(&mut self, _: &ChipView<'_>) -> Vec<Order> {
        Vec::new()
    }
}
