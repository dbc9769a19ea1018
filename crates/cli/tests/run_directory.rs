//! The run directory, looking up, and what `--json` promises.

mod common;

use common::{data, warpwatt, warpwatt_in};
use serde_json::Value;

#[test]
fn a_repeated_run_is_a_look_up_and_another_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| warpwatt_in(folder.path(), &[&["run", "nw", "--out", "out"], args].concat());
    assert_eq!(run(&[]).code, Some(0));
    let written = std::fs::metadata(folder.path().join("out/run.json")).unwrap().modified().unwrap();
    let again = run(&["--threads", "2"]);
    assert_eq!(again.code, Some(0));
    assert!(again.err.contains("looked up, not simulated again"), "{}", again.err);
    assert!(again.out.contains("✔ verified"));
    assert_eq!(written, std::fs::metadata(folder.path().join("out/run.json")).unwrap().modified().unwrap());
    assert!(!run(&["--force"]).err.contains("looked up"));

    let other = run(&["--set", "core_mhz=600"]);
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("store::other-run") && other.err.contains("nw (small) on gtx480"), "{}", other.err);
    // Nor does a timeline, which is never looked up, replace it.
    let traced = run(&["--set", "core_mhz=600", "--trace", "trace.json"]);
    assert!(traced.code == Some(2) && traced.err.contains("store::other-run"), "{}", traced.err);
    assert_eq!(run(&["--trace", "trace.json"]).code, Some(0));
    assert_eq!(run(&["--set", "core_mhz=600", "--force"]).code, Some(0));
    std::fs::write(folder.path().join("out/run.json"), "{}").unwrap();
    assert!(run(&[]).err.contains("store::foreign"));
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let mut cases = vec![
        vec!["run", "nw", "--out", "file/out"],
        vec!["run", "nw", "--out", "file/out", "--force", "--functional"],
        vec!["run", "nw", "--out", "out", "--trace", "file/trace.json"],
        vec!["run", "nw", "--trace", "."],
        vec!["compare", "nw", "--policies", "cpg", "--html", "file/page.html"],
        vec!["compare", "nw", "--policies", "cpg", "--store", "file/runs"],
        vec!["predict", "nw", "--html", "file/page.html"],
        vec!["bottleneck", "nw", "--html", "file/page.html"],
        vec!["mix", "nw", "--out", "file/mix.json"],
    ];
    if cfg!(target_os = "linux") {
        cases.push(vec!["run", "nw", "--out", "/proc/nobody/out"]);
    }
    for case in cases {
        let ran = warpwatt_in(folder.path(), &case);
        assert_eq!(ran.code, Some(2), "{case:?}\n{}", ran.err);
        assert!(ran.err.contains("file::unwritable") && ran.err.contains("help:"), "{case:?}\n{}", ran.err);
        assert!(ran.out.is_empty(), "{case:?}");
    }
    // Nothing was simulated meanwhile: the one directory that could be made is empty.
    assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
}

/// A description that names a file of each kind.
const READS: &str = "
    ptx = 'basic.ptx'
    gpu = 'mine.toml'
    [[buffer]]
    name = 'x'
    type = 'f32'
    shape = 64
    init = 'raw'
    file = 'data/x.bin'
    [[buffer]]
    name = 'y'
    init = 'npy'
    file = 'y.npy'
    [[step]]
    launch = 'saxpy'
    grid = 1
    block = 64
    args = [64, 2.0, 'x', 'y']
    [[expect]]
    buffer = 'x'
    raw = 'expected.bin'
    [[expect]]
    buffer = 'y'
    npy = 'y.npy'
";

