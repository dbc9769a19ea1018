//! Which component of the pipeline limits a kernel: the utilization law and Little's law (µC-States §2.2), from a run whose
//! pipeline is never tuned down ([`warpwatt_policies::full_width`]).
//!
//! - *Utilization* is the share of cycles × entries in which a component holds an instruction, blocked ones included.
//! - *Demand* is the part of it that the component itself needs, U = X S: throughput times service time. IDOC and OCEX
//!   registers need a cycle for an instruction; what they hold beyond that waits for what comes after them. For all others
//!   demand is utilization.
//! - The component with the highest demand binds (utilization law). No component can be used more than all the time: with
//!   half of it a kernel takes at least max(1, 2 × demand) times as long, with twice as much of it at most
//!   demand ÷ (the next higher demand, or half of its own) times as fast.
//! - EX_LDST alone does not tell the load/store unit from the memory behind it. Its response time does (Little's law):
//!   above the threshold the memory system binds, and more width in front of it makes more contention, not more speed.
//!
//! The bounds hold for throughput, and if all else stays as it is. Cycles in which the L1 stops EX_LDST are in its demand, and in
//! that of the collectors before it; less width does not prolong them, and may make fewer. Where they are much of the demand a
//! kernel takes less time than the bound, or even than with the full width.
//! A kernel that waits for latencies uses no component much, and is bound by none.

pub mod heat;

use crate::problem::{Outcome, Problem};
use crate::record::Record;
use serde::Serialize;
use warpwatt_machine::activity::{COMPONENT_NAMES, COMPONENTS};
use warpwatt_policies::datapath::{EX, IDOC, IFID, OCEX, PATH_NAMES, PATHS, SCH, response_time};
use warpwatt_policies::shapes;

/// Response time of EX_LDST above which the memory system counts as congested (µC-States §5).
pub const CONGESTED: f64 = 100.0;

/// Utilization below which no component is said to bind.
pub const LOW: f64 = 0.5;

/// Static shapes that `--verify` runs, in Table 2's order.
pub const SHAPES: [&str; 8] = ["c-half", "c-ifid", "c-sch", "c-sp", "c-sfu", "c-ldst", "c-comp", "c-mem"];

/// One of the fourteen components.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Use {
    /// Component.
    pub component: &'static str,
    /// Share of cycles × entries in which it held an instruction.
    pub utilization: f64,
    /// IFID and SCH: by SP, SFU and memory instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_type: Option<[f64; PATHS]>,
    /// The part that it needs itself.
    pub demand: f64,
    /// With half of it: time over the present one, at least, if all else stays as it is.
    pub halved: f64,
    /// With twice as much of it: speed over the present one, at most.
    pub doubled: f64,
}

/// What limits the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The component with the highest demand.
    Component,
    /// What is behind EX_LDST: caches, crossbar, DRAM.
    MemorySystem,
    /// No component is used much: latencies, barriers, too few warps.
    Latency,
}

/// A static shape: what the utilization law says of it, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// Shape.
    pub shape: &'static str,
    /// Time over the present one, at least, if all else stays as it is: not where L1 stalls are much of the demand.
    pub predicted: f64,
    /// Time over the present one.
    pub measured: f64,
    /// L1 stall cycles per miss over the present ones.
    pub stalls_per_miss: Option<f64>,
}

/// The analysis of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// What ran, on what.
    pub title: String,
    /// Its program's name.
    pub program: String,
    /// The run's key.
    pub key: String,
    /// The fourteen components.
    pub components: Vec<Use>,
    /// Response time of EX_LDST, cycles.
    pub response_time: Option<f64>,
    /// From an L1 miss to its last sector, cycles.
    pub memory_latency: Option<f64>,
    /// L1 data stall cycles per L1 data miss.
    pub stalls_per_miss: Option<f64>,
    /// Share of the DRAM's bandwidth in use.
    pub dram_use: Option<f64>,
    /// The component with the highest demand.
    pub binding: &'static str,
    /// What limits the kernel.
    pub limit: Limit,
    /// Static shapes, if they were run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<Verified>,
}

