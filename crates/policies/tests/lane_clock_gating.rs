//! Per-lane clock gating: dynamic power under divergence, and nothing else.

mod common;

use common::{find, model, preset, record, run, select, threads, two_level};
use warpwatt_policies::Selection;

#[test]
fn it_saves_dynamic_power_of_inactive_lanes_and_changes_nothing_else() {
    let spec = two_level();
    for (kernel, divergent) in [("diverge", true), ("mm", false)] {
        let with = select(&spec, "lane-clock-gating", &[]);
        let (plain, _) = run(&find(kernel), &spec, threads(1), &Selection::default());
        let (gated, _) = run(&find(kernel), &spec, threads(1), &with);
        assert_eq!(record(&plain), record(&gated));
        let [before, after] = [&Selection::default(), &with].map(|s| model(&spec, s).unit_power(&gated.samples));
        for (before, after) in before.iter().zip(&after).take(2) {
            assert_eq!((before.joules.leakage, before.joules.overhead), (after.joules.leakage, after.joules.overhead));
        }
        let [before, after] = [before, after].map(|u| u[0].joules.dynamic);
        assert!(if divergent { after < 0.99 * before } else { (after - before).abs() < 1e-9 * before }, "{kernel}");
    }
}

#[test]
fn it_goes_together_with_every_policy() {
    for about in warpwatt_policies::registry::POLICIES.iter().map(|d| d.about).filter(|a| a.name != "lane-clock-gating")
    {
        // On its paper's GPU: some need V/f levels that others do not have.
        let (other, spec) = (about.name, preset(about.baseline.gpu, &[]));
        for pair in [format!("{other}+lane-clock-gating"), format!("lane-clock-gating+{other}")] {
            assert!(select(&spec, &pair, &[]).power().lane_clock_gating);
        }
        assert!(!select(&spec, other, &[]).power().lane_clock_gating);
    }
    let spec = two_level();
    let (alone, _) = run(&find("diverge"), &spec, threads(1), &select(&spec, "cpg", &[]));
    let (both, _) = run(&find("diverge"), &spec, threads(1), &select(&spec, "cpg+lane-clock-gating", &[]));
    assert_eq!(record(&alone), record(&both));
}