#[test]
fn no_output_replaces_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job");
    std::fs::create_dir_all(job.join("data")).unwrap();
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }".to_vec();
    npy.resize(127, b' ');
    npy.push(b'\n');
    npy.resize(128 + 256, 0);
    let write = |name: &str, bytes: &[u8]| std::fs::write(job.join(name), bytes).unwrap();
    write("job.toml", READS.as_bytes());
    write("basic.ptx", &std::fs::read(data("basic.ptx")).unwrap());
    write("mine.toml", b"base = 'gtx480'\nsms = 4\n");
    write("data/x.bin", &[0; 256]);
    write("expected.bin", &[0; 256]);
    write("y.npy", &npy);
    let run = |args: &[&str]| warpwatt_in(folder.path(), args);
    let refused = |args: &[&str], name: &str| {
        let before = std::fs::read(job.join(name)).unwrap();
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{args:?}\n{}", ran.err);
        assert!(ran.err.contains("file::replaces-input") && ran.out.is_empty(), "{args:?}\n{}", ran.err);
        assert!(std::fs::read(job.join(name)).unwrap() == before, "{args:?}");
    };
    for name in ["job.toml", "basic.ptx", "mine.toml", "data/x.bin", "expected.bin", "y.npy"] {
        let output = format!("job/./{name}");
        for command in [
            &["run", "job/job.toml", "--trace", &output][..],
            &["compare", "job/job.toml", "--policies", "cpg", "--html", &output],
            &["predict", "job/job.toml", "--html", &output],
            &["bottleneck", "nw", "job/job.toml", "--html", &output],
            &["mix", "nw", "job/job.toml", "--out", &output],
        ] {
            refused(command, name);
        }
    }
    // The GPU of the command line, and the pieces of a quick launch.
    refused(&["mix", "nw", "--gpu", "job/mine.toml", "--out", "job/mine.toml"], "mine.toml");
    let quick = ["run", "job/basic.ptx", "--kernel", "saxpy", "--grid", "1", "--block", "64", "--arg", "u32:64"];
    let more = ["--arg", "f32:2", "--arg", "buf:job/y.npy", "--arg", "buf:f32:64", "--trace"];
    for name in ["basic.ptx", "y.npy"] {
        refused(&[&quick[..], &more, &[&format!("job/{name}")]].concat(), name);
    }
    // Another run's results as data, whose directory this run shall have.
    write("job.toml", READS.replace("data/x.bin", "data/stats.csv").as_bytes());
    write("data/stats.csv", &[0; 256]);
    for command in [&["run"][..], &["run", "--functional"], &["idle"]] {
        refused(&[command, &["job/job.toml", "--out", "job/data"]].concat(), "data/stats.csv");
    }
    // Nothing was simulated, and other places are written.
    assert!(!folder.path().join("runs").exists());
    assert_eq!(run(&["run", "job/job.toml", "--trace", "job/trace.json", "--out", "out"]).code, Some(0));
    let ran = run(&["run", "job/job.toml", "--trace", "./out/run.json", "--out", "out"]);
    assert!(ran.code == Some(2) && ran.err.contains("file::replaces-result"), "{}", ran.err);
}

