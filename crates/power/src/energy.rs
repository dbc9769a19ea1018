//! Joules by cause, and the power of one sample.

use crate::component::{CHIP_COMPONENTS, COMPONENTS, Component, LABELS, SM_COMPONENTS};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign};

/// Joules of a component by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Events, and the constant dynamic terms.
    pub dynamic: f64,
    /// Leakage and DRAM background over time.
    pub leakage: f64,
    /// Falling asleep and waking up; V/f transitions.
    pub overhead: f64,
}

impl Energy {
    /// All of it.
    pub fn total(self) -> f64 {
        self.dynamic + self.leakage + self.overhead
    }
}

impl Add for Energy {
    type Output = Energy;

    fn add(self, other: Energy) -> Energy {
        Energy {
            dynamic: self.dynamic + other.dynamic,
            leakage: self.leakage + other.leakage,
            overhead: self.overhead + other.overhead,
        }
    }
}

impl AddAssign for Energy {
    fn add_assign(&mut self, other: Energy) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Energy {
    fn sum<I: Iterator<Item = Energy>>(all: I) -> Energy {
        all.fold(Energy::default(), Add::add)
    }
}

/// The energy of one sample, by SM and component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplePower {
    /// Start, femtoseconds.
    pub start: u64,
    /// End, femtoseconds.
    pub end: u64,
    /// Kernel launch.
    pub launch: u32,
    /// Each SM's components, in the order of [`Component`].
    pub sms: Vec<[Energy; SM_COMPONENTS]>,
    /// The chip's components, in the order of [`Component`] from [`Component::L2`] on.
    pub chip: [Energy; CHIP_COMPONENTS],
    /// Joules by AccelWattch label, in the order of [`Label`](crate::component::Label).
    pub labels: [f64; LABELS],
}

impl SamplePower {
    /// Length.
    pub fn seconds(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64 * 1e-15
    }

    /// Energy by component, all SMs together.
    pub fn components(&self) -> [Energy; COMPONENTS] {
        let mut all = [Energy::default(); COMPONENTS];
        for sm in &self.sms {
            for (sum, part) in all.iter_mut().zip(sm) {
                *sum += *part;
            }
        }
        for (sum, part) in all[SM_COMPONENTS..].iter_mut().zip(&self.chip) {
            *sum += *part;
        }
        all
    }

    /// One component's energy, all SMs together.
    pub fn component(&self, component: Component) -> Energy {
        self.components()[component as usize]
    }

    /// Energy of the chip.
    pub fn total(&self) -> Energy {
        self.components().into_iter().sum()
    }

    /// Power of the chip; `None` for a sample of no length.
    pub fn watts(&self) -> Option<f64> {
        watts(self.total().total(), self.seconds())
    }
}

/// Joules over seconds, if any time passed.
pub(crate) fn watts(joules: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| joules / seconds)
}
