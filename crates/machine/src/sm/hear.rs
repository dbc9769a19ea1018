//! What a warp hears from the load/store unit: results are there, stores are acknowledged, the instruction has left.

use crate::activity::SmEvent;
use crate::hooks::{Event, SmHooks};
use crate::kernel::{Kernel, turned};
use crate::message::AtomicResult;
use crate::seldom::seldom;
use crate::sm::counts::Counts;
use crate::sm::warps::Warps;
use warpwatt_simt::effect::AtomicDest;
use warpwatt_simt::warp::Warp;

/// The warps' side of a cycle of the load/store unit.
#[derive(Debug)]
pub struct Hear<'a> {
    /// Core cycle.
    pub now: u64,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The pipeline's view of the warps.
    pub warps: &'a mut Warps,
    /// The warps themselves.
    pub threads: &'a mut [Warp],
    /// Warps that may have retired.
    pub ending: &'a mut u64,
    /// The policy's objects.
    pub hooks: &'a mut SmHooks,
    /// Some observer wants to hear of loads.
    pub loads_heard: bool,
    /// What the SM counts.
    pub counts: &'a mut Counts,
    /// Lanes that commit in this cycle.
    pub lanes: u64,
    /// Register banks that are written in this cycle.
    pub written: u64,
    /// Register banks.
    pub banks: u32,
}

impl Hear<'_> {
    /// All results of a load are available.
    #[inline(always)]
    pub fn load(&mut self, warp: u8, pc: u32, lanes: u8) {
        let op = &self.kernel.ops[pc as usize];
        let w = warp as usize;
        self.warps.release(w, pc, op, self.kernel);
        self.warps.of[w].loads -= 1;
        self.committed(warp);
        self.observe(Event::LoadDone { warp });
        self.lanes += lanes as u64;
        self.counts.events(SmEvent::RegisterWrite, op.writes as u64 * lanes as u64);
        self.written |= turned(op.dest_banks, warp as u32 & (self.banks - 1), self.banks);
        self.check(w);
    }

    /// A load has looked up the L1 data cache.
    #[inline(always)]
    pub fn looked(&mut self, warp: u8, line: u64, hit: bool) {
        self.observe(if hit { Event::Hit { warp, line } } else { Event::Miss { warp, line } });
    }

    /// A line has left the L1 data cache: a miss took its place, or a store wrote to it.
    #[inline(always)]
    pub fn evicted(&mut self, line: u64) {
        self.observe(Event::Evicted { line });
    }

    #[inline(always)]
    fn observe(&mut self, event: Event) {
        if self.loads_heard {
            seldom();
            self.hooks.observe(self.now, event);
        }
    }

    /// A store was acknowledged.
    #[inline(always)]
    pub fn store(&mut self, warp: u8) {
        self.warps.of[warp as usize].stores -= 1;
        self.check(warp as usize);
    }

    /// An atomic transaction was answered; old values go to `dest`.
    #[inline(always)]
    pub fn atomic(&mut self, warp: u8, dest: AtomicDest, result: &AtomicResult) {
        let w = warp as usize;
        for i in 0..result.count as usize {
            self.threads[w].write_back(dest, result.lanes[i] as u32, result.old[i]);
        }
        self.warps.of[w].atomics -= 1;
        if self.warps.of[w].atomics == 0 {
            self.warps.on_atomic &= !(1 << w);
        }
        self.check(w);
    }

    /// An instruction has entered the unit.
    #[inline(always)]
    pub fn entered(&mut self, warp: u8) {
        self.warps.of[warp as usize].in_ldst += 1;
        self.warps.in_ldst |= 1 << warp;
    }

    /// An instruction that had entered the unit is complete.
    #[inline(always)]
    pub fn committed(&mut self, warp: u8) {
        let state = &mut self.warps.of[warp as usize];
        state.in_ldst -= 1;
        if state.in_ldst == 0 {
            self.warps.in_ldst &= !(1 << warp);
        }
    }

    /// The instruction has left the unit.
    #[inline(always)]
    pub fn left(&mut self, warp: u8) {
        self.warps.of[warp as usize].in_flight -= 1;
        self.check(warp as usize);
    }

    /// The warp may have waited for this at a fence, or to retire.
    #[inline(always)]
    fn check(&mut self, w: usize) {
        self.warps.check_fence(w);
        *self.ending |= self.warps.finished & 1 << w;
    }
}
