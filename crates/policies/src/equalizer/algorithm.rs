//! What an SM decides at the end of an epoch (Algorithm 1, §III-B), and what this asks of the clocks (Table I).

use crate::policy_choices;
use warpwatt_machine::hooks::WarpSums;

/// Which frequency change a kernel calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `CompAction`: the kernel is compute-intensive, or inclined to be.
    Compute,
    /// `MemAction`: it is memory-intensive or cache-sensitive, or inclined to be.
    Memory,
}

/// Which of Algorithm 1's lines made the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Line 7: definitely memory-intensive.
    Memory,
    /// Line 10: definitely compute-intensive.
    Compute,
    /// Line 12: likely memory-intensive.
    Bandwidth,
    /// Line 16: unsaturated, inclined to compute.
    InclinedCompute,
    /// Line 18: unsaturated, inclined to memory.
    InclinedMemory,
    /// Line 21: the SM has no work.
    Idle,
    /// No line: degenerate, nothing changes.
    Degenerate,
}

/// All kinds, in order, with their names.
pub const KINDS: [(Kind, &str); 7] = [
    (Kind::Memory, "memory"),
    (Kind::Compute, "compute"),
    (Kind::Bandwidth, "bandwidth"),
    (Kind::InclinedCompute, "inclined_compute"),
    (Kind::InclinedMemory, "inclined_memory"),
    (Kind::Idle, "idle"),
    (Kind::Degenerate, "degenerate"),
];

/// Algorithm 1 on an epoch's samples of one SM; the comparisons are of averages over the samples. `w_cta`: warps of a
/// CTA; `saturated`: warps in X_mem above which the bandwidth is taken to be saturated (2, line 12).
pub fn decide(sums: &WarpSums, w_cta: u32, saturated: f64) -> Kind {
    let n = sums.samples.max(1) as f64;
    let average = |sum: u64| sum as f64 / n;
    let (mem, alu) = (average(sums.excess_mem), average(sums.excess_alu));
    let (waiting, active) = (average(sums.waiting), average(sums.active));
    if mem > f64::from(w_cta) {
        Kind::Memory
    } else if alu > f64::from(w_cta) {
        Kind::Compute
    } else if mem > saturated {
        Kind::Bandwidth
    } else if waiting > active / 2.0 {
        if alu > mem { Kind::InclinedCompute } else { Kind::InclinedMemory }
    } else if active == 0.0 {
        Kind::Idle
    } else {
        Kind::Degenerate
    }
}

impl Kind {
    /// One CTA less (line 8), one more (line 15), or as many.
    pub fn blocks(self) -> i32 {
        match self {
            Kind::Memory => -1,
            Kind::InclinedCompute | Kind::InclinedMemory => 1,
            _ => 0,
        }
    }

    /// The frequency change (lines 9, 11, 13, 17, 19, 22).
    pub fn action(self) -> Option<Action> {
        match self {
            Kind::Memory | Kind::Bandwidth | Kind::InclinedMemory => Some(Action::Memory),
            Kind::Compute | Kind::InclinedCompute | Kind::Idle => Some(Action::Compute),
            Kind::Degenerate => None,
        }
    }
}

/// What Equalizer is to achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Throttle what is not the bottleneck.
    Energy,
    /// Boost the bottleneck.
    Performance,
}

/// What an SM asks of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// One step down.
    Decrease,
    /// "Maintain" of Table I.
    Maintain,
    /// One step up.
    Increase,
}

/// Table I: what an action asks of the SM domain and of the memory domain.
///
/// *Correction*: for memory-intensive kernels under the energy objective the table prints "Decrease" for both; the text
/// (§II-A, §III-B, §V-B) throttles the SMs and never the bottleneck, so memory is maintained.
pub fn requests(objective: Objective, action: Action) -> [Request; 2] {
    match (objective, action) {
        (Objective::Energy, Action::Compute) => [Request::Maintain, Request::Decrease],
        (Objective::Energy, Action::Memory) => [Request::Decrease, Request::Maintain],
        (Objective::Performance, Action::Compute) => [Request::Increase, Request::Maintain],
        (Objective::Performance, Action::Memory) => [Request::Maintain, Request::Increase],
    }
}

/// The request of a strict majority of all `voters`, if one has it. `votes`: how many ask for a decrease, to maintain, for
/// an increase.
pub fn majority(votes: [u32; 3], voters: u32) -> Option<Request> {
    let all = [Request::Decrease, Request::Maintain, Request::Increase];
    all.into_iter().zip(votes).find(|(_, count)| 2 * count > voters).map(|(request, _)| request)
}

policy_choices! {
    /// What Table I's "maintain" does to a domain that is not at its normal level.
    Maintain {
        /// One step towards normal.
        Normal = "normal",
        /// Nothing.
        Hold = "hold",
    }
}

