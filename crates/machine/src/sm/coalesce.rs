//! From the addresses of a warp to transactions: Fermi's rules.
//!
//! Global memory (CUDA C Programming Guide, compute capability 2.x): loads through the L1 make one transaction per
//! 128-byte segment. Element sizes of 1 and 2 bytes coalesce in segments of 32 and 64 bytes, and those of 8 and 16 bytes are not
//! split by half and quarter warps: not the guide's rules, but those by which the reference simulator's L1 accesses come
//! out. Loads that bypass the L1 and atomics use 32-byte segments. A store is reduced to the half or quarter of its segment that it touches. Shared
//! memory: 32 banks of 4 bytes, words broadcast; 8- and 16-byte accesses go by half and quarter warps.

use crate::message::{ATOMIC_LANES, AtomicLane, AtomicPayload};
use serde::{Deserialize, Serialize};
use warpwatt_simt::effect::{Access, AtomicOperands};

/// Where a transaction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Route {
    /// L1 data cache, global memory.
    Global,
    /// L1 data cache, local memory.
    Local,
    /// Straight to the crossbar, a read.
    Bypass,
    /// Straight to the crossbar, an atomic; `line` indexes the list's payloads.
    Atomic,
    /// Constant cache.
    Constant,
    /// Texture cache.
    Texture,
}

/// One transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Address of the 128-byte line (64 bytes for constants, by the cache's own line).
    pub line: u64,
    /// Its 32-byte sectors.
    pub sectors: u8,
    /// Destination.
    pub route: Route,
    /// Index of the payload of an atomic.
    pub payload: u16,
}

const LINE: u64 = 128;
const SECTOR: u64 = 32;

/// The lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// Adds the transactions of a global load or store.
#[inline(always)]
pub fn global(access: &Access, store: bool, out: &mut Vec<Transaction>) {
    let bypass = access.bypass_l1 && !store;
    if access.bytes >= 4 && !bypass {
        // Most accesses stay in one line.
        let (low, high) = range(access.global, &access.address);
        if low / LINE == (high + access.bytes as u64 - 1) / LINE {
            let line = low / LINE * LINE;
            let sectors = reduced(sector_mask(low - line, high + access.bytes as u64 - 1 - line));
            out.push(Transaction { line, sectors, route: Route::Global, payload: 0 });
            return;
        }
    }
    let segment = match access.element.max(1) {
        _ if bypass => SECTOR,
        1 if access.bytes == 1 => SECTOR,
        2 if access.bytes == 2 => SECTOR * 2,
        _ => LINE,
    };
    let route = if bypass { Route::Bypass } else { Route::Global };
    let start = out.len();
    let width = access.bytes.max(1) as u64;
    let (mut last, mut home) = (start, u64::MAX);
    for lane in lanes(access.global) {
        let address = access.address[lane];
        let base = address & !(segment - 1);
        let line = address & !(LINE - 1);
        // An access is aligned to its element, so that a vector of small elements may still cross a segment.
        let end = (address + width - 1).min(base + segment - 1);
        let mask = sector_mask(address - line, end - line);
        if base != home {
            home = base;
            last = (start..out.len()).find(|&i| key(&out[i], segment) == home).unwrap_or(out.len());
            if last == out.len() {
                out.push(Transaction { line, sectors: mask, route, payload: 0 });
            }
        }
        out[last].sectors |= mask;
    }
    if store {
        for t in &mut out[start..] {
            t.sectors = reduced(t.sectors);
        }
    }
}

/// Lowest and highest address of the lanes of a mask (not empty).
#[inline(always)]
fn range(mask: u32, address: &[u64; 32]) -> (u64, u64) {
    let (mut low, mut high) = (u64::MAX, 0);
    if mask == u32::MAX {
        for &a in address {
            low = low.min(a);
            high = high.max(a);
        }
    } else {
        for lane in lanes(mask) {
            low = low.min(address[lane]);
            high = high.max(address[lane]);
        }
    }
    (low, high)
}

/// What identifies a transaction's segment.
#[inline(always)]
fn key(t: &Transaction, segment: u64) -> u64 {
    if segment == LINE { t.line } else { (t.line + t.sectors.trailing_zeros() as u64 * SECTOR) & !(segment - 1) }
}

#[inline(always)]
fn sector_mask(first: u64, last: u64) -> u8 {
    let (a, b) = (first / SECTOR, last / SECTOR);
    (((2u32 << (b - a)) - 1) << a) as u8
}

/// The smallest aligned power-of-two run of sectors that covers a mask.
fn reduced(mask: u8) -> u8 {
    match mask {
        1 | 2 | 4 | 8 => mask,
        m if m & 0b1100 == 0 => 0b0011,
        m if m & 0b0011 == 0 => 0b1100,
        _ => 0b1111,
    }
}

