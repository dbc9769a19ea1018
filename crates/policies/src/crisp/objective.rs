//! Which P-state is best (CRISP §4): predicted energy and time of each, and what is to be least.

use crate::policy_choices;

/// What is to be least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Energy × delay.
    Edp,
    /// Energy × delay².
    Ed2p,
    /// Energy, with the time at the highest clock exceeded by at most this share.
    Energy {
        /// The share.
        loss: f64,
    },
}

policy_choices! {
    /// How dynamic energy at another P-state is predicted.
    DynamicEnergy {
        /// Power at that P-state (∝ V²f) times the present time, as CRISP §4 writes it.
        Power = "power",
        /// The same work at that voltage, ∝ V²; the clock tree, which works as long as time passes, at its power there, ∝ V²f,
        /// over the new time.
        Work = "work",
    }
}

/// A P-state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PState {
    /// SM clock.
    pub mhz: f64,
    /// Voltage, relative to nominal.
    pub volts: f64,
}

/// Energy over the interval, joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Dynamic, of the SMs.
    pub sm_dynamic: f64,
    /// Of the clock tree, which has the SMs' clock.
    pub clock: f64,
    /// Static, of the SMs.
    pub sm_static: f64,
    /// Dynamic, of the rest.
    pub rest_dynamic: f64,
    /// Static, of the rest.
    pub rest_static: f64,
}

impl Energies {
    /// The energy that the interval's work would have taken at another P-state, where it takes `longer` times as long:
    /// static power ∝ V over the new time, dynamic energy by `dynamic`, that of the rest unchanged.
    pub fn at(&self, from: PState, to: PState, longer: f64, dynamic: DynamicEnergy) -> f64 {
        let volts = to.volts / from.volts;
        let faster = to.mhz / from.mhz;
        let (work, ticks) = match dynamic {
            DynamicEnergy::Power => (faster, faster),
            DynamicEnergy::Work => (1.0, faster * longer),
        };
        (self.sm_static * volts + self.rest_static) * longer
            + (self.sm_dynamic * work + self.clock * ticks) * volts * volts
            + self.rest_dynamic
    }
}

/// What is predicted of a P-state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// It.
    pub state: PState,
    /// Time, relative to the present P-state's.
    pub time: f64,
    /// Energy, joules.
    pub energy: f64,
}

impl Objective {
    /// The index of the best; of equals the one with the highest clock. `outlooks` go up in clock.
    pub fn best(&self, outlooks: &[Outlook]) -> Option<usize> {
        let fastest = outlooks.last()?.time;
        let cost = |o: &Outlook| match self {
            Objective::Edp => o.energy * o.time,
            Objective::Ed2p => o.energy * o.time * o.time,
            Objective::Energy { loss } if o.time > fastest * (1.0 + loss) => f64::INFINITY,
            Objective::Energy { .. } => o.energy,
        };
        let mut best = outlooks.len() - 1;
        for at in (0..best).rev() {
            if cost(&outlooks[at]) < cost(&outlooks[best]) {
                best = at;
            }
        }
        Some(best)
    }
}
