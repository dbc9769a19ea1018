//! Lanes' histories, evaluated when somebody asks.

use super::account::Account;
use super::cohort::{Cohort, NEVER, Pipe, PipeKind};
use super::control::Control;
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
    /// Pipes, a bit each, of which lanes have fallen asleep or woken up, been wanted, worked, or got other plans since this was
    /// last taken.
    #[serde(skip)]
    touched: u64,
    /// Scratch: lanes that work on beyond the end of an instruction that starts, or are held for one behind it: until when
    /// they work and are held.
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

/// Lanes, and how many.
#[inline]
fn counted(lanes: u32) -> (u32, u64) {
    (lanes, lanes.count_ones().into())
}

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
            Line::of(Cohort::on(counted(lanes), false, 0, 0).planned(0, pipe, control))
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
        if !as_fresh || self.lines.iter().any(|line| line.stirring > line.cohorts.len()) {
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

    /// The cohorts of a pipe, as they were when it was last brought up to date ([`Tracker::settle`]).
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

    /// Makes the changes of a pipe that are due before `now`.
    pub fn settle(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        self.make_changes(pipe, control, now, |c| c.next_at);
    }

    /// Makes those of them after which other lanes are awake than before.
    #[inline]
    pub fn turn(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        if self.lines[pipe].turn < now {
            self.make_changes(pipe, control, now, |c| c.turn);
        }
    }

    /// Makes the changes before `now` of cohorts that have waited long enough.
    fn make_changes(
        &mut self,
        pipe: usize,
        control: &(impl Control + ?Sized),
        now: u64,
        until: impl Fn(&Cohort) -> u64,
    ) {
        let touches = 1 << pipe;
        let (pipe, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        let account = &mut self.accounts[pipe.kind as usize];
        let (mut at, mut turn, mut awake) = (0, NEVER, 0);
        while at < line.stirring {
            let c = &mut line.cohorts[at];
            if until(c) < now {
                c.catch_up(account, pipe, control, now);
                c.look_ahead(pipe, control);
                if c.rests() {
                    line.rest(at);
                    continue;
                }
            }
            turn = turn.min(c.turn);
            awake |= if c.awake() { c.lanes } else { 0 };
            at += 1;
        }
        self.touched |= if awake != line.awake { touches } else { 0 };
        (line.turn, line.awake) = (turn, awake);
    }

    /// Some lanes of a pipe are awake.
    #[inline]
    pub fn awake(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> bool {
        self.turn(pipe, control, now);
        lanes & !self.lines[pipe].awake == 0
    }

    /// The cycle from which an instruction can start on some lanes of a pipe.
    #[inline]
    pub fn ready(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        if self.awake(pipe, control, now, lanes) { now } else { self.wake_up(pipe, control, now, lanes) }
    }

    /// The same if some of the lanes are not awake.
    fn wake_up(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        if let Some((promised, ready)) = line.promise
            && promised == lanes
            && now <= ready
        {
            return ready;
        }
        // Lanes that rest wake up alike (`Control::wake`): the first of them stands for all.
        let one = line.cohorts.get(line.stirring).filter(|_| line.resting & lanes != 0);
        let mut latest = one.map_or(now, |c| c.ready(of, control, now));
        let account = &mut self.accounts[of.kind as usize];
        for c in &mut line.cohorts[..line.stirring] {
            if c.lanes & lanes & !line.awake != 0 {
                c.bring_up(account, of, control, now);
                latest = latest.max(c.ready(of, control, now));
            }
        }
        latest
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

    /// Wakes lanes up for an instruction that can start at `ready`; tells the policy of those that sleep and have not been
    /// asked for. Lanes that were to fall asleep or wake up before `now` have done so.
    fn demand(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        let account = &mut self.accounts[of.kind as usize];
        self.touched |= 1 << pipe;
        line.promise = None;
        line.rouse(lanes);
        // Parts that are split off come behind.
        let cohorts = line.stirring;
        for at in 0..cohorts {
            let c = &mut line.cohorts[at];
            if c.lanes & lanes == 0 {
                continue;
            }
            c.bring_up(account, of, control, now);
            if c.sleeps_on() {
                control.demanded(of, c, now);
            }
            let at = line.part(at, lanes);
            let c = &mut line.cohorts[at];
            c.held = c.held.max(ready);
            if c.awake() {
                if c.state == LaneState::IdleDetect {
                    account.moves(c.count(), now, c.state, LaneState::On);
                    (c.state, c.since) = (LaneState::On, now);
                }
                // They wait for the others.
                (c.next_at, c.next) = (c.held.max(c.idle_from), LaneState::IdleDetect);
            } else if c.wanted == 0 {
                let wake = control.wake(of, c, now);
                c.wanted = wake.until;
                (c.next_at, c.next) = (wake.from, LaneState::Waking);
                if wake.from <= now {
                    c.next_at = now;
                    c.enter(account, of, control);
                }
            }
            line.changed(at, of, control);
        }
    }

    /// An instruction starts on lanes that are awake.
    pub(super) fn begin(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        let (of, line) = (&self.pipes[pipe], &mut self.lines[pipe]);
        let account = &mut self.accounts[of.kind as usize];
        let until = now + busy;
        // Which part of being held goes on behind this instruction: all of it, or nothing.
        let behind = if self.announced { u64::MAX } else { 0 };
        self.touched |= 1 << pipe;
        line.promise = None;
        line.awake |= lanes;
        // They rest if waking up takes no time.
        line.rouse(lanes);
        // The place of a cohort that has given all of its lanes: it is still counted as stirring, and the new one comes there.
        let mut free = None;
        let (mut at, mut turn) = (0, NEVER);
        let (mut rest, mut of_rest) = (0, 0);
        while at < line.stirring {
            let c = &mut line.cohorts[at];
            let taken = c.lanes & lanes;
            if taken != 0 {
                let count = c.count_of(taken);
                c.works(account, of, control, now, (count, until));
                let held = c.held & behind;
                if c.idle_from > until || held > until {
                    self.longer.push((taken, c.idle_from.max(until), held));
                } else {
                    rest |= taken;
                    of_rest += count;
                }
                if taken != c.lanes {
                    c.leave(taken, count);
                } else if free.is_none() {
                    (c.turn, free) = (NEVER, Some(at));
                } else {
                    line.remove(at);
                    continue;
                }
            }
            turn = turn.min(c.turn);
            at += 1;
        }
        let marks = control.marks(of, until) & rest;
        let mut start = |(lanes, count): (u32, u64), marked| {
            let c = Cohort::on((lanes, count), marked, now, until).planned(0, of, control);
            turn = turn.min(c.turn);
            match free.take() {
                Some(at) => line.cohorts[at] = c,
                None => drop(line.add(c)),
            }
        };
        if marks == 0 || marks == rest {
            if rest != 0 {
                start((rest, of_rest), marks != 0);
            }
        } else {
            let (marks, of_marks) = counted(marks);
            start((rest & !marks, of_rest - of_marks), false);
            start((marks, of_marks), true);
        }
        if !self.longer.is_empty() {
            for (lanes, idle_from, held) in self.longer.drain(..) {
                let marks = control.marks(of, idle_from) & lanes;
                for (lanes, marked) in [(lanes & !marks, false), (marks, true)].into_iter().filter(|part| part.0 != 0) {
                    let c = Cohort::on(counted(lanes), marked, now, idle_from).planned(held, of, control);
                    turn = turn.min(c.turn);
                    line.add(c);
                }
            }
            // All of the lanes work on: nobody has taken the place.
            if let Some(at) = free {
                line.remove(at);
            }
        }
        line.turn = turn;
    }

    /// What lanes do next is no longer what the policy said: asks it again, for all lanes that no instruction waits for.
    /// Changes before `now` have been made as they were planned; new ones are due at `now` at the earliest.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        for pipe in 0..self.pipes.len() {
            self.revise(pipe, control, now, u32::MAX, |_| {});
        }
    }

    /// The same for some lanes of a pipe, after changing something about them.
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
        self.touched |= 1 << pipe;
        line.promise = None;
        (line.stirring, line.resting) = (line.cohorts.len(), 0);
        for at in 0..line.stirring {
            if line.cohorts[at].lanes & lanes == 0 {
                continue;
            }
            let at = line.part(at, lanes);
            let c = &mut line.cohorts[at];
            change(c);
            if c.wanted == 0 {
                c.plan(of, control, now.max(c.held));
            }
            line.changed(at, of, control);
        }
        for at in (0..line.stirring).rev() {
            if line.cohorts[at].rests() {
                line.rest(at);
            }
        }
    }

    /// An instruction is on its way that will want lanes of a pipe: those that are asleep wake up, and none falls asleep
    /// before `until`, unless the rules change.
    #[inline]
    pub fn announce(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) {
        self.turn(pipe, control, now);
        let line = &self.lines[pipe];
        let may_sleep = |c: &Cohort| if c.calm < until { c.lanes } else { 0 };
        let stirring = line.cohorts[..line.stirring].iter();
        let concerned = lanes & stirring.fold(line.resting, |mask, c| mask | may_sleep(c));
        if concerned != 0 {
            self.demand(pipe, control, now, concerned, until);
        }
    }

    /// Pipes, a bit each, of which lanes have fallen asleep or woken up, been wanted, worked, or got other plans since this was
    /// last taken; not kept in checkpoints.
    #[inline]
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Takes it.
    #[inline]
    pub fn take_touched(&mut self) -> u64 {
        std::mem::take(&mut self.touched)
    }

    /// Lanes fall asleep or wake up before `now`, and it has not been noted yet.
    pub fn turns_before(&self, now: u64) -> bool {
        self.lines.iter().any(|line| line.turn < now)
    }

    /// Takes the lane-cycles before `now`.
    pub fn take_residency(&mut self, control: &(impl Control + ?Sized), now: u64) -> [LaneResidency; 3] {
        (0..self.pipes.len()).for_each(|pipe| self.settle(pipe, control, now));
        let mut closed = self.accounts.each_mut().map(Account::take);
        for (pipe, line) in self.pipes.iter().zip(&self.lines) {
            let kind = pipe.kind as usize;
            for c in &line.cohorts {
                self.accounts[kind].cut(&mut closed[kind], c.count(), now, c.state, c.idle_from);
            }
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
