//! A pipeline whose width never changes: half of some components is off from the beginning to the end, or of none. What the
//! components do is counted.

use super::{Tally, tuned};
use warpwatt_machine::activity::COMPONENTS;
use warpwatt_machine::hooks::{DatapathHook, DatapathQuery, Hook, Policy, Report, SmHooks};
use warpwatt_machine::spec::Spec;

/// The policy, and its object in an SM.
#[derive(Clone, Debug)]
pub struct Fixed {
    down: [bool; COMPONENTS],
    interval: u64,
    tally: Tally,
}

impl Fixed {
    /// Components that are tuned down, and cycles between two looks at all of them.
    pub fn new(down: [bool; COMPONENTS], interval: u32) -> Fixed {
        Fixed { down, interval: interval.into(), tally: Tally::default() }
    }
}

impl Policy for Fixed {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { datapath: Some(Box::new(self.clone())), ..SmHooks::default() }
    }
}

impl Hook for Fixed {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.tally).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.tally = postcard::from_bytes(state).map_err(|e| format!("a pipeline of fixed width: {e}"))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        self.tally.report(report);
    }
}

impl DatapathHook for Fixed {
    fn interval(&self) -> u64 {
        self.interval
    }

    fn initial(&self, groups: &[u32; COMPONENTS]) -> [u32; COMPONENTS] {
        tuned(groups, &self.down)
    }

    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS] {
        self.tally.add(query);
        tuned(&query.groups, &self.down)
    }
}
