//! A comparison as a page: one HTML file that needs no network and no script, light and dark, for wide and narrow screens.
//!
//! Charts are SVG whose horizontal places are percentages, so that they fit any width while their text stays as it is. The
//! same comparison gives the same bytes.

mod bars;
mod document;
mod energy;
mod history;

use crate::compare::{COLUMNS, Comparison, Done, Line, Run};
use maud::{Markup, html};

pub(crate) use document::document;

/// Workloads up to this many are shown unfolded.
const UNFOLDED: usize = 2;

/// The page.
pub fn page(c: &Comparison) -> String {
    let workloads = c.plan.workloads.iter().enumerate();
    let alone = c.averages.is_empty();
    let main = html! {
        @if !c.failures.is_empty() { (failures(c)) }
        @if !alone {
            section {
                h2 { "Averages over " (c.plan.workloads.len()) " workloads" }
                p.note { "Geometric means of ratios, arithmetic means of shares and counts." }
                (table(&c.averages.iter().collect::<Vec<_>>()))
                (figures(&c.averages.iter().collect::<Vec<_>>()))
            }
        }
        @for (index, name) in workloads {
            details.workload open[index < UNFOLDED] {
                summary { h2 { (name) } }
                (workload(c, index, name))
            }
        }
        (legend())
    };
    document(&title(c), &subtitle(c), "", &main)
}

fn title(c: &Comparison) -> String {
    let names = &c.plan.workloads;
    match names.len() {
        0..=4 => names.join(", "),
        n => format!("{n} workloads"),
    }
}

fn subtitle(c: &Comparison) -> String {
    let inputs = c.runs.first().map(|d| &d.record.inputs);
    let text = |pointer: &str| inputs.and_then(|i| i.pointer(pointer)?.as_str()).unwrap_or_default();
    let size = match text("/program/size") {
        "" => String::new(),
        size => format!(" · {size} inputs"),
    };
    let policies: Vec<&str> = c.plan.policies.iter().map(|p| p.name.as_str()).collect();
    format!("on {}{size} · {} · warpwatt {}", text("/gpu/name"), policies.join(", "), text("/version"))
}

fn failures(c: &Comparison) -> Markup {
    html! {
        section.bad {
            h2 { "Runs that failed" }
            ul { @for f in &c.failures { li { b { (f.workload) ", " (f.policy) } ": " (f.message) } } }
        }
    }
}

/// Everything about one workload.
fn workload(c: &Comparison, index: usize, name: &str) -> Markup {
    let lines: Vec<&Line> = c.of(name).collect();
    let all = c.plan.runs.iter().zip(&c.runs);
    let runs: Vec<Shown> = all.filter(|(run, _)| run.workload == index).map(|(r, d)| Shown::of(c, r, d)).collect();
    html! {
        (table(&lines))
        (figures(&lines))
        (energy::energy(&runs))
        (history::idle(&runs))
        (history::timeline(&runs))
    }
}

/// A run as charts show it.
struct Shown<'c> {
    name: String,
    done: &'c Done,
    /// The run of its baseline; its own if it is one.
    baseline: Option<&'c Done>,
}

impl<'c> Shown<'c> {
    fn of(c: &'c Comparison, run: &Run, done: &'c Done) -> Shown<'c> {
        let group = &c.plan.groups[run.group].name;
        let name = if run.policy.is_none() { format!("baseline ({group})") } else { c.plan.name_of(run) };
        let same = |r: &Run| r.workload == run.workload && r.group == run.group && r.policy.is_none();
        let baseline = c.plan.runs.iter().position(same).and_then(|at| c.runs.get(at));
        Shown { name, done, baseline }
    }
}

/// The table, the best of each column marked.
fn table(lines: &[&Line]) -> Markup {
    let best: Vec<Vec<bool>> = COLUMNS.iter().map(|column| column.best(lines)).collect();
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr { th { "policy" } @for c in &COLUMNS { th title=(c.meaning) { (c.title) } } }
                }
                tbody {
                    @for (row, line) in lines.iter().enumerate() {
                        tr.baseline[line.policy.is_none()] {
                            th { (line.name()) }
                            @for (column, best) in COLUMNS.iter().zip(&best) {
                                td.best[best[row]] { (column.text(&line.figures)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A bar chart of each column.
fn figures(lines: &[&Line]) -> Markup {
    html! {
        div.cards { @for column in &COLUMNS { (bars::card(column, lines)) } }
    }
}

/// What the columns mean.
fn legend() -> Markup {
    html! {
        section.meanings {
            h2 { "What the figures mean" }
            dl { @for c in &COLUMNS { dt { (c.title) } dd { (c.meaning) "." } } }
        }
    }
}

/// The rows of a bar chart: names stand beside the bars, or above them if one of them is long.
struct Rows {
    /// Height of a row.
    height: usize,
    /// Base line of the name within it.
    name: usize,
    /// Upper edge of the bar.
    bar: usize,
    /// Base line of the figure.
    value: usize,
    /// Where bars begin, as a share of the width.
    from: f64,
}

impl Rows {
    /// Longest name beside bars of a narrow chart, characters.
    const LONGEST: usize = 16;
    /// Height of a bar.
    const BAR: usize = 16;

    /// Rows with these names; `beside`: the names' part of the width.
    fn of<'n>(mut names: impl Iterator<Item = &'n str>, beside: f64) -> Rows {
        if names.any(|name| name.chars().count() > Rows::LONGEST) {
            Rows { height: 38, name: 13, bar: 18, value: 30, from: 0.0 }
        } else {
            Rows { height: 22, name: 15, bar: 3, value: 15, from: beside }
        }
    }
}

/// A share as text.
pub(crate) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A percentage as SVG has it.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}
