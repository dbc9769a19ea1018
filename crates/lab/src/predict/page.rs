//! Predictions as a page: run time over cycle time for each program, as CRISP's Fig. 10 has it, and where time goes, as its
//! Fig. 7.

use super::{Prediction, errors};
use crate::report::{document, percent};
use maud::{Markup, html};

/// Size of a chart.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
/// Its margins: left, right, top, bottom.
const MARGIN: [f64; 4] = [44.0, 12.0, 10.0, 34.0];

/// The page.
pub fn page(predictions: &[Prediction]) -> String {
    let overall = errors(predictions);
    let main = html! {
        @if !overall.is_empty() {
            h2 { "Errors over " (predictions.len()) " programs" }
            div.scroll { table {
                thead { tr { th { "model" } th { "mean" } th { "largest" } th { "of" }
                    @for (mhz, _) in &overall[0].by_state { th { (mhz) " MHz" } } } }
                tbody { @for e in &overall { tr {
                    th { (e.model) } td { (percent(e.mape)) } td { (percent(e.max)) } td { (e.worst) }
                    @for (_, off) in &e.by_state { td { (percent(*off)) } }
                } } }
            } }
        }
        @for p in predictions { (program(p)) }
    };
    document("Run time at other SM clocks", "Predicted from a run at the nominal clock.", "", &main)
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
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="predicted and true run time" {
                @for v in marks {
                    line.axis x1=(MARGIN[0]) x2=(WIDTH - MARGIN[1]) y1=(format!("{:.1}", y(v))) y2=(format!("{:.1}", y(v)))
                        style="opacity:.25" {}
                    text.tick x=(MARGIN[0] - 16.0) y=(format!("{:.1}", y(v) + 4.0)) { (v) }
                }
                @for s in &p.states {
                    text.tick x=(format!("{:.1}", x(s.mhz))) y=(HEIGHT - 18.0) { (s.mhz) }
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
            }
            ul.legend {
                @for (i, m) in p.models.iter().enumerate() {
                    li { i style=(format!("background:var(--s{i})")) {} (m.model)
                        @if let Some(off) = m.mape { " " span.dim { (percent(off)) } } }
                }
                @if truth.iter().all(Option::is_some) { li { i style="background:var(--ink)" {} "true" } }
            }
        }
    }
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
        .map(|(i, (name, share))| {
            let at = from;
            from += share;
            (i, *name, at, *share)
        })
        .collect();
    html! {
        figure.card {
            figcaption { "Where the time goes at the nominal clock" }
            svg width="100%" height="34" role="img" aria-label="breakdown of time" {
                @for (i, name, at, share) in &places {
                    rect x=(percent(*at)) y="4" width=(percent(*share)) height="26" style=(format!("fill:var(--s{i})")) {
                        title { (name) ": " (percent(*share)) }
                    }
                }
            }
            ul.legend {
                @for (i, name, _, share) in &places {
                    li { i style=(format!("background:var(--s{i})")) {} (name) " " span.dim { (percent(*share)) } }
                }
            }
        }
    }
}
