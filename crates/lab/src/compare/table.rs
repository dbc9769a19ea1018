//! From records to the table.

use super::figures::{COLUMNS, Figures, Line, average};
use super::{Done, Plan, Run, failed};
use crate::problem::{Outcome, Problem};
use crate::record::Record;
use warpwatt_policies::HookKind;
use warpwatt_policies::selection::definitions;
use warpwatt_power::{Component, Energy, UnitPower};

/// The units that policies of lanes act on.
const UNITS: [Component; 3] = [Component::Int, Component::Fp, Component::Sfu];

/// The lines of all runs that ended well, and their averages over workloads.
pub(super) fn lines(plan: &Plan, runs: &[Done]) -> (Vec<Line>, Vec<Line>) {
    let mut lines = Vec::new();
    let mut baseline: Option<&Record> = None;
    // The candidates of a search are consecutive.
    let all: Vec<(&Run, &Done)> = plan.runs.iter().zip(runs).collect();
    for entry in all.chunk_by(|(a, _), (b, _)| (a.workload, a.group, a.policy) == (b.workload, b.group, b.policy)) {
        let Some(&(run, done)) = entry.first() else { continue };
        let fine = entry.iter().all(|(run, done)| failed(plan, run, done).is_none());
        if run.policy.is_none() {
            baseline = Some(&done.record).filter(|_| fine);
        }
        if !fine {
            continue;
        }
        let policy = run.policy.map(|at| &plan.policies[at]);
        let records: Vec<&Record> = entry.iter().map(|(_, done)| &done.record).collect();
        let (chosen, key, figures) = match (policy.and_then(|p| p.search), baseline) {
            (Some(search), Some(baseline)) => {
                let (chosen, figures) = search.best(baseline, &records);
                (Some(chosen), String::new(), figures)
            }
            (Some(_), None) => continue,
            (None, _) => {
                let lanes = policy.is_none_or(|p| on_lanes(&p.policies));
                (None, run.key.clone(), figures(&done.record, baseline, lanes))
            }
        };
        lines.push(Line {
            workload: plan.workloads[run.workload].clone(),
            policy: policy.map(|p| p.name.clone()),
            baseline: plan.groups[run.group].name.clone(),
            chosen,
            key,
            figures,
        });
    }
    let averages = averages(plan, &lines);
    (lines, averages)
}

fn unit(record: &Record, component: Component) -> Option<&UnitPower> {
    record.power.as_ref()?.units.iter().find(|u| u.component == component)
}

pub(super) fn joules(record: &Record) -> f64 {
    record.power.as_ref().map_or(0.0, |p| p.total.joules.total())
}

fn unit_joules(record: &Record) -> f64 {
    let power = record.power.as_ref();
    UNITS.iter().map(|c| power.map_or(0.0, |p| p.total.component(*c).joules.total())).sum()
}

/// Energy of all units by some cause.
fn of_units(record: &Record, figure: fn(&UnitPower) -> f64) -> f64 {
    UNITS.iter().filter_map(|c| unit(record, *c)).map(figure).sum()
}

fn ratio(own: f64, baseline: Option<f64>) -> Option<f64> {
    Some(own / baseline?).filter(|r| r.is_finite())
}

/// Whether some policies (`a+b`) act on lanes: of others, what lanes saved says nothing.
fn on_lanes(policies: &str) -> bool {
    let acts = |hook: &HookKind| matches!(hook, HookKind::Lanes | HookKind::Issue | HookKind::Power);
    definitions(policies).is_ok_and(|all| all.iter().any(|d| d.about.hooks.iter().any(acts)))
}

