//! The reference cases in timing mode: outputs bit-exact, instruction counts equal to the established simulator's, cycles
//! close to its, every issue slot accounted for. Skips, with a loud line, without the reference folder.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwatt_machine::stats::{Counters, Slot};
use warpwatt_machine::{Gpu, Options};
use warpwatt_workloads::reference::{self, Case};

type Table = BTreeMap<String, BTreeMap<String, String>>;

/// What a case came to.
struct Result {
    name: &'static str,
    ratio: f64,
    other: f64,
    problems: Vec<String>,
}

fn number(row: &BTreeMap<String, String>, key: &str) -> f64 {
    row[key].parse().unwrap()
}

fn run(case: &Case, ptx: &str, theirs: &Table, expected: &Table) -> Result {
    let row = &theirs[case.name];
    let registers = Some(number(row, "registers_per_thread") as u32);
    let mut gpu = Gpu::new(common::gtx480(), Options { registers, ..Options::default() }).unwrap();
    let outputs = case.run(&mut gpu, ptx).unwrap();
    let mut problems = Vec::new();
    for output in &outputs {
        match (case.name, expected.get(output.name)) {
            // Approximate functions: no two implementations agree to the last bit.
            ("sfu", _) if (output.sum / 49291.18 - 1.0).abs() < 1e-4 => {}
            // Racing stores: no checksum.
            ("stores", _) => {}
            (_, Some(e)) if e["fnv1a64"] == format!("{:016x}", output.fnv1a64) => {}
            _ => problems.push(format!("{} sums to {}", output.name, output.sum)),
        }
    }
    let stats = gpu.stats();
    let mut c = Counters::default();
    stats.launches.iter().for_each(|l| c.add(&l.counters));
    for (key, ours) in [("warp_instructions", c.warp_instructions), ("thread_instructions", c.thread_instructions)] {
        // bfs's stores race: which thread of a level finds a node first decides how often others store.
        if case.name != "bfs" && ours as f64 != number(row, key) {
            problems.push(format!("{key} {ours}, not {}", row[key]));
        }
    }
    let cycles: u64 = stats.launches.iter().map(|l| l.cycles).sum();
    let ratio = cycles as f64 / number(row, "cycles");
    if (ratio - 1.0).abs() > 0.3 {
        problems.push(format!("{cycles} cycles, not within 30 % of {}", row["cycles"]));
    }
    let slots: u64 = stats.launches.iter().flat_map(|l| &l.slots).sum();
    let sm_cycles: u64 = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
    if slots != sm_cycles * u64::from(gpu.spec().schedulers) {
        problems.push(format!("{slots} slots in {sm_cycles} SM-cycles"));
    }
    let other: u64 = stats.launches.iter().map(|l| l.slots[Slot::Other as usize]).sum();
    let other = other as f64 / slots as f64;
    if other > 0.01 {
        problems.push(format!("{:.1} % of the slots have no cause", 100.0 * other));
    }
    Result { name: case.name, ratio, other, problems }
}

/// All cases, the longest first, on two threads.
fn all(folder: &Path) -> Vec<Result> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (ptx, expected) = (text("kernels/kernels.ptx"), reference::table(&text("expected.csv")));
    let theirs = reference::table(&text("gpgpusim-gtx480.csv"));
    let mut cases: Vec<&Case> = reference::cases().iter().collect();
    cases.sort_by_key(|c| std::cmp::Reverse(number(&theirs[c.name], "warp_instructions") as u64));
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(case, &ptx, &theirs, &expected);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

#[test]
fn all_cases_compute_what_they_must_in_about_the_time_that_the_other_simulator_says() {
    let Some(folder) = reference::folder() else { return };
    let results = all(&folder);
    assert_eq!(results.len(), 26);
    let mut error = 0.0;
    let mut problems = Vec::new();
    for r in &results {
        println!("{:20} ratio {:.3}, other {:.2} %", r.name, r.ratio, 100.0 * r.other);
        error += (r.ratio - 1.0).abs() / results.len() as f64;
        problems.extend(r.problems.iter().map(|p| format!("{}: {p}", r.name)));
    }
    println!("mean absolute error {:.1} %", 100.0 * error);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(error <= 0.12, "mean absolute error {:.1} %", 100.0 * error);
}
