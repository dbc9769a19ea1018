//! The order of PATS: warps with the same active mask one after the other.

use crate::ones::{ones, those};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
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
    /// Active masks of this epoch in their order, and how many instructions have issued with each.
    seen: Vec<(u32, u64)>,
    /// Where the last one is.
    latest: usize,
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
        let (seen, dominant) = (Vec::new(), Vec::new());
        let state = State { schedulers, seen, latest: 0, dominant, end: epoch, issued: 0, as_dominant: 0 };
        Pats { epoch, most, state }
    }

    /// The dominant patterns, the most frequent first.
    pub fn dominant(&self) -> &[u32] {
        &self.state.dominant
    }

    /// An instruction issues with this active mask.
    pub fn count(&mut self, mask: u32) {
        let s = &mut self.state;
        s.issued += 1;
        // Most often it is the one that issued last.
        if s.seen.get(s.latest).is_none_or(|of| of.0 != mask) {
            s.latest = s.seen.binary_search_by_key(&mask, |of| of.0).unwrap_or_else(|at| {
                s.seen.insert(at, (mask, 0));
                at
            });
        }
        if let Some(of) = s.seen.get_mut(s.latest) {
            of.1 += 1;
        }
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
        s.seen.sort_unstable_by_key(|&(mask, count)| (Reverse(count), mask));
        s.dominant.clear();
        s.dominant.extend(s.seen.iter().take(self.most).map(|of| of.0));
        s.seen.clear();
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
        let ready = s.active.warps() & query.ready;
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
    // Most often the turn goes on.
    let pattern = *current;
    let same = those(can, |w| active(w) == pattern);
    if same & ready != 0 && dominant.contains(&pattern) {
        return Some(same);
    }
    let place = |pattern: u32| dominant.iter().position(|&p| p == pattern);
    // Places of a pattern after another one's, in turn.
    let behind = |at: usize, from: usize| if at >= from { at - from } else { at + dominant.len() - from };
    let from = place(*current).unwrap_or(0);
    let mut next = usize::MAX;
    for w in ones(ready) {
        if let Some(at) = place(active(w)) {
            next = next.min(behind(at, from));
            if next == 0 {
                break;
            }
        }
    }
    let from = if next == usize::MAX { from } else { (from + next) % dominant.len() };
    if let Some(&pattern) = dominant.get(from).filter(|_| next != usize::MAX) {
        *current = pattern;
    }
    let (mut first, mut warps) = (usize::MAX, 0);
    for w in ones(can) {
        if let Some(at) = place(active(w)).map(|at| behind(at, from)).filter(|&at| at <= first) {
            warps = if at < first { 0 } else { warps } | 1u64 << w;
            first = at;
        }
    }
    (warps != 0).then_some(warps)
}
