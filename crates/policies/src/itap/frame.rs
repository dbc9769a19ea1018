//! What the hook objects share: which lanes an instruction uses, and where these are counted.

use crate::lanes::{IdlePeriods, Occupancy, Scope};
use warpwatt_machine::activity::{LaneResidency, LaneState};
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

    /// Adds what a pipe's lanes have done to what INT and FP lanes have.
    pub fn add(&self, pipe: usize, own: &LaneResidency, places: &mut [&mut LaneResidency; 2]) {
        places[self.places(pipe)].iter_mut().for_each(|place| place.add(own));
    }

    /// SFU lane-cycles since they were last taken: always on.
    pub fn take_sfu(&self, taken: &mut u64, now: u64, sfu: &mut LaneResidency) {
        sfu.cycles[LaneState::On as usize] += self.sfu_lanes * (now - *taken);
        *taken = now;
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

/// Adds idle periods to a report, those included that go on at `now`. `lines`: for each pipe, those that have ended, and since
/// when its lanes are idle.
pub fn report_idle<'a>(
    pipes: &Pipes,
    lines: impl Iterator<Item = (&'a IdlePeriods, impl Iterator<Item = (u32, u64)>)>,
    now: u64,
    report: &mut Report,
) {
    let mut of_place: [IdlePeriods; 2] = Default::default();
    for (pipe, (ended, idle_from)) in lines.enumerate() {
        let mut idle = ended.clone();
        for (lanes, from) in idle_from.filter(|entry| entry.1 < now) {
            idle.add(now - from, lanes.count_ones().into());
        }
        of_place[pipes.places(pipe)].iter_mut().for_each(|place| place.join(&idle));
    }
    for (idle, name) in of_place.iter().zip(["int", "fp"]) {
        report.add_histogram(&format!("idle.{name}"), &idle.bins);
        report.add(&format!("idle_cycles.{name}"), idle.cycles);
    }
}
