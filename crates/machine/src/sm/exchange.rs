//! Everything that passes between an SM and the rest in a window: the SM's only door.

use crate::activity::SmActivity;
use crate::message::{Femtoseconds, Inbox, Outbox};
use serde::{Deserialize, Serialize};
use warpwatt_simt::effect::AtomicDest;
use warpwatt_simt::exec::Printed;
use warpwatt_simt::fault::Fault;
use warpwatt_simt::memory::StoreLog;

/// Dispatcher → SM: begin a CTA.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CtaStart {
    /// When.
    pub time: Femtoseconds,
    /// Linear CTA index.
    pub cta: u64,
}

/// SM → dispatcher: a CTA has ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CtaEnd {
    /// When.
    pub time: Femtoseconds,
    /// Linear CTA index.
    pub cta: u64,
}

/// SM → device heap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeapCall {
    /// When.
    pub time: Femtoseconds,
    /// Warp slot.
    pub warp: u8,
    /// The call's place in the program.
    pub pc: u32,
    /// `malloc` rather than `free`.
    pub malloc: bool,
    /// Lanes that call.
    pub lanes: u32,
    /// Bytes, or addresses, per lane.
    pub operands: [u64; 32],
    /// Where results go.
    pub dest: AtomicDest,
}

/// Device heap → SM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeapResult {
    /// When.
    pub time: Femtoseconds,
    /// Warp slot.
    pub warp: u8,
    /// Lanes.
    pub lanes: u32,
    /// Addresses (zero: no room), per lane.
    pub values: [u64; 32],
    /// Where they go.
    pub dest: AtomicDest,
    /// A `free` of what is no live block: the call's place in the program, the first lane to blame, its address.
    pub invalid: Option<(u32, u32, u64)>,
}

/// An SM's mail.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    /// To the SM: replies.
    pub inbox: Inbox,
    /// To the SM: CTAs to begin.
    pub starts: Vec<CtaStart>,
    /// To the SM: results of heap calls.
    pub heap_results: Vec<HeapResult>,
    /// From the SM: requests.
    pub outbox: Outbox,
    /// From the SM: stores of this window.
    pub log: StoreLog,
    /// From the SM: CTAs that ended.
    pub ended: Vec<CtaEnd>,
    /// From the SM: heap calls.
    pub heap: Vec<HeapCall>,
    /// From the SM: printed text, with its time.
    pub printed: Vec<(Femtoseconds, Printed)>,
    /// From the SM: the first fault, with its time.
    pub fault: Option<(Femtoseconds, Box<Fault>)>,
    /// When the SM will next do something without mail.
    pub next_time: Femtoseconds,
    /// Nothing is resident or outstanding in the SM.
    pub quiet: bool,
    /// Warp instructions that the SM has issued in this launch.
    pub warp_instructions: u64,
    /// Activity up to the last cut.
    pub sample: Option<SmActivity>,
}

impl Exchange {
    /// Empty; `stores` is the most store instructions that an SM can issue in a window.
    pub fn new(stores: u32) -> Exchange {
        Exchange {
            inbox: Inbox::roomy(),
            starts: Vec::with_capacity(64),
            heap_results: Vec::new(),
            outbox: Outbox::roomy(),
            log: StoreLog::new(stores),
            ended: Vec::with_capacity(64),
            heap: Vec::new(),
            printed: Vec::new(),
            fault: None,
            next_time: u64::MAX,
            quiet: true,
            warp_instructions: 0,
            sample: None,
        }
    }

    /// Whether mail waits for the SM.
    pub fn waiting(&self) -> bool {
        !(self.inbox.replies.is_empty() && self.starts.is_empty() && self.heap_results.is_empty())
    }
}
