//! What kind of cycle an SM has had: CRISP's classification (R. Nath, D. Tullsen, *The CRISP performance model for
//! dynamic voltage and frequency scaling in a GPGPU*, MICRO 2015, §3.5), as a function of a few facts.
//!
//! Where the paper is silent:
//!
//! - a transaction that waits for the one before it of the same instruction counts as a bank conflict of the cache
//!   (rule A): both are resolved at the pipeline's own speed;
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
    /// Waits for a load.
    LoadStall,
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

/// What decides a cycle's kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleFacts {
    /// No warp is resident.
    pub empty: bool,
    /// Issue is halted from outside.
    pub halted: bool,
    /// Warp instructions issued.
    pub issued: u32,
    /// Schedulers.
    pub schedulers: u32,
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

impl CycleKind {
    /// Applies the dual-issue rule and rules A to D, in the paper's order.
    #[inline]
    pub fn of(f: &CycleFacts) -> CycleKind {
        if f.empty {
            return CycleKind::Empty;
        }
        if f.halted {
            return CycleKind::Halted;
        }
        // All issue slots used: busy; none: idle; else busy if an arithmetic hazard kept the others from issuing.
        let busy = f.issued > 0 && (f.issued >= f.schedulers || f.arithmetic);
        // (A); full queues stand for outstanding stores.
        let outstanding = f.load || f.fetch || f.full || f.stores;
        if busy || f.control || f.conflict || !outstanding {
            return CycleKind::Compute;
        }
        if f.load || f.fetch {
            // (B)
            if f.memory {
                return CycleKind::LoadStall;
            }
            if !f.arithmetic && (f.full || f.fetch) {
                return CycleKind::LoadStall;
            }
        } else if f.full {
            // (C)
            return CycleKind::StoreStall;
        } else if f.stores && f.issued == 0 {
            return CycleKind::StoreWait;
        }
        // (D)
        CycleKind::Compute
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing issues, a load is outstanding.
    const IDLE: CycleFacts = CycleFacts {
        empty: false,
        halted: false,
        issued: 0,
        schedulers: 2,
        control: false,
        conflict: false,
        load: true,
        fetch: false,
        memory: false,
        arithmetic: false,
        full: false,
        stores: false,
    };

    #[test]
    fn two_issued_are_busy_and_none_is_idle() {
        let waiting = CycleFacts { memory: true, ..IDLE };
        assert_eq!(CycleKind::of(&CycleFacts { issued: 2, ..waiting }), CycleKind::Compute);
        assert_eq!(CycleKind::of(&waiting), CycleKind::LoadStall);
    }

    #[test]
    fn one_issued_is_busy_only_beside_an_arithmetic_hazard() {
        let one = CycleFacts { issued: 1, memory: true, ..IDLE };
        assert_eq!(CycleKind::of(&one), CycleKind::LoadStall);
        assert_eq!(CycleKind::of(&CycleFacts { arithmetic: true, ..one }), CycleKind::Compute);
    }

    #[test]
    fn of_four_schedulers_all_must_issue() {
        let four = |issued| CycleFacts { issued, schedulers: 4, memory: true, ..IDLE };
        assert_eq!([0, 1, 3, 4].map(|n| CycleKind::of(&four(n))), {
            use CycleKind::{Compute, LoadStall};
            [LoadStall, LoadStall, LoadStall, Compute]
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
            assert_eq!(CycleKind::of(&facts), CycleKind::Compute, "{facts:?}");
        }
    }

    #[test]
    fn rule_b_in_its_order() {
        // A RAW hazard on memory comes before an arithmetic one, that before full queues, those before a fetch stall.
        let all = CycleFacts { memory: true, arithmetic: true, full: true, fetch: true, ..IDLE };
        assert_eq!(CycleKind::of(&all), CycleKind::LoadStall);
        assert_eq!(CycleKind::of(&CycleFacts { memory: false, ..all }), CycleKind::Compute);
        let full = CycleFacts { full: true, ..IDLE };
        assert_eq!(CycleKind::of(&full), CycleKind::LoadStall);
        assert_eq!(CycleKind::of(&CycleFacts { fetch: true, ..IDLE }), CycleKind::LoadStall);
        // A fetch miss is itself an outstanding load.
        assert_eq!(CycleKind::of(&CycleFacts { fetch: true, load: false, ..IDLE }), CycleKind::LoadStall);
    }

    #[test]
    fn rule_c_full_queues_without_a_load() {
        let full = CycleFacts { load: false, full: true, arithmetic: true, ..IDLE };
        assert_eq!(CycleKind::of(&full), CycleKind::StoreStall);
        assert_eq!(CycleKind::of(&CycleFacts { issued: 1, ..full }), CycleKind::Compute);
    }

    #[test]
    fn rule_d_the_rest_is_computation() {
        assert_eq!(CycleKind::of(&IDLE), CycleKind::Compute);
        assert_eq!(CycleKind::of(&CycleFacts { arithmetic: true, ..IDLE }), CycleKind::Compute);
    }

    #[test]
    fn what_the_paper_does_not_name() {
        let stores = CycleFacts { load: false, stores: true, ..IDLE };
        assert_eq!(CycleKind::of(&stores), CycleKind::StoreWait);
        assert_eq!(CycleKind::of(&CycleFacts { halted: true, ..stores }), CycleKind::Halted);
        assert_eq!(CycleKind::of(&CycleFacts { empty: true, halted: true, ..stores }), CycleKind::Empty);
    }
}
