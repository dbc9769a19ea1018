//! Clocks, governors and what is written of them.

mod common;

use common::{warpwatt, warpwatt_in};
use serde_json::Value;

#[test]
fn clocks_are_levels_of_the_gpu() {
    let run = |arguments: &[&str]| {
        let run = warpwatt(&[&["run", "pathfinder", "--gpu", "gtx480-equalizer", "--json"], arguments].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.json()
    };
    let (nominal, high) = (run(&[]), run(&["--sm-mhz", "805", "--mem-mhz", "1062.6"]));
    assert_eq!(nominal["governor"], Value::Null);
    assert_ne!(nominal["key"], high["key"]);
    let levels = &high["governor"]["levels"];
    assert_eq!((levels[0]["core_mhz"].as_f64(), levels[0]["dram_mhz"].as_f64()), (Some(805.0), Some(1062.6)));
    assert_eq!(high["governor"]["transitions"], 0);
    let time = |run: &Value| run["totals"]["simulated_seconds"].as_f64().unwrap();
    assert!((time(&nominal) / time(&high) / 1.15 - 1.0).abs() < 0.02);
    // The policies for single points do the same.
    let point = run(&["--policy", "sm-high"]);
    assert_eq!(point["totals"], run(&["--sm-mhz", "805"])["totals"]);
    for (arguments, message) in [
        (["--sm-mhz", "750"], "--sm-mhz: 750 MHz is no V/f level of gtx480-equalizer"),
        (["--mem-mhz", "1000"], "--mem-mhz: 1000 MHz is no V/f level of gtx480-equalizer"),
    ] {
        let ran = warpwatt(&[&["run", "pathfinder", "--gpu", "gtx480-equalizer"][..], &arguments].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains(message), "{}", ran.err);
        assert!(ran.err.contains("595, 700, 805") || ran.err.contains("785.4, 924, 1062.6"), "{}", ran.err);
    }
}

#[test]
fn decisions_are_in_the_run_directory_and_in_the_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "cutcp", "--policy", "equalizer-performance", "--out", "run", "--trace", "t.json"];
    let ran = warpwatt_in(folder.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("decisions") && ran.out.contains("805 MHz"), "{}", ran.out);
    let record: Value = serde_json::from_slice(&std::fs::read(folder.path().join("run/run.json")).unwrap()).unwrap();
    let governor = &record["governor"];
    let decisions = governor["decisions"].as_u64().unwrap();
    assert!(decisions > 5 && governor["transitions"].as_u64().unwrap() > 0);
    let shares: f64 = governor["levels"].as_array().unwrap().iter().map(|l| l["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let table = std::fs::read_to_string(folder.path().join("run/governor.csv")).unwrap();
    assert_eq!(table.lines().count() as u64, decisions + 1);
    let header = table.lines().next().unwrap();
    for column in ["core_mhz", "mean_ctas", "x_alu", "x_mem", "sms_compute", "sm_step"] {
        assert!(header.split(',').any(|c| c == column), "{header}");
    }
    let trace: Value = serde_json::from_slice(&std::fs::read(folder.path().join("t.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for (name, argument) in [("clocks", "SM MHz"), ("voltages", "SM"), ("governor", "x_alu"), ("CTA limit", "CTAs")] {
        let found = events.iter().filter(|e| e["name"] == name && e["args"][argument].is_number()).count();
        assert!(found > 1, "{name}: {found}");
    }
}

#[test]
fn searches_take_the_best_of_their_runs() {
    let folder = tempfile::tempdir().unwrap();
    let policies = ["--policies", "static-best,cta-optimal,sm-low,mem-low,ctas", "--set", "ctas.count=2"];
    let arguments = [&["compare", "pathfinder", "--json"], &policies[..]].concat();
    let ran = warpwatt_in(folder.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines = ran.json()["lines"].as_array().unwrap().clone();
    let of = |policy: &str| lines.iter().find(|l| l["policy"] == policy).unwrap();
    let figure = |policy: &str, figure: &str| of(policy)[figure].as_f64().unwrap();
    let chosen = of("static-best")["chosen"].as_str().unwrap();
    assert!(["nominal", "sm-low", "mem-low", "sm-high", "mem-high"].contains(&chosen));
    assert!(figure("static-best", "time") <= 1.0 / 0.95 && figure("static-best", "energy") <= 1.0);
    for low in ["sm-low", "mem-low"] {
        assert!(figure(low, "time") > 1.0 / 0.95 || figure(low, "energy") >= figure("static-best", "energy"));
    }
    assert!(figure("cta-optimal", "time") <= 1.0);
    assert!(figure("cta-optimal", "time") <= figure("ctas", "time"));
    assert!(of("cta-optimal")["chosen"].as_str().unwrap().starts_with("CTAs "));
    // What lanes saved says nothing of policies on clocks.
    assert_eq!(of("sm-low")["int_saved"], Value::Null);
}
