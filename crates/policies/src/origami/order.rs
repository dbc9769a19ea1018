//! The Origami scheduler's order of warps: by type, then by how many lanes are active (§3.2, §3.3).

use crate::ones::{first_of, those};
use serde::{Deserialize, Serialize};
use warpwatt_machine::hooks::{Hook, OrderHook, OrderQuery, Report, SmState};
use warpwatt_machine::sm::order::{ActiveSet, rotate};
use warpwatt_machine::spec::Spec;

/// The warps that one scheduler prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// FP rather than INT warps.
    pub fp: bool,
    /// Warps with 32 active threads rather than those with fewer.
    pub full: bool,
    /// Phases in which this type has had its turn, the present one included.
    type_phases: u32,
    /// The same for the group.
    group_phases: u32,
}

impl Turn {
    /// A phase begins. `other_type`: warps of the type whose turn it is not are in the active set; `partial`, `full`: warps
    /// of each group; `most`: phases after which a turn ends. Gives how many turns were forced to.
    pub fn begin(&mut self, most: u32, other_type: bool, partial: u32, full: u32) -> u64 {
        let forced_type = self.type_phases >= most && other_type;
        if forced_type {
            (self.fp, self.type_phases) = (!self.fp, 0);
        }
        self.type_phases += 1;
        let other_group = if self.full { partial } else { full };
        let forced_group = self.group_phases >= most && other_group > 0;
        let larger = if partial == full { self.full } else { full > partial };
        if forced_group || larger != self.full {
            (self.full, self.group_phases) = (!self.full, 0);
        }
        self.group_phases += 1;
        forced_type as u64 + forced_group as u64
    }

    /// The warp to issue of the `available` ones, in turn after slot `last`; and the type's turn ends if none of its warps is
    /// in the active `set`. `int`, `fp`: by type of the buffered instruction; `full`: has 32 active threads.
    pub fn choose(
        &mut self,
        available: u64,
        set: u64,
        [int, fp]: [u64; 2],
        last: u8,
        full: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (own, other) = if self.fp { (fp, int) } else { (int, fp) };
        let own = if own & set == 0 && other & set != 0 {
            (self.fp, self.type_phases) = (!self.fp, 1);
            other
        } else {
            own
        };
        let available = available & set;
        // This type, then LDST and SFU, then the other type.
        let first = first_of([available & own, available & !(int | fp), available]);
        let mut rest = if first & (int | fp) != 0 { first } else { 0 };
        while let Some(w) = rotate(rest, last) {
            if full(w) == self.full {
                return Some(w);
            }
            rest &= !(1 << w);
        }
        rotate(first, last)
    }
}

/// The order of an SM's warps.
#[derive(Debug)]
pub struct Order {
    phase: u64,
    most: u32,
    /// Warp slots of each scheduler.
    own: Vec<u64>,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    end: u64,
    forced: u64,
    schedulers: Vec<Scheduler>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Scheduler {
    turn: Turn,
    active: ActiveSet,
    last: u8,
}

impl Order {
    /// For a GPU's SM, with phases of so many cycles and turns of `most` phases.
    pub fn new(spec: &Spec, phase: u32, most: u32) -> Order {
        let own = (0..spec.schedulers).map(|i| {
            let slots = (0..spec.warps_per_sm).filter(|w| w % spec.schedulers == i);
            slots.fold(0, |mask, w| mask | 1 << w)
        });
        let scheduler = Scheduler { turn: Turn::default(), active: ActiveSet::new(spec.active_set_warps), last: 0 };
        Order {
            phase: phase.into(),
            most,
            own: own.collect(),
            state: State { end: 0, forced: 0, schedulers: vec![scheduler; spec.schedulers as usize] },
        }
    }
}

impl Hook for Order {
    fn next_event(&self, _: u64) -> u64 {
        self.state.end
    }

    fn act(&mut self, state: &SmState<'_>) {
        if state.now < self.state.end {
            return;
        }
        self.state.end = state.now + self.phase;
        let (int, fp) = (state.int(), state.fp());
        for (s, own) in self.state.schedulers.iter_mut().zip(&self.own) {
            let other = if s.turn.fp { int } else { fp };
            let warps = (int | fp) & own;
            let full = those(warps, |w| state.active(w) == u32::MAX).count_ones();
            let partial = warps.count_ones() - full;
            self.state.forced += s.turn.begin(self.most, other & s.active.warps() != 0, partial, full);
        }
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let state: State = postcard::from_bytes(state).map_err(|e| format!("origami scheduler: {e}"))?;
        if state.schedulers.len() != self.own.len() {
            return Err("the schedulers were saved under another GPU".to_owned());
        }
        self.state = state;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        report.add("origami.forced", self.state.forced);
    }
}

impl OrderHook for Order {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        let s = self.state.schedulers.get_mut(query.scheduler)?;
        s.active.refill(query.pool, query.warps, s.last);
        let full = |w| query.active(w) == u32::MAX;
        let types = [query.int, query.fp];
        let choice = s.turn.choose(query.available, s.active.warps(), types, s.last, full)?;
        s.last = choice as u8;
        Some(choice)
    }
}
