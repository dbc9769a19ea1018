//! Predictions as a page: run time over cycle time for each program, as CRISP's Fig. 10 has it, and where time goes, as its
//! Fig. 7.

use super::{Prediction, errors};
use crate::report::{document, percent, share};
use maud::{Markup, html};

/// Size of a chart.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
/// Its margins: left, right, top, bottom.
const MARGIN: [f64; 4] = [44.0, 12.0, 10.0, 34.0];

/// Least distance of two marks on the clocks' axis: the width of one.
const APART: f64 = 30.0;

/// Of the page alone: a chart scrolls in its card rather than have text that nobody can read.
const OWN: &str = "
.chart { min-width: 28rem; }
";

/// The page.
pub fn page(predictions: &[Prediction]) -> String {
    let overall = errors(predictions);
    let main = html! {
        @if !overall.is_empty() {
            h2 { "Errors over " (predictions.len()) " programs" }
            div.scroll tabindex="0" { table {
                thead { tr { th { "model" } th { "mean" } th { "largest" } th { "of" }
                    @for (mhz, _) in &overall[0].by_state { th { (mhz) " MHz" } } } }
                tbody { @for e in &overall { tr {
                    th { (e.model) } td { (share(e.mape)) } td { (share(e.max)) } td { (e.worst) }
                    @for (_, off) in &e.by_state { td { (share(*off)) } }
                } } }
            } }
        }
        @for p in predictions { (program(p)) }
    };
    document("Run time at other SM clocks", "Predicted from a run at the nominal clock.", OWN, &main)
}

fn program(p: &Prediction) -> Markup {
    html! {
        h2 { (p.title) }
        div.cards.wide {
            (chart(p))
            (breakdown(p))
        }
    }
}

/// Lines of all models and of the truth, relative to the nominal time, over cycle time relative to nominal.
fn chart(p: &Prediction) -> Markup {
    let truth: Vec<Option<f64>> = p.states.iter().map(|s| s.seconds.map(|t| t / p.seconds)).collect();
    let known = p.models.iter().flat_map(|m| m.seconds.iter().map(|s| s / p.seconds));
    let highest = known.chain(truth.iter().flatten().copied()).fold(1.0, f64::max) * 1.04;
    let slowest = p.states.first().map_or(1.0, |s| p.nominal_mhz / s.mhz);
    let x = |mhz: f64| {
        let along = (p.nominal_mhz / mhz - 1.0) / (slowest - 1.0).max(1e-9);
        MARGIN[0] + along * (WIDTH - MARGIN[0] - MARGIN[1])
    };
    let y = |v: f64| HEIGHT - MARGIN[3] - v / highest * (HEIGHT - MARGIN[2] - MARGIN[3]);
    let path = |values: &dyn Fn(usize) -> Option<f64>| -> String {
        let points = p.states.iter().enumerate().filter_map(|(i, s)| Some((s.mhz, values(i)?)));
        points.map(|(mhz, v)| format!("{:.1},{:.1}", x(mhz), y(v))).collect::<Vec<_>>().join(" ")
    };
    let step = if highest > 4.0 { 1.0 } else { 0.5 };
    let marks = (0..).map(|n| f64::from(n) * step).take_while(|v| *v <= highest);
    html! {
        figure.card {
            figcaption { "Run time over cycle time " span.dim { "(nominal 1)" } }
            div.scroll tabindex="0" { svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                aria-label="predicted and true run time" {
                @for v in marks {
                    line.axis x1=(MARGIN[0]) x2=(WIDTH - MARGIN[1]) y1=(format!("{:.1}", y(v))) y2=(format!("{:.1}", y(v)))
                        style="opacity:.25" {}
                    text.tick x=(MARGIN[0] - 16.0) y=(format!("{:.1}", y(v) + 4.0)) { (v) }
                }
                @for mhz in ticks(p.states.iter().rev().map(|s| s.mhz), x) {
                    text.tick x=(format!("{:.1}", x(mhz))) y=(HEIGHT - 18.0) { (mhz) }
                }
                text.tick x=(WIDTH / 2.0) y=(HEIGHT - 3.0) { "SM clock, MHz" }
                @for (i, m) in p.models.iter().enumerate() {
                    polyline points=(path(&|at| Some(m.seconds[at] / p.seconds))) fill="none" stroke-width="1.6"
                        style=(format!("stroke:var(--s{i})")) { title { (m.model) } }
                }
                @if truth.iter().all(Option::is_some) {
                    polyline points=(path(&|at| truth[at])) fill="none" stroke-width="2.4" stroke-dasharray="5 3"
                        style="stroke:var(--ink)" { title { "true" } }
                }
            } }
            ul.legend {
                @for (i, m) in p.models.iter().enumerate() {
                    li { i style=(format!("background:var(--s{i})")) {} (m.model)
                        @if let Some(off) = m.mape { " " span.dim { (share(off)) } } }
                }
                @if truth.iter().all(Option::is_some) { li { i style="background:var(--ink)" {} "true" } }
            }
        }
    }
}

/// The clocks that have room for their figures on the axis, from left to right.
fn ticks(clocks: impl Iterator<Item = f64>, x: impl Fn(f64) -> f64) -> Vec<f64> {
    clocks.fold(Vec::new(), |mut shown, mhz| {
        if shown.last().is_none_or(|last| x(mhz) - x(*last) >= APART) {
            shown.push(mhz);
        }
        shown
    })
}

/// One bar: where the time goes.
fn breakdown(p: &Prediction) -> Markup {
    let b = &p.breakdown;
    let parts = [
        ("computation under loads", b.overlapped_computation),
        ("load stalls", b.load_stall),
        ("exposed computation", b.exposed_computation),
        ("store stalls", b.store_stall),
    ];
    let mut from = 0.0;
    let places: Vec<(usize, &str, f64, f64)> = parts
        .iter()
        .enumerate()
        .map(|(i, (name, part))| {
            let at = from;
            from += part;
            (i, *name, at, *part)
        })
        .collect();
    html! {
        figure.card {
            figcaption { "Where the time goes at the nominal clock" }
            svg width="100%" height="34" role="img" aria-label="breakdown of time" {
                @for (i, name, at, part) in &places {
                    rect x=(percent(*at)) y="4" width=(percent(*part)) height="26" style=(format!("fill:var(--s{i})")) {
                        title { (name) ": " (share(*part)) }
                    }
                }
            }
            ul.legend {
                @for (i, name, _, part) in &places {
                    li { i style=(format!("background:var(--s{i})")) {} (name) " " span.dim { (share(*part)) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_without_room_are_left_out_of_the_axis() {
        let x = |mhz: f64| 100.0 * (700.0 / mhz - 1.0);
        // At 0, 16.7, 40, 75 and 133.
        assert_eq!(ticks([700.0, 600.0, 500.0, 400.0, 300.0].into_iter(), x), [700.0, 500.0, 400.0, 300.0]);
        assert!(ticks([].into_iter(), x).is_empty());
    }
}
