//! `check`: can these kernels run, and what do they need?

use crate::args::CheckArgs;
use crate::output::{bad, data, draw, faint, good, heading, print};
use crate::table::{grouped, percent, table};
use serde_json::json;
use std::path::Path;
use warpwatt_lab::check::{KernelCheck, check as check_file};
use warpwatt_lab::job::read_ptx;
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::find_gpu;
use warpwatt_lab::store::to_json;

/// Reports on every kernel of every file.
pub fn check(args: CheckArgs) -> Result<u8, Problem> {
    let spec = find_gpu(&args.gpu, &args.set)?.finish().map_err(Problem::from_spec)?;
    let mut code = 0;
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let file = match read_ptx(Path::new(path), &name) {
            Ok(file) => file,
            Err(problem) => {
                // A bad file does not keep the others from being reported.
                files.push(json!({ "file": name, "error": problem.to_string() }));
                draw(problem);
                code = 2;
                continue;
            }
        };
        let kernels = check_file(&file, &spec, args.block, args.registers);
        if kernels.iter().any(|k| !k.runs) {
            code = code.max(1);
        }
        if args.json {
            files.push(json!({ "file": name, "kernels": kernels }));
        } else {
            print(&report(&name, &kernels))?;
        }
    }
    if args.json {
        data(&to_json(&json!({ "gpu": spec.name, "files": files }))?)?;
    }
    Ok(code)
}

/// Marks, which get their colour when the table stands: no kernel's name has one.
const GOOD: &str = "✔";
const BAD: &str = "✘";

fn report(file: &str, kernels: &[KernelCheck]) -> String {
    let running = kernels.iter().filter(|k| k.runs).count();
    let mut out = format!("{}: {running} of {} kernels can run\n", heading(file), kernels.len());
    let rows: Vec<Vec<String>> = kernels
        .iter()
        .map(|k| {
            let mut row = vec![if k.runs { GOOD } else { BAD }.to_owned(), k.kernel.clone()];
            if let Some(needs) = &k.needs {
                let room = &needs.room;
                row.push(needs.registers_per_thread.to_string());
                row.extend([needs.shared_bytes, needs.local_bytes].map(|b| grouped(u64::from(b))));
                row.push(grouped(needs.constant_bytes));
                row.push(room.block_threads.to_string());
                row.push(room.ctas_per_sm.to_string());
                row.push(percent(Some(room.occupancy)));
                row.push(room.limit.to_owned());
            }
            row
        })
        .collect();
    let header =
        ["", "kernel", "registers", "shared B", "local B", "constant B", "block", "CTAs/SM", "occupancy", "limited by"];
    if !rows.is_empty() {
        out += &table(&header, &rows, 2).replace(GOOD, &good(GOOD)).replace(BAD, &bad(BAD));
    }
    for kernel in kernels {
        for unsupported in &kernel.unsupported {
            out += &format!("   {}:{}: {}\n", faint(file), unsupported.line, unsupported.reason);
        }
    }
    out
}
