//! Messages between an SM and the rest of the chip: the only way in or out of an SM (windows, rule 1).
//!
//! A message sent in one window is delivered in a later one. Within a window messages are handled in (time, SM) order.

use serde::{Deserialize, Serialize};
use warpwatt_simt::effect::{AtomicOp, AtomicType};

/// A point in simulated time, or a span, in femtoseconds.
pub type Femtoseconds = u64;

/// Bytes of a packet's header: address, kind, tag.
const HEADER_BYTES: u32 = 8;

/// Crossbar flits of a packet: its header, and 32-byte sectors of data.
#[inline]
pub fn packet_flits(sectors: u32, flit_bytes: u32) -> u32 {
    (HEADER_BYTES + 32 * sectors).div_ceil(flit_bytes)
}

/// What a request asks of the memory side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestKind {
    #[default]
    /// Read the sectors; one reply per sector.
    Read,
    /// Write the sectors (the data has its functional effect elsewhere); one acknowledgement.
    Write,
    /// Execute an atomic on words of one 32-byte sector; one reply with the old values (an acknowledgement for `red`).
    Atomic,
}

/// Which cache of the SM a request comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Traffic {
    #[default]
    Data,
    Local,
    Constant,
    Texture,
    Instruction,
}

/// SM → memory side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// When the request's first flit is at the crossbar's input: time sent + NoC latency. The others follow, one a cycle.
    pub time: Femtoseconds,
    /// The sending SM.
    pub sm: u16,
    /// Kind.
    pub kind: RequestKind,
    /// Origin.
    pub traffic: Traffic,
    /// 32-byte sectors of the 128-byte line that are read or written, bit 0 = lowest address.
    pub sectors: u8,
    /// Crossbar flits of the packet.
    pub flits: u8,
    /// The SM's own tag, returned in every reply.
    pub tag: u32,
    /// Address of the 128-byte line.
    pub line: u64,
    /// For `Atomic`: index into the window's [`Outbox::atomics`].
    pub atomic: u32,
}

impl Request {
    /// Replies that will come, credits apart.
    pub fn replies(&self) -> u64 {
        match self.kind {
            RequestKind::Read => u64::from((self.sectors & 0xf).count_ones().max(1)),
            RequestKind::Write | RequestKind::Atomic => 1,
        }
    }
}

/// One lane's part of an atomic.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct AtomicLane {
    /// Lane in the warp.
    pub lane: u8,
    /// Address of the word.
    pub address: u64,
    /// Operand; the comparand of `cas`.
    pub operand: u64,
    /// New value of `cas`.
    pub swap: u64,
}

/// At most this many lanes share one atomic transaction (32 bytes of 4-byte words; `f16x2` included).
pub const ATOMIC_LANES: usize = 8;

/// The payload of an atomic transaction.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AtomicPayload {
    /// Operation.
    pub op: AtomicOp,
    /// Type.
    pub ty: AtomicType,
    /// Lanes used.
    pub count: u8,
    /// Lanes, in lane order.
    pub lanes: [AtomicLane; ATOMIC_LANES],
}

/// What an SM sends in one window, in time order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outbox {
    /// Requests.
    pub requests: Vec<Request>,
    /// Payloads of atomic requests.
    pub atomics: Vec<AtomicPayload>,
}

impl Outbox {
    /// Empty, with room for what an SM sends in a window.
    pub fn roomy() -> Outbox {
        Outbox { requests: Vec::with_capacity(256), atomics: Vec::with_capacity(64) }
    }
}

/// What a reply brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplyKind {
    #[default]
    /// One 32-byte sector of a read (`sectors` has one bit).
    Data,
    /// A write is complete.
    WriteAck,
    /// An atomic is done; `atomic` indexes [`Inbox::atomics`].
    Atomic,
    /// `tag` crossbar input flits are free again.
    Credit,
}

impl ReplyKind {
    /// Sectors of data that such a reply carries.
    pub fn data_sectors(self) -> u32 {
        match self {
            ReplyKind::Data | ReplyKind::Atomic => 1,
            ReplyKind::WriteAck | ReplyKind::Credit => 0,
        }
    }
}

/// Memory side → SM.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    /// When it is at the SM.
    pub time: Femtoseconds,
    /// Kind.
    pub kind: ReplyKind,
    /// Origin of the request.
    pub traffic: Traffic,
    /// Sectors of this reply.
    pub sectors: u8,
    /// The request's tag.
    pub tag: u32,
    /// The request's line.
    pub line: u64,
    /// Index into the inbox's atomic results.
    pub atomic: u32,
}

/// Old values of an atomic transaction, lane by lane as in its payload.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct AtomicResult {
    /// Lanes used.
    pub count: u8,
    /// Lane numbers.
    pub lanes: [u8; ATOMIC_LANES],
    /// Old values.
    pub old: [u64; ATOMIC_LANES],
}

/// What the memory side sends to one SM in one window, in time order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Inbox {
    /// Replies.
    pub replies: Vec<Reply>,
    /// Results of atomic replies.
    pub atomics: Vec<AtomicResult>,
}

impl Inbox {
    /// Empty, with room for what an SM receives in a window.
    pub fn roomy() -> Inbox {
        Inbox { replies: Vec::with_capacity(256), atomics: Vec::with_capacity(64) }
    }
}
