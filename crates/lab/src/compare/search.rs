//! Bounds that several runs give together: what a choice made beforehand, knowing all, would reach.
//!
//! `static-best` is the fixed V/f point with the least energy of those that lose at most 5 % of speed (Equalizer §V-B,
//! Fig. 8; there of the two low points, here of all four and the nominal one). `cta-optimal` takes for every launch the
//! fixed number of CTAs with which it was fastest (Figs. 1e, 2a and 11a); what a launch leaves in the caches for the next
//! one is that of its own run. Both are entries of a comparison, not policies: nothing runs under their names.

use super::figures::Figures;
use super::table::{figures, joules};
use crate::record::Record;

/// Most speed that `static-best` gives up.
pub const MOST_LOSS: f64 = 0.05;

/// Most CTAs on an SM that `cta-optimal` tries; with more than fit, it is the baseline.
const MOST_CTAS: u32 = 7;

/// A search over runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The best fixed V/f point.
    StaticBest,
    /// The best fixed number of CTAs of every launch.
    CtaOptimal,
}

/// All searches.
pub const SEARCHES: [(Search, &str); 2] = [(Search::StaticBest, "static-best"), (Search::CtaOptimal, "cta-optimal")];

impl Search {
    /// By its name.
    pub fn named(name: &str) -> Option<Search> {
        SEARCHES.iter().find(|(_, own)| *own == name).map(|(search, _)| *search)
    }

    /// The runs to choose from, besides the baseline: policies with settings.
    pub fn candidates(self) -> Vec<(String, Vec<String>)> {
        match self {
            Search::StaticBest => {
                ["sm-low", "mem-low", "sm-high", "mem-high"].map(|policy| (policy.to_owned(), Vec::new())).to_vec()
            }
            Search::CtaOptimal => {
                (1..=MOST_CTAS).map(|count| ("ctas".to_owned(), vec![format!("ctas.count={count}")])).collect()
            }
        }
    }

    /// The best of the baseline and the candidates, in their order: what was chosen, and its figures.
    pub(super) fn best(self, baseline: &Record, candidates: &[&Record]) -> (String, Figures) {
        match self {
            Search::StaticBest => best_point(baseline, candidates),
            Search::CtaOptimal => best_counts(baseline, candidates),
        }
    }
}

fn seconds(record: &Record) -> f64 {
    record.total("simulated_seconds").unwrap_or(0.0)
}

fn best_point(baseline: &Record, candidates: &[&Record]) -> (String, Figures) {
    let longest = seconds(baseline) / (1.0 - MOST_LOSS);
    let names = Search::StaticBest.candidates();
    let named = candidates.iter().copied().zip(names.iter().map(|(name, _)| name.as_str()));
    let all = [(baseline, "nominal")].into_iter().chain(named).filter(|(record, _)| seconds(record) <= longest);
    let best = all.min_by(|a, b| joules(a.0).total_cmp(&joules(b.0)));
    let (record, name) = best.unwrap_or((baseline, "nominal"));
    (name.to_owned(), figures(record, Some(baseline), false))
}

fn best_counts(baseline: &Record, candidates: &[&Record]) -> (String, Figures) {
    let mut sum = Figures::default();
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for (i, launch) in baseline.launches.iter().enumerate() {
        let tried = candidates.iter().zip(1..).filter(|(_, count)| *count < launch.ctas_per_sm);
        let tried = tried.filter_map(|(record, count)| Some((record.launches.get(i)?, count)));
        // Of equal times the most CTAs: the baseline comes first, then the larger numbers.
        let tried: Vec<_> =
            [(launch, launch.ctas_per_sm)].into_iter().chain(tried.collect::<Vec<_>>().into_iter().rev()).collect();
        let Some((best, count)) = tried.into_iter().min_by_key(|(l, _)| l.end_fs - l.start_fs) else { continue };
        sum.seconds += (best.end_fs - best.start_fs) as f64 * 1e-15;
        sum.cycles += best.values.get("cycles").and_then(|v| v.as_u64()).unwrap_or(0);
        sum.joules += best.joules.unwrap_or(0.0);
        match counts.last_mut() {
            Some((last, times)) if *last == count => *times += 1,
            _ => counts.push((count, 1)),
        }
    }
    let ratio = |own: f64, of: f64| Some(own / of).filter(|r| r.is_finite());
    sum.time = ratio(sum.seconds, seconds(baseline));
    sum.energy = ratio(sum.joules, joules(baseline));
    sum.edp = ratio(sum.seconds * sum.joules, seconds(baseline) * joules(baseline));
    sum.ed2p = ratio(sum.seconds.powi(2) * sum.joules, seconds(baseline).powi(2) * joules(baseline));
    let shown = |(count, times): &(u32, u32)| if *times > 1 { format!("{count}×{times}") } else { count.to_string() };
    let mut text: Vec<String> = counts.iter().take(8).map(shown).collect();
    if counts.len() > 8 {
        text.push("…".to_owned());
    }
    (format!("CTAs {}", text.join(" ")), sum)
}
