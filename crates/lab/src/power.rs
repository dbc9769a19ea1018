//! Power and energy in the record.

use serde::{Deserialize, Serialize};
use serde_json::Map;

/// Average, largest and smallest power of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watts {
    /// Energy over time.
    pub average: f64,
    /// Of the sample with the most.
    pub max: f64,
    /// Of the sample with the least.
    pub min: f64,
}

/// A component's energy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentEnergy {
    /// Name.
    pub name: String,
    /// GPUWattch's label.
    pub label: String,
    /// Per SM, or of the chip.
    pub per_sm: bool,
    /// Energy of events, joules.
    pub dynamic_joules: f64,
    /// Leakage and other standing power, joules.
    pub static_joules: f64,
    /// Power over the samples.
    pub watts: Watts,
}

/// What was counted while one pair of V/f levels held: enough to work the energy out again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// SM clock, MHz.
    pub core_mhz: f64,
    /// SM voltage relative to nominal.
    pub core_volts: f64,
    /// NoC and L2 clock, MHz.
    pub noc_mhz: f64,
    /// DRAM command clock, MHz.
    pub dram_mhz: f64,
    /// Memory-domain voltage relative to nominal.
    pub mem_volts: f64,
    /// Time, femtoseconds.
    pub femtoseconds: u64,
    /// Core cycles, summed over SMs.
    pub sm_cycles: u64,
    /// Events of the SMs, by name.
    pub sm_events: Map<String, serde_json::Value>,
    /// Events of the memory side, by name.
    pub mem_events: Map<String, serde_json::Value>,
    /// Lane-cycles of INT, FP and SFU lanes by state, and entries into states.
    pub lanes: Map<String, serde_json::Value>,
    /// Group-cycles of the pipeline components: on, gated, clock-gated, busy.
    pub groups: Map<String, serde_json::Value>,
}

/// Power and energy of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerRecord {
    /// Energy table, leakage split and arithmetic energies that were used.
    pub model: Map<String, serde_json::Value>,
    /// Energy, joules.
    pub joules: f64,
    /// Power.
    pub watts: Watts,
    /// Energy by component.
    pub components: Vec<ComponentEnergy>,
    /// Counts that the energy comes from.
    pub activity: Vec<Activity>,
}
