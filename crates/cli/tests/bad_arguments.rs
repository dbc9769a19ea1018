//! Bad command lines: exit code 2, no panic, nothing on standard output, a message that names the mistake.

mod common;

use common::warpwatt;

const SAXPY: &[&str] = &["run", "basic.ptx", "--kernel", "saxpy", "--grid", "1", "--block", "64"];

/// Arguments, and words that the message must have.
const CASES: &[(&[&str], &str)] = &[
    (&["rnu", "sgemm"], "unrecognized subcommand"),
    (&["run"], "required arguments"),
    (&["run", "sgem"], "did you mean `sgemm`"),
    (&["run", "zzzzzzzz"], "list` lists the workloads"),
    (&["run", "sgemm", "--size", "huge"], "invalid value 'huge'"),
    (&["run", "sgemm", "--gpu", "gtx48"], "did you mean `gtx480`"),
    (&["run", "sgemm", "--gpu", "nowhere.toml"], "nowhere.toml"),
    (&["run", "sgemm", "--gpu", "basic.ptx.toml"], "cannot read"),
    (&["run", "sgemm", "--set", "core_mhz"], "NAME=VALUE"),
    (&["run", "sgemm", "--set", "core_mh=600"], "did you mean `core_mhz`"),
    (&["run", "sgemm", "--set", "core_mhz=fast"], "must be"),
    (&["run", "sgemm", "--set", "sms=0"], "out of range"),
    (&["run", "sgemm", "--set", "core_mhz=1e300"], "`core_mhz` = 1e300 is out of range"),
    (&["run", "sgemm", "--set", "l1d.sets=33"], "power of two"),
    (&["run", "sgemm", "--set", "l1d=4"], "group of parameters"),
    (&["run", "sgemm", "--set", "scheduler=fifo"], "no choice"),
    (&["run", "sgemm", "--set", "energy_table=foo"], "unknown energy table `foo` help: the tables are gtx480, c2050,"),
    (&["run", "sgemm", "--scheduler", "fifo"], "invalid value 'fifo'"),
    (&["run", "sgemm", "--scheduler", "gto", "--set", "scheduler=lrr"], "`--scheduler gto` and `--set scheduler=lrr`"),
    (&["run", "sgemm", "--threads", "0"], "0 is not in 1..=256"),
    (&["run", "sgemm", "--threads", "many"], "invalid value 'many'"),
    (&["run", "sgemm", "--max-cycles", "0"], "0 is not in 1.."),
    (&["run", "sgemm", "--max-cycles", "-5"], "-5 is not in 1.."),
    (&["run", "sgemm", "--max-cycles", "99999999999999999999"], "99999999999999999999 is not in 1.."),
    (&["run", "sgemm", "--max-cycles", "many"], "no whole number in 1.."),
    (&["run", "sgemm", "--sample-cycles", "-100"], "-100 is not in 100.."),
    (&["run", "sgemm", "--threads", "-1"], "-1 is not in 1..=256"),
    (&["run", "sgemm", "--registers", "-1"], "-1 is not in 1..=255"),
    (&["run", "sgemm", "--sm-mhz", "-5"], "-5 MHz is no V/f level of gtx480"),
    (&["run", "sgemm", "--checkpoint-every", "-5s"], "`-5s` is no interval"),
    (&["run", "sgemm", "--gpu", "-5"], "unknown GPU `-5`"),
    (&["compare", "sgemm", "--jobs", "-3"], "-3 is not in 1..=256"),
    (&["idle", "sgemm", "--bet", "-3"], "-3 is not in 0..="),
    (&["check", "basic.ptx", "--block", "-4"], "-4 is not in 1..=1024"),
    (&["mix", "sgemm", "nw", "--partition", "-1,3"], "`-1"),
    (&["run", "sgemm", "--sample-cycles", "3"], "3 is not in 100.."),
    (&["run", "sgemm", "--registers", "500"], "500 is not in 1..=255"),
    (&["run", "sgemm", "--leakage", "none"], "invalid value 'none'"),
    (&["run", "sgemm", "--energies", "free"], "invalid value 'free'"),
    (&["run", "sgemm", "--checkpoint-every", "soon"], "no interval"),
    (&["run", "sgemm", "--checkpoint-every", "0s"], "no interval"),
    (&["run", "sgemm", "--checkpoint-every", "1ms"], "0.1s to 720h"),
    (&["run", "sgemm", "--checkpoint-every", "1cycles"], "1000 to 1000000000000"),
    (&["run", "sgemm", "--functional", "--checkpoint-every", "30s"], "cannot be used with"),
    (&["run", "sgemm", "--out", "basic.ptx"], "`basic.ptx` is a file, not a directory"),
    (&["resume", "basic.ptx"], "`basic.ptx` is a file, not a directory"),
    (&["run", "sgemm", "--functional", "--no-skip"], "cannot be used with"),
    (&["run", "sgemm", "--functional", "--max-cycles", "9"], "cannot be used with"),
    (&["run", "sgemm", "--force"], "--out"),
    (&["run", "sgemm", "--kernel", "k"], "goes with a PTX file"),
    (&["run", "sgemm", "--arg", "u32:1"], "goes with a PTX file"),
    (&["run", "job.toml", "--grid", "1"], "goes with a PTX file"),
    (&["run", "basic.ptx", "--size", "full"], "goes with a workload"),
    (&["run", "nowhere.toml"], "nowhere.toml"),
    (&["run", "nowhere.ptx", "--grid", "1", "--block", "1"], "nowhere.ptx"),
    (&["run", "basic.ptx"], "needs `--grid`"),
    (&["run", "basic.ptx", "--grid", "1"], "needs `--block`"),
    (&["run", "basic.ptx", "--grid", "1", "--block", "32"], "choose one with --kernel"),
    (&["run", "syntax.ptx", "--grid", "1", "--block", "32"], "syntax.ptx:8"),
    (&["run", "basic.ptx", "--kernel", "saxpi", "--grid", "1", "--block", "1"], "did you mean `saxpy`"),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "1y1", "--block", "1"], "is not a shape"),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "", "--block", "1"], "is not a shape"),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "1", "--block", "4096"], "is not in 1 to 1024"),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "-1x2", "--block", "1"], "of -1 is not in 1 to"),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "1", "--block", "-1"], "of -1 is not in 1 to"),
    (
        &["run", "basic.ptx", "--kernel", "saxpy", "--grid", "1", "--block", "1", "--shared-bytes", "-5"],
        "-5 is not in 0..=4294967295",
    ),
    (&["run", "basic.ptx", "--kernel", "saxpy", "--grid", "3x-1", "--block", "1"], "of -1 is not in 1 to 65535"),
    (&["run", "unsupported.ptx", "--kernel", "paint", "--grid", "1", "--block", "1"], "sust.b.1d"),
    (&["resume", "nowhere"], "there is no directory `nowhere`"),
    (&["resume", "."], "`.` has no checkpoint"),
    (&["run", "nw", "--policy", "static-best"], "`static-best` is a search of `compare`, not a policy"),
    (&["run", "nw", "--policy", "cpg+cta-optimal"], "compare … --policies cta-optimal"),
    (&["compare", "nw", "--policies", "static-best+cpg"], "`static-best` is a search of `compare`"),
    (
        &["run", "nw", "--set", "cpg.bet=9"],
        "leave the setting out, or run under its policy: warpwatt run … --policy cpg",
    ),
    (&["idle", "nw", "--set", "cpg.bet=9"], "warpwatt run … --policy cpg"),
    (&["predict", "nw", "--set", "cpg.bet=9"], "warpwatt run … --policy cpg"),
    (&["bottleneck", "nw", "--set", "cpg.bet=9"], "warpwatt run … --policy cpg"),
    (&["predict", "nw", "nw"], "`nw` is named twice help: once is enough"),
    (&["bottleneck", "nw", "lud", "nw"], "`nw` is named twice help: once is enough"),
    (&["resume"], "required arguments"),
    (&["check"], "required arguments"),
    (&["check", "nowhere.ptx"], "nowhere.ptx"),
    (&["check", "syntax.ptx"], "syntax.ptx:9"),
    (&["check", "basic.ptx", "--block", "2000"], "2000 is not in 1..=1024"),
    (&["check", "basic.ptx", "--gpu", "gtx"], "unknown GPU"),
    (&["show"], "required arguments"),
    (&["show", "gtx999"], "unknown GPU"),
    (&["show", "gtx480", "--only", "warp drive"], "no parameter"),
    (&["schema", "gpus"], "invalid value 'gpus'"),
];

