//! One DRAM channel: an FR-FCFS queue over banks with open rows.
//!
//! First-ready, first-come-first-served (Rixner et al., "Memory access scheduling", ISCA 2000): of the commands that are
//! legal now, column accesses to open rows go before row commands, older ones before younger ones. A bank is precharged
//! only when no queued request hits its open row; rows stay open otherwise. Reads and writes share the queue; since the
//! bus turns around in tens of clocks and CCD is two, the direction persists while it has hits. One command a clock.
//!
//! An access is one burst (64 bytes on a 64-bit channel with bursts of 8), whatever part of it is wanted.
//!
//! Requests of a bank form a list in order of arrival; per bank and direction the oldest hit of the open row is kept, and
//! banks are in masks by what they need, so a clock looks at candidates only.

use super::address::Coordinates;
use super::slice::Burst;
use super::timing::{Command, Earliest, Timing};
use serde::{Deserialize, Serialize};

const NONE: u16 = u16::MAX;

/// A column access in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    row: u64,
    age: u64,
    /// What is moved.
    pub burst: Burst,
    /// Its bank had to be opened for it.
    pub opened: bool,
    bank: u8,
    next: u16,
    previous: u16,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Bank {
    /// Open row.
    row: Option<u64>,
    head: u16,
    tail: u16,
    /// Oldest read, oldest write of the open row.
    hit: [u16; 2],
}

/// What a clock did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The command.
    pub command: Command,
    /// Its bank.
    pub bank: u32,
    /// The access that a column command served.
    pub access: Option<Access>,
}

/// Queue and banks of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    accesses: Vec<Access>,
    free: Vec<u16>,
    arrivals: u64,
    banks: Vec<Bank>,
    /// Banks with a read (a write) of their open row.
    hits: [u64; 2],
    /// Banks that have requests but no open row.
    closed: u64,
    /// Banks that have requests, none of them for the open row.
    conflicts: u64,
    earliest: Earliest,
    /// Sub-partition whose turn it is to send an access to the queue.
    pub turn: usize,
}

impl Channel {
    /// An idle channel with all banks closed.
    pub fn new(timing: &Timing, queue: u32) -> Self {
        let queue = queue.clamp(1, u32::from(NONE)) as u16;
        let bank = Bank { row: None, head: NONE, tail: NONE, hit: [NONE; 2] };
        Channel {
            accesses: vec![Access::default(); usize::from(queue)],
            free: (0..queue).rev().collect(),
            arrivals: 0,
            banks: vec![bank; timing.banks as usize],
            hits: [0; 2],
            closed: 0,
            conflicts: 0,
            earliest: Earliest::new(timing),
            turn: 0,
        }
    }

    /// Whether the queue has a free place.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Takes in an access, if there is a free place.
    pub fn admit(&mut self, at: Coordinates, burst: Burst) {
        let Some(slot) = self.free.pop() else { return };
        let bank = &mut self.banks[at.bank as usize];
        let access = Access {
            row: at.row,
            age: self.arrivals,
            burst,
            opened: false,
            bank: at.bank as u8,
            next: NONE,
            previous: bank.tail,
        };
        self.arrivals += 1;
        self.accesses[usize::from(slot)] = access;
        match bank.tail {
            NONE => bank.head = slot,
            tail => self.accesses[usize::from(tail)].next = slot,
        }
        bank.tail = slot;
        let hit = &mut bank.hit[usize::from(burst.write)];
        if bank.row == Some(at.row) && *hit == NONE {
            *hit = slot;
        }
        self.classify(at.bank);
    }

