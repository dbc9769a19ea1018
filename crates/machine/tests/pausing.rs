//! CTAs are paused and go on (Equalizer §IV-B), warps are sampled (§IV-A), clocks have a first level.

mod common;

use common::{Program, find, gtx480, preset, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::Options;
use warpwatt_machine::hooks::{ChipView, GovernorHook, Hook, LaunchView, Order, Policy, SmView, WarpSums};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{RunStats, Slot};

/// Allows so many CTAs from a question on, and notes what it sees of SM 0.
#[derive(Clone, Debug, Default)]
struct Limits {
    first: Option<u32>,
    turns: Vec<(usize, u32)>,
    sampling: Option<u64>,
    seen: Arc<Mutex<Vec<SmView>>>,
    asked: usize,
}

impl Hook for Limits {}

impl GovernorHook for Limits {
    fn interval(&self) -> u64 {
        256
    }
    fn sampling(&self) -> Option<u64> {
        self.sampling
    }
    fn launch(&mut self, launch: &LaunchView<'_>) -> Vec<Order> {
        assert!(launch.ctas > 0 && launch.ctas_per_sm > 0 && launch.warps_per_cta > 0);
        self.first.map_or(Vec::new(), all)
    }
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        self.seen.lock().unwrap().push(chip.sms[0].clone());
        let turn = self.turns.iter().find(|turn| turn.0 == self.asked);
        self.asked += 1;
        turn.map_or(Vec::new(), |turn| all(turn.1))
    }
    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        note("asked", self.asked as f64);
    }
}

fn all(limit: u32) -> Vec<Order> {
    (0..15).map(|sm| Order::CtaLimit { sm, limit }).collect()
}

impl Policy for Limits {
    fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
        Some(Box::new(self.clone()))
    }
}

/// Many CTAs of two warps, four for each place that SMs have.
fn many() -> Program {
    Program { grid: [480, 1, 1], block: [64, 1, 1], words: 480 * 64, n: 100, ..find("compute") }
}

fn run(program: &Program, limits: &Limits, options: Options) -> RunStats {
    let (output, stats, _) = program.run(&gtx480(), options, Some(limits));
    assert!(output == program.expected(), "wrong result under {limits:?}");
    stats
}

#[test]
fn the_youngest_are_paused_and_the_oldest_of_them_goes_on() {
    let limits = Limits { turns: vec![(1, 3), (24, 5), (40, 8)], ..Default::default() };
    let stats = run(&many(), &limits, threads(1));
    let seen = limits.seen.lock().unwrap();
    assert_eq!((seen[0].ctas, seen[0].paused_ctas, seen[0].cta_limit), (8, 0, 8));
    // Five are paused at once; none comes until those that run are as few as the limit.
    assert_eq!((seen[2].ctas, seen[2].paused_ctas, seen[2].cta_limit), (8, 5, 3));
    let (while_low, while_middle) = (&seen[2..=24], &seen[25..=40]);
    assert!(while_low.windows(2).all(|w| w[1].ctas <= w[0].ctas), "a new CTA comes beside paused ones");
    for s in while_low.iter().chain(while_middle) {
        // An end is replaced from the paused ones, so the limit is kept to.
        assert!(s.ctas - s.paused_ctas <= s.cta_limit, "{s:?}");
        assert!(s.paused_ctas == 0 || s.ctas - s.paused_ctas == s.cta_limit, "{s:?}");
    }
    let counts: Vec<(u32, u32)> = seen.iter().map(|s| (s.ctas, s.paused_ctas)).collect();
    assert!(
        while_low.iter().chain(while_middle).any(|s| s.ctas < 8 && s.paused_ctas > 0),
        "none ended while others were paused: {counts:?}"
    );
    // With none paused, more CTAs come from the dispatcher.
    assert!(seen[41..].iter().any(|s| s.ctas == 8 && s.paused_ctas == 0));
    assert!(stats.launches[0].slots[Slot::Issued as usize] > 0);
    // The log says what was decided.
    assert_eq!(stats.decisions.len(), seen.len());
    let limit = |at: usize| stats.decisions[at].cta_limits.clone();
    assert_eq!((limit(0), limit(1), limit(24)), (vec![8; 15], vec![3; 15], vec![5; 15]));
    assert_eq!(stats.decisions[1].notes, [("asked".to_owned(), 2.0)]);
}

#[test]
fn a_paused_warp_does_nothing() {
    // One CTA on each SM, of which all are paused but for the oldest: with a limit of 1 there is none; a second one waits.
    let program = Program { grid: [30, 1, 1], block: [64, 1, 1], words: 30 * 64, n: 400, ..find("compute") };
    let free = run(&program, &Limits::default(), threads(1));
    let paused = Limits { turns: vec![(0, 1)], ..Default::default() };
    let one_by_one = run(&program, &paused, threads(1));
    let time = |s: &RunStats| s.launches[0].end - s.launches[0].start;
    assert!(time(&one_by_one) > time(&free) * 5 / 3, "{} {}", time(&one_by_one), time(&free));
    let first = Limits { first: Some(1), ..Default::default() };
    let from_the_start = run(&program, &first, threads(1));
    assert_eq!(first.seen.lock().unwrap()[0].ctas, 1);
    let ratio = time(&from_the_start) as f64 / time(&one_by_one) as f64;
    assert!((0.9..1.1).contains(&ratio), "one after the other, paused or not dispatched: {ratio}");
}

