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
use warpwatt_lab::store::{prepare_file, spare_inputs};

/// Sees that a command's output file can be written, and is none of its inputs.
fn prepare_output<'a>(path: &Path, inputs: impl IntoIterator<Item = &'a String>) -> Result<(), Problem> {
    spare_inputs(path, inputs.into_iter().map(String::as_str), None)?;
    prepare_file(path)
}
