//! What a governor did: V/f transitions and time at each level for the record, every decision as `governor.csv`.

use crate::problem::{Outcome, Problem};
use serde::{Deserialize, Serialize};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Decision, RunStats};

/// The file of a run directory: a row per decision.
pub const GOVERNOR: &str = "governor.csv";

/// What a governor did in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GovernorRecord {
    /// Decisions made.
    pub decisions: u64,
    /// V/f transitions carried out.
    pub transitions: u64,
    /// Their energy, J: part of the component `other`.
    pub transition_joules: f64,
    /// Time at each pair of levels, in order of first appearance.
    pub levels: Vec<LevelTime>,
    /// The most CTAs that might run on an SM, averaged over SMs and decisions.
    pub mean_cta_limit: Option<f64>,
}

/// Time at a pair of V/f levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelTime {
    /// SM clock, MHz.
    pub core_mhz: f64,
    /// DRAM command clock, MHz.
    pub dram_mhz: f64,
    /// Share of the run's time.
    pub share: f64,
}

/// The record of a run; none if no governor ran and no clock changed.
pub fn record(spec: &Spec, stats: &RunStats) -> Option<GovernorRecord> {
    let transitions: u64 = stats.samples.iter().map(|s| u64::from(s.transitions)).sum();
    let nominal = |s: &warpwatt_machine::activity::Sample| s.core_mhz == spec.core_mhz && s.dram_mhz == spec.dram_mhz;
    if stats.decisions.is_empty() && stats.samples.iter().all(nominal) {
        return None;
    }
    let mut levels: Vec<(f64, f64, u64)> = Vec::new();
    for sample in &stats.samples {
        let time = sample.end.saturating_sub(sample.start);
        match levels.iter_mut().find(|l| l.0 == sample.core_mhz && l.1 == sample.dram_mhz) {
            Some(level) => level.2 += time,
            None => levels.push((sample.core_mhz, sample.dram_mhz, time)),
        }
    }
    let whole = levels.iter().map(|l| l.2).sum::<u64>().max(1) as f64;
    let share =
        |(core_mhz, dram_mhz, time): (f64, f64, u64)| LevelTime { core_mhz, dram_mhz, share: time as f64 / whole };
    let limits = stats.decisions.iter().flat_map(|d| &d.cta_limits);
    let (sum, count) = limits.fold((0.0, 0.0), |(sum, count), limit| (sum + f64::from(*limit), count + 1.0));
    Some(GovernorRecord {
        decisions: stats.decisions.len() as u64,
        transitions,
        transition_joules: transitions as f64 * spec.dvfs.transition_nj * 1e-9,
        levels: levels.into_iter().map(share).collect(),
        mean_cta_limit: (count > 0.0).then(|| sum / count),
    })
}

/// Least, mean and most CTAs that might run on an SM after a decision.
pub fn cta_limits(decision: &Decision) -> Option<(u32, f64, u32)> {
    let limits = &decision.cta_limits;
    let sum: u32 = limits.iter().sum();
    Some((*limits.iter().min()?, f64::from(sum) / limits.len() as f64, *limits.iter().max()?))
}

/// All decisions as CSV. The governor's own reasons are the columns after the common ones, by the first decision's names.
pub fn csv(decisions: &[Decision]) -> Outcome<Vec<u8>> {
    let failed = |e: String| Problem::run("run::encode", format!("cannot write a table: {e}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    let notes = decisions.first().map_or(&[][..], |d| &d.notes);
    let common = ["time_s", "cycle", "launch", "core_mhz", "dram_mhz", "least_ctas", "mean_ctas", "most_ctas"];
    let header = common.into_iter().chain(notes.iter().map(|(name, _)| name.as_str()));
    out.write_record(header).map_err(|e| failed(e.to_string()))?;
    for d in decisions {
        let (least, mean, most) = cta_limits(d).unwrap_or_default();
        let mut row = vec![(d.time as f64 * 1e-15).to_string(), d.cycle.to_string(), d.launch.to_string()];
        row.extend([d.core_mhz.to_string(), d.dram_mhz.to_string()]);
        row.extend([least.to_string(), mean.to_string(), most.to_string()]);
        let value = |name: &str| d.notes.iter().find(|(own, _)| own == name).map(|(_, value)| value.to_string());
        row.extend(notes.iter().map(|(name, _)| value(name).unwrap_or_default()));
        out.write_record(row).map_err(|e| failed(e.to_string()))?;
    }
    out.into_inner().map_err(|e| failed(e.to_string()))
}