#[test]
fn the_record_is_whole_and_explains_itself() {
    let record = warpwatt(&["run", "pathfinder", "--json"]).json();
    let declared = record["statistics"].as_array().unwrap();
    let totals = record["totals"].as_object().unwrap();
    assert_eq!(declared.len(), totals.len());
    for statistic in declared {
        for key in ["name", "unit", "kind", "meaning"] {
            assert!(statistic[key].as_str().is_some_and(|text| !text.is_empty()), "{statistic}");
        }
        let value = &totals[statistic["name"].as_str().unwrap()];
        assert!(value.is_number() || (value.is_null() && statistic["kind"] == "ratio"), "{statistic} {value}");
    }
    // Nothing was fetched through the texture cache: 0/0 is null.
    assert_eq!(totals["texture_accesses"], 0);
    assert!(totals["texture_hit_rate"].is_null());
    // Issue slots add up, and "other" is at most one in a hundred.
    let slots: Vec<u64> =
        totals.iter().filter(|(name, _)| name.starts_with("slots_")).map(|(_, v)| v.as_u64().unwrap()).collect();
    let sm_cycles = record["power"]["activity"][0]["sm_cycles"].as_u64().unwrap();
    let schedulers = record["inputs"]["gpu"]["schedulers"].as_u64().unwrap();
    assert_eq!(slots.iter().sum::<u64>(), sm_cycles * schedulers);
    assert!(totals["slots_other"].as_u64().unwrap() * 100 <= slots.iter().sum::<u64>());
    // Counts of the launches add up to those of the run.
    for name in ["cycles", "warp_instructions", "l2_accesses", "slots_issued"] {
        let launches = record["launches"].as_array().unwrap().iter().map(|l| l["values"][name].as_u64().unwrap());
        assert_eq!(launches.sum::<u64>(), totals[name].as_u64().unwrap(), "{name}");
    }
    assert_eq!(record["inputs"]["program"]["modules"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(record["inputs"]["version"].is_string() && record["inputs"]["policy"].is_null());
    assert!(record["host"]["cycles_per_second"].as_f64().unwrap() > 0.0);
    assert!(!warpwatt(&["run", "pathfinder", "--json"]).out.contains("NaN"));
}

#[test]
fn functional_and_timed_runs_count_the_same_instructions() {
    for name in ["sgemm", "srad", "BlackScholes"] {
        let timed = warpwatt(&["run", name, "--json"]).json();
        let functional = warpwatt(&["run", name, "--json", "--functional"]).json();
        for count in ["warp_instructions", "thread_instructions", "ctas"] {
            assert_eq!(timed["totals"][count], functional["totals"][count], "{name} {count}");
        }
        assert!(functional["power"].is_null() && functional["totals"]["cycles"].is_null());
    }
}

#[test]
fn the_key_follows_the_inputs() {
    let key = |args: &[&str]| {
        warpwatt(&[&["run", "nw", "--json", "--max-cycles", "500"], args].concat()).json()["key"].clone()
    };
    let plain = key(&[]);
    assert_eq!(plain, key(&["--threads", "2"]));
    assert_eq!(plain, key(&["--no-skip"]));
    assert_eq!(plain, key(&["--set", "core_mhz=700"]));
    let others: [&[&str]; 6] = [
        &["--set", "core_mhz=600"],
        &["--registers", "40"],
        &["--leakage", "area"],
        &["--energies", "physical"],
        &["--sample-cycles", "100"],
        &["--scheduler", "lrr"],
    ];
    for other in others {
        assert_ne!(plain, key(other), "{other:?}");
    }
}

#[test]
fn check_reports_needs_lines_and_exit_codes() {
    let ran = warpwatt(&["check", "basic.ptx", "--json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let kernels = ran.json()["files"][0]["kernels"].clone();
    let named = |name: &str| kernels.as_array().unwrap().iter().find(|k| k["kernel"] == name).unwrap().clone();
    let saxpy = named("saxpy");
    assert_eq!(saxpy["line"], 11);
    assert!((4..=24).contains(&saxpy["needs"]["registers_per_thread"].as_u64().unwrap()), "{saxpy}");
    assert_eq!(saxpy["needs"]["constant_bytes"], 16);
    assert_eq!(saxpy["needs"]["room"]["ctas_per_sm"], 6);
    assert_eq!(saxpy["needs"]["room"]["occupancy"], 1.0);
    assert_eq!(named("exactly64")["needs"]["room"]["block_threads"], 64);
    assert_eq!(named("atmost128")["needs"]["room"]["block_threads"], 128);
    let few = warpwatt(&["check", "basic.ptx", "--json", "--registers", "60"]).json();
    let room = few["files"][0]["kernels"][0]["needs"]["room"].clone();
    assert_eq!((room["limit"].as_str(), room["ctas_per_sm"].as_u64()), (Some("registers"), Some(2)));

    let ran = warpwatt(&["check", "unsupported.ptx", "syntax.ptx", "basic.ptx"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("unsupported.ptx:17:") && ran.out.contains("1 of 2 kernels can run"), "{}", ran.out);
    assert!(ran.out.contains("7 of 7 kernels can run") && ran.err.contains("syntax.ptx:8"), "{}", ran.err);
    assert_eq!(warpwatt(&["check", "unsupported.ptx"]).code, Some(1));
}

#[test]
fn lists_and_schemas_are_json() {
    assert!(warpwatt(&["list", "--json"]).json().as_array().unwrap().len() >= 16);
    assert_eq!(warpwatt(&["gpus", "--json"]).json()[0]["name"], "gtx480");
    let shown = warpwatt(&["show", "gtx480", "--set", "core_mhz=600", "--json"]).json();
    let core = shown.as_array().unwrap().iter().find(|p| p["name"] == "core_mhz").unwrap();
    assert_eq!((core["value"].as_f64(), core["unit"].as_str()), (Some(600.0), Some("MHz")));
    for of in ["job", "gpu"] {
        let schema: Value = warpwatt(&["schema", of]).json();
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"].as_object().unwrap().len() > 4);
    }
    let text = warpwatt(&["show", "gtx480", "--only", "dram"]).out;
    assert!(text.contains("dram.cl") && !text.contains("l1d.sets"));
}

#[test]
fn a_gpu_of_the_users_own_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "base = 'gtx480'\nsms = 4\n[l1d]\nsets = 64\n").unwrap();
    let record = warpwatt_in(folder.path(), &["run", "nw", "--gpu", "mine.toml", "--json"]).json();
    assert_eq!(
        (record["inputs"]["gpu"]["name"].as_str(), record["inputs"]["gpu"]["sms"].as_u64()),
        (Some("mine"), Some(4))
    );
    std::fs::write(folder.path().join("bad.toml"), "base = 'gtx480'\n[l1d]\nsets = 63\n").unwrap();
    let ran = warpwatt_in(folder.path(), &["run", "nw", "--gpu", "bad.toml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("sets = 63") && ran.err.contains("gpu::not-a-power-of-two"), "{}", ran.err);
    assert!(data("").exists());
}
