//! `compare`: the table from the runs, the report, what is refused.

mod common;

use common::{Ran, data, warpwatt, warpwatt_in};
use serde_json::Value;
use std::path::Path;

fn compare(folder: &Path, arguments: &[&str]) -> Ran {
    let ran = warpwatt_in(folder, &[&["compare"], arguments].concat());
    assert_eq!(ran.code, Some(0), "{arguments:?}\n{}", ran.err);
    ran
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

/// A line's run in the store, by its key.
fn record(folder: &Path, line: &Value) -> Value {
    let key = line["key"].as_str().unwrap();
    let name = format!("runs/{}-{}/run.json", line["workload"].as_str().unwrap(), &key[..12]);
    let record: Value = serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap();
    assert_eq!(record["key"], key);
    record
}

fn near(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("no {what}"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{what}: {found}, expected {expected}");
}

#[test]
fn the_table_is_what_the_runs_say() {
    let folder = tempfile::tempdir().unwrap();
    let table = compare(folder.path(), &["pathfinder", "gaussian", "--policies", "cpg,fold", "--json"]).json();
    let lines = table["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 6);
    assert_eq!(table["gpu"], "gtx480");
    let units = |record: &Value, what: &str| -> f64 {
        (0..3).map(|unit| number(record, &format!("/power/units/{unit}{what}"))).sum()
    };
    let unit_joules = |record: &Value| -> f64 {
        ["dynamic", "leakage", "overhead"].iter().map(|cause| units(record, &format!("/joules/{cause}"))).sum()
    };
    let joules = |record: &Value| -> f64 {
        ["dynamic", "leakage", "overhead"]
            .iter()
            .map(|cause| number(record, &format!("/power/total/joules/{cause}")))
            .sum()
    };
    let seconds = |record: &Value| number(record, "/totals/simulated_seconds");
    for group in lines.chunks(3) {
        let baseline = record(folder.path(), &group[0]);
        assert_eq!(group[0]["policy"], Value::Null);
        assert_eq!(baseline["inputs"]["policy"]["name"], "always-on");
        for (line, policy) in group[1..].iter().zip(["cpg", "fold"]) {
            let own = record(folder.path(), line);
            assert_eq!(own["inputs"]["policy"]["name"], policy);
            assert_eq!(own["inputs"]["gpu"], baseline["inputs"]["gpu"]);
            assert_eq!(own["inputs"]["gpu"]["scheduler"], "two-level-active");
            near(&line["time"], seconds(&own) / seconds(&baseline), "time");
            near(&line["energy"], joules(&own) / joules(&baseline), "energy");
            near(&line["unit_energy"], unit_joules(&own) / unit_joules(&baseline), "unit energy");
            let edp = joules(&own) * seconds(&own) / (joules(&baseline) * seconds(&baseline));
            near(&line["edp"], edp, "EDP");
            near(&line["gatings"], units(&own, "/gatings"), "gatings");
            near(&line["overhead"], units(&own, "/joules/overhead") / units(&baseline, "/full_leakage"), "overhead");
            // By Origami's formula, from counts alone: lanes that leak, and a break-even time for each gating.
            for (unit, what) in ["int_saved", "fp_saved"].iter().enumerate() {
                let of = |record: &Value, what: &str| number(record, &format!("/power/units/{unit}/{what}"));
                // Lanes that had nothing to do are left out: pathfinder has no floating point.
                if of(&baseline, "busy") == 0.0 {
                    assert_eq!((line["workload"].as_str(), unit, &line[*what]), (Some("pathfinder"), 1, &Value::Null));
                    continue;
                }
                let leaking: f64 = [0, 1, 3].iter().map(|state| of(&own, &format!("by_state/{state}"))).sum();
                let cycles = leaking + 14.0 * of(&own, "gatings");
                near(&line[*what], 1.0 - cycles / of(&baseline, "lane_cycles"), what);
            }
            assert!(line["int_saved"].as_f64().unwrap() > 0.05 && line["gatings"].as_f64().unwrap() > 0.0);
        }
    }
    for (average, at) in table["averages"].as_array().unwrap().iter().zip([1, 2]) {
        let of = |what: &str| [number(&lines[at], what), number(&lines[at + 3], what)];
        let [a, b] = of("/time");
        near(&average["time"], (a * b).sqrt(), "average time");
        let [a, b] = of("/int_saved");
        near(&average["int_saved"], (a + b) / 2.0, "average saved");
        near(&average["fp_saved"], number(&lines[at + 3], "/fp_saved"), "average saved");
    }
}

#[test]
fn a_policy_may_stand_twice_with_settings_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let policies = "cpg,cpg:bet=19,cpg:bet=19:wake_up=30,cpg+permute:cpg.bet=0";
    let table =
        compare(folder.path(), &["pathfinder", "--policies", policies, "--set", "cpg.idle_detect=4", "--json"]).json();
    let lines = table["lines"].as_array().unwrap();
    let names: Vec<&str> = lines.iter().filter_map(|line| line["policy"].as_str()).collect();
    assert_eq!(names, policies.split(',').collect::<Vec<_>>());
    let of = |at: usize, key: &str| {
        let record = record(folder.path(), &lines[at]);
        record["inputs"]["policy"]["policies"][0]["parameters"][key].clone()
    };
    let text = |at, key| of(at, key).to_string().trim_matches('"').to_owned();
    for (at, bet, wake_up) in [(1, "14", "3"), (2, "19", "3"), (3, "19", "30"), (4, "0", "3")] {
        assert_eq!(
            (text(at, "bet"), text(at, "wake_up"), text(at, "idle_detect")),
            (bet.into(), wake_up.into(), "4".into())
        );
    }
    assert_eq!(lines[1]["time"], lines[2]["time"]);
    assert!(lines[2]["int_saved"].as_f64() < lines[1]["int_saved"].as_f64());
    // A scheduler that is named is the baseline's too, whatever the papers say.
    let set = ["pathfinder", "--policies", "cpg,pats", "--gpu", "pascal16", "--set", "scheduler=gto", "--json"];
    let table = compare(folder.path(), &set).json();
    let lines = table["lines"].as_array().unwrap();
    assert_eq!((lines.len(), lines[0]["baseline"].as_str()), (3, Some("gto")));
}

#[test]
fn the_baseline_is_the_plain_run_on_the_papers_machine() {
    let folder = tempfile::tempdir().unwrap();
    let table = compare(folder.path(), &["pathfinder", "--policies", "itap-pow", "--json"]).json();
    let baseline = record(folder.path(), &table["lines"][0]);
    let plain = ["run", "pathfinder", "--gpu", "pascal16", "--scheduler", "two-level-fetch", "--json"];
    let plain = warpwatt_in(folder.path(), &[&plain[..], &["--sample-cycles", "5000"]].concat()).json();
    assert_eq!(baseline["totals"], plain["totals"]);
    assert_eq!(baseline["power"]["total"], plain["power"]["total"]);
    assert!(baseline["histograms"]["idle.lane"].is_array());
    // Another scheduler, another GPU: for all runs.
    let other = ["pathfinder", "--policies", "itap-pow", "--gpu", "c2050", "--baseline", "gto", "--json"];
    let table = compare(folder.path(), &other).json();
    for line in table["lines"].as_array().unwrap() {
        let gpu = &record(folder.path(), line)["inputs"]["gpu"];
        assert_eq!((&gpu["name"], &gpu["scheduler"]), (&"c2050".into(), &"gto".into()));
    }
}

#[test]
fn the_report_is_the_same_bytes_for_any_number_of_threads_and_from_the_store() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["pathfinder", "nw", "--policies", "cpg,origami,cpg+permute", "--csv", "--html", "page.html"];
    let run = |folder: &Path, jobs: &str| {
        let ran = compare(folder, &[&arguments[..], &["--jobs", jobs]].concat());
        (ran.out, std::fs::read(folder.join("page.html")).unwrap(), ran.err)
    };
    let (first, again, looked_up) = (run(one.path(), "1"), run(two.path(), "3"), run(one.path(), "2"));
    assert!(!first.2.contains("looked up") && looked_up.2.contains("8 runs looked up"), "{}", looked_up.2);
    for other in [again, looked_up] {
        assert!(first.0 == other.0 && first.1 == other.1);
    }
    let page = String::from_utf8(first.1).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(!page.contains("<script") && !page.contains("http") && !page.contains("src="));
    for words in ["cpg+permute", "Idle periods of FP lanes", "Lanes over time", "Execution units", "pathfinder", "nw"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf%"));
    // The table: a row per run, and averages.
    let rows: Vec<&str> = first.0.lines().collect();
    assert_eq!(rows.len(), 1 + 8 + 3);
    assert!(rows[0].starts_with("workload,policy,baseline,") && rows[9].starts_with("average,cpg,"));
}

#[test]
fn the_table_marks_the_best_and_names_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let ran = compare(folder.path(), &["pathfinder", "--policies", "cpg,cpg+permute"]);
    assert!(ran.out.contains("pathfinder (small) on gtx480") && ran.out.contains("baseline (two-level-active)"));
    assert!(ran.out.lines().any(|l| l.trim_start().starts_with("cpg") && l.contains('*')), "{}", ran.out);
    assert!(folder.path().join("runs/compare.html").exists());
}

#[test]
fn mistakes_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let w = "pathfinder";
    for (arguments, words) in [
        (vec![w, "--policies", "cpgg"], vec!["unknown policy `cpgg`", "did you mean `cpg`?"]),
        (vec!["pathfindr"], vec!["unknown workload", "did you mean `pathfinder`?"]),
        (
            vec![w, "--policies", "cpg,itap-pow"],
            vec!["one machine", "gtx480", "pascal16", "--gpu NAME", "--policies cpg"],
        ),
        (vec![w, "--policies", "all"], vec!["one machine", "--gpu NAME"]),
        (vec![w, "--policies", "cpg,cpg"], vec!["policy `cpg` is named twice"]),
        (vec![w, w, "--policies", "cpg"], vec!["`pathfinder` is named twice"]),
        (vec![w, "--policies", "cpg+fold"], vec!["cannot run together"]),
        (vec![w, "--policies", "cpg,"], vec!["a policy without a name"]),
        (vec![w, "--policies", ""], vec!["a policy without a name"]),
        (vec![w, "--policies", "cpg+"], vec!["`cpg+` lacks the name of a policy"]),
        (vec![w, "--policies", "cpg:"], vec!["`cpg:` lacks a setting", "cpg:key=value"]),
        (vec![w, "--policies", "cpg:bet=9:"], vec!["`cpg:bet=9:` lacks a setting"]),
        (vec![w, "--policies", "cpg:bet"], vec!["`cpg.bet` cannot be ``", "legal"]),
        (vec![w, "--policies", "cpg:bet=9,cpg:bet=9"], vec!["policy `cpg:bet=9` is named twice"]),
        (vec![w, "--policies", "cpg:bet=-9"], vec!["`cpg.bet`", "legal"]),
        (vec![w, "--policies", "cpg:bett=9"], vec!["no parameter `bett`"]),
        (vec![w, "--policies", "cpg+permute:bet=9"], vec!["whose setting is it?", "cpg+permute:cpg.key=value"]),
        (vec![w, "--policies", "cpg", "--set", "fold.bet=9"], vec!["policy `fold`, which is not compared"]),
        (vec![w, "--policies", "cpg", "--set", "cpg.bet=-9"], vec!["`cpg.bet`", "legal"]),
        (vec![w, "--policies", "cpg", "--gpu", "gtx999"], vec!["gtx999"]),
        (vec!["my.ptx"], vec!["has no launch", "launch description"]),
        (vec!["missing.toml"], vec!["cannot read"]),
        (vec![w, "--store", "file"], vec!["is a file, not a directory"]),
        (vec![w, "--csv", "--json"], vec!["cannot be used with"]),
        (vec![w, "--sample-cycles", "9"], vec!["--sample-cycles"]),
        (vec![w, "--jobs", "0"], vec!["--jobs"]),
        (
            vec![w, "--policies", "cpg", "--baseline", "gto", "--set", "scheduler=lrr"],
            vec!["`--baseline gto` and `--set scheduler=lrr`", "leave one of them out"],
        ),
        (vec![w, "--baseline", "fifo"], vec!["gto, two-level, lrr"]),
        (vec![], vec!["required"]),
    ] {
        let ran = warpwatt_in(folder.path(), &[&["compare"], &arguments[..]].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}\n{}", ran.err);
        // Messages are wrapped where the terminal ends.
        let told: String = ran.err.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|w| told.contains(w)), "{arguments:?}\n{}", ran.err);
    }
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn two_programs_of_one_name_are_told_apart_from_one_that_is_named_twice() {
    let folder = tempfile::tempdir().unwrap();
    let job = "ptx = 'basic.ptx'\n[[buffer]]\nname = 'x'\ntype = 'f32'\nshape = 64\n\
               [[step]]\nlaunch = 'saxpy'\ngrid = 1\nblock = 64\nargs = [64, 2.0, 'x', 'x']\n";
    for (place, name) in [("a", "my.toml"), ("b", "my.toml"), ("b", "pathfinder.toml")] {
        std::fs::create_dir_all(folder.path().join(place)).unwrap();
        std::fs::copy(data("basic.ptx"), folder.path().join(place).join("basic.ptx")).unwrap();
        std::fs::write(folder.path().join(place).join(name), job).unwrap();
    }
    let refused = |programs: [&str; 2]| {
        let ran = warpwatt_in(folder.path(), &[&["compare"], &programs[..], &["--policies", "cpg"]].concat());
        assert_eq!(ran.code, Some(2), "{programs:?}\n{}", ran.err);
        ran.err
    };
    let twice = refused(["a/my.toml", "./a/../a/my.toml"]);
    assert!(twice.contains("program::twice") && twice.contains("once is enough"), "{twice}");
    for programs in [["a/my.toml", "b/my.toml"], ["pathfinder", "b/pathfinder.toml"]] {
        let other = refused(programs);
        assert!(other.contains("program::same-name") && other.contains("a name of its own"), "{other}");
        assert!(!other.contains("once is enough"), "{other}");
    }
    // The help does help.
    std::fs::write(folder.path().join("b/my.toml"), format!("name = 'other'\n{job}")).unwrap();
    let table = compare(folder.path(), &["a/my.toml", "b/my.toml", "--policies", "cpg", "--json"]).json();
    assert_eq!(table["workloads"], serde_json::json!(["my", "other"]));
}

