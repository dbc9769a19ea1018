//! Activity and residency to joules.
//!
//! A [`PowerModel`] is built from a GPU's description and its energy table (`tables/*.toml`, each
//! figure with its source), and turns the samples that a simulation counted into energy by component, power over
//! time, and AccelWattch's view of the same. It is a pure function of the counts: the machine knows nothing of it.
//!
//! ```
//! use warpwatt_machine::spec::Spec;
//! use warpwatt_power::{PowerModel, PowerOptions};
//!
//! let gpu = Spec::preset("gtx480")?;
//! let model = PowerModel::new(&gpu, PowerOptions::default())?;
//! assert!((model.leakage_watts() - 41.9).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Decisions
//!
//! - **INT and FP energies.** The default, [`Arithmetic::Gpuwattch`], is what the reproduced papers were computed
//!   with. [`Arithmetic::Physical`] takes published 45 nm datapath energies (integer addition 0.1 pJ, multiplication
//!   3.1, single-precision addition 0.9, multiplication 3.7, fused multiply-add both) times one measured-to-datapath
//!   factor. The factor makes the average lane operation equal under both; over the `gtx480` table's mix (39 % integer
//!   operations, 3 % integer multiplications, 30 % FP additions, 17 % fused multiply-adds, 11 % FP multiplications) it
//!   is (0.39 · 86 + 0.03 · 193 + 0.30 · 29.6 + 0.17 · 29.6 + 0.11 · 53) /
//!   (0.39 · 0.1 + 0.03 · 3.1 + 0.30 · 0.9 + 0.17 · 4.6 + 0.11 · 3.7) = 59.07 / 1.591 = 37.1. Divisions and special
//!   functions stay as measured.
//! - **Inactive lanes** of an issued warp cost half an active lane's simple operation, unless
//!   [`PowerOptions::lane_clock_gating`] is on.
//! - **L2 events** are 32-byte sectors and cost a quarter of the table's figure, which stands for a 128-byte access.
//! - **An idle SM** costs its leakage; GPUWattch's 1.59 W for it are not charged on top.
//! - **Leakage of execution units** follows the lanes' states, never the groups of EX_SP or EX_SFU; an audit makes
//!   sure that a gated group's lanes sleep.

pub mod audit;
mod charges;
pub mod component;
pub mod energy;
pub mod error;
mod leakage;
pub mod model;
pub mod options;
pub mod report;
pub mod scaling;
pub mod table;
pub mod units;

pub use audit::residency;
pub use component::{Component, Label};
pub use energy::{Energy, SamplePower};
pub use error::{AuditError, PowerError};
pub use model::{PowerModel, Saving};
pub use options::{Arithmetic, GatingCost, GatingEnergy, LeakageSplit, PolicyPower, PowerOptions};
pub use report::{PowerReport, Summary};
pub use units::UnitPower;
