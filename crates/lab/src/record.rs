//! The record of a run: what went in and what came out, as `run.json` has it. Host timings are apart ([`Host`]): two
//! runs with the same inputs have records that are equal byte for byte.

use crate::governor::GovernorRecord;
use crate::job::drive::BufferResult;
use crate::power::PowerRecord;
use crate::statistics::{Declared, Value};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::collections::BTreeMap;
use warpwatt_machine::hooks::Report;
use warpwatt_machine::stats::Ending;
use warpwatt_policies::{Chosen, Metric, Selection};

/// The format's number, raised when a reader must know of a change.
pub const FORMAT: u32 = 1;

/// Whether the outputs are right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// `null`: there was nothing to compare with, or the run did not end.
    pub verified: Option<bool>,
    /// What was compared, or what is wrong.
    pub detail: String,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Kernel.
    pub kernel: String,
    /// Grid.
    pub grid: [u32; 3],
    /// Block.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per CTA, bytes.
    pub shared_bytes: u32,
    /// CTAs that fit an SM.
    pub ctas_per_sm: u32,
    /// What limits them.
    pub occupancy_limit: String,
    /// Start, femtoseconds of simulated time.
    pub start_fs: u64,
    /// End.
    pub end_fs: u64,
    /// Energy, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
    /// Values by the names in `statistics`.
    pub values: Map<String, serde_json::Value>,
}

/// What a policy reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Policy.
    pub name: String,
    /// Its metrics.
    pub metrics: Vec<MetricRecord>,
}

/// A policy's own result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricRecord {
    /// Name.
    pub name: String,
    /// Value; `null` if it is not available.
    pub value: Option<f64>,
    /// Unit; `1` for a share.
    pub unit: String,
    /// What it says.
    pub meaning: String,
}

/// What the policies of a run report.
pub fn policies(selection: &Selection, report: &Report) -> Vec<PolicyRecord> {
    let metric = |(m, value): (&Metric, Option<f64>)| MetricRecord {
        name: m.name.to_owned(),
        value,
        unit: m.unit.to_owned(),
        meaning: m.meaning.to_owned(),
    };
    let one = |chosen: &Chosen| PolicyRecord {
        name: chosen.definition.about.name.to_owned(),
        metrics: chosen.metrics(report).map(metric).collect(),
    };
    selection.chosen().iter().map(one).collect()
}

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// Hash of `inputs`.
    pub key: String,
    /// Everything that decides the results.
    pub inputs: serde_json::Value,
    /// How the run ended.
    pub ending: Ending,
    /// Whether the outputs are right.
    pub verification: Verified,
    /// Values of the whole run by the names in `statistics`.
    pub totals: Map<String, serde_json::Value>,
    /// Power and energy; absent from functional runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerRecord>,
    /// What a governor did; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<GovernorRecord>,
    /// What the run's policies report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyRecord>,
    /// Histograms that they have counted, by name: how many of each value, the last for all above.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub histograms: Map<String, serde_json::Value>,
    /// What they have counted besides, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// The launches.
    pub launches: Vec<LaunchRecord>,
    /// Buffers of a launch description at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferResult>,
    /// Text printed by kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// What the values mean.
    pub statistics: Vec<Declared>,
}

impl Record {
    /// A value of the whole run.
    pub fn total(&self, name: &str) -> Option<f64> {
        self.totals.get(name)?.as_f64()
    }

    /// A histogram that a policy has counted.
    pub fn histogram(&self, name: &str) -> Option<Vec<u64>> {
        self.histograms.get(name)?.as_array()?.iter().map(|bin| bin.as_u64()).collect()
    }

    /// What ran, on what.
    pub fn title(&self) -> String {
        let text = |pointer: &str| self.inputs.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default();
        let size = text("/program/size");
        let size = if size.is_empty() { String::new() } else { format!(" ({size})") };
        let gpu = text("/gpu/name");
        let gpu = if gpu.is_empty() { "functional".to_owned() } else { format!("on {gpu}") };
        let policy = text("/policy/name");
        let policy = if policy.is_empty() { String::new() } else { format!(" under {policy}") };
        format!("{}{size} {gpu}{policy}", text("/program/name"))
    }

    /// 0 if the run ended well and its outputs are not wrong, else 1.
    pub fn exit_code(&self) -> u8 {
        let fine = self.ending == Ending::Completed && self.verification.verified != Some(false);
        if fine { 0 } else { 1 }
    }
}

/// Values by name, in the order given.
pub fn named(values: impl Iterator<Item = (Declared, Value)>) -> Map<String, serde_json::Value> {
    let json = |value: Value| serde_json::to_value(value).unwrap_or(serde_json::Value::Null);
    values.map(|(declared, value)| (declared.name, json(value))).collect()
}

/// How long the simulation took on the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Wall seconds, of all parts if the run was resumed.
    pub seconds: f64,
    /// Of them, spent in launches.
    pub simulation_seconds: f64,
    /// Simulated core cycles per wall second in launches.
    pub cycles_per_second: Option<f64>,
    /// Warp instructions per wall second in launches.
    pub warp_instructions_per_second: Option<f64>,
    /// Host threads.
    pub threads: u32,
    /// Whether cycles in which nothing can happen were skipped.
    pub skip: bool,
    /// SM-cycles that were simulated: over all SMs, cycles of the launches.
    pub sm_cycles: u64,
    /// Those of them that were stepped one by one: all with skipping off.
    pub stepped_sm_cycles: u64,
}
