//! µC-States' Table 1 as a page: a line a workload, a cell a component, darker with utilization; IFID and SCH split by SP,
//! SFU and memory instructions. One HTML file without script; the same analyses give the same bytes.

use super::{Bottleneck, Limit, Use};
use crate::report::document;
use maud::{Markup, html};

/// Of the heat map alone.
const OWN: &str = "
table.heat th, table.heat td { padding-left: .2rem; padding-right: .2rem; }
table.heat td { padding: 0; min-width: 2.6rem; }
table.heat td.said { padding: 0 .45rem; }
table.heat thead th { font-size: 11.5px; }
table.heat svg { display: block; width: 100%; height: 1.7rem; }
table.heat .full { fill: color-mix(in srgb, currentColor 8%, transparent); }
table.heat .use { fill: var(--accent); }
table.heat .sp { fill: var(--s3); }
table.heat .sfu { fill: var(--s6); }
table.heat .mem { fill: var(--s0); }
table.heat .number { font-size: 11px; fill: currentColor; text-anchor: end; }
table.heat .binding { stroke: currentColor; stroke-width: 2; fill: none; }
";

/// The page.
pub fn page(all: &[Bottleneck]) -> String {
    let title = match all {
        [one] => format!("What limits {}", one.program),
        all => format!("What limits {} workloads", all.len()),
    };
    let main = html! {
        section { div.scroll tabindex="0" { (heat(all)) } (legend()) }
        @for b in all.iter().filter(|b| !b.verified.is_empty()) { (verified(b)) }
    };
    let subtitle =
        "Utilization of the pipeline's components: cycles × entries that held an instruction, blocked ones included.";
    document(&title, subtitle, OWN, &main)
}

fn heat(all: &[Bottleneck]) -> Markup {
    let names = all.first().map_or(&[][..], |b| &b.components[..]);
    html! {
        table.heat {
            thead {
                tr {
                    th { "workload" }
                    th { "binds" } th { "response" }
                    @for u in names { th { (u.component) } }
                }
            }
            tbody {
                @for b in all {
                    tr {
                        th title=(b.title) { (b.program) }
                        td.said title=(b.conclusion()) { (binds(b)) }
                        td.said { (b.response_time.map_or("n/a".to_owned(), |r| format!("{r:.0}"))) }
                        @for u in &b.components { td { (cell(u, b)) } }
                    }
                }
            }
        }
    }
}

fn binds(b: &Bottleneck) -> &'static str {
    match b.limit {
        Limit::Component => b.binding,
        Limit::MemorySystem => "memory",
        Limit::Latency => "latency",
    }
}

/// A bar over a shade, with the percentage.
fn cell(u: &Use, b: &Bottleneck) -> Markup {
    let percent = |share: f64| format!("{:.1}%", 100.0 * share.clamp(0.0, 1.0));
    let opacity = |share: f64| format!("{:.2}", 0.15 + 0.85 * share.clamp(0.0, 1.0));
    let [sp, sfu, mem] = u.by_type.unwrap_or_default();
    html! {
        svg role="img" aria-label=(format!("{} {}", u.component, percent(u.utilization))) {
            title { (u.component) ": " (percent(u.utilization)) ", needed " (percent(u.demand)) }
            rect.full x="0" y="0" width="100%" height="100%" {}
            @if u.by_type.is_some() {
                rect.sp x="0" y="0" width=(percent(sp)) height="100%" opacity="0.8" {}
                rect.sfu x=(percent(sp)) y="0" width=(percent(sfu)) height="100%" opacity="0.8" {}
                rect.mem x=(percent(sp + sfu)) y="0" width=(percent(mem)) height="100%" opacity="0.8" {}
            } @else {
                rect.use x="0" y="0" width=(percent(u.utilization)) height="100%" opacity=(opacity(u.utilization)) {}
            }
            @if u.component == b.binding { rect.binding x="0" y="0" width="100%" height="100%" {} }
            text.number x="97%" y="60%" { (format!("{:.0}", 100.0 * u.utilization)) }
        }
    }
}

fn legend() -> Markup {
    html! {
        p.note {
            "Figures are percent; a frame marks the component with the highest demand. IFID and SCH: SP (orange), SFU (violet), \
             memory (blue) instructions. Response: of EX_LDST by Little's law, cycles."
        }
    }
}

fn verified(b: &Bottleneck) -> Markup {
    html! {
        section {
            h2 { (b.program) ": half of the pipeline" }
            p.note {
                (b.conclusion())
                " By the utilization law a kernel takes at least so many times as long if all else stays as it is; it takes less \
                 where L1 stalls, which less width does not prolong, are much of the demand."
            }
            div.scroll tabindex="0" {
                table {
                    thead { tr { th { "shape" } th { "time, by the law" } th { "time, measured" } th { "L1 stalls per miss" } } }
                    tbody {
                        @for v in &b.verified {
                            tr {
                                th { (v.shape) }
                                td { (format!("{:.3}", v.predicted)) }
                                td { (format!("{:.3}", v.measured)) }
                                td { (v.stalls_per_miss.map_or("n/a".to_owned(), |s| format!("{s:.3}"))) }
                            }
                        }
                    }
                }
            }
        }
    }
}
