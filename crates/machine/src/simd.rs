//! The width of an SP: how many threads of a warp it takes in a cycle (`simd_width`).
//!
//! M. Sadrosadati et al., *ITAP*, ACM TACO 16(1), 2019, §6.4.3: an SP with fewer lanes than a warp has threads executes a
//! warp instruction over several cycles. Thread t belongs to lane t mod w, threads k × w to k × w + w − 1 are *sub-warp* k,
//! and sub-warps without an active thread are skipped: "the GPU would execute four fully active cycles for the active threads
//! \[of the mask 0x0000FFFF, on 4 lanes\] and then skip the remaining nonactive threads", while 0x88888888 takes eight.
//!
//! *Decisions* where the paper is silent:
//!
//! - The initiation interval of an instruction class is how long one thread's operation keeps a lane from the next (as for
//!   the halves of a folded warp). So sub-warps enter one interval apart, and an instruction takes its SP for its interval
//!   times its sub-warps: 32 / w cycles and more for a full warp.
//! - Each sub-warp is an instruction of its own to a policy on lanes: it asks for its lanes when it is about to enter, and if
//!   these sleep, it and those behind it wait in the SP. What is ahead of a lane is so known to the end of an instruction.
//! - An instruction without an active thread takes one sub-warp, as it takes one interval of a wide SP.
//! - A warp's operands are collected, and its results written back, for all threads at once: when the last sub-warp comes out.
//!   So the pipeline's registers, collectors and result buses are as wide as ever, and so is their power; of the leakage, that of
//!   the INT and FP pipelines goes with the number of lanes.
//! - A lane that idles beside others in a sub-warp costs what an inactive lane costs; skipped sub-warps cost nothing.
//!
//! Left out: SFUs, and double precision, which uses them, have the lanes they have; so have load/store units.

use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// Threads of a warp.
pub const WARP: u32 = 32;

/// Lanes of an SFU port: the four SFUs of an SM of Fermi (Origami §5).
pub const SFU_LANES: u32 = 4;

/// The lanes of an SP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simd {
    width: u32,
}

impl Simd {
    /// Those of a GPU's SPs.
    pub fn of(spec: &Spec) -> Simd {
        Simd { width: spec.simd_width.clamp(1, WARP) }
    }

    /// How many.
    #[inline]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Fewer than a warp has threads.
    #[inline]
    pub fn narrow(self) -> bool {
        self.width < WARP
    }

    /// All of them.
    #[inline]
    pub fn all(self) -> u32 {
        u32::MAX >> (WARP - self.width)
    }

    /// The lanes that the first of some threads' sub-warps uses, and the threads of those that follow.
    #[inline]
    pub fn cut(self, threads: u32) -> (u32, u32) {
        if !self.narrow() || threads == 0 {
            return (threads, 0);
        }
        let first = threads.trailing_zeros() / self.width * self.width;
        let lanes = threads >> first & self.all();
        (lanes, threads & !(lanes << first))
    }

    /// Sub-warps that some threads make: at least one.
    #[inline]
    pub fn sub_warps(self, threads: u32) -> u32 {
        let (mut count, mut rest) = (1, self.cut(threads).1);
        while rest != 0 {
            count += 1;
            rest = self.cut(rest).1;
        }
        count
    }

    /// Lanes that any of some threads' sub-warps uses.
    #[inline]
    pub fn lanes(self, threads: u32) -> u32 {
        let (mut lanes, mut rest) = self.cut(threads);
        while rest != 0 {
            let next = self.cut(rest);
            (lanes, rest) = (lanes | next.0, next.1);
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sub_warps(width: u32, threads: u32) -> Vec<u32> {
        let simd = Simd { width };
        let (mut all, mut rest) = (Vec::new(), Some(threads));
        while let Some(threads) = rest {
            let (lanes, left) = simd.cut(threads);
            all.push(lanes);
            rest = (left != 0).then_some(left);
        }
        assert_eq!(all.len() as u32, simd.sub_warps(threads));
        assert_eq!(all.iter().fold(0, |all, lanes| all | lanes), simd.lanes(threads));
        all
    }

    #[test]
    fn the_papers_examples() {
        assert_eq!(sub_warps(32, 0x0000_ffff), [0xffff]);
        assert_eq!(sub_warps(4, 0x0000_ffff), [0xf; 4]);
        assert_eq!(sub_warps(32, 0x8888_8888), [0x8888_8888]);
        assert_eq!(sub_warps(4, 0x8888_8888), [8; 8]);
    }

    #[test]
    fn sub_warps_without_a_thread_are_skipped() {
        assert_eq!(sub_warps(8, 0xff00_0301), [1, 3, 0xff]);
        assert_eq!(sub_warps(16, 0x8000_0000), [0x8000]);
        assert_eq!(sub_warps(16, u32::MAX), [0xffff; 2]);
        for width in [4, 8, 16, 32] {
            assert_eq!(sub_warps(width, 0), [0]);
            assert_eq!(Simd { width }.all().count_ones(), width);
        }
    }
}
