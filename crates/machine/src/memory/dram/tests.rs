//! Device timing and scheduling order, exact in command clocks.

use super::super::timing::Command::{Activate, Precharge, Read, Write};
use super::*;
use crate::spec::Configuration;

struct Bench {
    timing: Timing,
    channel: Channel,
    clock: u64,
    log: Vec<(u64, Command, u32)>,
}

fn at(bank: u32, row: u64, column: u32) -> Coordinates {
    Coordinates { bank, row, column }
}

impl Bench {
    fn new() -> Self {
        let timing = Timing::new(&Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).unwrap());
        Bench { channel: Channel::new(&timing, 64), timing, clock: 0, log: Vec::new() }
    }

    fn read(&mut self, bank: u32, row: u64, column: u32) {
        self.channel.admit(at(bank, row, column), Burst { parts: 1, ..Burst::default() });
    }

    fn write(&mut self, bank: u32, row: u64, column: u32) {
        self.channel.admit(at(bank, row, column), Burst { parts: 1, write: true, ..Burst::default() });
    }

    fn tick(&mut self) {
        let (issued, next) = self.channel.tick(&self.timing, self.clock, true);
        if let Some(issued) = issued {
            self.log.push((self.clock, issued.command, issued.bank));
        } else {
            assert!(next > self.clock, "the next possible clock lies ahead");
        }
        self.clock += 1;
    }

    /// Clocks until nothing is queued; gives what happened since the last call.
    fn drain(&mut self) -> Vec<(u64, Command, u32)> {
        while self.channel.free.len() < self.channel.accesses.len() {
            self.tick();
            assert!(self.clock < 1_000_000, "livelock");
        }
        std::mem::take(&mut self.log)
    }
}

#[test]
fn closed_bank_costs_rcd_then_column() {
    let mut b = Bench::new();
    b.read(0, 7, 0);
    assert_eq!(b.drain(), [(0, Activate, 0), (12, Read, 0)]);
}

#[test]
fn row_hits_follow_at_ccdl_within_a_bank_and_ccd_across_groups() {
    let mut b = Bench::new();
    (0..3).for_each(|column| b.read(0, 7, column));
    assert_eq!(b.drain(), [(0, Activate, 0), (12, Read, 0), (15, Read, 0), (18, Read, 0)]);
    let mut b = Bench::new();
    b.read(0, 7, 0);
    b.read(1, 7, 0);
    b.drain();
    b.clock = 100;
    for column in 1..3 {
        b.read(0, 7, column);
        b.read(1, 7, column);
    }
    assert_eq!(b.drain(), [(100, Read, 0), (102, Read, 1), (104, Read, 0), (106, Read, 1)]);
}

#[test]
fn a_conflict_precharges_after_ras_and_activates_after_rp_and_rc() {
    let mut b = Bench::new();
    b.read(0, 7, 0);
    b.read(0, 8, 0);
    // ACT 0, RD 12, PRE not before RAS = 28, ACT not before RP after it and RC = 40 after the first.
    assert_eq!(b.drain(), [(0, Activate, 0), (12, Read, 0), (28, Precharge, 0), (40, Activate, 0), (52, Read, 0)]);
    // Long after: the precharge is immediate.
    b.clock = 1000;
    b.read(0, 9, 0);
    assert_eq!(b.drain(), [(1000, Precharge, 0), (1012, Activate, 0), (1024, Read, 0)]);
}

#[test]
fn activates_of_different_banks_keep_rrd() {
    let mut b = Bench::new();
    (0..3).for_each(|bank| b.read(bank, 7, 0));
    assert_eq!(
        b.drain(),
        [(0, Activate, 0), (6, Activate, 1), (12, Read, 0), (13, Activate, 2), (18, Read, 1), (25, Read, 2)],
        "one command a clock: the read of bank 0 takes clock 12 from the activation of bank 2"
    );
}

#[test]
fn write_to_read_and_back_turn_the_bus_around() {
    let mut b = Bench::new();
    b.write(0, 7, 0);
    b.drain();
    b.clock = 100;
    b.write(0, 7, 1);
    b.read(0, 7, 2);
    // CDLR: WL 4 + burst 2 + 5.
    assert_eq!(b.drain(), [(100, Write, 0), (111, Read, 0)]);
    b.clock = 200;
    b.read(0, 7, 3);
    b.write(0, 7, 4);
    // RTW: CL 12 + burst 2 + turnaround 2 − WL 4.
    assert_eq!(b.drain(), [(200, Read, 0), (212, Write, 0)]);
}

#[test]
fn write_recovery_delays_the_precharge() {
    let mut b = Bench::new();
    b.write(0, 7, 0);
    b.drain();
    b.clock = 100;
    b.write(0, 7, 1);
    b.read(0, 8, 0);
    assert_eq!(b.drain(), [(100, Write, 0), (118, Precharge, 0), (130, Activate, 0), (142, Read, 0)]);
}

