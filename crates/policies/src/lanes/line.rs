//! The lanes of a pipe: by their histories, who of them is awake, and what is counted of them.

use super::account::Account;
use super::cohort::{Cohort, NEVER, Pipe};
use super::control::{Control, Idle};
use serde::{Deserialize, Serialize};

/// Most cohorts of a pipe, and one that is being split off.
const MOST: usize = 33;

/// The lanes of a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub pipe: Pipe,
    /// Lanes with the same history.
    pub cohorts: Vec<Cohort>,
    /// Lanes that are awake, up to `turn`.
    awake: u32,
    /// The last cycle in which these lanes can take an instruction, and the others cannot.
    turn: u64,
    /// The answer to a demand for these lanes, while it is the last thing that happened here. It holds until its cycle:
    /// lanes that are wanted do not fall asleep before.
    promise: Option<(u32, u64)>,
    pub account: Account,
    /// Instructions are announced: lanes stay on for those behind one that starts. Otherwise one that has not come by then
    /// has gone to another unit.
    #[serde(skip)]
    pub announced: bool,
    /// Scratch: lanes that work on beyond the end of an instruction that starts, or stay on for one behind it: until when
    /// they work, and are on.
    #[serde(skip)]
    longer: Vec<(u32, u64, u64)>,
}

impl Line {
    /// Lanes that are all awake, and idle from cycle 0 on.
    pub fn new(pipe: Pipe, lanes: u32, control: &(impl Control + ?Sized)) -> Line {
        let cohort = Cohort::on((lanes, lanes.count_ones().into()), false, 0, 0).left_alone(&pipe, control);
        let mut line = Line {
            pipe,
            cohorts: Vec::new(),
            awake: lanes,
            turn: 0,
            promise: None,
            account: Account::default(),
            announced: false,
            longer: Vec::new(),
        };
        line.reserve();
        line.cohorts.push(cohort);
        line
    }

    /// Makes room for all cohorts that there can be.
    pub fn reserve(&mut self) {
        self.cohorts.reserve(MOST);
        self.longer.reserve(MOST);
    }

    /// Where those lanes of a cohort are that are among `lanes`, some of which are. The others are no longer with them.
    #[inline]
    fn part(&mut self, at: usize, lanes: u32) -> usize {
        let c = &mut self.cohorts[at];
        let taken = c.lanes & lanes;
        if taken == c.lanes {
            return at;
        }
        let part = c.split(taken);
        self.cohorts.push(part);
        self.cohorts.len() - 1
    }

    /// Some lanes are awake in cycle `now`.
    #[inline]
    pub fn awake(&mut self, now: u64, lanes: u32) -> bool {
        if self.turn < now {
            self.look(now);
        }
        lanes & !self.awake == 0
    }

    /// Finds which lanes are awake in cycle `now`, and for how long that holds.
    #[inline(never)]
    fn look(&mut self, now: u64) {
        (self.awake, self.turn) = (0, NEVER);
        for c in &self.cohorts {
            self.awake |= if c.awake(now) { c.lanes } else { 0 };
            self.turn = self.turn.min(c.turn(now));
        }
    }

    /// The cycle from which an instruction can start on some lanes.
    #[inline]
    pub fn ready(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        if self.awake(now, lanes) { now } else { self.woken(control, now, lanes) }
    }

    /// The same if some of the lanes are not awake.
    #[inline(never)]
    fn woken(&self, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        if let Some((promised, ready)) = self.promise
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
        self.cohorts.iter().fold(now, |latest, c| latest.max(ready(c)))
    }

    /// An instruction is told that it can start at `ready`, and not before. Once is enough.
    pub fn promise(&mut self, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        if self.promise != Some((lanes, ready)) {
            self.demand(control, now, lanes, ready);
            self.promise = Some((lanes, ready));
        }
    }

    /// An instruction wants lanes that can start at `ready`: those that sleep wake up for it, and the policy is told of them;
    /// the others wait for them.
    fn demand(&mut self, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        self.promise = None;
        let blackout = control.blackout();
        // Parts that are split off come behind.
        for at in 0..self.cohorts.len() {
            if self.cohorts[at].lanes & lanes == 0 {
                continue;
            }
            let at = self.part(at, lanes);
            let c = &mut self.cohorts[at];
            let wakes = c.asleep(now) | c.waking(now);
            if c.asleep(now) {
                let may_wake = c.sleeps_at + blackout;
                control.demanded(&self.pipe, now <= may_wake);
                let wakes_at = now.max(may_wake);
                c.wake(&mut self.account, blackout, wakes_at, wakes_at + control.wake_up());
            } else {
                c.stay(&mut self.account, now);
            }
            c.detects_at = c.detects_at.max(ready);
            let from = if wakes { c.awake_at } else { c.detects_at };
            c.sleeps_at = control.sleeps_at(&self.pipe, Idle { from, detects_at: c.detects_at, marked: c.marked });
            self.awake = if c.awake(now) { self.awake | c.lanes } else { self.awake & !c.lanes };
            self.turn = self.turn.min(c.turn(now));
        }
    }

