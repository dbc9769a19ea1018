//! One L2 sub-partition.
//!
//! Packets of the crossbar pass a delay line (the raster-operation path) and a queue; together they are a FIFO with a
//! minimum stay. Its head makes one 32-byte sector access per L2 cycle: a read of a whole line takes four cycles and is
//! answered by four replies. Write-back; a written sector is valid and dirty without being fetched, whether it was written
//! wholly or in part (the fetch of the other bytes, which hardware does lazily on a later read, is left out). Misses are
//! kept per sector; an access to a sector that is on its way, or whose waiting accesses are still being answered, joins
//! them, so that accesses to a sector stay in order. Atomics execute on a sector that is present, one per cycle.
//! A cycle goes from the back to the front: a fill from DRAM, an answer of a filled sector, an access.

use super::layout::Layout;
use super::packet::{Answer, AtomicMemory, Atomics, Packet};
use crate::activity::{MEM_EVENTS, MemEvent};
use crate::cache::{Evicted, LineIndex, Mshr, Probe, SECTOR_BYTES, TagArray};
use crate::message::{Femtoseconds, ReplyKind, RequestKind};
use crate::ring::Ring;
use crate::spec::CacheSpec;
use crate::stats::Counters;
use serde::{Deserialize, Serialize};

/// Counts of the memory side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The L2, DRAM and crossbar fields are kept, the others stay zero.
    pub counters: Counters,
    /// Indexed by [`MemEvent`].
    pub events: [u64; MEM_EVENTS],
}

impl Tally {
    /// Counts events.
    #[inline]
    pub fn event(&mut self, event: MemEvent, count: u64) {
        self.events[event as usize] += count;
    }
}

/// An SM's use of the L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Use {
    /// Accesses, as [`Counters::l2_accesses`].
    pub accesses: u64,
    /// Those that missed.
    pub misses: u64,
}

/// Sectors of one line that a DRAM burst may move at most.
pub const MAX_PARTS: usize = 4;

/// An access to one DRAM burst, on its way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// When it is at the DRAM queue.
    pub ready: Femtoseconds,
    /// Slice-local address of the burst.
    pub local: u64,
    /// MSHR entries that a read is for, per sector.
    pub entries: [u16; MAX_PARTS],
    /// Sectors that are wanted.
    pub parts: u8,
    /// Direction.
    pub write: bool,
}

/// A sector on its way back.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Fill {
    /// When its last data are here.
    pub ready: Femtoseconds,
    /// The MSHR entry that waits for it.
    pub entry: u16,
}

/// Where an MSHR entry's sector goes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Target {
    line: LineIndex,
    sector: u8,
}

/// State of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// From the crossbar.
    pub input: Ring<Packet>,
    /// To the DRAM queue.
    pub to_dram: Ring<Burst>,
    /// From DRAM.
    pub from_dram: Ring<Fill>,
    /// To the crossbar.
    pub replies: Ring<Answer>,
    /// The head of `input` cannot proceed until a reply or a DRAM access leaves, or an MSHR entry is freed.
    pub blocked: bool,
    tags: TagArray,
    mshr: Mshr<Answer>,
    targets: Vec<Target>,
    /// MSHR entry of a reserved sector, by line × 4 + sector.
    entries: Vec<u16>,
    /// Filled MSHR entries, whose accesses are being answered in order.
    filled: Ring<u16>,
    /// Accesses of the first of them that have been answered.
    answered: usize,
}

/// What a cycle of a slice works with.
pub struct Surroundings<'a, M> {
    /// Time of the cycle.
    pub now: Femtoseconds,
    /// L2 period.
    pub period: Femtoseconds,
    /// Parameters.
    pub layout: &'a Layout,
    /// Payloads.
    pub atomics: &'a mut Atomics,
    /// Counts.
    pub tally: &'a mut Tally,
    /// Each SM's part in them.
    pub per_sm: &'a mut [L2Use],
    /// The program's memory.
    pub memory: &'a mut M,
}

impl Slice {
    /// An empty slice.
    pub fn new(cache: &CacheSpec, layout: &Layout) -> Self {
        let tags = TagArray::new(cache);
        let entries = cache.mshrs.clamp(1, u16::MAX.into());
        Slice {
            input: Ring::new(layout.input_depth),
            to_dram: Ring::new(layout.dram_depth),
            from_dram: Ring::new(layout.return_depth),
            replies: Ring::new(layout.reply_depth),
            blocked: false,
            mshr: Mshr::new(entries, cache.mshr_merges),
            targets: vec![Target::default(); entries as usize],
            entries: vec![0; tags.lines() * 4],
            filled: Ring::new(entries as usize),
            answered: 0,
            tags,
        }
    }