/// The step (−1 low, 0 normal, 1 high) that follows a step and a decision: never more than one away.
pub fn next_step(step: i32, decision: Option<Request>, maintain: Maintain) -> i32 {
    match decision {
        Some(Request::Increase) => (step + 1).min(1),
        Some(Request::Decrease) => (step - 1).max(-1),
        Some(Request::Maintain) if maintain == Maintain::Normal => step - step.signum(),
        Some(Request::Maintain) | None => step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of 32 samples from averages in 32nds of a warp.
    fn sums(active: u64, waiting: u64, excess_alu: u64, excess_mem: u64) -> WarpSums {
        WarpSums { samples: 32, active, waiting, excess_alu, excess_mem }
    }

    fn of(active: u64, waiting: u64, alu: u64, mem: u64) -> Kind {
        decide(&sums(active, waiting, alu, mem), 8, 2.0)
    }

    #[test]
    fn algorithm_1_line_by_line() {
        const W: u64 = 32; // one warp on average
        // Line 7: nMem > W_cta, strictly, whatever else there is.
        assert_eq!(of(48 * W, 20 * W, 20 * W, 8 * W + 1), Kind::Memory);
        assert_ne!(of(48 * W, 20 * W, 0, 8 * W), Kind::Memory);
        // Line 10: nALU > W_cta, if nMem is not.
        assert_eq!(of(48 * W, 20 * W, 8 * W + 1, 8 * W), Kind::Compute);
        assert_ne!(of(48 * W, 20 * W, 8 * W, 0), Kind::Compute);
        // Line 12: nMem > 2, if neither is above W_cta.
        assert_eq!(of(48 * W, 48 * W, 8 * W, 2 * W + 1), Kind::Bandwidth);
        assert_eq!(of(48 * W, 30 * W, 8 * W, 2 * W), Kind::InclinedCompute);
        // Line 14: nWaiting > nActive / 2, strictly; lines 16 to 19: nALU > nMem or not.
        assert_eq!(of(48 * W, 24 * W + 1, W + 1, W), Kind::InclinedCompute);
        assert_eq!(of(48 * W, 24 * W + 1, W, W), Kind::InclinedMemory);
        assert_eq!(of(48 * W, 24 * W + 1, 0, 1), Kind::InclinedMemory);
        assert_eq!(of(48 * W, 24 * W, W, 0), Kind::Degenerate);
        // Line 21: nActive == 0.
        assert_eq!(of(0, 0, 0, 0), Kind::Idle);
        assert_eq!(of(1, 0, 0, 0), Kind::Degenerate);
        // W_cta is the kernel's.
        assert_eq!(decide(&sums(48 * W, 0, 0, 3 * W), 2, 2.0), Kind::Memory);
        assert_eq!(decide(&sums(48 * W, 0, 0, 3 * W), 16, 2.0), Kind::Bandwidth);
    }

    #[test]
    fn what_each_line_does() {
        let of = |kind: Kind| (kind.blocks(), kind.action());
        assert_eq!(of(Kind::Memory), (-1, Some(Action::Memory)));
        assert_eq!(of(Kind::Compute), (0, Some(Action::Compute)));
        assert_eq!(of(Kind::Bandwidth), (0, Some(Action::Memory)));
        assert_eq!(of(Kind::InclinedCompute), (1, Some(Action::Compute)));
        assert_eq!(of(Kind::InclinedMemory), (1, Some(Action::Memory)));
        assert_eq!(of(Kind::Idle), (0, Some(Action::Compute)));
        assert_eq!(of(Kind::Degenerate), (0, None));
    }

    #[test]
    fn table_1_with_its_correction() {
        use Request::{Decrease, Increase, Maintain};
        assert_eq!(requests(Objective::Energy, Action::Compute), [Maintain, Decrease]);
        assert_eq!(requests(Objective::Performance, Action::Compute), [Increase, Maintain]);
        assert_eq!(requests(Objective::Energy, Action::Memory), [Decrease, Maintain]);
        assert_eq!(requests(Objective::Performance, Action::Memory), [Maintain, Increase]);
    }

    #[test]
    fn a_vote_needs_more_than_half_of_all() {
        assert_eq!(majority([8, 7, 0], 15), Some(Request::Decrease));
        assert_eq!(majority([7, 7, 1], 15), None);
        assert_eq!(majority([0, 8, 8], 16), None);
        assert_eq!(majority([0, 0, 9], 16), Some(Request::Increase));
        // SMs without an action count among the voters.
        assert_eq!(majority([0, 7, 0], 15), None);
        assert_eq!(majority([0, 8, 0], 15), Some(Request::Maintain));
    }

    #[test]
    fn one_step_at_a_time() {
        use Request::{Decrease, Increase};
        let run = |from: i32, requests: &[Option<Request>], maintain| {
            requests.iter().fold(from, |step, &request| next_step(step, request, maintain))
        };
        let normal = Maintain::Normal;
        assert_eq!(next_step(-1, Some(Increase), normal), 0);
        assert_eq!(run(-1, &[Some(Increase); 2], normal), 1);
        assert_eq!(run(-1, &[Some(Increase); 9], normal), 1);
        assert_eq!(run(1, &[Some(Decrease); 2], normal), -1);
        assert_eq!(run(0, &[Some(Decrease); 9], normal), -1);
        for step in [-1, 0, 1] {
            assert_eq!(next_step(step, Some(Request::Maintain), normal), 0);
            assert_eq!(next_step(step, Some(Request::Maintain), Maintain::Hold), step);
            assert_eq!(next_step(step, None, normal), step);
        }
    }
}
