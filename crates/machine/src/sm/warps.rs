//! What the pipeline knows of each warp: instruction buffer, scoreboard, and why it waits.
//!
//! Facts are masks with one bit per warp, so that a scheduler finds its candidates, and the issue-slot accounting its
//! cause, in a few instructions. A warp's bits are recomputed when something about it changes, never per cycle.

use crate::kernel::{Kernel, Op, PORTS, Port};
use crate::table::Table;
use serde::{Deserialize, Serialize};

/// Warp state of one SM. Bit `w` of every mask is warp slot `w`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Warps {
    /// Slots that hold a warp, until its CTA has ended.
    pub resident: u64,
    /// All lanes have exited; the warp may still have work under way.
    pub finished: u64,
    /// The instruction buffer holds the next instruction.
    pub buffered: u64,
    /// The buffered instruction's registers are all available.
    pub clear: u64,
    /// Not `clear`, and some missing register comes from memory.
    pub on_memory: u64,
    /// Waits at a barrier.
    pub at_barrier: u64,
    /// Waits for its own outstanding atomics or heap calls (the order of its accesses).
    pub on_atomic: u64,
    /// Waits at a fence for its own outstanding loads and stores.
    pub on_fence: u64,
    /// Sleeps.
    pub asleep: u64,
    /// The buffer holds instructions of a path not taken; the next scheduler cycle drops them.
    pub wrong_path: u64,
    /// An instruction-cache miss is outstanding.
    pub on_fetch: u64,
    /// Belongs to a paused CTA: neither fetched for nor issued (Equalizer §IV-B).
    pub paused: u64,
    /// Port of the buffered instruction.
    pub port: [u64; PORTS],
    /// The buffered instruction is for an FP pipeline; is a load.
    pub fp: u64,
    /// See `fp`.
    pub load: u64,
    /// Instructions of the warp are in the load/store unit, or wait for its results.
    pub in_ldst: u64,
    /// Warps resident.
    pub count: u32,
    /// Every warp slot.
    pub of: Table<WarpState, 64>,
    /// Warps of each CTA slot, oldest CTA first; within a CTA, lower slots are older.
    pub by_age: Vec<u64>,
    /// Scoreboard words beyond the first of each warp: pending, and pending from memory.
    more: Vec<[u64; 2]>,
    words: usize,
}

/// One warp slot.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(64))] // what every cycle needs is in one line of the host's cache
pub struct WarpState {
    /// Registers with a result under way (the first 64 names), and those of them whose result comes from memory.
    pending: [u64; 2],
    /// First buffered instruction.
    pub head: u32,
    /// Where fetching goes on.
    pub fetch_pc: u32,
    /// Stores not yet acknowledged.
    pub stores: u32,
    /// Atomic transactions and heap calls not yet answered.
    pub atomics: u32,
    /// Loads whose data have not all come.
    pub loads: u16,
    /// Instructions between issue and completion (loads count until they leave the load/store unit).
    pub in_flight: u16,
    /// Instructions from entering the load/store unit to completion: a load's results are there, a store has left the unit.
    pub in_ldst: u16,
    /// Instructions buffered.
    pub depth: u8,
    /// CTA slot.
    pub cta: u8,
    /// Launch order of the warp's CTA, then of the warp: smaller is older.
    pub age: u64,
    /// End of a `nanosleep`, core cycle.
    pub wake: u64,
}

impl Warps {
    /// Empty slots.
    pub fn new(slots: usize) -> Warps {
        Warps {
            resident: 0,
            finished: 0,
            buffered: 0,
            clear: 0,
            on_memory: 0,
            at_barrier: 0,
            on_atomic: 0,
            on_fence: 0,
            asleep: 0,
            wrong_path: 0,
            on_fetch: 0,
            paused: 0,
            port: [0; PORTS],
            fp: 0,
            load: 0,
            in_ldst: 0,
            count: 0,
            of: Table::default(),
            by_age: Vec::with_capacity(slots),
            more: Vec::new(),
            words: 1,
        }
    }

    /// Sizes the scoreboard for a kernel. No warp may be resident.
    pub fn set_words(&mut self, words: usize) {
        self.words = words;
        self.more.clear();
        self.more.resize(self.of.len() * (words - 1), [0; 2]);
    }

    /// The warps of a CTA are about to begin, in these slots.
    pub fn start_cta(&mut self, warps: u64) {
        self.by_age.push(warps);
    }

    /// A warp begins.
    pub fn start(&mut self, w: usize, cta: u8, age: u64) {
        let bit = 1 << w;
        self.resident |= bit;
        for mask in [
            &mut self.finished,
            &mut self.buffered,
            &mut self.clear,
            &mut self.on_memory,
            &mut self.at_barrier,
            &mut self.on_atomic,
            &mut self.on_fence,
            &mut self.asleep,
            &mut self.wrong_path,
            &mut self.on_fetch,
        ] {
            *mask &= !bit;
        }
        self.count += 1;
        self.of[w] = WarpState { cta, age, ..WarpState::default() };
        self.more_mut(w).fill([0; 2]);
    }

    fn more_mut(&mut self, w: usize) -> &mut [[u64; 2]] {
        let n = self.words - 1;
        &mut self.more[w * n..(w + 1) * n]
    }

    /// Warps that could issue if their port is free.
    #[inline(always)]
    pub fn ready(&self) -> u64 {
        self.buffered
            & self.clear
            & !(self.wrong_path | self.at_barrier | self.on_atomic | self.on_fence | self.asleep | self.finished)
            & !self.paused
    }

