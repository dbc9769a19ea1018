//! What the pipeline knows of each warp: instruction buffer, scoreboard, and why it waits.
//!
//! Facts are masks with one bit per warp, so that a scheduler finds its candidates, and the issue-slot accounting its
//! cause, in a few instructions. A warp's bits are recomputed when something about it changes, never per cycle.

use crate::kernel::{Kernel, PORTS, Port};
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
    /// Port of the buffered instruction.
    pub port: [u64; PORTS],
    /// The buffered instruction is for an FP pipeline; is a load.
    pub fp: u64,
    /// See `fp`.
    pub load: u64,
    /// First buffered instruction.
    pub head: Vec<u32>,
    /// Instructions buffered.
    pub depth: Vec<u8>,
    /// Where fetching goes on.
    pub fetch_pc: Vec<u32>,
    /// Instructions between issue and completion (loads count until they leave the load/store unit).
    pub in_flight: Vec<u32>,
    /// Loads whose data have not all come.
    pub loads: Vec<u32>,
    /// Stores not yet acknowledged.
    pub stores: Vec<u32>,
    /// Atomic transactions and heap calls not yet answered.
    pub atomics: Vec<u32>,
    /// End of a `nanosleep`, core cycle.
    pub wake: Vec<u64>,
    /// CTA slot.
    pub cta: Vec<u8>,
    /// Launch order of the warp's CTA, then of the warp: smaller is older.
    pub age: Vec<u64>,
    pending: Vec<u64>,
    pending_memory: Vec<u64>,
    words: usize,
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
            port: [0; PORTS],
            fp: 0,
            load: 0,
            head: vec![0; slots],
            depth: vec![0; slots],
            fetch_pc: vec![0; slots],
            in_flight: vec![0; slots],
            loads: vec![0; slots],
            stores: vec![0; slots],
            atomics: vec![0; slots],
            wake: vec![0; slots],
            cta: vec![0; slots],
            age: vec![0; slots],
            pending: vec![0; slots],
            pending_memory: vec![0; slots],
            words: 1,
        }
    }

    /// Sizes the scoreboard for a kernel. No warp may be resident.
    pub fn set_words(&mut self, words: usize) {
        self.words = words;
        let slots = self.head.len();
        self.pending.clear();
        self.pending.resize(slots * words, 0);
        self.pending_memory.clear();
        self.pending_memory.resize(slots * words, 0);
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
        self.depth[w] = 0;
        self.fetch_pc[w] = 0;
        self.cta[w] = cta;
        self.age[w] = age;
        let range = w * self.words..(w + 1) * self.words;
        self.pending[range.clone()].fill(0);
        self.pending_memory[range].fill(0);
    }

    /// Warps that could issue if their port is free.
    #[inline]
    pub fn ready(&self) -> u64 {
        self.buffered
            & self.clear
            & !(self.wrong_path | self.at_barrier | self.on_atomic | self.on_fence | self.asleep | self.finished)
    }

    /// Warps whose instruction buffer is empty and may be filled.
    #[inline]
    pub fn hungry(&self) -> u64 {
        self.resident & !(self.finished | self.buffered | self.on_fetch)
    }

    /// The buffer's head has changed: recomputes the bits that depend on it.
    #[inline]
    pub fn refresh(&mut self, w: usize, kernel: &Kernel) {
        let bit = 1u64 << w;
        if self.depth[w] == 0 {
            self.buffered &= !bit;
            self.clear &= !bit;
            self.on_memory &= !bit;
            return;
        }
        self.buffered |= bit;
        let pc = self.head[w];
        let op = &kernel.ops[pc as usize];
        let port = op.port;
        self.fp = self.fp & !bit | if op.fp { bit } else { 0 };
        self.load = self.load & !bit | if op.load { bit } else { 0 };
        for p in [Port::Sp, Port::Sfu, Port::Mem] {
            let m = &mut self.port[p as usize];
            *m = *m & !bit | if p == port { bit } else { 0 };
        }
        self.recheck(w, kernel);
    }

    /// Some register of the warp has become available or pending.
    #[inline]
    pub fn recheck(&mut self, w: usize, kernel: &Kernel) {
        let bit = 1u64 << w;
        if self.buffered & bit == 0 {
            return;
        }
        let need = kernel.need(self.head[w]);
        let at = w * self.words;
        let (mut wait, mut memory) = (0, 0);
        for (i, n) in need.iter().enumerate() {
            wait |= self.pending[at + i] & n;
            memory |= self.pending_memory[at + i] & n;
        }
        self.clear = self.clear & !bit | if wait == 0 { bit } else { 0 };
        self.on_memory = self.on_memory & !bit | if memory != 0 { bit } else { 0 };
    }

    /// The head has issued, and the warp's next instruction is `pc`.
    #[inline]
    pub fn advance(&mut self, w: usize, pc: u32, done: bool, kernel: &Kernel) {
        let bit = 1u64 << w;
        self.head[w] += 1;
        self.depth[w] -= 1;
        self.fetch_pc[w] = self.head[w] + self.depth[w] as u32;
        if done {
            self.finished |= bit;
            self.depth[w] = 0;
        } else if self.depth[w] > 0 && self.head[w] != pc {
            self.wrong_path |= bit;
        }
        self.refresh(w, kernel);
    }

    /// Empties a warp's instruction buffer.
    pub fn drop_buffer(&mut self, w: usize) {
        let bit = 1u64 << w;
        self.depth[w] = 0;
        self.buffered &= !bit;
        self.clear &= !bit;
        self.on_memory &= !bit;
        self.wrong_path &= !bit;
    }

    /// A retired warp leaves its slot.
    pub fn leave(&mut self, w: usize) {
        self.resident &= !(1 << w);
        self.finished &= !(1 << w);
        self.drop_buffer(w);
    }

    /// An instruction has issued: its results are pending.
    #[inline]
    pub fn reserve(&mut self, w: usize, dest: &[u64], memory: bool) {
        let at = w * self.words;
        for (i, d) in dest.iter().enumerate() {
            self.pending[at + i] |= d;
            if memory {
                self.pending_memory[at + i] |= d;
            }
        }
    }

    /// An instruction's results are available.
    #[inline]
    pub fn release(&mut self, w: usize, kernel: &Kernel, pc: u32) {
        let at = w * self.words;
        for (i, d) in kernel.dest(pc).iter().enumerate() {
            self.pending[at + i] &= !d;
            self.pending_memory[at + i] &= !d;
        }
        self.recheck(w, kernel);
    }

    /// A fence is over once the warp's earlier accesses are done.
    #[inline]
    pub fn check_fence(&mut self, w: usize) {
        if self.on_fence & (1 << w) != 0 && self.loads[w] == 0 && self.stores[w] == 0 && self.atomics[w] == 0 {
            self.on_fence &= !(1 << w);
        }
    }

    /// The warp has exited and nothing of it is under way.
    #[inline]
    pub fn retired(&self, w: usize) -> bool {
        self.finished & (1 << w) != 0
            && self.in_flight[w] == 0
            && self.loads[w] == 0
            && self.stores[w] == 0
            && self.atomics[w] == 0
    }
}