#[test]
fn a_run_that_fails_is_named_and_the_others_are_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("trap.ptx"), folder.path().join("trap.ptx")).unwrap();
    let job = "ptx = 'trap.ptx'\n[[buffer]]\nname = 'x'\ntype = 'u32'\nshape = 64\n";
    let kernel = std::fs::read_to_string(data("trap.ptx")).unwrap();
    let name = kernel.split(".entry").nth(1).unwrap().split('(').next().unwrap().trim();
    let parameters = kernel.split(".entry").nth(1).unwrap().split('{').next().unwrap().matches(".param").count();
    let args = vec!["'x'"; parameters].join(", ");
    let job = format!("{job}[[step]]\nlaunch = '{name}'\ngrid = 1\nblock = 32\nargs = [{args}]\n");
    std::fs::write(folder.path().join("bad.toml"), job).unwrap();
    let ran = warpwatt_in(folder.path(), &["compare", "pathfinder", "bad.toml", "--policies", "cpg", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let table = ran.json();
    assert_eq!(table["lines"].as_array().unwrap().len(), 2);
    let failures = table["failures"].as_array().unwrap();
    assert_eq!((failures.len(), &failures[1]["policy"]), (2, &"cpg".into()));
    assert!(ran.err.contains("✘ bad, cpg: "), "{}", ran.err);
    let page = std::fs::read_to_string(folder.path().join("runs/compare.html")).unwrap();
    assert!(page.contains("Runs that failed"));
}

#[test]
fn policies_by_default_are_those_of_the_default_machine() {
    let listed = warpwatt(&["policies", "--json"]).json();
    let folder = tempfile::tempdir().unwrap();
    let table = compare(folder.path(), &["pathfinder", "--json"]).json();
    let compared: Vec<&str> =
        table["lines"].as_array().unwrap().iter().filter_map(|line| line["policy"].as_str()).collect();
    let expected: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|p| p["baseline"]["gpu"] == "gtx480" && p["name"] != "always-on")
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(compared, expected);
    // Schedulers differ at most by baseline, and each line's baseline stands above it.
    let mut baseline = Value::Null;
    for line in table["lines"].as_array().unwrap() {
        if line["policy"].is_null() {
            baseline = line["baseline"].clone();
        }
        assert_eq!(line["baseline"], baseline);
    }
}

