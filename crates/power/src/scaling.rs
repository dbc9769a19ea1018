//! How power follows voltage and frequency.
//!
//! | model | dynamic | leakage |
//! | --- | --- | --- |
//! | CRISP §4 | ∝ V²f | ∝ V of its domain |
//! | Equalizer §V-A | ∝ V²f | does not change with the SM level, nor (here) with the memory level |
//!
//! An event costs ∝ V² in both; its rate brings the f. In both, DRAM background follows current times voltage
//! (Equalizer §V-A), and what is neither SM nor memory stays as it is.

use crate::table::DramBackground;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::Sample;
use warpwatt_machine::spec::VfModel;

/// Factors on nominal figures in one sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// On the energy of SM events.
    pub core_event: f64,
    /// On the energy of memory-domain events.
    pub mem_event: f64,
    /// On the leakage of SMs.
    pub core_leakage: f64,
    /// On the leakage of L2, crossbar and memory controllers.
    pub mem_leakage: f64,
    /// On DRAM background, relative to the table's data rate.
    pub dram_background: f64,
    /// On the clock floor, relative to the table's clock.
    pub clock: f64,
    /// On the memory controllers' constant power, relative to the table's clock.
    pub controllers: f64,
}

/// Clocks and relative voltages of both domains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// SM clock, MHz.
    pub core_mhz: f64,
    /// SM voltage relative to nominal.
    pub core_volts: f64,
    /// DRAM command clock, MHz.
    pub dram_mhz: f64,
    /// Memory voltage relative to nominal.
    pub mem_volts: f64,
}

impl From<&Sample> for Level {
    fn from(sample: &Sample) -> Level {
        Level {
            core_mhz: sample.core_mhz,
            core_volts: sample.core_volts,
            dram_mhz: sample.dram_mhz,
            mem_volts: sample.mem_volts,
        }
    }
}

impl DramBackground {
    /// Precharge-standby current of one chip at `gbps` a pin, mA.
    pub fn milliamperes(&self, gbps: f64) -> f64 {
        self.base_ma + self.slope_ma * (gbps - self.rate_gbps)
    }

    /// Background power of all chips at `gbps` a pin and nominal voltage, W.
    pub fn watts(&self, gbps: f64) -> f64 {
        self.milliamperes(gbps) * 1e-3 * self.volts * self.chips
    }
}

/// The factors of a level, on figures that hold at `reference`.
pub fn scaling(
    model: VfModel,
    level: Level,
    reference: Level,
    beats_per_clock: u32,
    background: &DramBackground,
) -> Scaling {
    let gbps = |mhz: f64| mhz * f64::from(beats_per_clock) * 1e-3;
    let current = background.milliamperes(gbps(level.dram_mhz)) / background.milliamperes(gbps(reference.dram_mhz));
    let core_event = level.core_volts * level.core_volts;
    let mem_event = level.mem_volts * level.mem_volts;
    let (core_leakage, mem_leakage) = match model {
        VfModel::Crisp => (level.core_volts, level.mem_volts),
        VfModel::Equalizer => (1.0, 1.0),
    };
    Scaling {
        core_event,
        mem_event,
        core_leakage,
        mem_leakage,
        dram_background: current.max(0.0) * level.mem_volts,
        clock: core_event * level.core_mhz / reference.core_mhz,
        controllers: mem_event * level.dram_mhz / reference.dram_mhz,
    }
}
