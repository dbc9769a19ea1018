//! A run from request to record: inputs checked and hashed, looked up, simulated with checkpoints, written down.

mod controls;
mod finish;
mod functional;
mod timing;

pub use controls::{Controls, Every, Report, Reporter, Stage};

use crate::checkpoint::Checkpoint;
use crate::job::drive::{BufferResult, drive};
use crate::problem::{Outcome, Problem};
use crate::record::{Host, Record, Verified};
use crate::request::{Program, Request, files, find_machine, inputs};
use crate::transcript::{Recorded, Shared, Transcript, lock};
use crate::{power, store};
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use warpwatt_machine::hooks::Report as PolicyReport;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_policies::Selection;
use warpwatt_power::{PowerModel, PowerOptions};
use warpwatt_simt::device::{Device, DeviceError};

/// A request with everything read, checked and hashed.
pub struct Prepared {
    /// What was asked for.
    pub request: Request,
    /// The program.
    pub program: Program,
    /// The GPU.
    pub spec: Spec,
    /// The policies.
    pub policy: Selection,
    /// Its power model.
    pub model: PowerModel,
    /// Everything that decides the results.
    pub inputs: serde_json::Value,
    /// Its hash.
    pub key: String,
}

/// A finished run, or one that stopped.
pub struct Finished {
    /// Everything about it.
    pub record: Record,
    /// How long it took.
    pub host: Option<Host>,
    /// What went wrong, drawn at its place in the PTX.
    pub failure: Option<Problem>,
    /// It was in the run directory already.
    pub looked_up: bool,
    /// Where it was written.
    pub directory: Option<PathBuf>,
    /// Where it can be resumed from.
    pub resumable: Option<PathBuf>,
}

impl Finished {
    /// The record with host timings under the key `host`.
    pub fn with_host(&self) -> Outcome<serde_json::Value> {
        let encode = |e: serde_json::Error| Problem::run("run::encode", e.to_string());
        let mut value = serde_json::to_value(&self.record).map_err(encode)?;
        value["host"] = serde_json::to_value(&self.host).map_err(encode)?;
        value["looked_up"] = json!(self.looked_up);
        Ok(value)
    }
}

/// What a simulation gives, before it is made a record.
pub(crate) struct Simulated {
    stats: RunStats,
    /// What the policies' objects have counted.
    policy: PolicyReport,
    driven: Result<Driven, DeviceError>,
    host: Host,
    /// A checkpoint was written when the run was interrupted.
    resumable: bool,
}

/// What the host program says.
pub(crate) struct Driven {
    pub(crate) verified: Verified,
    buffers: Vec<BufferResult>,
}

/// Reads and checks all that a request names.
pub fn prepare(request: &Request) -> Outcome<Prepared> {
    let program = Program::load(&request.program)?;
    program.check_support()?;
    let (spec, policy) = find_machine(request, &program)?;
    let effect = policy.power();
    let lane_clock_gating = request.power.lane_clock_gating || effect.lane_clock_gating;
    let model = power::model(&spec, PowerOptions { lane_clock_gating, policy: effect, ..request.power })?;
    let (inputs, key) = inputs(request, &program, &spec, &policy)?;
    Ok(Prepared { request: request.clone(), program, spec, policy, model, inputs, key })
}

/// Runs a program, or looks it up.
pub fn run(request: &Request, controls: Controls) -> Outcome<Finished> {
    let mut request = request.clone();
    request.make_absolute()?;
    controls.directory.as_deref().map(store::check_directory).transpose()?;
    let prepared = prepare(&request)?;
    prepared.spare_inputs(&controls)?;
    let _held = hold(controls.directory.as_deref(), &controls)?;
    if let Some(directory) = controls.directory.as_deref().filter(|_| !controls.force) {
        // Another run is refused whatever is asked for; a timeline cannot be looked up.
        let found = store::look_up(directory, &prepared.key)?;
        if let Some(record) = found.filter(|_| controls.trace.is_none()) {
            let (host, directory) = (store::read_host(directory), Some(directory.to_owned()));
            return Ok(Finished { record, host, failure: None, looked_up: true, directory, resumable: None });
        }
        Checkpoint::check_own(directory, &prepared.key)?;
    }
    carry_out(&prepared, None, controls)
}

/// Goes on with a run from its last checkpoint.
pub fn resume(directory: &Path, threads: Option<u32>, mut controls: Controls) -> Outcome<Finished> {
    store::check_directory(directory)?;
    if !directory.exists() {
        let message = format!("there is no directory `{}`", directory.display());
        let problem = Problem::input("checkpoint::no-directory", message);
        return Err(problem.help("`warpwatt run … --out DIR` makes one; a run without --out goes on in runs/"));
    }
    let _held = hold(Some(directory), &controls)?;
    let checkpoint = Checkpoint::read(directory)?;
    let mut request = checkpoint.request.clone();
    request.threads = threads.unwrap_or(request.threads);
    let prepared = prepare(&request)?;
    if prepared.key != checkpoint.key {
        let message = "the inputs are no longer those that the checkpoint was made with";
        let problem = Problem::input("checkpoint::inputs-changed", message);
        return Err(problem.help("a file or this program has changed since: run it again from the start, with --force"));
    }
    controls.directory = Some(directory.to_owned());
    prepared.spare_inputs(&controls)?;
    carry_out(&prepared, Some(checkpoint), controls)
}

