//! From what was simulated to the record, and into the run directory.

use super::{Driven, Finished, Prepared, Simulated};
use crate::checkpoint::Checkpoint;
use crate::problem::{Outcome, Problem};
use crate::record::{FORMAT, LaunchRecord, Record, Verified, named, policies};
use crate::statistics::{Declared, Totals, compute, declared};
use crate::{audit, governor, power, series, store, tables};
use serde_json::json;
use std::path::{Path, PathBuf};
use warpwatt_machine::hooks::Report;
use warpwatt_machine::stats::{Ending, LaunchStats, RunStats};
use warpwatt_power::PowerReport;
use warpwatt_simt::device::DeviceError;

/// What a run without time counts.
const WITHOUT_TIME: [&str; 4] = ["warp_instructions", "thread_instructions", "lanes_per_warp_instruction", "ctas"];

/// Makes the record, writes it if a directory was given, and says what went wrong.
pub(super) fn finish(
    prepared: &Prepared,
    simulated: Simulated,
    given: Option<PathBuf>,
    directory: PathBuf,
    trace: Option<&Path>,
) -> Outcome<Finished> {
    let Simulated { stats, policy, driven, host, resumable } = simulated;
    let mut told = String::new();
    let driven = match driven {
        Ok(driven) => driven,
        // What the host program got wrong shows only when a launch is made.
        Err(DeviceError::Invalid(message)) => return Err(Problem::input("run::invalid", message)),
        Err(DeviceError::Failed(message)) if stats.ending == Ending::Completed => {
            // The machine is fine: the host program gave up.
            Driven { verified: Verified { verified: Some(false), detail: message }, buffers: Vec::new() }
        }
        Err(error) => {
            told = error.to_string();
            Driven { verified: Verified { verified: None, detail: String::new() }, buffers: Vec::new() }
        }
    };
    let mut stats = stats;
    let report = (!prepared.request.functional).then(|| prepared.model.run(&stats));
    // A miscount is never reported as a result, whatever else has happened.
    if let Some(report) = &report
        && let Err(message) = audit(prepared, &stats, report)
    {
        stats.ending = Ending::AuditFailed { message };
    }
    let mut failure = failure(prepared, &stats, told);
    let interrupted = stats.ending == Ending::Interrupted;
    let record = record(prepared, &stats, &policy, report.as_ref(), driven)?;
    if let (Some(path), Some(report), false) = (trace, &report, interrupted) {
        let timeline = crate::trace::trace(&prepared.spec, &stats, report)?;
        failure = failure.or(store::write_whole(path, &timeline).err());
    }
    let mut finished = Finished {
        record,
        host: Some(host),
        failure,
        looked_up: false,
        directory: None,
        resumable: resumable.then(|| directory.clone()),
    };
    if let Some(directory) = given.filter(|_| !interrupted) {
        // What was simulated is told also where it could not be kept.
        match write(&finished, &stats, report.as_ref(), &directory) {
            Ok(()) => finished.directory = Some(directory),
            Err(problem) => finished.failure = finished.failure.or(Some(problem)),
        }
    } else if !interrupted {
        // Checkpoints in a directory of our own have done their duty.
        Checkpoint::remove(&directory);
    }
    Ok(finished)
}

/// All audits: slots and cycles against each other, residencies, energies.
fn audit(prepared: &Prepared, stats: &RunStats, report: &PowerReport) -> Result<(), String> {
    audit::slots(&prepared.spec, stats)?;
    prepared.model.audit(stats, report).map_err(|e| e.to_string())
}

fn record(
    prepared: &Prepared,
    stats: &RunStats,
    policy: &Report,
    report: Option<&PowerReport>,
    driven: Driven,
) -> Outcome<Record> {
    let known = |d: &Declared| !prepared.request.functional || WITHOUT_TIME.contains(&d.name.as_str());
    let values = |totals: &Totals| {
        let values = declared().into_iter().zip(compute(totals, &prepared.spec));
        named(values.filter(|(d, _)| known(d)))
    };
    let joules = |number: usize| {
        let launch = report?.launches.iter().find(|l| l.launch as usize == number)?;
        Some(launch.power.joules.total())
    };
    let launches = stats.launches.iter().enumerate().map(|(number, launch)| LaunchRecord {
        kernel: launch.kernel.clone(),
        grid: launch.grid,
        block: launch.block,
        registers_per_thread: launch.registers_per_thread,
        shared_bytes: launch.shared_bytes,
        ctas_per_sm: launch.ctas_per_sm,
        occupancy_limit: launch.occupancy_limit.clone(),
        start_fs: launch.start,
        end_fs: launch.end,
        joules: joules(number),
        values: values(&Totals::of([launch])),
    });
    Ok(Record {
        format: FORMAT,
        key: prepared.key.clone(),
        inputs: prepared.inputs.clone(),
        ending: stats.ending.clone(),
        verification: driven.verified,
        totals: values(&Totals::of(&stats.launches)),
        power: report.map(|r| power::record(&prepared.model, r, &stats.samples)).transpose()?,
        governor: governor::record(&prepared.spec, stats),
        policies: policies(&prepared.policy, policy),
        histograms: policy.histograms.iter().map(|(name, bins)| (name.clone(), json!(bins))).collect(),
        counts: policy.counts.clone(),
        launches: launches.collect(),
        buffers: driven.buffers,
        printed: stats.printed.clone(),
        statistics: declared().into_iter().filter(known).collect(),
    })
}

/// What ended the run before its time, at its place in the PTX. `told` is what the device said.
fn failure(prepared: &Prepared, stats: &RunStats, told: String) -> Option<Problem> {
    let (code, message, line) = match &stats.ending {
        Ending::Completed => return None,
        Ending::Fault { message, line } => ("run::fault", message.clone(), *line),
        Ending::Deadlock { message } => ("run::deadlock", message.clone(), 0),
        Ending::CycleLimit { .. } => ("run::cycle-limit", told, 0),
        Ending::Interrupted => ("run::interrupted", "the run was interrupted".to_owned(), 0),
        Ending::AuditFailed { message } => ("run::audit", message.clone(), 0),
    };
    let problem = Problem::run(code, message);
    let kernel = stats.launches.last().map(|l: &LaunchStats| l.kernel.as_str()).unwrap_or_default();
    let has = |m: &&crate::job::PtxFile| m.module.functions.iter().any(|f| f.entry && f.name == kernel);
    match prepared.program.modules().iter().rev().find(has) {
        Some(module) if line > 0 => Some(problem.at_line(&module.name, &module.text, line, "here")),
        _ => Some(problem),
    }
}

/// Writes the run directory; `run.json` comes last.
fn write(finished: &Finished, stats: &RunStats, report: Option<&PowerReport>, directory: &Path) -> Outcome<()> {
    if let Some(report) = report {
        store::write_whole(&directory.join(series::LANES), &series::write(&series::spans(&stats.samples))?)?;
        store::write_whole(&directory.join("power.csv"), &tables::power(report)?)?;
    }
    if !stats.decisions.is_empty() {
        store::write_whole(&directory.join(governor::GOVERNOR), &governor::csv(&stats.decisions)?)?;
    }
    store::write_whole(&directory.join("stats.csv"), &tables::stats(&finished.record)?)?;
    store::write_whole(&directory.join(store::HOST), store::to_json(&finished.host)?.as_bytes())?;
    store::write_whole(&directory.join(store::RUN), store::to_json(&finished.record)?.as_bytes())?;
    Checkpoint::remove(directory);
    Ok(())
}
