//! What a user may ask for, and how mistakes are answered.

use warpwatt_machine::spec::Spec;
use warpwatt_policies::registry::{POLICIES, find};
use warpwatt_policies::{PolicyError, Selection, split};

fn gpu() -> Spec {
    Spec::preset("gtx480").unwrap()
}

fn refused(policies: &str, settings: &[&str]) -> PolicyError {
    Selection::new(policies, settings, &gpu()).unwrap_err()
}

#[test]
fn every_policy_is_declared_in_full_and_runs_with_its_defaults() {
    for definition in POLICIES {
        let about = &definition.about;
        assert_eq!(POLICIES.iter().filter(|d| d.about.name == about.name).count(), 1);
        assert!(!about.meaning.is_empty() && !about.hooks.is_empty() && about.paper.year > 1990, "{}", about.name);
        let mut spec = Spec::preset(about.baseline.gpu).unwrap();
        for setting in about.baseline.set {
            let (key, value) = setting.split_once('=').unwrap();
            spec.set(key, value).unwrap();
        }
        spec.validate().unwrap();
        let selection = Selection::new(about.name, &[], &spec).unwrap();
        for (parameter, (key, value)) in definition.parameters().iter().zip(&selection.chosen()[0].values) {
            assert_eq!((parameter.key, &parameter.default), (*key, value));
            assert!(!parameter.meaning.is_empty() && !parameter.source.is_empty(), "{}.{key}", about.name);
            // The default, given, is what it is without.
            let given = format!("{}.{key}={value}", about.name);
            let again = Selection::new(about.name, &[&given], &spec).unwrap();
            assert_eq!(again.chosen()[0].values, selection.chosen()[0].values);
        }
        for (other, hook) in about.yields {
            find(other).unwrap();
            assert!(about.hooks.contains(hook));
        }
    }
}

#[test]
fn nothing_is_a_selection_too() {
    let none = Selection::new("", &[], &gpu()).unwrap();
    assert!(none.is_empty());
    assert_eq!(none.name(), "");
}

#[test]
fn names() {
    assert_eq!(refused("cgp", &[]), PolicyError::Unknown { name: "cgp".into(), hint: "did you mean `cpg`?".into() });
    assert_eq!(refused("cpg+cpg", &[]), PolicyError::Twice { name: "cpg".into() });
    for given in ["cpg+", "+cpg", "cpg++pats", "+"] {
        assert_eq!(refused(given, &[]), PolicyError::NoName { given: given.into() });
    }
    assert_eq!(refused("cpg:bet=9", &[]).help(), "settings go elsewhere: --policy cpg --set cpg.key=value");
    assert_eq!(refused("cpg:", &[]).code(), "policy::unknown");
}

#[test]
fn parameters() {
    let error = refused("cpg", &["cpg.idle_detct=3"]);
    assert_eq!(error.to_string(), "policy `cpg` has no parameter `idle_detct`");
    assert_eq!(error.help(), "did you mean `idle_detect`?");
    for (setting, legal) in [
        ("cpg.wake_up=-1", "0 to 10000 (cycles)"),
        ("cpg.wake_up=lots", "0 to 10000 (cycles)"),
        ("cpg.granularity=3", "a power of two, 1 to 32 (lanes)"),
        ("cpg.granularity=64", "a power of two, 1 to 32 (lanes)"),
        ("cpg.scope=unit", "lane, type"),
        ("cpg.sfu=maybe", "true or false"),
    ] {
        let error = refused("cpg", &[setting]);
        assert_eq!(error.code(), "policy::bad-value", "{setting}");
        assert!(error.to_string().contains(setting.split('=').next().unwrap()), "{error}");
        assert_eq!(error.help(), format!("legal: {legal}"));
    }
    assert_eq!(refused("", &["cpg.bet=1"]).code(), "policy::not-in-use");
    // The last of two settings holds.
    let selection = Selection::new("cpg", &["cpg.bet=9", "cpg.bet=19"], &gpu()).unwrap();
    assert!(selection.chosen()[0].values.contains(&("bet", "19".to_owned())));
}

#[test]
fn settings_of_policies_are_told_from_those_of_the_gpu() {
    let all = ["cpg.bet=9", "l1d.sets=64", "core_mhz=600", "nonsense.x=1"].map(str::to_owned);
    let (policies, gpu) = split(&all).unwrap();
    assert_eq!(policies, ["cpg.bet=9"]);
    assert_eq!(gpu, ["l1d.sets=64", "core_mhz=600", "nonsense.x=1"]);
    assert_eq!(split(&["cpgg.bet=9".to_owned()]).unwrap_err().help(), "did you mean `cpg`?");
}
