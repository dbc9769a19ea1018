//! Several applications at once: each on SMs of its own, on chips of one or several kinds of cores, against running
//! alone (µC-States §5 and §7).
//!
//! Weighted speedup is Σ IPC in the mix / IPC alone (§5), alone on the whole GPU. *Decision*: that GPU has big cores only
//! and no policy, whatever cores the mix has, so that mixes on different cores compare: their IPCs are divided by the same
//! numbers. IPC is of an application's first run: launches from the first to the last, over their cycles.

mod cores;
mod places;
mod simulate;

pub use cores::{BIG, Cores, HETERO};
pub use places::{Mapping, Partition, Use, map, parts};

use crate::problem::{Outcome, Problem};
use crate::record::{PolicyRecord, Verified};
use crate::request::{Program, ProgramRequest, Request, find_gpu};
use crate::run::{self, Controls, Report, prepare};
use crate::store;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use warpwatt_machine::gpu::mix::Rest;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::split;
use warpwatt_power::{LeakageSplit, PowerOptions};

/// The paper's machine.
const DEFAULT_GPU: &str = "kepler-big";

/// What a mix is asked for.
#[derive(Clone, Debug)]
pub struct MixRequest {
    /// The applications.
    pub programs: Vec<ProgramRequest>,
    /// A preset's name or a GPU file.
    pub gpu: Option<String>,
    /// `NAME=VALUE` on top of the GPU and of policies' defaults.
    pub set: Vec<String>,
    /// Policies of all SMs, joined by `+`.
    pub policy: String,
    /// Chips to run the mix on, as [`Cores::parse`] reads them.
    pub cores: Vec<String>,
    /// How SMs are divided.
    pub partition: Partition,
    /// Which application gets which part; if absent by affinity on a chip with several kinds of cores.
    pub mapping: Option<Mapping>,
    /// What becomes of an application that ends first.
    pub rest: Rest,
    /// How power is computed.
    pub power: PowerOptions,
    /// End after so many core cycles.
    pub max_cycles: Option<u64>,
    /// Host threads.
    pub threads: u32,
    /// Skip cycles in which nothing happens.
    pub skip: bool,
    /// Folder of run directories: where the runs alone are looked up and written.
    pub store: PathBuf,
    /// Simulate the runs alone, also those in the store.
    pub force: bool,
}

impl Default for MixRequest {
    fn default() -> Self {
        MixRequest {
            programs: Vec::new(),
            gpu: None,
            set: Vec::new(),
            policy: String::new(),
            cores: vec![BIG.to_owned()],
            partition: Partition::default(),
            mapping: None,
            rest: Rest::default(),
            power: PowerOptions { leakage_split: LeakageSplit::Area, ..PowerOptions::default() },
            max_cycles: None,
            threads: 1,
            skip: true,
            store: PathBuf::from("runs"),
            force: false,
        }
    }
}

/// An application by itself on the whole GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// Its name; numbered if it is there twice.
    pub name: String,
    /// Core cycles.
    pub cycles: u64,
    /// Thread instructions per core cycle.
    pub ipc: f64,
    /// What it used of the machine.
    #[serde(rename = "use")]
    pub used: Use,
}

/// An application in a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Its SMs.
    pub sms: Vec<u32>,
    /// Their kinds and how many of each, in order.
    pub cores: Vec<(String, u32)>,
    /// Core cycles of its first run.
    pub cycles: u64,
    /// Thread instructions per core cycle in its first run.
    pub ipc: f64,
    /// The same on the whole GPU alone.
    pub ipc_alone: f64,
    /// One divided by the other: 1 would be undisturbed on all SMs.
    pub speedup: f64,
    /// Runs completed until all applications had ended once.
    pub runs: u32,
    /// Outputs of the first run.
    pub verification: Verified,
    /// Values of the first run by the names of run records; of the memory side only L2 accesses and misses are kept apart
    /// by application.
    pub values: serde_json::Map<String, serde_json::Value>,
}

/// A mix on one chip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixed {
    /// The chip's cores, as asked for.
    pub cores: String,
    /// The applications, in the order asked for.
    pub applications: Vec<Share>,
    /// Σ speedups.
    pub weighted_speedup: f64,
    /// Core cycles until all had ended once.
    pub cycles: u64,
    /// The same in seconds.
    pub seconds: f64,
    /// Average power of the chip, W.
    pub watts: f64,
    /// Its static part, gating overhead included.
    pub static_watts: f64,
    /// Its dynamic part.
    pub dynamic_watts: f64,
    /// DRAM command clocks in which data moved, of all.
    pub dram_use: Option<f64>,
    /// What the policies report, for each kind of core.
    pub policies: Vec<PolicyRecord>,
}

/// Everything about a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixRecord {
    /// The GPU.
    pub gpu: String,
    /// What decides the results.
    pub inputs: serde_json::Value,
    /// The applications alone.
    pub alone: Vec<Alone>,
    /// The mix on each chip.
    pub mixes: Vec<Mixed>,
}

impl MixRecord {
    /// 0 if all outputs are right, else 1.
    pub fn exit_code(&self) -> u8 {
        let mut shares = self.mixes.iter().flat_map(|mix| &mix.applications);
        u8::from(shares.any(|share| share.verification.verified == Some(false)))
    }
}

/// Is told how far a mix is: what runs, and how far that is.
pub type Watcher = Arc<Mutex<dyn FnMut(&Report) + Send>>;

