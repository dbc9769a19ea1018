//! Idle periods by length, and the power states of lanes over time: a small picture per run.

use super::{Shown, percent};
use crate::idle::Histogram;
use crate::power::STATES;
use crate::series::{Lanes, Span};
use maud::{Markup, html};
use warpwatt_machine::activity::{LANE_STATES, LaneState};

const TYPES: [(&str, &str, usize); 2] = [("INT", "int", 0), ("FP", "fp", 1)];

/// Where bins of lengths begin; the last one has no end.
const BINS: [usize; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 44, 64, 96, 128, 256];

/// The time of lanes in idle periods of each length.
pub(super) fn idle(runs: &[Shown]) -> Markup {
    let pictures = |unit: &str, at: usize| -> Vec<(String, Vec<f64>)> {
        let shares = |run: &Shown| {
            let record = &run.done.record;
            let lane_cycles = record.power.as_ref()?.units.get(at)?.lane_cycles;
            let histogram = Histogram::of(record, unit)?;
            let end = |bin: usize| BINS.get(bin + 1).copied().unwrap_or(usize::MAX);
            let cycles = (0..BINS.len()).map(|bin| histogram.cycles_between(BINS[bin], end(bin)));
            Some((run.name.clone(), cycles.map(|c| c as f64 / lane_cycles.max(1) as f64).collect()))
        };
        runs.iter().filter_map(shares).collect()
    };
    html! {
        @for (name, unit, at) in TYPES {
            @let pictures = pictures(unit, at);
            @if !pictures.is_empty() {
                h3 { "Idle periods of " (name) " lanes" }
                p.note { "Share of lane time in idle periods, by their length in cycles." }
                @let top = pictures.iter().flat_map(|p| &p.1).copied().fold(1e-9, f64::max);
                div.cards.small { @for (run, shares) in &pictures { (histogram(run, shares, top)) } }
            }
        }
    }
}

fn histogram(run: &str, shares: &[f64], top: f64) -> Markup {
    let width = 1.0 / BINS.len() as f64;
    let height = 84.0;
    let label = |bin: usize| match BINS.get(bin + 1) {
        Some(next) if next - BINS[bin] == 1 => format!("{} cycles", BINS[bin]),
        Some(next) => format!("{} to {} cycles", BINS[bin], next - 1),
        None => format!("{} cycles or more", BINS[bin]),
    };
    html! {
        figure.card {
            figcaption { (run) span.dim { " highest " (format!("{:.1} %", 100.0 * shares.iter().copied().fold(0.0, f64::max))) } }
            svg width="100%" height="104" role="img" aria-label=(format!("idle periods under {run}")) {
                @for (bin, share) in shares.iter().enumerate() {
                    @let tall = height * share / top;
                    rect.column x=(percent(width * (bin as f64 + 0.1))) y=(format!("{:.2}", height + 2.0 - tall))
                        width=(percent(width * 0.8)) height=(format!("{tall:.2}")) {
                        title { (label(bin)) ": " (format!("{:.2} %", 100.0 * share)) }
                    }
                }
                line.axis x1="0" x2="100%" y1=(height + 2.5) y2=(height + 2.5) {}
                @for bin in [0, 4, 8, 11, 15] {
                    // The last one is longer than its bin is wide, and would be cut off.
                    @if bin + 1 == BINS.len() {
                        text.tick.last x="100%" y="100" { (BINS[bin]) "+" }
                    } @else {
                        text.tick x=(percent(width * (bin as f64 + 0.5))) y="100" { (BINS[bin]) }
                    }
                }
            }
        }
    }
}

/// Columns of a timeline.
const STEPS: usize = 96;

/// What a lane does, as drawn from the bottom up: class, name, lane-cycles.
type Layer = (&'static str, &'static str, fn(&Lanes) -> u64);
const LAYERS: [Layer; 8] = [
    ("s0", "works", |l| l.busy),
    ("s1", "on, idle", |l| l.by_state[LaneState::On as usize].saturating_sub(l.busy)),
    ("s2", "idle-detect", |l| l.by_state[LaneState::IdleDetect as usize]),
    ("s3", "waking up", |l| l.by_state[LaneState::Waking as usize]),
    ("s4", "VS0.5", |l| l.by_state[LaneState::Vs05 as usize]),
    ("s5", "VS0.3", |l| l.by_state[LaneState::Vs03 as usize]),
    ("s6", "blackout", |l| l.by_state[LaneState::Blackout as usize]),
    ("s7", "gated", |l| l.by_state[LaneState::Gated as usize]),
];

// Every state has a layer, and what works is on.
const _: () = assert!(LAYERS.len() == LANE_STATES + 1 && STATES.len() == LANE_STATES);

