//! What kind of cycle an SM has had: CRISP's classification (R. Nath, D. Tullsen, *The CRISP performance model for
//! dynamic voltage and frequency scaling in a GPGPU*, MICRO 2015, §3.5), as a function of a few facts.
//!
//! Where the paper is silent:
//!
//! - a transaction that waits for the one before it of the same instruction counts as a bank conflict of the cache
//!   (rule A) unless that one waits for an MSHR, a line or a queue: both are resolved at the pipeline's own speed;
//! - models before CRISP count only cycles in which the SM is "fully stalled for memory" (§3.3): of the load stalls those with
//!   an arithmetic hazard or an instruction issued beside them are [`CycleKind::MixedStall`];
//! - atomics and loads that bypass the L1s are outstanding loads, and a warp that waits for its atomics waits on a memory
//!   operation;
//! - a cycle in which all that is left waits for stores (at a fence, or to retire) has a kind of its own,
//!   [`CycleKind::StoreWait`]; by the letter of rule D it is computation;
//! - cycles without a warp, and those in which a governor or a V/f change keeps the SM from issuing, are neither.

use serde::{Deserialize, Serialize};

/// The kind of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CycleKind {
    /// Scales with the clock.
    Compute,
    /// Waits for a load, and for nothing else.
    LoadStall,
    /// A load stall by rule B or the dual-issue rule, beside an arithmetic hazard or an instruction that issues. Models before
    /// CRISP count it as computation (§3.3, "Complex stall classification").
    MixedStall,
    /// Waits because the queues towards memory are full, no load being outstanding.
    StoreStall,
    /// All warps that are left wait for their stores.
    StoreWait,
    /// Issue is halted from outside.
    Halted,
    /// There is no warp.
    #[default]
    Empty,
}

/// Kinds of cycles.
pub const CYCLE_KINDS: usize = CycleKind::Empty as usize + 1;

/// What decides a cycle's kind, together with how many instructions issue in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleFacts {
    /// No warp is resident.
    pub empty: bool,
    /// Issue is halted from outside.
    pub halted: bool,
    /// Control hazard: some warp's instruction buffer holds a path not taken.
    pub control: bool,
    /// Bank conflict of shared memory or the L1 cache.
    pub conflict: bool,
    /// A load miss is outstanding, in any of the four L1s or past them.
    pub load: bool,
    /// Fetch stall: a warp waits for the instruction cache.
    pub fetch: bool,
    /// RAW hazard on a memory operation.
    pub memory: bool,
    /// RAW hazard on an arithmetic operation, or an arithmetic structural hazard.
    pub arithmetic: bool,
    /// The load/store unit cannot send: no MSHR, or its queues are full.
    pub full: bool,
    /// All warps that are left wait for their stores.
    pub stores: bool,
}

/// A cycle's kind, as far as it is known before anything issues in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// If nothing issues.
    idle: CycleKind,
    /// If some schedulers issue.
    partly: CycleKind,
    /// If all do.
    busy: CycleKind,
}

impl CycleFacts {
    /// Something outside the SM's pipelines is waited for, by some warp; full queues stand for outstanding stores.
    #[inline(always)]
    pub fn outstanding(&self) -> bool {
        self.load | self.fetch | self.full | self.stores
    }

    /// Applies the dual-issue rule and rules A to D, in the paper's order.
    #[inline(always)]
    pub fn kinds(&self) -> Kinds {
        let always = |kind| Kinds { idle: kind, partly: kind, busy: kind };
        if self.empty {
            return always(CycleKind::Empty);
        }
        if self.halted {
            return always(CycleKind::Halted);
        }
        // (A)
        if self.control || self.conflict || !self.outstanding() {
            return always(CycleKind::Compute);
        }
        // All issue slots used: busy; none: idle; else busy if an arithmetic hazard kept the others from issuing.
        let (busy, hindered) = (CycleKind::Compute, self.arithmetic);
        let idle = if self.load || self.fetch {
            // (B)
            if self.memory && self.arithmetic {
                CycleKind::MixedStall
            } else if self.memory || !self.arithmetic && (self.full || self.fetch) {
                CycleKind::LoadStall
            } else {
                CycleKind::Compute
            }
        } else if self.full {
            // (C)
            CycleKind::StoreStall
        } else {
            CycleKind::StoreWait
        };
        // (D): what else is not idle computes.
        let partly = match idle {
            _ if hindered => busy,
            CycleKind::StoreWait => busy,
            CycleKind::LoadStall => CycleKind::MixedStall,
            kind => kind,
        };
        Kinds { idle, partly, busy }
    }
}

