//! `mix`: several applications at once, against each alone.

use super::compare::program;
use super::prepare_output;
use super::run::{choice, policy, watch_signals};
use crate::args::{MapBy, MixArgs};
use crate::output::{bad, data, faint, heading, note, print};
use crate::progress::Line;
use crate::table::{decimal, grouped, percent, table};
use std::sync::{Arc, Mutex};
use warpwatt_lab::mix::{self, HETERO, Mapping, MixRecord, MixRequest, Mixed};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::store::{to_json, write_whole};
use warpwatt_machine::gpu::mix::Rest;

/// Runs a mix.
pub fn mix(args: MixArgs) -> Result<u8, Problem> {
    let request = request(&args)?;
    if let Some(out) = &args.out {
        prepare_output(out, &request.programs, request.gpu.as_deref())?;
    }
    let line = Line::new();
    let record = mix::mix(&request, &watch_signals()?, &(Arc::new(Mutex::new(line.reporter())) as mix::Watcher));
    line.finish();
    let record = record?;
    if let Some(file) = &args.out {
        write_whole(file, to_json(&record)?.as_bytes())?;
    }
    if args.json {
        data(&to_json(&record)?)?
    } else {
        print(&shown(&record))?
    }
    for share in record.mixes.iter().flat_map(|m| &m.applications) {
        if share.verification.verified == Some(false) {
            note(&bad(&format!("✘ {}: wrong results: {}", share.name, share.verification.detail)));
        }
    }
    Ok(record.exit_code())
}

fn request(args: &MixArgs) -> Result<MixRequest, Problem> {
    let size = choice(args.runs.size);
    let mut cores = args.cores.clone();
    if args.hetero {
        cores.push(HETERO.to_owned());
    }
    let defaults = MixRequest::default();
    Ok(MixRequest {
        programs: args.programs.iter().map(|name| program(name, &size)).collect::<Result<_, _>>()?,
        gpu: args.gpu.clone(),
        set: args.set.clone(),
        policy: policy(&args.policy)?,
        cores: if cores.is_empty() { defaults.cores.clone() } else { cores },
        partition: args.partition.parse()?,
        mapping: args.map.map(|map| match map {
            MapBy::Order => Mapping::Order,
            MapBy::Affinity => Mapping::Affinity,
        }),
        rest: if args.no_restart { Rest::Idle } else { Rest::Again },
        max_cycles: args.max_cycles,
        threads: args.threads,
        skip: !args.no_skip,
        store: args.runs.store.clone(),
        force: args.runs.force,
        ..defaults
    })
}

fn shown(record: &MixRecord) -> String {
    let mut out = String::new();
    for mix in &record.mixes {
        out += &format!("\n{} {}\n", heading(&mix.cores), faint(&format!("on {}", record.gpu)));
        out += &applications(mix);
    }
    out += &format!("\n{}\n{}", heading("chip"), chips(record));
    out += &faint(
        "\n IPC: thread instructions per core cycle in an application's first run. Speedup: IPC in the mix over IPC alone\n \
         on the whole GPU with big cores. Weighted speedup: their sum.\n",
    );
    out
}

fn applications(mix: &Mixed) -> String {
    let header =
        ["application", "cores", "cycles", "IPC alone", "IPC", "speedup", "L1D hits", "L2 hits", "runs", "results"];
    let row = |share: &mix::Share| {
        let cores: Vec<String> = share.cores.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let value = |name: &str| share.values.get(name).and_then(|v| v.as_f64());
        let results = match share.verification.verified {
            Some(true) => "right",
            Some(false) => "wrong",
            None => "not compared",
        };
        vec![
            share.name.clone(),
            cores.join(" + "),
            grouped(share.cycles),
            decimal(Some(share.ipc_alone), 1),
            decimal(Some(share.ipc), 1),
            decimal(Some(share.speedup), 3),
            percent(value("l1d_hit_rate")),
            percent(value("l2_hit_rate")),
            share.runs.to_string(),
            results.to_owned(),
        ]
    };
    table(&header, &mix.applications.iter().map(row).collect::<Vec<_>>(), 2)
}

/// One line for each chip; several are put beside the first.
fn chips(record: &MixRecord) -> String {
    let mut header = vec!["cores", "cycles", "weighted speedup", "power", "static", "dynamic", "DRAM busy"];
    let first = record.mixes.first();
    if record.mixes.len() > 1 {
        header.extend(["speedup ×", "static ×"]);
    }
    let row = |mix: &Mixed| {
        let watts = |watts: f64| format!("{watts:.2} W");
        let mut row = vec![
            mix.cores.clone(),
            grouped(mix.cycles),
            decimal(Some(mix.weighted_speedup), 3),
            watts(mix.watts),
            watts(mix.static_watts),
            watts(mix.dynamic_watts),
            percent(mix.dram_use),
        ];
        if record.mixes.len() > 1 {
            let times = |own: f64, of: fn(&Mixed) -> f64| {
                decimal(first.map(of).filter(|first| *first > 0.0).map(|first| own / first), 3)
            };
            row.push(times(mix.weighted_speedup, |m| m.weighted_speedup));
            row.push(times(mix.static_watts, |m| m.static_watts));
        }
        row
    };
    table(&header, &record.mixes.iter().map(row).collect::<Vec<_>>(), 1)
}
