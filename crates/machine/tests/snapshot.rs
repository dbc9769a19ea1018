//! A run that is saved in the middle of a launch and taken up again ends with the same bytes as an undisturbed one.

mod common;

use common::policies::{Counter, DatapathPolicy, GovernorPolicy, LanesPolicy, OrderPolicy, Shapes};
use common::{Program, find, gtx480, preset, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::hooks::{Nominal, Order, Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Control, Gpu, Options};

/// Runs a program that is saved at every occasion. Gives output, record and the saved states.
fn save(program: &Program, spec: &Spec, options: Options, policy: &dyn Policy) -> (Vec<u8>, String, Vec<Vec<u8>>) {
    let mut gpu = Gpu::with_policy(spec.clone(), options, policy).unwrap();
    let saved = Arc::new(Mutex::new(Vec::new()));
    let keep = saved.clone();
    gpu.set_observer(Box::new(|_| Control::Checkpoint));
    gpu.set_checkpoint(Box::new(move |bytes| {
        keep.lock().unwrap().push(bytes);
        Ok(())
    }));
    let output = program.drive(&mut gpu).unwrap();
    let saved = std::mem::take(&mut *saved.lock().unwrap());
    (output, record(&gpu.stats()), saved)
}

/// Where two records part.
fn parting(expected: &str, found: &str) -> String {
    let same = expected.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(200)).take(300).collect::<String>();
    format!("at {same} of {}:\n{}\n{}", expected.len(), around(expected), around(found))
}

fn check(program: Program, options: Options) {
    check_under(program, &gtx480(), options, &Nominal);
}

/// Saved anywhere and taken up again, also with other threads and on and on, the run ends as an undisturbed one.
fn check_under(program: Program, spec: &Spec, options: Options, policy: &dyn Policy) {
    let (output, stats, undisturbed) = program.run(spec, options.clone(), Some(policy));
    let expected = record(&stats);
    let (saved_output, saved_record, states) = save(&program, spec, options.clone(), policy);
    assert!(saved_output == output, "{} under {policy:?}: saving changes results", program.kernel);
    assert!(saved_record == expected, "{}: saving disturbs {}", program.kernel, parting(&expected, &saved_record));
    assert!(!states.is_empty(), "{}: too short to be saved", program.kernel);
    let some = [0, states.len() / 2, states.len() - 1];
    for (i, n) in some.into_iter().zip([1, 2, 3]) {
        let options = Options { threads: n, ..options.clone() };
        let mut gpu = Gpu::restore_with_policy(spec.clone(), options, policy, &states[i]).unwrap();
        let again = program.drive(&mut gpu).unwrap();
        let record = record(&gpu.stats());
        let parting = parting(&expected, &record);
        assert!(record == expected, "{} from state {i} under {policy:?}: {parting}", program.kernel);
        assert!(again == output, "{} from state {i} under {policy:?}: other results", program.kernel);
        assert_eq!(gpu.transitions(), undisturbed.transitions());
    }
}

#[test]
fn shared_memory_and_barriers_over_two_launches() {
    check(Program { n: 12, launches: 2, ..find("sums") }, threads(1));
}

#[test]
fn outstanding_atomics() {
    check(Program { n: 24, ..find("counters") }, threads(1));
    check(Program { n: 14, ..find("tickets") }, threads(1));
}

#[test]
fn local_memory() {
    check(Program { n: 50, ..find("locals") }, threads(1));
}

#[test]
fn outstanding_misses() {
    check(Program { n: 100, ..find("chase") }, threads(1));
}

#[test]
fn divergent_warps() {
    check(Program { n: 400, ..find("diverge") }, threads(1));
}

#[test]
fn with_samples_and_every_cycle_stepped() {
    check(
        Program { n: 16, launches: 1, ..find("sums") },
        Options { sample_cycles: Some(700), no_skip: true, ..threads(1) },
    );
}