#[test]
fn samples_are_the_same_however_the_run_is_simulated() {
    for kernel in ["compute", "sums", "chase", "locals"] {
        let program = if kernel == "compute" { many() } else { Program { n: 40, ..find(kernel) } };
        let sums = |options: Options, sampling| {
            let limits = Limits { turns: vec![(3, 2), (6, 1), (9, 8)], sampling, ..Default::default() };
            let stats = run(&program, &limits, options);
            let seen: Vec<WarpSums> = limits.seen.lock().unwrap().iter().map(|s| s.sampled).collect();
            (record(&stats), seen)
        };
        let expected = sums(threads(1), Some(128));
        for (n, no_skip) in [(2, false), (1, true)] {
            let found = sums(Options { no_skip, ..threads(n) }, Some(128));
            assert_eq!(found.1, expected.1, "{kernel}: {n} threads, no_skip {no_skip}");
            assert!(found.0 == expected.0);
        }
        // Two samples in each interval; sampling changes nothing.
        let asked: u64 = expected.1.iter().map(|s| s.samples).sum();
        assert!(asked.abs_diff(2 * expected.1.len() as u64) <= 1, "{asked} samples");
        assert!(sums(threads(1), None).0 == expected.0);
        let total = |f: fn(&WarpSums) -> u64| expected.1.iter().map(f).sum::<u64>();
        assert!(total(|s| s.waiting) + total(|s| s.excess_alu) + total(|s| s.excess_mem) <= total(|s| s.active));
    }
}

#[test]
fn excess_warps_show_what_is_short() {
    let totals = |program: &Program| {
        let limits = Limits { sampling: Some(64), ..Default::default() };
        run(program, &limits, threads(1));
        let seen = limits.seen.lock().unwrap();
        let sum = |f: fn(&WarpSums) -> u64| seen.iter().map(|s| f(&s.sampled)).sum::<u64>() as f64;
        let samples = sum(|s| s.samples);
        [sum(|s| s.waiting) / samples, sum(|s| s.excess_alu) / samples, sum(|s| s.excess_mem) / samples]
    };
    // A chase in DRAM: the one warp waits.
    let chase = totals(&Program { n: 200, ..find("chase") });
    assert!(chase[0] > 0.5 && chase[1] < 0.1 && chase[2] < 0.1, "{chase:?}");
    // Sixteen warps with independent arithmetic are too many for two schedulers.
    let compute = totals(&many());
    assert!(compute[1] > 1.0 && compute[2] < 0.5, "{compute:?}");
}

#[test]
fn a_governor_that_changes_nothing_costs_nothing() {
    for kernel in ["sums", "locals", "mm"] {
        let program = find(kernel);
        let (_, nominal, _) = program.run(&gtx480(), threads(1), None);
        let mut governed = run(&program, &Limits { sampling: Some(128), ..Default::default() }, threads(1));
        governed.decisions.clear();
        assert!(record(&governed) == record(&nominal), "{kernel}");
    }
}

#[test]
fn a_run_may_begin_at_any_level() {
    let spec = preset("gtx480-equalizer", &[]);
    let run = |options: Options| find("sums").run(&spec, options, None);
    let high = run(Options { core_mhz: Some(805.0), dram_mhz: Some(1062.6), ..threads(1) });
    assert!(high.1.samples.iter().all(|s| (s.core_mhz, s.core_volts, s.dram_mhz) == (805.0, 1.15, 1062.6)));
    assert_eq!(high.2.transitions(), 0);
    let time = |s: &RunStats| (s.launches[1].end - s.launches[0].start) as f64;
    let ratio = time(&run(threads(1)).1) / time(&high.1);
    assert!((ratio / 1.15 - 1.0).abs() < 0.01, "everything 15 % faster: {ratio}");
    // As a governor's first order it is the same.
    #[derive(Debug)]
    struct High;
    impl Hook for High {}
    impl GovernorHook for High {
        fn interval(&self) -> u64 {
            4096
        }
        fn launch(&mut self, _: &LaunchView<'_>) -> Vec<Order> {
            vec![Order::CoreMhz(805.0), Order::DramMhz(1062.6)]
        }
        fn decide(&mut self, _: &ChipView<'_>) -> Vec<Order> {
            Vec::new()
        }
    }
    impl Policy for High {
        fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
            Some(Box::new(High))
        }
    }
    let (_, mut stats, gpu) = find("sums").run(&spec, threads(1), Some(&High));
    stats.decisions.clear();
    assert_eq!(gpu.transitions(), 0);
    assert!(record(&stats) == record(&high.1));
}
