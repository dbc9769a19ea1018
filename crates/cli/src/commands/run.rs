//! `run` and `resume`.

use crate::args::{Energies, ResumeArgs, RunArgs};
use crate::output::{data, faint, note, print};
use crate::progress::Line;
use crate::show;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use warpwatt_lab::compare::{is_scheduler, two_schedulers};
use warpwatt_lab::job::quick::Quick;
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::{ProgramRequest, Request};
use warpwatt_lab::run::{self, Controls, Every, Finished};
use warpwatt_lab::store::to_json;
use warpwatt_power::{Arithmetic, PowerOptions};

/// Runs a program.
pub fn run(args: RunArgs) -> Result<u8, Problem> {
    let request = request(&args)?;
    let every = args.checkpoint_every.as_deref().map(str::parse::<Every>).transpose()?;
    let line = Line::new();
    let controls = Controls {
        directory: args.out.clone(),
        force: args.force,
        checkpoint_every: every,
        trace: args.trace.clone(),
        // A functional run has no checkpoints: Ctrl-C just ends it.
        interrupted: if args.functional { Arc::default() } else { watch_signals()? },
        report: line.reporter(),
        ..Controls::default()
    };
    let finished = run::run(&request, controls);
    line.finish();
    let finished = finished?;
    if let (Some(path), None) = (&args.trace, &finished.resumable) {
        note(&faint(&format!("timeline in {} (open it at ui.perfetto.dev)", path.display())));
    }
    tell(finished, args.json)
}

/// Goes on with a run.
pub fn resume(args: ResumeArgs) -> Result<u8, Problem> {
    let every = args.checkpoint_every.as_deref().map(str::parse::<Every>).transpose()?;
    let line = Line::new();
    let controls = Controls {
        directory: Some(args.directory.clone()),
        checkpoint_every: every,
        interrupted: watch_signals()?,
        report: line.reporter(),
        ..Controls::default()
    };
    let finished = run::resume(&args.directory, args.threads, controls);
    line.finish();
    tell(finished?, args.json)
}

/// Prints what came out.
fn tell(finished: Finished, json: bool) -> Result<u8, Problem> {
    let mut code = finished.record.exit_code();
    if json {
        data(&to_json(&finished.with_host()?)?)?;
    } else {
        print(&show::result(&finished.record, finished.host.as_ref()))?;
    }
    if let Some(problem) = finished.failure {
        code = code.max(problem.exit_code());
        crate::output::draw(problem);
    }
    if finished.looked_up {
        note(&faint(&format!("looked up, not simulated again ({}); --force simulates", place(&finished.directory))));
    } else if let (Some(directory), None) = (&finished.directory, &finished.resumable) {
        note(&faint(&format!("written to {}", directory.display())));
    }
    if let Some(directory) = &finished.resumable {
        note(&format!("To go on: warpwatt resume {}", directory.display()));
    }
    Ok(code)
}

fn place(directory: &Option<PathBuf>) -> String {
    directory.as_ref().map_or_else(String::new, |d| d.display().to_string())
}

/// A flag that the first Ctrl-C or SIGTERM sets; a second one ends the program at once.
pub(super) fn watch_signals() -> Result<Arc<AtomicBool>, Problem> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let second = signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&flag));
        let first = second.and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
        first.map_err(|e| Problem::run("run::signals", format!("cannot watch for Ctrl-C: {e}")))?;
    }
    Ok(flag)
}

fn request(args: &RunArgs) -> Result<Request, Problem> {
    let mut set = args.set.clone();
    if let Some(scheduler) = args.scheduler {
        if let Some(own) = set.iter().rfind(|setting| is_scheduler(setting)) {
            return Err(two_schedulers(&format!("--scheduler {}", choice(scheduler)), own));
        }
        set.push(format!("scheduler={}", choice(scheduler)));
    }
    Ok(Request {
        program: program(args)?,
        gpu: args.gpu.clone(),
        policy: policy(&args.policy)?,
        set,
        functional: args.functional,
        max_cycles: args.max_cycles,
        sample_cycles: args.sample_cycles,
        sm_mhz: args.sm_mhz,
        mem_mhz: args.mem_mhz,
        registers: args.registers,
        power: PowerOptions {
            leakage_split: args.leakage.into(),
            arithmetic: match args.energies {
                Energies::Gpuwattch => Arithmetic::Gpuwattch,
                Energies::Physical => Arithmetic::Physical,
            },
            lane_clock_gating: args.lane_clock_gating,
            ..PowerOptions::default()
        },
        threads: args.threads,
        skip: !args.no_skip,
    })
}

/// What `--policy` names; nothing if it is not given.
pub(super) fn policy(given: &Option<String>) -> Result<String, Problem> {
    match given {
        Some(given) if given.trim().is_empty() => {
            let problem = Problem::input("policy::no-name", "`--policy` names no policy");
            Err(problem.help("leave --policy out; `always-on` is a policy that changes nothing"))
        }
        given => Ok(given.clone().unwrap_or_default()),
    }
}

/// The name that a choice has on the command line.
pub(super) fn choice(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
}

fn program(args: &RunArgs) -> Result<ProgramRequest, Problem> {
    let name = &args.program;
    let is = |extension: &str| Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    let ptx_only = [
        ("--kernel", args.kernel.is_some()),
        ("--grid", args.grid.is_some()),
        ("--block", args.block.is_some()),
        ("--shared-bytes", args.shared_bytes.is_some()),
        ("--arg", !args.args.is_empty()),
    ];
    let stray = |option: &str, goes_with: &str| {
        Err(Problem::input("args::stray", format!("`{option}` goes with {goes_with}, not with `{name}`")))
    };
    if let Some((option, _)) = ptx_only.into_iter().find(|(_, given)| *given && !is("ptx")) {
        return stray(option, "a PTX file");
    }
    if (is("toml") || is("ptx")) && args.size.is_some() {
        return stray("--size", "a workload");
    }
    if is("toml") {
        return Ok(ProgramRequest::Job(PathBuf::from(name)));
    }
    if !is("ptx") {
        let size = args.size.map_or("small".to_owned(), choice);
        return Ok(ProgramRequest::Workload(name.clone(), size));
    }
    let needed = |option: &str, value: &Option<String>| {
        value.clone().ok_or_else(|| {
            let problem = Problem::input("args::missing", format!("a PTX file needs `{option}`"));
            problem.help("for example --grid 256 --block 256 --arg u32:65536 --arg buf:f32:65536:uniform")
        })
    };
    let quick = Quick {
        kernel: args.kernel.clone(),
        grid: needed("--grid", &args.grid)?,
        block: needed("--block", &args.block)?,
        shared_bytes: args.shared_bytes,
        args: args.args.clone(),
    };
    Ok(ProgramRequest::Quick(PathBuf::from(name), quick))
}
