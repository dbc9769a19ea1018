//! The lanes of a pipe: by their histories, who of them is awake, and what is counted of them.

use super::account::Account;
use super::cohort::{Cohort, Pipe};
use super::control::{Control, Idle};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// Most cohorts of a pipe, and one that is being split off.
const MOST: usize = 33;

/// The lanes of a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub pipe: Pipe,
    /// Lanes with the same history.
    pub cohorts: Vec<Cohort>,
    /// Lanes that an instruction waits for, and the cycle that it was told, while that is the last thing that happened here:
    /// it asks again in every cycle.
    promise: Option<(u32, u64)>,
    pub account: Account,
    /// See [`Cohort::on_until`].
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

    /// The cycle, `now` or later, from which an instruction can start on some lanes if it wants them now.
    #[inline]
    pub fn ready(&self, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        let (blackout, wake_up) = (control.blackout(), control.wake_up());
        // Who is asleep, and of these lanes, cannot be foreseen.
        let ready = |c: &Cohort| {
            let woken = now.max(c.sleeps_at.wrapping_add(blackout)).wrapping_add(wake_up);
            let from = select_unpredictable(c.asleep(now), woken, c.awake_at);
            select_unpredictable(c.lanes & lanes != 0, from, now)
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

    /// An instruction is on its way that will want lanes. Those that are asleep wake up, and none falls asleep before
    /// `until`, unless the rules change. Whether there are any.
    #[inline]
    pub fn announce(&mut self, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) -> bool {
        let pipe = &self.pipe;
        // Not by what is planned: a rule may let them go.
        let calm = |c: &Cohort| c.detects_at + control.detects(pipe, c.marked);
        let may_sleep = |c: &Cohort| select_unpredictable(c.asleep(now) | (calm(c) < until), c.lanes, 0);
        let concerned = self.cohorts.iter().fold(0, |mask, c| mask | may_sleep(c)) & lanes;
        if concerned != 0 {
            self.demand(control, now, concerned, until);
        }
        concerned != 0
    }

    /// An instruction wants lanes that can start at `ready`: those that sleep wake up for it, and the policy is told of them;
    /// the others wait for them.
    #[inline(never)]
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
        }
    }

    /// An instruction starts on lanes if they are ready. Whether they are, those aside that wake up in no time.
    #[inline]
    pub fn starts_awake(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) -> bool {
        let until = now + busy;
        let marks = control.marks(&self.pipe, until) & lanes;
        // Most often they are a cohort already, and stay one.
        if let Some(c) = self.cohorts.iter_mut().find(|c| c.lanes == lanes) {
            if c.asleep(now) | c.waking(now) {
                return false;
            }
            let on_until = c.on_until(self.announced);
            if on_until <= until && (marks == 0 || marks == lanes) {
                self.promise = None;
                c.works(&mut self.account, control.blackout(), now, (c.count(), until));
                *c = Cohort::on((lanes, c.count()), marks != 0, now, until).left_alone(&self.pipe, control);
                return true;
            }
        } else if self.ready(control, now, lanes) > now {
            return false;
        }
        self.begin(control, now, lanes, busy);
        true
    }

    /// An instruction starts on lanes that are ready.
    #[inline(never)]
    pub fn begin(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32, busy: u64) {
        self.promise = None;
        let (until, blackout) = (now + busy, control.blackout());
        // The place of a cohort that has given all of its lanes: a new one comes there.
        let mut free = None;
        let (mut at, mut rest) = (0, 0);
        while at < self.cohorts.len() {
            let c = &mut self.cohorts[at];
            let taken = c.lanes & lanes;
            if taken == 0 {
                at += 1;
                continue;
            }
            let count = c.count_of(taken);
            c.works(&mut self.account, blackout, now, (count, until));
            let on_until = c.on_until(self.announced);
            if on_until > until {
                self.longer.push((taken, c.idle_from.max(until), on_until));
            } else {
                rest |= taken;
            }
            if taken != c.lanes {
                c.leave(taken, count);
                at += 1;
            } else if free.is_none() {
                free = Some(at);
                at += 1;
            } else {
                self.cohorts.swap_remove(at);
            }
        }
        if rest != 0 {
            self.form(control, &mut free, rest, (now, until, until));
        }
        while let Some((lanes, idle_from, on_until)) = self.longer.pop() {
            self.form(control, &mut free, lanes, (now, idle_from, on_until));
        }
    }

    /// Lanes become a cohort, or two if some are marked, from `now` on; it takes the place that is free. Until when they work,
    /// and are on.
    #[inline(never)]
    fn form(
        &mut self,
        control: &(impl Control + ?Sized),
        free: &mut Option<usize>,
        lanes: u32,
        (now, idle_from, on_until): (u64, u64, u64),
    ) {
        let marks = control.marks(&self.pipe, idle_from) & lanes;
        for (lanes, marked) in [(lanes & !marks, false), (marks, true)].into_iter().filter(|part| part.0 != 0) {
            let c = Cohort::on((lanes, lanes.count_ones().into()), marked, now, idle_from);
            let c = Cohort { detects_at: on_until, ..c }.left_alone(&self.pipe, control);
            match free.take() {
                Some(at) => self.cohorts[at] = c,
                None => self.cohorts.push(c),
            }
        }
    }

    /// The policy says anew when lanes fall asleep.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        self.cohorts.iter_mut().for_each(|c| c.replan(&self.pipe, control, now));
        self.promise = None;
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