impl Kinds {
    /// So many of the SM's schedulers issued.
    #[inline(always)]
    pub fn of(self, issued: u32, schedulers: u32) -> CycleKind {
        match issued {
            0 => self.idle,
            n if n < schedulers => self.partly,
            _ => self.busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing issues, a load is outstanding.
    const IDLE: CycleFacts = CycleFacts {
        empty: false,
        halted: false,
        control: false,
        conflict: false,
        load: true,
        fetch: false,
        memory: false,
        arithmetic: false,
        full: false,
        stores: false,
    };

    /// Of a cycle in which no scheduler issues.
    fn idle(facts: CycleFacts) -> CycleKind {
        facts.kinds().of(0, 2)
    }

    #[test]
    fn two_issued_are_busy_and_none_is_idle() {
        let waiting = CycleFacts { memory: true, ..IDLE };
        assert_eq!(waiting.kinds().of(2, 2), CycleKind::Compute);
        assert_eq!(idle(waiting), CycleKind::LoadStall);
    }

    #[test]
    fn one_issued_is_busy_only_beside_an_arithmetic_hazard() {
        let waiting = CycleFacts { memory: true, ..IDLE };
        assert_eq!(waiting.kinds().of(1, 2), CycleKind::MixedStall);
        assert_eq!(CycleFacts { arithmetic: true, ..waiting }.kinds().of(1, 2), CycleKind::Compute);
    }

    #[test]
    fn of_four_schedulers_all_must_issue() {
        let waiting = CycleFacts { memory: true, ..IDLE };
        assert_eq!([0, 1, 3, 4].map(|issued| waiting.kinds().of(issued, 4)), {
            use CycleKind::{Compute, LoadStall, MixedStall};
            [LoadStall, MixedStall, MixedStall, Compute]
        });
    }

    #[test]
    fn rule_a_the_pipelines_own_hazards_and_nothing_outstanding() {
        let waiting = CycleFacts { memory: true, full: true, ..IDLE };
        for facts in [
            CycleFacts { control: true, ..waiting },
            CycleFacts { conflict: true, ..waiting },
            CycleFacts { load: false, memory: true, ..IDLE },
        ] {
            assert_eq!(idle(facts), CycleKind::Compute, "{facts:?}");
        }
    }

    #[test]
    fn rule_b_in_its_order() {
        // A RAW hazard on memory comes before an arithmetic one, that before full queues, those before a fetch stall.
        let all = CycleFacts { memory: true, arithmetic: true, full: true, fetch: true, ..IDLE };
        assert_eq!(idle(all), CycleKind::MixedStall);
        assert_eq!(idle(CycleFacts { arithmetic: false, ..all }), CycleKind::LoadStall);
        assert_eq!(idle(CycleFacts { memory: false, ..all }), CycleKind::Compute);
        let full = CycleFacts { full: true, ..IDLE };
        assert_eq!(idle(full), CycleKind::LoadStall);
        assert_eq!(idle(CycleFacts { fetch: true, ..IDLE }), CycleKind::LoadStall);
        // A fetch miss is itself an outstanding load.
        assert_eq!(idle(CycleFacts { fetch: true, load: false, ..IDLE }), CycleKind::LoadStall);
    }

    #[test]
    fn rule_c_full_queues_without_a_load() {
        let full = CycleFacts { load: false, full: true, arithmetic: true, ..IDLE };
        assert_eq!(idle(full), CycleKind::StoreStall);
        assert_eq!(full.kinds().of(1, 2), CycleKind::Compute);
    }

    #[test]
    fn rule_d_the_rest_is_computation() {
        assert_eq!(idle(IDLE), CycleKind::Compute);
        assert_eq!(idle(CycleFacts { arithmetic: true, ..IDLE }), CycleKind::Compute);
    }

    #[test]
    fn what_the_paper_does_not_name() {
        let stores = CycleFacts { load: false, stores: true, ..IDLE };
        assert_eq!(idle(stores), CycleKind::StoreWait);
        assert_eq!(idle(CycleFacts { halted: true, ..stores }), CycleKind::Halted);
        assert_eq!(idle(CycleFacts { empty: true, halted: true, ..stores }), CycleKind::Empty);
    }
}
