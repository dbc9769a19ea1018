//! Lanes' histories, evaluated when somebody asks.

use super::control::Control;
use super::idle::IdlePeriods;
use super::setup::{Scope, Setup};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::simd::Simd;
use warpwatt_machine::spec::Spec;

/// What a pipe's lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PipeKind {
    /// INT pipelines of an SP.
    Int,
    /// FP pipelines of an SP.
    Fp,
    /// INT and FP pipelines of an SP, switched together.
    Both,
    /// An SFU.
    Sfu,
}

/// Lanes of one type in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipe {
    /// Index among the pipes.
    pub index: usize,
    /// Type.
    pub kind: PipeKind,
    /// The unit, as the machine numbers them.
    pub unit: usize,
}

/// Lanes of a pipe that have the same history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cohort {
    /// Which lanes.
    pub lanes: u32,
    /// The policy's own note on these lanes (predictors, counters).
    pub tag: u32,
    /// Power state.
    pub state: LaneState,
    /// They are waking up, or will as soon as they may: the cycle from which they are awake.
    pub wanted: Option<u64>,
    /// An instruction wants them, and can start in this cycle: once awake they stay so until then.
    held: u64,
    /// First cycle in this state.
    pub since: u64,
    /// First cycle after the last one in which they work, or worked.
    pub idle_from: u64,
    /// Cycles before this one are in the residencies.
    counted: u64,
    /// The next change, if they are left alone.
    next: Option<(u64, LaneState)>,
}

impl Cohort {
    /// They can take an instruction without waking up.
    #[inline]
    pub fn awake(&self) -> bool {
        matches!(self.state, LaneState::On | LaneState::IdleDetect)
    }

    /// They are in a sleep state.
    #[inline]
    pub fn asleep(&self) -> bool {
        !self.awake() && self.state != LaneState::Waking
    }

    /// The cycle from which on they are awake, idle, and no instruction is known to want them, if they are left alone (and
    /// somebody has asked for them, if they are asleep).
    pub fn idle_at(&self) -> u64 {
        self.since.max(self.idle_from).max(self.held).max(self.wanted.unwrap_or(0))
    }

    /// The next change, if they are left alone.
    pub fn next(&self) -> Option<(u64, LaneState)> {
        self.next
    }

    /// The cycle from which an instruction can start on them, if it asks at `now`.
    #[inline]
    fn ready(&self, pipe: &Pipe, control: &(impl Control + ?Sized), now: u64) -> u64 {
        match self.wanted {
            _ if self.awake() => now,
            Some(ready) => ready.max(now),
            None => control.wake(pipe, self, now).until.max(now),
        }
    }
}

/// The lanes of a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    cohorts: Vec<Cohort>,
    /// No change is due before this cycle.
    due: u64,
    /// Lanes that were awake when the last change was made.
    awake: u32,
    /// The answer to a demand for these lanes, while it is the last thing that happened here. It holds until its cycle:
    /// lanes that are wanted do not fall asleep before.
    promise: Option<(u32, u64)>,
}

impl Line {
    /// Where those lanes of a cohort are that are among `lanes`, if there are any. The others are no longer with them.
    #[inline]
    fn part(&mut self, at: usize, lanes: u32) -> Option<usize> {
        let c = &mut self.cohorts[at];
        let taken = c.lanes & lanes;
        if taken == 0 {
            return None;
        }
        if taken == c.lanes {
            return Some(at);
        }
        let part = Cohort { lanes: taken, ..*c };
        c.lanes &= !lanes;
        self.cohorts.push(part);
        Some(self.cohorts.len() - 1)
    }

    /// A cohort has changed.
    #[inline]
    fn changed(&mut self, at: usize) {
        let c = &self.cohorts[at];
        self.awake = if c.awake() { self.awake | c.lanes } else { self.awake & !c.lanes };
        self.due = self.due.min(c.next.map_or(u64::MAX, |n| n.0));
    }
}

