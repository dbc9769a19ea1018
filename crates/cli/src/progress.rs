//! Progress on standard error while a run runs: only where somebody watches.

use crate::table::{grouped, si};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use warpwatt_lab::run::{Report, Reporter, Stage};

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
        let bar = ProgressBar::new(0);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template("{spinner} {bar:20} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━╌"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Line { bar, started: Instant::now(), launch: None }
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
        self.bar.set_message(self.message(report, now));
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