#[test]
fn row_hits_pass_older_conflicts_but_older_hits_go_first() {
    let mut b = Bench::new();
    b.read(0, 7, 0);
    b.drain();
    b.clock = 100;
    b.read(0, 8, 0); // older, conflicts
    b.read(0, 7, 1); // hits
    b.read(0, 7, 2); // hits, younger
    let order: Vec<_> = b.drain().into_iter().map(|(clock, command, _)| (clock, command)).collect();
    assert_eq!(order, [(100, Read), (103, Read), (105, Precharge), (117, Activate), (129, Read)]);
}

#[test]
fn a_bank_opens_the_row_of_its_oldest_request_and_serves_all_its_hits() {
    let mut b = Bench::new();
    for row in [7, 8, 7, 8] {
        b.read(0, row, row as u32);
    }
    let commands: Vec<_> = b.drain().into_iter().map(|(_, command, _)| command).collect();
    assert_eq!(commands, [Activate, Read, Read, Precharge, Activate, Read, Read]);
}

#[test]
fn the_direction_of_the_bus_persists_while_it_has_hits() {
    let mut b = Bench::new();
    b.read(0, 7, 0);
    b.read(1, 7, 0);
    b.drain();
    b.clock = 100;
    b.read(0, 7, 1);
    b.write(1, 7, 1);
    b.read(1, 7, 2);
    b.read(0, 7, 3);
    let commands: Vec<_> = b.drain().into_iter().map(|(_, command, _)| command).collect();
    assert_eq!(commands, [Read, Read, Read, Write]);
}

#[test]
fn a_full_queue_says_so_and_takes_the_next_after_a_column() {
    let mut b = Bench::new();
    (0..64).for_each(|column| b.read(0, 7, column));
    assert!(!b.channel.has_room());
    while b.log.iter().all(|(_, command, _)| *command != Read) {
        b.tick();
    }
    assert!(b.channel.has_room());
}

#[test]
fn reads_wait_while_their_data_cannot_be_taken() {
    let mut b = Bench::new();
    b.read(0, 7, 0);
    for clock in 0..100 {
        let (issued, _) = b.channel.tick(&b.timing, clock, false);
        assert_eq!(issued.map(|i| i.command), (clock == 0).then_some(Activate));
    }
    let (issued, _) = b.channel.tick(&b.timing, 100, true);
    assert_eq!(issued.map(|i| i.command), Some(Read));
}

/// Reads of whole rows over banks of different groups: the data bus is busy all the time, row commands are hidden.
#[test]
fn a_stream_moves_one_burst_every_ccd() {
    let mut b = Bench::new();
    let mut next = 0u64;
    let (mut bursts, clocks) = (0, 200_000);
    while b.clock < clocks {
        while b.channel.has_room() {
            // Banks 0 and 1 alternate every four bursts, as the gtx480 map has it; then pairs of banks, then rows.
            let (column, bank, row) = (next >> 3 << 2 | next & 3, next >> 2 & 1, next >> 10);
            b.read((bank | (next >> 7 & 7) << 1) as u32, row, (column & 63) as u32);
            next += 1;
        }
        b.tick();
        bursts += u64::from(b.log.pop().is_some_and(|(_, command, _)| command == Read));
    }
    let share = bursts as f64 * 2.0 / clocks as f64;
    assert!(share > 0.95 && share <= 1.0, "{share} of the data bus");
}

/// Every access that goes in comes out once, and no two commands break a rule of the table (checked against all pairs).
#[test]
fn random_traffic_is_served_completely_and_legally() {
    let mut b = Bench::new();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut step = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut admitted = 0;
    while admitted < 3000 {
        let r = step();
        if b.channel.has_room() && r % 3 != 0 {
            let (bank, row, column) = ((r >> 8 & 15) as u32, r >> 16 & 3, (r >> 24 & 63) as u32);
            if r >> 40 & 3 == 0 {
                b.write(bank, row, column)
            } else {
                b.read(bank, row, column)
            }
            admitted += 1;
        }
        b.tick();
    }
    let log = b.drain();
    let columns = log.iter().filter(|(_, command, _)| matches!(command, Read | Write)).count();
    assert_eq!(columns, 3000);
    for (i, &(first, from, bank)) in log.iter().enumerate() {
        let mut alone = Earliest::new(&b.timing);
        alone.issue(&b.timing, from, bank, first);
        for &(clock, to, other) in log[i + 1..].iter().take_while(|(clock, ..)| *clock < first + 64) {
            assert!(clock > first, "one command a clock");
            assert!(
                clock >= alone.clock(&b.timing, to, other),
                "{from:?} {bank} at {first}, {to:?} {other} at {clock}"
            );
        }
    }
}
