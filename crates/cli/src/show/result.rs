//! The result of a run: verification, time, issue slots, caches, DRAM, power, the simulator's own speed.

use super::{policy, power};
use crate::output::{bad, faint, good, heading};
use crate::table::{decimal, grouped, percent, si, table, tenths_of_percent};
use warpwatt_lab::record::{Host, LaunchRecord, Record};
use warpwatt_lab::statistics::slot_name;
use warpwatt_machine::stats::{Ending, Slot};

/// The whole result. `host` is absent if nobody knows how long it took.
pub fn result(record: &Record, host: Option<&Host>) -> String {
    let mut out = format!("\n{}   {}\n", heading(&record.title()), verdict(record));
    if !record.verification.detail.is_empty() {
        out += &format!("{}\n", faint(&record.verification.detail));
    }
    let timed = record.total("cycles").is_some();
    out += &section("Run", table(&["", "", "", ""], &summary(record, timed), 4));
    out += &section("Launches", launches(record, timed));
    if timed {
        out += &section("Issue slots", slots(record));
        out += &section("Memory", memory(record));
        out += &section("DRAM", table(&["", "", "", ""], &dram(record), 4));
    }
    if let Some(power) = &record.power {
        out += &section("Power", power::power(power));
    }
    if !record.policies.is_empty() {
        if let Some(power) = &record.power {
            out += &section("Execution-unit lanes", policy::lanes(power));
            if power.activity.iter().any(policy::tuned) {
                out += &section("Pipeline groups", policy::groups(power));
            }
            if !power.saved.is_empty() {
                out += &section("Saved", policy::saved(power));
            }
        }
        out += &section("Policy", policy::metrics(record));
    }
    if let Some(governor) = &record.governor {
        out += &section("Clocks", policy::clocks(governor));
    }
    if !record.buffers.is_empty() {
        out += &section("Buffers", buffers(record));
    }
    if !record.printed.is_empty() {
        out += &section("Printed by kernels", printed(record));
    }
    if let Some(host) = host {
        out += &format!("\n{}\n", faint(&speed(host)));
    }
    out
}

fn section(title: &str, body: String) -> String {
    format!("\n{}\n{body}", heading(title))
}

fn verdict(record: &Record) -> String {
    match (&record.ending, record.verification.verified) {
        (Ending::Completed, Some(true)) => good("✔ verified"),
        (Ending::Completed, Some(false)) => bad("✘ wrong results"),
        (Ending::Completed, None) => faint("completed, nothing to compare with"),
        (Ending::Fault { .. }, _) => bad("✘ program fault"),
        (Ending::Deadlock { .. }, _) => bad("✘ deadlock"),
        (Ending::CycleLimit { cycles }, _) => bad(&format!("✘ cycle limit of {} reached", grouped(*cycles))),
        (Ending::Interrupted, _) => bad("✘ interrupted"),
        (Ending::AuditFailed { .. }, _) => bad("✘ audit failed: a mistake in the simulator"),
    }
}

fn count(record: &Record, name: &str) -> u64 {
    record.totals.get(name).and_then(|v| v.as_u64()).unwrap_or(0)
}

