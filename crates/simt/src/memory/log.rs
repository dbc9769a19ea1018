//! The timing simulator's view of global memory inside one window: stores go to the SM's own log and reach memory when
//! the window ends; loads see the log's bytes over memory; atomics are deferred to the memory partitions.
//!
//! A filter of 64 bits, one per 128-byte line modulo 64, makes a load that meets no logged line cost one AND.

use serde::{Deserialize, Serialize};

use super::GlobalMemory;
use super::access::{self, GlobalAccess, lanes_of};
use crate::effect::{AtomicOp, AtomicType};
use crate::fault::AccessError;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Run {
    address: u64,
    start: u32,
    bytes: u32,
}

/// The stores of one SM in one window, in order. It has room for as many as it was built for; more cost an allocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoreLog {
    filter: u64,
    runs: Vec<Run>,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

impl StoreLog {
    /// A log for `warp_stores` store instructions of a warp (each at most 32 lanes × 16 bytes).
    pub fn new(warp_stores: u32) -> StoreLog {
        let n = warp_stores as usize;
        StoreLog { filter: 0, runs: Vec::with_capacity(n * 32), data: Vec::with_capacity(n * 512) }
    }

    /// Nothing is logged.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Writes the logged bytes to memory, in order.
    pub fn apply(&self, memory: &mut GlobalMemory) {
        for run in &self.runs {
            // Each run was checked when it was logged, and allocations are never taken away.
            if let Some(place) = memory.slice_mut(run.address, run.bytes as u64) {
                place.copy_from_slice(&self.data[run.start as usize..][..run.bytes as usize]);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.filter = 0;
        self.runs.clear();
        self.data.clear();
    }

    fn push(&mut self, address: u64, bytes: &[u8]) {
        match self.runs.last_mut() {
            Some(last) if last.address + last.bytes as u64 == address => last.bytes += bytes.len() as u32,
            _ => self.runs.push(Run { address, start: self.data.len() as u32, bytes: bytes.len() as u32 }),
        }
        self.data.extend_from_slice(bytes);
    }

    /// Lays logged bytes over `out`, which was read from `address`.
    fn overlay(&self, address: u64, out: &mut [u8]) {
        for run in &self.runs {
            let (from, to) =
                (run.address.max(address), (run.address + run.bytes as u64).min(address + out.len() as u64));
            if from < to {
                let n = (to - from) as usize;
                let source = run.start as usize + (from - run.address) as usize;
                out[(from - address) as usize..][..n].copy_from_slice(&self.data[source..][..n]);
            }
        }
    }
}

/// Filter bits of the lines that a warp's (aligned) access touches. A run of a store lies in these lines too.
#[inline(always)]
fn filter_bits(address: &[u64; 32]) -> u64 {
    address.iter().fold(0, |bits, &a| bits | 1 << (a >> 7 & 63))
}

/// Memory shared with the other SMs, under this SM's own stores of the window.
#[derive(Debug)]
pub struct WindowView<'a> {
    memory: &'a GlobalMemory,
    log: &'a mut StoreLog,
    hint: usize,
}

impl<'a> WindowView<'a> {
    /// A view for one SM and window.
    pub fn new(memory: &'a GlobalMemory, log: &'a mut StoreLog) -> WindowView<'a> {
        WindowView { memory, log, hint: 0 }
    }
}

impl GlobalAccess for WindowView<'_> {
    const DEFERRED_ATOMICS: bool = true;

    #[inline(always)]
    fn load<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        out: &mut [[u8; B]; 32],
    ) -> Result<(), AccessError> {
        access::load(self.memory, &mut self.hint, lanes, address, out)?;
        if self.log.filter != 0 && self.log.filter & filter_bits(address) != 0 {
            for lane in lanes_of(lanes) {
                self.log.overlay(address[lane], &mut out[lane]);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn store<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        data: &[[u8; B]; 32],
    ) -> Result<(), AccessError> {
        let found = self.memory.find(address[0], self.hint);
        let shape = found.map(|index| {
            self.hint = index;
            let segment = self.memory.segment(index);
            let mut shape = access::shape::<B>(address, segment.base(), segment.data().len() as u64);
            shape.inside &= access::writable(segment.base());
            shape
        });
        let inside = shape.is_some_and(|s| s.inside);
        if !inside {
            access::check_store::<B>(self.memory, lanes, address)?;
        }
        let log = &mut *self.log;
        log.filter |= filter_bits(address);
        if lanes == u32::MAX && shape.is_some_and(|s| s.unit_stride) {
            log.push(address[0], data.as_flattened());
        } else {
            for lane in lanes_of(lanes) {
                log.push(address[lane], &data[lane]);
            }
        }
        Ok(())
    }

    /// Never reached: the executor defers atomics with this view.
    fn atomic(
        &mut self,
        lane: u32,
        address: u64,
        _: AtomicOp,
        _: AtomicType,
        _: u64,
        _: u64,
    ) -> Result<u64, AccessError> {
        Err(AccessError { problem: crate::fault::AccessProblem::Forbidden, lane, address })
    }

    fn check(&self, lane: u32, address: u64, bytes: u32) -> Result<(), AccessError> {
        self.memory.check(lane, address, bytes)
    }

    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        if self.memory.read(address, out).is_err() {
            return false;
        }
        if !self.log.is_empty() {
            self.log.overlay(address, out);
        }
        true
    }

    /// Never reached: the executor defers heap calls with this view.
    fn malloc(&mut self, _: u64) -> u64 {
        0
    }

    /// Never reached: the executor defers heap calls with this view.
    fn free(&mut self, _: u64) -> bool {
        false
    }
}
