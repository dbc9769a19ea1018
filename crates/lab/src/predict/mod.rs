//! Run time at every P-state, predicted from one run at the nominal one, and what is true of it.
//!
//! All models of [`warpwatt_policies::crisp`] watch one run. Each launch is predicted on its own (CRISP §3.6: counters are set
//! to zero when a kernel begins), from counters averaged over the SMs (§4) by the cycles in which each had work. Time in
//! which no SM had work (as far as the busiest SM says) scales with the clock: it is the dispatcher's.

mod page;
mod summary;

pub use page::page;
pub use summary::{Errors, errors, orders};

use crate::problem::{Outcome, Problem};
use crate::record::Record;
use crate::request::{ProgramRequest, Request, each_once};
use crate::run::{self, Controls, Finished, Reporter};
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use warpwatt_machine::spec::{Spec, VfLevel};
use warpwatt_machine::stats::Ending;
use warpwatt_policies::crisp::observer::COUNTERS;
use warpwatt_policies::crisp::predict::Times;
use warpwatt_policies::crisp::{MODELS, form};

/// The GPU that predictions are made for if nobody names one.
pub const DEFAULT_GPU: &str = "gtx480-crisp";

/// What is asked for.
pub struct PredictRequest {
    /// Programs.
    pub programs: Vec<ProgramRequest>,
    /// GPU.
    pub gpu: String,
    /// Settings of the GPU, and of the models.
    pub set: Vec<String>,
    /// Run every P-state too.
    pub verify: bool,
}

/// How to carry it out.
pub struct Options {
    /// Simulations at a time.
    pub jobs: usize,
    /// Simulate what is in the store, too.
    pub force: bool,
    /// Folder of run directories.
    pub store: PathBuf,
    /// Set from outside to end with checkpoints.
    pub interrupted: Arc<AtomicBool>,
    /// Is told how far a run is.
    pub report: Arc<dyn Fn() -> Reporter + Send + Sync>,
}

/// Where the time goes, as shares of it (CRISP Fig. 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Breakdown {
    /// Computation under the load critical path.
    pub overlapped_computation: f64,
    /// Load stalls.
    pub load_stall: f64,
    /// Computation of the compute/store path; time without work on any SM is in it.
    pub exposed_computation: f64,
    /// Store stalls.
    pub store_stall: f64,
}

/// A P-state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct State {
    /// SM clock.
    pub mhz: f64,
    /// Voltage relative to nominal.
    pub volts: f64,
    /// Time of the run there.
    pub seconds: Option<f64>,
    /// Its energy.
    pub joules: Option<f64>,
}

/// What a model says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// Model.
    pub model: &'static str,
    /// T_Memory as a share of the time.
    pub memory: f64,
    /// Seconds at each P-state.
    pub seconds: Vec<f64>,
    /// Relative error at each P-state: predicted over true, less 1; empty without true times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<f64>,
    /// Mean absolute error over the P-states below the nominal one.
    pub mape: Option<f64>,
    /// The largest of them.
    pub max: Option<f64>,
}

/// Which P-state is best, from true runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Oracle {
    /// Least energy × delay: MHz, and the product over the nominal one's.
    pub edp: (f64, f64),
    /// Least energy × delay².
    pub ed2p: (f64, f64),
    /// Least energy with at most 1 % more time.
    pub energy: (f64, f64),
}

/// Predictions of one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// What ran, on what.
    pub title: String,
    /// Program.
    pub program: String,
    /// The run's key.
    pub key: String,
    /// Nominal SM clock.
    pub nominal_mhz: f64,
    /// Time at the nominal clock.
    pub seconds: f64,
    /// Where it goes.
    pub breakdown: Breakdown,
    /// P-states, upwards.
    pub states: Vec<State>,
    /// What the models say.
    pub models: Vec<Predicted>,
    /// The best P-states, if all were run.
    pub oracle: Option<Oracle>,
}

impl Prediction {
    /// P-states below the nominal one: what predictions are judged by.
    pub fn targets(&self) -> impl Iterator<Item = usize> {
        self.states.iter().enumerate().filter(|(_, s)| s.mhz < self.nominal_mhz).map(|(at, _)| at)
    }
}

