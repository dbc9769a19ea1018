//! Comparing policies: each workload under each policy and under its baseline, in parallel, as one table.
//!
//! A policy is measured against what its paper measures it against ([`warpwatt_policies::Baseline`]) unless the user says
//! otherwise: the same GPU, with the paper's scheduler, without the policy. Baselines run under `always-on`, which changes
//! nothing and counts idle periods. All of a table is on one GPU. Each run has a directory of its own in the store, by its
//! key: what has been run is looked up. An entry may also be a [`Search`]: the best of several runs.

mod figures;
mod plan;
mod pool;
mod search;
mod table;

pub use figures::{COLUMNS, Column, Figures, Line, Mean, Show, Summary, average};
pub use plan::{CompareRequest, Entry, Group, Plan, Run, Scheduler, is_scheduler, two_schedulers};
pub use pool::{Event, Options, Watcher, run};
pub use search::{MOST_LOSS, SEARCHES, Search};
pub use table::csv;

use crate::record::Record;
use crate::series::Span;
use serde::Serialize;
use std::path::PathBuf;

/// A run of a comparison, done.
#[derive(Clone, Debug)]
pub struct Done {
    /// Everything about it.
    pub record: Record,
    /// Lanes over time; empty if its directory does not have them.
    pub spans: Vec<Span>,
    /// Its directory.
    pub directory: PathBuf,
    /// It was there already.
    pub looked_up: bool,
}

/// A run that did not end well: left out of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Workload.
    pub workload: String,
    /// Policy, or the baseline's name.
    pub policy: String,
    /// Why.
    pub message: String,
}

/// A comparison, done.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was compared.
    pub plan: Plan,
    /// The runs, in the plan's order.
    pub runs: Vec<Done>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// The table: by workload, each baseline followed by the policies measured against it.
    pub lines: Vec<Line>,
    /// Over the workloads, the same without workload; none if there is only one.
    pub averages: Vec<Line>,
}

impl Comparison {
    /// The table of runs.
    pub fn new(plan: Plan, runs: Vec<Done>) -> Comparison {
        let failures: Vec<Failure> =
            plan.runs.iter().zip(&runs).filter_map(|(run, done)| failed(&plan, run, done)).collect();
        let (lines, averages) = table::lines(&plan, &runs);
        Comparison { plan, runs, failures, lines, averages }
    }

    /// Lines of a workload.
    pub fn of<'c>(&'c self, workload: &'c str) -> impl Iterator<Item = &'c Line> {
        self.lines.iter().filter(move |line| line.workload == workload)
    }

    /// As data: what was compared, the table, the averages.
    pub fn summary(&self) -> Summary<'_> {
        let gpu = self.runs.first().and_then(|d| d.record.inputs.pointer("/gpu/name")?.as_str());
        Summary {
            gpu: gpu.unwrap_or_default(),
            workloads: &self.plan.workloads,
            columns: COLUMNS.iter().map(|c| (c.key, c.meaning)).collect(),
            lines: &self.lines,
            averages: &self.averages,
            failures: &self.failures,
        }
    }
}

/// Why a run has no place in the table.
fn failed(plan: &Plan, run: &Run, done: &Done) -> Option<Failure> {
    if done.record.exit_code() == 0 && done.record.power.is_some() {
        return None;
    }
    let message = match (&done.record.ending, done.record.verification.verified) {
        (warpwatt_machine::stats::Ending::Completed, _) => {
            format!("wrong results: {}", done.record.verification.detail)
        }
        (ending, _) => describe(ending),
    };
    let policy = plan.name_of(run);
    Some(Failure { workload: plan.workloads[run.workload].clone(), policy, message })
}

fn describe(ending: &warpwatt_machine::stats::Ending) -> String {
    use warpwatt_machine::stats::Ending;
    match ending {
        Ending::Completed => "completed".to_owned(),
        Ending::Fault { message, .. } | Ending::Deadlock { message } | Ending::AuditFailed { message } => {
            message.clone()
        }
        Ending::CycleLimit { cycles } => format!("cycle limit of {cycles} reached"),
        Ending::Interrupted => "interrupted".to_owned(),
    }
}
