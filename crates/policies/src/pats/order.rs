//! The order of PATS: warps with the same active mask one after the other.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use warpwatt_machine::hooks::{Hook, OrderHook, OrderQuery, Report, SmState};
use warpwatt_machine::sm::order::{ActiveSet, rotate};

/// The order of an SM.
#[derive(Debug)]
pub struct Pats {
    epoch: u64,
    most: usize,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    schedulers: Vec<Scheduler>,
    /// Instructions issued with each active mask in this epoch.
    seen: BTreeMap<u32, u64>,
    /// The most frequent masks of the last epoch that had any, the most frequent first.
    dominant: Vec<u32>,
    /// First cycle of the next epoch.
    end: u64,
    issued: u64,
    as_dominant: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Scheduler {
    active: ActiveSet,
    last: u8,
    /// The pattern that is being issued.
    current: u32,
}

impl Pats {
    /// So many schedulers with so many warps in the active set of each; epochs of so many cycles, so many dominant
    /// patterns.
    pub fn new(schedulers: u32, active: u32, epoch: u64, most: usize) -> Pats {
        let scheduler = Scheduler { active: ActiveSet::new(active), last: 0, current: u32::MAX };
        let schedulers = vec![scheduler; schedulers as usize];
        let (seen, dominant) = (BTreeMap::new(), Vec::new());
        Pats { epoch, most, state: State { schedulers, seen, dominant, end: epoch, issued: 0, as_dominant: 0 } }
    }

    /// The dominant patterns, the most frequent first.
    pub fn dominant(&self) -> &[u32] {
        &self.state.dominant
    }

    /// An instruction issues with this active mask.
    pub fn count(&mut self, mask: u32) {
        self.state.issued += 1;
        *self.state.seen.entry(mask).or_default() += 1;
    }

    /// Cycle `now` begins: at the end of an epoch the most frequent patterns are found (of equally frequent ones those
    /// with the smaller mask). An epoch in which nothing issued says nothing: what was dominant remains so.
    pub fn pass(&mut self, now: u64) {
        let s = &mut self.state;
        if now < s.end {
            return;
        }
        s.end += ((now - s.end) / self.epoch + 1) * self.epoch;
        if s.seen.is_empty() {
            return;
        }
        let mut patterns: Vec<(u32, u64)> = std::mem::take(&mut s.seen).into_iter().collect();
        patterns.sort_by_key(|&(_, count)| Reverse(count));
        patterns.truncate(self.most);
        s.dominant = patterns.into_iter().map(|(mask, _)| mask).collect();
    }
}

impl Hook for Pats {
    fn next_event(&self, _: u64) -> u64 {
        self.state.end
    }

    fn act(&mut self, state: &SmState<'_>) {
        self.pass(state.now);
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let state: State = postcard::from_bytes(state).map_err(|e| format!("pats: {e}"))?;
        if state.schedulers.len() != self.state.schedulers.len() {
            return Err("pats: saved with another number of schedulers".to_owned());
        }
        self.state = state;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("pats.issued", self.state.issued);
        report.add("pats.dominant", self.state.as_dominant);
    }
}

impl OrderHook for Pats {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        let State { schedulers, dominant, .. } = &mut self.state;
        let s = schedulers.get_mut(query.scheduler)?;
        s.active.refill(query.pool, query.warps, s.last);
        let ready = s.active.warps() & query.warps.ready();
        let can = s.active.warps() & query.available;
        let first = prefer(dominant, &mut s.current, ready, can, |w| query.active(w));
        let choice = rotate(first.unwrap_or(can), s.last)?;
        s.last = choice as u8;
        self.state.as_dominant += first.is_some() as u64;
        self.count(query.active(choice));
        Some(choice)
    }
}

/// The warps that go first: of those that `can` issue, those with the current pattern. This is the first of the dominant
/// patterns, in turn from the current one on, that a `ready` warp has; it remains what it was if there is none. While no
/// port takes its warps, those of the patterns that follow go. `active`: a warp's active mask.
pub fn prefer(dominant: &[u32], current: &mut u32, ready: u64, can: u64, active: impl Fn(usize) -> u32) -> Option<u64> {
    let with = |warps: u64, pattern: u32| ones(warps).filter(|&w| active(w) == pattern).fold(0, |m, w| m | 1u64 << w);
    let in_turn = |from: u32| {
        let at = dominant.iter().position(|&p| p == from).unwrap_or(0);
        dominant[at..].iter().chain(&dominant[..at]).copied()
    };
    if let Some(pattern) = in_turn(*current).find(|&pattern| with(ready, pattern) != 0) {
        *current = pattern;
    }
    in_turn(*current).map(|pattern| with(can, pattern)).find(|&warps| warps != 0)
}

/// The set bits of a mask.
fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}
