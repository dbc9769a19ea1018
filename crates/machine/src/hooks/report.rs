//! What policies count for themselves: named counts and histograms, added up over the SMs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts and histograms by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Counts.
    pub counts: BTreeMap<String, u64>,
    /// Histograms: how many of each value.
    pub histograms: BTreeMap<String, Vec<u64>>,
}

impl Report {
    /// Adds to a count.
    pub fn add(&mut self, name: &str, count: u64) {
        *self.counts.entry(name.to_owned()).or_default() += count;
    }

    /// Adds to a histogram.
    pub fn add_histogram(&mut self, name: &str, bins: &[u64]) {
        let sum = self.histograms.entry(name.to_owned()).or_default();
        if sum.len() < bins.len() {
            sum.resize(bins.len(), 0);
        }
        sum.iter_mut().zip(bins).for_each(|(sum, bin)| *sum += bin);
    }

    /// Raises the bins of a histogram to these, where they are more: the most of any SM.
    pub fn raise_histogram(&mut self, name: &str, bins: &[u64]) {
        let most = self.histograms.entry(name.to_owned()).or_default();
        if most.len() < bins.len() {
            most.resize(bins.len(), 0);
        }
        most.iter_mut().zip(bins).for_each(|(most, bin)| *most = (*most).max(*bin));
    }

    /// A count; 0 if nothing was counted.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// A histogram; empty if nothing was counted.
    pub fn histogram(&self, name: &str) -> &[u64] {
        self.histograms.get(name).map_or(&[], |bins| bins)
    }
}
