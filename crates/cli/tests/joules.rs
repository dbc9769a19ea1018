//! The joules of `run.json` worked out again from `run.json` alone: its counts times its energy table, by the rules of
//! the model (an event costs ∝ V², leakage ∝ V, the clock floor ∝ V²f), without the power crate.

mod common;

use common::warpwatt;
use serde_json::Value;

/// Joules of a record's counts. Nothing is gated in these runs, so leakage is watts × time.
fn joules(record: &Value) -> f64 {
    let table = &record["power"]["energy_table"];
    let number = |v: &Value| v.as_f64().unwrap_or_else(|| panic!("{v} is no number"));
    let charges = table["charge"].as_array().unwrap();
    let picojoules = |charge: &Value| number(&charge["pj"]) / number(&charge["per"]);
    let watts_of = |group: &str, of: &dyn Fn(&str) -> bool| -> f64 {
        let rows = table[group].as_object().unwrap().iter().filter(|(name, _)| of(name));
        rows.map(|(_, row)| number(&row["leakage_w"])).sum()
    };
    let sms = number(&record["inputs"]["gpu"]["sms"]);
    let mut total = 0.0;
    for level in record["power"]["activity"].as_array().unwrap() {
        let of = |name: &str| number(&level[name]);
        let (core_v, mem_v, seconds) = (of("core_volts"), of("mem_volts"), of("femtoseconds") * 1e-15);
        for charge in charges {
            let event = charge["event"].as_str().unwrap();
            // An inactive lane costs a part of the simple operation that it could have done.
            let each = match charge["inactive_of"].as_str() {
                None => picojoules(charge),
                Some(active) => {
                    let same = |c: &&Value| c["event"] == active && c["inactive_of"].is_null();
                    number(&table["lanes"]["inactive"]) * picojoules(charges.iter().find(same).unwrap())
                }
            };
            let (count, volts) = match (&level["sm_events"][event], &level["mem_events"][event]) {
                (Value::Null, memory) => (number(memory), mem_v),
                (sm, _) => (number(sm), core_v),
            };
            total += count * each * 1e-12 * volts * volts;
        }
        let background = &table["dram_background"];
        let current = |mhz: f64| {
            number(&background["base_ma"])
                + number(&background["slope_ma"]) * (mhz * 4e-3 - number(&background["rate_gbps"]))
        };
        let dram = current(of("dram_mhz")) / current(number(&table["reference"]["dram_mhz"])) * mem_v;
        let watts = sms * watts_of("sm", &|_| true) * core_v
            + watts_of("chip", &|name| ["l2", "noc", "memory-controllers"].contains(&name)) * mem_v
            + watts_of("chip", &|name| name == "dram") * dram
            + watts_of("chip", &|name| name == "other")
            + number(&table["constant"]["clock_w"]) * core_v * core_v * of("core_mhz")
                / number(&table["reference"]["core_mhz"])
            + number(&table["constant"]["memory_controllers_w"]) * mem_v * mem_v * of("dram_mhz")
                / number(&table["reference"]["dram_mhz"]);
        total += watts * seconds;
    }
    total
}

fn energy(parts: &Value) -> f64 {
    ["dynamic", "leakage", "overhead"].iter().map(|part| parts[part].as_f64().unwrap()).sum()
}

#[test]
fn joules_follow_from_the_counts_of_a_record() {
    let slow = ["--set", "core_mhz=400", "--set", "noc_mhz=400"];
    let cases: [&[&str]; 5] = [
        &["run", "sgemm"],
        &["run", "BlackScholes"],
        &["run", "bfs", "--sample-cycles", "3000"],
        &["run", "stencil", slow[0], slow[1]],
        &["run", "histo", "--gpu", "gtx480-crisp"],
    ];
    for case in cases {
        let ran = warpwatt(&[case, &["--json"]].concat());
        assert_eq!(ran.code, Some(0), "{case:?}\n{}", ran.err);
        let record = ran.json();
        let (found, expected) = (energy(&record["power"]["total"]["joules"]), joules(&record));
        assert!((found / expected - 1.0).abs() < 1e-9, "{case:?}: {found} J reported, {expected} J worked out");
        let seconds = record["power"]["total"]["seconds"].as_f64().unwrap();
        let average = record["power"]["total"]["watts"]["average"].as_f64().unwrap();
        assert!((average * seconds / found - 1.0).abs() < 1e-9, "{case:?}: {average} W on average");
    }
}

#[test]
fn the_power_over_time_adds_up_to_the_energy() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let ran = warpwatt(&["run", "hotspot", "--sample-cycles", "1000", "--out", out.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(out.join("run.json")).unwrap()).unwrap();
    let table = std::fs::read_to_string(out.join("power.csv")).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<f64>> = lines.map(|row| row.iter().map(|cell| cell.parse().unwrap()).collect()).collect();
    assert!(rows.len() > 5, "{} samples", rows.len());
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap_or_else(|| panic!("no column {name}"));
    let (start, end, total) = (column("start_s"), column("end_s"), column("total"));
    let joules: f64 = rows.iter().map(|r| r[total] * (r[end] - r[start])).sum();
    let expected = energy(&record["power"]["total"]["joules"]);
    assert!((joules / expected - 1.0).abs() < 1e-6, "{joules} {expected}");
    let (first, last) = (column("fetch"), column("clock"));
    for row in &rows {
        let components: f64 = row[first..=last].iter().sum();
        assert!((components / row[total] - 1.0).abs() < 1e-9);
        // An SM's column is the sum of its components.
        let of_sm =
            |sm: usize| header.iter().zip(row).filter(move |(h, _)| h.starts_with(&format!("sm{sm}."))).map(|(_, v)| v);
        assert!((of_sm(3).sum::<f64>() / row[column("sm3")] - 1.0).abs() < 1e-9);
    }
}
