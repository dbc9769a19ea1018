//! Two audits that run on every simulation and fail it loudly.
//!
//! 1. Residency: for every execution unit of every SM in every sample, the lanes' states add up to lanes × cycles;
//!    for every pipeline component, on + gated + clock-gated add up to groups × cycles.
//! 2. Energy: components, labels, launches and the time series add up to a total that is computed by another path:
//!    event by event over the whole run, and full leakage minus what sleeping lanes and groups save.

use crate::charges;
use crate::component::{Component, SM_COMPONENTS};
use crate::error::AuditError;
use crate::model::{PowerModel, gating, leakage_factor};
use crate::report::{PowerReport, Summary};
use crate::scaling::Level;
use warpwatt_machine::activity::{
    COMPONENT_NAMES, LaneResidency, LaneState, MEM_EVENTS, MemEvent, SM_EVENTS, Sample, SmActivity, SmEvent,
};
use warpwatt_machine::simd::SFU_LANES;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;

/// Relative difference that rounding may leave between two orders of summation.
const ROUNDING: f64 = 1e-9;

/// Audits the residencies of samples (the first audit).
pub fn residency(spec: &Spec, samples: &[Sample]) -> Result<(), AuditError> {
    for (number, sample) in samples.iter().enumerate() {
        shape(number, "SMs", spec.sms as usize, sample.sms.len())?;
        shape(number, "memory events", MEM_EVENTS, sample.mem.len())?;
        for (sm, activity) in sample.sms.iter().enumerate() {
            shape(number, "SM events", SM_EVENTS, activity.events.len())?;
            lanes(spec, number, sm, activity)?;
            groups(spec, number, sm, activity)?;
        }
    }
    Ok(())
}

fn shape(sample: usize, what: &'static str, expected: usize, found: usize) -> Result<(), AuditError> {
    if found == expected { Ok(()) } else { Err(AuditError::Shape { sample, what, expected, found }) }
}

fn lanes(spec: &Spec, sample: usize, sm: usize, activity: &SmActivity) -> Result<(), AuditError> {
    let (sp, sfu) = spec.lanes();
    let cycles = activity.cycles;
    for (unit, lanes, residency) in [("INT", sp, &activity.int), ("FP", sp, &activity.fp), ("SFU", sfu, &activity.sfu)]
    {
        let (expected, found) = (u64::from(lanes) * cycles, sum(&residency.cycles));
        // A lane that works is on; where no policy acts on lanes nobody counts how long they work.
        if found != expected || residency.busy > residency.cycles[LaneState::On as usize] {
            return Err(AuditError::LaneResidency { sample, sm, unit, lanes, cycles, expected, found });
        }
    }
    Ok(())
}

fn groups(spec: &Spec, sample: usize, sm: usize, activity: &SmActivity) -> Result<(), AuditError> {
    let cycles = activity.cycles;
    for (index, (component, groups)) in COMPONENT_NAMES.into_iter().zip(spec.component_groups()).enumerate() {
        let expected = u64::from(groups) * cycles;
        let found = sum(&[
            activity.component_on[index],
            activity.component_gated[index],
            activity.component_clock_gated[index],
        ]);
        if found != expected {
            return Err(AuditError::ComponentResidency { sample, sm, component, groups, cycles, expected, found });
        }
        let (lanes, units): (u64, &[&LaneResidency]) = match component {
            "EX_SP" => (spec.simd_width.into(), &[&activity.int, &activity.fp]),
            "EX_SFU" => (SFU_LANES.into(), &[&activity.sfu]),
            _ => continue,
        };
        let group_cycles = activity.component_gated[index];
        for residency in units {
            let lane_cycles = asleep(residency);
            if lane_cycles < group_cycles.saturating_mul(lanes) {
                return Err(AuditError::GatedLanes { sample, sm, component, group_cycles, lane_cycles });
            }
        }
    }
    Ok(())
}

/// Sum that stays wrong instead of overflowing into something right.
fn sum(cycles: &[u64]) -> u64 {
    cycles.iter().fold(0, |sum: u64, &next| sum.saturating_add(next))
}

/// Lane-cycles in a sleep state.
fn asleep(residency: &LaneResidency) -> u64 {
    sum(&[LaneState::Gated, LaneState::Blackout, LaneState::Vs05, LaneState::Vs03]
        .map(|state| residency.cycles[state as usize]))
}

