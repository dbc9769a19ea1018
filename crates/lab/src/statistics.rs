//! Statistics of a launch or a whole run: each declared once, with unit, kind, meaning and the established simulator's
//! name, and computed from the machine's counters by one function.

use serde::{Deserialize, Serialize};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Counters, LaunchStats, SLOTS, Slot};

/// What kind of number a statistic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Counted events: adds up over launches.
    Count,
    /// A measured quantity.
    Gauge,
    /// One count divided by another; not available where the divisor is 0.
    Ratio,
}

/// A statistic's declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Name, unique.
    pub name: String,
    /// Unit; `1` for plain ratios.
    pub unit: String,
    /// Kind.
    pub kind: Kind,
    /// What it says.
    pub meaning: String,
    /// The established simulator's name, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub gpgpusim: String,
}

/// A value: a count stays whole, what is not available is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A finite number.
    Real(f64),
    /// 0/0.
    NotAvailable,
}

impl Value {
    /// A ratio; not available where the divisor is 0.
    pub fn ratio(above: f64, below: f64) -> Value {
        Value::real(above / below)
    }

    /// A number; what is not finite is not available, so that no NaN reaches a report.
    pub fn real(value: f64) -> Value {
        if value.is_finite() { Value::Real(value) } else { Value::NotAvailable }
    }

    /// As a number.
    pub fn number(self) -> Option<f64> {
        match self {
            Value::Count(count) => Some(count as f64),
            Value::Real(real) => Some(real),
            Value::NotAvailable => None,
        }
    }
}

/// What statistics are computed from: a launch, or several added up.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Core cycles.
    pub cycles: u64,
    /// Simulated time, femtoseconds.
    pub femtoseconds: u64,
    /// Issue slots.
    pub slots: Vec<u64>,
    /// Counters.
    pub counters: Counters,
}

impl Totals {
    /// Adds launches up.
    pub fn of<'a>(launches: impl IntoIterator<Item = &'a LaunchStats>) -> Totals {
        let mut totals = Totals { slots: vec![0; SLOTS], ..Totals::default() };
        for launch in launches {
            totals.cycles += launch.cycles;
            totals.femtoseconds += launch.end.saturating_sub(launch.start);
            totals.slots.iter_mut().zip(&launch.slots).for_each(|(sum, slots)| *sum += slots);
            totals.counters.add(&launch.counters);
        }
        totals
    }

    fn seconds(&self) -> f64 {
        self.femtoseconds as f64 * 1e-15
    }

    fn slot(&self, slot: Slot) -> u64 {
        self.slots.get(slot as usize).copied().unwrap_or(0)
    }
}

type Formula = fn(&Totals, &Spec) -> Value;

struct Derived {
    name: &'static str,
    unit: &'static str,
    kind: Kind,
    meaning: &'static str,
    alias: &'static str,
    formula: Formula,
}

macro_rules! derived {
    ($($name:ident [$unit:literal] $kind:ident $alias:literal $meaning:literal = $formula:expr;)*) => {
        const DERIVED: &[Derived] = &[$(Derived {
            name: stringify!($name),
            unit: $unit,
            kind: Kind::$kind,
            meaning: $meaning,
            alias: $alias,
            formula: $formula,
        },)*];
    };
}

/// Part of a whole, where the whole is not 0.
fn part(part: u64, whole: u64) -> Value {
    Value::ratio(part as f64, whole as f64)
}

/// Cycles in which the L1 data cache was stalled.
fn stalls(t: &Totals) -> u64 {
    t.counters.l1d_stall_line + t.counters.l1d_stall_mshr + t.counters.l1d_stall_queue
}

/// Share that did not miss.
fn hits(accesses: u64, misses: u64) -> Value {
    part(accesses.saturating_sub(misses), accesses)
}

