//! The published systems, each as a policy: a maker of hook objects for the machine.
//!
//! One module a system; [`registry`] lists them. A system declares its name, paper, hooks, parameters and what it
//! reports ([`System`]); [`Selection`] reads what a user asks for (`origami+crisp`, `origami.phase=400`), refuses what
//! cannot go together, and is itself a [`Policy`](warpwatt_machine::hooks::Policy). Systems that switch lanes share
//! [`lanes`].
//!
//! ```
//! use warpwatt_machine::spec::Spec;
//! use warpwatt_policies::Selection;
//!
//! let gpu = Spec::preset("gtx480")?;
//! let policy = Selection::new("cpg", &["cpg.bet=19"], &gpu)?;
//! assert_eq!(policy.name(), "cpg");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod always_on;
pub mod ccws;
pub mod cpg;
pub mod crisp;
pub mod datapath;
pub mod dyncta;
pub mod equalizer;
pub mod full_width;
pub mod itap;
pub mod lane_clock_gating;
pub mod lanes;
pub mod origami;
pub mod parameters;
pub mod pats;
pub mod permute;
pub mod registry;
pub mod selection;
pub mod shapes;
pub mod static_point;
pub mod steps;
pub mod ucstates;
pub mod warped_gates;

mod error;
mod ones;
mod system;

pub use error::PolicyError;
pub use parameters::Parameter;
pub use selection::{Chosen, Selection, split};
pub use system::{About, Baseline, Built, Definition, HookKind, Metric, Paper, System};
