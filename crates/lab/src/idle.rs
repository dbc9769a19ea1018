//! How idle the execution units are, and what could be saved at most: from a run whose lanes never sleep
//! ([`warpwatt_policies::always_on`]).
//!
//! The bounds are of an oracle that knows every idle period's length when it begins, wakes lanes without delay, and leaves
//! them on where sleeping does not pay:
//!
//! - power gating saves, of a period of L cycles, max(0, L − break-even time) cycles of leakage (Origami §2.2);
//! - a mode of ITAP's Table 4 saves max(0, (1 − power left) × L − wake-up energy) (its equation 1); the best of the three
//!   modes for each period is what ITAP-ideal does (§5), the hardware's own power apart.
//!
//! They hold for the kernel as it runs on this machine. A policy that moves work in time or between lanes (folding,
//! warp order) makes other idle periods, and can save more than the bound of the baseline's.

use crate::problem::{Outcome, Problem};
use crate::record::Record;
use serde::Serialize;
use warpwatt_machine::simd::{SFU_LANES, WARP};
use warpwatt_power::Component;

/// Break-even time of power gating by default (Origami §4.1).
pub const BET: u32 = 14;

/// Periods shorter than this are short (Origami Fig. 2).
pub const SHORT: usize = 10;

/// Longest break-even time for which the histogram has every length.
pub const LONGEST_BET: u32 = 256;

/// A sleep mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Its name.
    pub name: &'static str,
    /// Leakage that is left, as a share.
    pub left: f64,
    /// What a period in it costs besides, in cycles of leakage.
    pub cost: f64,
}

/// ITAP Table 4.
pub const MODES: [Mode; 3] = [
    Mode { name: "ITAP VS0.5", left: 0.5, cost: 0.4 },
    Mode { name: "ITAP VS0.3", left: 0.27, cost: 1.2 },
    Mode { name: "ITAP PG", left: 0.0, cost: 13.0 },
];

impl Mode {
    /// Cycles of leakage that it saves in a period, not less than none.
    pub fn saves(&self, cycles: f64) -> f64 {
        (cycles * (1.0 - self.left) - self.cost).max(0.0)
    }
}

/// Idle periods by length: single cycles, and all longer ones together.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// How many periods (of one lane) had each length; the last one: that or more.
    pub bins: Vec<u64>,
    /// Lane-cycles of all of them.
    pub cycles: u64,
}

impl Histogram {
    /// What a record has of a unit type (`int`, `fp`, `sfu`, `lane`); `None` if the run's policy counted none.
    pub fn of(record: &Record, unit: &str) -> Option<Histogram> {
        let bins = record.histogram(&format!("idle.{unit}"))?;
        let cycles = *record.counts.get(&format!("idle_cycles.{unit}"))?;
        (bins.len() > LONGEST_BET as usize).then_some(Histogram { bins, cycles })
    }

    /// Periods.
    pub fn periods(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Periods with lengths from one up to, not including, another.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        self.bins.iter().enumerate().filter(|(length, _)| (from..to).contains(length)).map(|(_, n)| n).sum()
    }

    /// Lane-cycles of these; those of the last bin belong to its length.
    pub fn cycles_between(&self, from: usize, to: usize) -> u64 {
        let last = self.bins.len() - 1;
        let short = |lengths: std::ops::Range<usize>| -> u64 {
            lengths.map(|length| length as u64 * self.bins.get(length).copied().unwrap_or(0)).sum()
        };
        let long = if (from..to).contains(&last) { self.cycles.saturating_sub(short(0..last)) } else { 0 };
        short(from..to.min(last)) + long
    }

    /// Cycles of leakage that an oracle saves with modes, the best for each period. Modes whose worth is not linear over
    /// the last bin are taken at its average length.
    pub fn saved(&self, modes: &[Mode]) -> f64 {
        let last = self.bins.len() - 1;
        let best = |length: f64| modes.iter().map(|m| m.saves(length)).fold(0.0, f64::max);
        let short: f64 = (0..last).map(|length| self.bins[length] as f64 * best(length as f64)).sum();
        let long = self.bins[last] as f64;
        let average = if long > 0.0 { self.cycles_between(last, last + 1) as f64 / long } else { 0.0 };
        short + long * best(average)
    }
}

/// What an oracle saves with a technique, as a share of the lanes' leakage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Technique.
    pub technique: String,
    /// Saved, of the leakage of lanes that are always on.
    pub saved: Option<f64>,
}

