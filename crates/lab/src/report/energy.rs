//! Where the energy goes: the whole GPU by groups of components, and the execution units by cause.

use super::{Rows, Shown, percent, share};
use crate::record::Record;
use maud::{Markup, html};
use warpwatt_power::Component;
use warpwatt_power::component::Component as C;

const FROM: f64 = 0.34;
const TO: f64 = 0.84;

/// Components drawn as one.
const GROUPS: [(&str, &[Component]); 8] = [
    ("INT", &[C::Int]),
    ("FP", &[C::Fp]),
    ("SFU", &[C::Sfu]),
    ("front end", &[C::Fetch, C::Decode, C::InstructionBuffer, C::Scheduler]),
    ("registers, collectors, pipeline", &[C::RegisterFile, C::Collectors, C::Pipeline]),
    ("load/store, L1s, shared", &[C::Ldst, C::Shared, C::L1Data, C::ConstantTexture]),
    ("L2, crossbar, DRAM", &[C::L2, C::Noc, C::MemoryControllers, C::Dram]),
    ("clock and other", &[C::Undifferentiated, C::Other, C::Clock]),
];

/// Both charts.
pub(super) fn energy(runs: &[Shown]) -> Markup {
    let whole = |r: &Record| -> Vec<f64> {
        let of = |component: &Component| r.power.as_ref().map_or(0.0, |p| p.total.component(*component).joules.total());
        GROUPS.iter().map(|(_, components)| components.iter().map(of).sum()).collect()
    };
    let causes = ["INT dynamic", "INT leakage", "FP dynamic", "FP leakage", "SFU", "overhead"];
    let units = |r: &Record| -> Vec<f64> {
        let of =
            |component: Component| r.power.as_ref().map(|p| p.total.component(component).joules).unwrap_or_default();
        let (int, fp, sfu) = (of(C::Int), of(C::Fp), of(C::Sfu));
        let overhead = int.overhead + fp.overhead + sfu.overhead;
        vec![int.dynamic, int.leakage, fp.dynamic, fp.leakage, sfu.dynamic + sfu.leakage, overhead]
    };
    html! {
        h3 { "Energy" }
        div.cards.wide {
            (stack("Whole GPU and DRAM", &GROUPS.map(|g| g.0), runs, whole, "g"))
            (stack("Execution units", &causes, runs, units, "u"))
        }
    }
}

/// A row per run, a segment per part; the baseline's sum is 1.
fn stack(title: &str, parts: &[&str], runs: &[Shown], of: impl Fn(&Record) -> Vec<f64>, class: &str) -> Markup {
    let sum = |r: &Record| of(r).iter().sum::<f64>();
    let relative = |run: &Shown, joules: f64| {
        let baseline = run.baseline.map_or(0.0, |b| sum(&b.record));
        if baseline > 0.0 { joules / baseline } else { 0.0 }
    };
    let widest = runs.iter().map(|r| relative(r, sum(&r.done.record))).fold(1.0, f64::max);
    let place = Rows::of(runs.iter().map(|run| run.name.as_str()), FROM);
    let height = runs.len() * place.height + 4;
    let wide = TO - place.from;
    let x = percent(place.from + wide / widest);
    html! {
        figure.card {
            figcaption { (title) span.dim { " (baseline 1)" } }
            svg width="100%" height=(height) role="img" aria-label=(title) {
                @for (row, run) in runs.iter().enumerate() {
                    @let y = row * place.height + 2;
                    @let values = of(&run.done.record);
                    text.name x="0" y=(y + place.name) { (run.name) }
                    @for (part, (name, joules)) in parts.iter().zip(&values).enumerate() {
                        @let before = relative(run, values[..part].iter().sum::<f64>()) / widest;
                        @let own = relative(run, *joules) / widest;
                        @if *joules > 0.0 {
                            rect class=(format!("{class}{part}")) x=(percent(place.from + wide * before)) y=(y + place.bar)
                                width=(percent(wide * own)) height=(Rows::BAR) {
                                title { (run.name) ", " (name) ": " (si(*joules)) "J, " (share(relative(run, *joules))) " of the baseline" }
                            }
                        }
                    }
                    line.origin x1=(x) x2=(x) y1=(y + place.bar - 3) y2=(y + place.bar + Rows::BAR + 3) {}
                    text.value x="100%" y=(y + place.value) { (format!("{:.3}", relative(run, values.iter().sum()))) }
                }
            }
            ul.legend { @for (part, name) in parts.iter().enumerate() { li { i class=(format!("{class}{part}")) {} (name) } } }
        }
    }
}

/// Three significant digits with a prefix.
fn si(value: f64) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    let (scale, prefix) = PREFIXES.into_iter().find(|(s, _)| value >= *s).unwrap_or((1e-12, "p"));
    format!("{:.3} {prefix}", value / scale)
}
