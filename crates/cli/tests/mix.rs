//! `warpwatt mix`: two applications at once, and what is wrong with the input.

mod common;

use common::{Ran, warpwatt_in};

/// In a folder of its own.
fn mix(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    warpwatt_in(folder.path(), &[&["mix"], args].concat())
}

#[test]
fn two_workloads_give_right_results_the_same_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let args = ["mix", "sgemm", "BlackScholes", "--json"];
        let ran = warpwatt_in(folder.path(), &[&args, more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran
    };
    let first = run(&["--out", "mix.json"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("mix.json")).unwrap().trim_end(), first.out.trim_end());
    for more in [&["--threads", "2"][..], &["--threads", "3"], &["--no-skip"]] {
        assert!(run(more).out == first.out, "{more:?}");
    }
    let json = first.json();
    let shares = json["mixes"][0]["applications"].as_array().unwrap();
    assert_eq!(shares.len(), 2);
    let mut weighted = 0.0;
    for (share, sms) in shares.iter().zip([0..8, 8..16]) {
        assert_eq!(share["verification"]["verified"], true);
        let own: Vec<u64> = share["sms"].as_array().unwrap().iter().map(|sm| sm.as_u64().unwrap()).collect();
        assert_eq!(own, sms.collect::<Vec<u64>>());
        let (ipc, alone) = (share["ipc"].as_f64().unwrap(), share["ipc_alone"].as_f64().unwrap());
        let speedup = share["speedup"].as_f64().unwrap();
        assert!((speedup - ipc / alone).abs() < 1e-12 && speedup > 0.0 && speedup < 1.05, "{speedup}");
        weighted += speedup;
    }
    let mixed = &json["mixes"][0];
    assert!((mixed["weighted_speedup"].as_f64().unwrap() - weighted).abs() < 1e-12);
    let watts = |name: &str| mixed[name].as_f64().unwrap();
    assert!((watts("watts") - watts("static_watts") - watts("dynamic_watts")).abs() < 1e-9);
}

#[test]
fn one_application_in_a_mix_is_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = warpwatt_in(folder.path(), &["mix", "pathfinder", "--json"]);
    assert_eq!(mixed.code, Some(0), "{}", mixed.err);
    let run = ["run", "pathfinder", "--gpu", "kepler-big", "--leakage", "area", "--json"];
    let plain = warpwatt_in(folder.path(), &run).json();
    let mixed = mixed.json();
    let share = &mixed["mixes"][0]["applications"][0];
    assert_eq!(share["speedup"], 1.0);
    for (name, value) in share["values"].as_object().unwrap() {
        assert_eq!(*value, plain["totals"][name], "{name}");
    }
    let watts = plain["power"]["total"]["watts"]["average"].as_f64().unwrap();
    assert!((mixed["mixes"][0]["watts"].as_f64().unwrap() / watts - 1.0).abs() < 1e-9);
}

#[test]
fn wrong_input_is_told_with_exit_code_2() {
    let cases: &[(&[&str], &str)] = &[
        (&["sgemm", "nonsuch"], "nonsuch"),
        (&["sgemm", "sad", "--partition", "8,4"], "12 SMs"),
        (&["sgemm", "sad", "--partition", "16"], "1 part for 2 applications"),
        (&["sgemm", "sad", "--partition", "8;8"], "no partition"),
        (&["sgemm", "sad", "--partition", "16,0"], "no partition"),
        (&["sgemm", "sad", "--partition", "kinds"], "1 kind of cores for 2 applications"),
        (&["sgemm", "sad", "--set", "sms=1"], "each needs one"),
        (&["sgemm", "--cores", "big:8"], "8 SMs"),
        (&["sgemm", "--cores", "big:8,cpg"], "how many"),
        (&["sgemm", "--cores", "huge"], "huge"),
        (&["sgemm", "--set", "cpg.wake_up=9"], "no core"),
        (&["sgemm", "--gpu", "nonsuch"], "nonsuch"),
        (&["a.ptx"], "no launch"),
        (&[], "WORKLOAD"),
    ];
    for (args, words) in cases {
        let ran = mix(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_limit_is_told_with_exit_code_1_and_who_had_not_ended() {
    let ran = mix(&["sgemm", "sgemm", "--max-cycles", "2000"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("limit"), "{}", ran.err);
}
