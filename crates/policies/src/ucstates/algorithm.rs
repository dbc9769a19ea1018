//! Algorithm 1 of µC-States: which components one phase tunes down, from the utilizations of the interval before.
//!
//! The listing is loose where the text is not, and the text decides:
//!
//! - `else tune-up` belongs to the test of the threshold, not to the inner `if not tuned down`: "if it is above the
//!   threshold, all groups are turned on" (§4, first phase).
//! - Phase 2 compares a component with the EX unit of its own path, `U[EX_j]`.
//! - Phase 3 keeps SCH where its utilization by some type is *higher* than that type's EX unit ("if SCH utilization is higher
//!   for at least one of the instruction types"): 0 on both sides is no reason to keep it, though the listing's `<` says so.
//! - No arrivals at EX_LDST are no congestion: it is tuned up.

use crate::datapath::{EX, IDOC, IFID, OC, OCEX, PATHS, SCH, response_time};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::COMPONENTS;
use warpwatt_machine::hooks::DatapathQuery;

/// What an interval is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// EX_SP and EX_SFU with less utilization are tuned down (th_U).
    pub utilization: f64,
    /// SCH may be tuned down below so many times `utilization`.
    pub scheduler: f64,
    /// EX_LDST is tuned down above this response time, cycles (th_RT).
    pub response: f64,
}

/// What the controller has seen of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Utilization of each component.
    pub utilization: [f64; COMPONENTS],
    /// That of SCH by SP, SFU and memory instructions.
    pub scheduler: [f64; PATHS],
    /// Response time of EX_LDST, cycles; `None` if nothing has entered it.
    pub response: Option<f64>,
}

impl Seen {
    /// From an interval's counts. `powered`: utilization of the groups that were on, not of the full width.
    pub fn of(query: &DatapathQuery, powered: bool) -> Seen {
        let width = |c: usize| {
            let on = if powered { f64::from(query.on[c]) / f64::from(query.groups[c].max(1)) } else { 1.0 };
            (f64::from(query.entries[c]) * query.cycles as f64 * on).max(1.0)
        };
        // The width of SCH is instructions: its utilization is warp IPC over the width (footnote 9).
        let issued: u64 = query.issued.iter().sum();
        let busy = |c: usize| if c == SCH { issued } else { query.busy[c] };
        Seen {
            utilization: std::array::from_fn(|c| busy(c) as f64 / width(c)),
            scheduler: std::array::from_fn(|p| query.issued[p] as f64 / width(SCH)),
            response: response_time(query.outstanding, query.entered),
        }
    }
}

/// The phases, in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// EX units.
    #[default]
    Execute,
    /// The rest of the three paths.
    Paths,
    /// SCH and IFID.
    FrontEnd,
}

impl Phase {
    /// The one after it.
    pub fn next(self) -> Phase {
        match self {
            Phase::Execute => Phase::Paths,
            Phase::Paths => Phase::FrontEnd,
            Phase::FrontEnd => Phase::Execute,
        }
    }
}

/// One phase: `down` says which components are tuned down, before and after.
pub fn decide(phase: Phase, seen: &Seen, thresholds: &Thresholds, down: &mut [bool; COMPONENTS]) {
    let u = &seen.utilization;
    match phase {
        Phase::Execute => {
            for ex in [EX[0], EX[1]] {
                down[ex] = u[ex] < thresholds.utilization;
            }
            down[EX[2]] = seen.response.is_some_and(|response| response > thresholds.response);
        }
        Phase::Paths => {
            for stage in [OCEX, OC, IDOC] {
                for (path, component) in stage.into_iter().enumerate() {
                    down[component] = u[component] < u[EX[path]];
                }
            }
        }
        Phase::FrontEnd => {
            let low = u[SCH] < thresholds.scheduler * thresholds.utilization;
            let bottleneck = (0..PATHS).any(|path| seen.scheduler[path] > u[EX[path]]);
            down[SCH] = low && !bottleneck;
            down[IFID] = down[SCH] && u[IFID] < u[SCH];
        }
    }
}