/// Keeps other runs out of a run's directory.
fn hold(directory: Option<&Path>, controls: &Controls) -> Outcome<Option<File>> {
    let stop = controls.wait.then_some(&*controls.interrupted);
    directory.map_or(Ok(None), |directory| store::hold_directory(directory, stop))
}

fn carry_out(prepared: &Prepared, from: Option<Checkpoint>, controls: Controls) -> Outcome<Finished> {
    let (given, trace) = (controls.directory.clone(), controls.trace.clone());
    let directory = given.clone().unwrap_or_else(|| prepared.own_directory(Path::new("runs")));
    if given.is_some() || controls.checkpoint_every.is_some() {
        store::prepare_directory(&directory)?;
    }
    // One that was given is held already.
    let _held = hold(Some(&*directory).filter(|d| given.is_none() && d.exists()), &controls)?;
    trace.as_deref().map(store::prepare_file).transpose()?;
    let started = Instant::now();
    let before = from.as_ref().map_or(0.0, |c| c.host_seconds);
    let mut simulated = match prepared.request.functional {
        true => functional::simulate(prepared, controls),
        false => timing::simulate(prepared, from, controls, &directory)?,
    };
    simulated.host.seconds = before + started.elapsed().as_secs_f64();
    finish::finish(prepared, simulated, given, directory, trace.as_deref())
}

impl Prepared {
    /// Refuses outputs in the place of what is read.
    fn spare_inputs(&self, controls: &Controls) -> Outcome<()> {
        let inputs = files([&self.program], self.request.gpu.as_deref());
        store::spare_run(controls.directory.as_deref(), controls.trace.as_deref(), &inputs)
    }

    /// The run's own directory in a store; in `runs` go checkpoints if the user named no directory.
    pub fn own_directory(&self, store: &Path) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = self.program.name().chars().map(plain).collect();
        store.join(format!("{name}-{}", &self.key[..12]))
    }

    /// Runs the host program on a device. `earlier` is what it did before a checkpoint.
    fn drive(
        &self,
        device: &mut dyn Device,
        earlier: Transcript,
        log: &Shared,
        interrupted: &AtomicBool,
    ) -> Result<Driven, DeviceError> {
        host_program(&self.program, &mut Recorded::new(device, earlier, log.clone()), interrupted)
    }
}

/// Runs a program's host side on a device.
pub(crate) fn host_program(
    program: &Program,
    device: &mut dyn Device,
    interrupted: &AtomicBool,
) -> Result<Driven, DeviceError> {
    match program {
        Program::Workload(workload, size, _) => {
            let found = (workload.run)(device, *size)?;
            let verified = Verified { verified: Some(found.verified), detail: found.detail };
            Ok(Driven { verified, buffers: Vec::new() })
        }
        Program::Job(job) => {
            let driven = drive(job, device, interrupted)?;
            let compared = !job.expects.is_empty();
            let detail = match (compared, driven.differences.as_slice()) {
                (false, _) => "no expected output is given".to_owned(),
                (true, []) if job.expects.len() == 1 => "1 expectation holds".to_owned(),
                (true, []) => format!("{} expectations hold", job.expects.len()),
                (true, differences) => differences.join("; "),
            };
            let verified = Verified { verified: compared.then_some(driven.differences.is_empty()), detail };
            Ok(Driven { verified, buffers: driven.buffers })
        }
    }
}

/// Wall time and speeds.
fn host(prepared: &Prepared, stats: &RunStats, log: &Shared, before: f64) -> Host {
    let simulation_seconds = before + lock(log).in_launches.as_secs_f64();
    let sum = |f: fn(&warpwatt_machine::stats::LaunchStats) -> u64| stats.launches.iter().map(f).sum::<u64>();
    let speed = |count: u64| (simulation_seconds > 0.0 && count > 0).then(|| count as f64 / simulation_seconds);
    Host {
        seconds: 0.0,
        simulation_seconds,
        cycles_per_second: speed(sum(|l| l.cycles)),
        warp_instructions_per_second: speed(sum(|l| l.counters.warp_instructions)),
        threads: prepared.request.threads,
        skip: prepared.request.skip,
        sm_cycles: stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.cycles).sum(),
        stepped_sm_cycles: sum(|l| l.stepped_sm_cycles),
    }
}
