//! Carries the runs of a comparison out, several at a time; each simulation has one thread.

use super::{Comparison, Done, Plan, Run};
use crate::checkpoint::Checkpoint;
use crate::problem::{Outcome, Problem};
use crate::run::{self, Controls, Finished, Report};
use crate::{series, store};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a watcher is told of a run, by its place among those that are carried out.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// So many runs will be carried out.
    Runs(usize),
    /// A run begins.
    Begins(usize, &'e Run),
    /// It goes on.
    Goes(usize, &'e Report),
    /// It has ended, or was looked up.
    Ends(usize),
}

/// Is told how far all runs are, from several threads.
pub type Watcher = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// How to carry the runs out.
#[derive(Clone)]
pub struct Options {
    /// Simulations at a time.
    pub jobs: usize,
    /// Simulate what is in the store, too.
    pub force: bool,
    /// Set from outside to end with checkpoints.
    pub interrupted: Arc<AtomicBool>,
    /// Is told how far the runs are.
    pub watcher: Watcher,
}

/// Carries all runs out, or looks them up. Runs with the same key are one.
pub fn run(plan: Plan, options: &Options) -> Outcome<Comparison> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut own: Vec<&Run> = Vec::new();
    for run in &plan.runs {
        places.entry(&run.key).or_insert_with(|| {
            own.push(run);
            own.len() - 1
        });
    }
    (options.watcher)(Event::Runs(own.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs.max(1)).build();
    let pool = pool.map_err(|e| Problem::run("compare::threads", format!("cannot start threads: {e}")))?;
    // One at a time from the list: runs differ much in length.
    let work = || own.par_iter().enumerate().with_max_len(1).map(|(at, run)| one(at, run, options)).collect();
    let done: Vec<Outcome<Option<Done>>> = pool.install(work);
    let done: Vec<Option<Done>> = done.into_iter().collect::<Outcome<_>>()?;
    let ended = done.iter().flatten().count();
    if ended < own.len() {
        let message = format!("interrupted: {ended} of {} runs are done", own.len());
        return Err(Problem::run("compare::interrupted", message).help("the same command goes on from here"));
    }
    let all = plan.runs.iter().filter_map(|run| done.get(*places.get(run.key.as_str())?)?.clone()).collect();
    drop(places);
    Ok(Comparison::new(plan, all))
}

/// `None`: interrupted.
fn one(at: usize, run: &Run, options: &Options) -> Outcome<Option<Done>> {
    if options.interrupted.load(Ordering::Relaxed) {
        return Ok(None);
    }
    (options.watcher)(Event::Begins(at, run));
    let watcher = options.watcher.clone();
    let controls = Controls {
        directory: Some(run.directory.clone()),
        force: options.force,
        wait: true,
        interrupted: options.interrupted.clone(),
        report: Box::new(move |report| watcher(Event::Goes(at, report))),
        ..Controls::default()
    };
    let finished = carry_out(run, controls)?;
    (options.watcher)(Event::Ends(at));
    if finished.resumable.is_some() || finished.record.ending == warpwatt_machine::stats::Ending::Interrupted {
        return Ok(None);
    }
    if finished.directory.is_none() {
        // Its results could not be kept.
        finished.failure.map_or(Ok(()), Err)?;
    }
    let spans = series::read(&run.directory).unwrap_or_default();
    let looked_up = finished.looked_up;
    Ok(Some(Done { record: finished.record, spans, directory: run.directory.clone(), looked_up }))
}

/// Looks a run up, goes on with it, or runs it.
fn carry_out(run: &Run, controls: Controls) -> Outcome<Finished> {
    let stopped = || Checkpoint::read(&run.directory).is_ok_and(|checkpoint| checkpoint.key == run.key);
    if !controls.force && !run.directory.join(store::RUN).exists() && stopped() {
        return run::resume(&run.directory, None, controls);
    }
    run::run(&run.request, controls)
}
