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

use super::frame::{Counts, LANES, Pipes, each};
use super::modes::{Mode, best};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{Hook, LanesHook, Report, StartQuery};

const MODES: usize = Mode::ALL.len();

/// The lanes of a pipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// The first cycle after the last one in which a lane works, or worked.
    idle_from: [u64; LANES],
    /// The first cycle of its present or last work that has not been counted.
    works_from: [u64; LANES],
    /// The mode for which those cycles of its present idle period have been taken that have been.
    taken_as: [Option<Mode>; LANES],
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    lines: Vec<Line>,
    counts: Counts,
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
        let lines = vec![Line::default(); pipes.count()];
        Ideal { pipes, state: State { lines, ..State::default() } }
    }

    /// A lane's idle cycles up to `now` are for the mode that is best for so many.
    fn sleeps(&mut self, pipe: usize, lane: usize, now: u64) -> Option<Mode> {
        let state = &mut self.state;
        let line = &mut state.lines[pipe];
        let from = line.idle_from[lane];
        let mode = best(now - from)?;
        state.counts.spend(&self.pipes, pipe, mode.state(), now - from.max(state.taken));
        if let Some(before) = line.taken_as[lane].replace(mode).filter(|before| *before != mode) {
            let late = state.taken.saturating_sub(from);
            self.pipes.places(pipe).for_each(|p| state.late[p][before as usize][mode as usize] += late);
        }
        Some(mode)
    }

    /// A lane's idle period ends.
    fn end(&mut self, pipe: usize, lane: usize, now: u64) {
        let mode = self.sleeps(pipe, lane, now);
        let (line, counts) = (&mut self.state.lines[pipe], &mut self.state.counts);
        line.taken_as[lane] = None;
        if let Some(mode) = mode {
            counts.enter(&self.pipes, pipe, mode.state(), 1);
            counts.leave(&self.pipes, pipe, mode.state(), 1);
        }
        counts.period(&self.pipes, pipe, now - line.idle_from[lane], 1);
    }

    /// Counts the cycles before `now` in which a lane has worked.
    fn worked(&mut self, pipe: usize, lane: usize, now: u64) {
        let line = &mut self.state.lines[pipe];
        let end = line.idle_from[lane].min(now);
        self.state.counts.work(&self.pipes, pipe, end.saturating_sub(line.works_from[lane]));
        line.works_from[lane] = line.works_from[lane].max(end);
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
        self.state.counts.report(&self.pipes, self.state.lines.iter().map(|l| &l.idle_from), now, report);
    }
}

impl LanesHook for Ideal {
    fn start(&mut self, query: &StartQuery) -> u64 {
        let now = query.now;
        let Some(pipe) = self.pipes.of(query) else { return now };
        let until = now + self.pipes.working(query);
        for lane in each(query.lanes) {
            let from = self.state.lines[pipe].idle_from[lane];
            if from < now {
                self.worked(pipe, lane, now);
                self.end(pipe, lane, now);
                self.state.lines[pipe].works_from[lane] = now;
            }
            self.state.lines[pipe].idle_from[lane] = from.max(until);
        }
        now
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        for (pipe, lane) in (0..self.pipes.count()).flat_map(|pipe| (0..LANES).map(move |lane| (pipe, lane))) {
            self.worked(pipe, lane, now);
            if self.state.lines[pipe].idle_from[lane] < now {
                self.sleeps(pipe, lane, now);
            }
        }
        let state = &mut self.state;
        let all = (self.pipes.units * LANES) as u64 * (now - state.taken);
        for (place, (own, taken)) in state.counts.residency.iter_mut().zip([int, fp]).enumerate() {
            own.cycles[LaneState::On as usize] = all - own.cycles.iter().sum::<u64>();
            for (from, to) in Mode::ALL.into_iter().flat_map(|from| Mode::ALL.map(|to| (from, to))) {
                let late = &mut state.late[place][from as usize][to as usize];
                let moved = (*late).min(own.cycles[from.state() as usize]);
                *late -= moved;
                own.cycles[from.state() as usize] -= moved;
                own.cycles[to.state() as usize] += moved;
            }
            taken.add(&std::mem::take(own));
        }
        state.taken = now;
        state.counts.sfu(&self.pipes, now, sfu);
    }
}
