//! Host instructions that a simulation takes, counted by valgrind's callgrind: the same number again and again, however
//! busy the machine is. The other benches measure time.
//!
//! `cargo bench --bench instructions -- WORD…` counts the cases whose names contain a word: `parse` (the suite's PTX),
//! `functional:NAME` and `timing:NAME`, with a workload of the suite (small input) or, where their folder is present, a
//! reference case of another name. This program runs itself under valgrind, a case each time; only what [`measured`] does is counted.

use std::process::{Command, ExitCode};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::device::{Device, DeviceError};
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_workloads::{Size, reference};

/// What is counted without a choice: each is a few seconds under valgrind.
const USUAL: [&str; 7] =
    ["parse", "functional:sgemm", "functional:bfs", "timing:sgemm", "timing:bfs", "timing:spmv", "timing:nw"];
const MEASURE: &str = "--measure";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [flag, case] if flag == MEASURE => run(case),
        // `cargo test --benches` does not want to wait for this.
        _ if !arguments.iter().any(|a| a == "--bench") => Ok(()),
        words => count_all(&words.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect::<Vec<_>>()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the cases that contain one of the words, or the usual ones.
fn count_all(words: &[&str]) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        reference::skipped("no instructions are counted: valgrind is not installed");
        return Ok(());
    }
    let suite = warpwatt_workloads::all().iter().map(|w| w.name);
    let others = reference::cases().iter().map(|c| c.name).filter(|name| warpwatt_workloads::find(name).is_err());
    let names = suite.chain(others);
    let all = names.flat_map(|name| ["functional", "timing"].map(|kind| format!("{kind}:{name}")));
    let chosen: Vec<String> = match words {
        [] => USUAL.map(str::to_owned).into(),
        _ => ["parse".to_owned()].into_iter().chain(all).filter(|c| words.iter().any(|w| c.contains(w))).collect(),
    };
    println!("{:28} {:>16} {:>22} {:>14}", "case", "instructions", "a warp instruction", "a cycle");
    for case in chosen {
        let (instructions, work) = count(&case)?;
        let each = |n: u64| if n == 0 { "n/a".to_owned() } else { format!("{:.1}", instructions as f64 / n as f64) };
        println!("{case:28} {instructions:>16} {:>22} {:>14}", each(work[0]), each(work[1]));
    }
    Ok(())
}

/// Host instructions of a case, and the warp instructions and cycles that it simulated.
fn count(case: &str) -> Result<(u64, [u64; 2]), String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*instructions::measured*"])
        .arg(this)
        .args([MEASURE, case])
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let number = |word: &str| word.replace(',', "").parse::<u64>().ok();
    let collected = err.lines().find_map(|line| number(line.split_once("Collected :")?.1.trim()));
    let mut work = out.split_whitespace().filter_map(number);
    match (output.status.success(), collected, work.next(), work.next()) {
        (true, Some(instructions), Some(warps), Some(cycles)) if instructions > 0 => {
            Ok((instructions, [warps, cycles]))
        }
        _ => Err(format!("{case} failed:\n{out}{err}")),
    }
}

/// Runs a case and prints what it simulated.
fn run(case: &str) -> Result<(), String> {
    let (kind, name) = case.split_once(':').unwrap_or((case, ""));
    let spec = Spec::preset("gtx480").map_err(|e| e.to_string())?;
    let done = match kind {
        "parse" => measured(&mut parse_suite),
        "functional" => {
            let mut device = FunctionalDevice::default();
            measured(&mut || drive(name, &mut device)).map(|()| [device.counts().warp_instructions, 0])
        }
        _ => {
            let mut gpu = Gpu::new(spec, Options::default()).map_err(|e| e.to_string())?;
            measured(&mut || drive(name, &mut gpu)).map(|()| {
                let launches = gpu.stats().launches;
                [launches.iter().map(|l| l.counters.warp_instructions).sum(), launches.iter().map(|l| l.cycles).sum()]
            })
        }
    };
    let [warps, cycles] = done.map_err(|e| e.to_string())?;
    println!("{warps} {cycles}");
    Ok(())
}

/// What callgrind counts, by this function's name.
#[inline(never)]
fn measured<T>(work: &mut dyn FnMut() -> T) -> T {
    std::hint::black_box(work())
}

fn parse_suite() -> Result<[u64; 2], DeviceError> {
    for workload in warpwatt_workloads::all() {
        let parsed = warpwatt_ptx::parse(workload.name, workload.ptx);
        std::hint::black_box(parsed.map_err(|e| DeviceError::Invalid(e.to_string()))?);
    }
    Ok([0, 0])
}

/// A workload of the suite, or a reference case.
fn drive(name: &str, device: &mut dyn Device) -> Result<(), DeviceError> {
    let failed = |why: String| DeviceError::Invalid(format!("{name}: {why}"));
    if let Ok(workload) = warpwatt_workloads::find(name) {
        return (workload.run)(device, Size::Small).map(|_| ());
    }
    let case = reference::find(name).ok_or_else(|| failed("no such case".to_owned()))?;
    let folder = reference::folder().ok_or_else(|| failed("the reference folder is missing".to_owned()))?;
    let ptx = std::fs::read_to_string(folder.join("kernels/kernels.ptx")).map_err(|e| failed(e.to_string()))?;
    case.run(device, &ptx).map(|_| ())
}
