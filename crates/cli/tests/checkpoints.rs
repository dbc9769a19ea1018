//! Interrupted runs: killed at any moment or asked to stop, they end with the same bytes as an undisturbed run.
#![cfg(unix)]

mod common;

use common::{data, warpwatt, warpwatt_in};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Several launches with reads between them, and a few hundred milliseconds long.
const PROGRAM: &[&str] = &["run", "kmeans"];

fn start(out: &Path, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_warpwatt"))
        .args(PROGRAM)
        .args(["--out", out.to_str().unwrap()])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a run directory has its first checkpoint.
fn wait_for_checkpoint(out: &Path, child: &mut Child) {
    let started = Instant::now();
    while !out.join("checkpoint.bin").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its first checkpoint");
        assert!(started.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn results(out: &Path) -> Vec<Vec<u8>> {
    ["run.json", "power.csv", "stats.csv"].map(|name| std::fs::read(out.join(name)).unwrap()).into()
}

fn undisturbed(folder: &Path) -> Vec<Vec<u8>> {
    let out = folder.join("undisturbed");
    assert_eq!(warpwatt(&[PROGRAM, &["--out", out.to_str().unwrap()]].concat()).code, Some(0));
    results(&out)
}

#[test]
fn a_killed_run_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let expected = undisturbed(folder.path());
    for delay in [0, 15, 60, 140] {
        let out = folder.path().join(format!("killed{delay}"));
        let mut child = start(&out, &["--checkpoint-every", "4000cycles"]);
        wait_for_checkpoint(&out, &mut child);
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        if out.join("run.json").exists() {
            continue;
        }
        // Killed once more on the way.
        let mut child = Command::new(env!("CARGO_BIN_EXE_warpwatt"))
            .args(["resume", out.to_str().unwrap(), "--checkpoint-every", "4000cycles"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60));
        child.kill().unwrap();
        child.wait().unwrap();
        if !out.join("run.json").exists() {
            let ran = warpwatt(&["resume", out.to_str().unwrap()]);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            assert!(ran.out.contains("✔ verified"), "{}", ran.out);
        }
        assert!(results(&out) == expected, "killed after {delay} ms");
        assert!(!out.join("checkpoint.bin").exists(), "a finished run keeps no checkpoint");
    }
}

#[test]
fn an_interrupted_run_keeps_its_state_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let expected = undisturbed(folder.path());
    for signal in ["-INT", "-TERM"] {
        let out = folder.path().join(format!("stopped{signal}"));
        let mut child = start(&out, &["--checkpoint-every", "4000cycles"]);
        wait_for_checkpoint(&out, &mut child);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("run::interrupted") && err.contains("To go on: warpwatt resume"), "{err}");
        let ran = warpwatt(&["resume", out.to_str().unwrap(), "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.json()["verification"]["verified"], true);
        assert!(results(&out) == expected, "{signal}");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_ends_the_run_and_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut child = start(&out, &["--checkpoint-every", "4000cycles"]);
    wait_for_checkpoint(&out, &mut child);
    // Where the next one is written there is a directory now; again if one was being written just then.
    let place = out.join("checkpoint.partial.bin");
    while std::fs::create_dir(&place).is_err() {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
    }
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("file::unwritable") && err.contains("warpwatt resume"), "{err}");
    assert!(output.stdout.is_empty() && !out.join("run.json").exists());
    std::fs::remove_dir(place).unwrap();
    assert_eq!(warpwatt(&["resume", out.to_str().unwrap()]).code, Some(0));
    assert!(results(&out) == undisturbed(folder.path()));
}

#[test]
fn a_run_directory_belongs_to_one_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut child = start(&out, &["--checkpoint-every", "4000cycles"]);
    wait_for_checkpoint(&out, &mut child);
    let there = out.to_str().unwrap();
    for others in [&["resume", there][..], &["run", "pathfinder", "--out", there, "--force"]] {
        let ran = warpwatt(others);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("store::busy"), "{}", ran.err);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(results(&out) == undisturbed(folder.path()));
}

#[test]
fn a_loop_that_launches_nothing_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("spin.ptx"), folder.path().join("spin.ptx")).unwrap();
    let job = "ptx = 'spin.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\n\
               [[step]]\nrepeat = 1000000000000\n[[step.do]]\nreset = 'a'\n";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_warpwatt"))
        .args(["run", "job.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("run::interrupted") && out.contains("interrupted"), "{out}\n{err}");
    assert!(!err.contains("warpwatt resume"), "there is nothing to go on from: {err}");
}

#[test]
fn a_finished_run_is_not_resumed_and_changed_inputs_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::copy(data("spin.ptx"), path("spin.ptx")).unwrap();
    let job = "ptx = 'spin.ptx'\n[[step]]\nlaunch = 'spin'\ngrid = 1\nblock = 32\n";
    std::fs::write(path("job.toml"), job).unwrap();
    let command = ["run", "job.toml", "--max-cycles", "3000000", "--checkpoint-every", "10000cycles", "--out", "out"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpwatt"))
        .args(command)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_checkpoint(&path("out"), &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(path("job.toml"), job.replace("block = 32", "block = 64")).unwrap();
    let ran = warpwatt_in(folder.path(), &["resume", "out"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("checkpoint::inputs-changed"), "{}", ran.err);
    // Nor is what was kept lost to another run.
    let ran = warpwatt_in(folder.path(), &["run", "job.toml", "--max-cycles", "1000", "--out", "out"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("store::interrupted-run"), "{}", ran.err);
    std::fs::write(path("job.toml"), job).unwrap();
    // Resumable from another folder; the limit ends it.
    let ran = warpwatt(&["resume", path("out").to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("run::cycle-limit"), "{}", ran.err);
    let ran = warpwatt_in(folder.path(), &["resume", "out"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("checkpoint::finished"), "{}", ran.err);
    std::fs::remove_file(path("out/run.json")).unwrap();
    std::fs::write(path("out/checkpoint.bin"), b"WWCHECK1 nonsense").unwrap();
    let ran = warpwatt_in(folder.path(), &["resume", "out"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("checkpoint::damaged"), "{}", ran.err);
}