/// Predicts, and verifies if asked to.
pub fn predict(request: &PredictRequest, options: &Options) -> Outcome<Vec<Prediction>> {
    let one = |program: &ProgramRequest, set: Vec<String>, policy: String| Request {
        program: program.clone(),
        gpu: Some(request.gpu.clone()),
        policy,
        set,
        ..Request::default()
    };
    let (models, of_gpu) = warpwatt_policies::split(&request.set).map_err(|e| Problem::from_policy(&e))?;
    drop(models);
    // One by one from the list: runs differ much in length.
    let mut wanted: Vec<(usize, Option<VfLevel>, Request)> = Vec::new();
    let mut specs: Vec<Spec> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (at, program) in request.programs.iter().enumerate() {
        let nominal = one(program, request.set.clone(), MODELS.join("+"));
        let prepared = run::prepare(&nominal)?;
        names.push(prepared.program.name().to_owned());
        each_once(request.programs.iter().zip(names.iter().map(String::as_str)))?;
        let spec = prepared.spec;
        if spec.dvfs.core_levels.len() < 2 {
            let problem = Problem::input("predict::levels", format!("{} has fewer than two P-states", spec.name));
            return Err(problem.help("give dvfs.core_levels more levels, or take --gpu gtx480-crisp"));
        }
        wanted.push((at, None, nominal));
        for level in levels(&spec).into_iter().filter(|level| request.verify && level.mhz != spec.core_mhz) {
            let mut set = of_gpu.clone();
            set.push(format!("core_mhz={}", level.mhz));
            wanted.push((at, Some(level), one(program, set, String::new())));
        }
        specs.push(spec);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs.max(1)).build();
    let pool = pool.map_err(|e| Problem::run("predict::threads", format!("cannot start threads: {e}")))?;
    let work = || wanted.par_iter().with_max_len(1).map(|(.., request)| carry_out(request, options)).collect();
    let done: Vec<Outcome<Record>> = pool.install(work);
    let done: Vec<Record> = done.into_iter().collect::<Outcome<_>>()?;
    let mut predictions = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        let own = || wanted.iter().zip(&done).filter(move |((program, ..), _)| *program == at);
        let Some(nominal) = own().find(|((_, level, _), _)| level.is_none()).map(|(_, record)| record) else {
            continue;
        };
        let truth: Vec<(f64, &Record)> =
            own().filter_map(|((_, level, _), record)| level.map(|l| (l.mhz, record))).collect();
        predictions.push(analyse(nominal, spec, &truth)?);
    }
    Ok(predictions)
}

/// P-states of the SMs, upwards.
fn levels(spec: &Spec) -> Vec<VfLevel> {
    let mut levels = spec.dvfs.core_levels.clone();
    levels.sort_by(|a, b| a.mhz.total_cmp(&b.mhz));
    levels
}

fn carry_out(request: &Request, options: &Options) -> Outcome<Record> {
    let prepared = run::prepare(request)?;
    let directory = prepared.own_directory(&options.store);
    let controls = Controls {
        directory: Some(directory.clone()),
        force: options.force,
        interrupted: options.interrupted.clone(),
        report: (options.report)(),
        ..Controls::default()
    };
    let Finished { record, failure, resumable, .. } = run::run(request, controls)?;
    if let Some(problem) = failure {
        return Err(problem);
    }
    if resumable.is_some() || record.ending != Ending::Completed || record.verification.verified == Some(false) {
        let message = format!("{}: {:?}, {}", record.title(), record.ending, record.verification.detail);
        return Err(Problem::run("predict::run", message));
    }
    Ok(record)
}

/// A counter of a model, by launch.
fn counter(record: &Record, model: &str, name: &str) -> Outcome<Vec<f64>> {
    let bins = record.histogram(&format!("{model}.{name}"));
    let bins = bins.ok_or_else(|| Problem::input("predict::not-watched", "no model watched the run"))?;
    Ok(bins.into_iter().map(|n| n as f64).collect())
}

/// A launch's times in seconds: the part in which SMs had work, divided as a model does, and the rest.
fn launches(record: &Record, model: &str, mhz: f64) -> Outcome<Vec<(Times, f64)>> {
    let [cycles, memory, load, store] = COUNTERS;
    let counters = [counter(record, model, cycles)?, counter(record, model, memory)?];
    let stalls = [counter(record, model, load)?, counter(record, model, store)?];
    let busiest = counter(record, model, "busiest")?;
    let one = |(at, launch): (usize, &crate::record::LaunchRecord)| {
        let get = |list: &[f64]| list.get(at).copied().unwrap_or(0.0);
        let seconds = launch.end_fs.saturating_sub(launch.start_fs) as f64 * 1e-15;
        let busy = (get(&busiest) / (mhz * 1e6)).min(seconds);
        let sum = Times {
            all: get(&counters[0]),
            memory: get(&counters[1]),
            load_stall: get(&stalls[0]),
            store_stall: get(&stalls[1]),
        };
        let times = if sum.all > 0.0 { sum.scaled(busy / sum.all) } else { Times::default() };
        (times, seconds - times.all)
    };
    Ok(record.launches.iter().enumerate().map(one).collect())
}

