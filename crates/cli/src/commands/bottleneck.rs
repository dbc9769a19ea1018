//! `bottleneck`: which component of the pipeline limits a kernel.

use super::compare::program;
use super::run::{choice, watch_signals};
use super::{load, prepare_output};
use crate::args::{BottleneckArgs, RunsArgs};
use crate::output::{data, faint, heading, note, print};
use crate::progress::Line;
use crate::table::{decimal, percent, table};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use warpwatt_lab::bottleneck::{Bottleneck, SHAPES, analyse, heat};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::record::Record;
use warpwatt_lab::request::{Program, ProgramRequest, Request, each_once};
use warpwatt_lab::run::{self, Controls};
use warpwatt_lab::store::{check_directory, to_json, write_whole};
use warpwatt_policies::full_width;

/// Analyses what limits some programs.
pub fn bottleneck(args: BottleneckArgs) -> Result<u8, Problem> {
    check_directory(&args.runs.store)?;
    let requests: Vec<Request> = args.programs.iter().map(|name| request(&args, name)).collect::<Result<_, _>>()?;
    let programs: Vec<ProgramRequest> = requests.iter().map(|request| request.program.clone()).collect();
    each_once(programs.iter().zip(load(&programs)?.iter().map(Program::name)))?;
    if let Some(html) = &args.html {
        prepare_output(html, &programs, args.gpu.as_deref())?;
    }
    let interrupted = watch_signals()?;
    let mut all = Vec::new();
    let mut worst = 0;
    for request in requests {
        let base = carry_out(&request, &args.runs, &interrupted)?;
        worst = worst.max(base.exit_code());
        let mut analysis = analyse(&base)?;
        for shape in SHAPES.iter().filter(|_| args.verify) {
            let request = Request { policy: (*shape).to_owned(), ..request.clone() };
            analysis.verify(shape, &base, &carry_out(&request, &args.runs, &interrupted)?);
        }
        all.push(analysis);
    }
    if let Some(html) = &args.html {
        write_whole(html, heat::page(&all).as_bytes())?;
        note(&faint(&format!("heat map in {}", html.display())));
    }
    if args.json {
        data(&to_json(&all)?)?
    } else {
        print(&shown(&all))?
    }
    Ok(worst)
}

fn request(args: &BottleneckArgs, name: &str) -> Result<Request, Problem> {
    Ok(Request {
        program: program(name, &choice(args.runs.size))?,
        gpu: args.gpu.clone(),
        policy: full_width::NAME.to_owned(),
        set: args.set.clone(),
        threads: args.threads,
        ..Request::default()
    })
}

/// Runs it, or looks it up.
fn carry_out(request: &Request, runs: &RunsArgs, interrupted: &Arc<AtomicBool>) -> Result<Record, Problem> {
    let mut request = request.clone();
    request.make_absolute()?;
    let directory = run::prepare(&request)?.own_directory(&runs.store);
    let line = Line::new();
    let controls = Controls {
        directory: Some(directory),
        force: runs.force,
        wait: true,
        interrupted: interrupted.clone(),
        report: line.reporter(),
        ..Controls::default()
    };
    let finished = run::run(&request, controls);
    line.finish();
    let finished = finished?;
    match finished.failure {
        Some(problem) => Err(problem),
        None => Ok(finished.record),
    }
}

fn shown(all: &[Bottleneck]) -> String {
    let mut out = String::new();
    if all.len() > 1 {
        out += &format!("\n{}\n{}", heading("Utilization, %"), utilizations(all));
    }
    for b in all {
        out += &format!("\n{}\n{}", heading(&b.title), components(b));
        out += &format!(
            " response time of EX_LDST {} cycles, memory latency {} cycles, L1 stall cycles per miss {}, DRAM use {}\n",
            decimal(b.response_time, 1),
            decimal(b.memory_latency, 1),
            decimal(b.stalls_per_miss, 2),
            percent(b.dram_use)
        );
        out += &format!(" {}\n", b.conclusion());
        if !b.verified.is_empty() {
            let row = |v: &warpwatt_lab::bottleneck::Verified| {
                let time = |t: f64| decimal(Some(t), 3);
                vec![v.shape.to_owned(), time(v.predicted), time(v.measured), decimal(v.stalls_per_miss, 3)]
            };
            let rows: Vec<Vec<String>> = b.verified.iter().map(row).collect();
            out += &table(&["half off", "time by the law", "time measured", "L1 stalls per miss"], &rows, 1);
        }
    }
    out += &faint(
        "\n Demand: what a component needs itself; the rest of its utilization waits for what comes after it. With half of a\n \
         component a kernel takes at least, with twice as much it is at most, so many times as long or fast, if all else stays\n \
         as it is (utilization law). EX_LDST and OC_LDST are also held while the L1 stalls, which less width does not prolong\n \
         and may shorten: a kernel takes less time than that where stalls are much of their demand.\n",
    );
    out
}

/// A line a workload.
fn utilizations(all: &[Bottleneck]) -> String {
    let mut header = vec![""];
    header.extend(all.first().into_iter().flat_map(|b| b.components.iter().map(|u| u.component)));
    let row = |b: &Bottleneck| {
        let figures = b.components.iter().map(|u| format!("{:.0}", 100.0 * u.utilization));
        std::iter::once(b.program.clone()).chain(figures).collect()
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    table(&header, &rows, 1)
}

fn components(b: &Bottleneck) -> String {
    let row = |u: &warpwatt_lab::bottleneck::Use| {
        let types = u.by_type.map_or(String::new(), |t| {
            let [sp, sfu, mem] = t.map(|share| format!("{:.1}", 100.0 * share));
            format!("SP {sp}, SFU {sfu}, MEM {mem}")
        });
        let bar = "█".repeat((u.utilization.clamp(0.0, 1.0) * 20.0).round() as usize);
        let mark = if u.component == b.binding { " ◀" } else { "" };
        vec![
            format!("{}{mark}", u.component),
            bar,
            types,
            percent(Some(u.utilization)),
            percent(Some(u.demand)),
            decimal(Some(u.halved), 2),
            decimal(Some(u.doubled), 2),
        ]
    };
    let rows: Vec<Vec<String>> = b.components.iter().map(row).collect();
    table(&["", "", "by type, %", "utilization", "demand", "halved: time", "doubled: speed"], &rows, 3)
}