impl PowerModel {
    /// Both audits of a run and its report.
    pub fn audit(&self, run: &RunStats, report: &PowerReport) -> Result<(), AuditError> {
        residency(&self.spec, &run.samples)?;
        let expected = self.total_by_event(&run.samples);
        let agree = |what: &'static str, found: f64| {
            if (found - expected).abs() <= ROUNDING * expected.abs().max(found.abs()) {
                Ok(())
            } else {
                Err(AuditError::Energy { what, expected, found })
            }
        };
        let components = |summary: &Summary| -> f64 { summary.components.iter().map(|part| part.joules.total()).sum() };
        agree("the run's joules", report.total.joules.total())?;
        agree("the components", components(&report.total))?;
        agree("the labels", report.total.labels.iter().map(|part| part.joules).sum())?;
        agree("the launches", report.launches.iter().map(|launch| components(&launch.power)).sum())?;
        agree("the kernels", report.kernels.iter().map(|kernel| components(&kernel.power)).sum())?;
        // Samples of no length have energy but no power, and are not in the series.
        let timeless: f64 = run
            .samples
            .iter()
            .filter(|sample| sample.end <= sample.start)
            .map(|sample| self.sample(sample).total().total())
            .sum();
        let seconds = |start: u64, end: u64| end.saturating_sub(start) as f64 * 1e-15;
        let series = |watts: &dyn Fn(&crate::report::PowerPoint) -> f64| -> f64 {
            report.series.iter().map(|point| watts(point) * seconds(point.start, point.end)).sum::<f64>() + timeless
        };
        agree("the series", series(&|point| point.watts))?;
        agree("the series' components", series(&|point| point.components.iter().sum()))?;
        agree(
            "the series' SMs and chip components",
            series(&|point| {
                let sms: f64 = (0..point.sms.len()).map(|sm| point.sm_watts(sm)).sum();
                sms + point.components.iter().skip(SM_COMPONENTS).sum::<f64>()
            }),
        )
    }

    /// Total joules of some samples by another path than [`PowerModel::sample`]: each event of the table over all
    /// samples, then all leakage as if nothing slept, minus what did, then the constant terms.
    pub fn total_by_event(&self, samples: &[Sample]) -> f64 {
        let mut joules = 0.0;
        for charge in &self.table.charge {
            let Some(component) = Component::named(&charge.component) else { continue };
            let Some(row) = self.table.row(component) else { continue };
            let each = charges::picojoules(&self.table, &self.options, charge)
                * self.table.technology.dynamic(row.class)
                * 1e-12;
            let in_sm = SmEvent::ALL.iter().find(|event| event.name() == charge.event);
            let in_mem = MemEvent::ALL.iter().find(|event| event.name() == charge.event);
            for sample in samples {
                let factors = self.scaling(Level::from(sample));
                let weighted: f64 = match (in_sm, in_mem) {
                    (Some(&event), _) => {
                        sample
                            .sms
                            .iter()
                            .map(|sm| sm.events[event as usize] as f64 * self.clocked(sm)[component as usize])
                            .sum::<f64>()
                            * factors.core_event
                    }
                    (None, Some(&event)) => sample.mem[event as usize] as f64 * factors.mem_event,
                    (None, None) => 0.0,
                };
                let added = if component.is_execution_unit() { self.options.policy.hardware_share } else { 0.0 };
                joules += weighted * each * (1.0 + added);
            }
        }
        samples.iter().fold(joules, |sum, sample| sum + self.over_time(sample))
    }

    /// Leakage, gating overheads and constant terms of a sample.
    fn over_time(&self, sample: &Sample) -> f64 {
        let factors = self.scaling(Level::from(sample));
        let seconds = sample.end.saturating_sub(sample.start) as f64 * 1e-15;
        let one_sm: f64 = self.leakage[..SM_COMPONENTS].iter().sum();
        let mut watts = one_sm * sample.sms.len() as f64 * factors.core_leakage;
        for &component in &Component::ALL[SM_COMPONENTS..] {
            watts += self.leakage[component as usize] * leakage_factor(&factors, component);
        }
        let (constant, technology) = (&self.table.constant, &self.table.technology);
        watts += constant.clock_w * technology.core_dynamic * factors.clock;
        watts += constant.memory_controllers_w
            * technology.cache_dynamic
            * factors.controllers
            * f64::from(self.spec.channels)
            / self.table.reference.channels;
        let mut saved = 0.0;
        let mut entering = 0.0;
        let table = &self.table.gating;
        let costs = gating(&self.table, &self.options);
        let added = self.options.policy.hardware_share;
        for sm in &sample.sms {
            for (component, lanes, residency) in self.units(sm) {
                let lane = self.leakage[component as usize] * factors.core_leakage / f64::from(lanes.max(1));
                let of = |cycles: &[u64], state: LaneState| cycles[state as usize] as f64;
                let cycles = |state| of(&residency.cycles, state);
                let all: f64 = residency.cycles.iter().map(|&cycles| cycles as f64).sum();
                let not_leaking = (cycles(LaneState::Gated) + cycles(LaneState::Blackout)) * (1.0 - table.pg_leakage)
                    + cycles(LaneState::Vs05) * (1.0 - table.vs05_leakage)
                    + cycles(LaneState::Vs03) * (1.0 - table.vs03_leakage);
                let full = lane * f64::from(lanes) * seconds;
                entering += added * full;
                if all > 0.0 {
                    saved += (1.0 + added) * not_leaking / all * full;
                }
                if sample.core_mhz > 0.0 {
                    let wakes = |state| of(&residency.wakes, state);
                    entering += (1.0 + added)
                        * (of(&residency.entries, LaneState::Gated) * costs.gate
                            + wakes(LaneState::Gated) * costs.wake
                            + wakes(LaneState::Vs05) * costs.wake_vs05
                            + wakes(LaneState::Vs03) * costs.wake_vs03)
                        * lane
                        / (sample.core_mhz * 1e6);
                }
                let lane_cycles = f64::from(lanes) * sm.cycles as f64;
                entering += self.lane_hardware(component, residency.busy as f64, lane_cycles) * factors.core_event;
            }
            let powered = self.powered(sm);
            for (at, powered) in powered.iter().enumerate() {
                if !Component::ALL[at].is_execution_unit() {
                    saved += (1.0 - powered) * self.leakage[at] * factors.core_leakage * seconds;
                }
            }
            if sample.core_mhz > 0.0 {
                for (component, cycles) in self.group_gatings(sm) {
                    let watts = self.leakage[component as usize] * factors.core_leakage;
                    entering += watts * cycles / (sample.core_mhz * 1e6);
                }
            }
        }
        let transitions = f64::from(sample.transitions) * self.spec.dvfs.transition_nj * 1e-9;
        watts * seconds - saved + entering + transitions
    }
}
