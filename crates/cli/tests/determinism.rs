//! The same inputs give the same bytes, whatever the threads, the skipping, and how often.

mod common;

use common::warpwatt;
use std::path::Path;

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
    let cycles = stepping["power"]["activity"][0]["sm_cycles"].as_u64().unwrap();
    assert_eq!(stepping["host"]["stepped_sm_cycles"].as_u64().unwrap(), cycles);
    assert!(skipping["host"]["stepped_sm_cycles"].as_u64().unwrap() < cycles / 2);
    assert!(warpwatt(&["run", "nw", "--no-skip"]).out.contains("skipping off: all"));
}