/// All lanes of an SM that a policy switches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracker {
    pipes: Vec<Pipe>,
    lines: Vec<Line>,
    /// Lane-cycles not yet taken, of INT, FP and SFU.
    residency: [LaneResidency; 3],
    /// Lengths of idle periods, of INT, FP and SFU lanes.
    idle: [IdlePeriods; 3],
    /// Instructions that had to wait for lanes to wake up, and how long altogether.
    waits: u64,
    waited: u64,
    /// The cycle after the one in which an instruction last had to wait.
    waiting: u64,
    #[serde(skip)]
    sfu_lanes: u64,
    sfu_counted: u64,
}

/// Lanes of an SFU.
const SFU_LANES: u32 = 0b1111;

/// Most cohorts of a pipe, and one that is being split off.
const MOST: usize = 33;

/// Where a pipe's lane-cycles are counted: INT, FP, SFU.
#[inline]
fn places(kind: PipeKind) -> &'static [usize] {
    match kind {
        PipeKind::Int => &[0],
        PipeKind::Fp => &[1],
        PipeKind::Both => &[0, 1],
        PipeKind::Sfu => &[2],
    }
}

/// The set bits of a mask.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

#[inline]
fn gated(state: LaneState) -> bool {
    matches!(state, LaneState::Gated | LaneState::Blackout)
}

/// The state that falling asleep and waking up are counted under: a blackout is the beginning of being gated.
#[inline]
fn kind_of_sleep(state: LaneState) -> LaneState {
    if gated(state) { LaneState::Gated } else { state }
}

impl Tracker {
    /// The lanes of an SM, all of them idle from cycle 0 on.
    pub fn new(spec: &Spec, setup: &Setup, control: &(impl Control + ?Sized)) -> Tracker {
        let sp = spec.sp_units as usize;
        let kinds: &[PipeKind] = match setup.scope {
            Scope::Type => &[PipeKind::Int, PipeKind::Fp],
            Scope::Lane => &[PipeKind::Both],
        };
        let sps = (0..sp).flat_map(|unit| kinds.iter().map(move |kind| (*kind, unit)));
        let sfus = (sp..sp + spec.sfu_units as usize).map(|unit| (PipeKind::Sfu, unit)).filter(|_| setup.sfu);
        let pipes: Vec<Pipe> =
            sps.chain(sfus).enumerate().map(|(index, (kind, unit))| Pipe { index, kind, unit }).collect();
        let lines = pipes.iter().map(|pipe| {
            let lanes = if pipe.kind == PipeKind::Sfu { SFU_LANES } else { Simd::of(spec).all() };
            let mut cohort = Cohort {
                lanes,
                tag: 0,
                state: LaneState::On,
                wanted: None,
                held: 0,
                since: 0,
                idle_from: 0,
                counted: 0,
                next: None,
            };
            cohort.next = control.next(pipe, &cohort);
            let mut cohorts = Vec::with_capacity(MOST);
            cohorts.push(cohort);
            Line { cohorts, due: 0, awake: lanes, promise: None }
        });
        Tracker {
            lines: lines.collect(),
            pipes,
            residency: Default::default(),
            idle: Default::default(),
            waits: 0,
            waited: 0,
            waiting: 0,
            sfu_lanes: if setup.sfu { 0 } else { u64::from(spec.lanes().1) },
            sfu_counted: 0,
        }
    }

    /// After loading a saved state: what is not saved comes from a fresh one.
    pub(crate) fn complete(&mut self, fresh: &Tracker) -> Result<(), String> {
        if self.pipes != fresh.pipes {
            return Err("the lanes were saved under other parameters".to_owned());
        }
        self.sfu_lanes = fresh.sfu_lanes;
        self.lines.iter_mut().for_each(|l| l.cohorts.reserve(MOST));
        Ok(())
    }

    /// The pipes.
    pub fn pipes(&self) -> &[Pipe] {
        &self.pipes
    }

