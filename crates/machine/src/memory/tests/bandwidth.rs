//! Throughput of the whole memory side against what its parts allow.

use super::super::*;
use super::harness::{Harness, Wish, gtx480};

/// Runs until `windows` have passed with every SM's queue kept full by `next(sm, n)`; gives the replies per cycle of the
/// second half.
fn saturate(h: &mut Harness, windows: u64, mut next: impl FnMut(usize, u64) -> Wish) -> f64 {
    let sms = h.memory.layout.sms as usize;
    let mut sent = vec![0u64; sms];
    for window in 0..windows {
        if window == windows / 2 {
            h.got.clear();
        }
        for (sm, sent) in sent.iter_mut().enumerate() {
            while h.wishes_left(sm) < 32 {
                h.wish(next(sm, *sent));
                *sent += 1;
            }
        }
        h.step();
    }
    h.got.len() as f64 / (windows - windows / 2) as f64 / 16.0
}

fn wish(sm: usize, kind: RequestKind, line: u64, sectors: u8) -> Wish {
    Wish { not_before: 0, sm, kind, line, sectors, tag: 0 }
}

#[test]
fn all_sms_on_one_slice_get_one_access_a_cycle() {
    let mut h = Harness::new(&gtx480());
    let rate = saturate(&mut h, 400, |sm, n| wish(sm, RequestKind::Read, (sm as u64 + n) % 4 * 128 % 256, 0xf));
    assert!((rate - 1.0).abs() < 1e-9, "{rate} sectors a cycle");
}

#[test]
fn atomics_on_one_word_execute_one_a_cycle() {
    let mut h = Harness::new(&gtx480());
    let rate = saturate(&mut h, 400, |sm, _| wish(sm, RequestKind::Atomic, 0, 1));
    assert!((rate - 1.0).abs() < 1e-9, "{rate} atomics a cycle");
    assert_eq!(h.adder.words.len(), 1);
}

/// Shares of the pin bandwidth and of the bus's time that reads of a stream take. Each SM reads lines of its own, as CTAs do.
fn stream(merge: bool) -> (f64, f64) {
    let mut spec = gtx480();
    spec.dram_merge_sectors = merge;
    let mut h = Harness::new(&spec);
    let line = |base: u64| move |sm: usize, n: u64| wish(sm, RequestKind::Read, base + (n * 15 + sm as u64) * 128, 0xf);
    saturate(&mut h, 3000, line(0));
    h.memory.take_tally();
    saturate(&mut h, 3000, line(1 << 28));
    let c = h.counters();
    let clocks = c.dram_clocks as f64;
    // 4 beats of 8 bytes a command clock: 177 GB/s over six channels at 924 MHz.
    (c.dram_reads as f64 / clocks, c.dram_busy_clocks as f64 / clocks)
}

#[test]
fn a_stream_of_whole_lines_reaches_the_pins() {
    let (pins, bus) = stream(true);
    assert!(pins > 0.95 && bus <= 1.0, "{pins} of the pin bandwidth, bus busy {bus}");
}

#[test]
fn without_merging_sectors_the_bus_is_as_busy_and_half_of_each_burst_is_lost() {
    let (pins, bus) = stream(false);
    assert!(bus > 0.95 && (pins - bus / 2.0).abs() < 1e-3, "{pins} of the pin bandwidth, bus busy {bus}");
}
