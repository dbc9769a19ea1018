//! What a caller of a run decides besides its inputs, and what it is told meanwhile.

use crate::problem::Problem;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What kind of simulation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Results only.
    Functional,
    /// Cycles and energy too.
    Timing,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Kind.
    pub stage: Stage,
    /// Kernel of the launch under way.
    pub kernel: String,
    /// Launches completed before.
    pub launch: u64,
    /// Core cycles.
    pub cycles: u64,
    /// Warp instructions.
    pub warp_instructions: u64,
    /// CTAs of this launch that are done.
    pub ctas_done: u64,
    /// CTAs of this launch.
    pub ctas_total: u64,
}

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// Seconds of wall time.
    Seconds(f64),
    /// Core cycles of simulated time.
    Cycles(u64),
}

/// Legal intervals. A checkpoint takes some milliseconds, and is considered every few thousand cycles.
const SECONDS: RangeInclusive<f64> = 0.1..=30.0 * 86_400.0;
const CYCLES: RangeInclusive<f64> = 1e3..=1e12;

impl FromStr for Every {
    type Err = Problem;

    /// `30s`, `5min`, `1.5h`, `500000cycles`.
    fn from_str(text: &str) -> Result<Every, Problem> {
        let wrong = || {
            let problem = Problem::input("run::every", format!("`{text}` is no interval for checkpoints"));
            problem.help("write 30s, 5min, 1h (0.1s to 720h), or 500000cycles (1000 to 1000000000000)")
        };
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit_at);
        let number: f64 = number.replace('_', "").parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "ms" => 1e-3 * number,
            "s" | "sec" | "seconds" => number,
            "m" | "min" | "minutes" => 60.0 * number,
            "h" | "hours" => 3600.0 * number,
            "cycles" | "cycle" | "cy" if CYCLES.contains(&number) => return Ok(Every::Cycles(number as u64)),
            _ => return Err(wrong()),
        };
        if SECONDS.contains(&seconds) { Ok(Every::Seconds(seconds)) } else { Err(wrong()) }
    }
}

/// Is told now and then how far the run is.
pub type Reporter = Box<dyn FnMut(&Report) + Send>;

/// What a caller decides.
pub struct Controls {
    /// The run directory; without one nothing is written but checkpoints.
    pub directory: Option<PathBuf>,
    /// Simulate even if the directory holds a run.
    pub force: bool,
    /// While another run writes into the directory: wait for its end. Otherwise this one is refused.
    pub wait: bool,
    /// Write checkpoints.
    pub checkpoint_every: Option<Every>,
    /// Write a timeline of the run here, for a trace viewer; the run is then not looked up.
    pub trace: Option<PathBuf>,
    /// Set from outside to end the run with a checkpoint.
    pub interrupted: Arc<AtomicBool>,
    /// Is told how far the run is.
    pub report: Reporter,
}

impl Default for Controls {
    fn default() -> Self {
        Controls {
            directory: None,
            force: false,
            wait: false,
            checkpoint_every: None,
            trace: None,
            interrupted: Arc::default(),
            report: Box::new(|_| {}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_times_or_cycles() {
        assert_eq!("30s".parse::<Every>().unwrap(), Every::Seconds(30.0));
        assert_eq!("1.5h".parse::<Every>().unwrap(), Every::Seconds(5400.0));
        assert_eq!("5min".parse::<Every>().unwrap(), Every::Seconds(300.0));
        assert_eq!("500_000cycles".parse::<Every>().unwrap(), Every::Cycles(500_000));
        assert_eq!("720h".parse::<Every>().unwrap(), Every::Seconds(2_592_000.0));
        let absurd = ["0s", "1ms", "721h", "0cycles", "999cycles", "2000000000000cycles"];
        for wrong in ["", "30", "s", "-1s", "5 parsecs", "1e400h", "...s"].into_iter().chain(absurd) {
            assert_eq!(wrong.parse::<Every>().unwrap_err().code(), "run::every", "{wrong}");
        }
    }
}
