//! Which application gets which SMs.
//!
//! Affinity (µC-States §7: applications that prefer small cores are mapped to them) comes from how each application
//! used a whole GPU of big cores. By the utilization law the most utilized component is the bottleneck (§2.2); the
//! memory system's utilization is that of the DRAM data pins, the core's the highest of SCH, EX_SP and EX_SFU, all of
//! which count work and not waiting. The larger memory's lead, the less an application loses on a small core.

use super::cores::{BIG, Cores};
use crate::problem::{Outcome, Problem};
use crate::record::Record;
use serde::Serialize;
use std::str::FromStr;

/// How SMs are divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Partition {
    /// Evenly; the first get one more where that does not come out.
    #[default]
    Even,
    /// Each application all cores of one kind.
    Kinds,
    /// As many each.
    Counts(Vec<u32>),
}

impl FromStr for Partition {
    type Err = Problem;

    /// `even`, `kinds`, or numbers of SMs: `8,8`.
    fn from_str(text: &str) -> Outcome<Partition> {
        let counts = || text.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect::<Option<Vec<u32>>>();
        match text {
            "even" => Ok(Partition::Even),
            "kinds" => Ok(Partition::Kinds),
            _ => counts().map(Partition::Counts).ok_or_else(|| {
                let problem = Problem::input("mix::partition", format!("`{text}` is no partition"));
                problem.help("write even, kinds (each application all cores of a kind), or numbers of SMs: 8,8")
            }),
        }
    }
}

/// Which application gets which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// The first one the first part.
    Order,
    /// Those that memory limits the parts with fewest big cores.
    Affinity,
}

/// `1 part`, `2 parts`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The parts, in order of SMs.
pub fn parts(partition: &Partition, applications: usize, cores: &Cores, sms: u32) -> Outcome<Vec<Vec<u32>>> {
    let n = applications as u32;
    let all = count(applications, "application");
    let wrong = |message: String| Err(Problem::input("mix::partition", message));
    let counts = match partition {
        Partition::Even if n > sms => {
            return wrong(format!("{all} on {}: each needs one of its own", count(sms as usize, "SM")));
        }
        Partition::Even => (0..n).map(|i| sms / n + u32::from(i < sms % n)).collect(),
        Partition::Kinds => cores.kinds().map(|(_, count)| count).collect::<Vec<u32>>(),
        Partition::Counts(counts) => counts.clone(),
    };
    if counts.len() != applications {
        return wrong(match partition {
            Partition::Kinds => {
                let kinds = count(counts.len(), "kind");
                format!("{kinds} of cores for {all}: `kinds` gives each application all cores of one kind")
            }
            _ => format!("{} for {all}", count(counts.len(), "part")),
        });
    }
    let sum: u64 = counts.iter().map(|c| u64::from(*c)).sum();
    if sum != u64::from(sms) {
        return wrong(format!("the parts have {}, and the GPU has {sms}", count(sum as usize, "SM")));
    }
    let mut next = 0;
    Ok(counts
        .into_iter()
        .map(|count| {
            next += count;
            (next - count..next).collect()
        })
        .collect())
}

/// What an application that ran alone used of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Use {
    /// DRAM command clocks in which data moved, of all.
    pub memory: f64,
    /// The highest utilization among SCH, EX_SP and EX_SFU.
    pub core: f64,
}

impl Use {
    /// From the record of its run.
    pub fn of(record: &Record) -> Use {
        let component = |name: &str| {
            let levels = record.power.iter().flat_map(|p| &p.activity);
            let groups = levels.filter_map(|level| level.groups.get(name));
            let sum = |key: &str| -> f64 { groups.clone().filter_map(|g| g.get(key)?.as_f64()).sum() };
            let all = sum("on") + sum("gated") + sum("clock_gated");
            if all > 0.0 { sum("busy") / all } else { 0.0 }
        };
        let core = ["SCH", "EX_SP", "EX_SFU"].map(component).into_iter().fold(0.0, f64::max);
        Use { memory: record.total("dram_use").unwrap_or(0.0), core }
    }

    /// How much the memory system is the bottleneck rather than the core.
    fn memory_lead(&self) -> f64 {
        self.memory - self.core
    }
}

/// For each application, the number of its part.
pub fn map(mapping: Mapping, parts: &[Vec<u32>], cores: &Cores, uses: &[Use]) -> Vec<usize> {
    if mapping == Mapping::Order || uses.len() != parts.len() {
        return (0..parts.len()).collect();
    }
    let big =
        |part: &Vec<u32>| part.iter().filter(|sm| cores.kind(**sm).1 == BIG).count() as f64 / part.len().max(1) as f64;
    // Parts from the biggest cores to the smallest, applications from the core's to the memory's; ties as they came.
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by(|a, b| big(&parts[*b]).total_cmp(&big(&parts[*a])));
    let mut by_lead: Vec<usize> = (0..uses.len()).collect();
    by_lead.sort_by(|a, b| uses[*a].memory_lead().total_cmp(&uses[*b].memory_lead()));
    let mut place = vec![0; parts.len()];
    by_lead.into_iter().zip(by_size).for_each(|(application, part)| place[application] = part);
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_machine::spec::Spec;

    fn cores(text: &str) -> Cores {
        Cores::parse(text, "", &[], &Spec::preset("kepler-big").unwrap()).unwrap()
    }

    #[test]
    fn parts_are_even_or_as_said() {
        let big = cores("big");
        let sizes = |p: &str, n: usize| -> Vec<usize> {
            parts(&p.parse().unwrap(), n, &big, 16).unwrap().iter().map(Vec::len).collect()
        };
        assert_eq!(sizes("even", 2), [8, 8]);
        assert_eq!(sizes("even", 3), [6, 5, 5]);
        assert_eq!(sizes("4,12", 2), [4, 12]);
        assert_eq!(parts(&Partition::Even, 2, &big, 16).unwrap()[1], (8..16).collect::<Vec<u32>>());
        for (p, n, words) in [
            ("4,4", 2, "8 SMs"),
            ("8,8", 3, "2 parts for 3 applications"),
            ("8,8", 1, "2 parts for 1 application"),
            ("even", 17, "17 applications on 16 SMs"),
            ("kinds", 2, "1 kind of cores for 2 applications: `kinds` gives each"),
        ] {
            let error = parts(&p.parse().unwrap(), n, &big, 16).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        for p in ["", "odd", "0,16", "8,-8", "8;8", "4294967296"] {
            assert_eq!(p.parse::<Partition>().unwrap_err().code(), "mix::partition", "{p}");
        }
    }

    #[test]
    fn who_is_limited_by_memory_gets_the_small_cores() {
        let compute = Use { memory: 0.1, core: 0.9 };
        let memory = Use { memory: 0.8, core: 0.2 };
        let mixed = Use { memory: 0.5, core: 0.5 };
        // Cores of one kind: the order stays that of the bottlenecks, which makes no difference to anybody.
        let hetero = cores("big:8,warped-gates:8");
        let two = parts(&Partition::Kinds, 2, &hetero, 16).unwrap();
        assert_eq!(map(Mapping::Affinity, &two, &hetero, &[memory, compute]), [1, 0]);
        assert_eq!(map(Mapping::Affinity, &two, &hetero, &[compute, memory]), [0, 1]);
        assert_eq!(map(Mapping::Order, &two, &hetero, &[memory, compute]), [0, 1]);
        let three = parts(&"4,4,8".parse().unwrap(), 3, &hetero, 16).unwrap();
        assert_eq!(map(Mapping::Affinity, &three, &hetero, &[memory, mixed, compute]), [2, 1, 0]);
    }
}
