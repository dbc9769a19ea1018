//! Conservation, determinism, skipping and checkpoints under random traffic.

use super::super::*;
use super::harness::{Got, Harness, Wish, gtx480};
use crate::activity::MemEvent;
use crate::message::ReplyKind;
use crate::spec::Spec;
use proptest::prelude::*;

/// Small caches and queues, so that everything runs full.
fn tight() -> Spec {
    let mut spec = gtx480();
    spec.sms = 5;
    spec.channels = 3;
    spec.l2.sets = 2;
    spec.l2.ways = 2;
    spec.l2.mshrs = 5;
    spec.l2.mshr_merges = 2;
    spec.l2.miss_queue = 2;
    spec.partition_queue = 2;
    spec.rop_latency_cycles = 3;
    spec.dram_latency_cycles = 1;
    spec.dram_queue = 3;
    spec.dram_return_queue = 2;
    spec.noc_buffer_flits = 8;
    spec.dram_merge_sectors = true;
    spec
}

fn wishes(sms: usize) -> impl Strategy<Value = Vec<Wish>> {
    let one = (0..sms, 0u8..8, 0u64..40, 1u8..16, 0u64..4000).prop_map(|(sm, kind, line, sectors, wait)| {
        let kind = match kind {
            0 => RequestKind::Atomic,
            1..=3 => RequestKind::Write,
            _ => RequestKind::Read,
        };
        let sectors = if kind == RequestKind::Atomic { sectors & sectors.wrapping_neg() } else { sectors };
        // Some requests wait, most come at once.
        let not_before = if wait < 400 { wait * 3_000_001 } else { 0 };
        Wish { not_before, sm, kind, line: line * 128 + (line & 3) * 98_304, sectors, tag: 0 }
    });
    prop::collection::vec(one, 1..200).prop_map(|mut wishes| {
        for (tag, wish) in wishes.iter_mut().enumerate() {
            wish.tag = tag as u32;
        }
        wishes
    })
}

fn load(spec: &Spec, wishes: &[Wish], skip: bool) -> Harness {
    let mut h = Harness::new(spec);
    h.memory.set_skip(skip);
    wishes.iter().for_each(|wish| h.wish(*wish));
    h
}

/// Everything that a run gives, comparable.
fn outcome(h: &Harness) -> (Vec<String>, String) {
    let got = h.got.iter().map(|got: &Got| format!("{got:?}")).collect();
    (got, format!("{:?} {:?}", h.memory.tally(), h.adder.words))
}

/// Every request gets exactly its replies, every flit its credit, every atomic its effect.
fn conserved(h: &Harness, wishes: &[Wish]) -> Result<(), TestCaseError> {
    let mut sectors = vec![0u8; wishes.len()];
    for (sm, reply, _) in &h.got {
        let wish = wishes[reply.tag as usize];
        prop_assert_eq!((*sm, reply.line), (wish.sm, wish.line));
        let kind = match wish.kind {
            RequestKind::Read => ReplyKind::Data,
            RequestKind::Write => ReplyKind::WriteAck,
            RequestKind::Atomic => ReplyKind::Atomic,
        };
        prop_assert_eq!(reply.kind, kind);
        prop_assert_eq!(reply.sectors.count_ones() == 1 || kind == ReplyKind::WriteAck, true);
        prop_assert_eq!(sectors[reply.tag as usize] & reply.sectors, 0, "a sector answered twice");
        sectors[reply.tag as usize] |= reply.sectors;
    }
    for (wish, sectors) in wishes.iter().zip(sectors) {
        prop_assert_eq!(wish.sectors, sectors);
    }
    prop_assert_eq!(h.flits_sent, h.flits_back);
    let c = h.counters();
    let accesses: u32 = wishes.iter().map(|wish| wish.sectors.count_ones()).sum();
    prop_assert_eq!(c.l2_accesses, u64::from(accesses));
    prop_assert_eq!(c.flits_to_memory, h.flits_sent);
    prop_assert_eq!(c.flits_to_sm, h.got.len() as u64);
    prop_assert_eq!(c.dram_writes, c.l2_writebacks);
    let events = |list: &[MemEvent]| list.iter().map(|&e| h.memory.tally().events[e as usize]).sum::<u64>();
    use MemEvent::*;
    prop_assert_eq!(events(&[L2ReadHit, L2ReadMiss, L2WriteHit, L2WriteMiss]), c.l2_accesses);
    prop_assert_eq!(events(&[L2ReadMiss, L2WriteMiss]), c.l2_misses);
    prop_assert_eq!(events(&[Flit]), c.flits_to_memory + c.flits_to_sm);
    prop_assert_eq!((events(&[DramRead32]), events(&[DramWrite32])), (c.dram_reads, c.dram_writes));
    prop_assert_eq!(events(&[Activate]), c.dram_activations);
    let atomics = wishes.iter().filter(|wish| wish.kind == RequestKind::Atomic).count() as u64;
    prop_assert_eq!(h.adder.words.values().sum::<u64>(), atomics);
    prop_assert_eq!(h.memory.next_event(), Femtoseconds::MAX);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_gets_its_replies_and_skipping_changes_nothing(w in wishes(5), tight_queues: bool) {
        let spec = if tight_queues { tight() } else { gtx480() };
        let mut skipped = load(&spec, &w, true);
        skipped.finish();
        conserved(&skipped, &w)?;
        let mut stepped = load(&spec, &w, false);
        while stepped.now < skipped.now {
            stepped.step();
        }
        prop_assert_eq!(outcome(&skipped), outcome(&stepped));
    }

    #[test]
    fn unequal_and_changing_clocks_lose_nothing(w in wishes(5), changes in prop::collection::vec((0u8..3, 300u32..700), 0..12)) {
        let mut spec = tight();
        spec.l2_mhz = 533.0;
        let run = |skip| {
            let mut h = load(&spec, &w, skip);
            for &(domain, mhz) in &changes {
                (0..5).for_each(|_| h.step());
                let domain = [Domain::Noc, Domain::L2, Domain::Dram][usize::from(domain)];
                h.memory.set_clock(domain, mhz.into(), h.now);
            }
            h.finish();
            (h.now, h)
        };
        let (end, skipped) = run(true);
        conserved(&skipped, &w)?;
        // With skipping off "idle" cannot be told apart from "next tick", so run the same windows.
        let mut stepped = load(&spec, &w, false);
        for &(domain, mhz) in &changes {
            (0..5).for_each(|_| stepped.step());
            let domain = [Domain::Noc, Domain::L2, Domain::Dram][usize::from(domain)];
            stepped.memory.set_clock(domain, mhz.into(), stepped.now);
        }
        while stepped.now < end {
            stepped.step();
        }
        prop_assert_eq!(outcome(&skipped), outcome(&stepped));
    }

    #[test]
    fn a_saved_state_goes_on_as_if_undisturbed(w in wishes(5), windows in 1u64..60) {
        let spec = tight();
        let mut whole = load(&spec, &w, true);
        whole.finish();
        let mut first = load(&spec, &w, true);
        (0..windows).for_each(|_| first.step());
        let saved = serde_json::to_string(first.memory.state()).unwrap();
        let mut restored = MemorySide::new(&spec);
        restored.restore(serde_json::from_str(&saved).unwrap());
        prop_assert_eq!(restored.next_event(), first.memory.next_event());
        prop_assert_eq!(&saved, &serde_json::to_string(restored.state()).unwrap());
        first.memory = restored;
        first.finish();
        while whole.now < first.now {
            whole.step();
        }
        prop_assert_eq!(outcome(&whole), outcome(&first));
    }
}
