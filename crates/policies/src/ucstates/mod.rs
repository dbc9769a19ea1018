//! µC-States: components of the datapath that do not limit performance are tuned down, half of each at most.
//!
//! O. Kayıran et al., *µC-States: fine-grained GPU datapath power management*, PACT 2016. Each SM has a controller that at
//! the end of an interval (§4: 2048 cycles) carries out one of three phases ([`algorithm`]): EX units; the other components
//! of the three paths; scheduler and fetch. What is tuned down drains first. Instruction decoder, schedulers, EX_SP and
//! EX_SFU lose power (break-even time 19, wake-up 9 cycles, §2.3), everything else only its clock.
//!
//! *Decisions*: in the first phase utilization is over the full width, as §4 computes it for EX_SP ("dividing … by the total
//! number of SPs"). In the others it is over the groups that were on: a component that is tuned down doubles its
//! utilization (§4, "Component Interactions"; §6.1 on IFID and SCH), so that it is tuned up again when it has become the
//! bottleneck. Over the full width half a component could never show more than 0.5, stay below a busier EX unit for good,
//! and IFID, which handles no less than SCH, would never be tuned down. `denominator=full` and `=powered` take one for all
//! phases. An instruction is outstanding in EX_LDST from when it enters to when
//! a load's results are there, or a store has left the unit; J counts warps (§4). A group without power stays off for the
//! break-even time at least, which no interval of the paper's comes near; what being gated costs is the break-even time's
//! leakage. IFID: a fetch unit with its decoder is a group. The register file's bandwidth is halved, and its dynamic energy
//! with it, while all three collectors are tuned down: no register is ever out of reach.
//! Left out: the controller's own energy (32 B and a divider per core, §5).
//!
//! With a policy of lanes (Origami, ITAP, …) the power of SP and SFU lanes is that policy's business: lanes of a tuned-down
//! EX_SP have no work, and it puts them to sleep by its own rules.

pub mod algorithm;

use crate::datapath::{Tally, on, response, tuned};
use crate::error::PolicyError;
use crate::parameters::{number, plain};
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use crate::{policy_choices, policy_parameters};
use algorithm::{Phase, Seen, Thresholds, decide};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{COMPONENT_NAMES, COMPONENTS};
use warpwatt_machine::hooks::{DatapathHook, DatapathQuery, GatingDelays, Hook, Policy, Report, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::{GatingEnergy, PolicyPower};

/// The paper.
pub const PAPER: Paper = Paper {
    title: "µC-States: Fine-grained GPU Datapath Power Management",
    authors: "O. Kayıran, A. Jog, A. Pattnaik, R. Ausavarungnirun, X. Tang, M. T. Kandemir, G. H. Loh, O. Mutlu, C. R. Das",
    venue: "PACT",
    year: 2016,
};

policy_choices! {
    /// Width that utilization is relative to.
    Denominator {
        /// All groups in the first phase, those that are on in the others.
        ByPhase = "by-phase",
        /// All groups.
        Full = "full",
        /// Those that are on.
        Powered = "powered",
    }
}

policy_parameters! {
    /// Parameters of µC-States.
    Parameters {
        /// Cycles of a phase.
        interval: u32 = 2048, number("cycles", 1.0, 10_000_000.0).from("µC-States §4; §6.4: 4096, 8192, 16384");
        /// th_U: EX_SP and EX_SFU with less utilization are tuned down.
        th_u: f64 = 0.15, number("1", 0.0, 1.0).from("µC-States §5");
        /// The scheduler may be tuned down below so many times th_U.
        sch_factor: f64 = 2.0, number("1", 0.0, 1000.0).from("µC-States §4");
        /// th_RT: EX_LDST is tuned down above this response time.
        th_rt: f64 = 100.0, number("cycles", 0.0, 1_000_000.0).from("µC-States §5");
        /// Break-even time: the least time without power, and what losing power costs, in cycles of leakage.
        bet: u32 = 19, number("cycles", 0.0, 100_000.0).from("µC-States §2.3; §6.4: 29, 39");
        /// Cycles from tune-up until a group without power works.
        wake_up: u32 = 9, number("cycles", 0.0, 100_000.0).from("µC-States §2.3; §6.4: 15, 21");
        /// Utilization of the full width, or of the groups that are on.
        denominator: Denominator = Denominator::ByPhase, plain().from("µC-States §4, §6.1");
    }
}

impl Denominator {
    /// Whether a phase counts the groups that are on only.
    fn powered(self, phase: Phase) -> bool {
        match self {
            Denominator::ByPhase => phase != Phase::Execute,
            Denominator::Full => false,
            Denominator::Powered => true,
        }
    }
}

/// µC-States.
#[derive(Clone, Copy, Debug)]
pub struct UcStates;

/// Its name.
pub const NAME: &str = "ucstates";

impl System for UcStates {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: NAME,
        meaning: "µC-States: half of each pipeline component that is no bottleneck loses power or clock, in three phases",
        paper: PAPER,
        hooks: &[HookKind::Datapath],
        yields: &[],
        baseline: Baseline { gpu: "kepler-big", set: &["scheduler=gto"] },
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        let bet = f64::from(parameters.bet);
        let power = PolicyPower {
            gating: Some(GatingEnergy::break_even(bet)),
            component_gating: Some(bet),
            ..PolicyPower::default()
        };
        Ok(Built { policy: Box::new(Maker(parameters)), power })
    }
}

