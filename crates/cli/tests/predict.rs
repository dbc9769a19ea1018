//! `predict`: predictions, true runs, errors, the page.

mod common;

use common::{warpwatt, warpwatt_in};
use serde_json::Value;

#[test]
fn predictions_are_verified_against_runs_at_each_p_state() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["predict", "pathfinder", "--verify", "--html", "p.html", "--json"];
    let ran = warpwatt_in(folder.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all = ran.json();
    let p = &all["programs"][0];
    let numbers = |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect() };
    let states = p["states"].as_array().unwrap();
    let mhz: Vec<f64> = states.iter().map(|s| s["mhz"].as_f64().unwrap()).collect();
    assert_eq!(mhz, [100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0]);
    let truth: Vec<f64> = states.iter().map(|s| s["seconds"].as_f64().unwrap()).collect();
    assert!(truth.windows(2).all(|t| t[0] > t[1] * 0.99), "slower clocks take longer: {truth:?}");
    assert_eq!(truth[6], p["seconds"].as_f64().unwrap());
    let models = p["models"].as_array().unwrap();
    assert_eq!(models.len(), 6);
    for m in models {
        let seconds = numbers(&m["seconds"]);
        // At the nominal clock it is the time itself.
        assert!((seconds[6] / truth[6] - 1.0).abs() < 1e-6, "{m}");
        assert!(seconds.windows(2).all(|s| s[0] >= s[1] * (1.0 - 1e-9)), "{m}");
        let errors = numbers(&m["errors"]);
        for at in 0..7 {
            assert!((errors[at] - (seconds[at] / truth[at] - 1.0)).abs() < 1e-9);
        }
        let mean = errors[..6].iter().map(|e| e.abs()).sum::<f64>() / 6.0;
        assert!((m["mape"].as_f64().unwrap() - mean).abs() < 1e-9);
    }
    let shares = p["breakdown"].as_object().unwrap().values().map(|v| v.as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-6);
    let oracle = &p["oracle"];
    assert!(oracle["edp"][1].as_f64().unwrap() <= 1.0 && oracle["energy"][1].as_f64().unwrap() <= 1.0);
    let page = std::fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(page.contains("polyline") && page.contains("700") && !page.contains("NaN"));
    // All of it is in the store.
    let before = std::fs::read_dir(folder.path().join("runs")).unwrap().count();
    let again = warpwatt_in(folder.path(), &arguments);
    assert_eq!(again.out, ran.out);
    assert_eq!((before, std::fs::read_dir(folder.path().join("runs")).unwrap().count()), (7, 7));
}

#[test]
fn without_verification_there_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let ran = warpwatt_in(folder.path(), &["predict", "pathfinder", "--gpu", "c2050"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("575 MHz") && ran.out.contains("crisp-l") && !ran.out.contains("MAPE"), "{}", ran.out);
}

#[test]
fn what_is_refused() {
    for arguments in [
        &["predict", "pathfinder", "--set", "dvfs.core_levels=[[700, 1.0]]"][..],
        &["predict", "nosuch"],
        &["predict", "pathfinder", "--set", "crisp.latency_ns=-1"],
    ] {
        let ran = warpwatt(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
    }
}