derived! {
    cycles ["core cycles"] Count "gpu_sim_cycle"
        "Core cycles in which a kernel ran."
        = |t, _| Value::Count(t.cycles);
    simulated_seconds ["s"] Gauge ""
        "Simulated time in which a kernel ran."
        = |t, _| Value::real(t.seconds());
    warp_ipc ["warp instructions/cycle"] Ratio ""
        "Warp instructions issued per core cycle, all SMs together."
        = |t, _| part(t.counters.warp_instructions, t.cycles);
    thread_ipc ["thread instructions/cycle"] Ratio "gpu_ipc"
        "Thread instructions per core cycle, all SMs together: lanes whose guard holds."
        = |t, _| part(t.counters.thread_instructions, t.cycles);
    lanes_per_warp_instruction ["lanes"] Ratio ""
        "Average lanes whose guard holds in a warp instruction, of 32."
        = |t, _| part(t.counters.thread_instructions, t.counters.warp_instructions);
    occupancy ["1"] Ratio "gpu_occupancy"
        "Resident warps of those an SM can hold, averaged over the cycles of SMs that have a CTA."
        = |t, s| part(t.counters.resident_warp_cycles, t.counters.active_sm_cycles * u64::from(s.warps_per_sm));
    sm_use ["1"] Ratio ""
        "SM-cycles with at least one CTA, of all."
        = |t, s| part(t.counters.active_sm_cycles, t.cycles * u64::from(s.sms));
    l1d_hit_rate ["1"] Ratio ""
        "L1 data reads that hit; one merged with an outstanding miss counts as a miss."
        = |t, _| hits(t.counters.l1d_reads, t.counters.l1d_read_misses);
    l1d_stalls_per_miss ["cycles"] Ratio ""
        "Cycles in which the L1 data cache was stalled (no line, no MSHR, miss queue full) per read that missed."
        = |t, _| part(stalls(t), t.counters.l1d_read_misses);
    l1d_line_stalls_per_miss ["cycles"] Ratio ""
        "Of these: no line could be replaced."
        = |t, _| part(t.counters.l1d_stall_line, t.counters.l1d_read_misses);
    l1d_mshr_stalls_per_miss ["cycles"] Ratio ""
        "Of these: no MSHR, or no merge slot in it."
        = |t, _| part(t.counters.l1d_stall_mshr, t.counters.l1d_read_misses);
    l1d_queue_stalls_per_miss ["cycles"] Ratio ""
        "Of these: the miss queue was full."
        = |t, _| part(t.counters.l1d_stall_queue, t.counters.l1d_read_misses);
    l1d_write_hit_rate ["1"] Ratio ""
        "L1 data writes and atomics that found their line."
        = |t, _| part(t.counters.l1d_write_hits, t.counters.l1d_writes);
    constant_hit_rate ["1"] Ratio ""
        "Constant-cache accesses that hit."
        = |t, _| hits(t.counters.constant_accesses, t.counters.constant_misses);
    texture_hit_rate ["1"] Ratio ""
        "Texture-cache accesses that hit."
        = |t, _| hits(t.counters.texture_accesses, t.counters.texture_misses);
    instruction_hit_rate ["1"] Ratio ""
        "Instruction-cache accesses that hit."
        = |t, _| hits(t.counters.instruction_accesses, t.counters.instruction_misses);
    l2_hit_rate ["1"] Ratio ""
        "L2 accesses (32-byte sectors) that hit."
        = |t, _| hits(t.counters.l2_accesses, t.counters.l2_misses);
    shared_cycles_per_access ["cycles/access"] Ratio ""
        "Array cycles of a shared-memory warp access: 1 without bank conflicts."
        = |t, _| part(t.counters.shared_accesses + t.counters.shared_conflict_cycles, t.counters.shared_accesses);
    memory_latency ["core cycles"] Ratio "averagemflatency"
        "Average time from an L1 miss to its last sector."
        = |t, _| part(t.counters.memory_latency_sum, t.counters.memory_latency_count);
    dram_read_bandwidth ["GB/s"] Ratio ""
        "DRAM reads over the simulated time."
        = |t, _| Value::ratio(t.counters.dram_reads as f64 * 32e-9, t.seconds());
    dram_write_bandwidth ["GB/s"] Ratio ""
        "DRAM writes over the simulated time."
        = |t, _| Value::ratio(t.counters.dram_writes as f64 * 32e-9, t.seconds());
    dram_use ["1"] Ratio "bw_util"
        "DRAM command clocks in which data moved, of all."
        = |t, _| part(t.counters.dram_busy_clocks, t.counters.dram_clocks);
    dram_row_hit_rate ["1"] Ratio ""
        "DRAM column accesses that found their row open, of those and the activations."
        = |t, _| part(t.counters.dram_row_hits, t.counters.dram_row_hits + t.counters.dram_activations);
}

