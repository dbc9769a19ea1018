//! What the hook objects share: which lanes an instruction uses, and what is counted.

use super::modes::{Mode, Modes, numbers};
use crate::lanes::{IdlePeriods, Occupancy, Scope};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LANE_STATES, LaneResidency, LaneState};
use warpwatt_machine::hooks::{Report, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::simd::Simd;
use warpwatt_machine::spec::Spec;

/// Pipes of an SM: the lanes of an SP, or those of its INT and of its FP pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pipes {
    /// INT and FP together or apart.
    pub scope: Scope,
    /// How long a lane works on an instruction.
    pub occupancy: Occupancy,
    /// SPs.
    pub units: usize,
    /// Lanes of each.
    pub simd: Simd,
    sfu_lanes: u64,
}

impl Pipes {
    /// Those of a GPU's SM.
    pub fn new(spec: &Spec, scope: Scope, occupancy: Occupancy) -> Pipes {
        let (units, sfu_lanes) = (spec.sp_units as usize, u64::from(spec.lanes().1));
        Pipes { scope, occupancy, units, simd: Simd::of(spec), sfu_lanes }
    }

    /// How many.
    pub fn count(&self) -> usize {
        match self.scope {
            Scope::Lane => self.units,
            Scope::Type => 2 * self.units,
        }
    }

    /// That of a unit's INT or FP pipeline.
    #[inline]
    pub fn at(&self, unit: usize, fp: bool) -> usize {
        match self.scope {
            Scope::Lane => unit,
            Scope::Type => 2 * unit + fp as usize,
        }
    }

    /// That of an instruction; `None`: SFU lanes are always on.
    #[inline]
    pub fn of(&self, query: &StartQuery) -> Option<usize> {
        (query.port == Port::Sp).then(|| self.at(query.unit, query.fp))
    }

    /// Cycles for which the instruction's lanes work.
    #[inline]
    pub fn working(&self, query: &StartQuery) -> u64 {
        u64::from(match self.occupancy {
            Occupancy::Issue => query.busy,
            Occupancy::Pipeline => query.latency.max(query.busy),
        })
    }

    /// Where a pipe's lanes are counted: INT 0, FP 1.
    #[inline]
    pub fn places(&self, pipe: usize) -> std::ops::Range<usize> {
        match self.scope {
            Scope::Lane => 0..2,
            Scope::Type => pipe % 2..pipe % 2 + 1,
        }
    }
}

/// Adds lanes to the counts of their modes. Gives how many.
#[inline]
fn add(counted: &mut [u64; LANE_STATES], modes: Modes) -> u64 {
    let [vs05, vs03, pg, _] = numbers([modes.vs05, modes.vs03, modes.pg, 0]);
    for (mode, lanes) in Mode::ALL.into_iter().zip([vs05, vs03, pg]) {
        counted[mode.state() as usize] += lanes;
    }
    vs05 + vs03 + pg
}

/// What is counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Lane-cycles and transitions that have not been taken, by pipe.
    residency: Vec<LaneResidency>,
    /// Idle periods, by pipe.
    idle: Vec<IdlePeriods>,
    /// SFU lane-cycles before this cycle have been taken.
    sfu_taken: u64,
}

impl Counts {
    /// Nothing yet, of these pipes.
    pub fn of(pipes: &Pipes) -> Counts {
        let idle = vec![IdlePeriods::default(); pipes.count()];
        Counts { residency: vec![LaneResidency::default(); pipes.count()], idle, sfu_taken: 0 }
    }

    /// Lane-cycles of a pipe.
    #[inline]
    pub fn of_pipe(&mut self, pipe: usize) -> &mut LaneResidency {
        &mut self.residency[pipe]
    }

    /// Lanes that enter modes.
    #[inline]
    pub fn enter(&mut self, pipe: usize, modes: Modes) {
        add(&mut self.residency[pipe].entries, modes);
    }

    /// Lanes that pay for leaving modes. Gives how many.
    #[inline]
    pub fn leave(&mut self, pipe: usize, modes: Modes) -> u64 {
        add(&mut self.residency[pipe].wakes, modes)
    }

    /// Takes lane-cycles and transitions, of INT and FP lanes.
    pub fn take(&mut self, pipes: &Pipes) -> [LaneResidency; 2] {
        let mut taken: [LaneResidency; 2] = Default::default();
        for (pipe, own) in self.residency.iter_mut().enumerate() {
            let own = std::mem::take(own);
            taken[pipes.places(pipe)].iter_mut().for_each(|place| place.add(&own));
        }
        taken
    }

    /// Lanes whose idle period ends.
    #[inline]
    pub fn period(&mut self, pipe: usize, cycles: u64, lanes: u64) {
        self.idle[pipe].add(cycles, lanes);
    }

    /// SFU lane-cycles since they were last taken: always on.
    pub fn sfu(&mut self, pipes: &Pipes, now: u64, sfu: &mut LaneResidency) {
        sfu.cycles[LaneState::On as usize] += pipes.sfu_lanes * (now - self.sfu_taken);
        self.sfu_taken = now;
    }

    /// Adds idle periods to a report, those included that go on at `now`. `idle_from`: for each pipe, since when its
    /// lanes are idle.
    pub fn report(
        &self,
        pipes: &Pipes,
        idle_from: impl Iterator<Item = impl Iterator<Item = (u32, u64)>>,
        now: u64,
        report: &mut Report,
    ) {
        let mut all = self.clone();
        for (pipe, lanes) in idle_from.enumerate() {
            for (lanes, from) in lanes.filter(|entry| entry.1 < now) {
                all.period(pipe, now - from, lanes.count_ones().into());
            }
        }
        let mut of_place: [IdlePeriods; 2] = Default::default();
        for (pipe, idle) in all.idle.iter().enumerate() {
            of_place[pipes.places(pipe)].iter_mut().for_each(|place| place.join(idle));
        }
        for (idle, name) in of_place.iter().zip(["int", "fp"]) {
            report.add_histogram(&format!("idle.{name}"), &idle.bins);
            report.add(&format!("idle_cycles.{name}"), idle.cycles);
        }
    }
}
