//! ITAP-ideal: every idle period in the mode that is best for its length (§5).
//!
//! The paper records a trace in a first run and looks into it in the second. An ideal ITAP delays nothing, so both runs
//! are the same, cycle by cycle, and the trace is not needed: when an idle period has ended, its length says which mode
//! was best, and equation 1 what it has cost. That is what is counted here, in one run.
//!
//! A sample may be cut, or a run end, while lanes are idle. Until more is known an idle period is as long as it has been so
//! far. If it gets so long that another mode was best, its cycles are moved to that mode in a later sample, as soon as one
//! has lane-cycles in the mode that they were taken for (at most 43 of a lane). The run's sum is what counts.
//!
//! Each lane is on its own, also where a mode is shared by a group: no other rule on the same lanes, of any granularity,
//! saves more.

use super::frame::{Pipes, report_idle};
use super::modes::{Mode, best};
use crate::lanes::IdlePeriods;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{Hook, LanesHook, Report, StartQuery};

const MODES: usize = Mode::ALL.len();

/// Lanes of a pipe that have the same history.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Group {
    lanes: u32,
    /// The first cycle after the last one in which they work, or worked.
    idle_from: u64,
    /// The first cycle of their present or last work that has not been counted.
    works_from: u64,
    /// The mode for which those cycles of their present idle period have been taken that have been.
    taken_as: Option<Mode>,
}

impl Group {
    fn count(&self) -> u64 {
        u64::from(self.lanes.count_ones())
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// By pipe.
    lines: Vec<Vec<Group>>,
    books: Books,
}

/// What is counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Books {
    /// Lane-cycles and transitions that have not been taken, and idle periods, by pipe.
    residency: Vec<LaneResidency>,
    idle: Vec<IdlePeriods>,
    /// All cycles before this one have been taken.
    taken: u64,
    /// Lane-cycles that have been taken for a mode (first index) and belong to another one, by place: INT and FP.
    late: [[[u64; MODES]; MODES]; 2],
}

/// The hook object.
#[derive(Debug)]
pub struct Ideal {
    pipes: Pipes,
    state: State,
}

impl Ideal {
    /// The lanes of an SM, all of them idle from cycle 0 on.
    pub fn new(pipes: Pipes) -> Ideal {
        let idle = Group { lanes: pipes.simd.all(), idle_from: 0, works_from: 0, taken_as: None };
        let lines = vec![vec![idle]; pipes.count()];
        let residency = vec![LaneResidency::default(); pipes.count()];
        let idle = vec![IdlePeriods::default(); pipes.count()];
        Ideal { pipes, state: State { lines, books: Books { residency, idle, ..Books::default() } } }
    }
}

impl Books {
    /// Lanes' idle cycles up to `now` are for the mode that is best for so many.
    fn sleeps(&mut self, pipes: &Pipes, pipe: usize, g: &mut Group, now: u64) -> Option<Mode> {
        let (n, from) = (g.count(), g.idle_from);
        let mode = best(now - from)?;
        self.residency[pipe].cycles[mode.state() as usize] += n * (now - from.max(self.taken));
        if let Some(before) = g.taken_as.replace(mode).filter(|before| *before != mode) {
            let late = n * self.taken.saturating_sub(from);
            pipes.places(pipe).for_each(|p| self.late[p][before as usize][mode as usize] += late);
        }
        Some(mode)
    }

    /// Lanes' idle period ends.
    fn end(&mut self, pipes: &Pipes, pipe: usize, g: &mut Group, now: u64) {
        let mode = self.sleeps(pipes, pipe, g, now);
        g.taken_as = None;
        if let Some(mode) = mode {
            let counted = &mut self.residency[pipe];
            counted.entries[mode.state() as usize] += g.count();
            counted.wakes[mode.state() as usize] += g.count();
        }
        self.idle[pipe].add(now - g.idle_from, g.count());
    }

    /// Counts the cycles before `now` in which lanes have worked.
    fn worked(&mut self, pipe: usize, g: &mut Group, now: u64) {
        let end = g.idle_from.min(now);
        self.residency[pipe].busy += g.count() * end.saturating_sub(g.works_from);
        g.works_from = g.works_from.max(end);
    }
}

/// Adds lanes to those with the same history, if there are any.
fn join(groups: &mut Vec<Group>, new: Group) {
    let same =
        |g: &&mut Group| (g.idle_from, g.works_from, g.taken_as) == (new.idle_from, new.works_from, new.taken_as);
    match groups.iter_mut().find(same) {
        Some(group) => group.lanes |= new.lanes,
        None => groups.push(new),
    }
}

impl Hook for Ideal {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let saved: State = postcard::from_bytes(state).map_err(|e| format!("ITAP-ideal's lanes: {e}"))?;
        if saved.lines.len() != self.state.lines.len() {
            return Err("ITAP-ideal's lanes were saved under other parameters".to_owned());
        }
        self.state = saved;
        Ok(())
    }

    fn report(&self, now: u64, report: &mut Report) {
        let State { lines, books } = &self.state;
        let idle_from = lines.iter().map(|groups| groups.iter().map(|g| (g.lanes, g.idle_from)));
        report_idle(&self.pipes, books.idle.iter().zip(idle_from), now, report);
    }
}

impl LanesHook for Ideal {
    fn start(&mut self, query: &StartQuery) -> u64 {
        let now = query.now;
        let Some(pipe) = self.pipes.of(query) else { return now };
        let until = now + self.pipes.working(query);
        let State { lines, books } = &mut self.state;
        let groups = &mut lines[pipe];
        let mut at = 0;
        // Groups from `old` on are those that have started.
        let mut old = groups.len();
        while at < old {
            let group = &mut groups[at];
            let mut g = Group { lanes: group.lanes & query.lanes, ..*group };
            group.lanes &= !query.lanes;
            if group.lanes != 0 {
                at += 1;
            } else {
                groups.swap(at, old - 1);
                groups.swap_remove(old - 1);
                old -= 1;
            }
            if g.lanes == 0 {
                continue;
            }
            if g.idle_from < now {
                books.worked(pipe, &mut g, now);
                books.end(&self.pipes, pipe, &mut g, now);
                g.works_from = now;
            }
            g.idle_from = g.idle_from.max(until);
            join(groups, g);
        }
        now
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        let State { lines, books } = &mut self.state;
        for (pipe, groups) in lines.iter_mut().enumerate() {
            for g in groups {
                books.worked(pipe, g, now);
                if g.idle_from < now {
                    books.sleeps(&self.pipes, pipe, g, now);
                }
            }
        }
        let all = self.pipes.units as u64 * u64::from(self.pipes.simd.width()) * (now - books.taken);
        let mut places: [LaneResidency; 2] = Default::default();
        for (pipe, own) in books.residency.iter_mut().enumerate() {
            self.pipes.add(pipe, &std::mem::take(own), &mut places.each_mut());
        }
        for (place, (mut own, taken)) in places.into_iter().zip([int, fp]).enumerate() {
            own.cycles[LaneState::On as usize] = all - own.cycles.iter().sum::<u64>();
            for (from, to) in Mode::ALL.into_iter().flat_map(|from| Mode::ALL.map(|to| (from, to))) {
                let late = &mut books.late[place][from as usize][to as usize];
                let moved = (*late).min(own.cycles[from.state() as usize]);
                *late -= moved;
                own.cycles[from.state() as usize] -= moved;
                own.cycles[to.state() as usize] += moved;
            }
            taken.add(&own);
        }
        self.pipes.take_sfu(&mut books.taken, now, sfu);
    }
}
