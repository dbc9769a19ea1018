//! Cycles of the reference cases beside those of the established simulator: `case theirs ours ratio`, the mean absolute
//! error, and the speed of this simulator. Arguments: cases (none: all) and settings such as `l1d.sets=64`; `-v` prints
//! all counters, `-t N` uses N threads, `-n` steps every cycle.

use std::error::Error;
use std::time::Instant;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Counters, Slot};
use warpwatt_machine::{Gpu, Options};
use warpwatt_workloads::reference;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = reference::folder() else {
        eprintln!("SKIPPED: no reference folder (set WARPWATT_REFERENCE)");
        return Ok(());
    };
    let (mut names, mut settings, mut verbose, mut no_skip, mut threads) = (Vec::new(), Vec::new(), false, false, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(a) = arguments.next() {
        match a.as_str() {
            "-v" => verbose = true,
            "-n" => no_skip = true,
            "-t" => threads = arguments.next().ok_or("-t takes a number")?.parse()?,
            _ if a.contains('=') => settings.push(a),
            _ => names.push(a),
        }
    }
    let ptx = std::fs::read_to_string(folder.join("kernels/kernels.ptx"))?;
    let theirs = reference::table(&std::fs::read_to_string(folder.join("gpgpusim-gtx480.csv"))?);
    let (mut error, mut count) = (0.0, 0);
    println!(
        "{:20} {:>9} {:>9} {:>7}  {:>10} {:>8} {:>8}",
        "case", "theirs", "ours", "ratio", "cycles/s", "Mwarp/s", "wall s"
    );
    for case in reference::cases().iter().filter(|c| names.is_empty() || names.iter().any(|n| n == c.name)) {
        let Some(row) = theirs.get(case.name) else { continue };
        let number = |key: &str| row.get(key).and_then(|v| v.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let mut spec = Spec::preset("gtx480")?;
        for s in &settings {
            let (key, value) = s.split_once('=').unwrap_or((s, ""));
            spec.set(key, value)?;
        }
        let registers = Some(number("registers_per_thread") as u32);
        let mut gpu = Gpu::new(spec, Options { threads, no_skip, registers, ..Options::default() })?;
        let begun = Instant::now();
        case.run(&mut gpu, &ptx)?;
        let wall = begun.elapsed().as_secs_f64();
        let stats = gpu.stats();
        let cycles: u64 = stats.launches.iter().map(|l| l.cycles).sum();
        let mut counters = Counters::default();
        stats.launches.iter().for_each(|l| counters.add(&l.counters));
        let ratio = cycles as f64 / number("cycles");
        error += (ratio - 1.0).abs();
        count += 1;
        println!(
            "{:20} {:9} {cycles:9} {ratio:7.3}  {:10.0} {:8.3} {wall:8.3}",
            case.name,
            number("cycles"),
            cycles as f64 / wall,
            counters.warp_instructions as f64 / wall / 1e6
        );
        for (key, ours) in [
            ("warp_instructions", counters.warp_instructions),
            ("thread_instructions", counters.thread_instructions),
            ("l1d_accesses", counters.l1d_reads + counters.l1d_writes),
            ("l2_accesses", counters.l2_accesses),
            ("l2_misses", counters.l2_misses),
        ] {
            if verbose || (key.ends_with("instructions") && number(key) != ours as f64) {
                println!("    {key}: theirs {}, ours {ours}", number(key));
            }
        }
        if verbose {
            let total: u64 = stats.launches.iter().flat_map(|l| &l.slots).sum();
            for slot in Slot::ALL {
                let n: u64 = stats.launches.iter().map(|l| l.slots[*slot as usize]).sum();
                println!("    {:24} {:5.1} %", slot.label(), 100.0 * n as f64 / total as f64);
            }
            let latency = counters.memory_latency_sum as f64 / counters.memory_latency_count.max(1) as f64;
            println!("    latency theirs {} ours {latency:.0}", number("average_memory_latency_cycles"));
            println!("    {counters:?}");
        }
    }
    println!("mean absolute error {:.1} % over {count} cases", 100.0 * error / count as f64);
    Ok(())
}
