//! Lanes that never sleep, observed: what the execution units are like where nothing saves power. It is what `warpwatt idle`
//! and the baselines of `warpwatt compare` run under. It changes neither time nor energy.
//!
//! Counted are lengths of idle periods of INT, FP and SFU lanes, and of whole SIMD lanes (INT and FP pipeline together,
//! ITAP §7); active threads of the warp instructions that enter a unit (Origami Fig. 6, ITAP Fig. 4); and for how long
//! units were occupied with how many threads, from which full- and partial-lane idleness follow (ITAP §3.1, Fig. 3): while
//! nothing enters a unit all its lanes are idle, else those whose threads are inactive.
//!
//! On narrow SPs ([`warpwatt_machine::simd`]) threads are a warp instruction's, and occupied lanes its sub-warps'.
//!
//! *Decision*: a unit is occupied for the initiation interval, also where a lane is told to work until its result leaves.

use crate::error::PolicyError;
use crate::lanes::{Control, Idle, Lanes, Occupancy, Pipe, Scope, Setup, Tracker};
use crate::parameters::plain;
use crate::policy_parameters;
use crate::system::{About, Baseline, Built, HookKind, Metric, Paper, System};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{Hook, LanesHook, Policy, Report, SmHooks, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

policy_parameters! {
    /// Parameters of the observer.
    Parameters {
        /// A lane works while an instruction enters it, or until the result leaves.
        occupancy: Occupancy = Occupancy::Issue, plain().from("decision, after Origami §2.3");
    }
}

/// Lanes that never sleep.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysOn;

/// The name of [`AlwaysOn`].
pub const NAME: &str = "always-on";

impl System for AlwaysOn {
    type Parameters = Parameters;
    const ABOUT: About = About {
        name: NAME,
        meaning: "no lane ever sleeps; idle periods and active threads are counted",
        paper: Paper {
            title: "Origami: Folding Warps for Energy Efficient GPUs",
            authors: "M. Abdel-Majeed, D. Wong, J. Kuang, M. Annavaram",
            venue: "ICS",
            year: 2016,
        },
        hooks: &[HookKind::Lanes],
        yields: &[],
        baseline: Baseline { gpu: "gtx480", set: &["scheduler=two-level-active"] },
        metrics: METRICS,
    };

    fn build(parameters: Parameters, _: &Spec) -> Result<Built, PolicyError> {
        Ok(Built { policy: Box::new(Maker(parameters)), power: PolicyPower::default() })
    }
}

const METRICS: &[Metric] = &[
    Metric {
        name: "threads_int",
        unit: "threads",
        meaning: "active threads of an INT warp instruction, on average",
        value: |r| mean(r.histogram("threads.int")),
    },
    Metric {
        name: "threads_fp",
        unit: "threads",
        meaning: "active threads of an FP warp instruction, on average",
        value: |r| mean(r.histogram("threads.fp")),
    },
];

/// Average of a histogram's values.
fn mean(bins: &[u64]) -> Option<f64> {
    let count: u64 = bins.iter().sum();
    let sum: u64 = bins.iter().enumerate().map(|(value, count)| value as u64 * count).sum();
    (count > 0).then(|| sum as f64 / count as f64)
}

#[derive(Debug)]
struct Maker(Parameters);

impl Policy for Maker {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        SmHooks { lanes: Some(Box::new(Watched::new(spec, self.0.occupancy))), ..SmHooks::default() }
    }
}

/// The rule: idle lanes stay awake.
#[derive(Clone, Copy, Debug)]
struct Never;

impl Control for Never {
    fn sleeps_at(&self, _: &Pipe, _: Idle) -> u64 {
        u64::MAX
    }

    fn detects(&self, _: &Pipe, _: bool) -> u64 {
        0
    }

    fn wake_up(&self) -> u64 {
        0
    }
}

/// Warp instructions by active threads, and cycles for which units were occupied by lanes with a thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Threads {
    count: Vec<u64>,
    occupied: Vec<u64>,
}

/// The lanes of an SM.
#[derive(Debug)]
struct Watched {
    occupancy: Occupancy,
    /// INT, FP and SFU lanes apart.
    lanes: Lanes<Never>,
    /// Whole SIMD lanes.
    whole: Tracker,
    fresh: Tracker,
    /// Of INT, FP and SFU instructions.
    threads: [Threads; 3],
}

#[derive(Serialize, Deserialize)]
struct Saved {
    lanes: Vec<u8>,
    whole: Tracker,
    threads: [Threads; 3],
}

const TYPES: [&str; 3] = ["int", "fp", "sfu"];

impl Watched {
    fn new(spec: &Spec, occupancy: Occupancy) -> Watched {
        let setup = |scope, sfu| Setup { scope, granularity: 1, occupancy, sfu };
        let whole = Tracker::new(spec, &setup(Scope::Lane, false), &Never);
        Watched {
            occupancy,
            lanes: Lanes::new(spec, setup(Scope::Type, true), Never),
            fresh: whole.clone(),
            whole,
            threads: [(); 3].map(|()| Threads { count: vec![0; 33], occupied: vec![0; 33] }),
        }
    }
}

impl Hook for Watched {
    fn save(&self) -> Vec<u8> {
        let saved = Saved { lanes: self.lanes.save(), whole: self.whole.clone(), threads: self.threads.clone() };
        postcard::to_allocvec(&saved).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let mut saved: Saved = postcard::from_bytes(state).map_err(|e| format!("always-on: {e}"))?;
        saved.whole.complete(&self.fresh)?;
        self.lanes.load(&saved.lanes)?;
        (self.whole, self.threads) = (saved.whole, saved.threads);
        Ok(())
    }

    fn report(&self, now: u64, report: &mut Report) {
        self.lanes.report(now, report);
        let [whole, ..] = self.whole.idle_until(now);
        report.add_histogram("idle.lane", &whole.bins);
        report.add("idle_cycles.lane", whole.cycles);
        for (name, threads) in TYPES.iter().zip(&self.threads) {
            report.add_histogram(&format!("threads.{name}"), &threads.count);
            report.add_histogram(&format!("occupied.{name}"), &threads.occupied);
        }
    }
}

impl LanesHook for Watched {
    fn start(&mut self, query: &StartQuery) -> u64 {
        let sfu = query.port == Port::Sfu;
        let threads = &mut self.threads[if sfu { 2 } else { query.fp as usize }];
        let active = query.lanes.count_ones() as usize;
        if let Some(all) = query.begins {
            threads.count[all.count_ones() as usize] += 1;
        }
        threads.occupied[active] += u64::from(query.busy);
        if !sfu {
            let busy = match self.occupancy {
                Occupancy::Issue => query.busy,
                Occupancy::Pipeline => query.latency.max(query.busy),
            };
            self.whole.start(query.unit, &mut Never, query.now, query.lanes, u64::from(busy));
        }
        self.lanes.start(query)
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        self.lanes.residency(now, int, fp, sfu);
        // Where nothing sleeps, idleness is not detected either.
        for r in [int, fp, sfu] {
            r.cycles[LaneState::On as usize] += std::mem::take(&mut r.cycles[LaneState::IdleDetect as usize]);
        }
    }
}
