//! The embedded tables, and bad ones.

use warpwatt_machine::spec::{Spec, presets};
use warpwatt_power::table::{EnergyTable, table_text, tables};
use warpwatt_power::{PowerError, PowerModel, PowerOptions};

#[test]
fn every_preset_has_a_table() {
    for name in presets() {
        let spec = Spec::preset(name).unwrap();
        PowerModel::new(&spec, PowerOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in tables() {
        assert_eq!(EnergyTable::named(name).unwrap().name, name);
    }
}

/// Each line with a figure has a comment with one of the tags, or stands under a comment that has.
#[test]
fn every_figure_has_a_source() {
    for name in tables() {
        let mut above = "";
        for line in table_text(name).unwrap().lines() {
            let (code, comment) = line.split_once('#').unwrap_or((line, ""));
            if code.trim().is_empty() && !comment.is_empty() || code.starts_with('[') {
                above = comment;
            }
            let Some((key, value)) = code.split_once('=') else { continue };
            let text = ["name", "base", "event", "component", "label", "inactive_of"].contains(&key.trim());
            if text || !value.contains(|letter: char| letter.is_ascii_digit()) || key.trim() == "IdleCycle" {
                continue;
            }
            let tagged = |comment: &str| {
                let mut words = comment.split([' ', ':', ';', ',', '(']);
                words.any(|word| ["M", "M×X", "P", "D"].contains(&word))
            };
            assert!(tagged(comment) || tagged(above), "{name}: {line}");
        }
    }
}

fn build(text: &str) -> Result<PowerModel, PowerError> {
    let table = EnergyTable::from_toml("mine", text)?;
    PowerModel::with_table(&Spec::preset("gtx480").unwrap(), table, PowerOptions::default())
}

fn changed(from: &str, to: &str) -> String {
    let text = table_text("gtx480").unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn a_table_of_the_users() {
    let mine = build("base = \"gtx480\"\nname = \"mine\"\n[chip.other]\nleakage_w = 5.0\n").unwrap();
    assert!((mine.leakage_watts() - (41.9 + 5.0 - 2.96)).abs() < 1e-9);
    assert_eq!(mine.table().name, "mine");
}

#[test]
fn bad_tables_are_named_errors() {
    let message = |text: &str| build(text).expect_err(text).to_string();
    let cases = [
        ("name = ".to_owned(), "energy table `mine`: TOML parse error"),
        ("name = \"x\"".to_owned(), "missing field"),
        ("base = \"gtx999\"".to_owned(), "has the base `gtx999`, which is no other table"),
        ("base = 3".to_owned(), "has the base `?`"),
        (
            "base = \"gtx480\"\n[chip.l3]\narea_mm2 = 1\nleakage_w = 1\nclass = \"core\"".to_owned(),
            "unknown component `l3`",
        ),
        (
            "base = \"gtx480\"\n[sm.l2]\narea_mm2 = 1\nleakage_w = 1\nclass = \"core\"".to_owned(),
            "unknown component `l2`",
        ),
        ("base = \"gtx480\"\n[sm.int]\nleakage_w = -1.0".to_owned(), "`int.leakage_w` = -1 must be at least 0"),
        ("base = \"gtx480\"\n[sm.int]\nleakage_w = nan".to_owned(), "`int.leakage_w` = NaN must be"),
        ("base = \"gtx480\"\n[sm.int]\nper = \"moons\"".to_owned(), "unknown variant `moons`"),
        ("base = \"gtx480\"\n[reference]\nsp_units = 0".to_owned(), "`reference.sp_units` = 0 must be positive"),
        ("base = \"gtx480\"\n[gating]\nbet = 14".to_owned(), "unknown field `bet`"),
        ("base = \"gtx480\"\n[uncharged]\nMoonbeam = \"free\"".to_owned(), "unknown event `Moonbeam`"),
        ("base = \"gtx480\"\n[physical.mix]\nMoonbeam = 0.5".to_owned(), "unknown event `Moonbeam`"),
        (changed("pj = 63\n", "pj = -63\n"), "`InstructionHit.pj` = -63 must be at least 0"),
        (changed("per = 640", "per = 0"), "`PipelineDuty.per` = 0 must be positive"),
        (changed("event = \"IntDiv\"", "event = \"IntDivide\""), "unknown event of this component `IntDivide`"),
        (changed("component = \"ldst\"", "component = \"lsu\""), "unknown component `lsu`"),
        (changed("component = \"ldst\"", "component = \"noc\""), "unknown event of this component `LdstRead`"),
        (changed("label = \"SCHEDP\"", "label = \"SCHED\""), "unknown label `SCHED`"),
        (changed("inactive_of = \"IntOp\"", "inactive_of = \"Int\""), "unknown event with an energy `Int`"),
        (changed("inactive_of = \"IntOp\"", "per = 1"), "needs one of `pj` and `inactive_of`"),
        (changed("event = \"Issued\"", "event = \"BufferRead\""), "has no row for the event `Issued`"),
    ];
    for (text, part) in cases {
        let message = message(&text);
        assert!(message.contains(part), "{message}\nlacks: {part}");
    }
    let mut spec = Spec::preset("gtx480").unwrap();
    spec.energy_table = "gtx580".to_owned();
    let error = PowerModel::new(&spec, PowerOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "unknown energy table `gtx580`");
}