/// The analysis of a run under `full-width`.
pub fn analyse(record: &Record) -> Outcome<Bottleneck> {
    let foreign = || Problem::input("bottleneck::not-observed", "the run's pipeline was not observed");
    let count = |name: &str| record.counts.get(name).copied().ok_or_else(foreign);
    let share = |part: u64, whole: u64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
    let mut utilization = [0.0; COMPONENTS];
    let mut capacity = [0; COMPONENTS];
    for (c, name) in COMPONENT_NAMES.iter().enumerate() {
        capacity[c] = count(&format!("capacity.{name}"))?;
        utilization[c] = share(count(&format!("busy.{name}"))?, capacity[c]);
    }
    let (mut issued, mut decoded) = ([0; PATHS], [0; PATHS]);
    for (p, path) in PATH_NAMES.iter().enumerate() {
        issued[p] = count(&format!("issued.{path}"))?;
        decoded[p] = count(&format!("decoded.{path}"))?;
    }
    let demand = demands(&utilization, &capacity, &issued);
    let all_decoded: u64 = decoded.iter().sum();
    let by_type = |c: usize| match c {
        IFID => Some(decoded.map(|d| utilization[IFID] * share(d, all_decoded))),
        SCH => Some(issued.map(|i| share(i, capacity[SCH]))),
        _ => None,
    };
    let component = |c: usize| Use {
        component: COMPONENT_NAMES[c],
        utilization: utilization[c],
        by_type: by_type(c),
        demand: demand[c],
        halved: halved(&demand, &[c]),
        doubled: doubled(&demand, c),
    };
    let response_time = response_time(count("ldst.outstanding")?, count("ldst.entered")?);
    let binding = highest(&demand);
    Ok(Bottleneck {
        title: record.title(),
        program: record.inputs.pointer("/program/name").and_then(|v| v.as_str()).unwrap_or_default().to_owned(),
        key: record.key.clone(),
        components: (0..COMPONENTS).map(component).collect(),
        response_time,
        memory_latency: record.total("memory_latency"),
        stalls_per_miss: record.total("l1d_stalls_per_miss"),
        dram_use: record.total("dram_use"),
        binding: COMPONENT_NAMES[binding],
        limit: limit(binding, demand[binding], response_time),
        verified: Vec::new(),
    })
}

/// What each component needs itself.
fn demands(utilization: &[f64; COMPONENTS], capacity: &[u64; COMPONENTS], issued: &[u64; PATHS]) -> [f64; COMPONENTS] {
    let mut demand = *utilization;
    for register in [IDOC, OCEX] {
        for (path, c) in register.into_iter().enumerate() {
            if capacity[c] > 0 {
                demand[c] = demand[c].min(issued[path] as f64 / capacity[c] as f64);
            }
        }
    }
    demand
}

/// The first component with the highest demand.
fn highest(demand: &[f64; COMPONENTS]) -> usize {
    (0..COMPONENTS).fold(0, |best, c| if demand[c] > demand[best] { c } else { best })
}

fn limit(binding: usize, demand: f64, response_time: Option<f64>) -> Limit {
    let memory_path = (0..COMPONENTS).filter(|c| (2..COMPONENTS).contains(c) && (c - 2) % PATHS == PATHS - 1);
    let congested = response_time.is_some_and(|r| r > CONGESTED);
    if congested && memory_path.into_iter().any(|c| c == binding) {
        Limit::MemorySystem
    } else if demand < LOW {
        Limit::Latency
    } else {
        Limit::Component
    }
}

/// Time over the present one with half of some components, at least: none is used more than all the time.
pub fn halved(demand: &[f64; COMPONENTS], components: &[usize]) -> f64 {
    components.iter().map(|c| 2.0 * demand[*c]).fold(1.0, f64::max)
}

/// Speed over the present one with twice as much of a component, at most.
pub fn doubled(demand: &[f64; COMPONENTS], component: usize) -> f64 {
    let others = (0..COMPONENTS).filter(|c| *c != component).map(|c| demand[c]).fold(0.0, f64::max);
    let (own, next) = (demand[component], others.max(demand[component] / 2.0));
    if own > others && next > 0.0 { own / next } else { 1.0 }
}

