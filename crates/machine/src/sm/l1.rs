//! An L1 cache of an SM: tags, MSHRs, a miss queue towards the crossbar, and the list of misses that have come back.
//!
//! The same for data, texture, constant and instruction caches; lines are allocated on a miss and filled sector by sector
//! as replies come. Writes (data only) go to the next level; a global write evicts its line, a local write that hits
//! stays in the line (write-back), a write that misses allocates nothing.

use crate::cache::{Mshr, Probe, SECTOR_BYTES, TagArray};
use crate::message::{Femtoseconds, Outbox, Request, RequestKind, Traffic, packet_flits};
use crate::ring::Ring;
use crate::seldom::seldom;
use crate::spec::CacheSpec;
use serde::{Deserialize, Serialize};

/// Outcome of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The data is here.
    Hit,
    /// Under way; the tag will come out of [`L1::ready`].
    Miss,
    /// Not possible now: no line can be replaced.
    NoLine,
    /// Not possible now: no MSHR, or no merge slot in it.
    NoMshr,
    /// Not possible now: the miss queue is full.
    QueueFull,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It went out.
    Requested,
    /// It was answered.
    Answered,
}

/// Requests that went out and were answered in this cycle, by MSHR; kept only while somebody observes.
#[derive(Clone, Debug, Default)]
pub struct MissLog {
    /// Somebody observes.
    pub on: bool,
    /// In the order in which it happened.
    pub list: Vec<(Fate, u16)>,
}

/// One L1 cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct L1 {
    /// For observers.
    #[serde(skip)]
    pub log: MissLog,
    tags: TagArray,
    mshr: Mshr,
    /// Sectors still to come, and the cycle of the miss, per MSHR.
    left: Vec<u8>,
    since: Vec<u64>,
    traffic: Traffic,
    queue: Ring<Request>,
    queue_limit: usize,
    /// Tags of accesses whose line has come, in order.
    pub ready: Ring<u32>,
    line_bytes: u64,
    /// Sum of miss latencies in core cycles, and their number.
    pub latency: (u64, u64),
    /// The line that the last read miss replaced, until it is taken.
    pub evicted: Option<u64>,
}

/// What sending needs to know of the way to the crossbar.
#[derive(Debug)]
pub struct Port<'a> {
    /// The SM.
    pub sm: u16,
    /// Flits that the crossbar's input still takes.
    pub credits: &'a mut u32,
    /// When a request sent now is there.
    pub arrival: Femtoseconds,
    /// Flit size in bytes.
    pub flit_bytes: u32,
    /// Where it goes.
    pub outbox: &'a mut Outbox,
    /// Counts the flits sent.
    pub flits: &'a mut u64,
}

impl Port<'_> {
    /// Sends a request if the crossbar's input takes it.
    #[inline(always)]
    pub fn send(&mut self, mut request: Request) -> bool {
        let flits = request_flits(&request, self.flit_bytes);
        if *self.credits < flits {
            return false;
        }
        *self.credits -= flits;
        *self.flits += flits as u64;
        request.time = self.arrival;
        request.sm = self.sm;
        request.flits = flits as u8;
        self.outbox.requests.push(request);
        true
    }
}

/// Flits of a request: a header, and the sectors of a write or atomic.
#[inline]
fn request_flits(request: &Request, flit_bytes: u32) -> u32 {
    match request.kind {
        RequestKind::Read => packet_flits(0, flit_bytes),
        RequestKind::Write | RequestKind::Atomic => packet_flits(request.sectors.count_ones(), flit_bytes),
    }
}

/// The tag of a read that fills a line: this, and its MSHR.
pub const FILL: u32 = 1 << 31;

/// Addresses are sent as 128-byte lines and a mask of their sectors.
const MESSAGE_LINE: u64 = 128;

/// Line and sector mask of a message about `sectors` 32-byte sectors from `address` on.
#[inline]
pub fn message_sectors(address: u64, sectors: u32) -> (u64, u8) {
    let line = address / MESSAGE_LINE * MESSAGE_LINE;
    (line, (((1u32 << sectors) - 1) << ((address - line) / SECTOR_BYTES)) as u8)
}

