//! Fetch and decode: one warp with an empty instruction buffer at a time, round-robin, through the instruction cache.
//!
//! Fetching runs ahead on the fall-through path: after a taken branch the buffer fills with instructions of the wrong
//! path, which the scheduler finds and drops. A fetched group is decoded in the next cycle.

use crate::activity::SmEvent;
use crate::kernel::{Kernel, PORTS};
use crate::message::Traffic;
use crate::sm::counts::Counts;
use crate::sm::l1::{L1, Outcome};
use crate::sm::warps::Warps;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};
use warpwatt_simt::warp::Warp;

/// Most fetch units of an SM.
const UNITS: usize = 4;

/// Fetch units of one SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fetch {
    /// Per unit: fetched, to be decoded in the next cycle: warp and instruction.
    buffers: [Option<(u8, u32)>; UNITS],
    /// Those warps.
    decoding: u64,
    units: usize,
    /// Units that are on.
    on: usize,
    last: u8,
    entries: u8,
    /// Decoded instructions are counted by the port that they are for.
    by_port: bool,
    /// See `by_port`.
    pub decoded: [u64; PORTS],
    /// Instruction cache.
    pub l1i: L1,
}

impl Fetch {
    /// An idle unit of a GPU.
    pub fn new(spec: &Spec) -> Fetch {
        Fetch {
            buffers: [None; UNITS],
            decoding: 0,
            units: (spec.fetch_units.max(1) as usize).min(UNITS),
            on: (spec.fetch_units.max(1) as usize).min(UNITS),
            last: 0,
            entries: spec.ibuffer_entries as u8,
            by_port: false,
            decoded: [0; PORTS],
            l1i: L1::new(&spec.l1i, Traffic::Instruction),
        }
    }

    /// A fetched group waits for decoding.
    #[inline(always)]
    pub fn decoding(&self) -> bool {
        self.decoding != 0
    }

    /// Leaves so many units on.
    pub fn limit(&mut self, on: u32) {
        self.on = (on.max(1) as usize).min(self.units);
    }

    /// Units of an SM.
    pub fn units(&self) -> u32 {
        self.units as u32
    }

    /// A unit holds no fetched group.
    pub fn drained(&self, unit: usize) -> bool {
        self.buffers.get(unit).is_none_or(Option::is_none)
    }

    /// Counts decoded instructions by port from now on.
    pub fn count_by_port(&mut self) {
        self.by_port = true;
    }

    /// Units that hold a fetched group.
    #[inline(always)]
    pub fn held(&self) -> u32 {
        self.decoding.count_ones()
    }

    /// One cycle of all units: each decodes what it fetched in the last cycle, then fetches.
    #[inline(always)]
    pub fn step(&mut self, now: u64, kernel: &Kernel, warps: &mut Warps, threads: &[Warp], counts: &mut Counts) {
        for unit in 0..self.units {
            if self.buffers[unit].is_some() {
                self.decode(unit, kernel, warps, threads, counts);
            }
            if unit < self.on {
                self.fetch(unit, now, kernel, warps, counts);
            }
        }
    }

    /// Something will happen in the next cycle without outside help.
    #[inline(always)]
    pub fn active(&self, hungry: u64) -> bool {
        self.decoding() || hungry != 0 || !self.l1i.ready.is_empty()
    }

    /// Decodes what was fetched in the last cycle into the warp's instruction buffer.
    #[inline(always)]
    fn decode(&mut self, unit: usize, kernel: &Kernel, warps: &mut Warps, threads: &[Warp], counts: &mut Counts) {
        let Some((w, pc)) = self.buffers[unit].take() else { return };
        let w = w as usize;
        self.decoding &= !(1 << w);
        if warps.finished >> w & 1 != 0 {
            return;
        }
        let depth = (kernel.ops.len() as u32).saturating_sub(pc).min(self.entries as u32);
        warps.of[w].head = pc;
        warps.of[w].depth = depth as u8;
        counts.events(SmEvent::Decoded, depth as u64);
        if self.by_port {
            let group = kernel.ops.iter().skip(pc as usize).take(depth as usize);
            group.for_each(|op| self.decoded[op.port as usize % PORTS] += 1);
        }
        warps.refresh(w, kernel);
        let bit = 1 << w;
        if depth == 0 || threads[w].pc() != pc {
            warps.wrong_path |= bit;
        } else {
            warps.wrong_path &= !bit;
        }
    }

    /// A group has been fetched.
    #[inline(always)]
    fn hand_over(&mut self, unit: usize, w: u8, pc: u32) {
        self.buffers[unit] = Some((w, pc));
        self.decoding |= 1 << w;
        self.last = w;
    }

    /// Fetches for the next warp in turn.
    #[inline(always)]
    fn fetch(&mut self, unit: usize, now: u64, kernel: &Kernel, warps: &mut Warps, counts: &mut Counts) {
        if let Some(tag) = self.l1i.ready.pop() {
            let w = tag as u8;
            warps.on_fetch &= !(1 << w);
            self.hand_over(unit, w, warps.of[w as usize].fetch_pc);
            return;
        }
        let hungry = warps.hungry() & !(warps.wrong_path | self.decoding);
        if hungry == 0 {
            return;
        }
        let above = hungry & !(u64::MAX >> (63 - self.last as u32));
        let w = (if above != 0 { above } else { hungry }).trailing_zeros() as u8;
        let pc = warps.of[w as usize].fetch_pc;
        match self.l1i.read(kernel.code_base + pc as u64 * kernel.instruction_bytes, w as u32, now) {
            Outcome::Hit => {
                counts.counters.instruction_accesses += 1;
                counts.event(SmEvent::InstructionHit);
                self.hand_over(unit, w, pc);
            }
            Outcome::Miss => {
                counts.counters.instruction_accesses += 1;
                counts.counters.instruction_misses += 1;
                counts.event(SmEvent::InstructionMiss);
                warps.on_fetch |= 1 << w;
                self.last = w;
            }
            Outcome::NoLine | Outcome::NoMshr | Outcome::QueueFull => {}
        }
    }
}