    /// Whether a packet could be taken from the crossbar.
    #[inline]
    pub fn has_room(&self, layout: &Layout) -> bool {
        self.input.len() < layout.input_depth
    }

    /// Whether accesses wait that a reply's departure could let proceed.
    #[inline]
    pub fn waits_for_replies(&self) -> bool {
        self.blocked || !self.filled.is_empty()
    }

    /// One L2 cycle. Returns when the next one could do something, if nothing comes from outside.
    pub fn cycle<M: AtomicMemory>(&mut self, s: &mut Surroundings<'_, M>) -> Femtoseconds {
        if let Some(&Fill { ready, entry }) = self.from_dram.front() {
            if ready <= s.now {
                self.from_dram.pop();
                let Target { line, sector } = self.targets[usize::from(entry)];
                self.tags.validate(line, 1 << sector);
                self.filled.push(entry);
            }
        }
        self.answer(s);
        self.access(s);
        self.next(s)
    }

    /// When this slice has something to do next.
    fn next<M>(&self, s: &Surroundings<'_, M>) -> Femtoseconds {
        let room = self.replies.len() < s.layout.reply_depth;
        if !self.filled.is_empty() && room {
            return s.now;
        }
        let fill = self.from_dram.front().map_or(Femtoseconds::MAX, |fill| fill.ready);
        match self.input.front() {
            Some(head) if !self.blocked => fill.min(head.ready),
            _ => fill,
        }
    }

    /// Answers one access that waited for its sector.
    fn answer<M: AtomicMemory>(&mut self, s: &mut Surroundings<'_, M>) {
        let Some(&entry) = self.filled.front() else { return };
        if self.replies.len() >= s.layout.reply_depth {
            return;
        }
        let entry = u32::from(entry);
        let waiting = self.mshr.tags(entry);
        let (answer, last) = (waiting[self.answered], self.answered + 1 == waiting.len());
        let Target { line, sector } = self.targets[entry as usize];
        if answer.kind == ReplyKind::Atomic {
            s.atomics.execute(answer.sm, answer.atomic, s.memory);
            self.tags.write(line, 1 << sector);
        }
        self.replies.push(answer);
        self.answered += 1;
        if last {
            self.answered = 0;
            self.filled.pop();
            self.mshr.release(entry);
            self.tags.fill(line, 1 << sector);
            self.blocked = false;
        }
    }

    /// Makes the next sector access of the packet at the head, if that is possible.
    fn access<M: AtomicMemory>(&mut self, s: &mut Surroundings<'_, M>) {
        let packet = match self.input.front() {
            Some(head) if head.ready <= s.now && !self.blocked => *head,
            _ => return,
        };
        let sector = packet.left.trailing_zeros() as u8;
        let bit = 1 << sector;
        let last = packet.left == bit;
        let hit = match packet.kind {
            RequestKind::Read => self.read(s, &packet, sector, ReplyKind::Data),
            RequestKind::Atomic => self.read(s, &packet, sector, ReplyKind::Atomic),
            RequestKind::Write => self.write(s, &packet, bit, last),
        };
        let Some(hit) = hit else {
            self.blocked = true;
            return;
        };
        if last {
            self.input.pop();
        } else if let Some(head) = self.input.front_mut() {
            head.left &= !bit;
        }
        s.tally.counters.l2_accesses += 1;
        s.tally.counters.l2_misses += u64::from(!hit);
        let own = &mut s.per_sm[usize::from(packet.sm)];
        own.accesses += 1;
        own.misses += u64::from(!hit);
        let event = match (packet.kind, hit) {
            (RequestKind::Read, true) => MemEvent::L2ReadHit,
            (RequestKind::Read, false) => MemEvent::L2ReadMiss,
            (_, true) => MemEvent::L2WriteHit,
            (_, false) => MemEvent::L2WriteMiss,
        };
        s.tally.event(event, 1);
    }

