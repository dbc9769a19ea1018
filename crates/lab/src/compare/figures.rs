//! The figures of a comparison's table, each declared once: name, meaning, which end is best, how it is shown.

use super::Failure;
use serde::Serialize;

/// What a line says of a run. Where a baseline is meant, it is the line's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Simulated time.
    pub seconds: f64,
    /// Core cycles.
    pub cycles: u64,
    /// Time over the baseline's.
    pub time: Option<f64>,
    /// INT leakage saved.
    pub int_saved: Option<f64>,
    /// FP leakage saved.
    pub fp_saved: Option<f64>,
    /// Lanes gated, INT, FP and SFU.
    pub gatings: Option<f64>,
    /// Overhead energy over the baseline's leakage.
    pub overhead: Option<f64>,
    /// Energy of the chip and DRAM, J.
    pub joules: f64,
    /// The same over the baseline's.
    pub energy: Option<f64>,
    /// Energy of INT, FP and SFU, J.
    pub unit_joules: f64,
    /// The same over the baseline's.
    pub unit_energy: Option<f64>,
    /// Energy × time over the baseline's.
    pub edp: Option<f64>,
    /// Energy × time² over the baseline's.
    pub ed2p: Option<f64>,
    /// Static power over the baseline's.
    pub static_power: Option<f64>,
    /// Dynamic power over the baseline's.
    pub dynamic_power: Option<f64>,
    /// L1 data stall cycles per miss.
    pub stalls: Option<f64>,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Workload; empty in averages.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workload: String,
    /// Policy; `None` for a baseline.
    pub policy: Option<String>,
    /// The baseline's name.
    pub baseline: String,
    /// What a search has chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// The run's key; empty in averages.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Line {
    /// What the line is called.
    pub fn name(&self) -> String {
        let name = self.policy.clone().unwrap_or_else(|| format!("baseline ({})", self.baseline));
        self.chosen.iter().fold(name, |name, chosen| format!("{name} ({chosen})"))
    }
}

/// How a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A ratio to the baseline.
    Ratio,
    /// A share, as percentage.
    Share,
    /// A count.
    Count,
    /// A figure with decimals.
    Number,
}

/// How figures of several workloads become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// Of ratios.
    Geometric,
    /// Of shares and counts.
    Arithmetic,
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in CSV and JSON.
    pub key: &'static str,
    /// Its head.
    pub title: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// A line's figure.
    pub figure: fn(&Figures) -> Option<f64>,
    /// More is better.
    pub more_is_better: bool,
    /// Of lines that gate nothing it says nothing: they are never best.
    pub only_gating: bool,
    /// How it is shown.
    pub show: Show,
}

/// The table's columns.
pub const COLUMNS: [Column; 12] = [
    Column {
        key: "time",
        title: "time",
        meaning: "simulated time over the baseline's",
        figure: |f| f.time,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "int_saved",
        title: "INT saved",
        meaning: "leakage of the INT lanes saved, what transitions cost taken off: 1 − leaked cycles / (lanes × the \
                  baseline's cycles); not available where the kernel has no instruction for them",
        figure: |f| f.int_saved,
        more_is_better: true,
        only_gating: false,
        show: Show::Share,
    },
    Column {
        key: "fp_saved",
        title: "FP saved",
        meaning: "the same of the FP lanes",
        figure: |f| f.fp_saved,
        more_is_better: true,
        only_gating: false,
        show: Show::Share,
    },
    Column {
        key: "gatings",
        title: "gatings",
        meaning: "gating events: lanes of INT, FP and SFU gated, counted each time",
        figure: |f| f.gatings,
        more_is_better: false,
        only_gating: true,
        show: Show::Count,
    },
    Column {
        key: "overhead",
        title: "overhead",
        meaning: "energy of transitions and of hardware that the policy adds, over the baseline's INT, FP and SFU leakage",
        figure: |f| f.overhead,
        more_is_better: false,
        only_gating: true,
        show: Show::Share,
    },
    Column {
        key: "unit_energy",
        title: "unit energy",
        meaning: "energy of INT, FP and SFU over the baseline's",
        figure: |f| f.unit_energy,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "energy",
        title: "energy",
        meaning: "energy of the chip and DRAM over the baseline's",
        figure: |f| f.energy,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "edp",
        title: "EDP",
        meaning: "energy × time over the baseline's",
        figure: |f| f.edp,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "ed2p",
        title: "ED²P",
        meaning: "energy × time² over the baseline's",
        figure: |f| f.ed2p,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "static_power",
        title: "static",
        meaning: "average static power over the baseline's: leakage, transitions and added hardware",
        figure: |f| f.static_power,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "dynamic_power",
        title: "dynamic",
        meaning: "average dynamic power over the baseline's",
        figure: |f| f.dynamic_power,
        more_is_better: false,
        only_gating: false,
        show: Show::Ratio,
    },
    Column {
        key: "stalls_per_miss",
        title: "L1 stalls",
        meaning: "L1 data stall cycles per read miss",
        figure: |f| f.stalls,
        more_is_better: false,
        only_gating: false,
        show: Show::Number,
    },
];

