//! `list`: the workloads of the suite.

use crate::args::JsonArgs;
use crate::output::{data, print};
use crate::table::table;
use serde_json::json;
use warpwatt_lab::problem::Problem;
use warpwatt_lab::store::to_json;

/// Lists the workloads.
pub fn list(args: JsonArgs) -> Result<u8, Problem> {
    let all = warpwatt_workloads::all();
    if args.json {
        let entry = |w: &warpwatt_workloads::Workload| {
            json!({
                "name": w.name,
                "suite": w.suite,
                "description": w.description,
                "small": w.small,
                "full": w.full,
                "kernels": w.kernels,
            })
        };
        data(&to_json(&all.iter().map(entry).collect::<Vec<_>>())?)?;
        return Ok(0);
    }
    let row = |w: &warpwatt_workloads::Workload| {
        vec![w.name.to_owned(), w.suite.to_owned(), w.kernels.len().to_string(), w.description.to_owned()]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    print(&table(&["workload", "after", "kernels", "what it does"], &rows, 4))?;
    Ok(0)
}
