//! `idle`: how idle the execution units are.

use super::compare::program;
use super::run::{choice, watch_signals};
use crate::args::IdleArgs;
use crate::output::{data, faint, heading, note, print};
use crate::progress::Line;
use crate::table::{decimal, grouped, percent, table};
use std::path::Path;
use warpwatt_lab::idle::{Idle, analyse};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::Request;
use warpwatt_lab::run::{self, Controls};
use warpwatt_lab::store::to_json;
use warpwatt_policies::always_on;

/// Analyses a program's idle periods.
pub fn idle(args: IdleArgs) -> Result<u8, Problem> {
    let toml = Path::new(&args.program).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if toml && args.size.is_some() {
        let message = format!("`--size` goes with a workload, not with `{}`", args.program);
        return Err(Problem::input("args::stray", message));
    }
    let size = args.size.map_or("small".to_owned(), choice);
    let request = Request {
        program: program(&args.program, &size)?,
        gpu: args.gpu.clone(),
        policy: always_on::NAME.to_owned(),
        set: args.set.clone(),
        threads: args.threads,
        ..Request::default()
    };
    let line = Line::new();
    let interrupted = watch_signals()?;
    let controls =
        Controls { directory: args.out.clone(), interrupted, report: line.reporter(), ..Controls::default() };
    let finished = run::run(&request, controls);
    line.finish();
    let finished = finished?;
    if let Some(problem) = finished.failure {
        if let Some(directory) = &finished.resumable {
            note(&format!("To go on: warpwatt resume {}", directory.display()));
        }
        return Err(problem);
    }
    let analysis = analyse(&finished.record, args.bet)?;
    if args.json {
        data(&to_json(&analysis)?)?
    } else {
        print(&shown(&analysis))?
    }
    Ok(finished.record.exit_code())
}

/// Names of unit types for people.
fn title(unit: &str) -> String {
    match unit {
        "lane" => "SIMD lanes".to_owned(),
        unit => unit.to_uppercase(),
    }
}

fn shown(idle: &Idle) -> String {
    let mut out = format!("\n{}\n", heading(&idle.title));
    let mut section = |title: &str, body: String| out += &format!("\n{}\n{body}", heading(title));
    section("Idleness", idleness(idle));
    section("Idle periods by length", histogram(idle));
    section("Active threads of warp instructions", threads(idle));
    section("Leakage that an oracle would save", bounds(idle));
    out += &faint(
        "\n SIMD lanes: INT and FP pipeline together. The oracle knows each period's length, wakes lanes without delay,\n \
         and leaves them on where sleeping does not pay; on this run's idle periods nothing saves more.\n",
    );
    out
}

fn idleness(idle: &Idle) -> String {
    let bet = idle.bet;
    let row = |name: String, figure: &dyn Fn(&warpwatt_lab::idle::UnitIdle) -> String| {
        [name].into_iter().chain(idle.units.iter().map(figure)).collect::<Vec<_>>()
    };
    let rows = vec![
        row("idle, of lane time".into(), &|u| percent(u.idle)),
        row("  no lane of the unit works".into(), &|u| percent(u.full_idle)),
        row("  beside lanes that work".into(), &|u| percent(u.partial_idle)),
        row("idle periods".into(), &|u| grouped(u.periods)),
        row("average length, cycles".into(), &|u| decimal(u.mean, 1)),
        row("under 10 cycles, of periods".into(), &|u| percent(u.short_periods)),
        row("under 10 cycles, of lane time".into(), &|u| percent(u.short_time)),
        row(format!("under BET ({bet}), of periods"), &|u| percent(u.under_bet_periods)),
        row(format!("under BET ({bet}), of lane time"), &|u| percent(u.under_bet_time)),
    ];
    let titles: Vec<String> = idle.units.iter().map(|u| title(u.unit)).collect();
    let header: Vec<&str> = [""].into_iter().chain(titles.iter().map(String::as_str)).collect();
    table(&header, &rows, 1)
}

/// Where classes of lengths begin.
const CLASSES: [usize; 13] = [1, 2, 3, 4, 6, 8, 10, 14, 20, 44, 64, 128, 256];

fn histogram(idle: &Idle) -> String {
    let count = |bins: &[u64], from: usize, to: Option<usize>| -> u64 {
        bins.iter().enumerate().filter(|(n, _)| *n >= from && to.is_none_or(|to| *n < to)).map(|(_, count)| count).sum()
    };
    let row = |(at, from): (usize, &usize)| {
        let to = CLASSES.get(at + 1).copied();
        let name = match to {
            Some(to) if to == from + 1 => from.to_string(),
            Some(to) => format!("{from}–{}", to - 1),
            None => format!("{from} and more"),
        };
        let mut row = vec![name];
        for unit in &idle.units {
            let share = (unit.periods > 0).then(|| count(&unit.histogram, *from, to) as f64 / unit.periods as f64);
            row.push(percent(share));
            row.push("█".repeat((share.unwrap_or(0.0) * 20.0).round() as usize));
        }
        row
    };
    let titles: Vec<String> = idle.units.iter().map(|u| title(u.unit)).collect();
    let header: Vec<&str> = ["cycles"].into_iter().chain(titles.iter().flat_map(|t| [t.as_str(), ""])).collect();
    let rows: Vec<Vec<String>> = CLASSES.iter().enumerate().map(row).collect();
    // Bars begin where their column does.
    table(&header, &rows, header.len())
}

fn threads(idle: &Idle) -> String {
    const ENDS: [usize; 9] = [0, 1, 4, 8, 12, 16, 24, 31, 32];
    let class = |at: usize| match (at.checked_sub(1).map(|before| ENDS[before] + 1), ENDS[at]) {
        (Some(from), to) if from < to => format!("{from}–{to}"),
        (_, to) => to.to_string(),
    };
    let mut header = vec!["".to_owned(), "instructions".to_owned(), "average".to_owned(), "under 32".to_owned()];
    header.extend((0..ENDS.len()).map(class));
    let row = |t: &warpwatt_lab::idle::Threads| {
        let mut row = vec![title(t.unit), grouped(t.instructions), decimal(t.mean, 1), percent(t.underused)];
        let mut from = 0;
        for end in ENDS {
            let count: u64 = t.histogram.get(from..=end).map_or(0, |bins| bins.iter().sum());
            row.push(percent((t.instructions > 0).then(|| count as f64 / t.instructions as f64)));
            from = end + 1;
        }
        row
    };
    let rows: Vec<Vec<String>> = idle.threads.iter().map(row).collect();
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows, 1)
}

fn bounds(idle: &Idle) -> String {
    let titles: Vec<String> = idle.units.iter().map(|u| title(u.unit)).collect();
    let header: Vec<&str> = ["technique"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let techniques = idle.units.first().map_or(&[][..], |u| &u.bounds);
    let row = |(at, bound): (usize, &warpwatt_lab::idle::Bound)| {
        let saved = idle.units.iter().map(|u| percent(u.bounds.get(at).and_then(|b| b.saved)));
        [bound.technique.clone()].into_iter().chain(saved).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = techniques.iter().enumerate().map(row).collect();
    table(&header, &rows, 1)
}