impl Column {
    /// As text.
    pub fn text(&self, figures: &Figures) -> String {
        match (self.show, (self.figure)(figures)) {
            (_, None) => "n/a".to_owned(),
            (Show::Ratio, Some(v)) => format!("{v:.3}"),
            (Show::Share, Some(v)) => {
                let text = format!("{:.1} %", 100.0 * v);
                if text == "-0.0 %" { "0.0 %".to_owned() } else { text }
            }
            (Show::Count, Some(v)) => count(v),
            (Show::Number, Some(v)) => format!("{v:.2}"),
        }
    }

    /// The best lines of some: none if fewer than two have the figure.
    pub fn best(&self, lines: &[&Line]) -> Vec<bool> {
        let figure = |line: &&Line| -> Option<f64> {
            let gates = line.figures.gatings.is_some_and(|g| g > 0.0);
            (self.figure)(&line.figures).filter(|_| line.policy.is_some() && (gates || !self.only_gating))
        };
        let figures: Vec<Option<f64>> = lines.iter().map(figure).collect();
        if figures.iter().flatten().count() < 2 {
            return vec![false; lines.len()];
        }
        let better = |a: f64, b: f64| if self.more_is_better { a.max(b) } else { a.min(b) };
        let best = figures.iter().flatten().copied().reduce(better);
        figures.iter().map(|f| f.is_some() && *f == best).collect()
    }

    /// How several workloads' figures become one.
    pub fn mean(&self) -> Mean {
        if self.show == Show::Ratio { Mean::Geometric } else { Mean::Arithmetic }
    }
}

/// A count in four digits at most: `12.3 M`.
fn count(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

/// The average of some figures, the same bits on every machine, over those that are available.
pub fn average(mean: Mean, figures: &[Option<f64>]) -> Option<f64> {
    let values: Vec<f64> = figures.iter().flatten().copied().collect();
    let n = values.len() as f64;
    match mean {
        _ if values.is_empty() => None,
        Mean::Arithmetic => Some(values.iter().sum::<f64>() / n),
        Mean::Geometric if values.iter().any(|v| *v <= 0.0) => None,
        Mean::Geometric => Some(libm::exp(values.iter().map(|v| libm::log(*v)).sum::<f64>() / n)),
    }
}

/// A comparison as data.
#[derive(Debug, Serialize)]
pub struct Summary<'c> {
    /// GPU.
    pub gpu: &'c str,
    /// Workloads.
    pub workloads: &'c [String],
    /// What the figures mean.
    pub columns: std::collections::BTreeMap<&'static str, &'static str>,
    /// The table.
    pub lines: &'c [Line],
    /// Averages over the workloads: geometric of ratios, arithmetic of the rest.
    pub averages: &'c [Line],
    /// Runs that failed.
    pub failures: &'c [Failure],
}
