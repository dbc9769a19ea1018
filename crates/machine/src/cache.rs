//! Tag array and miss-status holding registers, the same for every cache of the machine (L1s and L2 slices).
//!
//! Only tags and states: the data of the simulated program live elsewhere, so a cache here decides *when*, not *what*.
//! A line carries three masks over its 32-byte sectors: valid, dirty, reserved (a fill is on its way). A cache that is
//! not sectored passes all its sectors every time and reads the line as a whole through [`TagArray::state`].
//! Replacement is true LRU among lines without reserved sectors. Nothing allocates after construction.
//!
//! Left out: replacement policies other than LRU, and byte masks of partly written sectors.

use crate::spec::{CacheSpec, SetIndex};
use serde::{Deserialize, Serialize};

/// Position of a line in the array: set × ways + way. Valid until the line is replaced.
pub type LineIndex = u32;

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 32;

/// Tag of an invalid line: no line number is as large, since addresses are shifted right by at least five.
const NO_TAG: u64 = u64::MAX;

/// A line as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Holds nothing.
    Invalid,
    /// A fill of some sector is on its way: the line cannot be replaced.
    Reserved,
    /// Holds clean data.
    Valid,
    /// Holds data that the next level does not have.
    Modified,
}

/// Outcome of looking up some sectors of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// All sectors are valid.
    Hit(LineIndex),
    /// The line is present; all sectors that are not valid are on their way.
    Pending(LineIndex),
    /// The line is present, and some sector is neither valid nor on its way.
    SectorMiss(LineIndex),
    /// The line is absent; this one would be replaced.
    Miss(LineIndex),
    /// The line is absent and every line of its set is reserved.
    NoLine,
}

/// A line that lost its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Address of the line's first byte.
    pub address: u64,
    /// Sectors that must be written back.
    pub dirty: u8,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sectors {
    valid: u8,
    dirty: u8,
    reserved: u8,
}

/// Sets × ways of tags with LRU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TagArray {
    ways: u32,
    line_shift: u32,
    all: u8,
    set_bits: u32,
    index: SetIndex,
    clock: u64,
    tags: Vec<u64>,
    used: Vec<u64>,
    sectors: Vec<Sectors>,
}

impl TagArray {
    /// An empty array of the given geometry. Sets and line size are powers of two, the line at least one sector and
    /// at most eight (`Spec` validation holds users to that; a set count that is none is rounded up here).
    pub fn new(spec: &CacheSpec) -> Self {
        let sets = spec.sets.max(1).next_power_of_two();
        let lines = (sets * spec.ways.max(1)) as usize;
        let line_shift = spec.line_bytes.max(SECTOR_BYTES as u32).next_power_of_two().trailing_zeros();
        TagArray {
            ways: spec.ways.max(1),
            line_shift,
            all: (((1u32 << (1 << (line_shift - 5))) - 1) & 0xff) as u8,
            set_bits: sets.trailing_zeros(),
            index: spec.set_index,
            clock: 0,
            tags: vec![NO_TAG; lines],
            used: vec![0; lines],
            sectors: vec![Sectors::default(); lines],
        }
    }

    /// Address of the line that holds a byte.
    pub fn line_address(&self, address: u64) -> u64 {
        address >> self.line_shift << self.line_shift
    }

    /// Mask of all sectors of a line.
    pub fn all_sectors(&self) -> u8 {
        self.all
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.tags.len()
    }

    /// The set of an address. Linear: the low bits of the line number. Hash: those, XORed with the two next groups
    /// of as many bits, so that power-of-two strides spread. Fermi: the hash that Nugteren et al. ("A detailed GPU cache
    /// model based on reuse distance theory", HPCA 2014) found in its L1: the five low bits, XORed with address bits 13,
    /// 14, 15, 17 and 19; a sixth bit (64 sets, 48 KiB) is address bit 12 as it is.
    #[inline(always)]
    pub fn set_of(&self, address: u64) -> u32 {
        let line = address >> self.line_shift;
        let bits = self.set_bits;
        let mixed = match self.index {
            SetIndex::Linear => line,
            SetIndex::Hash => line ^ (line >> bits) ^ (line >> (2 * bits)),
            SetIndex::Fermi => {
                let high = address >> 13;
                line ^ (high & 7 | high >> 1 & 8 | high >> 2 & 16)
            }
        };
        (mixed & ((1 << bits) - 1)) as u32
    }