#[test]
fn a_damaged_or_foreign_state_is_refused() {
    let program = Program { n: 100, ..find("chase") };
    let (_, _, states) = save(&program, &gtx480(), threads(1), &Nominal);
    let good = &states[0];
    let other = common::preset("gtx480", &[("l1_latency_cycles", "36")]);
    assert!(Gpu::restore(other, threads(1), good).is_err());
    for bytes in [&good[..good.len() / 2], &good[1..], b"", b"not a state"] {
        let error = Gpu::restore(gtx480(), threads(1), bytes).expect_err("damaged");
        assert!(!error.to_string().is_empty());
    }
    // Another host program than the one that was saved.
    let mut gpu = Gpu::restore(gtx480(), threads(1), good).unwrap();
    let error = find("compute").drive(&mut gpu).unwrap_err().to_string();
    assert!(error.contains("chase") && error.contains("compute"), "{error}");
}

/// Long enough to be saved several times.
fn long() -> [Program; 2] {
    [Program { n: 6, launches: 2, ..find("sums") }, Program { n: 250, ..find("diverge") }]
}

#[test]
fn under_an_order() {
    for program in long() {
        check_under(program, &gtx480(), threads(1), &OrderPolicy);
    }
}

#[test]
fn under_a_policy_that_shapes_instructions() {
    for shapes in [Shapes { split: true, stages: 0 }, Shapes { split: false, stages: 3 }] {
        for program in long() {
            check_under(program, &gtx480(), threads(1), &shapes);
        }
    }
}

#[test]
fn under_a_policy_of_lanes() {
    for program in long() {
        check_under(program, &gtx480(), threads(1), &LanesPolicy);
    }
}

#[test]
fn under_a_policy_of_the_datapath() {
    for spec in [gtx480(), preset("kepler-big", &[])] {
        for program in long() {
            check_under(program, &spec, threads(1), &DatapathPolicy);
        }
    }
}

/// A governor that is never done: clocks up and down, CTAs more and fewer. Changes are under way at many a state.
fn governor() -> GovernorPolicy {
    let turn = |core, dram, limit| {
        let limits = (0..15).map(move |sm| Order::CtaLimit { sm, limit });
        limits.chain([Order::CoreMhz(core), Order::DramMhz(dram)]).collect::<Vec<_>>()
    };
    let turns = [turn(805.0, 785.4, 2), turn(595.0, 1062.6, 1), turn(700.0, 924.0, 8)];
    GovernorPolicy { interval: 900, orders: turns.into_iter().cycle().take(100).collect(), ..Default::default() }
}

#[test]
fn under_a_governor() {
    let spec = preset("gtx480-equalizer", &[]);
    let options = Options { sample_cycles: Some(1500), ..threads(1) };
    for program in long() {
        let (.., gpu) = program.run(&spec, threads(1), Some(&governor()));
        assert!(gpu.transitions() > 4, "{}: {} transitions", program.kernel, gpu.transitions());
        check_under(program, &spec, options.clone(), &governor());
    }
}

#[test]
fn under_observers() {
    for program in long() {
        check_under(program, &gtx480(), threads(1), &Counter::default());
    }
}

/// All hooks of an SM, and the chip's, at once.
#[derive(Debug)]
struct All(GovernorPolicy);

impl Policy for All {
    fn sm(&self, spec: &Spec, sm: u32) -> SmHooks {
        SmHooks {
            order: OrderPolicy.sm(spec, sm).order,
            issue: Shapes { split: true, stages: 2 }.sm(spec, sm).issue,
            lanes: LanesPolicy.sm(spec, sm).lanes,
            datapath: DatapathPolicy.sm(spec, sm).datapath,
            observers: Counter::default().sm(spec, sm).observers,
        }
    }
    fn governor(&self, spec: &Spec) -> Option<Box<dyn warpwatt_machine::hooks::GovernorHook>> {
        self.0.governor(spec)
    }
}

#[test]
fn under_all_hooks_at_once() {
    let spec = preset("gtx480-equalizer", &[]);
    for program in long() {
        check_under(program, &spec, threads(1), &All(governor()));
    }
}
