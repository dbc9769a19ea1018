//! ITAP: idle lanes sleep in the mode that suits the length of the idle period, as it is estimated.
//!
//! M. Sadrosadati, S. B. Ehsani, H. Falahati, R. Ausavarungnirun, A. Tavakkol, M. Abaee, L. Orosa, Y. Wang,
//! H. Sarbazi-Azad, O. Mutlu, *ITAP: Idle-Time-Aware Power Management for GPU Execution Units*, ACM TACO 16(1), 2019.
//!
//! A lane here is a whole SIMD lane, INT and FP pipeline together (§7). Modes and equation 1 are in [`modes`], the two
//! counters in [`counters`], the state machine in [`fsm`], the peek-ahead window in [`window`]; [`switch`] drives the lanes of
//! an SM by them, [`ideal`] is the bound. Both look ahead to choose a mode. `itap-perf` wakes lanes as many cycles before they
//! are wanted as their mode takes, and its confidence counter is reset when a lane was gated in vain (§4.3); `itap-pow` wakes
//! them in the cycle before, whatever the mode. Counters go up and down by one otherwise (§6.4.1 has two other ways:
//! `update`). With PATS, PATS orders warps and ITAP has the lanes.
//!
//! *Decisions* where the paper is silent, or at odds with itself:
//!
//! - §4.3 says that "we switch off early wake-up" in ITAP_pow. To the letter (`wake=demand`) every idle period then delays an
//!   instruction by a cycle at least, whether or not there is a window, and ITAP_pow would lose as much time as it does
//!   without peek-ahead. But §6.2 has peek-ahead make it 17 % faster, and a loss of 1.2 %. So what is switched off is taken to
//!   be the wake-up "earlier based on T_wakeup of the current power management mode": lanes wake by Activity_ahead\[1\]
//!   (`wake=next`), in time from VS0.5, a cycle late from VS0.3 and two from PG.
//! - Counters learn from idle periods in which they had something to decide ("the history of the correct/incorrect
//!   decisions"; the confidence counter tells "medium and long" periods apart, not short ones; §4.2). If they learn from all
//!   (`learn=all`), the many short periods keep both low, and PG, which Fig. 12 has in use, is never reached.
//! - Equation 1 charges an idle period to its last cycle with the power of the mode, and the wake-up energy besides. So a
//!   lane that wakes up is charged as the mode that it leaves (`waking=on` charges it as if it were on, as Origami does).
//! - Going deeper is free, and so is a change to a shallower mode, which Table 2 may force upon a lane ("does not impose …
//!   energy overheads"). A lane pays one wake-up for each idle period, when it returns to full function (equation 1), by the
//!   deepest mode that it has been in (`rising=each` makes it pay for each rise). Changes between modes take no time.
//! - Table 2 unites the modes of lanes that are idle; lanes that work are on, one by one, at every granularity ("the same
//!   mode for all *idle* lanes", §4.4). Early wake-up looks at the mode that a lane is in, not at the one that it has
//!   selected for itself.
//! - A lane enters VS0.5 in its first idle cycle, and goes deeper in a later one. By the window it may begin to wake up in that
//!   first cycle: without this T2 would delay the instruction after every idle period of one cycle, which §4.3 rules out
//!   for `itap-perf`.
//! - Where the third column of Table 1 does not look at Activity_cur (T3, T7, T9) an instruction that the window has not
//!   foreseen still wakes its lanes.
//! - An idle period's length, for the counters, ends when the lane is wanted: what it waits to wake up is not idleness
//!   that was found. Exactly 48 cycles leave the confidence counter as it is (§4.2: "less than", "larger than").
//! - "Wrongly used" (§4.3): the lane was in PG in a period of under 48 cycles. Counters start at the threshold
//!   (`counter_start`): a lane that never works has nothing to learn from, and from 0 it would stay in VS0.5 or VS0.3 for good,
//!   while Fig. 12 has PG in use.
//! - An instruction that stands before an SP and waits for a bus of its result is one that wants its lanes (Activity_cur).
//! - The hardware costs 2.21 % of the execution units' power (Table 5) at every granularity (footnote 4), in `itap-ideal`
//!   too, so that what differs is what is estimated. So it does at every width of the SIMD (§6.4.3 gives no other figure).
//! - On a narrow SIMD ([`warpwatt_machine::simd`]) a granularity beyond its width is its width. A sub-warp that has to wait for
//!   its lanes holds back those behind it; the window has all of them.
//!
//! Left out: area; other wake-up times and energies than Table 4's (§6.4.4, Fig. 17); what the regulators of fine granularities
//! would cost (footnote 4 leaves it out as well).

