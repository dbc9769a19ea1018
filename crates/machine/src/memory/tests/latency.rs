//! Unloaded latencies, exact.

use super::super::*;
use super::harness::{Harness, Wish, gtx480};
use crate::clock::period_of;
use crate::message::ReplyKind;

const CYCLE: Femtoseconds = 1_428_571; // 700 MHz
const CLOCK: Femtoseconds = 1_082_251; // 924 MHz

/// Time from sending a read of one sector until its reply is there, on an idle machine; sent at the grid point `now`.
fn round_trip(h: &mut Harness, line: u64) -> Femtoseconds {
    h.finish();
    h.got.clear();
    let sent = h.now;
    h.read(0, line, 1, 1);
    h.finish();
    assert_eq!(h.got.len(), 1);
    h.got[0].1.time - sent
}

#[test]
fn l2_hit_takes_two_crossbar_passes_and_the_rop_path() {
    let mut spec = gtx480();
    let mut h = Harness::new(&spec);
    round_trip(&mut h, 0xc000_0000);
    assert_eq!(round_trip(&mut h, 0xc000_0000), (16 + 104 + 16) * CYCLE);
    spec.noc_latency_cycles = 11;
    spec.rop_latency_cycles = 30;
    let mut h = Harness::new(&spec);
    round_trip(&mut h, 0);
    assert_eq!(round_trip(&mut h, 0), (11 + 30 + 11) * CYCLE);
    spec.rop_latency_cycles = 0;
    let mut h = Harness::new(&spec);
    round_trip(&mut h, 0);
    assert_eq!(round_trip(&mut h, 0), (11 + 1 + 11) * CYCLE, "crossbar and tags are two cycles at least");
}

#[test]
fn four_sectors_of_a_line_come_one_a_cycle() {
    let mut h = Harness::new(&gtx480());
    h.read(0, 0, 0xf, 1);
    h.finish();
    h.got.clear();
    let sent = h.now;
    h.read(3, 0, 0xf, 2);
    h.finish();
    let replies: Vec<_> = h.got.iter().map(|(sm, r, _)| (*sm, r.time - sent, r.sectors, r.tag, r.line)).collect();
    let expected: Vec<_> = (0..4).map(|i| (3, (136 + i) * CYCLE, 1u8 << i, 2, 0)).collect();
    assert_eq!(replies, expected);
}

/// DRAM time of a read that finds its bank as `commands` clocks of row commands say; everything else is known.
fn dram_miss(sent: Femtoseconds, commands: u64) -> Femtoseconds {
    let at_dram = sent + (16 + 104 + 100) * CYCLE;
    let first = at_dram.div_ceil(CLOCK) * CLOCK; // the DRAM clock's first tick from there
    let data = first + (commands + 12 + 2) * CLOCK; // CL and the burst
    let filled = data.div_ceil(CYCLE) * CYCLE;
    filled + 16 * CYCLE - sent
}

#[test]
fn l2_miss_adds_the_dram_path_and_what_the_bank_needs() {
    let mut h = Harness::new(&gtx480());
    // Row 0 of bank 0 is closed: RCD.
    let sent = h.now;
    assert_eq!(round_trip(&mut h, 0), dram_miss(sent, 12));
    // Another line of the same row: a hit. 6 channels × 512 bytes on: the next line pair of bank 0.
    h.finish();
    let sent = h.now;
    assert_eq!(round_trip(&mut h, 6 * 512), dram_miss(sent, 0));
    // Another row of bank 0: RP and RCD. Rows are 64 KiB of channel-local addresses apart.
    h.finish();
    let sent = h.now;
    let latency = round_trip(&mut h, 6 * 65536);
    assert_eq!(latency, dram_miss(sent, 12 + 12));
    let cycles = latency / CYCLE;
    assert!((255..275).contains(&cycles), "{cycles} core cycles; the reference simulator has 263");
}

