//! `idle`, and timelines (`run --trace`).

mod common;

use common::{warpwatt, warpwatt_in};
use serde_json::Value;
use std::collections::BTreeMap;

fn idle(arguments: &[&str]) -> Value {
    let ran = warpwatt(&[&["idle"], arguments, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.json()
}

fn unit<'v>(idle: &'v Value, name: &str) -> &'v Value {
    idle["units"].as_array().unwrap().iter().find(|u| u["unit"] == name).unwrap()
}

fn bound(unit: &Value, technique: &str) -> f64 {
    let found =
        unit["bounds"].as_array().unwrap().iter().find(|b| b["technique"].as_str().unwrap().starts_with(technique));
    found.unwrap()["saved"].as_f64().unwrap()
}

#[test]
fn idleness_adds_up_and_bounds_it() {
    for (workload, width) in [("pathfinder", 32), ("hotspot", 32), ("pathfinder", 8), ("hotspot", 4)] {
        let analysis = idle(&[workload, "--set", &format!("simd_width={width}")]);
        for name in ["int", "fp", "lane", "sfu"] {
            let unit = unit(&analysis, name);
            let share = |what: &str| unit[what].as_f64().unwrap();
            let parts = share("full_idle") + share("partial_idle");
            assert!((parts - share("idle")).abs() < 1e-12, "{workload} {name}");
            assert!(share("short_time") <= share("under_bet_time") && share("under_bet_time") <= share("idle"));
            let bins: u64 = unit["histogram"].as_array().unwrap().iter().map(|b| b.as_u64().unwrap()).sum();
            assert_eq!(unit["periods"], bins);
            // Nothing saves more than no leakage while idle; the best mode of each period saves the most.
            let ideal = bound(unit, "ITAP, best");
            for technique in ["ITAP VS0.5", "ITAP VS0.3", "ITAP PG"] {
                assert!(bound(unit, technique) <= ideal && ideal <= share("idle"), "{workload} {name} {technique}");
            }
            assert!(bound(unit, "power gating") > 0.0);
        }
        // A SIMD lane works while any of its pipelines does; pathfinder has nothing for the FP pipelines.
        let idle = |name: &str| unit(&analysis, name)["idle"].as_f64().unwrap();
        assert!(idle("lane") <= idle("int").min(idle("fp")), "{workload}");
        assert_eq!(idle("lane") < idle("int"), workload == "hotspot", "{workload}");
    }
    // A divergent kernel has lanes that idle beside others.
    let bfs = idle(&["bfs"]);
    assert!(unit(&bfs, "lane")["partial_idle"].as_f64().unwrap() > 0.02);
    assert!(bfs["threads"][0]["underused"].as_f64().unwrap() > 0.1);
}

#[test]
fn a_gating_that_costs_nothing_saves_all_idleness_and_a_policy_no_more_than_the_bound() {
    let free = idle(&["pathfinder", "--bet", "0"]);
    for name in ["int", "fp", "lane"] {
        let unit = unit(&free, name);
        assert!((bound(unit, "power gating") - unit["idle"].as_f64().unwrap()).abs() < 1e-12);
    }
    // CPG without delays leaves the kernel's idle periods as they are: the oracle's bound is above what it saves.
    let arguments = ["run", "pathfinder", "--policy", "cpg", "--json", "--set", "cpg.wake_up=0"];
    let run = warpwatt(&arguments).json();
    let analysis = idle(&["pathfinder"]);
    for (at, name) in ["int", "fp"].iter().enumerate() {
        let unit = unit(&analysis, name);
        assert_eq!(run["power"]["units"][at]["lane_cycles"], unit["lane_cycles"]);
        let saved = run["power"]["units"][at]["saved"].as_f64().unwrap();
        assert!(saved > 0.0 && saved < bound(unit, "power gating"), "{name} {saved}");
    }
}