    /// An instruction is on its way that will want lanes. Those that are asleep wake up, and none falls asleep before
    /// `until`, unless the rules change. Whether there are any.
    #[inline]
    pub fn announce(&mut self, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) -> bool {
        let pipe = &self.pipe;
        // Not by what is planned: a rule may let them go.
        let calm = |c: &Cohort| c.detects_at + control.detects(pipe, c.marked);
        let may_sleep = |c: &Cohort| if c.asleep(now) | (calm(c) < until) { c.lanes } else { 0 };
        let concerned = self.cohorts.iter().fold(0, |mask, c| mask | may_sleep(c)) & lanes;
        if concerned != 0 {
            self.demand(control, now, concerned, until);
        }
        concerned != 0
    }

    /// An instruction starts on lanes that are awake.
    #[inline]
    pub fn begin(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        self.promise = None;
        self.awake |= lanes;
        if !self.begin_alike(control, now, lanes, busy) {
            self.begin_apart(control, now, lanes, busy);
        }
    }

    /// The same, if these lanes are a cohort already and stay one, as most often. Whether they are.
    #[inline]
    fn begin_alike(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) -> bool {
        let until = now + busy;
        let marks = control.marks(&self.pipe, until) & lanes;
        let alone = self.cohorts.len() == 1;
        let Some(c) = self.cohorts.iter_mut().find(|c| c.lanes == lanes) else { return false };
        let on_until = if self.announced { c.detects_at } else { c.idle_from };
        if on_until > until || marks != 0 && marks != lanes {
            return false;
        }
        c.works(&mut self.account, control.blackout(), now, (c.count(), until));
        *c = Cohort::on((lanes, c.count()), marks != 0, now, until).left_alone(&self.pipe, control);
        // Of the others the same is true as before, as long as it was.
        self.turn = if alone { c.turn(now) } else { self.turn.min(c.turn(now)) };
        true
    }

    /// The same, if they are not.
    fn begin_apart(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        let (until, blackout) = (now + busy, control.blackout());
        // The place of a cohort that has given all of its lanes: the new one comes there.
        let mut free = None;
        let (mut at, mut turn) = (0, NEVER);
        let (mut rest, mut of_rest) = (0, 0);
        while at < self.cohorts.len() {
            let c = &mut self.cohorts[at];
            let taken = c.lanes & lanes;
            if taken != 0 {
                let count = c.count_of(taken);
                c.works(&mut self.account, blackout, now, (count, until));
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
                    self.cohorts.swap_remove(at);
                    continue;
                }
            }
            turn = turn.min(c.turn(now));
            at += 1;
        }
        let mut start = |cohort: Cohort| {
            turn = turn.min(cohort.turn(now));
            match free.take() {
                Some(at) => self.cohorts[at] = cohort,
                None => self.cohorts.push(cohort),
            }
        };
        let pipe = &self.pipe;
        let marks = control.marks(pipe, until) & rest;
        let plain = Cohort::on((rest, of_rest), false, now, until);
        if marks == 0 {
            if rest != 0 {
                start(plain.left_alone(pipe, control));
            }
        } else if marks == rest {
            start(Cohort { marked: true, ..plain }.left_alone(pipe, control));
        } else {
            let (marked, plain) = plain.parted(marks);
            start(plain.left_alone(pipe, control));
            start(Cohort { marked: true, ..marked }.left_alone(pipe, control));
        }
        if !self.longer.is_empty() {
            for (lanes, idle_from, on_until) in self.longer.drain(..) {
                let marks = control.marks(pipe, idle_from) & lanes;
                for (lanes, marked) in [(lanes & !marks, false), (marks, true)].into_iter().filter(|part| part.0 != 0) {
                    let c = Cohort::on((lanes, lanes.count_ones().into()), marked, now, idle_from);
                    start(Cohort { detects_at: on_until, ..c }.left_alone(pipe, control));
                }
            }
        }
        self.turn = turn;
    }

    /// The policy says anew when lanes fall asleep.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        self.cohorts.iter_mut().for_each(|c| c.replan(&self.pipe, control, now));
        self.promise = None;
        self.look(now);
    }

    /// The same, after marking some of the lanes.
    pub fn mark(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32) {
        for at in 0..self.cohorts.len() {
            if self.cohorts[at].lanes & lanes != 0 {
                let at = self.part(at, lanes);
                self.cohorts[at].marked = true;
            }
        }
        self.replan(control, now);
    }
}
