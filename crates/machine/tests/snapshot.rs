//! A run that is saved in the middle of a launch and taken up again ends with the same bytes as an undisturbed one.

mod common;

use common::{Program, find, gtx480, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::{Control, Gpu, Options};

/// Runs a program that is saved at every occasion. Gives output, record and the saved states.
fn save(program: &Program, options: Options) -> (Vec<u8>, String, Vec<Vec<u8>>) {
    let mut gpu = Gpu::new(gtx480(), options).unwrap();
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

fn check(program: Program, options: Options) {
    let (output, stats, _) = program.run(&gtx480(), options.clone(), None);
    let expected = record(&stats);
    let (saved_output, saved_record, states) = save(&program, options.clone());
    assert!(saved_output == output && saved_record == expected, "{}: saving disturbs", program.kernel);
    assert!(!states.is_empty(), "{}: too short to be saved", program.kernel);
    let some = [0, states.len() / 2, states.len() - 1];
    for (i, n) in some.into_iter().zip([1, 2, 3]) {
        let mut gpu = Gpu::restore(gtx480(), Options { threads: n, ..options.clone() }, &states[i]).unwrap();
        let again = program.drive(&mut gpu).unwrap();
        let record = record(&gpu.stats());
        assert!(record == expected, "{} from state {i}:\n{expected}\n{record}", program.kernel);
        assert!(again == output, "{} from state {i}: other results", program.kernel);
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
    let (_, _, states) = save(&program, threads(1));
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