/// Name of a slot's statistic.
pub fn slot_name(slot: Slot) -> String {
    format!("slots_{}", slot.label().replace([' ', '/'], "_"))
}

/// Unit of a counter, by the habit of its name.
fn counter_unit(name: &str) -> &'static str {
    match name {
        "warp_instructions" | "thread_instructions" => "instructions",
        "ctas" => "CTAs",
        "memory_latency_sum" => "core cycles",
        "dram_clocks" | "dram_busy_clocks" => "command clocks",
        _ if name.contains("_stall_") || name.ends_with("_cycles") => "cycles",
        _ if name.starts_with("flits_") => "flits",
        "l2_accesses" | "l2_misses" | "l2_writebacks" | "dram_reads" | "dram_writes" => "sectors",
        _ => "events",
    }
}

/// All statistics that [`compute`] gives, in its order.
pub fn declared() -> Vec<Declared> {
    let derived = DERIVED.iter().map(|d| Declared {
        name: d.name.to_owned(),
        unit: d.unit.to_owned(),
        kind: d.kind,
        meaning: d.meaning.to_owned(),
        gpgpusim: d.alias.to_owned(),
    });
    let slots = Slot::ALL.iter().map(|slot| Declared {
        name: slot_name(*slot),
        unit: "issue slots".to_owned(),
        kind: Kind::Count,
        meaning: format!("Issue slots (one per scheduler and core cycle): {}.", slot.label()),
        gpgpusim: String::new(),
    });
    let counters = Counters::default().list();
    let counters = counters.into_iter().map(|(name, _, meaning, alias)| Declared {
        name: name.to_owned(),
        unit: counter_unit(name).to_owned(),
        kind: Kind::Count,
        meaning: meaning.to_owned(),
        gpgpusim: alias.to_owned(),
    });
    derived.chain(slots).chain(counters).collect()
}

/// The values, in the order of [`declared`].
pub fn compute(totals: &Totals, spec: &Spec) -> Vec<Value> {
    let derived = DERIVED.iter().map(|d| (d.formula)(totals, spec));
    let slots = Slot::ALL.iter().map(|slot| Value::Count(totals.slot(*slot)));
    let counters = totals.counters.list();
    let counters = counters.into_iter().map(|(_, value, _, _)| Value::Count(value));
    derived.chain(slots).chain(counters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statistic_has_a_name_of_its_own_a_unit_and_a_meaning() {
        let declared = declared();
        let mut names: Vec<_> = declared.iter().map(|d| &d.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), declared.len());
        assert!(declared.iter().all(|d| !d.unit.is_empty() && d.meaning.len() > 4), "{declared:?}");
        assert_eq!(compute(&Totals::default(), &Spec::default()).len(), declared.len());
    }

    #[test]
    fn nothing_over_nothing_is_not_available_and_null() {
        let values = compute(&Totals::default(), &Spec::default());
        let ratios =
            declared().iter().zip(&values).filter(|(d, _)| d.kind == Kind::Ratio).map(|(_, v)| *v).collect::<Vec<_>>();
        assert!(ratios.len() > 10 && ratios.iter().all(|v| *v == Value::NotAvailable));
        assert_eq!(serde_json::to_string(&Value::NotAvailable).unwrap(), "null");
        assert_eq!(serde_json::from_str::<Value>("null").unwrap(), Value::NotAvailable);
    }

    #[test]
    fn ratios_of_a_run_are_those_of_its_sums() {
        let launch = |cycles, warps| LaunchStats {
            kernel: String::new(),
            grid: [1; 3],
            block: [1; 3],
            registers_per_thread: 1,
            shared_bytes: 0,
            ctas_per_sm: 1,
            occupancy_limit: String::new(),
            cycles,
            stepped_sm_cycles: cycles,
            start: 0,
            end: 1_000_000 * cycles,
            slots: vec![1; SLOTS],
            counters: Counters { warp_instructions: warps, ..Default::default() },
        };
        let totals = Totals::of(&[launch(100, 50), launch(300, 350)]);
        let index = declared().iter().position(|d| d.name == "warp_ipc").unwrap();
        assert_eq!(compute(&totals, &Spec::default())[index], Value::Real(1.0));
        assert_eq!(totals.slots, vec![2; SLOTS]);
    }
}
