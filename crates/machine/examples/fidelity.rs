//! Cycles of the reference cases beside those of an established simulator, and the speed of this one.
//!
//! Arguments: cases (none: all) and settings such as `l1d.sets=64`; `-v` prints counters and issue slots, `-t N` uses N
//! threads, `-n` steps every cycle, `-f` executes functionally only, `--leave-one-out` chooses the fitted constants for each case by the others alone.

use std::error::Error;
use std::time::Instant;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Counters, Slot};
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_workloads::reference::{self, Case};

type Table = std::collections::BTreeMap<String, std::collections::BTreeMap<String, String>>;

/// The constants that were fitted to the reference runs, with what was tried; the first of each is the preset's.
const FITTED: [&[&str]; 4] = [
    &["op.simple.latency=1", "op.simple.latency=4"],
    &["cta_launches_per_cycle=15", "cta_launches_per_cycle=1"],
    &["dram_merge_sectors=false", "dram_merge_sectors=true"],
    &["noc_latency_cycles=16 rop_latency_cycles=104", "noc_latency_cycles=8 rop_latency_cycles=120"],
];

struct Outcome {
    cycles: u64,
    counters: Counters,
    slots: Vec<u64>,
    wall: f64,
}

struct Setup {
    ptx: String,
    theirs: Table,
    threads: usize,
    no_skip: bool,
}

impl Setup {
    fn number(&self, case: &Case, key: &str) -> f64 {
        let value = self.theirs.get(case.name).and_then(|row| row.get(key));
        value.and_then(|v| v.parse().ok()).unwrap_or(f64::NAN)
    }

    fn run(&self, case: &Case, settings: &[String]) -> Result<Outcome, Box<dyn Error>> {
        let mut spec = Spec::preset("gtx480")?;
        for s in settings.iter().flat_map(|s| s.split_whitespace()) {
            let (key, value) = s.split_once('=').unwrap_or((s, ""));
            spec.set(key, value)?;
        }
        let registers = Some(self.number(case, "registers_per_thread") as u32);
        let options = Options { threads: self.threads, no_skip: self.no_skip, registers, ..Options::default() };
        let mut gpu = Gpu::new(spec, options)?;
        let begun = Instant::now();
        case.run(&mut gpu, &self.ptx)?;
        let wall = begun.elapsed().as_secs_f64();
        let stats = gpu.stats();
        let mut counters = Counters::default();
        stats.launches.iter().for_each(|l| counters.add(&l.counters));
        let slots = (0..Slot::ALL.len()).map(|i| stats.launches.iter().map(|l| l.slots[i]).sum()).collect();
        Ok(Outcome { cycles: stats.launches.iter().map(|l| l.cycles).sum(), counters, slots, wall })
    }

    fn report(&self, case: &Case, o: &Outcome, verbose: bool) {
        let number = |key| self.number(case, key);
        println!(
            "{:20} {:9} {:9} {:7.3}  {:10.0} {:8.3} {:8.3}",
            case.name,
            number("cycles"),
            o.cycles,
            o.cycles as f64 / number("cycles"),
            o.cycles as f64 / o.wall,
            o.counters.warp_instructions as f64 / o.wall / 1e6,
            o.wall
        );
        let c = &o.counters;
        for (key, ours) in [
            ("warp_instructions", c.warp_instructions),
            ("thread_instructions", c.thread_instructions),
            ("l1d_accesses", c.l1d_reads + c.l1d_writes),
            ("l2_accesses", c.l2_accesses),
            ("l2_misses", c.l2_misses),
        ] {
            if verbose || (key.ends_with("instructions") && number(key) != ours as f64) {
                println!("    {key}: theirs {}, ours {ours}", number(key));
            }
        }
        if verbose {
            let total: u64 = o.slots.iter().sum();
            for (slot, &n) in Slot::ALL.iter().zip(&o.slots).filter(|(_, n)| **n > 0) {
                println!("    {:24} {:5.1} %", slot.label(), 100.0 * n as f64 / total as f64);
            }
            let latency = c.memory_latency_sum as f64 / c.memory_latency_count.max(1) as f64;
            println!("    memory latency: theirs {}, ours {latency:.0}", number("average_memory_latency_cycles"));
        }
    }