pub mod counters;
pub mod fsm;
pub mod ideal;
pub mod modes;
pub mod switch;
pub mod window;

mod account;
mod frame;
mod memory;
mod times;

pub use frame::Pipes;

use crate::cpg;
use crate::error::PolicyError;
use crate::lanes::{Occupancy, Scope, Setup};
use crate::parameters::{ParameterSet, Visitor, number, plain};
use crate::policy_parameters;
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use counters::{Learn, Rules as CounterRules, Update};
use fsm::{Goal, Wake};
use ideal::Ideal;
use switch::{Rising, Rules, Switch, Waking};
use warpwatt_machine::hooks::{Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::{GatingEnergy, PolicyPower};

policy_parameters! {
    /// Parameters of `itap-pow` and `itap-perf`.
    Parameters {
        /// Look at the next three cycles (off: counters alone).
        peek_ahead: bool = true, plain().from("ITAP §4.2");
        /// When the peek-ahead window wakes lanes up: never, in the cycle before they are wanted, or as many cycles before as
        /// waking up from their mode takes.
        wake: Wake = Wake::Next, plain().from("ITAP §4.3, §6.2; `itap-perf`: mode");
        /// Adjacent lanes whose idle ones share a mode.
        granularity: u32 = 32, number("lanes", 1.0, 32.0).power_of_two().from("ITAP §5, §6.4.2");
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Lane, plain().from("ITAP §7");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// How the counters learn: 1 by one step, 2 reset after two wrong predictions, 3 reset after one.
        update: Update = Update::Simple, plain().from("ITAP §4.2, §6.4.1");
        /// The idle periods that counters learn from: all, or those in which there was something to decide.
        learn: Learn = Learn::Decided, plain().from("decision, after ITAP §4.2, Fig. 12");
        /// Values of each counter.
        counter_values: u32 = 256, number("", 4.0, 256.0).power_of_two().from("ITAP §5, §6.4.1");
        /// Where counters start, as a share of their values.
        counter_start: f64 = 0.5, number("1", 0.0, 1.0).from("decision");
        /// Threshold of the mode-change counter, as a share of its values.
        mode_threshold: f64 = 0.5, number("1", 0.0, 1.0).from("ITAP §5");
        /// Threshold of the confidence counter, as a share of its values.
        confidence_threshold: f64 = 0.5, number("1", 0.0, 1.0).from("ITAP §5");
        /// Power of lanes that wake up: that of the mode that they leave, or as if they were on.
        waking: Waking = Waking::Mode, plain().from("ITAP equation 1");
        /// When a rise to a shallower mode (Table 2) is paid for: with the wake-up, once for the deepest, or each time.
        rising: Rising = Rising::Once, plain().from("ITAP equation 1, §4.4");
        /// Power of the added hardware, as a share of the execution units' power.
        hardware: f64 = 0.0221, number("1", 0.0, 1.0).from("ITAP Table 5, footnote 4");
    }
}

policy_parameters! {
    /// Parameters of `itap-ideal`.
    IdealParameters {
        /// Switched together: the whole SIMD lane, or its INT and FP pipelines apart.
        scope: Scope = Scope::Lane, plain().from("ITAP §7");
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
        /// Power of the added hardware, as a share of the execution units' power.
        hardware: f64 = 0.0221, number("1", 0.0, 1.0).from("ITAP Table 5, footnote 4");
    }
}

/// Parameters of `itap-perf`: the same, and lanes wake up by their mode.
#[derive(Clone, Copy, Debug)]
pub struct PerfParameters(pub Parameters);

impl Default for PerfParameters {
    fn default() -> Self {
        PerfParameters(Parameters { wake: Wake::Mode, ..Parameters::default() })
    }
}

impl ParameterSet for PerfParameters {
    fn visit(&mut self, f: &mut Visitor<'_>) {
        self.0.visit(f);
    }
}

const PAPER: Paper = Paper {
    title: "ITAP: Idle-Time-Aware Power Management for GPU Execution Units",
    authors: "M. Sadrosadati, S. B. Ehsani, H. Falahati, R. Ausavarungnirun, A. Tavakkol, M. Abaee, L. Orosa, Y. Wang, \
              H. Sarbazi-Azad, O. Mutlu",
    venue: "ACM TACO",
    year: 2019,
};

const BASELINE: Baseline = Baseline { gpu: "pascal16", set: &["scheduler=two-level-fetch"] };

const METRICS: &[Metric] = &[
    cpg::METRICS[0],
    cpg::METRICS[1],
    Metric {
        name: "accuracy",
        unit: "1",
        meaning: "idle periods whose length (short, medium, long) the counters had right",
        value: |r| Some(r.count("itap.right") as f64 / r.count("itap.estimates") as f64),
    },
    Metric {
        name: "foreseen",
        unit: "1",
        meaning: "share of SM-cycles in which the peek-ahead window gave information",
        value: |r| Some(r.count("itap.foreseen") as f64 / r.count("itap.cycles") as f64),
    },
    Metric {
        name: "early_wakes",
        unit: "lanes",
        meaning: "lanes woken up before an instruction wanted them",
        value: |r| Some(r.count("itap.early") as f64),
    },
];

const fn about(name: &'static str, meaning: &'static str, metrics: &'static [Metric]) -> About {
    About { name, meaning, paper: PAPER, hooks: &[HookKind::Lanes], yields: &[], baseline: BASELINE, metrics }
}

/// Power-aggressive ITAP.
#[derive(Clone, Copy, Debug)]
pub struct ItapPow;

impl System for ItapPow {
    type Parameters = Parameters;
    const ABOUT: About = about(
        "itap-pow",
        "idle lanes in VS0.5, VS0.3 or gated by estimated length; woken in the cycle before they are wanted",
        METRICS,
    );

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(built(parameters, Goal::Power))
    }
}

