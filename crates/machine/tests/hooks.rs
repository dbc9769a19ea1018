//! Policies may change when things happen, never what is computed: each hook with an answer that is not the trivial one.

use warpwatt_machine::hooks::*;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_machine::{Gpu, Options};
use warpwatt_workloads::Size;

#[derive(Debug)]
struct YoungestFirst;
impl Hook for YoungestFirst {}
impl OrderHook for YoungestFirst {
    fn pick(&mut self, q: &OrderQuery<'_>) -> Option<usize> {
        (0..64).filter(|w| q.available >> w & 1 != 0).max_by_key(|&w| q.warps.of[w].age)
    }
}

#[derive(Debug)]
struct Halves;
impl Hook for Halves {}
impl IssueHook for Halves {
    fn shape(&mut self, q: &IssueQuery) -> Shape {
        Shape::Split(q.lanes & 0x3333_3333, q.lanes & 0xcccc_cccc)
    }
    fn extra_stages(&self) -> u32 {
        2
    }
}

/// Half of each component on every other interval.
#[derive(Debug)]
struct Seesaw(bool);
impl Hook for Seesaw {}
impl DatapathHook for Seesaw {
    fn interval(&self) -> u64 {
        500
    }
    fn decide(&mut self, q: &DatapathQuery) -> [u32; 14] {
        self.0 = !self.0;
        q.groups.map(|g| if self.0 { g.div_ceil(2) } else { g })
    }
}

/// Slows the SMs down to 400 MHz and allows two CTAs.
#[derive(Debug)]
struct Slow;
impl Hook for Slow {}
impl GovernorHook for Slow {
    fn interval(&self) -> u64 {
        1000
    }
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let limits = (0..chip.sms.len()).map(|sm| Order::CtaLimit { sm, limit: 2 });
        limits.chain([Order::CoreMhz(400.0)]).collect()
    }
}

#[derive(Debug)]
enum Which {
    Order,
    Issue,
    Datapath,
    Governor,
}

impl Policy for Which {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        let mut hooks = SmHooks::default();
        match self {
            Which::Order => hooks.order = Some(Box::new(YoungestFirst)),
            Which::Issue => hooks.issue = Some(Box::new(Halves)),
            Which::Datapath => hooks.datapath = Some(Box::new(Seesaw(false))),
            Which::Governor => {}
        }
        hooks
    }
    fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
        matches!(self, Which::Governor).then(|| Box::new(Slow) as Box<dyn GovernorHook>)
    }
}

fn run(gpu: &str, policy: &dyn Policy, threads: usize) -> RunStats {
    let spec = Spec::preset(gpu).unwrap();
    let mut gpu = Gpu::with_policy(spec, Options { threads, ..Options::default() }, policy).unwrap();
    let verification = (warpwatt_workloads::find("pathfinder").unwrap().run)(&mut gpu, Size::Small).unwrap();
    assert!(verification.verified, "{policy:?}: {}", verification.detail);
    gpu.stats()
}

fn cycles(stats: &RunStats) -> u64 {
    stats.launches.iter().map(|l| l.cycles).sum()
}

fn residencies_add_up(gpu: &str, stats: &RunStats) {
    let spec = Spec::preset(gpu).unwrap();
    let (groups, lanes) = (spec.component_groups(), u64::from(spec.lanes().0));
    for sm in stats.samples.iter().flat_map(|s| &s.sms) {
        assert_eq!(sm.int.cycles.iter().sum::<u64>(), lanes * sm.cycles);
        for (c, &of) in groups.iter().enumerate() {
            let sum = sm.component_on[c] + sm.component_gated[c] + sm.component_clock_gated[c];
            assert_eq!(sum, u64::from(of) * sm.cycles);
        }
    }
}

#[test]
fn the_trivial_policy_changes_nothing() {
    let spec = Spec::preset("gtx480").unwrap();
    let mut gpu = Gpu::new(spec, Options::default()).unwrap();
    (warpwatt_workloads::find("pathfinder").unwrap().run)(&mut gpu, Size::Small).unwrap();
    assert_eq!(gpu.stats(), run("gtx480", &Nominal, 1));
}

#[test]
fn order_and_issue_change_the_time_only() {
    let nominal = run("gtx480", &Nominal, 1);
    for policy in [Which::Order, Which::Issue] {
        let stats = run("gtx480", &policy, 2);
        assert_ne!(cycles(&stats), cycles(&nominal), "{policy:?}");
        let count = |s: &RunStats| s.launches.iter().map(|l| l.counters.thread_instructions).sum::<u64>();
        assert_eq!(count(&stats), count(&nominal));
        residencies_add_up("gtx480", &stats);
    }
    assert!(cycles(&run("gtx480", &Which::Issue, 1)) > cycles(&nominal));
}

#[test]
fn a_narrowed_datapath_loses_nothing() {
    let stats = run("kepler-big", &Which::Datapath, 1);
    residencies_add_up("kepler-big", &stats);
    let gated: u64 = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.component_gated[11]).sum();
    assert!(gated > 0);
}

#[test]
fn a_governor_changes_clock_and_concurrency() {
    let nominal = run("gtx480", &Nominal, 1);
    let slow = run("gtx480", &Which::Governor, 2);
    residencies_add_up("gtx480", &slow);
    assert!(slow.samples.iter().any(|s| s.core_mhz == 400.0 && s.core_volts < 1.0));
    let end = |s: &RunStats| s.launches.last().unwrap().end;
    assert!(end(&slow) > end(&nominal) * 5 / 4, "{} {}", end(&slow), end(&nominal));
}
