//! A run from request to record: inputs checked and hashed, looked up, simulated with checkpoints, written down.

mod controls;
mod outcome;
mod simulate;

pub use controls::{Controls, Every, Report, Stage};
pub use outcome::Finished;

use crate::checkpoint::Checkpoint;
use crate::power::Model;
use crate::problem::{Outcome, Problem};
use crate::request::{Program, Request, find_gpu, inputs};
use crate::store;
use crate::transcript::Transcript;
use std::path::{Path, PathBuf};
use warpwatt_machine::spec::Spec;

/// A request with everything read, checked and hashed.
pub struct Prepared {
    /// What was asked for.
    pub request: Request,
    /// The program.
    pub program: Program,
    /// The GPU.
    pub spec: Spec,
    /// How power is computed.
    pub model: Model,
    /// Everything that decides the results.
    pub inputs: serde_json::Value,
    /// Its hash.
    pub key: String,
}

/// Reads and checks all that a request names. Every mistake in the input is found here or at the first launch.
pub fn prepare(request: &Request) -> Outcome<Prepared> {
    let spec = find_gpu(&request.gpu, &request.set)?.finish().map_err(Problem::from_spec)?;
    let model = Model::new(&spec, &request.leakage, &request.energies)?;
    let program = Program::load(&request.program)?;
    let (inputs, key) = inputs(request, &program, &spec)?;
    Ok(Prepared { request: request.clone(), program, spec, model, inputs, key })
}

/// Runs a program, or looks it up.
pub fn run(request: &Request, controls: Controls) -> Outcome<Finished> {
    let mut request = request.clone();
    request.absolute_paths();
    let prepared = prepare(&request)?;
    if let Some(directory) = &controls.directory
        && let Some(record) = store::look_up(directory, &prepared.key, controls.force)?
    {
        return Ok(Finished::looked_up(record, directory));
    }
    let (record, host, progress) = simulate::simulate(&prepared, &controls.directory(&prepared), controls, None)?;
    outcome::finish(prepared, record, host, progress)
}

/// Goes on with a run from its last checkpoint.
pub fn resume(directory: &Path, threads: Option<u32>, controls: Controls) -> Outcome<Finished> {
    let checkpoint = Checkpoint::read(directory)?;
    let mut request = checkpoint.request.clone();
    request.threads = threads.unwrap_or(request.threads);
    let prepared = prepare(&request)?;
    if prepared.key != checkpoint.key {
        let message = "the inputs are no longer those that the checkpoint was made with";
        let problem = Problem::input("checkpoint::inputs-changed", message);
        return Err(problem.help("a file or this program has changed since: run it again from the start"));
    }
    let _ = (Transcript::default(), PathBuf::new());
    todo!()
}
