//! Leakage of the execution units: what there would be with all lanes always on, what is left, and what the rest cost.

use crate::component::Component;
use crate::energy::Energy;
use crate::model::PowerModel;
use crate::scaling::Level;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LANE_STATES, LaneResidency, LaneState, Sample};

/// The lanes of one execution-unit type over a run, all SMs together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitPower {
    /// INT, FP or SFU.
    pub component: Component,
    /// Joules by cause.
    pub joules: Energy,
    /// Leakage that the run would have had with all lanes always on, J.
    pub full_leakage: f64,
    /// 1 − (leakage + overhead) / full leakage, over this run's own cycles; `None` if there is none to save.
    pub saved: Option<f64>,
    /// Lane-cycles of the run.
    pub lane_cycles: u64,
    /// Lane-cycles in which an instruction entered the lane; 0 where no policy acts on lanes.
    pub busy: u64,
    /// Lane-cycles by [`LaneState`].
    pub by_state: [u64; LANE_STATES],
    /// Lanes that were power-gated or put to VS0.5 or VS0.3, counted each time.
    pub sleeps: u64,
    /// Of these, power-gated: gating events.
    pub gatings: u64,
    /// Lanes that were woken up, counted each time.
    pub wakes: u64,
    /// Cycles of one lane's full leakage that all of it amounts to: leakage by state, and transitions.
    pub leaked_cycles: f64,
    /// The same in J, each sample's at its own voltage. 1 − this / a baseline's full leakage is what is saved against that
    /// baseline (Origami §4.2).
    #[serde(default)]
    pub leaked: f64,
}

impl PowerModel {
    /// INT, FP and SFU lanes over some samples.
    pub fn unit_power(&self, samples: &[Sample]) -> [UnitPower; 3] {
        [Component::Int, Component::Fp, Component::Sfu].map(|component| {
            let mut unit = UnitPower {
                component,
                joules: Energy::default(),
                full_leakage: 0.0,
                saved: None,
                lane_cycles: 0,
                busy: 0,
                by_state: [0; LANE_STATES],
                sleeps: 0,
                gatings: 0,
                wakes: 0,
                leaked_cycles: 0.0,
                leaked: 0.0,
            };
            for sample in samples {
                let seconds = sample.end.saturating_sub(sample.start) as f64 * 1e-15;
                let watts = self.leakage[component as usize] * self.scaling(Level::from(sample)).core_leakage;
                unit.joules += self.sample(sample).component(component);
                let full = watts * seconds;
                unit.full_leakage += full * sample.sms.len() as f64;
                for sm in &sample.sms {
                    let residencies = self.units(sm).into_iter().filter(|(c, ..)| *c == component);
                    residencies.for_each(|(_, _, residency)| self.add(&mut unit, residency, full));
                }
            }
            let left = unit.joules.leakage + unit.joules.overhead;
            unit.saved = (unit.full_leakage > 0.0).then(|| 1.0 - left / unit.full_leakage);
            unit
        })
    }

    /// Adds the lanes of an SM in a sample; always on they would leak `full` joules.
    fn add(&self, unit: &mut UnitPower, residency: &LaneResidency, full: f64) {
        let all: u64 = residency.cycles.iter().sum();
        let leaked_cycles = self.leaked_cycles(residency);
        unit.lane_cycles += all;
        unit.busy += residency.busy;
        unit.by_state.iter_mut().zip(residency.cycles).for_each(|(sum, cycles)| *sum += cycles);
        unit.sleeps += residency.entries.iter().sum::<u64>();
        unit.gatings += residency.entries[LaneState::Gated as usize];
        unit.wakes += residency.wakes.iter().sum::<u64>();
        unit.leaked_cycles += leaked_cycles;
        unit.leaked += if all == 0 { full } else { full * leaked_cycles / all as f64 };
    }
}
