//! What travels inside the memory side, and the payloads of atomics on their way.

use crate::message::{AtomicLane, AtomicPayload, AtomicResult, Femtoseconds, ReplyKind, Request, RequestKind, Traffic};
use serde::{Deserialize, Serialize};
use warpwatt_simt::effect::{AtomicOp, AtomicType};
use warpwatt_simt::memory::GlobalMemory;

/// Executes atomics on the simulated program's memory.
pub trait AtomicMemory {
    /// Executes the lanes of one transaction of an SM in order and gives their old values.
    fn atomic(&mut self, sm: u8, payload: &AtomicPayload) -> AtomicResult;
}

/// For spans in which no atomic can execute.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

impl AtomicMemory for NoMemory {
    fn atomic(&mut self, _: u8, _: &AtomicPayload) -> AtomicResult {
        debug_assert!(false, "an atomic where there should be none");
        NO_RESULT
    }
}

impl AtomicMemory for GlobalMemory {
    /// Addresses were checked when the instruction issued; a word that is gone all the same reads as zero.
    fn atomic(&mut self, _: u8, payload: &AtomicPayload) -> AtomicResult {
        let mut result = AtomicResult { count: payload.count, ..NO_RESULT };
        for (i, lane) in payload.lanes.iter().enumerate().take(usize::from(payload.count)) {
            result.lanes[i] = lane.lane;
            let old = GlobalMemory::atomic(self, lane.address, payload.op, payload.ty, lane.operand, lane.swap);
            result.old[i] = old.unwrap_or(0);
        }
        result
    }
}

/// A request in the memory side.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Packet {
    /// When it is at its next station.
    pub ready: Femtoseconds,
    /// Line, as the SM knows it.
    pub line: u64,
    /// Slice-local address of the line.
    pub local: u64,
    /// The SM's tag.
    pub tag: u32,
    /// Place of an atomic's payload.
    pub atomic: u32,
    /// Sender.
    pub sm: u8,
    /// Destination.
    pub slice: u8,
    /// Kind.
    pub kind: RequestKind,
    /// Origin.
    pub traffic: Traffic,
    /// All sectors.
    pub sectors: u8,
    /// Sectors that have not accessed the L2 yet.
    pub left: u8,
    /// Flits.
    pub flits: u8,
}

impl Packet {
    /// A request on its way to a slice. A request without sectors is one for the first.
    pub fn new(request: &Request, slice: u32, local: u64, atomic: u32) -> Self {
        let sectors = if request.sectors & 0xf == 0 { 1 } else { request.sectors & 0xf };
        // An atomic stays within one sector.
        let left = if request.kind == RequestKind::Atomic { sectors & sectors.wrapping_neg() } else { sectors };
        Packet {
            ready: request.time,
            line: request.line,
            local,
            tag: request.tag,
            atomic,
            sm: request.sm as u8,
            slice: slice as u8,
            kind: request.kind,
            traffic: request.traffic,
            sectors: left,
            left,
            flits: request.flits.max(1),
        }
    }
}

impl Default for Packet {
    fn default() -> Self {
        Packet {
            ready: 0,
            line: 0,
            local: 0,
            tag: 0,
            atomic: 0,
            sm: 0,
            slice: 0,
            kind: RequestKind::Read,
            traffic: Traffic::Data,
            sectors: 0,
            left: 0,
            flits: 0,
        }
    }
}

/// A reply on its way to an SM; also what an MSHR remembers of an access that waits for its sector.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The request's line.
    pub line: u64,
    /// The SM's tag.
    pub tag: u32,
    /// Place of an atomic's payload and result.
    pub atomic: u32,
    /// Receiver.
    pub sm: u8,
    /// Kind.
    pub kind: ReplyKind,
    /// Origin of the request.
    pub traffic: Traffic,
    /// Sectors.
    pub sectors: u8,
}

impl Answer {
    /// The answer to some sectors of a request.
    pub fn new(packet: &Packet, kind: ReplyKind, sectors: u8) -> Self {
        let Packet { line, tag, atomic, sm, traffic, .. } = *packet;
        Answer { line, tag, atomic, sm, kind, traffic, sectors }
    }
}

impl Default for Answer {
    fn default() -> Self {
        Answer::new(&Packet::default(), ReplyKind::Data, 0)
    }
}

/// An atomic of no lanes.
pub const NO_PAYLOAD: AtomicPayload = AtomicPayload {
    op: AtomicOp::Add,
    ty: AtomicType::U32,
    count: 0,
    lanes: [AtomicLane { lane: 0, address: 0, operand: 0, swap: 0 }; 8],
};

const NO_RESULT: AtomicResult = AtomicResult { count: 0, lanes: [0; 8], old: [0; 8] };

/// Payloads of atomics between crossbar and L2, and their results between L2 and crossbar: places are reused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Atomics {
    payloads: Vec<AtomicPayload>,
    results: Vec<AtomicResult>,
    free: Vec<u32>,
}

impl Atomics {
    /// Room for so many at once before it has to grow.
    pub fn new(places: u32) -> Self {
        Atomics {
            payloads: vec![NO_PAYLOAD; places as usize],
            results: vec![NO_RESULT; places as usize],
            free: (0..places).rev().collect(),
        }
    }

    /// No payload is kept.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.payloads.len()
    }

    /// Keeps a payload.
    pub fn keep(&mut self, payload: &AtomicPayload) -> u32 {
        if let Some(place) = self.free.pop() {
            self.payloads[place as usize] = *payload;
            return place;
        }
        self.payloads.push(*payload);
        self.results.push(NO_RESULT);
        self.payloads.len() as u32 - 1
    }

    /// Executes a kept atomic of an SM.
    pub fn execute<M: AtomicMemory>(&mut self, sm: u8, place: u32, memory: &mut M) {
        self.results[place as usize] = memory.atomic(sm, &self.payloads[place as usize]);
    }

    /// Gives the result and frees the place.
    pub fn take(&mut self, place: u32) -> AtomicResult {
        self.free.push(place);
        self.results[place as usize]
    }
}