#[test]
fn writes_are_acknowledged_once_and_their_sectors_hit_afterwards() {
    let mut h = Harness::new(&gtx480());
    h.wish(Wish { not_before: 0, sm: 1, kind: RequestKind::Write, line: 128, sectors: 0b1010, tag: 9 });
    h.finish();
    assert_eq!(h.got.len(), 1);
    let (sm, ack, _) = h.got[0];
    assert_eq!((sm, ack.kind, ack.sectors, ack.tag, ack.line), (1, ReplyKind::WriteAck, 0b1010, 9, 128));
    // A second flit (72 bytes in all), and a second sector access, which makes the acknowledgement.
    assert_eq!(ack.time, (16 + 1 + 104 + 1 + 16) * CYCLE);
    assert_eq!((h.counters().l2_accesses, h.counters().l2_misses, h.counters().dram_reads), (2, 2, 0));
    assert_eq!(h.counters().flits_to_memory, 2);
    let sent = h.now;
    assert_eq!(round_trip(&mut h, 128), dram_miss(sent, 12), "sector 0 was not written");
    h.finish();
    h.got.clear();
    let sent = h.now;
    h.read(1, 128, 0b1000, 1);
    h.finish();
    assert_eq!(h.got[0].1.time - sent, 136 * CYCLE);
}

#[test]
fn an_atomic_fetches_its_sector_first_and_hits_afterwards() {
    let mut h = Harness::new(&gtx480());
    let atomic = |now, tag| Wish { not_before: now, sm: 2, kind: RequestKind::Atomic, line: 0, sectors: 0b0100, tag };
    h.wish(atomic(0, 5));
    h.finish();
    let (sm, reply, old) = h.got[0];
    assert_eq!((sm, reply.kind, reply.tag, reply.sectors, old), (2, ReplyKind::Atomic, 5, 0b0100, 0));
    assert_eq!((h.counters().dram_reads, h.adder.words[&64]), (1, 1));
    let sent = h.now;
    h.wish(atomic(sent, 6));
    h.finish();
    assert_eq!((h.got[1].1.time - sent, h.got[1].2), (136 * CYCLE, 1));
    assert_eq!((h.counters().l2_accesses, h.counters().l2_misses), (2, 1));
}

#[test]
fn clocks_change_in_mid_run_and_latencies_follow() {
    let spec = gtx480();
    let mut h = Harness::new(&spec);
    round_trip(&mut h, 0);
    let fast = round_trip(&mut h, 0);
    h.memory.set_clock(Domain::Noc, 350.0, h.now);
    h.memory.set_clock(Domain::L2, 350.0, h.now);
    let slow = round_trip(&mut h, 0);
    let half = period_of(350.0);
    // The harness still sends with the wire of 700 MHz; the first tick after the change keeps its place.
    assert!(slow.abs_diff(16 * CYCLE + 120 * half) <= 2 * half, "{slow} {fast}");
    h.memory.set_clock(Domain::Noc, 700.0, h.now);
    h.memory.set_clock(Domain::L2, 700.0, h.now);
    let again = round_trip(&mut h, 0);
    assert!(again.abs_diff(fast) <= 2 * CYCLE);
    // DRAM alone: twice the clocks' length, the rest stays.
    let closed = round_trip(&mut h, 6 * 1024 * 1024);
    h.memory.set_clock(Domain::Dram, 462.0, h.now);
    let slower = round_trip(&mut h, 6 * 2048 * 1024);
    assert!(slower > closed + 30 * CLOCK && slower < closed + 46 * CLOCK, "{closed} {slower}");
}

#[test]
fn an_idle_memory_side_has_no_events_and_still_counts_dram_clocks() {
    let mut h = Harness::new(&gtx480());
    assert_eq!(h.memory.next_event(), Femtoseconds::MAX);
    let second = 1_000_000_000_000_000;
    let outboxes: &mut [Outbox] = &mut [];
    h.memory.take_requests(outboxes);
    h.memory.run(0, second, &mut [], &mut h.adder);
    assert_eq!(h.counters().dram_clocks, 6 * second.div_ceil(CLOCK));
    assert_eq!(h.memory.next_event(), Femtoseconds::MAX);
    let (counters, events) = h.memory.take_tally();
    assert_eq!((counters.dram_clocks > 0, events), (true, [0; MEM_EVENTS]));
    assert_eq!(h.memory.tally(), &Tally::default());
}