    /// Warps whose instruction buffer is empty and may be filled.
    #[inline(always)]
    pub fn hungry(&self) -> u64 {
        self.resident & !(self.finished | self.buffered | self.on_fetch | self.paused)
    }

    /// Lets the oldest `most` CTAs go on and pauses the younger ones: the youngest is the first to be paused, the oldest of
    /// those paused the first to go on.
    pub fn pause_all_but(&mut self, most: u32) {
        self.paused = self.by_age.iter().skip(most as usize).fold(0, |paused, cta| paused | cta);
    }

    /// The buffer's head has changed: recomputes the bits that depend on it.
    #[inline(always)]
    pub fn refresh(&mut self, w: usize, kernel: &Kernel) {
        let bit = 1u64 << w;
        let state = &self.of[w];
        if state.depth == 0 {
            self.buffered &= !bit;
            self.clear &= !bit;
            self.on_memory &= !bit;
            return;
        }
        self.buffered |= bit;
        let op = &kernel.ops[state.head as usize];
        put(&mut self.fp, w, op.fp);
        put(&mut self.load, w, op.load);
        self.port.iter_mut().for_each(|port| *port &= !bit);
        self.port[op.port as usize % PORTS] |= bit;
        self.recheck_op(w, op, kernel);
    }

    /// Some register of the warp has become available or pending.
    #[inline(always)]
    pub fn recheck(&mut self, w: usize, kernel: &Kernel) {
        if self.buffered >> w & 1 != 0 {
            self.recheck_op(w, &kernel.ops[self.of[w].head as usize], kernel);
        }
    }

    #[inline(always)]
    fn recheck_op(&mut self, w: usize, op: &Op, kernel: &Kernel) {
        let state = &self.of[w];
        let mut wait = state.pending[0] & op.need;
        let mut memory = state.pending[1] & op.need;
        if self.words > 1 {
            let n = self.words - 1;
            for (pending, need) in self.more[w * n..].iter().zip(&kernel.need(state.head)[1..]) {
                wait |= pending[0] & need;
                memory |= pending[1] & need;
            }
        }
        put(&mut self.clear, w, wait == 0);
        put(&mut self.on_memory, w, memory != 0);
    }

    /// The head has issued, and the warp's next instruction is `pc`.
    #[inline(always)]
    pub fn advance(&mut self, w: usize, pc: u32, done: bool, kernel: &Kernel) {
        let state = &mut self.of[w];
        state.head += 1;
        state.depth -= 1;
        state.fetch_pc = state.head + state.depth as u32;
        if done {
            self.finished |= 1 << w;
            state.depth = 0;
        } else if state.depth > 0 && state.head != pc {
            self.wrong_path |= 1 << w;
        }
        self.refresh(w, kernel);
    }

    /// Empties a warp's instruction buffer.
    pub fn drop_buffer(&mut self, w: usize) {
        let bit = 1u64 << w;
        self.of[w].depth = 0;
        self.buffered &= !bit;
        self.clear &= !bit;
        self.on_memory &= !bit;
        self.wrong_path &= !bit;
    }

    /// A retired warp leaves its slot.
    pub fn leave(&mut self, w: usize) {
        self.count -= 1;
        self.by_age.iter_mut().for_each(|cta| *cta &= !(1 << w));
        self.by_age.retain(|&cta| cta != 0);
        self.resident &= !(1 << w);
        self.finished &= !(1 << w);
        self.paused &= !(1 << w);
        self.drop_buffer(w);
    }

    /// An instruction has issued: its results are pending.
    #[inline(always)]
    pub fn reserve(&mut self, w: usize, pc: u32, op: &Op, kernel: &Kernel) {
        let from_memory = if op.port == Port::Mem { u64::MAX } else { 0 };
        let pending = &mut self.of[w].pending;
        pending[0] |= op.dest;
        pending[1] |= op.dest & from_memory;
        if self.words > 1 {
            for (pending, dest) in self.more_mut(w).iter_mut().zip(&kernel.dest(pc)[1..]) {
                pending[0] |= dest;
                pending[1] |= dest & from_memory;
            }
        }
    }

    /// An instruction's results are available.
    #[inline(always)]
    pub fn release(&mut self, w: usize, pc: u32, op: &Op, kernel: &Kernel) {
        let pending = &mut self.of[w].pending;
        pending[0] &= !op.dest;
        pending[1] &= !op.dest;
        if self.words > 1 {
            for (pending, dest) in self.more_mut(w).iter_mut().zip(&kernel.dest(pc)[1..]) {
                pending[0] &= !dest;
                pending[1] &= !dest;
            }
        }
        self.recheck(w, kernel);
    }

    /// A fence is over once the warp's earlier accesses are done.
    #[inline(always)]
    pub fn check_fence(&mut self, w: usize) {
        if self.on_fence >> w & 1 != 0 && self.of[w].quiet() {
            self.on_fence &= !(1 << w);
        }
    }

    /// The warp has exited and nothing of it is under way.
    #[inline(always)]
    pub fn retired(&self, w: usize) -> bool {
        self.finished >> w & 1 != 0 && self.of[w].in_flight == 0 && self.of[w].quiet()
    }
}

impl WarpState {
    /// No memory access is under way.
    fn quiet(&self) -> bool {
        self.loads == 0 && self.stores == 0 && self.atomics == 0
    }
}

/// Sets or clears bit `w`.
#[inline(always)]
fn put(mask: &mut u64, w: usize, value: bool) {
    *mask = *mask & !(1 << w) | (value as u64) << w;
}