/// A run's figures; a baseline is its own. `lanes`: those of lanes say something.
pub(super) fn figures(record: &Record, baseline: Option<&Record>, lanes: bool) -> Figures {
    let seconds = |r: &Record| r.total("simulated_seconds").unwrap_or(0.0);
    let edp = |r: &Record| seconds(r) * joules(r);
    let power =
        |r: &Record, joules: fn(&Energy) -> f64| r.power.as_ref().map_or(0.0, |p| joules(&p.total.joules)) / seconds(r);
    let still = |r: &Record| power(r, |j| j.leakage + j.overhead);
    let dynamic = |r: &Record| power(r, |j| j.dynamic);
    // Leakage and transitions, not added hardware. Not of units that have nothing to do (Origami §4.2).
    let saved = |component| {
        if !lanes {
            return None;
        }
        let full = unit(baseline?, component).filter(|u| u.busy > 0)?.full_leakage;
        ratio(unit(record, component)?.leaked, Some(full)).map(|left| 1.0 - left)
    };
    Figures {
        seconds: seconds(record),
        cycles: record.total("cycles").unwrap_or(0.0) as u64,
        time: ratio(seconds(record), baseline.map(seconds)),
        int_saved: saved(Component::Int),
        fp_saved: saved(Component::Fp),
        gatings: lanes.then(|| of_units(record, |u| u.gatings as f64)),
        overhead: ratio(of_units(record, |u| u.joules.overhead), baseline.map(|b| of_units(b, |u| u.full_leakage)))
            .filter(|_| lanes),
        joules: joules(record),
        energy: ratio(joules(record), baseline.map(joules)),
        unit_joules: unit_joules(record),
        unit_energy: ratio(unit_joules(record), baseline.map(unit_joules)),
        edp: ratio(edp(record), baseline.map(edp)),
        ed2p: ratio(seconds(record) * edp(record), baseline.map(|b| seconds(b) * edp(b))),
        static_power: ratio(still(record), baseline.map(still)),
        dynamic_power: ratio(dynamic(record), baseline.map(dynamic)),
        stalls: record.total("l1d_stalls_per_miss"),
    }
}

/// Averages over the workloads that a policy and its baseline have run: none for a single workload.
fn averages(plan: &Plan, lines: &[Line]) -> Vec<Line> {
    if plan.workloads.len() < 2 {
        return Vec::new();
    }
    let one = |entry: &super::plan::Entry| {
        let own: Vec<&Line> = lines.iter().filter(|l| l.policy.as_ref() == Some(&entry.name)).collect();
        let measured: Vec<&Line> = own.into_iter().filter(|l| l.figures.time.is_some()).collect();
        let mean = |key: &str| {
            let column = COLUMNS.iter().find(|c| c.key == key)?;
            let figures: Vec<Option<f64>> = measured.iter().map(|l| (column.figure)(&l.figures)).collect();
            average(column.mean(), &figures)
        };
        let sum = |f: fn(&Figures) -> f64| measured.iter().map(|l| f(&l.figures)).sum::<f64>();
        let figures = Figures {
            seconds: sum(|f| f.seconds),
            cycles: measured.iter().map(|l| l.figures.cycles).sum(),
            joules: sum(|f| f.joules),
            unit_joules: sum(|f| f.unit_joules),
            time: mean("time"),
            int_saved: mean("int_saved"),
            fp_saved: mean("fp_saved"),
            gatings: mean("gatings"),
            overhead: mean("overhead"),
            energy: mean("energy"),
            unit_energy: mean("unit_energy"),
            edp: mean("edp"),
            ed2p: mean("ed2p"),
            static_power: mean("static_power"),
            dynamic_power: mean("dynamic_power"),
            stalls: mean("stalls_per_miss"),
        };
        let baseline = plan.groups[entry.group].name.clone();
        Line {
            workload: String::new(),
            policy: Some(entry.name.clone()),
            baseline,
            chosen: None,
            key: String::new(),
            figures,
        }
    };
    plan.policies.iter().map(one).collect()
}

/// All lines as CSV; averages have the workload `average`. What is not available is empty.
pub fn csv(lines: &[Line], averages: &[Line]) -> Outcome<Vec<u8>> {
    let failed = |e: String| Problem::run("run::encode", format!("cannot write a table: {e}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    let first = ["workload", "policy", "baseline", "seconds", "cycles", "joules", "unit_joules"];
    let header = first.into_iter().chain(COLUMNS.iter().map(|c| c.key)).chain(["key"]);
    out.write_record(header).map_err(|e| failed(e.to_string()))?;
    for (line, average) in lines.iter().map(|l| (l, false)).chain(averages.iter().map(|l| (l, true))) {
        let f = &line.figures;
        let workload = if average { "average" } else { &line.workload };
        let policy = line.policy.as_deref().unwrap_or("");
        let mut row = vec![workload.to_owned(), policy.to_owned(), line.baseline.clone()];
        row.extend([f.seconds.to_string(), f.cycles.to_string(), f.joules.to_string(), f.unit_joules.to_string()]);
        row.extend(COLUMNS.iter().map(|c| (c.figure)(f).map_or_else(String::new, |v| v.to_string())));
        row.push(line.key.clone());
        out.write_record(row).map_err(|e| failed(e.to_string()))?;
    }
    out.into_inner().map_err(|e| failed(e.to_string()))
}
