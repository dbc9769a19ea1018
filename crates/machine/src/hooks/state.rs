//! What a hook object may see of its SM.

use crate::kernel::{Kernel, Op, Port};
use crate::sm::alu::Alus;
use crate::sm::collector::Collector;
use crate::sm::warps::Warps;
use warpwatt_simt::warp::Warp;

/// Most instructions that [`SmState::ahead`] gives.
pub const AHEAD: usize = 8;

/// An instruction that will soon start in an execution unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Lanes that it will use, those of both halves. On a narrow SP its threads, which [`crate::simd`] gives lanes.
    pub lanes: u32,
    /// FP rather than INT pipeline.
    pub fp: bool,
    /// Cycles for which its unit will take nothing else; on a narrow SP those of each sub-warp.
    pub busy: u32,
    /// Seen from the end of a cycle, the cycle in which it may start at the earliest: 1, the next one, for an instruction
    /// in the OCEX register; 2 for one that is still in its collector.
    pub soonest: u32,
}

impl Ahead {
    /// An instruction for these threads, and those of its second half if it goes through as two.
    #[inline]
    pub(crate) fn of(op: &Op, threads: u32, second: u32, soonest: u32) -> Ahead {
        let busy = (op.initiation as u32) << (second != 0) as u32;
        Ahead { lanes: threads | second, fp: op.fp, busy, soonest }
    }
}

/// An SM as its hook objects see it.
#[derive(Clone, Copy, Debug)]
pub struct SmState<'a> {
    /// Core cycle.
    pub now: u64,
    /// Everything known of the warps: ages, ports, why they wait.
    pub warps: &'a Warps,
    /// Their SIMT stacks.
    pub threads: &'a [Warp],
    /// Warp instructions issued per port (SP, SFU, LDST) since the run began.
    pub issued: [u64; 3],
    pub(crate) collector: &'a Collector,
    pub(crate) alus: &'a Alus,
    pub(crate) kernel: &'a Kernel,
}

/// See [`SmState::any_ahead`].
#[inline]
pub(crate) fn any_ahead(collector: &Collector, alus: &Alus) -> bool {
    collector.any_ahead(Port::Sp) || alus.narrow.under_way != 0
}

impl SmState<'_> {
    /// Warps, those of paused CTAs apart, whose buffered instruction goes to a port.
    #[inline]
    pub fn buffered(&self, port: Port) -> u64 {
        self.warps.buffered & !self.warps.paused & self.warps.port[port as usize]
    }

    /// Warps whose buffered instruction goes to an INT pipeline.
    #[inline]
    pub fn int(&self) -> u64 {
        self.buffered(Port::Sp) & !self.warps.fp
    }

    /// Warps whose buffered instruction goes to an FP pipeline.
    #[inline]
    pub fn fp(&self) -> u64 {
        self.buffered(Port::Sp) & self.warps.fp
    }

    /// Lanes that a warp would execute with (SIMT stack, before its guard).
    #[inline]
    pub fn active(&self, warp: usize) -> u32 {
        self.threads.get(warp).map_or(0, |t| t.active())
    }

    /// Operands are being collected: the next cycle will be stepped, and shown.
    #[inline]
    pub fn collecting(&self) -> bool {
        self.collector.collecting()
    }

    /// An SP instruction is known that will start next, or will go on.
    #[inline]
    pub fn any_ahead(&self) -> bool {
        any_ahead(self.collector, self.alus)
    }

    /// Gives what is left of the instructions that enter narrow SPs, and which of the SPs each is in.
    #[inline]
    pub fn under_way(&self, f: impl FnMut(usize, Ahead)) {
        if self.alus.narrow.under_way != 0 {
            self.alus.under_way(self.now, self.kernel, f);
        }
    }

    /// Gives the SP instructions that will start next, in order, as far as they are known, at most [`AHEAD`] and as long as
    /// the answer is `true`: those in the OCEX register, then those in the operand collectors whose operands are all there.
    /// From the end of a cycle on, the first may start in the next cycle.
    #[inline]
    pub fn ahead(&self, mut f: impl FnMut(Ahead) -> bool) {
        self.collector.ahead(Port::Sp, AHEAD, |flight, soonest| {
            let op = &self.kernel.ops[flight.pc() as usize];
            f(Ahead::of(op, flight.lanes(), flight.second(), soonest))
        });
    }
}
