//! Where an address lives: channel, L2 slice, DRAM bank, row and column.
//!
//! The channel is (address / interleave) mod channels; what is left, (address / interleave) / channels × interleave +
//! address mod interleave, is the channel-local address. `dram_address_map` cuts that into fields. The lowest bank bits
//! choose the sub-partition (L2 slice of the channel), so that a bank belongs to one slice. A slice sees a
//! *slice-local* address, without those bits: dense, so its sets are used evenly.

use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// A run of consecutive bits of an address that go to consecutive bits of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    from: u32,
    to: u32,
    mask: u64,
}

/// A field of the address map, lowest bits first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Field(Vec<Run>);

impl Field {
    fn of(bits: &[u32]) -> Field {
        let mut runs: Vec<Run> = Vec::new();
        for (to, &from) in bits.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if run.from + run.mask.count_ones() == from => run.mask = run.mask << 1 | 1,
                _ => runs.push(Run { from, to: to as u32, mask: 1 }),
            }
        }
        Field(runs)
    }

    #[inline]
    fn get(&self, address: u64) -> u64 {
        self.0.iter().fold(0, |value, run| value | ((address >> run.from) & run.mask) << run.to)
    }
}

/// Where a line lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Global number of the L2 slice: channel × sub-partitions + sub-partition.
    pub slice: u32,
    /// Slice-local address.
    pub local: u64,
}

/// Where a burst lives in DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// Bank.
    pub bank: u32,
    /// Row.
    pub row: u64,
    /// Burst in the row.
    pub column: u32,
}

/// The compiled address map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressMap {
    channels: u64,
    interleave_shift: u32,
    sub_partitions: u32,
    /// Bits of the channel-local address that are the sub-partition, lowest first.
    sub_bits: Vec<u32>,
    sub: Field,
    bank: Field,
    row: Field,
    column: Field,
    parts: u64,
}

impl AddressMap {
    /// Compiles the map of a checked `Spec`. Bits marked unused and those above the map count as row bits, so that
    /// different addresses never share a place.
    pub fn new(spec: &Spec, channels: u32, banks: u32) -> Self {
        let map: Vec<char> = spec.dram_address_map.chars().filter(|c| c.is_ascii_alphanumeric()).rev().collect();
        let bits = |letter: char| -> Vec<u32> { (0..64).filter(|&i| map.get(i as usize) == Some(&letter)).collect() };
        let mut bank = bits('B');
        bank.truncate(banks.max(1).ilog2() as usize);
        let sub_bits = bank[..bank.len().min(spec.sub_partitions.max(1).ilog2() as usize)].to_vec();
        let mut row = bits('R');
        row.extend((0..64).filter(|&i| map.get(i as usize).is_none_or(|c| !"RBCS".contains(*c))));
        let burst = 1u64 << bits('S').len();
        AddressMap {
            channels: channels.max(1).into(),
            interleave_shift: spec.channel_interleave_bytes.max(1).ilog2(),
            sub_partitions: 1 << sub_bits.len(),
            sub: Field::of(&sub_bits),
            sub_bits,
            bank: Field::of(&bank),
            row: Field::of(&row),
            column: Field::of(&bits('C')),
            parts: (burst / 32).max(1),
        }
    }

    /// Sub-partitions per channel.
    pub fn sub_partitions(&self) -> u32 {
        self.sub_partitions
    }

    /// 32-byte sectors of a burst.
    pub fn parts(&self) -> u32 {
        self.parts as u32
    }

    /// Where the line of an address lives.
    #[inline]
    pub fn home(&self, address: u64) -> Home {
        let chunk = address >> self.interleave_shift;
        let (above, channel) = (chunk / self.channels, chunk % self.channels);
        let mut local = above << self.interleave_shift | address & ((1 << self.interleave_shift) - 1);
        let sub = self.sub.get(local);
        for &bit in self.sub_bits.iter().rev() {
            local = local >> (bit + 1) << bit | local & ((1 << bit) - 1);
        }
        Home { slice: channel as u32 * self.sub_partitions + sub as u32, local }
    }

    /// Where a slice-local address of the `sub`-th slice of its channel lives in DRAM.
    #[inline]
    pub fn coordinates(&self, mut local: u64, sub: u32) -> Coordinates {
        for (i, &bit) in self.sub_bits.iter().enumerate() {
            let value = u64::from(sub) >> i & 1;
            local = local >> bit << (bit + 1) | value << bit | local & ((1 << bit) - 1);
        }
        Coordinates {
            bank: self.bank.get(local) as u32,
            row: self.row.get(local),
            column: self.column.get(local) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Configuration;

    fn map() -> AddressMap {
        let spec = Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).unwrap();
        AddressMap::new(&spec, spec.channels, spec.dram.banks)
    }

    #[test]
    fn channel_changes_every_256_bytes_and_six_channels_follow_each_other() {
        let map = map();
        assert_eq!((map.sub_partitions(), map.parts()), (2, 2));
        let channels: Vec<u32> = (0..8).map(|i| map.home(i * 256).slice / 2).collect();
        assert_eq!(channels, [0, 1, 2, 3, 4, 5, 0, 1]);
        assert_eq!(map.home(0xff).slice, map.home(0).slice);
        // The next 256 bytes of a channel belong to its other sub-partition.
        let subs: Vec<u32> = (0..4).map(|i| map.home(i * 6 * 256).slice).collect();
        assert_eq!(subs, [0, 1, 0, 1]);
    }

    #[test]
    fn fields_are_cut_as_the_map_says() {
        let map = map();
        // Channel-local 0b11_1010_1101_0110_1011 of channel 0: row 3, bank 101|1, column 0110|01.
        let local: u64 = 0b11_1010_1101_0110_1011;
        let address = (local >> 8) * 6 * 256 + (local & 0xff);
        let home = map.home(address);
        assert_eq!(home.slice, 1);
        let at = map.coordinates(home.local, 1);
        assert_eq!(at, Coordinates { bank: 0b1011, row: 0b11, column: 0b01_1001 });
    }

    #[test]
    fn slice_local_addresses_are_dense_and_no_two_addresses_share_a_place() {
        let map = map();
        let mut seen = std::collections::BTreeSet::new();
        let mut locals = vec![Vec::new(); 12];
        for line in 0..12 * 64u64 {
            let home = map.home(line * 128);
            locals[home.slice as usize].push(home.local);
            for burst in 0..2 {
                let at = map.coordinates(home.local + burst * 64, home.slice % 2);
                assert_eq!(at.bank % 2, home.slice % 2, "a bank belongs to one slice");
                assert!(seen.insert((home.slice, at.bank, at.row, at.column)));
            }
        }
        for local in locals {
            assert_eq!(local, (0..64).map(|i| i * 128).collect::<Vec<u64>>());
        }
        // Bits above the map are row bits.
        let high = map.home(1 << 40);
        assert!(map.coordinates(high.local, high.slice % 2).row > 0xfff);
    }
}