impl Bottleneck {
    /// Adds what a shape's run has measured; `base` is the run that was analysed.
    pub fn verify(&mut self, shape: &'static str, base: &Record, run: &Record) {
        let Some(down) = shapes::down(shape) else { return };
        let demand: [f64; COMPONENTS] = std::array::from_fn(|c| self.components.get(c).map_or(0.0, |u| u.demand));
        let components: Vec<usize> = (0..COMPONENTS).filter(|c| down[*c]).collect();
        let ratio = |name: &str| Some(run.total(name)? / base.total(name)?).filter(|r| r.is_finite());
        self.verified.push(Verified {
            shape,
            predicted: halved(&demand, &components),
            measured: ratio("cycles").unwrap_or(1.0),
            stalls_per_miss: ratio("l1d_stalls_per_miss"),
        });
    }

    /// The binding component's demand.
    pub fn demand(&self) -> f64 {
        self.components.iter().find(|u| u.component == self.binding).map_or(0.0, |u| u.demand)
    }

    /// What limits the kernel, in words.
    pub fn conclusion(&self) -> String {
        let percent = 100.0 * self.demand();
        let response = self.response_time.map_or("n/a".to_owned(), |r| format!("{r:.0}"));
        match self.limit {
            Limit::MemorySystem => format!(
                "The memory system binds: the response time of EX_LDST is {response} cycles, above {CONGESTED:.0}. More \
                 width in front of it adds contention."
            ),
            Limit::Component => {
                let twice = doubled_of(self);
                format!(
                    "{} binds: it is needed {percent:.0} % of the time. Twice as much of it: at most {twice:.2} times as \
                     fast.",
                    self.binding
                )
            }
            Limit::Latency => format!(
                "No component binds: the one most needed, {}, is so {percent:.0} % of the time. The kernel waits for \
                 latencies, barriers, or has too few warps.",
                self.binding
            ),
        }
    }
}

fn doubled_of(b: &Bottleneck) -> f64 {
    b.components.iter().find(|u| u.component == b.binding).map_or(1.0, |u| u.doubled)
}

/// The EX units, which heat maps mark.
pub fn is_unit(component: usize) -> bool {
    EX.contains(&component)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(of: &[(usize, f64)]) -> [f64; COMPONENTS] {
        let mut demand = [0.0; COMPONENTS];
        of.iter().for_each(|&(c, d)| demand[c] = d);
        demand
    }

    #[test]
    fn half_of_a_component_takes_as_long_as_it_is_used_twice() {
        let d = demand(&[(IFID, 0.4), (SCH, 0.6), (EX[0], 0.9)]);
        assert_eq!(halved(&d, &[IFID]), 1.0);
        assert_eq!(halved(&d, &[IFID, SCH]), 1.2);
        assert_eq!(halved(&d, &[EX[0], SCH]), 1.8);
        assert_eq!(halved(&d, &[]), 1.0);
    }

    #[test]
    fn twice_as_much_of_a_component_helps_until_the_next_one_binds() {
        let d = demand(&[(IFID, 0.4), (SCH, 0.6), (EX[0], 0.9)]);
        assert_eq!(doubled(&d, EX[0]), 0.9 / 0.6);
        assert_eq!(doubled(&d, SCH), 1.0);
        assert_eq!(doubled(&demand(&[(SCH, 0.8)]), SCH), 2.0);
        assert_eq!(doubled(&demand(&[]), SCH), 1.0);
    }

    #[test]
    fn a_register_needs_a_cycle_for_an_instruction_and_the_rest_waits() {
        let mut utilization = [0.0; COMPONENTS];
        (utilization[IDOC[2]], utilization[OCEX[2]], utilization[EX[2]]) = (1.0, 0.9, 0.8);
        // 100 cycles, two entries; 60 memory instructions.
        let d = demands(&utilization, &[200; COMPONENTS], &[0, 0, 60]);
        assert_eq!((d[IDOC[2]], d[OCEX[2]], d[EX[2]]), (0.3, 0.3, 0.8));
        assert_eq!(highest(&d), EX[2]);
    }

    #[test]
    fn the_response_time_tells_memory_from_the_unit() {
        assert_eq!(limit(EX[2], 0.9, Some(101.0)), Limit::MemorySystem);
        assert_eq!(limit(EX[2], 0.9, Some(99.0)), Limit::Component);
        assert_eq!(limit(EX[0], 0.9, Some(400.0)), Limit::Component);
        assert_eq!(limit(SCH, 0.2, None), Limit::Latency);
        assert_eq!(limit(OCEX[2], 0.2, Some(300.0)), Limit::MemorySystem);
    }
}
