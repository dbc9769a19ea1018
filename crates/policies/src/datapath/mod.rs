//! The pipeline's components as datapath policies see them: names, utilization by interval, and what is counted of it over
//! a run.
//!
//! Utilization (µC-States §2.2) is the share of cycles × entries in which a component holds an instruction, blocked ones
//! included. SCH counts instructions issued (footnote 9), IFID groups fetched and decoded. EX_SP and EX_SFU are pipelines:
//! an instruction holds its unit for the initiation interval, the known service time of the utilization law. A unit of
//! collectors, an entry of a register is an entry; so the average is over the width of the component, as the paper says.

mod fixed;

pub use fixed::Fixed;

use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{COMPONENT_NAMES, COMPONENTS};
use warpwatt_machine::hooks::{DatapathQuery, Report};

/// Paths through the pipeline: SP, SFU, LDST.
pub const PATHS: usize = 3;

/// Their names, for counts.
pub const PATH_NAMES: [&str; PATHS] = ["sp", "sfu", "mem"];

/// Fetch and decode.
pub const IFID: usize = 0;
/// Warp schedulers.
pub const SCH: usize = 1;
/// Registers between issue and collectors, by path.
pub const IDOC: [usize; PATHS] = [2, 3, 4];
/// Operand collectors.
pub const OC: [usize; PATHS] = [5, 6, 7];
/// Registers between collectors and execution units.
pub const OCEX: [usize; PATHS] = [8, 9, 10];
/// Execution units.
pub const EX: [usize; PATHS] = [11, 12, 13];

/// Groups of each component when some are tuned down: half of them off.
pub fn tuned(groups: &[u32; COMPONENTS], down: &[bool; COMPONENTS]) -> [u32; COMPONENTS] {
    std::array::from_fn(|c| if down[c] { groups[c].div_ceil(2) } else { groups[c] })
}

/// Response time of EX_LDST by Little's law, J = λ W: warps with instructions outstanding, summed over cycles, and
/// instructions that have entered. `None`: none has.
pub fn response_time(outstanding: u64, entered: u64) -> Option<f64> {
    (entered > 0).then(|| outstanding as f64 / entered as f64)
}

/// What was counted over some intervals of one SM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    cycles: u64,
    busy: [u64; COMPONENTS],
    /// Cycles × entries, and of them in groups that were on.
    capacity: [u64; COMPONENTS],
    on: [u64; COMPONENTS],
    decoded: [u64; PATHS],
    issued: [u64; PATHS],
    entered: u64,
    outstanding: u64,
}

impl Tally {
    /// An interval is over.
    pub fn add(&mut self, query: &DatapathQuery) {
        self.cycles += query.cycles;
        for c in 0..COMPONENTS {
            self.busy[c] += query.busy[c];
            let entries = u64::from(query.entries[c]) * query.cycles;
            self.capacity[c] += entries;
            self.on[c] += entries * u64::from(query.on[c]) / u64::from(query.groups[c].max(1));
        }
        for p in 0..PATHS {
            self.decoded[p] += query.decoded[p];
            self.issued[p] += query.issued[p];
        }
        self.entered += query.entered;
        self.outstanding += query.outstanding;
    }

    /// Adds it to a run's report.
    pub fn report(&self, report: &mut Report) {
        report.add("datapath.cycles", self.cycles);
        for (c, name) in COMPONENT_NAMES.iter().enumerate() {
            report.add(&format!("busy.{name}"), self.busy[c]);
            report.add(&format!("capacity.{name}"), self.capacity[c]);
            report.add(&format!("on.{name}"), self.on[c]);
        }
        for (p, name) in PATH_NAMES.iter().enumerate() {
            report.add(&format!("decoded.{name}"), self.decoded[p]);
            report.add(&format!("issued.{name}"), self.issued[p]);
        }
        report.add("ldst.entered", self.entered);
        report.add("ldst.outstanding", self.outstanding);
    }
}

/// Share of two counts of a report.
pub(crate) fn share(report: &Report, part: &str, whole: &str) -> Option<f64> {
    let whole = report.count(whole);
    (whole > 0).then(|| report.count(part) as f64 / whole as f64)
}

/// Share of a component's groups that were on, over the run's intervals.
pub(crate) fn on(report: &Report, component: &str) -> Option<f64> {
    share(report, &format!("on.{component}"), &format!("capacity.{component}"))
}

/// The response time of EX_LDST over a run.
pub(crate) fn response(report: &Report) -> Option<f64> {
    response_time(report.count("ldst.outstanding"), report.count("ldst.entered"))
}
