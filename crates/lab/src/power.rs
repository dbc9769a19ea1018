//! Power and energy in the record: the power crate's report, and the counts that it comes from, so that anybody can
//! work the joules out again from `run.json` alone.

use crate::problem::{Outcome, Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use warpwatt_machine::activity::{COMPONENT_NAMES, LANE_STATES, LaneResidency, LaneState, MemEvent, Sample, SmEvent};
use warpwatt_machine::spec::Spec;
use warpwatt_power::report::KernelPower;
use warpwatt_power::{PowerModel, PowerOptions, PowerReport, Saving, Summary, UnitPower};

/// What was counted while one pair of V/f levels held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Simulated time, femtoseconds.
    pub femtoseconds: u64,
    /// Core cycles, summed over SMs.
    pub sm_cycles: u64,
    /// Changes of a V/f level.
    #[serde(default)]
    pub transitions: u64,
    /// Events of all SMs, by name.
    pub sm_events: Map<String, Value>,
    /// Events of the memory side, by name.
    pub mem_events: Map<String, Value>,
    /// Lane-cycles and entries by state, of INT, FP and SFU lanes.
    pub lanes: Map<String, Value>,
    /// Group-cycles of the pipeline components: on, gated, clock-gated, busy.
    pub groups: Map<String, Value>,
    /// SM-cycles in which half of the register file was clock-gated.
    #[serde(default)]
    pub register_file_halved: u64,
}

/// Power and energy of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerRecord {
    /// Name of the energy table.
    pub table: String,
    /// Options, the V/f model resolved.
    pub options: PowerOptions,
    /// The whole run.
    pub total: Summary,
    /// Lanes of INT, FP and SFU: leakage saved, gating events.
    #[serde(default)]
    pub units: Vec<UnitPower>,
    /// What groups and lanes that slept have saved, by component.
    #[serde(default)]
    pub saved: Vec<Saving>,
    /// By kernel, in order of first launch.
    pub kernels: Vec<KernelPower>,
    /// Counts by V/f level.
    pub activity: Vec<Activity>,
    /// The energy table itself.
    pub energy_table: Value,
}

/// The power model of a GPU.
pub fn model(spec: &Spec, options: PowerOptions) -> Outcome<PowerModel> {
    PowerModel::new(spec, options).map_err(|e| {
        let help = miette::Diagnostic::help(&e).map(|help| help.to_string());
        Problem::input("power::table", e.to_string()).maybe_help(help)
    })
}

/// What a record keeps of a report.
pub fn record(model: &PowerModel, report: &PowerReport, samples: &[Sample]) -> Outcome<PowerRecord> {
    let energy_table = serde_json::to_value(model.table()).map_err(|e| Problem::run("run::encode", e.to_string()))?;
    Ok(PowerRecord {
        table: report.table.clone(),
        options: report.options,
        total: report.total.clone(),
        units: model.unit_power(samples).to_vec(),
        saved: model.savings(samples),
        kernels: report.kernels.clone(),
        activity: activity(samples),
        energy_table,
    })
}

/// Counts of samples, added up by V/f level in order of first appearance.
fn activity(samples: &[Sample]) -> Vec<Activity> {
    let level = |s: &Sample| [s.core_mhz, s.core_volts, s.noc_mhz, s.dram_mhz, s.mem_volts].map(f64::to_bits);
    let mut groups: Vec<(_, Vec<&Sample>)> = Vec::new();
    for sample in samples {
        match groups.iter_mut().find(|(key, _)| *key == level(sample)) {
            Some((_, members)) => members.push(sample),
            None => groups.push((level(sample), vec![sample])),
        }
    }
    groups.iter().filter_map(|(_, samples)| Some(one_level(samples.first()?, samples))).collect()
}

fn one_level(first: &Sample, samples: &[&Sample]) -> Activity {
    let sms = || samples.iter().flat_map(|s| &s.sms);
    let sm_event = |e: &SmEvent| {
        (e.name().to_owned(), json!(sms().map(|sm| sm.events.get(*e as usize).copied().unwrap_or(0)).sum::<u64>()))
    };
    let mem_event = |e: &MemEvent| {
        (e.name().to_owned(), json!(samples.iter().map(|s| s.mem.get(*e as usize).copied().unwrap_or(0)).sum::<u64>()))
    };
    let unit = |f: fn(&warpwatt_machine::activity::SmActivity) -> &LaneResidency| {
        let sum = |g: fn(&LaneResidency) -> &[u64; LANE_STATES], state: usize| -> u64 {
            sms().map(|sm| g(f(sm))[state]).sum()
        };
        let states = |g: fn(&LaneResidency) -> &[u64; LANE_STATES]| -> Map<String, Value> {
            (0..LANE_STATES).map(|state| (STATES[state].to_owned(), json!(sum(g, state)))).collect()
        };
        let busy: u64 = sms().map(|sm| f(sm).busy).sum();
        json!({
            "lane_cycles": states(|r| &r.cycles),
            "entries": states(|r| &r.entries),
            "wakes": states(|r| &r.wakes),
            "busy": busy,
        })
    };
    let group = |(index, name): (usize, &&str)| {
        let sum = |f: fn(&warpwatt_machine::activity::SmActivity, usize) -> u64| -> u64 {
            sms().map(|sm| f(sm, index)).sum()
        };
        let counts = json!({
            "on": sum(|sm, i| sm.component_on[i]),
            "gated": sum(|sm, i| sm.component_gated[i]),
            "clock_gated": sum(|sm, i| sm.component_clock_gated[i]),
            "gatings": sum(|sm, i| sm.component_gatings[i]),
            "busy": sum(|sm, i| sm.component_busy[i]),
        });
        ((*name).to_owned(), counts)
    };
    Activity {
        core_mhz: first.core_mhz,
        core_volts: first.core_volts,
        noc_mhz: first.noc_mhz,
        dram_mhz: first.dram_mhz,
        mem_volts: first.mem_volts,
        femtoseconds: samples.iter().map(|s| s.end.saturating_sub(s.start)).sum(),
        sm_cycles: sms().map(|sm| sm.cycles).sum(),
        transitions: samples.iter().map(|s| u64::from(s.transitions)).sum(),
        sm_events: SmEvent::ALL.iter().map(sm_event).collect(),
        mem_events: MemEvent::ALL.iter().map(mem_event).collect(),
        lanes: [
            ("int".to_owned(), unit(|sm| &sm.int)),
            ("fp".to_owned(), unit(|sm| &sm.fp)),
            ("sfu".to_owned(), unit(|sm| &sm.sfu)),
        ]
        .into_iter()
        .collect(),
        groups: COMPONENT_NAMES.iter().enumerate().map(group).collect(),
        register_file_halved: sms().map(|sm| sm.register_file_halved).sum(),
    }
}

/// Names of the lane states, by index.
pub const STATES: [&str; LANE_STATES] = {
    let mut names = [""; LANE_STATES];
    names[LaneState::On as usize] = "on";
    names[LaneState::IdleDetect as usize] = "idle-detect";
    names[LaneState::Gated as usize] = "gated";
    names[LaneState::Waking as usize] = "waking";
    names[LaneState::Blackout as usize] = "blackout";
    names[LaneState::Vs05 as usize] = "vs05";
    names[LaneState::Vs03 as usize] = "vs03";
    names
};