#[test]
fn all_are_those_that_the_gpu_can_run() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "ptx = '{}'\nbuffer = [{{ name = 'x', type = 'f32', shape = 64 }}]\n\
         step = [{{ launch = 'saxpy', grid = 1, block = 64, args = [64, 2.0, 'x', 'x'] }}]\n",
        data("basic.ptx").display()
    );
    std::fs::write(folder.path().join("tiny.toml"), job).unwrap();
    let ran = compare(folder.path(), &["tiny.toml", "--policies", "all", "--gpu", "gtx480", "--json"]);
    let names: Vec<&str> = ran.err.lines().filter(|l| l.contains("left out")).collect();
    assert!(names.iter().any(|l| l.contains("`sm-high`: gtx480 has no such V/f level")), "{}", ran.err);
    let lines = ran.json()["lines"].as_array().unwrap().clone();
    let measured = |name: &str| lines.iter().any(|line| line["policy"] == name);
    assert!(measured("origami") && measured("ucstates") && !measured("sm-high"));
    // One that is named is not left out but refused.
    let ran = warpwatt_in(folder.path(), &["compare", "tiny.toml", "--policies", "sm-high", "--gpu", "gtx480"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

#[test]
fn lanes_over_time_are_drawn_of_runs_that_counted_them() {
    let folder = tempfile::tempdir().unwrap();
    let _ =
        compare(folder.path(), &["pathfinder", "--policies", "cpg,sm-low", "--gpu", "gtx480", "--html", "page.html"]);
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let drawn = |name: &str| page.contains(&format!("INT lanes over time under {name}"));
    // `sm-low` has no policy on lanes: nobody counted when they work, and they would look idle.
    assert!(drawn("cpg") && drawn("baseline") && !drawn("sm-low"));
    assert!(page.contains("sm-low"));
}
