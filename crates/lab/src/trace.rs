//! A run's timeline for trace viewers (Perfetto, `chrome://tracing`): JSON in the Trace Event Format, in simulated time.
//!
//! Launches are slices. Everything else are counters, a step per sample: watts of the chip and of its components; and of
//! each SM watts, resident warps and CTAs, warp instructions a cycle, and lanes by power state. Warps, CTAs and lanes are
//! averages over the sample; how long a sample is, `--sample-cycles` says. States that the run never enters are left out.
//! Where clocks change or a governor decides there are also, of the chip, clocks and voltages (a sample ends where they
//! change) and the governor's reasons, and of each SM the most CTAs that may run: a step per decision.

use crate::power::STATES;
use crate::problem::{Outcome, Problem};
use serde_json::{Map, Value, json};
use warpwatt_machine::activity::{LANE_STATES, LaneResidency, Sample, SmActivity, SmEvent};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{LaunchStats, RunStats};
use warpwatt_power::report::PowerPoint;
use warpwatt_power::{Component, PowerReport};

/// The chip; SM `i` is process `i` + 1.
const CHIP: usize = 0;

/// The whole file.
pub fn trace(spec: &Spec, stats: &RunStats, power: &PowerReport) -> Outcome<Vec<u8>> {
    let mut events = names(spec);
    events.extend(stats.launches.iter().enumerate().map(launch));
    let shown = Shown::of(&stats.samples);
    let samples = stats.samples.iter().filter(|s| s.end > s.start);
    // The power report leaves samples of no length out, too.
    for (sample, point) in samples.zip(&power.series) {
        chip(&mut events, point);
        for (sm, activity) in sample.sms.iter().enumerate() {
            let ts = microseconds(sample.start);
            events.push(counter(1 + sm, "power", ts, [("W", point.sm_watts(sm))]));
            shown.counters(&mut events, 1 + sm, ts, activity);
        }
    }
    governed(&mut events, spec, stats);
    finish(&mut events, stats);
    let text = |e: &Value| serde_json::to_string(e).map_err(|e| Problem::run("run::encode", e.to_string()));
    let lines = events.iter().map(text).collect::<Outcome<Vec<_>>>()?;
    let head = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"simulated time\"},\"traceEvents\":[\n";
    Ok(format!("{head}{}\n]}}\n", lines.join(",\n")).into_bytes())
}

fn microseconds(femtoseconds: u64) -> f64 {
    femtoseconds as f64 * 1e-9
}

fn names(spec: &Spec) -> Vec<Value> {
    let name = |pid: usize, name: String| {
        let order = json!({ "ph": "M", "name": "process_sort_index", "pid": pid, "args": { "sort_index": pid } });
        [json!({ "ph": "M", "name": "process_name", "pid": pid, "args": { "name": name } }), order]
    };
    let sms = (0..spec.sms as usize).flat_map(|sm| name(1 + sm, format!("SM {sm}")));
    let thread = json!({ "ph": "M", "name": "thread_name", "pid": CHIP, "tid": 0, "args": { "name": "launches" } });
    name(CHIP, spec.name.clone()).into_iter().chain([thread]).chain(sms).collect()
}

fn launch((number, l): (usize, &LaunchStats)) -> Value {
    json!({
        "ph": "X",
        "name": l.kernel,
        "cat": "launch",
        "pid": CHIP,
        "tid": 0,
        "ts": microseconds(l.start),
        "dur": microseconds(l.end.saturating_sub(l.start)),
        "args": {
            "launch": number,
            "grid": l.grid,
            "block": l.block,
            "cycles": l.cycles,
            "warp_instructions": l.counters.warp_instructions,
        },
    })
}

fn counter<'n>(pid: usize, name: &str, ts: f64, values: impl IntoIterator<Item = (&'n str, f64)>) -> Value {
    let args: Map<String, Value> = values.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({ "ph": "C", "name": name, "pid": pid, "ts": ts, "args": args })
}