/// Runs the applications alone and then together on each chip.
pub fn mix(request: &MixRequest, interrupted: &Arc<AtomicBool>, watcher: &Watcher) -> Outcome<MixRecord> {
    let programs: Vec<Program> = request.programs.iter().map(Program::load).collect::<Outcome<_>>()?;
    programs.iter().try_for_each(Program::check_support)?;
    if programs.is_empty() {
        return Err(Problem::input("mix::nothing", "a mix needs an application"));
    }
    let (of_policies, of_gpu) = split(&request.set).map_err(|e| Problem::from_policy(&e))?;
    let gpu = request.gpu.as_deref().unwrap_or(DEFAULT_GPU);
    let spec = find_gpu(gpu, &of_gpu)?.finish().map_err(Problem::from_spec)?;
    let chip = |text: &String| Cores::parse(text, &request.policy, &of_policies, &spec);
    let chips: Vec<Cores> = request.cores.iter().map(chip).collect::<Outcome<_>>()?;
    cores::check_settings(&request.set, &chips)?;
    let parts: Vec<Vec<Vec<u32>>> =
        chips.iter().map(|c| parts(&request.partition, programs.len(), c, spec.sms)).collect::<Outcome<_>>()?;
    let names = names(&programs);
    let alone = request
        .programs
        .iter()
        .zip(&names)
        .map(|(program, name)| alone(request, (program, name), (gpu, &of_gpu), interrupted, watcher));
    let alone: Vec<Alone> = alone.collect::<Outcome<_>>()?;
    let uses: Vec<Use> = alone.iter().map(|a| a.used).collect();
    let mut mixes = Vec::new();
    for (cores, parts) in chips.iter().zip(&parts) {
        let by_default = if cores.kinds().count() > 1 { Mapping::Affinity } else { Mapping::Order };
        let places = map(request.mapping.unwrap_or(by_default), parts, cores, &uses);
        let sms: Vec<&[u32]> = places.iter().map(|place| parts[*place].as_slice()).collect();
        let job = simulate::Job { request, spec: &spec, cores, programs: &programs, alone: &alone, sms: &sms };
        mixes.push(job.run(interrupted, watcher)?);
    }
    Ok(MixRecord { gpu: spec.name.clone(), inputs: inputs(request, &spec, &programs, &chips), alone, mixes })
}

/// Names of the applications, numbered where one is there twice.
fn names(programs: &[Program]) -> Vec<String> {
    let same = |name: &str| programs.iter().filter(|p| p.name() == name).count();
    let number = |at: usize, name: &str| programs[..=at].iter().filter(|p| p.name() == name).count();
    let name = |(at, p): (usize, &Program)| match same(p.name()) {
        1 => p.name().to_owned(),
        _ => format!("{} {}", p.name(), number(at, p.name())),
    };
    programs.iter().enumerate().map(name).collect()
}

/// Runs an application on the whole GPU, or looks that run up.
fn alone(
    asked: &MixRequest,
    (program, name): (&ProgramRequest, &str),
    (gpu, set): (&str, &[String]),
    interrupted: &Arc<AtomicBool>,
    watcher: &Watcher,
) -> Outcome<Alone> {
    let request = Request {
        program: program.clone(),
        gpu: Some(gpu.to_owned()),
        set: set.to_vec(),
        power: asked.power,
        threads: asked.threads,
        skip: asked.skip,
        max_cycles: asked.max_cycles,
        ..Request::default()
    };
    store::check_directory(&asked.store)?;
    let directory = prepare(&request)?.own_directory(&asked.store);
    let (watcher, title) = (watcher.clone(), format!("{name} alone"));
    let controls = Controls {
        directory: Some(directory),
        force: asked.force,
        interrupted: interrupted.clone(),
        report: Box::new(move |report| tell(&watcher, &Report { kernel: title.clone(), ..report.clone() })),
        ..Controls::default()
    };
    let finished = run::run(&request, controls)?;
    if let Some(failure) = finished.failure {
        return Err(failure);
    }
    let record = finished.record;
    if record.verification.verified == Some(false) {
        let message = format!("{name} alone has wrong results: {}", record.verification.detail);
        return Err(Problem::run("mix::wrong-results", message));
    }
    let (Some(ipc), Some(cycles)) = (record.total("thread_ipc"), record.total("cycles")) else {
        return Err(Problem::input("mix::idle", format!("{name} launches nothing")));
    };
    Ok(Alone { name: name.to_owned(), cycles: cycles as u64, ipc, used: Use::of(&record) })
}

fn tell(watcher: &Watcher, report: &Report) {
    (watcher.lock().unwrap_or_else(PoisonError::into_inner))(report);
}

/// What decides the results.
fn inputs(request: &MixRequest, spec: &Spec, programs: &[Program], chips: &[Cores]) -> serde_json::Value {
    let kinds = |c: &Cores| c.kinds().map(|(name, count)| json!({ "kind": name, "sms": count })).collect::<Vec<_>>();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": env!("WARPWATT_SOURCE"),
        "programs": programs.iter().map(Program::inputs).collect::<Vec<_>>(),
        "gpu": spec,
        "set": request.set,
        "policy": request.policy,
        "chips": chips.iter().map(kinds).collect::<Vec<_>>(),
        "power": request.power,
        "restart": request.rest == Rest::Again,
        "max_cycles": request.max_cycles,
    })
}