/// The lanes of one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitIdle {
    /// `int`, `fp`, `sfu`, or `lane`: whole SIMD lanes, INT and FP pipeline together.
    pub unit: &'static str,
    /// Lane-cycles.
    pub lane_cycles: u64,
    /// Of them idle.
    pub idle_cycles: u64,
    /// As a share.
    pub idle: Option<f64>,
    /// Share of lane-cycles in which no lane of the unit works.
    pub full_idle: Option<f64>,
    /// Share of lane-cycles of idle lanes beside others that work.
    pub partial_idle: Option<f64>,
    /// Idle periods of single lanes.
    pub periods: u64,
    /// Their average length, cycles.
    pub mean: Option<f64>,
    /// Share of periods under [`SHORT`] cycles.
    pub short_periods: Option<f64>,
    /// Share of lane-cycles in them (Origami Fig. 2).
    pub short_time: Option<f64>,
    /// Share of periods under the break-even time.
    pub under_bet_periods: Option<f64>,
    /// Share of lane-cycles in them.
    pub under_bet_time: Option<f64>,
    /// What could be saved.
    pub bounds: Vec<Bound>,
    /// Periods by length; the last bin: that length or more.
    pub histogram: Vec<u64>,
}

/// Active threads of the warp instructions that entered units of a type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threads {
    /// Type.
    pub unit: &'static str,
    /// Warp instructions.
    pub instructions: u64,
    /// Threads of one, on average.
    pub mean: Option<f64>,
    /// Share with fewer than 32.
    pub underused: Option<f64>,
    /// By number of threads, 0 to 32.
    pub histogram: Vec<u64>,
}

/// The analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Idle {
    /// What ran, on what.
    pub title: String,
    /// The run's key.
    pub key: String,
    /// Break-even time of power gating, cycles.
    pub bet: u32,
    /// By type of lanes.
    pub units: Vec<UnitIdle>,
    /// By type of instruction.
    pub threads: Vec<Threads>,
}

fn share(part: f64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part / whole as f64)
}

/// The analysis of a run under `always-on`.
pub fn analyse(record: &Record, bet: u32) -> Outcome<Idle> {
    let foreign = || Problem::input("idle::not-observed", "the run's lanes were not observed");
    let power = record.power.as_ref().ok_or_else(foreign)?;
    let lane_cycles = |component| power.units.iter().find(|u| u.component == component).map_or(0, |u| u.lane_cycles);
    // Records that do not say have SPs as wide as a warp.
    let width =
        record.inputs["gpu"]["simd_width"].as_u64().filter(|width| *width <= WARP.into()).unwrap_or(WARP.into());
    // Cycles for which units were occupied, by lanes with a thread.
    let occupied = |unit: &str| record.histogram(&format!("occupied.{unit}")).ok_or_else(foreign);
    let (int, fp, sfu) = (occupied("int")?, occupied("fp")?, occupied("sfu")?);
    let both: Vec<u64> = int.iter().zip(&fp).map(|(a, b)| a + b).collect();
    let units = [
        ("int", Component::Int, Some(width), &int),
        ("fp", Component::Fp, Some(width), &fp),
        ("lane", Component::Int, Some(width), &both),
        ("sfu", Component::Sfu, None, &sfu),
    ];
    let units = units.into_iter().map(|(unit, component, width, occupied)| {
        let histogram = Histogram::of(record, unit).ok_or_else(foreign)?;
        Ok(unit_idle(unit, lane_cycles(component), width, occupied, histogram, bet))
    });
    let threads = ["int", "fp", "sfu"].into_iter().map(|unit| {
        let histogram = record.histogram(&format!("threads.{unit}")).ok_or_else(foreign)?;
        let instructions: u64 = histogram.iter().sum();
        let threads: u64 = histogram.iter().enumerate().map(|(n, count)| n as u64 * count).sum();
        let full = histogram.last().copied().unwrap_or(0);
        Ok(Threads {
            unit,
            instructions,
            mean: share(threads as f64, instructions),
            underused: share((instructions - full) as f64, instructions),
            histogram,
        })
    });
    Ok(Idle {
        title: record.title(),
        key: record.key.clone(),
        bet,
        units: units.collect::<Outcome<_>>()?,
        threads: threads.collect::<Outcome<_>>()?,
    })
}

