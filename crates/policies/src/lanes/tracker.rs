//! Lanes' histories, evaluated when somebody asks.

use super::account::Account;
use super::cohort::{Cohort, NEVER, Pipe, PipeKind};
use super::control::{Control, Idle};
use super::idle::IdlePeriods;
use super::line::{Line, MOST};
use super::setup::{Scope, Setup};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::simd::{SFU_LANES, Simd};
use warpwatt_machine::spec::Spec;

/// All lanes of an SM that a policy switches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracker {
    pipes: Vec<Pipe>,
    lines: Vec<Line>,
    /// What is counted, by kind of pipe.
    accounts: [Account; KINDS],
    /// Instructions that had to wait for lanes to wake up, and how long altogether.
    waits: u64,
    waited: u64,
    /// The cycle after the one in which an instruction last had to wait.
    waiting: u64,
    /// Pipes, a bit each, of which lanes have been wanted, or worked, since this was last taken.
    #[serde(skip)]
    touched: u64,
    /// Scratch: lanes that work on beyond the end of an instruction that starts, or are held for one behind it: until when
    /// they work, and are on.
    #[serde(skip)]
    longer: Vec<(u32, u64, u64)>,
    /// Instructions are announced: lanes stay held for those behind one that starts. Otherwise one that has not come by then
    /// has gone to another unit.
    #[serde(skip)]
    announced: bool,
    #[serde(skip)]
    sfu_lanes: u64,
    sfu_counted: u64,
}

/// All lanes of an SFU.
const ALL_OF_SFU: u32 = (1 << SFU_LANES) - 1;

/// Kinds of pipes.
const KINDS: usize = 4;

/// Where a kind of pipe is counted: INT, FP, SFU.
#[inline]
fn places(kind: PipeKind) -> &'static [usize] {
    match kind {
        PipeKind::Int => &[0],
        PipeKind::Fp => &[1],
        PipeKind::Both => &[0, 1],
        PipeKind::Sfu => &[2],
    }
}

