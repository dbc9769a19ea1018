//! The tables of a run directory (CSV).

use crate::problem::{Outcome, Problem};
use crate::record::Record;

fn failed(e: impl std::fmt::Display) -> Problem {
    Problem::run("run::encode", format!("cannot write a table: {e}"))
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