    /// The line of an address if it is present, in whatever state. Leaves LRU alone.
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<LineIndex> {
        let tag = address >> self.line_shift;
        let first = self.set_of(address) * self.ways;
        let set = &self.tags[first as usize..(first + self.ways) as usize];
        // No early exit: which way it is cannot be predicted, so a branch per way costs more than the comparisons.
        let mut found = u32::MAX;
        for (way, &t) in set.iter().enumerate() {
            found = if t == tag { way as u32 } else { found };
        }
        (found != u32::MAX).then(|| first + found)
    }

    /// Looks up sectors of the line of an address. Changes nothing: a hit is made the most recent by [`Self::touch`].
    #[inline(always)]
    pub fn probe(&self, address: u64, sectors: u8) -> Probe {
        match self.find(address) {
            Some(line) => {
                let s = self.sectors[line as usize];
                if s.valid & sectors == sectors {
                    Probe::Hit(line)
                } else if (s.valid | s.reserved) & sectors == sectors {
                    Probe::Pending(line)
                } else {
                    Probe::SectorMiss(line)
                }
            }
            None => self.victim(address).map_or(Probe::NoLine, Probe::Miss),
        }
    }

    /// The line that an absent address would take: an invalid one, or else the least recently used one without
    /// reserved sectors. `None` if there is none.
    pub fn victim(&self, address: u64) -> Option<LineIndex> {
        let first = self.set_of(address) * self.ways;
        let mut best: Option<(u64, LineIndex)> = None;
        for line in first..first + self.ways {
            let i = line as usize;
            if self.tags[i] == NO_TAG {
                return Some(line);
            }
            if self.sectors[i].reserved == 0 && best.is_none_or(|(age, _)| self.used[i] < age) {
                best = Some((self.used[i], line));
            }
        }
        best.map(|(_, line)| line)
    }

    /// Makes a line the most recently used of its set.
    #[inline(always)]
    pub fn touch(&mut self, line: LineIndex) {
        self.clock += 1;
        self.used[line as usize] = self.clock;
    }

    /// Gives a line to another address, with no sector valid, and makes it the most recent. Returns what it held.
    pub fn replace(&mut self, line: LineIndex, address: u64) -> Option<Evicted> {
        let old = self.evict(line);
        self.tags[line as usize] = address >> self.line_shift;
        self.touch(line);
        old
    }

    /// Empties a line. Returns what it held.
    pub fn evict(&mut self, line: LineIndex) -> Option<Evicted> {
        let i = line as usize;
        let held = self.evicted(line);
        self.tags[i] = NO_TAG;
        self.sectors[i] = Sectors::default();
        held
    }

    /// Empties the line of an address if it is present. Returns what it held.
    pub fn invalidate(&mut self, address: u64) -> Option<Evicted> {
        self.find(address).and_then(|line| self.evict(line))
    }

    /// Empties all lines without write-back.
    pub fn invalidate_all(&mut self) {
        self.tags.fill(NO_TAG);
        self.sectors.fill(Sectors::default());
    }

    /// Marks sectors as being on their way.
    #[inline]
    pub fn reserve(&mut self, line: LineIndex, sectors: u8) {
        self.sectors[line as usize].reserved |= sectors;
    }

    /// Sectors have arrived: valid, no longer reserved. What was written meanwhile stays dirty.
    #[inline]
    pub fn fill(&mut self, line: LineIndex, sectors: u8) {
        let s = &mut self.sectors[line as usize];
        s.valid |= sectors;
        s.reserved &= !sectors;
    }

    /// Sectors have been validated but stay reserved (their miss is still being served): see [`Self::fill`].
    #[inline]
    pub fn validate(&mut self, line: LineIndex, sectors: u8) {
        self.sectors[line as usize].valid |= sectors;
    }

    /// Sectors have been written: valid and dirty.
    #[inline]
    pub fn write(&mut self, line: LineIndex, sectors: u8) {
        let s = &mut self.sectors[line as usize];
        s.valid |= sectors;
        s.dirty |= sectors;
    }

    /// Sectors have been written back: clean.
    pub fn clean(&mut self, line: LineIndex, sectors: u8) {
        self.sectors[line as usize].dirty &= !sectors;
    }