    /// The error of each case with the constants that are best for all other cases.
    fn leave_one_out(&self, cases: &[&Case]) -> Result<(), Box<dyn Error>> {
        let mut errors: Vec<Vec<f64>> = Vec::new();
        let mut names = Vec::new();
        for combination in 0..FITTED.iter().map(|f| f.len()).product() {
            let mut rest = combination;
            let settings: Vec<String> = FITTED
                .iter()
                .map(|choices| {
                    let choice = choices[rest % choices.len()].to_string();
                    rest /= choices.len();
                    choice
                })
                .collect();
            let mut row = Vec::new();
            for case in cases {
                row.push((self.run(case, &settings)?.cycles as f64 / self.number(case, "cycles") - 1.0).abs());
            }
            println!("{:6.2} %  {}", 100.0 * row.iter().sum::<f64>() / row.len() as f64, settings.join(" "));
            errors.push(row);
            names.push(settings.join(" "));
        }
        let mut total = 0.0;
        for left in 0..cases.len() {
            let others = |row: &Vec<f64>| row.iter().sum::<f64>() - row[left];
            let best = (0..errors.len()).min_by(|&a, &b| others(&errors[a]).total_cmp(&others(&errors[b])));
            let best = best.ok_or("no combination")?;
            if best != 0 {
                println!("without {}: {}", cases[left].name, names[best]);
            }
            total += errors[best][left];
        }
        println!("leave-one-out mean absolute error {:.2} %", 100.0 * total / cases.len() as f64);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = reference::folder() else {
        return Ok(());
    };
    let (mut names, mut settings, mut verbose, mut leave) = (Vec::new(), Vec::new(), false, false);
    let (mut threads, mut no_skip, mut functional) = (1, false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(a) = arguments.next() {
        match a.as_str() {
            "-v" => verbose = true,
            "-n" => no_skip = true,
            "-f" => functional = true,
            "-t" => threads = arguments.next().ok_or("-t takes a number")?.parse()?,
            "--leave-one-out" => leave = true,
            _ if a.contains('=') => settings.push(a),
            _ => names.push(a),
        }
    }
    let ptx = std::fs::read_to_string(folder.join("kernels/kernels.ptx"))?;
    let theirs = reference::table(&std::fs::read_to_string(folder.join("gpgpusim-gtx480.csv"))?);
    let cases = reference::cases().iter().filter(|c| theirs.contains_key(c.name));
    let cases: Vec<&Case> = cases.filter(|c| names.is_empty() || names.iter().any(|n| n == c.name)).collect();
    let setup = Setup { ptx, theirs, threads, no_skip };
    if leave {
        return setup.leave_one_out(&cases);
    }
    if functional {
        for case in &cases {
            let mut device = FunctionalDevice::new(Default::default());
            let begun = Instant::now();
            case.run(&mut device, &setup.ptx)?;
            let wall = begun.elapsed().as_secs_f64();
            let instructions = device.counts().warp_instructions;
            println!(
                "{:20} {instructions:10} {:8.3} Mwarp/s {wall:8.3} s",
                case.name,
                instructions as f64 / wall / 1e6
            );
        }
        return Ok(());
    }
    println!(
        "{:20} {:>9} {:>9} {:>7}  {:>10} {:>8} {:>8}",
        "case", "theirs", "ours", "ratio", "cycles/s", "Mwarp/s", "wall s"
    );
    let mut error = 0.0;
    for case in &cases {
        let outcome = setup.run(case, &settings)?;
        setup.report(case, &outcome, verbose);
        error += (outcome.cycles as f64 / setup.number(case, "cycles") - 1.0).abs();
    }
    println!("mean absolute error {:.1} % over {} cases", 100.0 * error / cases.len() as f64, cases.len());
    Ok(())
}