/// Adds the transactions of a local load or store. A warp's local memory is interleaved by lane, so that equal offsets
/// of all lanes share a line: word `offset / 4` of the warp whose window begins at `base`.
pub fn local(access: &Access, base: u64, store: bool, out: &mut Vec<Transaction>) {
    let start = out.len();
    for lane in lanes(access.local) {
        let address = access.address[lane];
        let words = address / 4..=(address + access.bytes.max(1) as u64 - 1) / 4;
        for word in words {
            let line = base + word * LINE;
            let mask = 1 << (lane / 8);
            match out[start..].iter_mut().find(|t| t.line == line) {
                Some(t) => t.sectors |= mask,
                None => out.push(Transaction { line, sectors: mask, route: Route::Local, payload: 0 }),
            }
        }
    }
    if store {
        out[start..].iter_mut().for_each(|t| t.sectors = reduced(t.sectors));
    }
}

/// Adds one transaction for each line of the texture cache that lanes touch.
pub fn textures(access: &Access, line_bytes: u64, out: &mut Vec<Transaction>) {
    let start = out.len();
    for lane in lanes(access.texture) {
        let line = access.address[lane] / line_bytes * line_bytes;
        if !out[start..].iter().any(|t| t.line == line) {
            out.push(Transaction { line, sectors: 0, route: Route::Texture, payload: 0 });
        }
    }
}

/// Adds one transaction for each address that lanes (those of `mask`) read of constants, which begin at `base`: the cache
/// gives out one at a time, to all lanes that want it (CUDA C Programming Guide, compute capability 2.x, “Constant Memory”).
pub fn constants(mask: u32, access: &Access, base: u64, line_bytes: u64, out: &mut Vec<Transaction>) {
    let (mut seen, mut count) = ([0; 32], 0);
    for lane in lanes(mask) {
        let address = access.address[lane];
        if !seen[..count].contains(&address) {
            seen[count] = address;
            count += 1;
            let line = (base + address) / line_bytes * line_bytes;
            out.push(Transaction { line, sectors: 0, route: Route::Constant, payload: 0 });
        }
    }
}

/// Adds the transactions of the global lanes of an atomic: 32-byte segments, no word twice in one.
pub fn atomics(
    access: &Access,
    operands: &AtomicOperands,
    out: &mut Vec<Transaction>,
    payloads: &mut Vec<AtomicPayload>,
) {
    let start = out.len();
    for lane in lanes(operands.lanes) {
        let address = access.address[lane];
        let line = address / LINE * LINE;
        let mask = sector_mask(address - line, address - line);
        let part = AtomicLane { lane: lane as u8, address, operand: operands.operand[lane], swap: operands.swap[lane] };
        let place = out[start..].iter().find(|t| {
            let p: &AtomicPayload = &payloads[t.payload as usize];
            t.line == line
                && t.sectors == mask
                && (p.count as usize) < ATOMIC_LANES
                && !p.lanes[..p.count as usize].iter().any(|l| l.address == address)
        });
        match place.map(|t| t.payload) {
            Some(payload) => {
                let p = &mut payloads[payload as usize];
                p.lanes[p.count as usize] = part;
                p.count += 1;
            }
            None => {
                let mut p = AtomicPayload {
                    op: operands.op,
                    ty: operands.ty,
                    count: 1,
                    lanes: [AtomicLane::default(); ATOMIC_LANES],
                };
                p.lanes[0] = part;
                out.push(Transaction { line, sectors: mask, route: Route::Atomic, payload: payloads.len() as u16 });
                payloads.push(p);
            }
        }
    }
}

/// Cycles that the shared-memory array needs for an access. `serial`: an atomic, whose lanes on one word take turns.
#[inline(always)]
pub fn shared_cycles(access: &Access, banks: u32, serial: bool) -> u32 {
    let parts = match access.bytes {
        0..=4 => 1,
        5..=8 => 2,
        _ => 4,
    };
    if access.bytes <= 4 && !serial {
        // Words within one row of the banks cannot conflict.
        if access.shared_spread < banks as u64 * 4 {
            return 1;
        }
        let (low, high) = range(access.shared, &access.address);
        if high / 4 - low / 4 < banks as u64 {
            return 1;
        }
    }
    let lanes_per_part = 32 / parts;
    let mut cycles = 0;
    for part in 0..parts {
        let mask = ((1u64 << lanes_per_part) - 1) << (part * lanes_per_part);
        let part = access.shared & mask as u32;
        if part != 0 {
            cycles += conflicts(access, part, banks, serial);
        }
    }
    cycles.max(1)
}