    /// The cohorts of a pipe, as they were when it was last brought up to date ([`Tracker::settle`]).
    pub fn cohorts(&self, pipe: usize) -> &[Cohort] {
        &self.lines[pipe].cohorts
    }

    /// Lengths of idle periods that have ended, of INT, FP and SFU lanes.
    pub fn idle(&self) -> &[IdlePeriods; 3] {
        &self.idle
    }

    /// Idle periods, those included that go on at `now`.
    pub fn idle_until(&self, now: u64) -> [IdlePeriods; 3] {
        let mut idle = self.idle.clone();
        for (pipe, line) in self.pipes.iter().zip(&self.lines) {
            for c in line.cohorts.iter().filter(|c| c.idle_from < now) {
                for &place in places(pipe.kind) {
                    idle[place].add(now - c.idle_from, u64::from(c.lanes.count_ones()));
                }
            }
        }
        idle
    }

    /// Times that instructions had to wait for lanes to wake up (of several that wait in the same cycle one is counted),
    /// and the cycles in which one waited.
    pub fn waits(&self) -> (u64, u64) {
        (self.waits, self.waited)
    }

    /// Makes the changes of a pipe that are due before `now`.
    #[inline]
    pub fn settle(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        if self.lines[pipe].due < now {
            self.make_changes(pipe, control, now);
        }
    }

    fn make_changes(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        let (pipe, line, residency) = (&self.pipes[pipe], &mut self.lines[pipe], &mut self.residency);
        let (mut due, mut awake) = (u64::MAX, 0);
        for c in &mut line.cohorts {
            while let Some((at, state)) = c.next.filter(|n| n.0 < now) {
                count(residency, pipe, c, at);
                enter(residency, pipe, control, c, at, state);
            }
            due = due.min(c.next.map_or(u64::MAX, |n| n.0));
            awake |= if c.awake() { c.lanes } else { 0 };
        }
        (line.due, line.awake) = (due, awake);
    }

    /// The cycle from which an instruction can start on some lanes of a pipe.
    #[inline]
    pub fn ready(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        self.settle(pipe, control, now);
        let line = &self.lines[pipe];
        let asleep = lanes & !line.awake;
        match line.promise {
            _ if asleep == 0 => now,
            Some((promised, ready)) if promised == lanes && now <= ready => ready,
            _ => {
                let used = line.cohorts.iter().filter(|c| c.lanes & asleep != 0);
                used.map(|c| c.ready(&self.pipes[pipe], control, now)).max().unwrap_or(now)
            }
        }
    }

    /// An instruction wants lanes of a pipe for some cycles. Gives the cycle from which it can start: `now`, and it has
    /// started; or a later one, and the lanes wake up for it.
    #[inline]
    pub fn start(
        &mut self,
        pipe: usize,
        control: &mut (impl Control + ?Sized),
        now: u64,
        lanes: u32,
        busy: u64,
    ) -> u64 {
        let ready = self.ready(pipe, control, now, lanes);
        if ready > now {
            if self.lines[pipe].promise != Some((lanes, ready)) {
                self.tell(pipe, control, now, lanes);
                self.demand(pipe, control, now, lanes, ready);
                self.lines[pipe].promise = Some((lanes, ready));
            }
            self.waits += (self.waiting < now) as u64;
            self.waited += (self.waiting <= now) as u64;
            self.waiting = now + 1;
            return ready;
        }
        self.begin(pipe, control, now, lanes, busy);
        now
    }

    /// Tells the policy of lanes that are asleep and wanted for the first time.
    fn tell(&self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32) {
        let asleep = |c: &&Cohort| c.lanes & lanes != 0 && c.asleep() && c.wanted.is_none();
        let asleep = self.lines[pipe].cohorts.iter().filter(asleep);
        asleep.for_each(|c| control.demanded(&self.pipes[pipe], c, now));
    }

