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
    /// The timing's name in data sheets.
    pub name: &'static str,
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
    Constraint { name: "CCD",  from: &[Read],      to: &[Read],            scope: Channel, clocks: |t, burst| t.ccd.max(burst) },
    Constraint { name: "CCD",  from: &[Write],     to: &[Write],           scope: Channel, clocks: |t, burst| t.ccd.max(burst) },
    Constraint { name: "CCDL", from: &[Read],      to: &[Read],            scope: Group,   clocks: |t, _| t.ccdl },
    Constraint { name: "CCDL", from: &[Write],     to: &[Write],           scope: Group,   clocks: |t, _| t.ccdl },
    // Write data may follow read data after the turnaround.
    Constraint { name: "RTW",  from: &[Read],      to: &[Write],           scope: Channel, clocks: |t, burst| (t.cl + burst + BUS_TURNAROUND).saturating_sub(t.wl) },
    // A read command may follow the last write data after CDLR (called WTR elsewhere).
    Constraint { name: "CDLR", from: &[Write],     to: &[Read],            scope: Channel, clocks: |t, burst| t.wl + burst + t.cdlr },
    Constraint { name: "RRD",  from: &[Activate],  to: &[Activate],        scope: Channel, clocks: |t, _| t.rrd },
    Constraint { name: "RC",   from: &[Activate],  to: &[Activate],        scope: Bank,    clocks: |t, _| t.rc },
    Constraint { name: "RCD",  from: &[Activate],  to: &[Read, Write],     scope: Bank,    clocks: |t, _| t.rcd },
    Constraint { name: "RAS",  from: &[Activate],  to: &[Precharge],       scope: Bank,    clocks: |t, _| t.ras },
    Constraint { name: "RP",   from: &[Precharge], to: &[Activate],        scope: Bank,    clocks: |t, _| t.rp },
    Constraint { name: "RTPL", from: &[Read],      to: &[Precharge],       scope: Bank,    clocks: |t, _| t.rtpl },
    // Write recovery: from the last write data to the precharge.
    Constraint { name: "WR",   from: &[Write],     to: &[Precharge],       scope: Bank,    clocks: |t, burst| t.wl + burst + t.wr },
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