/// What lanes do over time, of runs that counted it: without a policy on lanes, nobody knows when they work.
pub(super) fn timeline(runs: &[Shown]) -> Markup {
    let end = |run: &Shown| run.done.spans.last().map_or(0.0, |s| s.end);
    let counted = |run: &&Shown| TYPES.iter().all(|(_, unit, _)| Histogram::of(&run.done.record, unit).is_some());
    let runs: Vec<&Shown> = runs.iter().filter(counted).filter(|run| end(run) > 0.0).collect();
    let longest = runs.iter().map(|run| end(run)).fold(0.0, f64::max);
    if runs.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Lanes over time" }
        p.note { "Shares of the lanes by what they do; from left to right " (microseconds(longest)) " of simulated time." }
        ul.legend { @for (class, name, _) in LAYERS { li { i class=(class) {} (name) } } }
        @for (name, _, at) in TYPES {
            h4 { (name) " lanes" }
            div.strips {
                @for run in &runs {
                    div.strip {
                        span { (run.name) }
                        svg width="100%" height="44" viewBox=(format!("0 0 {STEPS} 100")) preserveAspectRatio="none" role="img"
                            aria-label=(format!("{name} lanes over time under {}", run.name)) {
                            (layers(&run.done.spans, at, longest))
                        }
                    }
                }
            }
        }
    }
}

fn microseconds(seconds: f64) -> String {
    format!("{:.1} µs", 1e6 * seconds)
}

/// A shape per layer, over the columns in which the run is still going.
fn layers(spans: &[Span], unit: usize, longest: f64) -> Markup {
    let columns = resample(spans, unit, longest);
    html! {
        @for (layer, (class, name, _)) in LAYERS.iter().enumerate() {
            @if columns.iter().flatten().any(|c| c[layer] > 0.0) {
                path class=(class) d=(shape(&columns, layer)) { title { (name) } }
            }
        }
    }
}

/// Shares of the layers in each column; `None` where the run has ended.
fn resample(spans: &[Span], unit: usize, longest: f64) -> Vec<Option<[f64; LAYERS.len()]>> {
    let width = longest / STEPS as f64;
    let mut columns = vec![[0.0; LAYERS.len()]; STEPS];
    for span in spans.iter().filter(|s| s.end > s.start) {
        let first = ((span.start / width) as usize).min(STEPS - 1);
        let last = ((span.end / width).ceil() as usize).clamp(first + 1, STEPS);
        for (column, sums) in columns.iter_mut().enumerate().take(last).skip(first) {
            let (from, to) = (width * column as f64, width * (column + 1) as f64);
            let part = (span.end.min(to) - span.start.max(from)).max(0.0) / (span.end - span.start);
            for (sum, (.., cycles)) in sums.iter_mut().zip(&LAYERS) {
                *sum += part * cycles(&span.units[unit]) as f64;
            }
        }
    }
    let share = |sums: [f64; LAYERS.len()]| {
        let all: f64 = sums.iter().sum();
        (all > 0.0).then(|| sums.map(|s| s / all))
    };
    columns.into_iter().map(share).collect()
}

/// A layer's outline: along its upper edge, and back along its lower one.
fn shape(columns: &[Option<[f64; LAYERS.len()]>], layer: usize) -> String {
    let edge = |c: &[f64; LAYERS.len()], layers: usize| 100.0 * (1.0 - c[..layers].iter().sum::<f64>());
    let mut out = String::new();
    let mut at = 0;
    while at < columns.len() {
        let run = columns[at..].iter().take_while(|c| c.is_some()).count();
        let known: Vec<(usize, &[f64; LAYERS.len()])> =
            columns[at..at + run].iter().enumerate().filter_map(|(i, c)| Some((at + i, c.as_ref()?))).collect();
        for (n, (x, c)) in known.iter().enumerate() {
            let start = if n == 0 { format!("M{x} ") } else { "V".to_owned() };
            out += &format!("{start}{:.1}H{}", edge(c, layer + 1), x + 1);
        }
        for (x, c) in known.iter().rev() {
            out += &format!("V{:.1}H{x}", edge(c, layer));
        }
        if !known.is_empty() {
            out.push('Z');
        }
        at += run + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resampling_keeps_shares_and_knows_the_end() {
        let lanes = |busy, on, gated| {
            let mut by_state = [0; LANE_STATES];
            (by_state[LaneState::On as usize], by_state[LaneState::Gated as usize]) = (on, gated);
            Lanes { busy, by_state }
        };
        let span = |start, end, lanes: Lanes| Span {
            start,
            end,
            units: [lanes, Lanes::default(), Lanes::default()],
            ..Span::default()
        };
        let spans = [span(0.0, 1.0, lanes(10, 100, 0)), span(1.0, 2.0, lanes(0, 50, 50))];
        let columns = resample(&spans, 0, 4.0);
        let is = |column: usize, shares: [f64; 3]| {
            columns[column].is_some_and(|c| [c[0], c[1], c[7]].iter().zip(shares).all(|(c, s)| (c - s).abs() < 1e-12))
        };
        assert!(is(0, [0.1, 0.9, 0.0]), "{:?}", columns[0]);
        assert!(is(STEPS / 4, [0.0, 0.5, 0.5]), "{:?}", columns[STEPS / 4]);
        assert!(columns[STEPS / 2..].iter().all(Option::is_none));
        let d = shape(&columns, 0);
        assert!(d.starts_with("M0 90.0H1") && d.ends_with('Z'), "{d}");
    }
}
