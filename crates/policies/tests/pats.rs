//! PATS: each rule on hand-made queries, and whole runs.

mod common;

use common::{cycles, find, hold, preset, run, select, threads};
use warpwatt_machine::hooks::{Hook, OrderHook, OrderQuery, Policy};
use warpwatt_machine::sm::warps::Warps;
use warpwatt_policies::Selection;
use warpwatt_policies::pats::order::{Pats, prefer};

#[test]
fn the_current_pattern_goes_on_while_a_ready_warp_has_it() {
    let masks = [0xff, 0xf, 0xff, 0x1, 0x3, u32::MAX];
    let (dominant, active) = ([u32::MAX, 0xff, 0xf], |w: usize| masks[w]);
    let mut current = 0xff;
    let all = 0b11_1111;
    assert_eq!(prefer(&dominant, &mut current, all, all, active), Some(0b101));
    // Ready but no port: others with a dominant pattern fill in, the next in turn first; the current one stays.
    assert_eq!(prefer(&dominant, &mut current, all, all & !0b101, active), Some(0b10));
    assert_eq!(prefer(&dominant, &mut current, all, all & !0b111, active), Some(0b10_0000));
    assert_eq!(current, 0xff);
    // None ready: the next dominant pattern, in turn.
    let rest = all & !0b101;
    assert_eq!(prefer(&dominant, &mut current, rest, rest, active), Some(0b10));
    assert_eq!(current, 0xf);
    // It stays although the first is back.
    assert_eq!(prefer(&dominant, &mut current, all, all, active), Some(0b10));
    // After the last comes the first.
    assert_eq!(prefer(&dominant, &mut current, all & !0b10, all & !0b10, active), Some(0b10_0000));
    assert_eq!(current, u32::MAX);
    // Then all the rest.
    assert_eq!(prefer(&dominant, &mut current, 0b1_1000, 0b1_1000, active), None);
    assert_eq!(current, u32::MAX);
}

#[test]
fn a_pattern_that_is_no_longer_dominant_gives_way() {
    let mut current = 0xf0;
    assert_eq!(prefer(&[0xff, 0xf], &mut current, 0b11, 0b11, |w| [0xf, 0xff][w]), Some(0b10));
    assert_eq!(current, 0xff);
}

#[test]
fn the_five_most_frequent_patterns_of_an_epoch_are_dominant() {
    let mut p = Pats::new(2, 8, 1000, 5);
    assert!(p.dominant().is_empty());
    for (mask, times) in [(9, 3), (1, 7), (2, 3), (u32::MAX, 20), (5, 1), (4, 2), (3, 3)] {
        (0..times).for_each(|_| p.count(mask));
    }
    p.pass(999);
    assert!(p.dominant().is_empty());
    p.pass(1000);
    // Of equally frequent ones the smaller mask first.
    assert_eq!(p.dominant(), [u32::MAX, 1, 2, 3, 9]);
    // Nothing issued: nothing learnt. Counting begins anew with each epoch.
    p.pass(5500);
    assert_eq!((p.dominant().len(), p.next_event(5500)), (5, 6000));
    p.count(7);
    let mut q = Pats::new(2, 8, 1000, 5);
    q.load(&p.save()).unwrap();
    p.pass(6000);
    q.pass(6000);
    assert_eq!((p.dominant(), q.dominant()), (&[7][..], &[7][..]));
}

#[test]
fn before_any_pattern_is_known_it_is_round_robin_in_the_active_set() {
    let mut w = Warps::new(8);
    (w.resident, w.buffered, w.clear) = (0b1111, 0b1111, 0b1111);
    let mut p = Pats::new(1, 3, 1000, 5);
    let picked: Vec<_> = (0..4)
        .map(|now| {
            let (available, pool) = (w.ready(), 0xff);
            p.pick(&OrderQuery {
                now,
                scheduler: 0,
                ready: w.ready(),
                available,
                pool,
                int: 0b1111,
                fp: 0,
                warps: &w,
                threads: &[],
            })
        })
        .collect();
    assert_eq!(picked, [Some(1), Some(2), Some(3), Some(1)]);
}

#[test]
fn holds_to_what_every_policy_must() {
    hold(&preset("pascal16", &[("scheduler", "two-level-fetch")]), "pats", &[]);
    hold(&common::two_level(), "pats", &["pats.epoch=50", "pats.scope=type", "pats.patterns=1", "pats.sfu=true"]);
}

#[test]
fn dominant_patterns_are_reported() {
    let spec = preset("pascal16", &[]);
    let policy = select(&spec, "pats", &["pats.epoch=200"]);
    let (stats, report) = run(&find("diverge"), &spec, threads(1), &policy);
    let metrics: Vec<_> = policy.chosen()[0].metrics(&report).collect();
    let share = metrics.iter().find(|(m, _)| m.name == "dominant_share").unwrap().1.unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
    assert_eq!(report.count("pats.issued"), stats.launches.iter().map(|l| l.counters.warp_instructions).sum::<u64>());
    assert!(cycles(&stats) > 200);
}

#[test]
fn beside_itap_it_orders_warps_and_leaves_the_lanes() {
    let spec = preset("pascal16", &[]);
    for pair in ["pats+itap-pow", "itap-pow+pats"] {
        let policy = select(&spec, pair, &["pats.energy=bet", "pats.bet=99"]);
        let hooks = policy.sm(&spec, 0);
        assert!(format!("{:?}", hooks.order).contains("Pats"), "{:?}", hooks.order);
        assert!(!format!("{:?}", hooks.lanes).contains("Gate {"), "{:?}", hooks.lanes);
        assert_eq!(policy.power().gating, select(&spec, "itap-pow", &[]).power().gating);
    }
    hold(&spec, "pats+itap-pow", &["pats.epoch=100"]);
    let error = Selection::new("pats+warped-gates", &[], &spec).unwrap_err();
    assert!(error.to_string().contains("`pats` and `warped-gates`"), "{error}");
}