    /// A read or an atomic of one sector. Says whether it hit (joining a miss under way is a hit: it costs no fetch);
    /// `None` if it cannot proceed.
    fn read<M: AtomicMemory>(
        &mut self,
        s: &mut Surroundings<'_, M>,
        packet: &Packet,
        sector: u8,
        kind: ReplyKind,
    ) -> Option<bool> {
        let bit = 1 << sector;
        let answer = Answer::new(packet, kind, bit);
        match self.tags.probe(packet.local, bit) {
            Probe::Hit(line) | Probe::Pending(line) if self.tags.reserved(line) & bit != 0 => {
                let entry = self.entries[line as usize * 4 + usize::from(sector)];
                if !self.mshr.merge(entry.into(), answer) {
                    return None;
                }
                self.tags.touch(line);
                Some(true)
            }
            Probe::Hit(line) | Probe::Pending(line) => {
                if self.replies.len() >= s.layout.reply_depth {
                    return None;
                }
                if kind == ReplyKind::Atomic {
                    s.atomics.execute(answer.sm, answer.atomic, s.memory);
                    self.tags.write(line, bit);
                }
                self.tags.touch(line);
                self.replies.push(answer);
                Some(true)
            }
            Probe::SectorMiss(line) => {
                if self.mshr.is_full() || self.to_dram.len() >= s.layout.dram_depth {
                    return None;
                }
                self.tags.touch(line);
                self.fetch(s, packet.local, line, sector, answer)
            }
            Probe::Miss(line) => {
                if self.mshr.is_full() || !self.replace(s, line, packet.local, 1) {
                    return None;
                }
                self.fetch(s, packet.local, line, sector, answer)
            }
            Probe::NoLine => None,
        }
    }

    /// A write of one sector; the last one of a packet is acknowledged. As [`Self::read`].
    fn write<M>(&mut self, s: &mut Surroundings<'_, M>, packet: &Packet, bit: u8, last: bool) -> Option<bool> {
        if last && self.replies.len() >= s.layout.reply_depth {
            return None;
        }
        let (line, hit) = match self.tags.probe(packet.local, bit) {
            Probe::Hit(line) | Probe::Pending(line) => (line, true),
            Probe::SectorMiss(line) => (line, false),
            Probe::Miss(line) if self.replace(s, line, packet.local, 0) => (line, false),
            Probe::Miss(_) | Probe::NoLine => return None,
        };
        self.tags.touch(line);
        self.tags.write(line, bit);
        if last {
            self.replies.push(Answer::new(packet, ReplyKind::WriteAck, packet.sectors));
        }
        Some(hit)
    }

    /// Gives a line to another address and sends its dirty sectors to DRAM, if there is room for those and for
    /// `more` accesses.
    fn replace<M>(&mut self, s: &mut Surroundings<'_, M>, line: LineIndex, address: u64, more: usize) -> bool {
        let dirty = self.tags.dirty(line);
        if self.to_dram.len() + dirty.count_ones() as usize + more > s.layout.dram_depth {
            return false;
        }
        if let Some(Evicted { address, dirty: mut left }) = self.tags.replace(line, address) {
            s.tally.counters.l2_writebacks += u64::from(left.count_ones());
            while left != 0 {
                let local = address + u64::from(left.trailing_zeros()) * SECTOR_BYTES;
                self.send(s, local, 0, true);
                left &= left - 1;
            }
        }
        true
    }

    /// Fetches a sector for an access that waits. The caller has made sure of an MSHR entry and of room.
    fn fetch<M>(
        &mut self,
        s: &mut Surroundings<'_, M>,
        address: u64,
        line: LineIndex,
        sector: u8,
        answer: Answer,
    ) -> Option<bool> {
        let local = address + u64::from(sector) * SECTOR_BYTES;
        let entry = self.mshr.allocate(local, answer)? as u16;
        self.tags.reserve(line, 1 << sector);
        self.targets[usize::from(entry)] = Target { line, sector };
        self.entries[line as usize * 4 + usize::from(sector)] = entry;
        self.send(s, local, entry, false);
        Some(false)
    }

    /// Sends a sector to DRAM. If the last burst sent is the sector's, in the same direction, and still on its way, the
    /// sector joins it: whole lines move in whole bursts.
    fn send<M>(&mut self, s: &Surroundings<'_, M>, sector: u64, entry: u16, write: bool) {
        let size = SECTOR_BYTES * s.layout.burst_parts;
        let (local, part) = (sector & !(size - 1), (sector & (size - 1)) / SECTOR_BYTES);
        if let Some(last) = self.to_dram.back_mut() {
            if last.local == local && last.write == write && last.parts >> part & 1 == 0 {
                last.parts |= 1 << part;
                last.entries[part as usize] = entry;
                return;
            }
        }
        let mut entries = [0; MAX_PARTS];
        entries[part as usize] = entry;
        let ready = s.now + s.layout.dram_latency * s.period;
        self.to_dram.push(Burst { ready, local, entries, parts: 1 << part, write });
    }
}
