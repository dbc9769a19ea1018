//! Low, normal and high: the V/f levels of a GPU on which governors with three steps work.

use warpwatt_machine::spec::{Spec, VfLevel};

/// The clocks of a domain's three steps, MHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// The level below the nominal one; the nominal one if there is none.
    pub low: f64,
    /// The nominal level.
    pub normal: f64,
    /// The level above the nominal one; the nominal one if there is none.
    pub high: f64,
}

impl Steps {
    /// Around a nominal clock.
    fn around(nominal: f64, levels: &[VfLevel]) -> Steps {
        let below = levels.iter().rev().find(|l| l.mhz < nominal).map_or(nominal, |l| l.mhz);
        let above = levels.iter().find(|l| l.mhz > nominal).map_or(nominal, |l| l.mhz);
        Steps { low: below, normal: nominal, high: above }
    }

    /// Of a GPU's SM domain.
    pub fn of_sms(spec: &Spec) -> Steps {
        Steps::around(spec.core_mhz, &spec.dvfs.core_levels)
    }

    /// Of its memory domain, as DRAM command clocks.
    pub fn of_memory(spec: &Spec) -> Steps {
        Steps::around(spec.dram_mhz, &spec.dvfs.mem_levels)
    }

    /// The clock of a step: −1, 0 or 1.
    pub fn clock(&self, step: i32) -> f64 {
        match step.signum() {
            -1 => self.low,
            1 => self.high,
            _ => self.normal,
        }
    }

    /// The step of a clock.
    pub fn step(&self, mhz: f64) -> i32 {
        if mhz < self.normal { -1 } else { i32::from(mhz > self.normal) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equalizers_steps_are_15_percent() {
        let spec = Spec::preset("gtx480-equalizer").unwrap();
        assert_eq!(Steps::of_sms(&spec), Steps { low: 595.0, normal: 700.0, high: 805.0 });
        let memory = Steps::of_memory(&spec);
        assert_eq!(memory, Steps { low: 785.4, normal: 924.0, high: 1062.6 });
        assert_eq!([-1, 0, 1].map(|s| memory.step(memory.clock(s))), [-1, 0, 1]);
    }

    #[test]
    fn a_step_that_a_gpu_lacks_is_the_nominal_one() {
        let spec = Spec::preset("gtx480").unwrap();
        assert_eq!(Steps::of_sms(&spec), Steps { low: 600.0, normal: 700.0, high: 700.0 });
        assert_eq!(Steps::of_memory(&spec), Steps { low: 924.0, normal: 924.0, high: 924.0 });
    }
}
