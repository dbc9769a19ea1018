//! `bottleneck`, and what `run` shows of a pipeline that is tuned down.

mod common;

use common::{warpwatt, warpwatt_in};
use serde_json::Value;

fn component<'v>(analysis: &'v Value, name: &str) -> &'v Value {
    analysis["components"].as_array().unwrap().iter().find(|c| c["component"] == name).unwrap()
}

#[test]
fn utilizations_are_shares_and_the_highest_demand_binds() {
    let folder = tempfile::tempdir().unwrap();
    let ran = warpwatt_in(folder.path(), &["bottleneck", "transpose", "pathfinder", "--json", "--html", "heat.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all = ran.json();
    for analysis in all.as_array().unwrap() {
        let components = analysis["components"].as_array().unwrap();
        assert_eq!(components.len(), 14);
        let demand = |c: &Value| c["demand"].as_f64().unwrap();
        for c in components {
            let share = c["utilization"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&share) && demand(c) <= share, "{c}");
            assert_eq!(c["halved"].as_f64().unwrap(), (2.0 * demand(c)).max(1.0));
            assert!(c["doubled"].as_f64().unwrap() >= 1.0);
            if let Some(types) = c["by_type"].as_array() {
                let sum: f64 = types.iter().map(|t| t.as_f64().unwrap()).sum();
                assert!((sum - share).abs() < 1e-9, "{c}");
            }
        }
        let binding = component(analysis, analysis["binding"].as_str().unwrap());
        assert!(components.iter().all(|c| demand(c) <= demand(binding)));
        assert!(analysis["response_time"].as_f64().unwrap() > 0.0);
    }
    let page = std::fs::read_to_string(folder.path().join("heat.html")).unwrap();
    assert!(page.contains("transpose") && page.contains("EX_LDST") && !page.contains("<script"));
    // What a narrow screen cuts off is not the result.
    assert!(page.find(">binds<").unwrap() < page.find(">IFID<").unwrap());
    // Looked up, the same bytes.
    let again = warpwatt_in(folder.path(), &["bottleneck", "transpose", "pathfinder", "--json"]);
    assert_eq!(again.out, ran.out);
}

#[test]
fn shapes_are_measured_against_what_the_utilization_law_says() {
    let folder = tempfile::tempdir().unwrap();
    let ran = warpwatt_in(folder.path(), &["bottleneck", "transpose", "--verify", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all = ran.json();
    let verified = all[0]["verified"].as_array().unwrap();
    assert_eq!(verified.len(), 8);
    assert_eq!(verified[0]["shape"], "c-half");
    for v in verified {
        assert!(v["predicted"].as_f64().unwrap() >= 1.0 && v["measured"].as_f64().unwrap() > 0.5, "{v}");
    }
    // L1 stalls, which the law reckons with, fall: its time is no bound then, and is not called one.
    let number = |key: &str| verified[0][key].as_f64().unwrap();
    assert!(number("stalls_per_miss") < 0.9 && number("measured") < number("predicted"), "{}", verified[0]);
    let shown = warpwatt_in(folder.path(), &["bottleneck", "transpose", "--verify"]).out;
    assert!(shown.contains("time by the law") && shown.contains("while the L1 stalls"), "{shown}");
}

#[test]
fn a_run_under_ucstates_shows_groups_and_savings() {
    let ran = warpwatt(&["run", "transpose", "--policy", "ucstates"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for text in ["kepler-big", "Pipeline groups", "EX_SFU", "no power", "of the chip's static", "on_sch", "per miss"] {
        assert!(ran.out.contains(text), "{text} is not in\n{}", ran.out);
    }
}

#[test]
fn mistakes_are_told() {
    let ran = warpwatt(&["bottleneck", "transposed"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let ran = warpwatt(&["run", "transpose", "--policy", "ucstates+c-half"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("ucstates") && ran.err.contains("c-half") && ran.err.contains("datapath"), "{}", ran.err);
    let ran = warpwatt(&["run", "transpose", "--policy", "ucstates", "--set", "ucstates.th_u=2"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("ucstates.th_u"), "{}", ran.err);
}