    /// Wakes lanes up for an instruction that can start at `ready`.
    fn demand(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        let (of, line, residency) = (&self.pipes[pipe], &mut self.lines[pipe], &mut self.residency);
        line.promise = None;
        for at in 0..line.cohorts.len() {
            let Some(at) = line.part(at, lanes) else { continue };
            let c = &mut line.cohorts[at];
            c.held = c.held.max(ready);
            if c.awake() {
                if c.state == LaneState::IdleDetect {
                    count(residency, of, c, now);
                    (c.state, c.since) = (LaneState::On, now);
                }
                // They wait for the others.
                c.next = Some((c.held.max(c.idle_from), LaneState::IdleDetect));
            } else if c.wanted.is_none() {
                let wake = control.wake(of, c, now);
                c.wanted = Some(wake.until);
                if wake.from <= now {
                    count(residency, of, c, now);
                    enter(residency, of, control, c, now, LaneState::Waking);
                } else {
                    c.next = Some((wake.from, LaneState::Waking));
                }
            }
            line.changed(at);
        }
    }

    /// An instruction starts on lanes that are awake.
    fn begin(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        let (of, line, residency) = (&self.pipes[pipe], &mut self.lines[pipe], &mut self.residency);
        line.promise = None;
        line.awake |= lanes;
        line.due = u64::MAX;
        // Cohorts that have started, and those that have no lanes any more.
        let (mut started, mut empty) = (0u64, 0u64);
        for at in 0..line.cohorts.len() {
            let Some(part) = line.part(at, lanes) else {
                line.changed(at);
                continue;
            };
            if part != at {
                line.changed(at);
            }
            let c = &mut line.cohorts[part];
            count(residency, of, c, now);
            let n = u64::from(c.lanes.count_ones());
            if c.asleep() {
                places(of.kind).iter().for_each(|&p| residency[p].wakes[kind_of_sleep(c.state) as usize] += n);
            }
            let idle = now.saturating_sub(c.idle_from);
            if idle > 0 {
                places(of.kind).iter().for_each(|&p| self.idle[p].add(idle, n));
                control.resumed(of, c, idle);
            }
            (c.state, c.since, c.wanted, c.held) = (LaneState::On, now, None, 0);
            c.idle_from = c.idle_from.max(now + busy);
            c.next = control.next(of, c);
            let c = *c;
            let same = |o: &Cohort| o.tag == c.tag && o.idle_from == c.idle_from && o.next == c.next;
            match bits(started).find(|&at| same(&line.cohorts[at])) {
                Some(other) => {
                    line.cohorts[other].lanes |= c.lanes;
                    line.cohorts[part].lanes = 0;
                    empty |= 1 << part;
                }
                None => {
                    line.changed(part);
                    started |= 1 << part;
                }
            }
        }
        while empty != 0 {
            let last = 63 - empty.leading_zeros();
            line.cohorts.swap_remove(last as usize);
            empty &= !(1 << last);
        }
    }

