//! `predict`: run times at other SM clocks.

use super::compare::programs;
use super::prepare_output;
use super::run::{choice, watch_signals};
use crate::args::PredictArgs;
use crate::output::{data, faint, heading, note, print};
use crate::progress::Line;
use crate::table::{percent, si, table};
use serde_json::json;
use std::sync::Arc;
use warpwatt_lab::predict::{self, Errors, Options, PredictRequest, Prediction};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::store;

/// Predicts.
pub fn predict(args: PredictArgs) -> Result<u8, Problem> {
    store::check_directory(&args.runs.store)?;
    let request = PredictRequest {
        programs: programs(&args.programs, &choice(args.runs.size))?,
        gpu: args.gpu.clone(),
        set: args.set.clone(),
        verify: args.verify,
    };
    if let Some(html) = &args.html {
        prepare_output(html, &request.programs, Some(&request.gpu))?;
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let line = Line::new();
    let shown_line = line.clone();
    let options = Options {
        jobs: args.jobs.map_or(cores, |jobs| jobs as usize),
        force: args.runs.force,
        store: args.runs.store.clone(),
        interrupted: watch_signals()?,
        report: Arc::new(move || shown_line.reporter()),
    };
    let predictions = predict::predict(&request, &options);
    line.finish();
    let predictions = predictions?;
    let errors = predict::errors(&predictions);
    if let Some(html) = &args.html {
        store::write_whole(html, predict::page(&predictions).as_bytes())?;
    }
    if args.json {
        data(&store::to_json(&json!({ "programs": predictions, "errors": errors }))?)?;
        return Ok(0);
    }
    let mut out: String = predictions.iter().map(shown).collect();
    if predictions.len() > 1 && !errors.is_empty() {
        out += &overall(&errors, predictions.len());
    }
    print(&out)?;
    if let Some(html) = &args.html {
        note(&format!("Plots: {}", html.display()));
    }
    Ok(0)
}

fn shown(p: &Prediction) -> String {
    let b = &p.breakdown;
    let share = |v: f64| percent(Some(v));
    let parts = vec![vec![
        share(b.overlapped_computation),
        share(b.load_stall),
        share(b.exposed_computation),
        share(b.store_stall),
    ]];
    let titles = ["computation under loads", "load stalls", "exposed computation", "store stalls"];
    let mut out = format!("\n{}\n\n{}\n", heading(&p.title), heading("Where the time goes"));
    out += &table(&titles, &parts, 0);
    let mut header: Vec<String> = vec!["".into(), "T_Memory".into()];
    header.extend(p.states.iter().map(|s| format!("{} MHz", s.mhz)));
    let verified = p.models.iter().all(|m| m.mape.is_some());
    if verified {
        header.extend(["MAPE".into(), "largest".into()]);
    }
    let row = |m: &predict::Predicted| {
        let times = m.seconds.iter().enumerate().map(|(at, seconds)| match m.errors.get(at) {
            Some(error) if verified => format!("{} {:+.1} %", si(*seconds, "s"), 100.0 * error),
            _ => si(*seconds, "s"),
        });
        let mut row = vec![m.model.to_owned(), share(m.memory)];
        row.extend(times);
        if verified {
            row.extend([percent(m.mape), percent(m.max)]);
        }
        row
    };
    let mut rows: Vec<Vec<String>> = p.models.iter().map(row).collect();
    let measured = |name: &str, unit: &str, f: &dyn Fn(&predict::State) -> Option<f64>| {
        let figures = p.states.iter().map(|s| f(s).map_or_else(String::new, |v| si(v, unit)));
        [name.to_owned(), String::new()].into_iter().chain(figures).collect::<Vec<_>>()
    };
    rows.push(measured("true time", "s", &|s| s.seconds));
    rows.push(measured("true energy", "J", &|s| s.joules));
    out += &format!("\n{}\n", heading("Run time"));
    out += &table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows, 1);
    if let Some(o) = &p.oracle {
        let best = |name: &str, (mhz, left): (f64, f64)| format!("{name} at {mhz} MHz ({:.3} of nominal)", left);
        let list = [best("EDP", o.edp), best("ED²P", o.ed2p), best("energy within 1 % of time", o.energy)];
        out += &faint(&format!("\n Best of the P-states run: {}\n", list.join(", ")));
    }
    out
}

fn overall(errors: &[Errors], programs: usize) -> String {
    let states = errors.first().map_or(&[][..], |e| &e.by_state);
    let mut header: Vec<String> = vec!["".into(), "MAPE".into(), "largest".into(), "of".into()];
    header.extend(states.iter().map(|(mhz, _)| format!("{mhz} MHz")));
    let row = |e: &Errors| {
        let mut row = vec![e.model.to_owned(), percent(Some(e.mape)), percent(Some(e.max)), e.worst.clone()];
        row.extend(e.by_state.iter().map(|(_, off)| percent(Some(*off))));
        row
    };
    let rows: Vec<Vec<String>> = errors.iter().map(row).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    format!("\n{}\n{}", heading(&format!("Errors over {programs} programs")), table(&header, &rows, 1))
}
