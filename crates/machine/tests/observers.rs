//! What observers hear of cycles and of what is outstanding: the same however the cycles are simulated.

mod common;

use common::{PROGRAMS, Program, find, preset, threads};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use warpwatt_machine::hooks::*;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_machine::{Control, Gpu, Options};

/// Cycles by kind, requests, and the sum of the data cache's miss latencies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Watch {
    kinds: [u64; CYCLE_KINDS],
    requested: u64,
    answered: u64,
    launches: u64,
    period: u64,
    /// When each MSHR of the data cache was taken.
    since: Vec<u64>,
    latency: u64,
}

impl Hook for Watch {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        *self = postcard::from_bytes(state).map_err(|e| e.to_string())?;
        Ok(())
    }
    fn report(&self, _: u64, report: &mut Report) {
        report.add_histogram("kinds", &self.kinds);
        report.raise_histogram("most", &self.kinds);
        report.add("requested", self.requested);
        report.add("answered", self.answered);
        report.add("launches", self.launches);
        report.add("latency", self.latency);
        assert_eq!(self.period, 1_428_571);
    }
}

impl ObserverHook for Watch {
    fn event(&mut self, now: u64, event: Event) {
        match event {
            Event::Cycles(all) => self.kinds.iter_mut().zip(all).for_each(|(kind, n)| *kind += n),
            Event::Requested(o) => {
                self.requested += 1;
                if o.cache == L1Cache::Data {
                    self.since.resize(self.since.len().max(o.entry as usize + 1), 0);
                    self.since[o.entry as usize] = now;
                }
            }
            Event::Answered(o) => {
                self.answered += 1;
                if o.cache == L1Cache::Data {
                    self.latency += now - self.since[o.entry as usize];
                }
            }
            Event::Launch => self.launches += 1,
            Event::Period(period) => self.period = period,
            Event::Slot(..) => panic!("nobody asked for slots"),
            Event::Hit { .. } | Event::Miss { .. } | Event::LoadDone { .. } => panic!("nobody asked for loads"),
            _ => {}
        }
    }

    fn interest(&self) -> Interest {
        Interest { cycles: true, ..Interest::NONE }
    }

    fn tell(&mut self, _: u64, observed: &mut Vec<(&'static str, Vec<u64>)>) {
        observed.push(("kinds", self.kinds.to_vec()));
    }
}

#[derive(Debug)]
struct Watched;

impl Policy for Watched {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { observers: vec![Box::new(Watch::default())], ..SmHooks::default() }
    }
}

fn crisp() -> Spec {
    preset("gtx480-crisp", &[])
}

fn run(program: &Program, options: Options) -> (RunStats, Report) {
    let (output, stats, mut gpu) = program.run(&crisp(), options, Some(&Watched));
    assert!(!program.ordered || output == program.expected());
    (stats, gpu.report())
}

#[test]
fn every_cycle_has_a_kind_and_every_request_an_answer() {
    for program in PROGRAMS {
        let (stats, report) = run(program, threads(1));
        let cycles: u64 = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
        let kinds = report.histogram("kinds");
        assert_eq!(kinds.iter().sum::<u64>(), cycles, "{}", program.kernel);
        let active: u64 = stats.launches.iter().map(|l| l.counters.active_sm_cycles).sum();
        assert_eq!(cycles - kinds[CycleKind::Empty as usize], active, "{}", program.kernel);
        assert!(report.count("requested") > 0);
        assert_eq!(report.count("requested"), report.count("answered"), "{}", program.kernel);
        assert_eq!(report.count("launches"), 15 * stats.launches.len() as u64);
        let latency: u64 = stats.launches.iter().map(|l| l.counters.memory_latency_sum).sum();
        assert_eq!(report.count("latency"), latency, "{}", program.kernel);
        assert!(report.histogram("most").iter().zip(kinds).all(|(most, sum)| most <= sum && 15 * most >= *sum));
    }
}

#[test]
fn they_change_nothing() {
    for program in PROGRAMS.iter().filter(|p| ["sums", "chase", "compute"].contains(&p.kernel)) {
        let (_, plain, _) = program.run(&crisp(), threads(1), None);
        assert!(common::record(&plain) == common::record(&run(program, threads(1)).0), "{}", program.kernel);
    }
}

