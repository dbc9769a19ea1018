//! Bars of one figure, a row per policy. Ratios are drawn as their difference from the baseline.

use super::{Rows, percent};
use crate::compare::{Column, Line, Show};
use maud::{Markup, html};

/// The bars' part of the width; names stand to the left, figures to the right.
const FROM: f64 = 0.40;
const TO: f64 = 0.80;

/// A card with a column's chart; nothing if no policy has the figure.
pub(super) fn card(column: &Column, lines: &[&Line]) -> Markup {
    let rows: Vec<&Line> = lines.iter().copied().filter(|l| l.policy.is_some()).collect();
    let figures: Vec<Option<f64>> = rows.iter().map(|l| (column.figure)(&l.figures)).collect();
    if figures.iter().all(Option::is_none) {
        return html! {};
    }
    let best = column.best(&rows);
    let ratio = column.show == Show::Ratio;
    let origin = if ratio { 1.0 } else { 0.0 };
    let place = Rows::of(rows.iter().filter_map(|l| l.policy.as_deref()), FROM);
    let scale = Scale { from: place.from, ..Scale::of(&figures, origin, least(column.show)) };
    let height = rows.len() * place.height + 4;
    let x = percent(scale.at(origin));
    html! {
        figure.card {
            figcaption title=(column.meaning) { (column.title) @if ratio { span.dim { " (baseline 1)" } } }
            svg width="100%" height=(height) role="img" aria-label=(column.meaning) {
                @for (row, ((line, figure), best)) in rows.iter().zip(&figures).zip(&best).enumerate() {
                    @let y = row * place.height + 2;
                    @let worse = figure.is_some_and(|v| v != origin && (v > origin) != column.more_is_better && v.is_finite());
                    text.name x="0" y=(y + place.name) { (line.name()) }
                    @if let Some(v) = figure {
                        rect.bar.worse[worse && !column.only_gating] x=(percent(scale.at(v.min(origin)))) y=(y + place.bar)
                            width=(percent(scale.at(v.max(origin)) - scale.at(v.min(origin)))) height=(Rows::BAR) {
                            title { (line.name()) ": " (column.text(&line.figures)) }
                        }
                    }
                    line.origin x1=(x) x2=(x) y1=(y + place.bar - 3) y2=(y + place.bar + Rows::BAR + 3) {}
                    text.value.best[*best] x="100%" y=(y + place.value) { (column.text(&line.figures)) }
                }
            }
        }
    }
}

/// Width of the narrowest scale. What prints as nothing is drawn as nothing: half of the last printed digit, but of ratios,
/// which are near 1 more often than not, so much that a thousandth is a sliver.
fn least(show: Show) -> f64 {
    match show {
        Show::Ratio => 0.02,
        Show::Share => 0.000_5,
        Show::Count => 0.5,
        Show::Number => 0.005,
    }
}

/// From figures to places.
struct Scale {
    low: f64,
    high: f64,
    /// Where the bars' part of the width begins.
    from: f64,
}

impl Scale {
    /// Holds all figures and the origin; at least `least` wide.
    fn of(figures: &[Option<f64>], origin: f64, least: f64) -> Scale {
        let known = figures.iter().flatten().copied();
        let (low, high) = known.fold((origin, origin), |(low, high), v| (low.min(v), high.max(v)));
        let missing = (least - (high - low)).max(0.0) / 2.0;
        // Nothing is drawn on a side where nothing is; ratios that are all 1 might as well have gone the other way.
        if low == origin && (high > origin || origin == 0.0) {
            Scale { low, high: high + 2.0 * missing, from: FROM }
        } else if high == origin && low < origin {
            Scale { low: low - 2.0 * missing, high, from: FROM }
        } else {
            Scale { low: low - missing, high: high + missing, from: FROM }
        }
    }

    fn at(&self, v: f64) -> f64 {
        self.from + (TO - self.from) * (v - self.low) / (self.high - self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_holds_all_figures_and_the_origin() {
        for figures in [vec![Some(0.9), None, Some(1.3)], vec![Some(1.0)], vec![Some(1.2)], vec![Some(0.5)], vec![]] {
            let scale = Scale::of(&figures, 1.0, 0.02);
            let inside = |v: f64| (FROM - 1e-9..=TO + 1e-9).contains(&scale.at(v));
            assert!(figures.iter().flatten().chain([&1.0]).all(|v| inside(*v)), "{figures:?}");
        }
    }

    #[test]
    fn what_prints_as_nothing_is_drawn_as_nothing() {
        let scale = |figures: &[Option<f64>], show| Scale::of(figures, 0.0, least(show));
        let share = |scale: &Scale, v: f64| (scale.at(v) - scale.at(0.0)) / (TO - FROM);
        // 0.00 and 0.0 %: a fiftieth of the width. As soon as a digit shows, the largest fills it.
        assert!((share(&scale(&[Some(1e-4), Some(0.0)], Show::Number), 1e-4) - 0.02).abs() < 1e-12);
        assert!((share(&scale(&[Some(1e-5)], Show::Share), 1e-5) - 0.02).abs() < 1e-12);
        assert!((share(&scale(&[Some(0.006)], Show::Number), 0.006) - 1.0).abs() < 1e-12);
        // Zeros begin at the left, and ratios that are all 1 in the middle.
        assert!((scale(&[Some(0.0), None], Show::Count).at(0.0) - FROM).abs() < 1e-12);
        assert!((Scale::of(&[Some(1.0)], 1.0, least(Show::Ratio)).at(1.0) - (FROM + TO) / 2.0).abs() < 1e-12);
    }
}