fn unit_idle(
    unit: &'static str,
    lane_cycles: u64,
    width: Option<u64>,
    occupied: &[u64],
    histogram: Histogram,
    bet: u32,
) -> UnitIdle {
    let occupied_cycles: u64 = occupied.iter().sum();
    // All lanes of an SFU work for any number of threads.
    let beside = |lanes: usize| width.map_or(0, |width| width.saturating_sub(lanes as u64));
    let partial: u64 = occupied.iter().enumerate().map(|(lanes, cycles)| beside(lanes) * cycles).sum();
    let width = width.unwrap_or(SFU_LANES.into());
    let periods = histogram.periods();
    let bet_at = bet as usize;
    let gating = Mode { name: "", left: 0.0, cost: f64::from(bet) };
    let mut bounds = vec![(format!("power gating, BET {bet}"), vec![gating])];
    bounds.extend(MODES.map(|mode| (mode.name.to_owned(), vec![mode])));
    bounds.push(("ITAP, best mode for each period".to_owned(), MODES.to_vec()));
    let bound = |(technique, modes): (String, Vec<Mode>)| Bound {
        technique,
        saved: share(histogram.saved(&modes), lane_cycles),
    };
    UnitIdle {
        unit,
        lane_cycles,
        idle_cycles: histogram.cycles,
        idle: share(histogram.cycles as f64, lane_cycles),
        full_idle: share((lane_cycles.saturating_sub(width * occupied_cycles)) as f64, lane_cycles),
        partial_idle: share(partial as f64, lane_cycles),
        periods,
        mean: share(histogram.cycles as f64, periods),
        short_periods: share(histogram.between(0, SHORT) as f64, periods),
        short_time: share(histogram.cycles_between(0, SHORT) as f64, lane_cycles),
        under_bet_periods: share(histogram.between(0, bet_at) as f64, periods),
        under_bet_time: share(histogram.cycles_between(0, bet_at) as f64, lane_cycles),
        bounds: bounds.into_iter().map(bound).collect(),
        histogram: histogram.bins,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three periods of 1, two of 20, two of 300 and 500 cycles together.
    fn histogram() -> Histogram {
        let mut bins = vec![0; 257];
        (bins[1], bins[20], bins[256]) = (3, 2, 2);
        Histogram { bins, cycles: 3 + 40 + 800 }
    }

    #[test]
    fn cycles_of_the_last_bin_are_what_the_others_leave() {
        let h = histogram();
        assert_eq!((h.periods(), h.between(0, 10), h.between(10, 300)), (7, 3, 4));
        assert_eq!((h.cycles_between(0, 10), h.cycles_between(0, 256), h.cycles_between(20, 257)), (3, 43, 840));
    }

    #[test]
    fn the_oracle_of_power_gating_saves_what_is_beyond_the_break_even_time() {
        let gating = |bet: f64| histogram().saved(&[Mode { name: "", left: 0.0, cost: bet }]);
        assert_eq!(gating(14.0), 2.0 * 6.0 + (800.0 - 2.0 * 14.0));
        assert_eq!(gating(0.0), 843.0);
        assert_eq!(gating(256.0), 800.0 - 512.0);
    }

    #[test]
    fn modes_cross_over_where_table_4_says() {
        let best = |length: f64| {
            let worth = |m: &Mode| m.saves(length);
            MODES.iter().enumerate().fold(0, |b, (i, m)| if worth(m) > worth(&MODES[b]) { i } else { b })
        };
        // VS0.5 from 1, VS0.3 from 4, power gating from 44 cycles; each pays from its break-even time on.
        assert_eq!([1.0, 3.0, 4.0, 43.0, 44.0].map(best), [0, 0, 1, 1, 2]);
        let pays = |mode: Mode| (1..99).find(|n| mode.saves(f64::from(*n)) > 0.0);
        assert_eq!(MODES.map(pays), [Some(1), Some(2), Some(14)]);
        assert_eq!((1..99).find(|n| MODES[2].saves(f64::from(*n)) > MODES[0].saves(f64::from(*n))), Some(26));
    }

    #[test]
    fn the_best_mode_of_each_period_saves_at_least_as_much_as_any() {
        let h = histogram();
        let all = h.saved(&MODES);
        assert!(MODES.iter().all(|m| h.saved(&[*m]) < all));
        assert!((all - (3.0 * 0.1 + 2.0 * (0.73 * 20.0 - 1.2) + 800.0 - 26.0)).abs() < 1e-9, "{all}");
    }
}