/// Predictions from a run that all models have watched; with the records of the other P-states their errors.
pub fn analyse(nominal: &Record, spec: &Spec, truth: &[(f64, &Record)]) -> Outcome<Prediction> {
    let seconds = |record: &Record| record.total("simulated_seconds");
    let joules = |record: &Record| record.power.as_ref().map(|p| p.total.joules.total());
    let state = |level: VfLevel| {
        let here = if level.mhz == spec.core_mhz {
            Some(nominal)
        } else {
            truth.iter().find(|t| t.0 == level.mhz).map(|t| t.1)
        };
        State { mhz: level.mhz, volts: level.volts, seconds: here.and_then(seconds), joules: here.and_then(joules) }
    };
    let states: Vec<State> = levels(spec).into_iter().map(state).collect();
    let models = MODELS.iter().map(|&model| {
        let form = form(model).ok_or_else(|| Problem::input("predict::model", model))?;
        let launches = launches(nominal, model, spec.core_mhz)?;
        let whole: f64 = launches.iter().map(|(times, idle)| times.all + idle).sum();
        let at = |state: &State| {
            let slower = spec.core_mhz / state.mhz;
            launches.iter().map(|(times, idle)| times.predict(form, slower) + idle * slower).sum::<f64>()
        };
        let memory: f64 = launches.iter().map(|(times, _)| times.memory).sum();
        let predicted: Vec<f64> = states.iter().map(at).collect();
        let off = |(state, own): (&State, &f64)| state.seconds.map(|truth| own / truth - 1.0);
        let errors: Option<Vec<f64>> = states.iter().zip(&predicted).map(off).collect();
        let below: Vec<f64> = errors
            .iter()
            .flat_map(|errors| {
                states.iter().zip(errors).filter(|(state, _)| state.mhz < spec.core_mhz).map(|(_, e)| e.abs())
            })
            .collect();
        let n = below.len() as f64;
        Ok(Predicted {
            model,
            memory: memory / whole,
            seconds: predicted,
            errors: errors.unwrap_or_default(),
            mape: (!below.is_empty()).then(|| below.iter().sum::<f64>() / n),
            max: below.iter().copied().reduce(f64::max),
        })
    });
    let models = models.collect::<Outcome<Vec<Predicted>>>()?;
    Ok(Prediction {
        title: nominal.title(),
        program: Path::new(nominal.inputs.pointer("/program/name").and_then(|n| n.as_str()).unwrap_or("program"))
            .display()
            .to_string(),
        key: nominal.key.clone(),
        nominal_mhz: spec.core_mhz,
        seconds: seconds(nominal).unwrap_or(0.0),
        breakdown: breakdown(&launches(nominal, "crisp", spec.core_mhz)?),
        oracle: oracle(&states, spec.core_mhz),
        states,
        models,
    })
}

fn breakdown(launches: &[(Times, f64)]) -> Breakdown {
    let whole: f64 = launches.iter().map(|(times, idle)| times.all + idle).sum();
    let share = |f: &dyn Fn(&(Times, f64)) -> f64| launches.iter().map(f).sum::<f64>() / whole;
    Breakdown {
        overlapped_computation: share(&|l| l.0.overlapped()),
        load_stall: share(&|l| l.0.load_stall),
        exposed_computation: share(&|l| l.0.exposed() + l.1),
        store_stall: share(&|l| l.0.store_stall),
    }
}

/// The best P-states of those that were run; `None` unless all were.
fn oracle(states: &[State], nominal_mhz: f64) -> Option<Oracle> {
    let all: Vec<(f64, f64, f64)> =
        states.iter().map(|s| Some((s.mhz, s.seconds?, s.joules?))).collect::<Option<_>>()?;
    let (_, time, energy) = *all.iter().find(|s| s.0 == nominal_mhz)?;
    let least = |cost: &dyn Fn(f64, f64) -> f64| {
        let costs = all.iter().map(|(mhz, t, e)| (*mhz, cost(t / time, e / energy)));
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((nominal_mhz, 1.0))
    };
    Some(Oracle {
        edp: least(&|t, e| t * e),
        ed2p: least(&|t, e| t * t * e),
        energy: least(&|t, e| if t > 1.01 { f64::INFINITY } else { e }),
    })
}