fn summary(record: &Record, timed: bool) -> Vec<Vec<String>> {
    let mut kernels: Vec<&str> = record.launches.iter().map(|l| l.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let total = |name| grouped(count(record, name));
    let mut rows = vec![
        vec!["kernels, launches".into(), format!("{}, {}", kernels.len(), grouped(record.launches.len() as u64))],
        vec!["warp instructions".into(), total("warp_instructions")],
    ];
    rows[0].extend(["CTAs".into(), total("ctas")]);
    rows[1].extend(["thread instructions".into(), total("thread_instructions")]);
    if timed {
        let seconds = record.total("simulated_seconds").unwrap_or(0.0);
        rows.push(vec!["cycles".into(), total("cycles"), "simulated time".into(), si(seconds, "s")]);
        let real = |name, digits| decimal(record.total(name), digits);
        rows.push(vec!["warp-IPC".into(), real("warp_ipc", 3), "thread-IPC".into(), real("thread_ipc", 2)]);
        let share = |name| percent(record.total(name));
        rows.push(vec!["occupancy".into(), share("occupancy"), "SM-cycles with a CTA".into(), share("sm_use")]);
    }
    rows
}

/// Launches, those of one kernel together.
fn launches(record: &Record, timed: bool) -> String {
    let mut kernels: Vec<(&LaunchRecord, Vec<&LaunchRecord>)> = Vec::new();
    for launch in &record.launches {
        match kernels.iter_mut().find(|(first, _)| first.kernel == launch.kernel) {
            Some((_, all)) => all.push(launch),
            None => kernels.push((launch, vec![launch])),
        }
    }
    let rows: Vec<Vec<String>> = kernels
        .iter()
        .map(|(first, all)| {
            let same = |f: fn(&LaunchRecord) -> [u32; 3]| match all.iter().all(|l| f(l) == f(first)) {
                true => shape(f(first)),
                false => "varies".to_owned(),
            };
            let sum = |name: &str| all.iter().filter_map(|l| l.values.get(name)?.as_u64()).sum::<u64>();
            let mut row = vec![first.kernel.clone(), grouped(all.len() as u64), same(|l| l.grid), same(|l| l.block)];
            row.push(first.registers_per_thread.to_string());
            row.push(grouped(u64::from(first.shared_bytes)));
            if timed {
                row.push(format!("{} ({})", first.ctas_per_sm, first.occupancy_limit));
                row.push(grouped(sum("cycles")));
                row.push(decimal(Some(sum("warp_instructions") as f64 / sum("cycles").max(1) as f64), 3));
            } else {
                row.push(grouped(sum("warp_instructions")));
            }
            row
        })
        .collect();
    let mut header = vec!["kernel", "launches", "grid", "block", "registers", "shared B"];
    header.extend(if timed { vec!["CTAs/SM (limit)", "cycles", "warp-IPC"] } else { vec!["warp instructions"] });
    table(&header, &rows, 1)
}

fn shape(dims: [u32; 3]) -> String {
    let used = 3 - dims.iter().rev().take_while(|d| **d == 1).count();
    dims[..used.max(1)].iter().map(u32::to_string).collect::<Vec<_>>().join("×")
}

/// Issue slots by cause; the shares add up to 100 %.
fn slots(record: &Record) -> String {
    let parts: Vec<u64> = Slot::ALL.iter().map(|slot| count(record, &slot_name(*slot))).collect();
    let shares = tenths_of_percent(&parts);
    let tenths = |t: u64| format!("{}.{} %", t / 10, t % 10);
    let mut rows = Vec::new();
    for ((slot, part), share) in Slot::ALL.iter().zip(&parts).zip(&shares) {
        if *part > 0 || matches!(slot, Slot::Issued | Slot::Other) {
            let bar = "█".repeat((share / 25) as usize);
            rows.push(vec![slot.label().to_owned(), bar, tenths(*share), grouped(*part)]);
        }
    }
    rows.push(vec!["total".into(), String::new(), tenths(shares.iter().sum()), grouped(parts.iter().sum())]);
    table(&["", "", "share", "slots"], &rows, 2)
}

fn memory(record: &Record) -> String {
    let row = |name: &str, accesses: &str, rate: &str, note: String| {
        vec![name.to_owned(), grouped(count(record, accesses)), percent(record.total(rate)), note]
    };
    let stalls: u64 = ["l1d_stall_line", "l1d_stall_mshr", "l1d_stall_queue"].iter().map(|n| count(record, n)).sum();
    let per_miss = |cause: &str| decimal(record.total(&format!("l1d_{cause}stalls_per_miss")), 2);
    let stalls = if stalls == 0 {
        "no stall cycles".to_owned()
    } else {
        let [line, mshr, queue] = ["line_", "mshr_", "queue_"].map(per_miss);
        format!("{} stall cycles; per miss {}: line {line}, MSHR {mshr}, queue {queue}", grouped(stalls), per_miss(""))
    };
    let conflicts = decimal(record.total("shared_cycles_per_access"), 2);
    let shared = grouped(count(record, "shared_accesses"));
    let rows = vec![
        row("L1 data reads", "l1d_reads", "l1d_hit_rate", stalls),
        row("L1 data writes", "l1d_writes", "l1d_write_hit_rate", String::new()),
        row("constant cache", "constant_accesses", "constant_hit_rate", String::new()),
        row("texture cache", "texture_accesses", "texture_hit_rate", String::new()),
        row("instruction cache", "instruction_accesses", "instruction_hit_rate", String::new()),
        vec!["shared memory".into(), shared, String::new(), format!("{conflicts} cycles an access")],
        row("L2", "l2_accesses", "l2_hit_rate", "32-byte sectors".into()),
    ];
    table(&["", "accesses", "hits", ""], &rows, 1)
}

fn dram(record: &Record) -> Vec<Vec<String>> {
    let real = |name, unit: &str| record.total(name).map_or("n/a".to_owned(), |v| format!("{v:.1} {unit}"));
    let share = |name| percent(record.total(name));
    vec![
        vec!["read".into(), real("dram_read_bandwidth", "GB/s"), "bandwidth use".into(), share("dram_use")],
        vec!["written".into(), real("dram_write_bandwidth", "GB/s"), "row hits".into(), share("dram_row_hit_rate")],
        vec![
            "memory latency".into(),
            real("memory_latency", "cycles"),
            "(L1 miss to last sector)".into(),
            String::new(),
        ],
    ]
}

fn buffers(record: &Record) -> String {
    let rows: Vec<Vec<String>> = record
        .buffers
        .iter()
        .map(|b| {
            let sum = b.sum.map_or("n/a".to_owned(), |s| format!("{s}"));
            vec![b.name.clone(), format!("{}[{}]", b.element, grouped(b.count)), b.fnv1a.clone(), sum]
        })
        .collect();
    table(&["", "type", "FNV-1a", "sum"], &rows, 3)
}

fn printed(record: &Record) -> String {
    const SHOWN: usize = 40;
    let text = record.printed.concat();
    let lines: Vec<&str> = text.lines().collect();
    let mut out: String = lines.iter().take(SHOWN).map(|line| format!(" {line}\n")).collect();
    if lines.len() > SHOWN {
        out += &faint(&format!(" … and {} more lines (all are in --json)\n", lines.len() - SHOWN));
    }
    out
}

fn speed(host: &Host) -> String {
    let cycles = host.cycles_per_second.map_or(String::new(), |v| format!("{}, ", si(v, "cycles/s")));
    let warps = host.warp_instructions_per_second.map_or("n/a".to_owned(), |v| si(v, "warp instructions/s"));
    let threads = if host.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", host.threads) };
    let (stepped, simulated) = (host.stepped_sm_cycles, host.sm_cycles);
    let counted = format!("{} of {} SM-cycles stepped", grouped(stepped), grouped(simulated));
    let stepped = match (simulated, host.skip) {
        (0, _) => String::new(),
        (_, true) => format!("; {counted}, the others skipped"),
        // An SM stands still once its program has faulted.
        (_, false) if stepped < simulated => format!("; skipping off: {counted}"),
        (_, false) => format!("; skipping off: every cycle stepped, {counted}"),
    };
    format!("Simulated in {}: {cycles}{warps} ({threads}{stepped})", si(host.seconds, "s"))
}
