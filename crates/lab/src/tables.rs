//! The tables of a run directory (CSV).

use crate::problem::{Outcome, Problem};
use crate::record::Record;
use warpwatt_power::{Component, PowerReport};

fn failed(e: impl std::fmt::Display) -> Problem {
    Problem::run("run::encode", format!("cannot write a table: {e}"))
}

/// Power over time: a row per sample; watts of the chip, of each component (all SMs together), of each SM, and of each
/// component of each SM. Times are in seconds of simulated time.
pub fn power(report: &PowerReport) -> Outcome<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let sms = report.series.first().map_or(0, |point| point.sms.len());
    let names = Component::ALL.iter().map(|c| c.name().to_owned());
    let per_sm = |sm: usize| Component::ALL.iter().filter(|c| c.in_sm()).map(move |c| format!("sm{sm}.{}", c.name()));
    let header = ["start_s", "end_s", "launch", "total"].map(str::to_owned).into_iter().chain(names);
    let header = header.chain((0..sms).map(|sm| format!("sm{sm}"))).chain((0..sms).flat_map(per_sm));
    out.write_record(header).map_err(failed)?;
    for point in &report.series {
        let seconds = |femtoseconds: u64| (femtoseconds as f64 * 1e-15).to_string();
        let mut row = vec![seconds(point.start), seconds(point.end), point.launch.to_string(), point.watts.to_string()];
        row.extend(point.components.iter().map(f64::to_string));
        row.extend((0..sms).map(|sm| point.sm_watts(sm).to_string()));
        row.extend(point.sms.iter().flatten().map(f64::to_string));
        out.write_record(row).map_err(failed)?;
    }
    out.into_inner().map_err(failed)
}

/// All statistics: a row per launch, and one for the whole run. What is not available is empty.
pub fn stats(record: &Record) -> Outcome<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let names = record.statistics.iter().map(|d| d.name.as_str());
    out.write_record(["launch", "kernel"].into_iter().chain(names)).map_err(failed)?;
    let launches = record.launches.iter().enumerate().map(|(i, l)| (i.to_string(), l.kernel.as_str(), &l.values));
    for (number, kernel, values) in launches.chain([("all".to_owned(), "", &record.totals)]) {
        let cells = record.statistics.iter().map(|d| match values.get(&d.name) {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(value) => value.to_string(),
        });
        out.write_record([number, kernel.to_owned()].into_iter().chain(cells)).map_err(failed)?;
    }
    out.into_inner().map_err(failed)
}
