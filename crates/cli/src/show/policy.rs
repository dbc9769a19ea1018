//! What policies did: lanes by power state, leakage saved, and their own results.

use crate::table::{decimal, grouped, percent, si, table};
use warpwatt_lab::governor::GovernorRecord;
use warpwatt_lab::power::{Activity, PowerRecord, STATES};
use warpwatt_lab::record::{MetricRecord, Record};
use warpwatt_machine::activity::COMPONENT_NAMES;

/// INT, FP and SFU lanes: where their cycles went, and what that saved.
pub fn lanes(power: &PowerRecord) -> String {
    let used: Vec<usize> = (0..STATES.len()).filter(|s| power.units.iter().any(|u| u.by_state[*s] > 0)).collect();
    let mut header = vec!["", "worked"];
    header.extend(used.iter().map(|s| STATES[*s]));
    header.extend(["gating events", "leakage", "overhead", "saved"]);
    let rows: Vec<Vec<String>> = power
        .units
        .iter()
        .map(|u| {
            let share = |cycles: u64| percent((u.lane_cycles > 0).then(|| cycles as f64 / u.lane_cycles as f64));
            // Nobody counts the work of lanes that no policy acts on.
            let worked = if u.sleeps == 0 && u.busy == 0 { String::new() } else { share(u.busy) };
            let mut row = vec![u.component.name().to_owned(), worked];
            row.extend(used.iter().map(|s| share(u.by_state[*s])));
            row.push(grouped(u.gatings));
            row.extend([si(u.joules.leakage, "J"), si(u.joules.overhead, "J"), percent(u.saved)]);
            row
        })
        .collect();
    table(&header, &rows, 1)
}

/// Some groups of the pipeline were off.
pub fn tuned(activity: &Activity) -> bool {
    activity.groups.values().any(|g| ["gated", "clock_gated"].iter().any(|state| g[state].as_u64() != Some(0)))
}

/// The pipeline's components: where their groups' cycles went.
pub fn groups(power: &PowerRecord) -> String {
    let row = |name: &str| {
        let sum = |state: &str| power.activity.iter().filter_map(|a| a.groups.get(name)?[state].as_u64()).sum::<u64>();
        let (on, gated, unclocked) = (sum("on"), sum("gated"), sum("clock_gated"));
        let all = on + gated + unclocked;
        let share = |part: u64| percent((all > 0).then(|| part as f64 / all as f64));
        vec![name.to_owned(), share(on), share(gated), share(unclocked), grouped(sum("gatings"))]
    };
    let rows: Vec<Vec<String>> = COMPONENT_NAMES.iter().map(|name| row(name)).collect();
    table(&["", "on", "no power", "no clock", "gating events"], &rows, 1)
}

/// What sleeping has saved, by component, and as a share of what would have been spent.
pub fn saved(power: &PowerRecord) -> String {
    let total = &power.total.joules;
    let (leakage, dynamic) = power.saved.iter().fold((0.0, 0.0), |(l, d), s| (l + s.leakage, d + s.dynamic));
    let part = |part: f64, whole: f64| percent((whole > 0.0).then(|| part / whole));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for s in &power.saved {
        let share = part(s.leakage, leakage);
        rows.push(vec![
            s.component.name().to_owned(),
            si(s.leakage, "J"),
            share,
            si(s.dynamic, "J"),
            part(s.dynamic, dynamic),
        ]);
    }
    rows.push(vec![
        "total".to_owned(),
        si(leakage, "J"),
        part(leakage, leakage),
        si(dynamic, "J"),
        part(dynamic, dynamic),
    ]);
    let of_static = part(leakage, total.leakage + total.overhead + leakage);
    let of_dynamic = part(dynamic, total.dynamic + dynamic);
    let header = ["", "static", "share", "dynamic", "share"];
    table(&header, &rows, 1) + &format!(" {of_static} of the chip's static and {of_dynamic} of its dynamic energy\n")
}

/// Each policy's own results.
pub fn metrics(record: &Record) -> String {
    let row = |policy: &str, m: &MetricRecord| {
        let value = match m.unit.as_str() {
            "1" => percent(m.value),
            unit => match m.value {
                Some(v) if v.fract() == 0.0 && (0.0..9e15).contains(&v) => format!("{} {unit}", grouped(v as u64)),
                value => format!("{} {unit}", decimal(value, 3)),
            },
        };
        vec![policy.to_owned(), m.name.clone(), m.meaning.clone(), value]
    };
    let rows: Vec<Vec<String>> =
        record.policies.iter().flat_map(|p| p.metrics.iter().map(|m| row(&p.name, m))).collect();
    table(&["policy", "result", "", ""], &rows, 3)
}

/// Time at each pair of V/f levels, and what a governor did.
pub fn clocks(governor: &GovernorRecord) -> String {
    let level = |l: &warpwatt_lab::governor::LevelTime| {
        vec![format!("{} MHz", l.core_mhz), format!("{} MHz", l.dram_mhz), percent(Some(l.share))]
    };
    let rows: Vec<Vec<String>> = governor.levels.iter().map(level).collect();
    let limit =
        governor.mean_cta_limit.map_or_else(String::new, |l| format!("; at most {l:.2} CTAs on an SM, on average"));
    let (decisions, transitions) = (grouped(governor.decisions), grouped(governor.transitions));
    table(&["SMs", "DRAM", "of the time"], &rows, 0)
        + &format!(" {decisions} decisions, {transitions} transitions{limit}\n")
}
