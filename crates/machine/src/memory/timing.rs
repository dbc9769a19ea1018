//! DRAM timing as a table: which command may follow which, where, and after how many command clocks.
//!
//! The table is the GDDR5 command protocol of one pseudo-channel (JESD212, command timing diagrams) in the named
//! timings of a `Spec`. It is compiled into a matrix of minimum distances; [`Earliest`] keeps, for the channel, each
//! bank group and each bank, the first clock at which each command is legal, which is the whole protocol state.
//!
//! Left out: refresh, power-down, the four-activate window (no value in the papers), and the data-inversion pins.

use crate::spec::{DramTiming, Spec};
use serde::{Deserialize, Serialize};

/// A DRAM command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Command {
    /// Opens a row.
    Activate,
    /// Closes a bank's row.
    Precharge,
    /// Reads a burst.
    Read,
    /// Writes a burst.
    Write,
}

/// Number of commands.
pub const COMMANDS: usize = 4;

/// Which other banks a constraint reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The bank itself.
    Bank,
    /// The banks of the same bank group.
    Group,
    /// All banks of the channel.
    Channel,
}

/// One row of the table: a command of `from` keeps commands of `to` away for `clocks`.
pub struct Constraint {
    /// Earlier command.
    pub from: &'static [Command],
    /// Later command.
    pub to: &'static [Command],
    /// Reach.
    pub scope: Scope,
    /// Least distance, command clocks. `burst` is the time that data of one column access is on the bus.
    pub clocks: fn(t: &DramTiming, burst: u32) -> u32,
}

/// Idle clocks between read data and write data on the bus. // assumed: one clock each for the drivers to turn off, on
const BUS_TURNAROUND: u32 = 2;

use Command::{Activate, Precharge, Read, Write};
use Scope::{Bank, Channel, Group};

/// The protocol.
#[rustfmt::skip]
pub const CONSTRAINTS: &[Constraint] = &[
    // The data bus carries one burst at a time; commands come at most every CCD.
    Constraint { from: &[Read],      to: &[Read],            scope: Channel, clocks: |t, burst| t.ccd.max(burst) },
    Constraint { from: &[Write],     to: &[Write],           scope: Channel, clocks: |t, burst| t.ccd.max(burst) },
    Constraint { from: &[Read],      to: &[Read],            scope: Group,   clocks: |t, _| t.ccdl },
    Constraint { from: &[Write],     to: &[Write],           scope: Group,   clocks: |t, _| t.ccdl },
    // Write data may follow read data after the turnaround.
    Constraint { from: &[Read],      to: &[Write],           scope: Channel, clocks: |t, burst| (t.cl + burst + BUS_TURNAROUND).saturating_sub(t.wl) },
    // A read command may follow the last write data after CDLR (called WTR elsewhere).
    Constraint { from: &[Write],     to: &[Read],            scope: Channel, clocks: |t, burst| t.wl + burst + t.cdlr },
    Constraint { from: &[Activate],  to: &[Activate],        scope: Channel, clocks: |t, _| t.rrd },
    Constraint { from: &[Activate],  to: &[Activate],        scope: Bank,    clocks: |t, _| t.rc },
    Constraint { from: &[Activate],  to: &[Read, Write],     scope: Bank,    clocks: |t, _| t.rcd },
    Constraint { from: &[Activate],  to: &[Precharge],       scope: Bank,    clocks: |t, _| t.ras },
    Constraint { from: &[Precharge], to: &[Activate],        scope: Bank,    clocks: |t, _| t.rp },
    Constraint { from: &[Read],      to: &[Precharge],       scope: Bank,    clocks: |t, _| t.rtpl },
    // Write recovery: from the last write data to the precharge.
    Constraint { from: &[Write],     to: &[Precharge],       scope: Bank,    clocks: |t, burst| t.wl + burst + t.wr },
];

/// Least distances from a command (row) to a command (column).
type Matrix = [[u64; COMMANDS]; COMMANDS];

/// The table with the numbers of one GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Banks of a channel (a power of two, at most 64).
    pub banks: u32,
    /// Bank groups (a power of two). The group is the low bits of the bank number, so that neighbouring sub-partitions are in
    /// different groups and a stream over both reaches CCD, not CCDL.
    pub groups: u32,
    /// Clocks from a read command to the end of its data.
    pub read_latency: u64,
    /// Clocks of data of one column access.
    pub burst: u64,
    bank: Matrix,
    group: Matrix,
    channel: Matrix,
}

