//! One file a command (or two that belong together).

pub mod bottleneck;
pub mod check;
pub mod compare;
pub mod gpu;
pub mod idle;
pub mod list;
pub mod mix;
pub mod policies;
pub mod predict;
pub mod run;
pub mod schema;

use std::path::Path;
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::{Program, ProgramRequest, files};
use warpwatt_lab::store::{prepare_file, spare_inputs};

/// Sees that a command's output file can be written, and is none of the files that are read.
fn prepare_output(path: &Path, programs: &[ProgramRequest], gpu: Option<&str>) -> Result<(), Problem> {
    spare_inputs(path, &files(&load(programs)?, gpu))?;
    prepare_file(path)
}

fn load(programs: &[ProgramRequest]) -> Result<Vec<Program>, Problem> {
    programs.iter().map(Program::load).collect()
}
