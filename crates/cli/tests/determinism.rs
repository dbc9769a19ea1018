//! The same inputs give the same bytes, whatever the threads, the skipping, and how often.

mod common;

use common::warpwatt;
use std::path::Path;
use warpwatt_lab::statistics::slot_name;
use warpwatt_machine::stats::Slot;

/// The results of a run, file by file; host timings are left out.
fn results(args: &[&str], how: &[&str], folder: &Path) -> Vec<Vec<u8>> {
    let out = folder.join(how.join("").replace('-', ""));
    let ran = warpwatt(&[&["run"], args, &["--out", out.to_str().unwrap()], how].concat());
    assert_eq!(ran.code, Some(0), "{args:?} {how:?}\n{}", ran.err);
    ["run.json", "power.csv", "stats.csv"].map(|name| std::fs::read(out.join(name)).unwrap()).into()
}

#[test]
fn results_do_not_depend_on_threads_or_skipping() {
    let example = common::data("../../../../examples/jobs/jacobi.toml");
    let programs: [&[&str]; 4] = [
        &["nw", "--sample-cycles", "5000"],
        &["histo", "--scheduler", "lrr"],
        &["pathfinder", "--scheduler", "two-level-active", "--gpu", "gtx480-crisp"],
        &[example.to_str().unwrap(), "--gpu", "pascal16"],
    ];
    let ways: [&[&str]; 5] = [
        &["--threads", "1", "--force"],
        &["--threads", "2"],
        &["--threads", "3"],
        &["--no-skip"],
        &["--threads", "2", "--no-skip"],
    ];
    for program in programs {
        let folder = tempfile::tempdir().unwrap();
        let first = results(program, &["--threads", "1"], folder.path());
        for how in ways {
            let again = results(program, how, folder.path());
            assert!(first == again, "{program:?} differs with {how:?}");
        }
    }
}

#[test]
fn with_skipping_off_every_cycle_is_stepped_and_the_run_says_so() {
    let run = |how: &[&str]| warpwatt(&[&["run", "nw", "--json"], how].concat()).json();
    let (skipping, stepping) = (run(&[]), run(&["--no-skip"]));
    let number = |run: &serde_json::Value, pointer: &str| run.pointer(pointer).unwrap().as_u64().unwrap();
    let cycles = number(&stepping, "/power/activity/0/sm_cycles");
    for run in [&skipping, &stepping] {
        // What was simulated, counted three times over: samples, issue slots of two schedulers, the host's report.
        let slots = Slot::ALL.iter().map(|slot| number(run, &format!("/totals/{}", slot_name(*slot)))).sum::<u64>();
        assert_eq!(slots, 2 * cycles);
        assert_eq!(number(run, "/power/activity/0/sm_cycles"), cycles);
        assert_eq!(number(run, "/host/sm_cycles"), cycles);
    }
    assert_eq!(number(&stepping, "/host/stepped_sm_cycles"), cycles);
    let stepped = number(&skipping, "/host/stepped_sm_cycles");
    assert!(stepped < cycles / 2);
    let grouped = |n: u64| {
        let digits = n.to_string();
        let place = |(i, c): (usize, char)| {
            let comma = i > 0 && (digits.len() - i) % 3 == 0;
            [comma.then_some(','), Some(c)].into_iter().flatten()
        };
        digits.chars().enumerate().flat_map(place).collect::<String>()
    };
    let says = |how: &[&str], words: String| {
        let ran = warpwatt(&[&["run", "nw"], how].concat());
        assert!(ran.out.contains(&words), "expected `{words}`:\n{}", ran.out);
    };
    let all = grouped(cycles);
    says(&["--no-skip"], format!("skipping off: every cycle stepped, {all} of {all} SM-cycles stepped"));
    says(&[], format!("; {} of {all} SM-cycles stepped, the others skipped", grouped(stepped)));
}
