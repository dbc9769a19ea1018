//! `compare`: policies against their baselines.

use super::prepare_output;
use super::run::{choice, watch_signals};
use crate::args::{BaselineScheduler, CompareArgs, Size};
use crate::output::{bad, data, faint, heading, note, print};
use crate::progress::Runs;
use crate::table::{si, table};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpwatt_lab::compare::{self, COLUMNS, CompareRequest, Comparison, Line, Options, Plan, Scheduler};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::ProgramRequest;
use warpwatt_lab::{report, store};
use warpwatt_power::PowerOptions;

/// Compares.
pub fn compare(args: CompareArgs) -> Result<u8, Problem> {
    store::check_directory(&args.runs.store)?;
    let request = request(&args)?;
    let plan = Plan::new(&request, &args.runs.store)?;
    for why in &plan.left_out {
        note(&faint(&format!("left out: {why}")));
    }
    let html = args.html.clone().unwrap_or_else(|| args.runs.store.join("compare.html"));
    prepare_output(&html, &request.programs, request.gpu.as_deref())?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let line = Arc::new(Runs::new());
    let shown = line.clone();
    let options = Options {
        jobs: args.jobs.map_or(cores, |jobs| jobs as usize),
        force: args.runs.force,
        interrupted: watch_signals()?,
        watcher: Arc::new(move |event| shown.update(event)),
    };
    let comparison = compare::run(plan, &options);
    line.finish();
    let comparison = comparison?;
    store::write_whole(&html, report::page(&comparison).as_bytes())?;
    if args.json {
        data(&store::to_json(&comparison.summary())?)?;
    } else if args.csv {
        let bytes = compare::csv(&comparison.lines, &comparison.averages)?;
        data(&String::from_utf8_lossy(&bytes))?;
    } else {
        print(&shown_table(&comparison))?;
    }
    for failure in &comparison.failures {
        note(&bad(&format!("✘ {}, {}: {}", failure.workload, failure.policy, failure.message)));
    }
    let looked_up = comparison.runs.iter().filter(|run| run.looked_up).count();
    let looked_up = if looked_up > 0 { format!("; {looked_up} runs looked up") } else { String::new() };
    note(&faint(&format!("report in {}, runs in {}{looked_up}", html.display(), args.runs.store.display())));
    Ok(u8::from(!comparison.failures.is_empty()))
}

fn request(args: &CompareArgs) -> Result<CompareRequest, Problem> {
    let full = matches!(args.runs.size, Size::Full);
    Ok(CompareRequest {
        programs: programs(&args.programs, &choice(args.runs.size))?,
        policies: args.policies.clone(),
        gpu: args.gpu.clone(),
        set: args.set.clone(),
        scheduler: args.baseline.map(|scheduler| match scheduler {
            BaselineScheduler::Gto => Scheduler::Gto,
            BaselineScheduler::TwoLevel => Scheduler::TwoLevel,
            BaselineScheduler::Lrr => Scheduler::Lrr,
        }),
        power: PowerOptions { leakage_split: args.leakage.into(), ..PowerOptions::default() },
        sample_cycles: Some(args.sample_cycles.unwrap_or(if full { 100_000 } else { 5_000 })),
    })
}

/// Workloads and launch descriptions; `all` is every workload.
pub(super) fn programs(names: &[String], size: &str) -> Result<Vec<ProgramRequest>, Problem> {
    let mut programs = Vec::new();
    for name in names {
        if name == "all" {
            let all = warpwatt_workloads::all().iter();
            programs.extend(all.map(|w| ProgramRequest::Workload(w.name.to_owned(), size.to_owned())));
        } else {
            programs.push(program(name, size)?);
        }
    }
    Ok(programs)
}

/// A workload or a launch description.
pub(super) fn program(name: &str, size: &str) -> Result<ProgramRequest, Problem> {
    let is = |extension: &str| Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    if is("ptx") {
        let problem = Problem::input("args::ptx", format!("`{name}` has no launch"));
        return Err(problem.help("write a launch description (.toml) for it: docs/running.md"));
    }
    Ok(match is("toml") {
        true => ProgramRequest::Job(PathBuf::from(name)),
        false => ProgramRequest::Workload(name.to_owned(), size.to_owned()),
    })
}

/// The table as people read it; the best of each column has a mark.
fn shown_table(comparison: &Comparison) -> String {
    let mut out = String::new();
    for workload in &comparison.plan.workloads {
        let lines: Vec<&Line> = comparison.of(workload).collect();
        let title = comparison.runs.iter().zip(&comparison.plan.runs);
        let size = title.filter(|(_, run)| comparison.plan.workloads[run.workload] == *workload).map(|(done, _)| {
            let text = |pointer: &str| done.record.inputs.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default();
            match text("/program/size") {
                "" => format!("on {}", text("/gpu/name")),
                size => format!("({size}) on {}", text("/gpu/name")),
            }
        });
        out += &format!("\n{} {}\n", heading(workload), faint(&size.take(1).collect::<String>()));
        out += &rows(&lines);
    }
    if !comparison.averages.is_empty() {
        out += &format!("\n{} {}\n", heading("average"), faint("(geometric of ratios, arithmetic of the rest)"));
        out += &rows(&comparison.averages.iter().collect::<Vec<_>>());
    }
    out + &faint("\n * best of its column; ratios and shares are against the baseline above\n")
}

fn rows(lines: &[&Line]) -> String {
    let best: Vec<Vec<bool>> = COLUMNS.iter().map(|column| column.best(lines)).collect();
    let row = |(at, line): (usize, &&Line)| {
        let figure = |(column, best): (&compare::Column, &Vec<bool>)| {
            let text = match (&line.policy, column.key) {
                (None, "time") => si(line.figures.seconds, "s"),
                (None, "energy") => si(line.figures.joules, "J"),
                (None, "unit_energy") => si(line.figures.unit_joules, "J"),
                (None, _) => String::new(),
                _ => column.text(&line.figures),
            };
            text + if best[at] { "*" } else { "\u{a0}" }
        };
        [line.name()].into_iter().chain(COLUMNS.iter().zip(&best).map(figure)).collect::<Vec<_>>()
    };
    let header: Vec<String> =
        ["".to_owned()].into_iter().chain(COLUMNS.iter().map(|c| format!("{}\u{a0}", c.title))).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = lines.iter().enumerate().map(row).collect();
    table(&header, &rows, 1).replace('\u{a0}', " ").lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