/// `--arg` texts for [`SAXPY`], and words that the message must have.
const ARGS: &[(&str, &str)] = &[
    ("1024", "neither TYPE:VALUE nor buf"),
    ("-5", "neither TYPE:VALUE nor buf"),
    ("u33:4", "`u33` is no type"),
    ("u8:256", "is no u8"),
    ("u32:-1", "is no u32"),
    ("s32:1.5", "is no s32"),
    ("f32:one", "is no f32"),
    ("buf:f32", "number of elements is missing"),
    ("buf:g32:4", "`g32` is no element type"),
    ("buf:f32:many", "`many` is no number of elements"),
    ("buf:f32:4:random", "none of zero, iota, uniform, normal"),
    ("buf:f32:4:uniform:x", "`x` is no seed"),
    ("buf:f32:4:uniform:1:2", "what does `2` mean"),
    ("buf:nowhere.npy", "nowhere.npy"),
    ("buf:f32:0", "has no elements"),
    ("buf:f32:99999999999999", "larger than"),
    ("u32:4", "takes 4 arguments, 1"),
];

/// Arguments of a launch of `saxpy` and more, and words that the message must have.
const LAUNCHES: &[(&[&str], &str)] = &[
    (&["--arg", "f32:nan", "--arg", "f32:1"], "parameter `n` is a .u32, but the argument is of type f32"),
    (
        &["--arg", "u32:64", "--arg", "f32:1", "--shared-bytes", "50000"],
        "needs 50000 bytes of shared memory; at most 49152",
    ),
    (&["--arg", "u32:64", "--arg", "f32:1", "--shared-bytes", "300000"], "at most 49152 are possible"),
];