    /// Issues at most one command at a clock. Also says when the next one might be possible if nothing arrives
    /// (`u64::MAX`: never). `reads`: whether read data can be taken.
    pub fn tick(&mut self, timing: &Timing, clock: u64, reads: bool) -> (Option<Issued>, u64) {
        let mut soonest = u64::MAX;
        let mut best = (u64::MAX, NONE);
        let commands = [Command::Read, Command::Write];
        for (direction, command) in commands.into_iter().enumerate() {
            if self.hits[direction] == 0 || (direction == 0 && !reads) {
                continue;
            }
            let channel = self.earliest.channel_clock(command);
            if channel > clock {
                soonest = soonest.min(channel);
                continue;
            }
            let mut left = self.hits[direction];
            while left != 0 {
                let bank = left.trailing_zeros();
                left &= left - 1;
                let legal = self.earliest.clock(timing, command, bank);
                if legal > clock {
                    soonest = soonest.min(legal);
                    continue;
                }
                let slot = self.banks[bank as usize].hit[direction];
                best = best.min((self.accesses[usize::from(slot)].age, slot));
            }
        }
        if best.1 != NONE {
            return (Some(self.column(timing, best.1, clock)), clock + 1);
        }
        let mut best = (u64::MAX, Command::Activate, 0);
        for (mut left, command) in [(self.closed, Command::Activate), (self.conflicts, Command::Precharge)] {
            let channel = self.earliest.channel_clock(command);
            if left != 0 && channel > clock {
                soonest = soonest.min(channel);
                continue;
            }
            while left != 0 {
                let bank = left.trailing_zeros();
                left &= left - 1;
                let legal = self.earliest.clock(timing, command, bank);
                if legal > clock {
                    soonest = soonest.min(legal);
                    continue;
                }
                let age = self.accesses[usize::from(self.banks[bank as usize].head)].age;
                if age < best.0 {
                    best = (age, command, bank);
                }
            }
        }
        let (age, command, bank) = best;
        if age == u64::MAX {
            return (None, soonest);
        }
        self.earliest.issue(timing, command, bank, clock);
        match command {
            Command::Activate => self.open(bank),
            _ => self.banks[bank as usize].row = None,
        }
        self.classify(bank);
        (Some(Issued { command, bank, access: None }), clock + 1)
    }

    /// Serves the oldest hit of a bank.
    fn column(&mut self, timing: &Timing, slot: u16, clock: u64) -> Issued {
        let access = self.accesses[usize::from(slot)];
        let (bank, direction) = (u32::from(access.bank), usize::from(access.burst.write));
        let command = if access.burst.write { Command::Write } else { Command::Read };
        self.earliest.issue(timing, command, bank, clock);
        let state = &mut self.banks[bank as usize];
        match access.previous {
            NONE => state.head = access.next,
            previous => self.accesses[usize::from(previous)].next = access.next,
        }
        match access.next {
            NONE => state.tail = access.previous,
            next => self.accesses[usize::from(next)].previous = access.previous,
        }
        // The next oldest hit is younger.
        let mut next = access.next;
        while next != NONE {
            let candidate = &self.accesses[usize::from(next)];
            if candidate.row == access.row && candidate.burst.write == access.burst.write {
                break;
            }
            next = candidate.next;
        }
        state.hit[direction] = next;
        self.free.push(slot);
        self.classify(bank);
        Issued { command, bank, access: Some(access) }
    }

    /// Opens the row of a bank's oldest request.
    fn open(&mut self, bank: u32) {
        let state = &mut self.banks[bank as usize];
        let first = &mut self.accesses[usize::from(state.head)];
        first.opened = true;
        let row = first.row;
        state.row = Some(row);
        state.hit = [NONE; 2];
        let mut slot = state.head;
        while slot != NONE {
            let access = &self.accesses[usize::from(slot)];
            let hit = &mut state.hit[usize::from(access.burst.write)];
            if access.row == row && *hit == NONE {
                *hit = slot;
            }
            slot = access.next;
        }
    }

    /// Puts a bank into the masks that tell what it needs.
    #[inline]
    fn classify(&mut self, bank: u32) {
        let state = &self.banks[bank as usize];
        let bit = 1u64 << bank;
        let set = |mask: &mut u64, on: bool| *mask = *mask & !bit | if on { bit } else { 0 };
        let hits = [0, 1].map(|d| state.row.is_some() && state.hit[d] != NONE);
        let waits = state.head != NONE && !hits[0] && !hits[1];
        set(&mut self.hits[0], hits[0]);
        set(&mut self.hits[1], hits[1]);
        set(&mut self.closed, waits && state.row.is_none());
        set(&mut self.conflicts, waits && state.row.is_some());
    }
}

#[cfg(test)]
mod tests;