    /// What lanes do next is no longer what the policy said: asks it again, for all lanes that no instruction waits for.
    /// Changes before `now` have been made as they were planned; new ones are due at `now` at the earliest.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        for pipe in 0..self.pipes.len() {
            self.revise(pipe, control, now, u32::MAX, |_| {});
        }
    }

    /// The same for some lanes of a pipe, after changing something about them (their `tag`).
    pub fn revise(
        &mut self,
        pipe: usize,
        control: &(impl Control + ?Sized),
        now: u64,
        lanes: u32,
        mut change: impl FnMut(&mut Cohort),
    ) {
        self.settle(pipe, control, now);
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        line.promise = None;
        for at in 0..line.cohorts.len() {
            let Some(at) = line.part(at, lanes) else { continue };
            let c = &mut line.cohorts[at];
            change(c);
            if c.wanted.is_none() {
                let earliest = now.max(c.held);
                c.next = control.next(of, c).map(|(at, state)| (at.max(earliest), state));
            }
            line.changed(at);
        }
    }

    /// Wakes lanes up before an instruction wants them, those of a pipe in `lanes` that are asleep.
    pub fn wake_early(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) {
        self.settle(pipe, control, now);
        let asleep = self.lines[pipe].cohorts.iter().filter(|c| c.asleep() && c.wanted.is_none());
        let asleep = asleep.fold(0, |mask, c| mask | c.lanes) & lanes;
        if asleep != 0 {
            self.demand(pipe, control, now, asleep, now);
        }
    }

    /// An instruction is on its way that will want lanes of a pipe: those that are asleep wake up, and none falls asleep
    /// before `until`.
    pub fn expect(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) {
        self.settle(pipe, control, now);
        let sleeps = |c: &Cohort| {
            let will = c.next.is_some_and(|(at, state)| {
                at < until && !matches!(state, LaneState::On | LaneState::IdleDetect | LaneState::Waking)
            });
            c.asleep() && c.wanted.is_none() || c.awake() && will
        };
        let concerned = self.lines[pipe].cohorts.iter().filter(|c| c.lanes & lanes != 0 && sleeps(c));
        let concerned = concerned.fold(0, |mask, c| mask | c.lanes) & lanes;
        if concerned != 0 {
            self.tell(pipe, control, now, concerned);
            self.demand(pipe, control, now, concerned, until);
        }
    }

    /// Takes the lane-cycles before `now`.
    pub fn take_residency(&mut self, control: &(impl Control + ?Sized), now: u64) -> [LaneResidency; 3] {
        for at in 0..self.pipes.len() {
            self.settle(at, control, now);
            let pipe = &self.pipes[at];
            for c in &mut self.lines[at].cohorts {
                count(&mut self.residency, pipe, c, now);
            }
        }
        self.residency[2].cycles[LaneState::On as usize] += self.sfu_lanes * (now - self.sfu_counted);
        self.sfu_counted = now;
        std::mem::take(&mut self.residency)
    }
}

/// Counts the cycles of a cohort before `now` in its present state.
#[inline]
fn count(residency: &mut [LaneResidency; 3], pipe: &Pipe, c: &mut Cohort, now: u64) {
    let cycles = now - c.counted;
    if cycles == 0 {
        return;
    }
    let lanes = u64::from(c.lanes.count_ones());
    let worked = c.idle_from.min(now).saturating_sub(c.counted);
    for &place in places(pipe.kind) {
        residency[place].cycles[c.state as usize] += lanes * cycles;
        residency[place].busy += lanes * worked;
    }
    c.counted = now;
}

/// A cohort, counted up to `at`, enters a state there.
#[inline]
fn enter(
    residency: &mut [LaneResidency; 3],
    pipe: &Pipe,
    control: &(impl Control + ?Sized),
    c: &mut Cohort,
    at: u64,
    state: LaneState,
) {
    // A blackout is the beginning of being gated, one event with it.
    let falls_asleep = match state {
        LaneState::Gated | LaneState::Blackout => (!gated(c.state)).then_some(LaneState::Gated),
        LaneState::Vs05 | LaneState::Vs03 => (c.state != state).then_some(state),
        LaneState::On | LaneState::IdleDetect | LaneState::Waking => None,
    };
    let lanes = u64::from(c.lanes.count_ones());
    if let Some(entered) = falls_asleep {
        places(pipe.kind).iter().for_each(|&p| residency[p].entries[entered as usize] += lanes);
    }
    if c.asleep() && state == LaneState::Waking {
        places(pipe.kind).iter().for_each(|&p| residency[p].wakes[kind_of_sleep(c.state) as usize] += lanes);
    }
    (c.state, c.since) = (state, at);
    c.next = match (c.wanted, state) {
        (Some(awake), LaneState::Waking) => Some((awake, LaneState::On)),
        _ => {
            c.wanted = None;
            control.next(pipe, c).map(|(at, state)| (at.max(c.held), state))
        }
    };
}