impl Timing {
    /// Fills the table.
    pub fn new(spec: &Spec) -> Self {
        let t = &spec.dram;
        let banks = t.banks.clamp(1, 64).next_power_of_two();
        let bytes = (spec.dram_bus_bits / 8).max(1) * spec.dram_burst.max(1);
        // A column access moves at least a sector: on a narrow bus it takes several bursts.
        let burst = spec.dram_burst.max(1).div_ceil(spec.dram_beats_per_clock.max(1)) * 32u32.div_ceil(bytes);
        let mut timing = Timing {
            banks,
            groups: t.bank_groups.clamp(1, banks).next_power_of_two(),
            read_latency: u64::from(t.cl + burst),
            burst: u64::from(burst),
            bank: Matrix::default(),
            group: Matrix::default(),
            channel: Matrix::default(),
        };
        for constraint in CONSTRAINTS {
            let matrix = match constraint.scope {
                Bank => &mut timing.bank,
                Group => &mut timing.group,
                Channel => &mut timing.channel,
            };
            let clocks = u64::from((constraint.clocks)(t, burst));
            for &from in constraint.from {
                for &to in constraint.to {
                    let cell = &mut matrix[from as usize][to as usize];
                    *cell = clocks.max(*cell);
                }
            }
        }
        timing
    }

    /// Group of a bank.
    #[inline]
    fn group_of(&self, bank: u32) -> usize {
        (bank & (self.groups - 1)) as usize
    }
}

/// First legal clock of each command.
type Clocks = [u64; COMMANDS];

/// Protocol state of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earliest {
    channel: Clocks,
    group: Vec<Clocks>,
    bank: Vec<Clocks>,
}

impl Earliest {
    /// All commands are legal at once.
    pub fn new(timing: &Timing) -> Self {
        Earliest {
            channel: Clocks::default(),
            group: vec![Clocks::default(); timing.groups as usize],
            bank: vec![Clocks::default(); timing.banks as usize],
        }
    }

    /// First clock at which a command to a bank is legal.
    #[inline]
    pub fn clock(&self, timing: &Timing, command: Command, bank: u32) -> u64 {
        let c = command as usize;
        self.channel[c].max(self.group[timing.group_of(bank)][c]).max(self.bank[bank as usize][c])
    }

    /// First clock at which a command to any bank might be legal.
    #[inline]
    pub fn channel_clock(&self, command: Command) -> u64 {
        self.channel[command as usize]
    }

    /// A command is issued.
    #[inline]
    pub fn issue(&mut self, timing: &Timing, command: Command, bank: u32, clock: u64) {
        let c = command as usize;
        let push = |next: &mut Clocks, distance: &Clocks| {
            for (next, &distance) in next.iter_mut().zip(distance) {
                // A distance of zero is no constraint.
                *next = (*next).max(if distance == 0 { 0 } else { clock + distance });
            }
        };
        push(&mut self.channel, &timing.channel[c]);
        push(&mut self.group[timing.group_of(bank)], &timing.group[c]);
        push(&mut self.bank[bank as usize], &timing.bank[c]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Configuration;

    fn timing() -> Timing {
        Timing::new(&Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).unwrap())
    }

    /// Clocks from one command to the earliest other one.
    fn distance(first: (Command, u32), second: (Command, u32)) -> u64 {
        let timing = timing();
        let mut earliest = Earliest::new(&timing);
        earliest.issue(&timing, first.0, first.1, 1000);
        earliest.clock(&timing, second.0, second.1).saturating_sub(1000)
    }

    /// The GTX 480's numbers, worked out by hand from CCD 2, CCDL 3, RRD 6, RCD 12, RAS 28, RP 12, RC 40, CL 12, WL 4,
    /// CDLR 5, WR 12, RTPL 2 and two clocks of data per burst. Banks 0 and 4 share a group, 0 and 1 do not.
    #[test]
    fn distances_of_the_gtx480() {
        let (other, group, same) = (1, 4, 0);
        for (from, to, bank, clocks) in [
            (Read, Read, other, 2),
            (Read, Read, group, 3),
            (Read, Read, same, 3),
            (Write, Write, other, 2),
            (Write, Write, group, 3),
            (Read, Write, other, 12 + 2 + 2 - 4),
            (Read, Write, same, 12),
            (Write, Read, other, 4 + 2 + 5),
            (Write, Read, same, 11),
            (Activate, Activate, other, 6),
            (Activate, Activate, same, 40),
            (Activate, Read, same, 12),
            (Activate, Write, same, 12),
            (Activate, Read, other, 0),
            (Activate, Precharge, same, 28),
            (Activate, Precharge, group, 0),
            (Precharge, Activate, same, 12),
            (Precharge, Activate, other, 0),
            (Read, Precharge, same, 2),
            (Write, Precharge, same, 4 + 2 + 12),
            (Write, Precharge, other, 0),
        ] {
            assert_eq!(distance((from, 0), (to, bank)), clocks, "{from:?} → {to:?}, bank {bank}");
        }
        assert_eq!((timing().burst, timing().read_latency), (2, 14));
    }

    #[test]
    fn a_narrow_bus_takes_several_bursts_for_a_sector() {
        let mut spec = Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).unwrap();
        spec.dram_bus_bits = 16;
        // 16 bytes a burst of two clocks: a sector takes four.
        assert_eq!(Timing::new(&spec).burst, 4);
    }
}
