//! `schema`: JSON schemas for editors.

use crate::args::{SchemaArgs, SchemaOf};
use crate::output::data;
use warpwatt_lab::job::file::JobFile;
use warpwatt_lab::problem::Problem;
use warpwatt_lab::store::to_json;

/// Prints a schema.
pub fn schema(args: SchemaArgs) -> Result<u8, Problem> {
    let text = match args.of {
        SchemaOf::Job => to_json(&schemars::schema_for!(JobFile))?,
        SchemaOf::Gpu => to_json(&warpwatt_machine::spec::schema())?,
    };
    data(&text)?;
    Ok(0)
}
