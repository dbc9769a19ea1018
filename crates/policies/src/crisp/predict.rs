//! From an interval's counters to the time that it would have taken at another clock.

use serde::{Deserialize, Serialize};

/// How a model divides time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Equation 2: memory time stays, the rest scales.
    Linear,
    /// Equations 3 to 5 towards a lower clock, the form of §5.2 towards a higher one.
    StalledPath,
}

/// What a model's hardware counts, in core cycles of the SM's own activity or in any other unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// All.
    pub all: f64,
    /// T_Memory: for CRISP the adjusted load critical path.
    pub memory: f64,
    /// Load stalls (T_LCP^Stall).
    pub load_stall: f64,
    /// Store stalls (T_CSP^Stall).
    pub store_stall: f64,
}

impl Times {
    /// Computation under the load critical path (T_LCP^Comp).
    pub fn overlapped(&self) -> f64 {
        (self.memory - self.load_stall).max(0.0)
    }

    /// Computation of the compute/store path (T_CSP^Comp).
    pub fn exposed(&self) -> f64 {
        (self.all - self.memory - self.store_stall).max(0.0)
    }

    /// Sum of two.
    pub fn and(&self, other: &Times) -> Times {
        Times {
            all: self.all + other.all,
            memory: self.memory + other.memory,
            load_stall: self.load_stall + other.load_stall,
            store_stall: self.store_stall + other.store_stall,
        }
    }

    /// All times multiplied.
    pub fn scaled(&self, factor: f64) -> Times {
        Times {
            all: self.all * factor,
            memory: self.memory * factor,
            load_stall: self.load_stall * factor,
            store_stall: self.store_stall * factor,
        }
    }

    /// The time at a faster clock (`slower` < 1) if all computation scales, that under the load critical path too.
    pub fn predict_stalls_alone(&self, slower: f64) -> f64 {
        let stalls = self.load_stall + self.store_stall;
        stalls + (self.all - stalls).max(0.0) * slower
    }

    /// The time at a clock that is so many times slower (f₁/f₂; less than 1: faster).
    pub fn predict(&self, form: Form, slower: f64) -> f64 {
        match form {
            Form::Linear => self.memory + (self.all - self.memory).max(0.0) * slower,
            Form::StalledPath if slower >= 1.0 => {
                let loads = self.memory.max(slower * self.overlapped());
                let rest = (self.exposed() + self.store_stall).max(slower * self.exposed());
                loads + rest
            }
            Form::StalledPath => self.memory + self.store_stall + self.exposed() * slower,
        }
    }
}