/// The largest number of different words (or, serially, accesses) that one bank must serve.
fn conflicts(access: &Access, mask: u32, banks: u32, serial: bool) -> u32 {
    let words = access.bytes.div_ceil(4).max(1);
    // Two passes: most accesses have no conflict, which one table shows.
    let mut first = [u32::MAX; 64];
    let mut clash = false;
    for lane in lanes(mask) {
        let word = (access.address[lane] / 4) as u32;
        for w in word..word + words {
            let f = &mut first[(w % banks) as usize % 64];
            clash |= *f != u32::MAX && (*f != w || serial);
            *f = w;
        }
    }
    if !clash {
        return 1;
    }
    let mut all = [0u32; 128];
    let mut n = 0;
    for lane in lanes(mask) {
        let word = (access.address[lane] / 4) as u32;
        for w in word..word + words {
            if (serial || !all[..n].contains(&w)) && n < all.len() {
                all[n] = w;
                n += 1;
            }
        }
    }
    let mut count = [0u32; 64];
    for w in &all[..n] {
        count[(w % banks) as usize % 64] += 1;
    }
    count.iter().copied().max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_simt::effect::Effect;

    fn access(bytes: u32, address: impl Fn(u64) -> u64) -> Access {
        let mut a = Effect::default().access;
        (a.bytes, a.element, a.global, a.shared) = (bytes, bytes.min(4), u32::MAX, u32::MAX);
        for lane in 0..32 {
            a.address[lane] = address(lane as u64);
        }
        a
    }

    fn transactions(a: &Access, store: bool) -> Vec<(u64, u8)> {
        let mut out = Vec::new();
        global(a, store, &mut out);
        out.iter().map(|t| (t.line, t.sectors)).collect()
    }

    #[test]
    fn unit_stride_is_one_line() {
        assert_eq!(transactions(&access(4, |l| 256 + 4 * l), false), [(256, 15)]);
        assert_eq!(transactions(&access(16, |l| 16 * l), true), [(0, 15), (128, 15), (256, 15), (384, 15)]);
        assert_eq!(transactions(&access(4, |l| 64 + 4 * l), true), [(0, 0b1100), (128, 0b0011)]);
        assert_eq!(transactions(&access(4, |l| 128 * l), true).len(), 32);
    }

    #[test]
    fn small_elements_use_small_segments() {
        assert_eq!(transactions(&access(1, |l| l), false), [(0, 1)]);
        assert_eq!(transactions(&access(1, |l| 2 * l), false), [(0, 1), (0, 2)]);
        assert_eq!(transactions(&access(2, |l| 2 * l + 64), false), [(0, 0b1100)]);
    }

    #[test]
    fn stores_are_reduced_to_what_they_touch() {
        assert_eq!(transactions(&access(4, |l| 4 * (l % 8)), true), [(0, 1)]);
        assert_eq!(transactions(&access(4, |l| 96 * (l % 2)), true), [(0, 15)]);
    }

    #[test]
    fn constants_come_one_address_at_a_time() {
        let requests = |address: fn(u64) -> u64, mask: u32| {
            let mut out = Vec::new();
            constants(mask, &access(4, address), 4096, 64, &mut out);
            out.iter().map(|t| t.line).collect::<Vec<_>>()
        };
        assert_eq!(requests(|_| 8, u32::MAX), [4096]);
        assert_eq!(requests(|l| 4 * (l % 3), u32::MAX), [4096; 3]);
        assert_eq!(requests(|l| 64 * (l % 2), u32::MAX), [4096, 4160]);
        assert_eq!(requests(|l| 4 * l, u32::MAX).len(), 32);
        assert_eq!(requests(|l| 4 * l, 0b1001), [4096; 2]);
    }

    #[test]
    fn shared_conflicts() {
        for stride in [1u64, 2, 4, 8, 16, 32] {
            assert_eq!(shared_cycles(&access(4, |l| 4 * l * stride), 32, false), stride as u32);
        }
        assert_eq!(shared_cycles(&access(4, |l| 4 * 33 * l), 32, false), 1);
        assert_eq!(shared_cycles(&access(4, |_| 12), 32, false), 1);
        assert_eq!(shared_cycles(&access(4, |_| 12), 32, true), 32);
        assert_eq!(shared_cycles(&access(8, |l| 8 * l), 32, false), 2);
        assert_eq!(shared_cycles(&access(16, |l| 16 * l), 32, false), 4);
    }

    #[test]
    fn an_atomic_has_no_word_twice_in_a_transaction() {
        let mut e = Effect::default();
        e.access = access(4, |l| 4 * (l / 4));
        e.atomic.lanes = u32::MAX;
        let (mut out, mut payloads) = (Vec::new(), Vec::new());
        atomics(&e.access, &e.atomic, &mut out, &mut payloads);
        assert_eq!(out.len(), 4);
        assert!(payloads.iter().all(|p| p.count == 8));
    }
}