#[test]
fn the_analysis_is_shown_and_mistakes_are_refused() {
    let ran = warpwatt(&["idle", "pathfinder"]);
    for words in ["no lane of the unit works", "under BET (14)", "SIMD lanes", "256 and more", "ITAP VS0.3"] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    for (arguments, words) in [
        (vec!["pathfinder", "--bet", "257"], "0..=256"),
        (vec!["nothing"], "unknown workload"),
        (vec!["a.ptx"], "has no launch"),
        (vec!["a.toml", "--size", "full"], "goes with a workload"),
        (vec!["pathfinder", "--set", "cpg.bet=3"], "does not use"),
    ] {
        let ran = warpwatt(&[&["idle"], &arguments[..]].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

#[test]
fn a_timeline_holds_the_runs_launches_lanes_and_energy() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "nw", "--policy", "cpg", "--sample-cycles", "3000", "--trace", "t.json", "--out", "run"];
    let run = warpwatt_in(folder.path(), &[&arguments[..], &["--json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.err);
    let bytes = std::fs::read(folder.path().join("t.json")).unwrap();
    let run = run.json();
    let trace: Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|e| e["ph"] == kind).collect::<Vec<_>>();
    assert_eq!(of("M").len() + of("X").len() + of("C").len(), events.len());

    let launches = run["launches"].as_array().unwrap();
    assert_eq!(of("X").len(), launches.len());
    for (slice, launch) in of("X").iter().zip(launches) {
        assert_eq!(slice["name"], launch["kernel"]);
        let start = launch["start_fs"].as_f64().unwrap() * 1e-9;
        assert!((slice["ts"].as_f64().unwrap() - start).abs() < 1e-6 && slice["dur"].as_f64().unwrap() > 0.0);
    }

    let mut tracks: BTreeMap<(u64, String), Vec<&Value>> = BTreeMap::new();
    for event in of("C") {
        let name = event["name"].as_str().unwrap().to_owned();
        tracks.entry((event["pid"].as_u64().unwrap(), name)).or_default().push(event);
    }
    let sms = run["inputs"]["gpu"]["sms"].as_u64().unwrap();
    assert_eq!(tracks.len() as u64, 2 + 7 * sms);
    for ((pid, name), steps) in &tracks {
        assert!(steps.windows(2).all(|w| w[0]["ts"].as_f64() < w[1]["ts"].as_f64()), "{pid} {name}");
        assert!(steps.len() > 10);
        let sum = |e: &Value| e["args"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum::<f64>();
        assert_eq!(sum(steps[steps.len() - 1]), 0.0);
        // All lanes are in some state: two SPs of 32.
        if name == "INT lanes" || name == "FP lanes" {
            assert!(steps[..steps.len() - 1].iter().all(|e| (sum(e) - 64.0).abs() < 1e-9), "{name}");
        }
        if name == "resident warps" {
            assert!(steps.iter().all(|e| sum(e) <= 48.0));
        }
        if name.starts_with("power") && *pid == 0 {
            // The launches follow each other without a gap, so that power over time is the run's energy.
            let joules: f64 = steps
                .windows(2)
                .map(|w| sum(w[0]) * 1e-6 * (w[1]["ts"].as_f64().unwrap() - w[0]["ts"].as_f64().unwrap()))
                .sum();
            let total = &run["power"]["total"]["joules"];
            let expected: f64 = ["dynamic", "leakage", "overhead"].iter().map(|c| total[*c].as_f64().unwrap()).sum();
            assert!((joules / expected - 1.0).abs() < 0.01, "{name}: {joules} J, expected {expected} J");
        }
    }
    assert!(tracks[&(1, "INT lanes".to_owned())][0]["args"]["gated"].is_f64());

    // The same bytes again, although the run is in its directory; and the lanes over time are beside it.
    std::fs::remove_file(folder.path().join("t.json")).unwrap();
    assert_eq!(warpwatt_in(folder.path(), &[&arguments[..], &["--threads", "2"]].concat()).code, Some(0));
    assert!(std::fs::read(folder.path().join("t.json")).unwrap() == bytes);
    let lanes = std::fs::read_to_string(folder.path().join("run/lanes.csv")).unwrap();
    assert_eq!(lanes.lines().count(), tracks[&(0, "power".to_owned())].len());
    assert!(lanes.starts_with("start_s,end_s,launch,sm_cycles,issued,warp_cycles,cta_cycles,int.busy,int.on,"));
    let ran = warpwatt(&["run", "nw", "--functional", "--trace", "t.json"]);
    assert_eq!(ran.code, Some(2));
}
