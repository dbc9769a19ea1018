//! A warp: registers, SIMT stack, call frames, local memory.

use serde::{Deserialize, Serialize};

use crate::device::Dim3;
use crate::effect::AtomicDest;
use crate::launch::Launch;
use crate::program::NO_PC;

/// A warp's state. Reused for another CTA by [`Warp::reset`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Warp {
    pc: u32,
    mask: u32,
    warp_in_cta: u32,
}

impl Default for Warp {
    fn default() -> Self {
        Warp { pc: NO_PC, mask: 0, warp_in_cta: 0 }
    }
}

impl Warp {
    /// A place for warps.
    pub fn new() -> Warp {
        Warp::default()
    }

    /// Begins warp `warp_in_cta` of CTA `cta` at the kernel's first instruction. Allocates only if the program needs
    /// more room than earlier ones.
    pub fn reset(&mut self, launch: &Launch, cta: u64, warp_in_cta: u32) {
        let _ = (launch, cta);
        self.pc = 0;
        self.warp_in_cta = warp_in_cta;
    }

    /// Index of the next instruction; [`NO_PC`] when done.
    #[inline(always)]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Lanes that execute the next instruction (before its guard).
    #[inline(always)]
    pub fn active(&self) -> u32 {
        self.mask
    }

    /// All lanes have exited.
    #[inline(always)]
    pub fn done(&self) -> bool {
        self.pc == NO_PC
    }

    /// Index in the CTA.
    pub fn warp_in_cta(&self) -> u32 {
        self.warp_in_cta
    }

    /// Delivers the result of a deferred atomic or `malloc` to one lane. `dest` is the effect's.
    pub fn write_back(&mut self, dest: AtomicDest, lane: u32, bits: u64) {
        let _ = (dest, lane, bits);
    }

    /// `%tid` of a lane.
    pub fn thread(&self, launch: &Launch, lane: u32) -> Dim3 {
        launch.thread_index(self.warp_in_cta * 32 + lane)
    }
}