    /// The line as a whole.
    pub fn state(&self, line: LineIndex) -> LineState {
        let s = self.sectors[line as usize];
        match s {
            Sectors { reserved: 1.., .. } => LineState::Reserved,
            Sectors { dirty: 1.., .. } => LineState::Modified,
            Sectors { valid: 1.., .. } => LineState::Valid,
            _ => LineState::Invalid,
        }
    }

    /// Valid sectors of a line.
    #[inline]
    pub fn valid(&self, line: LineIndex) -> u8 {
        self.sectors[line as usize].valid
    }

    /// Dirty sectors of a line.
    #[inline]
    pub fn dirty(&self, line: LineIndex) -> u8 {
        self.sectors[line as usize].dirty
    }

    /// Sectors of a line that are on their way.
    #[inline]
    pub fn reserved(&self, line: LineIndex) -> u8 {
        self.sectors[line as usize].reserved
    }

    /// Address and dirty sectors of a line, if it holds anything.
    pub fn evicted(&self, line: LineIndex) -> Option<Evicted> {
        let i = line as usize;
        (self.tags[i] != NO_TAG)
            .then(|| Evicted { address: self.tags[i] << self.line_shift, dirty: self.sectors[i].dirty })
    }
}

/// Miss-status holding registers: a fixed number of entries, each with up to `merges` waiting tags in order of arrival.
///
/// Keys are addresses (of lines or sectors: the user's choice). An entry found once may be kept by its index.
/// `T` is what a cache must remember of a waiting access: a number of its own, or the access itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mshr<T = u32> {
    merges: u32,
    used: u32,
    keys: Vec<u64>,
    counts: Vec<u32>,
    tags: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy + Default> Mshr<T> {
    /// Empty registers.
    pub fn new(entries: u32, merges: u32) -> Self {
        let (entries, merges) = (entries.max(1), merges.max(1));
        Mshr {
            merges,
            used: 0,
            keys: vec![NO_TAG; entries as usize],
            counts: vec![0; entries as usize],
            tags: vec![T::default(); (entries * merges) as usize],
            free: (0..entries).rev().collect(),
        }
    }

    /// The entry of a key: a scan of at most a few cache lines that the compiler vectorizes.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<u32> {
        if self.used == 0 {
            return None;
        }
        // Eight keys at a time without an early exit inside: comparisons become vector operations.
        for (chunk, keys) in self.keys.chunks(8).enumerate() {
            let hits = keys.iter().enumerate().fold(0u32, |m, (i, &k)| m | (u32::from(k == key) << i));
            if hits != 0 {
                return Some(chunk as u32 * 8 + hits.trailing_zeros());
            }
        }
        None
    }

    /// Takes a free entry for a key that has none. `None` if all are taken.
    pub fn allocate(&mut self, key: u64, tag: T) -> Option<u32> {
        let entry = self.free.pop()?;
        self.keys[entry as usize] = key;
        self.counts[entry as usize] = 1;
        self.tags[(entry * self.merges) as usize] = tag;
        self.used += 1;
        Some(entry)
    }

    /// Whether an entry has room for another tag.
    #[inline]
    pub fn can_merge(&self, entry: u32) -> bool {
        self.counts[entry as usize] < self.merges
    }

    /// Adds a tag to an entry; false if it has no room.
    #[inline]
    pub fn merge(&mut self, entry: u32, tag: T) -> bool {
        let count = self.counts[entry as usize];
        if count == self.merges {
            return false;
        }
        self.tags[(entry * self.merges + count) as usize] = tag;
        self.counts[entry as usize] = count + 1;
        true
    }

    /// The tags that wait on an entry, in order of arrival.
    #[inline]
    pub fn tags(&self, entry: u32) -> &[T] {
        let first = (entry * self.merges) as usize;
        &self.tags[first..first + self.counts[entry as usize] as usize]
    }

    /// The key of a taken entry.
    pub fn key(&self, entry: u32) -> u64 {
        self.keys[entry as usize]
    }

    /// Frees an entry.
    pub fn release(&mut self, entry: u32) {
        debug_assert!(self.keys[entry as usize] != NO_TAG, "entry is not taken");
        self.keys[entry as usize] = NO_TAG;
        self.counts[entry as usize] = 0;
        self.free.push(entry);
        self.used -= 1;
    }

    /// Whether all entries are taken.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Entries taken.
    pub fn used(&self) -> u32 {
        self.used
    }
}

#[cfg(test)]
mod tests;
