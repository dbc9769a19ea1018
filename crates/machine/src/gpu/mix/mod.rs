//! Several applications at once, each on SMs of its own; crossbar, L2 and DRAM are shared (µC-States §5, §7).
//!
//! A host program is synchronous code that calls a [`Device`], so each application's runs in a thread of its own
//! (`host`), with its own modules and device memory. Simulated time passes only while every application either has a
//! launch in progress or has nothing more to do: between two stretches of it the hosts are heard in a fixed order, so
//! that results depend on no thread. A launch begins at the window boundary at which its application's last one was seen
//! to be complete, as on a GPU that runs one application; with one application on all SMs the two are the same.
//!
//! Applications never see each other's data: each has a device memory of its own, and in the L2 and in DRAM equal
//! addresses of different applications are different places ([`MemorySide::set_space`]).
//!
//! *Decision*: the paper does not say what becomes of an application that ends before the others. By default it is begun
//! anew until all have ended once, so that the contention stays ([`Rest::Again`]); what is reported of it is its first
//! run. An application that is begun anew finds nothing of its last run in the L2: its addresses are new ones.
//!
//! Left out: governors (they act on the whole chip), samples at fixed intervals, checkpoints, a switch of SMs from one
//! application to another.
//!
//! [`Device`]: warpwatt_simt::device::Device
//! [`MemorySide::set_space`]: crate::memory::MemorySide::set_space

mod host;
mod run;

use crate::activity::Sample;
use crate::gpu::{Observer, Options};
use crate::hooks::{Policy, Report};
use crate::spec::{Spec, SpecError};
use crate::stats::{Counters, Ending, LaunchStats, RunStats};
use thiserror::Error;
use warpwatt_simt::device::{Device, DeviceError};

/// A host program: run from its beginning on a fresh device. The number counts its runs, from 0.
pub type HostProgram<'a> = Box<dyn FnMut(&mut dyn Device, u32) -> Result<(), DeviceError> + Send + 'a>;

/// One application of a mix.
pub struct Application<'a> {
    /// Its name, for messages.
    pub name: String,
    /// Its SMs.
    pub sms: Vec<u32>,
    /// Its host program.
    pub program: HostProgram<'a>,
}

/// What becomes of an application that ends before the others have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// It is begun anew until all have ended once.
    #[default]
    Again,
    /// Its SMs stay idle.
    Idle,
}

/// What one application did.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationStats {
    /// Its name.
    pub name: String,
    /// Its SMs.
    pub sms: Vec<u32>,
    /// Its launches, those of later runs and one cut short by the end of the mix included. Of the memory side's counters
    /// they have the L2 accesses and misses only; the others are not kept apart ([`MixStats::memory`]).
    pub launches: Vec<LaunchStats>,
    /// How many of them are the first run's.
    pub first: usize,
    /// Runs completed.
    pub runs: u32,
    /// Text that it printed.
    pub printed: Vec<String>,
    /// Issue slots of its SMs after its last launch.
    pub idle_slots: u64,
}

impl ApplicationStats {
    /// The launches of the first run.
    pub fn first_run(&self) -> &[LaunchStats] {
        &self.launches[..self.first]
    }
}

/// What a mix did, from its beginning until every application had ended once.
#[derive(Clone, Debug)]
pub struct MixStats {
    /// The applications, in order.
    pub applications: Vec<ApplicationStats>,
    /// Core cycles.
    pub cycles: u64,
    /// Activity of the whole chip, in time order: cut where a launch ends. A sample's launch is the number of launches that
    /// had ended before, of all applications.
    pub samples: Vec<Sample>,
    /// Counters of the memory side for all applications together.
    pub memory: Counters,
    /// What the policy has counted.
    pub report: Report,
}

impl MixStats {
    /// The whole chip as a run without launches of its own.
    pub fn chip(&self) -> RunStats {
        RunStats {
            ending: Ending::Completed,
            launches: Vec::new(),
            samples: self.samples.clone(),
            decisions: Vec::new(),
            printed: Vec::new(),
        }
    }
}

/// Why a mix gave no results.
#[derive(Debug, Error)]
pub enum MixError {
    /// The GPU's parameters.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The SMs are wrongly divided.
    #[error("{0}")]
    Partition(String),
    /// The policy has a governor.
    #[error(
        "a policy with a governor sets CTA limits and clocks of the whole chip: it cannot run a mix of applications"
    )]
    Governor,
    /// An application's host program gave up, or asked for something that cannot be.
    #[error("{name}: {error}")]
    Host {
        /// The application.
        name: String,
        /// Why.
        error: DeviceError,
    },
    /// A kernel did something illegal.
    #[error("{name}: {message}")]
    Fault {
        /// The application.
        name: String,
        /// What, and where.
        message: String,
        /// The kernel that ran.
        kernel: String,
        /// Line of the PTX text (1-based).
        line: u32,
    },
    /// Nothing can ever happen again in an application.
    #[error("{name}: {message}")]
    Deadlock {
        /// The application.
        name: String,
        /// Who waits for whom.
        message: String,
    },
    /// The limit of cycles was reached.
    #[error("the limit of {cycles} cycles was reached before the end of {}", names.join(", "))]
    CycleLimit {
        /// The limit.
        cycles: u64,
        /// Applications that had not ended once.
        names: Vec<String>,
    },
    /// Stopped from outside.
    #[error("the mix was interrupted")]
    Interrupted,
}

/// Runs a mix until every application has ended once.
pub fn run(
    spec: Spec,
    options: Options,
    policy: &dyn Policy,
    applications: Vec<Application<'_>>,
    rest: Rest,
    observer: Option<Observer>,
) -> Result<MixStats, MixError> {
    check(&spec, &applications)?;
    run::run(spec, options, policy, applications, rest, observer)
}

/// Every application has SMs, which exist and belong to it alone.
fn check(spec: &Spec, applications: &[Application<'_>]) -> Result<(), MixError> {
    let mut owner: Vec<Option<&str>> = vec![None; spec.sms as usize];
    let wrong = |message: String| Err(MixError::Partition(message));
    if applications.is_empty() {
        return wrong("a mix needs an application".to_owned());
    }
    for Application { name, sms, .. } in applications {
        if sms.is_empty() {
            return wrong(format!("{name} has no SM"));
        }
        for &sm in sms {
            let Some(place) = owner.get_mut(sm as usize) else {
                return wrong(format!("{name} is to run on SM {sm}, but {} has SMs 0 to {}", spec.name, spec.sms - 1));
            };
            if let Some(other) = place.replace(name) {
                return wrong(format!("SM {sm} is given to both {other} and {name}"));
            }
        }
    }
    Ok(())
}