#[test]
fn the_same_for_any_threads_and_without_skipping() {
    for program in PROGRAMS {
        let (_, expected) = run(program, threads(1));
        for (n, no_skip) in [(1, true), (3, false)] {
            let (_, report) = run(program, Options { no_skip, ..threads(n) });
            assert_eq!(report, expected, "{}: {n} threads, no_skip {no_skip}", program.kernel);
        }
    }
}

#[test]
fn a_chain_of_loads_stalls_and_a_chain_of_arithmetic_computes() {
    let shares = |kernel| {
        let report = run(&find(kernel), threads(1)).1;
        let kinds = report.histogram("kinds");
        let all: u64 = kinds.iter().sum::<u64>() - kinds[CycleKind::Empty as usize];
        [CycleKind::Compute, CycleKind::LoadStall].map(|k| kinds[k as usize] as f64 / all as f64)
    };
    let [compute, stall] = shares("chase");
    assert!(stall > 0.5 && compute < 0.5, "chase: {compute} computes, {stall} stalls");
    let [compute, _] = shares("compute");
    assert!(compute > 0.7, "compute: {compute} computes");
}

#[test]
fn across_a_checkpoint() {
    let program = Program { n: 12, ..find("sums") };
    let (_, expected) = run(&program, threads(1));
    let saved = Arc::new(Mutex::new(Vec::new()));
    let keep = saved.clone();
    let mut gpu = Gpu::with_policy(crisp(), threads(1), &Watched).unwrap();
    gpu.set_observer(Box::new(|_| Control::Checkpoint));
    gpu.set_checkpoint(Box::new(move |bytes| {
        keep.lock().unwrap().push(bytes);
        Ok(())
    }));
    program.drive(&mut gpu).unwrap();
    let states = saved.lock().unwrap();
    assert!(!states.is_empty());
    for state in states.iter() {
        let mut gpu = Gpu::restore_with_policy(crisp(), threads(2), &Watched, state).unwrap();
        program.drive(&mut gpu).unwrap();
        assert_eq!(gpu.report(), expected);
    }
}

/// Asks every 400 cycles and halts the SMs for 100.
#[derive(Clone, Debug, Default)]
struct Halting(Arc<Mutex<Vec<[u64; 3]>>>);

impl Hook for Halting {}

impl GovernorHook for Halting {
    fn interval(&self) -> u64 {
        400
    }
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let told: u64 = chip.sms.iter().flat_map(|sm| &sm.observed).flat_map(|(_, kinds)| kinds).sum();
        let counted: u64 = chip.activity.iter().flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
        self.0.lock().unwrap().push([chip.cycle, told, counted]);
        vec![Order::Halt(100)]
    }
    fn wants_activity(&self) -> bool {
        true
    }
}

impl Policy for Halting {
    fn sm(&self, spec: &Spec, sm: u32) -> SmHooks {
        Watched.sm(spec, sm)
    }
    fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
        Some(Box::new(self.clone()))
    }
}

#[test]
fn a_governor_sees_what_was_observed_and_its_halts_cost_what_they_say() {
    let program = find("compute");
    let (_, plain, _) = program.run(&crisp(), threads(1), None);
    let policy = Halting::default();
    let (_, stats, mut gpu) = program.run(&crisp(), threads(1), Some(&policy));
    let seen = policy.0.lock().unwrap();
    assert!(seen.len() > 2);
    let mut counted = 0;
    for [_, told, new] in seen.iter() {
        counted += new;
        assert_eq!(*told, counted);
    }
    let halted = gpu.report().histogram("kinds")[CycleKind::Halted as usize];
    let questions = seen.len() as u64;
    assert!(halted <= 15 * 100 * questions && halted > 15 * 80 * (questions - 1), "{halted} after {questions}");
    // Work under way goes on meanwhile, so that the run is longer by no more than the halts.
    let longer = stats.launches[0].cycles - plain.launches[0].cycles;
    assert!(longer <= 100 * questions && longer > 50 * (questions - 1), "{longer} after {questions}");
}
