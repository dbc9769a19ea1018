//! Lanes, warps and CTAs over time, all SMs together: `lanes.csv` of a run directory, a row per sample.
//!
//! The columns `int.busy`, `fp.busy` and `sfu.busy` are 0 where no policy on lanes counted them: see [`Lanes::busy`].

use crate::power::STATES;
use crate::problem::{Outcome, Problem};
use std::path::Path;
use warpwatt_machine::activity::{LANE_STATES, LaneResidency, Sample, SmActivity, SmEvent};

/// The file.
pub const LANES: &str = "lanes.csv";

/// The lanes of one type in a span of time: lane-cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// An instruction entered; known only under a policy on lanes (`always-on` is one), 0 without.
    pub busy: u64,
    /// By power state ([`STATES`]).
    pub by_state: [u64; LANE_STATES],
}

/// A span of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// Start, seconds of simulated time.
    pub start: f64,
    /// End.
    pub end: f64,
    /// Launch.
    pub launch: u32,
    /// Core cycles, summed over SMs.
    pub sm_cycles: u64,
    /// Warp instructions issued.
    pub issued: u64,
    /// Sum over SMs and cycles of resident warps.
    pub warp_cycles: u64,
    /// The same of CTAs.
    pub cta_cycles: u64,
    /// INT, FP and SFU lanes.
    pub units: [Lanes; 3],
}

const UNITS: [&str; 3] = ["int", "fp", "sfu"];
const FIRST: [&str; 7] = ["start_s", "end_s", "launch", "sm_cycles", "issued", "warp_cycles", "cta_cycles"];

/// Spans of samples.
pub fn spans(samples: &[Sample]) -> Vec<Span> {
    samples.iter().map(span).collect()
}

fn span(sample: &Sample) -> Span {
    let sum = |f: fn(&SmActivity) -> u64| sample.sms.iter().map(f).sum::<u64>();
    let unit = |f: fn(&SmActivity) -> &LaneResidency| {
        let mut lanes = Lanes::default();
        for residency in sample.sms.iter().map(f) {
            lanes.busy += residency.busy;
            lanes.by_state.iter_mut().zip(residency.cycles).for_each(|(sum, cycles)| *sum += cycles);
        }
        lanes
    };
    Span {
        start: sample.start as f64 * 1e-15,
        end: sample.end as f64 * 1e-15,
        launch: sample.launch,
        sm_cycles: sum(|sm| sm.cycles),
        issued: sum(|sm| sm.events.get(SmEvent::Issued as usize).copied().unwrap_or(0)),
        warp_cycles: sum(|sm| sm.warp_cycles),
        cta_cycles: sum(|sm| sm.cta_cycles),
        units: [unit(|sm| &sm.int), unit(|sm| &sm.fp), unit(|sm| &sm.sfu)],
    }
}

/// As CSV.
pub fn write(spans: &[Span]) -> Outcome<Vec<u8>> {
    let failed = |e: String| Problem::run("run::encode", format!("cannot write a table: {e}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    let columns = |unit: &&str| {
        let unit = (*unit).to_owned();
        ["busy"].into_iter().chain(STATES).map(move |state| format!("{unit}.{state}"))
    };
    let header = FIRST.map(str::to_owned).into_iter().chain(UNITS.iter().flat_map(columns));
    out.write_record(header).map_err(|e| failed(e.to_string()))?;
    for s in spans {
        let counts = [u64::from(s.launch), s.sm_cycles, s.issued, s.warp_cycles, s.cta_cycles];
        let lanes = s.units.iter().flat_map(|u| [u.busy].into_iter().chain(u.by_state));
        let row = [s.start.to_string(), s.end.to_string()].into_iter();
        let row = row.chain(counts.into_iter().chain(lanes).map(|count| count.to_string()));
        out.write_record(row).map_err(|e| failed(e.to_string()))?;
    }
    out.into_inner().map_err(|e| failed(e.to_string()))
}

/// Reads the file of a run directory; `None` if there is none that can be read.
pub fn read(directory: &Path) -> Option<Vec<Span>> {
    let mut file = csv::Reader::from_path(directory.join(LANES)).ok()?;
    file.records().map(|row| parse(&row.ok()?)).collect()
}

fn parse(row: &csv::StringRecord) -> Option<Span> {
    let real = |at: usize| row.get(at)?.parse::<f64>().ok();
    let count = |at: usize| row.get(at)?.parse::<u64>().ok();
    let mut units: [Lanes; 3] = Default::default();
    for (unit, lanes) in units.iter_mut().enumerate() {
        let first = FIRST.len() + unit * (1 + LANE_STATES);
        lanes.busy = count(first)?;
        for (state, cycles) in lanes.by_state.iter_mut().enumerate() {
            *cycles = count(first + 1 + state)?;
        }
    }
    Some(Span {
        start: real(0)?,
        end: real(1)?,
        launch: count(2)? as u32,
        sm_cycles: count(3)?,
        issued: count(4)?,
        warp_cycles: count(5)?,
        cta_cycles: count(6)?,
        units,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let lanes = |busy| Lanes { busy, by_state: [busy, 1, 2, 3, 4, 5, 6] };
        let span = |start: f64| Span {
            start,
            end: start + 1.25e-6,
            launch: 3,
            sm_cycles: 10,
            issued: 11,
            warp_cycles: 12,
            cta_cycles: 13,
            units: [lanes(7), lanes(8), lanes(9)],
        };
        let spans = vec![span(0.0), span(1e-9)];
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        std::fs::write(folder.path().join(LANES), write(&spans).unwrap()).unwrap();
        assert_eq!(read(folder.path()), Some(spans));
        std::fs::write(folder.path().join(LANES), "a,b\n1,2\n").unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