fn chip(events: &mut Vec<Value>, point: &PowerPoint) {
    let ts = microseconds(point.start);
    events.push(counter(CHIP, "power", ts, [("W", point.watts)]));
    let components = Component::ALL.iter().zip(&point.components).map(|(component, watts)| (component.name(), *watts));
    events.push(counter(CHIP, "power by component", ts, components));
}

/// Lane states that occur, of INT, FP and SFU.
struct Shown([Vec<usize>; 3]);

type Unit = fn(&SmActivity) -> &LaneResidency;
const UNITS: [(&str, Unit); 3] = [("INT lanes", |sm| &sm.int), ("FP lanes", |sm| &sm.fp), ("SFU lanes", |sm| &sm.sfu)];

impl Shown {
    fn of(samples: &[Sample]) -> Shown {
        let occurs =
            |unit: Unit, state: usize| samples.iter().flat_map(|s| &s.sms).any(|sm| unit(sm).cycles[state] > 0);
        Shown(UNITS.map(|(_, unit)| (0..LANE_STATES).filter(|state| occurs(unit, *state)).collect()))
    }

    fn counters(&self, events: &mut Vec<Value>, pid: usize, ts: f64, sm: &SmActivity) {
        let average = |count: u64| if sm.cycles > 0 { count as f64 / sm.cycles as f64 } else { 0.0 };
        let issued = sm.events.get(SmEvent::Issued as usize).copied().unwrap_or(0);
        events.push(counter(pid, "resident warps", ts, [("warps", average(sm.warp_cycles))]));
        events.push(counter(pid, "resident CTAs", ts, [("CTAs", average(sm.cta_cycles))]));
        events.push(counter(pid, "warp instructions a cycle", ts, [("IPC", average(issued))]));
        for ((name, unit), states) in UNITS.iter().zip(&self.0) {
            let cycles = &unit(sm).cycles;
            let lanes = states.iter().map(|state| (STATES[*state], average(cycles[*state])));
            events.push(counter(pid, name, ts, lanes));
        }
    }
}

/// V/f levels and a governor's decisions.
fn governed(events: &mut Vec<Value>, spec: &Spec, stats: &RunStats) {
    let constant = stats.samples.iter().all(|s| s.core_mhz == spec.core_mhz && s.dram_mhz == spec.dram_mhz);
    if stats.decisions.is_empty() && constant {
        return;
    }
    for sample in stats.samples.iter().filter(|s| s.end > s.start) {
        let ts = microseconds(sample.start);
        events.push(counter(CHIP, "clocks", ts, [("SM MHz", sample.core_mhz), ("DRAM MHz", sample.dram_mhz)]));
        events.push(counter(CHIP, "voltages", ts, [("SM", sample.core_volts), ("memory", sample.mem_volts)]));
    }
    for decision in &stats.decisions {
        let ts = microseconds(decision.time);
        let notes = decision.notes.iter().map(|(name, value)| (name.as_str(), *value));
        if !decision.notes.is_empty() {
            events.push(counter(CHIP, "governor", ts, notes));
        }
        for (sm, limit) in decision.cta_limits.iter().enumerate() {
            events.push(counter(1 + sm, "CTA limit", ts, [("CTAs", f64::from(*limit))]));
        }
    }
}

/// All counters drop to zero where the run ends.
fn finish(events: &mut Vec<Value>, stats: &RunStats) {
    let Some(end) = stats.samples.iter().map(|s| s.end).max() else { return };
    let key = |e: &Value| (e["pid"].as_u64(), e["name"].as_str().map(str::to_owned));
    let mut last: Vec<Value> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for event in events.iter().filter(|e| e["ph"] == "C") {
        if seen.insert(key(event)) {
            let mut zero = event.clone();
            zero["ts"] = json!(microseconds(end));
            if let Some(args) = zero["args"].as_object_mut() {
                args.values_mut().for_each(|value| *value = json!(0.0));
            }
            last.push(zero);
        }
    }
    events.extend(last);
}
