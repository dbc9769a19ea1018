//! Futures that a governor is shown: they come true, and showing them changes nothing.

mod common;

use common::{PROGRAMS, Program, find, preset, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::Options;
use warpwatt_machine::hooks::*;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;

/// Core cycles between two questions, and as a time.
const INTERVAL: u64 = 700;
const TIME: u64 = 1_000_000_000;

/// Of each question: core cycle, instructions issued so far, and the futures at 700 and 100 MHz.
type Log = Arc<Mutex<Vec<(u64, u64, Vec<Future>)>>>;

/// Asks, looks ahead or not, and orders nothing, or a clock.
#[derive(Clone, Debug)]
struct Seer {
    looks: bool,
    order: Option<f64>,
    log: Log,
}

impl Hook for Seer {}

impl GovernorHook for Seer {
    fn interval(&self) -> u64 {
        INTERVAL
    }
    fn wants_activity(&self) -> bool {
        true
    }
    fn foresees(&self) -> Option<Foresight> {
        self.looks.then(|| Foresight { mhz: vec![700.0, 100.0], time: TIME })
    }
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let issued = chip.sms.iter().map(|sm| sm.counters.warp_instructions).sum();
        self.log.lock().unwrap().push((chip.cycle, issued, chip.futures.to_vec()));
        self.order.map(Order::CoreMhz).into_iter().collect()
    }
}

/// Observers with a state of their own, too: it must come back with the rest.
#[derive(Clone, Debug, Default)]
struct Slots(u64);

impl Hook for Slots {
    fn save(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.0 = u64::from_le_bytes(state.try_into().map_err(|_| "short")?);
        Ok(())
    }
    fn report(&self, _: u64, report: &mut Report) {
        report.add("issued", self.0);
    }
}

impl ObserverHook for Slots {
    fn event(&mut self, _: u64, event: Event) {
        self.0 += matches!(event, Event::Slot(warpwatt_machine::stats::Slot::Issued, _)) as u64;
    }
}

impl Policy for Seer {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { observers: vec![Box::new(Slots(0))], ..SmHooks::default() }
    }
    fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
        Some(Box::new(self.clone()))
    }
}

fn run(program: &Program, looks: bool, order: Option<f64>, options: Options) -> (RunStats, Report, Log) {
    let seer = Seer { looks, order, log: Log::default() };
    let (output, stats, mut gpu) = program.run(&preset("gtx480-crisp", &[]), options, Some(&seer));
    assert!(!program.ordered || output == program.expected());
    (stats, gpu.report(), seer.log)
}

#[test]
fn looking_ahead_changes_nothing() {
    for program in PROGRAMS.iter().filter(|p| ["mm", "sums", "diverge", "counters"].contains(&p.kernel)) {
        let (plain, counted, _) = run(program, false, None, threads(1));
        for options in [threads(3), Options { no_skip: true, ..threads(1) }] {
            let (stats, report, _) = run(program, true, None, options);
            assert!(record(&stats) == record(&plain), "{}", program.kernel);
            assert_eq!(report, counted, "{}", program.kernel);
        }
    }
}

#[test]
fn what_is_foreseen_of_the_present_clock_comes_true() {
    let (stats, _, log) = run(&Program { n: 40, launches: 1, ..find("sums") }, true, None, threads(1));
    let log = log.lock().unwrap();
    assert_eq!(stats.launches.len(), 1);
    assert!(log.len() > 3);
    for pair in log.windows(2) {
        let [(cycle, issued, futures), (next, later, _)] = pair else { unreachable!() };
        // Questions come at window boundaries, as futures end: both up to a window late.
        let off = (next - cycle).abs_diff(INTERVAL);
        assert!(off < 32 && futures.len() == 2);
        let now = &futures[0];
        assert!(now.time >= TIME && now.time < TIME + 50_000_000);
        assert_eq!(now.activity.iter().map(|s| s.end - s.start).sum::<u64>(), now.time);
        let (foreseen, true_) = (now.instructions as f64, (later - issued) as f64);
        assert!((foreseen - true_).abs() <= 0.1 * true_ + 30.0, "{foreseen} foreseen, {true_} true");
        // A seventh of the clock: fewer instructions, in samples that say so.
        assert!(futures[1].instructions < now.instructions);
        assert_eq!(futures[1].activity.last().unwrap().core_mhz, 100.0);
    }
}

#[test]
fn a_clock_that_was_tried_can_be_chosen() {
    let program = Program { n: 40, ..find("sums") };
    let (slow, counted, log) = run(&program, true, Some(400.0), threads(1));
    let (plain, expected, _) = run(&program, false, Some(400.0), threads(1));
    assert!(log.lock().unwrap().len() > 3);
    assert!(record(&slow) == record(&plain) && counted == expected);
}