const ALL_KINDS: [PipeKind; KINDS] = [PipeKind::Int, PipeKind::Fp, PipeKind::Both, PipeKind::Sfu];

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
            let lanes = if pipe.kind == PipeKind::Sfu { ALL_OF_SFU } else { Simd::of(spec).all() };
            Line::of(Cohort::on((lanes, lanes.count_ones().into()), false, 0, 0).left_alone(pipe, control))
        });
        Tracker {
            lines: lines.collect(),
            pipes,
            accounts: Default::default(),
            waits: 0,
            waited: 0,
            waiting: 0,
            touched: 0,
            longer: Vec::with_capacity(MOST),
            announced: false,
            sfu_lanes: if setup.sfu { 0 } else { u64::from(spec.lanes().1) },
            sfu_counted: 0,
        }
    }

    /// After loading a saved state: what is not saved comes from a fresh one.
    pub(crate) fn complete(&mut self, fresh: &Tracker) -> Result<(), String> {
        let as_fresh = self.pipes == fresh.pipes && self.lines.len() == fresh.lines.len();
        if !as_fresh {
            return Err("the lanes were saved under other parameters".to_owned());
        }
        (self.sfu_lanes, self.announced) = (fresh.sfu_lanes, fresh.announced);
        self.longer.reserve(MOST);
        self.lines.iter_mut().for_each(|l| l.reserve());
        Ok(())
    }

    /// Instructions will be announced.
    pub fn expect_announcements(&mut self) {
        self.announced = true;
    }

    /// The pipes.
    pub fn pipes(&self) -> &[Pipe] {
        &self.pipes
    }

    /// The cohorts of a pipe.
    pub fn cohorts(&self, pipe: usize) -> &[Cohort] {
        &self.lines[pipe].cohorts
    }

    /// Idle periods of INT, FP and SFU lanes, those included that go on at `now`.
    pub fn idle_until(&self, now: u64) -> [IdlePeriods; 3] {
        let mut idle: [IdlePeriods; 3] = Default::default();
        for (kind, account) in ALL_KINDS.into_iter().zip(&self.accounts) {
            places(kind).iter().for_each(|&place| idle[place].join(&account.idle));
        }
        for (pipe, line) in self.pipes.iter().zip(&self.lines) {
            for c in line.cohorts.iter().filter(|c| c.idle_from < now) {
                places(pipe.kind).iter().for_each(|&place| idle[place].add(now - c.idle_from, c.count()));
            }
        }
        idle
    }

    /// Times that instructions had to wait for lanes to wake up (of several that wait in the same cycle one is counted),
    /// and the cycles in which one waited.
    pub fn waits(&self) -> (u64, u64) {
        (self.waits, self.waited)
    }

    /// Finds which lanes of a pipe are awake in cycle `now`.
    #[inline]
    fn look(&mut self, pipe: usize, now: u64) {
        let line = &mut self.lines[pipe];
        if line.turn < now {
            line.look(now);
        }
    }

    /// Some lanes of a pipe are awake.
    #[inline]
    pub fn awake(&mut self, pipe: usize, now: u64, lanes: u32) -> bool {
        self.look(pipe, now);
        lanes & !self.lines[pipe].awake == 0
    }

    /// The cycle from which an instruction can start on some lanes of a pipe.
    #[inline]
    pub fn ready(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        if self.awake(pipe, now, lanes) { now } else { self.woken(pipe, control, now, lanes) }
    }

    /// The same if some of the lanes are not awake.
    fn woken(&self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        let line = &self.lines[pipe];
        if let Some((promised, ready)) = line.promise
            && promised == lanes
            && now <= ready
        {
            return ready;
        }
        let (blackout, wake_up) = (control.blackout(), control.wake_up());
        let ready = |c: &Cohort| match c.asleep(now) {
            _ if c.lanes & lanes == 0 => now,
            true => now.max(c.sleeps_at + blackout) + wake_up,
            false => c.awake_at,
        };
        line.cohorts.iter().fold(now, |latest, c| latest.max(ready(c)))
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
            self.refuse(pipe, control, now, lanes, ready);
            return ready;
        }
        self.begin(pipe, control, now, lanes, busy);
        now
    }

    /// An instruction cannot start before `ready`.
    fn refuse(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        if self.lines[pipe].promise != Some((lanes, ready)) {
            self.demand(pipe, control, now, lanes, ready);
            self.lines[pipe].promise = Some((lanes, ready));
        }
        self.waits += (self.waiting < now) as u64;
        self.waited += (self.waiting <= now) as u64;
        self.waiting = now + 1;
    }

    /// An instruction wants lanes that can start at `ready`: those that sleep wake up for it, and the policy is told of them;
    /// the others wait for them.
    fn demand(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        let account = &mut self.accounts[of.kind as usize];
        self.touched |= 1 << pipe;
        line.promise = None;
        let blackout = control.blackout();
        // Parts that are split off come behind.
        for at in 0..line.cohorts.len() {
            if line.cohorts[at].lanes & lanes == 0 {
                continue;
            }
            let at = line.part(at, lanes);
            let c = &mut line.cohorts[at];
            let wakes = c.asleep(now) | c.waking(now);
            if c.asleep(now) {
                let may_wake = c.sleeps_at + blackout;
                control.demanded(of, now <= may_wake);
                let wakes_at = now.max(may_wake);
                c.wake(account, blackout, wakes_at, wakes_at + control.wake_up());
            } else {
                c.stay(account, now);
            }
            c.detects_at = c.detects_at.max(ready);
            let from = if wakes { c.awake_at } else { c.detects_at };
            c.sleeps_at = control.sleeps_at(of, Idle { from, detects_at: c.detects_at, marked: c.marked });
            line.awake = if c.awake(now) { line.awake | c.lanes } else { line.awake & !c.lanes };
            line.turn = line.turn.min(c.turn(now));
        }
    }

    /// An instruction starts on lanes that are awake.
    pub(super) fn begin(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        let account = &mut self.accounts[of.kind as usize];
        let (until, blackout) = (now + busy, control.blackout());
        self.touched |= 1 << pipe;
        line.promise = None;
        line.awake |= lanes;
        // The place of a cohort that has given all of its lanes: the new one comes there.
        let mut free = None;
        let (mut at, mut turn) = (0, NEVER);
        let (mut rest, mut of_rest) = (0, 0);
        while at < line.cohorts.len() {
            let c = &mut line.cohorts[at];
            let taken = c.lanes & lanes;
            if taken != 0 {
                let count = c.count_of(taken);
                c.works(account, blackout, now, (count, until));
                let on_until = if self.announced { c.detects_at } else { c.idle_from };
                if on_until > until {
                    self.longer.push((taken, c.idle_from.max(until), on_until));
                } else {
                    rest |= taken;
                    of_rest += count;
                }
                if taken != c.lanes {
                    c.leave(taken, count);
                } else if free.is_none() {
                    free = Some(at);
                    at += 1;
                    continue;
                } else {
                    line.cohorts.swap_remove(at);
                    continue;
                }
            }
            turn = turn.min(c.turn(now));
            at += 1;
        }
        let mut start = |cohort: Cohort| {
            turn = turn.min(cohort.turn(now));
            match free.take() {
                Some(at) => line.cohorts[at] = cohort,
                None => line.cohorts.push(cohort),
            }
        };
        let marks = control.marks(of, until) & rest;
        let plain = Cohort::on((rest, of_rest), false, now, until);
        if marks == 0 {
            if rest != 0 {
                start(plain.left_alone(of, control));
            }
        } else if marks == rest {
            start(Cohort { marked: true, ..plain }.left_alone(of, control));
        } else {
            let (marked, plain) = plain.parted(marks);
            start(plain.left_alone(of, control));
            start(Cohort { marked: true, ..marked }.left_alone(of, control));
        }
        if !self.longer.is_empty() {
            for (lanes, idle_from, on_until) in self.longer.drain(..) {
                let marks = control.marks(of, idle_from) & lanes;
                for (lanes, marked) in [(lanes & !marks, false), (marks, true)].into_iter().filter(|part| part.0 != 0) {
                    let c = Cohort::on((lanes, lanes.count_ones().into()), marked, now, idle_from);
                    start(Cohort { detects_at: on_until, ..c }.left_alone(of, control));
                }
            }
        }
        line.turn = turn;
    }

    /// When lanes fall asleep is no longer what the policy said: asks it again, for all that are awake. Those that fell
    /// asleep before `now` did so as it was said; others do at `now` at the earliest.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        (0..self.pipes.len()).for_each(|pipe| self.replan_pipe(pipe, control, now));
    }

    /// The same of a pipe.
    pub fn replan_pipe(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        line.cohorts.iter_mut().for_each(|c| c.replan(of, control, now));
        line.promise = None;
        line.look(now);
    }

    /// The same, after marking some lanes of the pipe.
    pub fn mark(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) {
        let line = &mut self.lines[pipe];
        for at in 0..line.cohorts.len() {
            if line.cohorts[at].lanes & lanes != 0 {
                let at = line.part(at, lanes);
                line.cohorts[at].marked = true;
            }
        }
        self.replan_pipe(pipe, control, now);
    }

    /// An instruction is on its way that will want lanes of a pipe: those that are asleep wake up, and none falls asleep
    /// before `until`, unless the rules change.
    #[inline]
    pub fn announce(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) {
        let of = &self.pipes[pipe];
        let detects = [false, true].map(|marked| control.detects(of, marked));
        // Not by what is planned: a rule may let them go.
        let calm = |c: &Cohort| c.detects_at + detects[c.marked as usize];
        let may_sleep = |c: &Cohort| c.asleep(now) | (calm(c) < until);
        let concerned =
            self.lines[pipe].cohorts.iter().fold(0, |mask, c| mask | if may_sleep(c) { c.lanes } else { 0 }) & lanes;
        if concerned != 0 {
            self.demand(pipe, control, now, concerned, until);
        }
    }

    /// Pipes, a bit each, of which lanes have been wanted, or worked, since this was last taken; not kept in checkpoints.
    #[inline]
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Takes it of some pipes.
    #[inline]
    pub fn take_touched(&mut self, pipes: u64) -> u64 {
        let taken = self.touched & pipes;
        self.touched ^= taken;
        taken
    }

    /// Takes the lane-cycles before `now`.
    pub fn take_residency(&mut self, control: &(impl Control + ?Sized), now: u64) -> [LaneResidency; 3] {
        let mut closed = self.accounts.each_mut().map(Account::take);
        for (pipe, line) in self.pipes.iter().zip(&self.lines) {
            let kind = pipe.kind as usize;
            line.cohorts.iter().for_each(|c| self.accounts[kind].cut(&mut closed[kind], c, control.blackout(), now));
        }
        let mut taken: [LaneResidency; 3] = Default::default();
        for (kind, closed) in ALL_KINDS.into_iter().zip(&closed) {
            places(kind).iter().for_each(|&place| taken[place].add(closed));
        }
        taken[2].cycles[LaneState::On as usize] += self.sfu_lanes * (now - self.sfu_counted);
        self.sfu_counted = now;
        taken
    }
}
