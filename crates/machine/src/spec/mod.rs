//! A GPU's parameters: what they are, how they are read and checked.
//!
//! Every parameter is declared once (`parameters`): name, unit, meaning, legal range, GPGPU-Sim's name. Presets are
//! TOML files (`gpus/*.toml`); the comment behind a value says where it comes from, and [`Configuration::list`]
//! shows it.
//!
//! ```
//! use warpwatt_machine::spec::Configuration;
//!
//! let mut gpu = Configuration::preset("gtx480")?;
//! gpu.set("l1d.sets=64")?;
//! let spec = gpu.finish()?;
//! assert_eq!(spec.l1d.bytes(), 32 * 1024);
//! # Ok::<(), warpwatt_machine::spec::SpecError>(())
//! ```

mod check;
mod declare;
mod error;
mod levels;
mod occupancy;
mod parameters;
mod presets;
mod read;
mod schema;
mod suggest;
mod value;

pub use check::Rule;
pub use declare::{Declaration, Kind};
pub use error::{Problem, SpecError};
pub use levels::VfLevel;
pub use occupancy::{Limit, Occupancy, occupancy};
pub use parameters::{CacheSpec, DramTiming, DvfsSpec, OpTiming, OpTimings, Scheduler, SetIndex, Spec, VfModel};
pub use presets::{preset_text, presets};
pub use read::{Configuration, Listed, declarations};
pub use schema::schema;