impl L1 {
    /// An empty cache.
    pub fn new(spec: &CacheSpec, traffic: Traffic) -> L1 {
        L1 {
            log: MissLog::default(),
            tags: TagArray::new(spec),
            mshr: Mshr::new(spec.mshrs, spec.mshr_merges),
            left: vec![0; spec.mshrs.max(1) as usize],
            since: vec![0; spec.mshrs.max(1) as usize],
            traffic,
            queue: Ring::new(spec.miss_queue as usize + 2),
            queue_limit: spec.miss_queue.max(1) as usize,
            ready: Ring::new((spec.mshrs * spec.mshr_merges).min(4096) as usize + 1),
            line_bytes: spec.line_bytes as u64,
            latency: (0, 0),
            evicted: None,
        }
    }

    /// Nothing waits to be sent or handed over.
    #[inline(always)]
    pub fn idle(&self) -> bool {
        self.queue.is_empty() && self.ready.is_empty()
    }

    /// Requests wait for the crossbar.
    #[inline(always)]
    pub fn sending(&self) -> bool {
        !self.queue.is_empty()
    }

    /// A miss is outstanding.
    pub fn missing(&self) -> bool {
        self.mshr.used() > 0
    }

    /// All MSHRs are taken.
    pub fn mshrs_full(&self) -> bool {
        self.mshr.is_full()
    }

    /// Prepares for a launch: no lines, statistics at zero. Nothing may be outstanding.
    pub fn begin(&mut self) {
        self.latency = (0, 0);
        self.tags.invalidate_all();
    }

