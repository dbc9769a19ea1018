//! The list of workloads, and finding one by name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use warpwatt_simt::device::{Device, DeviceError};

use crate::verify::Verification;

/// How much work a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// For tests and first looks: at most about a million warp instructions.
    Small,
    /// For results: 4 to 30 times that, with data beyond the L2 where the benchmark is known to be bound by memory.
    Full,
}

impl Size {
    /// `small` or `full`.
    pub fn name(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Full => "full",
        }
    }

    /// The first value if small, else the second.
    pub(crate) fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Size::Small => small,
            Size::Full => full,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "small" => Ok(Size::Small),
            "full" => Ok(Size::Full),
            _ => Err(format!("unknown size `{text}`: small or full")),
        }
    }
}

/// One benchmark of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The benchmark's name as the literature spells it.
    pub name: &'static str,
    /// The published suite that has a benchmark of this name.
    pub suite: &'static str,
    /// What it computes and what it stresses, in one line.
    pub description: &'static str,
    /// The inputs of [`Size::Small`].
    pub small: &'static str,
    /// The inputs of [`Size::Full`].
    pub full: &'static str,
    /// The kernels, in the order of their first launch.
    pub kernels: &'static [&'static str],
    /// The PTX module that holds them.
    pub ptx: &'static str,
    /// The CUDA source of the PTX.
    pub cuda: &'static str,
    /// Runs the whole benchmark on a device and checks its results against the CPU reference.
    pub run: fn(&mut dyn Device, Size) -> Result<Verification, DeviceError>,
}

static WORKLOADS: [Workload; 42] = [
    crate::backprop::WORKLOAD,
    crate::bfs::WORKLOAD,
    crate::bfs::WAVES,
    crate::btree::WORKLOAD,
    crate::cfd::WORKLOAD,
    crate::gaussian::WORKLOAD,
    crate::heartwall::WORKLOAD,
    crate::hotspot::WORKLOAD,
    crate::kmeans::WORKLOAD,
    crate::kmeans_thrash::WORKLOAD,
    crate::lavamd::WORKLOAD,
    crate::leukocyte::WORKLOAD,
    crate::lud::WORKLOAD,
    crate::myocyte::WORKLOAD,
    crate::nw::WORKLOAD,
    crate::particlefilter::WORKLOAD,
    crate::pathfinder::WORKLOAD,
    crate::srad::WORKLOAD,
    crate::streamcluster::WORKLOAD,
    crate::lbm::WORKLOAD,
    crate::sad::WORKLOAD,
    crate::sgemm::WORKLOAD,
    crate::spmv::WORKLOAD,
    crate::spmv_phases::WORKLOAD,
    crate::stencil::WORKLOAD,
    crate::histo::WORKLOAD,
    crate::mri_gridding::WORKLOAD,
    crate::mri_q::WORKLOAD,
    crate::cutcp::WORKLOAD,
    crate::black_scholes::WORKLOAD,
    crate::fast_walsh::WORKLOAD,
    crate::scalar_prod::WORKLOAD,
    crate::scan_large_array::WORKLOAD,
    crate::transpose::WORKLOAD,
    crate::cp::WORKLOAD,
    crate::libor::WORKLOAD,
    crate::mummer::WORKLOAD,
    crate::nn::WORKLOAD,
    crate::ray::WORKLOAD,
    crate::qtc::WORKLOAD,
    crate::reduction::WORKLOAD,
    crate::mst::WORKLOAD,
];

/// The whole suite, by origin.
pub fn all() -> &'static [Workload] {
    &WORKLOADS
}

/// No workload has this name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct UnknownWorkload {
    /// The name that was asked for.
    pub name: String,
    /// The names that come nearest to it; all names if none comes near.
    pub suggestions: Vec<&'static str>,
}

impl fmt::Display for UnknownWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = if self.suggestions.len() == all().len() { "the suite has" } else { "did you mean" };
        write!(f, "no workload `{}`; {question} {}", self.name, self.suggestions.join(", "))
    }
}

/// The workload of this name, whatever its case; `-`, `_` and `+` count as nothing.
pub fn find(name: &str) -> Result<&'static Workload, UnknownWorkload> {
    let wanted = plain(name);
    if let Some(workload) = WORKLOADS.iter().find(|w| plain(w.name) == wanted) {
        return Ok(workload);
    }
    // Jaro–Winkler: 0.8 lets one or two slips of the finger or a missing ending through.
    let mut near: Vec<(f64, &'static str)> = WORKLOADS
        .iter()
        .map(|w| (strsim::jaro_winkler(&plain(w.name), &wanted), w.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(3);
    let mut suggestions: Vec<_> = near.into_iter().map(|(_, name)| name).collect();
    if suggestions.is_empty() {
        suggestions = WORKLOADS.iter().map(|w| w.name).collect();
    }
    Err(UnknownWorkload { name: name.to_string(), suggestions })
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | '+' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        for name in ["lavaMD", "LAVAMD", "mri-q", "mri_q", "MRIQ", "blackscholes", "black-scholes", "btree"] {
            assert!(find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_slip_brings_a_suggestion() {
        assert_eq!(find("hotpsot").unwrap_err().suggestions[0], "hotspot");
        assert_eq!(find("stencl").unwrap_err().suggestions[0], "stencil");
        let strange = find("zzz").unwrap_err();
        assert_eq!(strange.suggestions.len(), all().len());
        assert!(strange.to_string().contains("the suite has backprop"));
    }

    #[test]
    fn names_and_kernels_are_unique() {
        let mut names: Vec<_> = all().iter().map(|w| w.name).collect();
        // A second input for the same kernels is a workload of its own.
        let mut modules: Vec<_> = all().iter().map(|w| (w.ptx, w.kernels)).collect();
        modules.sort_unstable();
        modules.dedup();
        let mut kernels: Vec<_> = modules.iter().flat_map(|(_, kernels)| *kernels).collect();
        let (n, k) = (names.len(), kernels.len());
        names.sort_unstable();
        names.dedup();
        kernels.sort_unstable();
        kernels.dedup();
        assert_eq!((names.len(), kernels.len()), (n, k));
    }

    #[test]
    fn listed_kernels_are_the_entries_of_the_ptx() {
        for workload in all() {
            let mut entries: Vec<_> = workload
                .ptx
                .lines()
                .filter_map(|line| line.strip_prefix(".visible .entry "))
                .map(|rest| rest.trim_end_matches('('))
                .collect();
            let mut listed = workload.kernels.to_vec();
            entries.sort_unstable();
            listed.sort_unstable();
            assert_eq!(entries, listed, "{}", workload.name);
        }
    }
}
