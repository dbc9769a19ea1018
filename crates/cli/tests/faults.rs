//! Kernels that go wrong while they run: exit code 1, the kind, and the place.

mod common;

use common::{Ran, warpwatt};

/// File, arguments, and words that the message must have.
const CASES: &[(&str, &[&str], &[&str])] = &[
    (
        "out_of_bounds.ptx",
        &["--grid", "2", "--block", "132", "--arg", "buf:u32:264"],
        &[
            "run::fault",
            "out-of-bounds write of 4 bytes in global memory",
            "PTX line 19",
            "CTA (1,0,0)",
            "thread (131,0,0)",
        ],
    ),
    (
        "misaligned.ptx",
        &["--grid", "1", "--block", "32", "--arg", "buf:u32:4"],
        &["run::fault", "misaligned read of 4 bytes in global memory", "PTX line 12"],
    ),
    (
        "null_pointer.ptx",
        &["--grid", "1", "--block", "32", "--arg", "u64:0"],
        &["run::fault", "null-pointer read of 4 bytes at address 0x8", "PTX line 11"],
    ),
    (
        "shared_overflow.ptx",
        &["--grid", "1", "--block", "96"],
        &[
            "run::fault",
            "out-of-bounds write of 4 bytes in shared memory at address 0x100",
            "PTX line 14",
            "thread (64,0,0)",
        ],
    ),
    (
        "barrier_mismatch.ptx",
        &["--grid", "1", "--block", "96"],
        &["run::fault", "barrier 1", "thread count", "the warps that have arrived said"],
    ),
    (
        "assertion.ptx",
        &["--grid", "1", "--block", "32"],
        &["run::fault", "assertion `i < 5` failed in main at a.cpp:42", "thread (5,0,0)"],
    ),
    ("trap.ptx", &["--grid", "1", "--block", "32"], &["run::fault", "trap instruction", "PTX line 8"]),
    (
        "deadlock.ptx",
        &["--grid", "1", "--block", "64"],
        &["run::deadlock", "at barrier 1", "at barrier 2", "expects 2 warps"],
    ),
];

fn fails(ran: &Ran, name: &str, words: &[&str]) {
    let flat: String = ran.err.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, Some(1), "{name}\n{}", ran.err);
    for words in words {
        assert!(flat.contains(words), "{name}: expected `{words}`:\n{}", ran.err);
    }
}

#[test]
fn faults_end_the_run_with_their_place() {
    for (file, args, words) in CASES {
        let command: Vec<&str> = ["run", file].iter().chain(*args).copied().collect();
        fails(&warpwatt(&command), file, words);
    }
}

#[test]
fn faults_end_a_functional_run_with_their_place() {
    for (file, args, words) in CASES {
        let command: Vec<&str> = ["run", file, "--functional"].iter().chain(*args).copied().collect();
        fails(&warpwatt(&command), file, words);
    }
}

#[test]
fn a_deadlock_says_who_waits_where() {
    let ran = warpwatt(&["run", "deadlock.ptx", "--grid", "1", "--block", "64"]);
    fails(
        &ran,
        "deadlock",
        &["SM 0 warp 0 (PTX line 19) waits at a barrier", "SM 0 warp 1 (PTX line 15) waits at a barrier"],
    );
}

#[test]
fn an_endless_loop_ends_at_the_cycle_limit() {
    let command = ["run", "spin.ptx", "--grid", "1", "--block", "64", "--max-cycles", "20000"];
    let ran = warpwatt(&command);
    fails(&ran, "spin", &["run::cycle-limit", "limit of 20000 cycles", "SM 0 warp 0 (PTX line"]);
    let json = warpwatt(&[&command[..], &["--json"]].concat()).json();
    assert_eq!(json["ending"]["kind"], "cycle-limit");
    assert_eq!(json["totals"]["cycles"], 20000);
}

#[test]
fn the_source_is_drawn_at_the_fault() {
    let ran = warpwatt(&["run", "misaligned.ptx", "--grid", "1", "--block", "32", "--arg", "buf:u32:4"]);
    assert!(ran.err.contains("12 │     ld.global.u32 %r1, [%rd2+1];"), "{}", ran.err);
    let json =
        warpwatt(&["run", "misaligned.ptx", "--grid", "1", "--block", "32", "--arg", "buf:u32:4", "--json"]).json();
    assert_eq!(json["ending"]["kind"], "fault");
    assert_eq!(json["ending"]["line"], 12);
}

#[test]
fn wrong_results_are_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(common::data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    let job = "ptx = 'basic.ptx'\n[[buffer]]\nname = 'out'\ntype = 'u32'\nshape = 1\ninit = 'constant'\nvalue = 7\n\
               [[step]]\nlaunch = 'countdown'\ngrid = 1\nblock = 32\nargs = ['out']\n\
               [[expect]]\nbuffer = 'out'\nvalues = [5]\n";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let ran = common::warpwatt_in(folder.path(), &["run", "job.toml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("wrong results") && ran.out.contains("`out`[0] is 6, expected 5"), "{}", ran.out);
}
