//! A cooperative thread array: its shared memory and its 16 barriers.
//!
//! Models: `bar`/`barrier` `.sync`, `.arrive`, `.red` with and without thread counts (PTX manual, `bar`), counted in whole
//! warps as hardware before independent thread scheduling does: a warp that arrives with some of its lanes arrives as a
//! whole, and a barrier without count expects every warp of the CTA that has not exited. Exited warps do not count
//! towards a barrier with a thread count. Leaves out: per-thread arrival; a `barrier` without `.aligned` is a fault while
//! lanes of the warp are elsewhere.

use serde::{Deserialize, Serialize};

use crate::device::Dim3;
use crate::fault::BarrierProblem;
use crate::launch::Launch;

/// What a warp does at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BarrierOp {
    #[default]
    Sync,
    Arrive,
    RedAnd,
    RedOr,
    RedPopc,
}

/// One warp's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The warp's index in the CTA.
    pub warp: u32,
    /// Barrier number.
    pub barrier: u32,
    /// Thread count, if given.
    pub count: Option<u32>,
    /// Operation.
    pub op: BarrierOp,
    /// Lanes that execute it.
    pub lanes: u32,
    /// The reduction's predicate, per lane.
    pub predicate: u32,
}

/// The barrier's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The warp must wait until it appears in a later `released` mask.
    pub waits: bool,
    /// Warps of the CTA that waited and may go on now (the arriving one included if it completed the barrier).
    pub released: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Barrier {
    /// Warps that have arrived since the last completion.
    arrived: u64,
    /// Those of them that wait.
    waiting: u64,
    /// Expected threads; 0: every warp that has not exited.
    expected: u32,
    op: BarrierOp,
    /// Lanes that took part in a reduction, and those with a true predicate.
    lanes: u32,
    ones: u32,
}

/// A CTA's state. Reused for the next CTA by [`Cta::reset`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cta {
    /// Linear index in the grid (x fastest).
    pub id: u64,
    /// `%ctaid`.
    pub index: Dim3,
    /// Shared memory: static variables, then the dynamic part.
    #[serde(with = "serde_bytes")]
    pub shared: Vec<u8>,
    barriers: [Barrier; 16],
    /// Warps that have not exited.
    live: u64,
    /// Threads, rounded up to warps.
    threads: u32,
    /// Result of the last `bar.red` for each warp that waited at it.
    results: Vec<u32>,
}

impl Cta {
    /// A place for CTAs.
    pub fn new() -> Cta {
        Cta::default()
    }

    /// Begins CTA `id` of a launch: shared memory zeroed, barriers empty. Allocates only if the launch needs more room
    /// than earlier ones.
    pub fn reset(&mut self, launch: &Launch, id: u64) {
        let warps = launch.warps_per_cta();
        self.id = id;
        self.index = launch.cta_index(id);
        self.shared.clear();
        self.shared.resize(launch.shared_bytes() as usize, 0);
        self.barriers = [Barrier::default(); 16];
        self.live = if warps >= 64 { u64::MAX } else { (1 << warps) - 1 };
        self.threads = warps * 32;
        self.results.clear();
        self.results.resize(warps as usize, 0);
    }

    /// Warps that have not exited.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// All warps have exited.
    pub fn done(&self) -> bool {
        self.live == 0
    }

    /// A warp arrives at a barrier. Called by [`step`](crate::exec::step), which puts the answer in the effect.
    pub fn arrive(&mut self, a: Arrival) -> Result<Arrived, BarrierProblem> {
        let threads = self.threads;
        let barrier = self.barriers.get_mut(a.barrier as usize).ok_or(BarrierProblem::Number)?;
        if let Some(count) = a.count {
            if count == 0 || count % 32 != 0 {
                return Err(BarrierProblem::Count(count));
            }
            if count > threads {
                return Err(BarrierProblem::TooMany(count));
            }
        } else if a.op == BarrierOp::Arrive {
            return Err(BarrierProblem::NoCount);
        }
        let expected = a.count.unwrap_or(0);
        let bit = 1u64 << a.warp;
        if barrier.arrived & bit != 0 {
            return Err(BarrierProblem::Again);
        }
        if barrier.arrived == 0 {
            *barrier = Barrier { expected, op: a.op, ..Barrier::default() };
        } else {
            // A count equal to the CTA and no count mean the same barrier.
            let all = |count: u32| if count == 0 { threads } else { count };
            if all(expected) != all(barrier.expected) {
                return Err(BarrierProblem::Mismatch { given: all(expected), expected: all(barrier.expected) });
            }
            if barrier.op == BarrierOp::Arrive {
                barrier.op = a.op;
            } else if a.op != BarrierOp::Arrive && a.op != barrier.op {
                return Err(BarrierProblem::Operation);
            }
        }
        barrier.arrived |= bit;
        let waits = a.op != BarrierOp::Arrive;
        if waits {
            barrier.waiting |= bit;
            barrier.lanes += a.lanes.count_ones();
            barrier.ones += (a.lanes & a.predicate).count_ones();
        }
        let released = self.complete(a.barrier as usize);
        Ok(Arrived { waits: waits && released & bit == 0, released })
    }

    /// A warp exits: barriers without count no longer expect it. Gives the warps that may go on.
    pub fn exit(&mut self, warp: u32) -> u64 {
        self.live &= !(1 << warp);
        let mut released = 0;
        for i in 0..16 {
            if self.barriers[i].arrived != 0 {
                released |= self.complete(i);
            }
        }
        released
    }

    /// Completes a barrier if all have arrived.
    fn complete(&mut self, index: usize) -> u64 {
        let b = &mut self.barriers[index];
        let complete =
            if b.expected == 0 { self.live & !b.arrived == 0 } else { b.arrived.count_ones() * 32 >= b.expected };
        if !complete {
            return 0;
        }
        let released = b.waiting;
        let result = match b.op {
            BarrierOp::RedAnd => (b.ones == b.lanes) as u32,
            BarrierOp::RedOr => (b.ones != 0) as u32,
            BarrierOp::RedPopc => b.ones,
            BarrierOp::Sync | BarrierOp::Arrive => 0,
        };
        *b = Barrier::default();
        for (warp, slot) in self.results.iter_mut().enumerate() {
            if released >> warp & 1 != 0 {
                *slot = result;
            }
        }
        released
    }

    /// Result of the reduction that last released this warp.
    pub(crate) fn result(&self, warp: u32) -> u32 {
        self.results.get(warp as usize).copied().unwrap_or(0)
    }

    /// Warps that wait at a barrier.
    pub fn waiting(&self) -> u64 {
        self.barriers.iter().fold(0, |mask, b| mask | b.waiting)
    }

    /// Who waits for whom, one line per active barrier, for deadlock reports.
    pub fn explain(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (i, b) in self.barriers.iter().enumerate().filter(|(_, b)| b.arrived != 0) {
            let [x, y, z] = self.index;
            let expects = match b.expected {
                0 => format!("the {} warps that have not exited", self.live.count_ones()),
                n => format!("{} warps", n / 32),
            };
            lines.push(format!(
                "CTA ({x},{y},{z}): {} warps have arrived at barrier {i} (mask {:#x}), which expects {expects}",
                b.arrived.count_ones(),
                b.arrived,
            ));
        }
        lines
    }
}