    /// Address of the line of a byte.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        self.tags.line_address(address)
    }

    /// Reads the line of an address for the access `tag`.
    #[inline(always)]
    pub fn read(&mut self, address: u64, tag: u32, now: u64) -> Outcome {
        let line = self.tags.line_address(address);
        let all = self.tags.all_sectors();
        match self.tags.probe(line, all) {
            Probe::Hit(at) => {
                self.tags.touch(at);
                Outcome::Hit
            }
            Probe::Pending(at) => match self.mshr.find(line) {
                Some(entry) => {
                    if self.mshr.merge(entry, tag) {
                        self.tags.touch(at);
                        Outcome::Miss
                    } else {
                        Outcome::NoMshr
                    }
                }
                None => Outcome::NoMshr,
            },
            Probe::SectorMiss(at) | Probe::Miss(at) => {
                if self.queue.len() >= self.queue_limit {
                    return Outcome::QueueFull;
                }
                // A line whose fill is on its way stays until it is there, so no MSHR has this one.
                let Some(entry) = self.mshr.allocate(line, tag) else { return Outcome::NoMshr };
                let sectors = (self.line_bytes / SECTOR_BYTES) as u32;
                self.left[entry as usize] = sectors as u8;
                self.since[entry as usize] = now;
                if self.log.on {
                    seldom();
                    self.log.list.push((Fate::Requested, entry as u16));
                }
                let old = self.tags.replace(at, line);
                self.evicted = old.map(|old| old.address);
                if let Some(old) = old
                    && old.dirty != 0
                {
                    self.queue.push(self.request(RequestKind::Write, old.address, old.dirty, u32::MAX));
                }
                self.tags.reserve(at, all);
                let (line, mask) = message_sectors(line, sectors);
                self.queue.push(self.request(RequestKind::Read, line, mask, FILL | entry));
                Outcome::Miss
            }
            Probe::NoLine => Outcome::NoLine,
        }
    }

    /// Writes sectors of a 128-byte line for a warp. `Hit` means that nothing is sent and nothing will be acknowledged.
    /// The second value says whether the line was present.
    #[inline(always)]
    pub fn write(&mut self, line: u64, sectors: u8, warp: u32, local: bool) -> (Outcome, bool) {
        let found = self.tags.find(line).filter(|&at| self.tags.valid(at) != 0 && self.tags.reserved(at) == 0);
        if local && let Some(at) = found {
            self.tags.touch(at);
            self.tags.write(at, sectors);
            return (Outcome::Hit, true);
        }
        if self.queue.len() >= self.queue_limit {
            return (Outcome::QueueFull, found.is_some());
        }
        if let Some(at) = found {
            self.evicted = self.tags.evict(at).map(|old| old.address);
        }
        let mut request = self.request(RequestKind::Write, line, sectors, warp);
        if local {
            request.traffic = Traffic::Local;
        }
        self.queue.push(request);
        (Outcome::Miss, found.is_some())
    }

    fn request(&self, kind: RequestKind, line: u64, sectors: u8, tag: u32) -> Request {
        Request { time: 0, sm: 0, kind, traffic: self.traffic, sectors, flits: 0, tag, line, atomic: 0 }
    }

    /// Sends the oldest waiting request if it can go.
    #[inline(always)]
    pub fn send(&mut self, port: &mut Port<'_>) -> bool {
        match self.queue.front() {
            Some(&request) if port.send(request) => {
                self.queue.pop();
                true
            }
            _ => false,
        }
    }

    /// One sector of a read has come; `tag`: the reply's, with [`FILL`].
    #[inline(always)]
    pub fn fill(&mut self, tag: u32, now: u64) {
        let entry = tag & !FILL;
        let e = entry as usize;
        self.left[e] -= 1;
        if self.left[e] > 0 {
            return;
        }
        if let Some(at) = self.tags.find(self.mshr.key(entry)) {
            self.tags.fill(at, self.tags.all_sectors());
        }
        self.latency.0 += now - self.since[e];
        self.latency.1 += 1;
        if self.log.on {
            seldom();
            self.log.list.push((Fate::Answered, entry as u16));
        }
        self.mshr.tags(entry).iter().for_each(|&tag| self.ready.push(tag));
        self.mshr.release(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SetIndex;

    fn cache() -> L1 {
        let spec = CacheSpec {
            sets: 2,
            ways: 1,
            line_bytes: 128,
            mshrs: 2,
            mshr_merges: 2,
            miss_queue: 2,
            set_index: SetIndex::Linear,
        };
        L1::new(&spec, Traffic::Data)
    }

    #[test]
    fn a_miss_merges_fills_and_hits() {
        let mut c = cache();
        assert_eq!(c.read(256, 7, 0), Outcome::Miss);
        assert_eq!(c.read(300, 8, 1), Outcome::Miss);
        assert_eq!(c.read(300, 9, 1), Outcome::NoMshr);
        assert_eq!(c.read(0, 9, 1), Outcome::NoLine);
        let sent = c.queue.front().map_or(0, |request| request.tag);
        for _ in 0..4 {
            assert!(c.ready.is_empty());
            c.fill(sent, 100);
        }
        assert_eq!([c.ready.pop(), c.ready.pop(), c.ready.pop()], [Some(7), Some(8), None]);
        assert_eq!(c.latency, (100, 1));
        assert_eq!(c.read(256, 7, 101), Outcome::Hit);
    }

    #[test]
    fn a_global_write_evicts_a_local_one_stays() {
        let mut c = cache();
        c.read(0, 1, 0);
        let sent = c.queue.front().map_or(0, |request| request.tag);
        (0..4).for_each(|_| c.fill(sent, 9));
        assert_eq!((c.write(0, 1, 3, true), c.evicted), ((Outcome::Hit, true), None));
        assert_eq!((c.write(0, 1, 3, false), c.evicted), ((Outcome::Miss, true), Some(0)));
        assert_eq!(c.write(0, 1, 3, false), (Outcome::QueueFull, false));
    }

    #[test]
    fn packets() {
        let r = |kind, sectors| cache().request(kind, 0, sectors, 0);
        assert_eq!(request_flits(&r(RequestKind::Read, 15), 40), 1);
        assert_eq!(request_flits(&r(RequestKind::Write, 1), 40), 1);
        assert_eq!(request_flits(&r(RequestKind::Write, 15), 40), 4);
        assert_eq!(request_flits(&r(RequestKind::Write, 1), 32), 2);
        assert_eq!(message_sectors(64, 2), (0, 0b1100));
    }
}