fn refuse(args: &[&str], words: &str) {
    let ran = warpwatt(args);
    let flat: String = ran.err.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, Some(2), "{args:?}\n{}", ran.err);
    assert!(flat.contains(words), "{args:?}\nexpected `{words}`:\n{}", ran.err);
    assert!(ran.out.is_empty(), "{args:?}\nprinted {}", ran.out);
}

#[test]
fn bad_command_lines_are_refused() {
    for (args, words) in CASES {
        refuse(args, words);
    }
}

#[test]
fn bad_arguments_of_kernels_are_refused() {
    for (arg, words) in ARGS {
        let args: Vec<&str> = SAXPY.iter().copied().chain(["--arg", arg]).collect();
        refuse(&args, words);
    }
}

#[test]
fn bad_launches_are_refused() {
    for (more, words) in LAUNCHES {
        let buffers = ["--arg", "buf:f32:64", "--arg", "buf:f32:64"];
        refuse(&[SAXPY, more, &buffers].concat(), words);
    }
}

#[test]
fn mistakes_of_one_file_look_alike() {
    let ran = warpwatt(&["check", "syntax.ptx"]);
    let headings: Vec<&str> = ran.err.lines().filter(|line| line.contains("ptx::syntax")).collect();
    assert_eq!(headings, ["ptx::syntax", "ptx::syntax"], "{}", ran.err);
    assert!(ran.err.contains("syntax.ptx:8") && ran.err.contains("syntax.ptx:9"), "{}", ran.err);
}

#[test]
fn help_and_version_are_no_mistakes() {
    for args in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let ran = warpwatt(args);
        assert_eq!(ran.code, Some(0), "{args:?}");
        assert!(ran.out.contains("warpwatt"), "{args:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_warpwatt"))
        .args(["show", "gtx480", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    assert_eq!(output.status.code(), Some(0));
}
