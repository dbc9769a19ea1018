//! Policies on the command line and in launch descriptions.

mod common;

use common::{data, warpwatt, warpwatt_in};
use serde_json::Value;

fn run(arguments: &[&str]) -> Value {
    let run = warpwatt(&[&["run", "pathfinder", "--json"], arguments].concat());
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.json()
}

#[test]
fn every_policy_is_listed_and_shown() {
    let all = warpwatt(&["policies", "--json"]).json();
    assert!(all.as_array().is_some_and(|a| !a.is_empty()));
    for policy in all.as_array().unwrap() {
        let name = policy["name"].as_str().unwrap();
        assert_eq!(&warpwatt(&["policies", name, "--json"]).json(), policy);
        let shown = warpwatt(&["policies", name]);
        for parameter in policy["parameters"].as_array().unwrap() {
            assert!(shown.out.contains(parameter["name"].as_str().unwrap()), "{name}");
        }
        assert!(shown.out.contains(policy["paper"]["title"].as_str().unwrap()));
        assert!(warpwatt(&["policies"]).out.contains(name));
    }
}

#[test]
fn a_run_records_its_policy_and_what_it_saved() {
    let (plain, policy) = (run(&["--set", "scheduler=two-level-active"]), run(&["--policy", "cpg"]));
    // Without --gpu: the machine of the paper.
    assert_eq!(policy["inputs"]["gpu"], plain["inputs"]["gpu"]);
    assert_eq!(policy["inputs"]["policy"]["name"], "cpg");
    assert_eq!(policy["inputs"]["policy"]["policies"][0]["parameters"]["bet"], 14);
    assert_ne!(policy["key"], plain["key"]);
    assert_eq!(plain["inputs"]["policy"], Value::Null);
    assert_eq!(policy["policies"][0]["name"], "cpg");
    assert!(policy["histograms"]["idle.int"].as_array().is_some_and(|bins| bins.len() > 100));
    let int = &policy["power"]["units"][0];
    assert!(int["saved"].as_f64().unwrap() > 0.0 && int["gatings"].as_u64().unwrap() > 0);
    assert!(int["joules"]["overhead"].as_f64().unwrap() > 0.0);
    // A parameter is part of the key; a GPU that is named is taken as it is.
    let other = run(&["--policy", "cpg", "--set", "cpg.bet=19"]);
    assert_ne!(other["key"], policy["key"]);
    assert_eq!(other["totals"]["cycles"], policy["totals"]["cycles"]);
    let named = run(&["--policy", "cpg", "--gpu", "gtx480"]);
    assert_eq!(named["inputs"]["gpu"]["scheduler"], "gto");
}

#[test]
fn mistakes_are_answered_with_what_would_be_right() {
    for (arguments, message, help) in [
        (vec!["--policy", "cpgg"], "unknown policy `cpgg`", "did you mean `cpg`?"),
        (vec!["--policy", ""], "policy::no-name", "leave --policy out"),
        (vec!["--policy", " "], "policy::no-name", "leave --policy out"),
        (vec!["--policy", "cpg+"], "`cpg+` lacks the name of a policy", "on both sides of each `+`"),
        (vec!["--policy", "cpg:"], "unknown policy `cpg:`", "--set cpg.key=value"),
        (vec!["--policy", "cpg:bet=9"], "unknown policy `cpg:bet=9`", "--set cpg.key=value"),
        (vec!["--policy", "cpg+cpg"], "policy `cpg` is named twice", "once is enough"),
        (vec!["--policy", "cpg", "--set", "cpg.granularity=5"], "`cpg.granularity`", "a power of two, 1 to 32"),
        (vec!["--policy", "cpg", "--set", "cpg.bat=5"], "no parameter `bat`", "did you mean `bet`?"),
        (vec!["--set", "cpg.bet=5"], "does not use", "--policy cpg"),
        (vec!["--policy", "fold", "--set", "simd_width=8"], "policy::narrow-simd", "simd_width=32"),
    ] {
        let run = warpwatt(&[&["run", "pathfinder"], &arguments[..]].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.err.contains(message) && run.err.contains(help), "{}", run.err);
    }
    assert_eq!(warpwatt(&["policies", "cgp"]).code, Some(2));
}

#[test]
fn a_launch_description_may_name_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    std::fs::write(folder.path().join("my.toml"), "base = 'gtx480'\ncore_mhz = 650\n").unwrap();
    let job = "
        ptx = 'basic.ptx'
        gpu = 'my.toml'
        policy = 'cpg'
        [set]
        cpg.wake_up = 9
        l1d.sets = 64
        scheduler = 'lrr'
        [[buffer]]
        name = 'x'
        type = 'f32'
        shape = 256
        [[step]]
        launch = 'saxpy'
        grid = 4
        block = 64
        args = [256, 2.0, 'x', 'x']
    ";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let run = |arguments: &[&str]| {
        let run = warpwatt_in(folder.path(), &[&["run", "job.toml", "--json"], arguments].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.json()["inputs"].take()
    };
    let inputs = run(&[]);
    assert_eq!((&inputs["gpu"]["core_mhz"], &inputs["gpu"]["l1d"]["sets"]), (&650.0.into(), &64.into()));
    assert_eq!(inputs["gpu"]["scheduler"], "lrr");
    assert_eq!(inputs["policy"]["policies"][0]["parameters"]["wake_up"], 9);
    // The command line comes on top.
    let inputs = run(&["--gpu", "c2050", "--set", "cpg.wake_up=4"]);
    assert_eq!((&inputs["gpu"]["name"], &inputs["gpu"]["scheduler"]), (&"c2050".into(), &"lrr".into()));
    assert_eq!(inputs["policy"]["policies"][0]["parameters"]["wake_up"], 4);
}
