//! Progress on standard error while a run runs: only where somebody watches.

use crate::output::visible;
use crate::table::{grouped, si};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use warpwatt_lab::compare::Event;
use warpwatt_lab::request::ProgramRequest;
use warpwatt_lab::run::{Report, Reporter, Stage};

/// How far several runs are, all together.
pub struct Runs {
    bar: ProgressBar,
    state: Mutex<State>,
}

/// The runs under way: place, name, and how much of the present launch is done.
#[derive(Default)]
struct State {
    total: usize,
    done: usize,
    running: BTreeMap<usize, (String, f64)>,
}

/// Steps of the bar that a run has.
const STEPS: usize = 100;

impl Runs {
    /// A line on standard error; nothing if that is not a terminal.
    pub fn new() -> Runs {
        Runs { bar: bar(), state: Mutex::default() }
    }

    /// Something happened to a run.
    pub fn update(&self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Runs(total) => state.total = total,
            Event::Begins(at, run) => {
                let name = match &run.request.program {
                    ProgramRequest::Workload(name, _) => name.clone(),
                    ProgramRequest::Job(path) | ProgramRequest::Quick(path, _) => path.display().to_string(),
                };
                state.running.insert(at, (format!("{name} {}", run.request.policy), 0.0));
            }
            Event::Goes(at, report) => {
                if let Some((_, share)) = state.running.get_mut(&at) {
                    *share = report.ctas_done as f64 / report.ctas_total.max(1) as f64;
                }
            }
            Event::Ends(at) => {
                state.running.remove(&at);
                state.done += 1;
            }
        }
        let share: f64 = state.running.values().map(|(_, share)| share).sum();
        self.bar.set_length((state.total * STEPS) as u64);
        self.bar.set_position((state.done * STEPS) as u64 + (share * STEPS as f64) as u64);
        let names: Vec<&str> = state.running.values().map(|(name, _)| name.as_str()).collect();
        let message = format!("{} of {} runs · {}", state.done, state.total, names.join(", "));
        self.bar.set_message(visible(&message, false));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{spinner} {bar:20} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━╌"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A line that is renewed a few times a second.
#[derive(Clone)]
pub struct Line {
    bar: ProgressBar,
    started: Instant,
    /// The launch under way and when it was first seen.
    launch: Option<(u64, Instant)>,
}

impl Line {
    /// A line on standard error; nothing if that is not a terminal.
    pub fn new() -> Line {
        Line { bar: bar(), started: Instant::now(), launch: None }
    }

    /// What a run reports to.
    pub fn reporter(&self) -> Reporter {
        let mut line = self.clone();
        Box::new(move |report| line.update(report))
    }

    /// Shows how far the run is.
    fn update(&mut self, report: &Report) {
        let now = Instant::now();
        if self.launch.is_none_or(|(number, _)| number != report.launch) {
            self.launch = Some((report.launch, now));
        }
        self.bar.set_length(report.ctas_total.max(1));
        self.bar.set_position(report.ctas_done);
        self.bar.set_message(visible(&self.message(report, now), false));
    }

    fn message(&self, report: &Report, now: Instant) -> String {
        let seconds = (now - self.started).as_secs_f64().max(1e-3);
        let mut parts = vec![format!("{} #{}", report.kernel, report.launch + 1)];
        if report.stage == Stage::Timing {
            parts.push(format!("{} cycles", grouped(report.cycles)));
        }
        parts.push(format!("{} warp instructions", grouped(report.warp_instructions)));
        parts.push(match report.stage {
            Stage::Timing => si(report.cycles as f64 / seconds, "cycles/s"),
            Stage::Functional => si(report.warp_instructions as f64 / seconds, "warp instructions/s"),
        });
        if let Some((_, started)) = self.launch {
            let spent = (now - started).as_secs_f64();
            if report.ctas_done > 0 && report.ctas_done < report.ctas_total && spent > 1.0 {
                let left = spent / report.ctas_done as f64 * (report.ctas_total - report.ctas_done) as f64;
                parts.push(format!("{left:.0} s left in this launch"));
            }
        }
        parts.join(" · ")
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