/// Performance-aggressive ITAP.
#[derive(Clone, Copy, Debug)]
pub struct ItapPerf;

impl System for ItapPerf {
    type Parameters = PerfParameters;
    const ABOUT: About = about(
        "itap-perf",
        "idle lanes in VS0.5, VS0.3 or gated by estimated length; woken before they are wanted",
        METRICS,
    );

    fn build(parameters: PerfParameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(built(parameters.0, Goal::Performance))
    }
}

/// The bound of all.
#[derive(Clone, Copy, Debug)]
pub struct ItapIdeal;

impl System for ItapIdeal {
    type Parameters = IdealParameters;
    const ABOUT: About = about("itap-ideal", "every idle period in the best mode for its length, without delay", &[]);

    fn build(parameters: IdealParameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(Built { policy: Box::new(IdealMaker(parameters)), power: power(parameters.hardware) })
    }
}

fn power(hardware_share: f64) -> PolicyPower {
    PolicyPower { gating: Some(GatingEnergy::ITAP), hardware_share, ..PolicyPower::default() }
}

fn built(parameters: Parameters, goal: Goal) -> Built {
    Built { policy: Box::new(Maker { parameters, goal }), power: power(parameters.hardware) }
}

#[derive(Debug)]
struct Maker {
    parameters: Parameters,
    goal: Goal,
}

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let p = &self.parameters;
        let pipes = Pipes::new(spec, p.scope, p.occupancy);
        let lanes = Switch::new(pipes, p.rules(self.goal));
        SmHooks { lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}

impl Parameters {
    /// The rules that they amount to.
    pub fn rules(&self, goal: Goal) -> Rules {
        let p = self;
        Rules {
            goal,
            wake: p.wake,
            peek: p.peek_ahead,
            setup: Setup { scope: p.scope, granularity: p.granularity, occupancy: p.occupancy, sfu: false },
            switch: CounterRules::new(p.counter_values, p.mode_threshold, p.update),
            confidence: CounterRules::new(p.counter_values, p.confidence_threshold, p.update),
            start: p.counter_start,
            learn: p.learn,
            waking: p.waking,
            rising: p.rising,
        }
    }
}

#[derive(Debug)]
struct IdealMaker(IdealParameters);

impl Policy for IdealMaker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let pipes = Pipes::new(spec, self.0.scope, self.0.occupancy);
        SmHooks { lanes: Some(Box::new(Ideal::new(pipes))), ..SmHooks::default() }
    }
}