/// What Fig. 11 shows, and how often things change.
const METRICS: &[Metric] = &[
    Metric { name: "on_ifid", unit: "1", meaning: "groups of IFID that were on", value: |r| on(r, "IFID") },
    Metric { name: "on_sch", unit: "1", meaning: "schedulers that were on", value: |r| on(r, "SCH") },
    Metric { name: "on_ex_sp", unit: "1", meaning: "groups of EX_SP that were on", value: |r| on(r, "EX_SP") },
    Metric { name: "on_ex_sfu", unit: "1", meaning: "groups of EX_SFU that were on", value: |r| on(r, "EX_SFU") },
    Metric { name: "on_ex_ldst", unit: "1", meaning: "groups of EX_LDST that were on", value: |r| on(r, "EX_LDST") },
    Metric {
        name: "response_time",
        unit: "cycles",
        meaning: "response time of EX_LDST by Little's law",
        value: response,
    },
    Metric {
        name: "tunings",
        unit: "",
        meaning: "components tuned down or up, all SMs",
        value: |r| Some(COMPONENT_NAMES.iter().map(|c| r.count(&format!("tunings.{c}"))).sum::<u64>() as f64),
    },
];

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        let controller = Controller { parameters: self.0, state: State::default() };
        SmHooks { datapath: Some(Box::new(controller)), ..SmHooks::default() }
    }
}

/// The controller of one SM.
#[derive(Debug)]
struct Controller {
    parameters: Parameters,
    state: State,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    phase: Phase,
    down: [bool; COMPONENTS],
    /// How often each component was tuned down or up.
    tunings: [u64; COMPONENTS],
    tally: Tally,
}

impl Hook for Controller {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.state = postcard::from_bytes(state).map_err(|e| format!("{NAME}: {e}"))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        self.state.tally.report(report);
        for (name, count) in COMPONENT_NAMES.iter().zip(self.state.tunings) {
            report.add(&format!("tunings.{name}"), count);
        }
    }
}

impl DatapathHook for Controller {
    fn interval(&self) -> u64 {
        self.parameters.interval.into()
    }

    fn delays(&self) -> GatingDelays {
        GatingDelays { break_even: self.parameters.bet.into(), wake_up: self.parameters.wake_up.into() }
    }

    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS] {
        let p = &self.parameters;
        let thresholds = Thresholds { utilization: p.th_u, scheduler: p.sch_factor, response: p.th_rt };
        let state = &mut self.state;
        let seen = Seen::of(query, p.denominator.powered(state.phase));
        let before = state.down;
        decide(state.phase, &seen, &thresholds, &mut state.down);
        for ((tunings, before), after) in state.tunings.iter_mut().zip(before).zip(state.down) {
            *tunings += u64::from(before != after);
        }
        state.phase = state.phase.next();
        state.tally.add(query);
        tuned(&query.groups, &state.down)
    }
}
