//! The lanes of an SM under ITAP's state machine.
//!
//! Lanes are bits of masks, and a cycle is a few operations on these. Cycles in which nothing is shown (skipped ones: the
//! window gives no information in them) are passed over from one change to the next.
//!
//! In every cycle, in this order: instructions start, or want lanes that sleep (Activity_cur; these begin to wake up in
//! this cycle); lanes that are on and idle enter VS0.5 (T2); those that slept before go on (T4–T6); groups unite
//! (Table 2); lanes begin to wake up early (T3, T7, T9 by the window).

use super::account::{Account, number};
use super::counters::{Learn, Rules as CounterRules};
use super::frame::{Pipes, report_idle};
use super::fsm::{self, Goal, Seen, Wake};
use super::memory::{Estimates, Memory};
use super::modes::{Mode, Modes};
use super::times::{Soon, Times};
use super::window::{MOST_UNITS, Sight, Single, Unit, Wanted, within};
use crate::lanes::Setup;
use crate::policy_choices;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::LaneResidency;
use warpwatt_machine::hooks::{Ahead, Hook, LanesHook, Report, SmState, StartQuery, Watches};

policy_choices! {
    /// The power of lanes that wake up.
    Waking {
        /// That of the mode that they leave: equation 1 charges an idle period to its end by the mode, and beside it only
        /// the wake-up energy.
        Mode = "mode",
        /// As if they were on, beside the wake-up energy.
        On = "on",
    }
}

policy_choices! {
    /// When lanes pay for a mode that they have left for a shallower one (Table 2).
    Rising {
        /// When they wake up: equation 1 has one wake-up in an idle period, to be fully functional again. It costs what the
        /// deepest mode of the period asks.
        Once = "once",
        /// Each time, and for the shallower mode when they wake up.
        Each = "each",
    }
}

/// Idle cycles after which a lane without peek-ahead may leave VS0.5 (§4.2).
pub(super) const LONG: u64 = 4;
/// An idle period of so many cycles was worth the change (4 + 4).
pub(super) const WORTH: u64 = 8;
/// A longer idle period was worth gating (4 + 44).
pub(super) const GATE: u64 = 48;

/// Most pipes that the window is for.
const PIPES: usize = 2 * MOST_UNITS;

/// Rules of an ITAP.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What is optimized.
    pub goal: Goal,
    /// When the window wakes lanes up.
    pub wake: Wake,
    /// There is a peek-ahead window.
    pub peek: bool,
    /// Lanes that share a mode.
    pub setup: Setup,
    /// Of the mode-change counter.
    pub switch: CounterRules,
    /// Of the confidence counter.
    pub confidence: CounterRules,
    /// Where counters start, as a share of their values.
    pub start: f64,
    /// From which idle periods the counters learn.
    pub learn: Learn,
    /// Power of lanes that wake up.
    pub waking: Waking,
    /// When rising to a shallower mode is paid for.
    pub rising: Rising,
}

/// The lanes of a pipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// Its lanes.
    all: u32,
    /// Modes that sleeping lanes have selected for themselves.
    own: Modes,
    /// Modes that they are in.
    applied: Modes,
    /// Modes whose wake-up energy sleeping lanes will have to pay.
    owed: Modes,
    /// Lanes that wake up, by the mode that they leave.
    waking: Modes,
    /// When they are awake.
    awake_at: Soon,
    /// Before this cycle nothing changes by itself, but for what the window says.
    calm_until: u64,
    /// From this cycle on all lanes are idle, as far as is known.
    all_idle_from: u64,
    /// The lanes that work until then, if those are all that work.
    working: u32,
    /// Lanes that an instruction wants, and the cycle in which it can start: until then they stay awake.
    held_until: u64,
    held: u32,
    /// Lanes have woken up since sleeping ones last took one mode: those may have been what kept their group up.
    parted: bool,
    /// The first cycle after the last one in which a lane works, or worked.
    idle_from: Times,
    /// Lanes that have been wanted since they last worked, and since when.
    wanted: Times,
    memory: Memory,
    account: Account,
}

impl Line {
    /// Lanes that are idle from cycle 0 on.
    fn new(rules: &Rules, lanes: u32) -> Line {
        Line { all: lanes, memory: Memory::new(rules), idle_from: Times::of(lanes, 0), ..Line::default() }
    }

    /// Lanes that cannot take an instruction.
    #[inline]
    fn sleepy(&self) -> u32 {
        self.applied.all() | self.waking.all()
    }

    /// Lanes that cannot take an instruction in cycle `now`, the one after the last that is settled.
    #[inline]
    fn sleepy_in(&self, now: u64) -> u32 {
        self.sleepy() & !self.awake_at.at(now)
    }

    /// The cycle from which an instruction can start on some lanes, if it asks at `now`.
    #[inline]
    fn ready(&self, now: u64, lanes: u32) -> u64 {
        if lanes & self.sleepy() == 0 {
            return now;
        }
        let asleep = self.applied.deepest(lanes).map_or(now, |mode| now + mode.wake_up());
        self.awake_at.last(lanes, now).max(asleep)
    }

    /// Lanes that do not work in cycle `now`, and the first cycle after it in which some of the others do not.
    #[inline]
    fn idle(&self, now: u64) -> (u32, u64) {
        if self.all_idle_from <= now {
            (u32::MAX, u64::MAX)
        } else if self.working != 0 {
            (!self.working, self.all_idle_from)
        } else {
            self.idle_from.reached(now)
        }
    }

    /// Sleeping lanes stay in their modes, but for what the window says.
    #[inline]
    fn sleeps_on(&self) -> bool {
        self.own.is_empty() || self.own.vs05() == 0 && !self.parted
    }

    /// Lanes have begun to work in cycle `now`, or wait awake. Most often nothing else is to be decided in it.
    #[inline]
    fn decided(&mut self, now: u64) {
        let (idle, next) = self.idle(now);
        let falls_asleep = idle & !(self.sleepy() | self.held) & self.all;
        let calm = self.waking.is_empty() && falls_asleep == 0 && self.sleeps_on();
        let next = if self.held != 0 { next.min(self.held_until) } else { next };
        self.calm_until = if calm { next } else { now };
    }

    /// An instruction wants lanes, and can start on them from a later cycle on.
    fn want(&mut self, now: u64, lanes: u32, ready: u64) {
        (self.held, self.held_until) = (lanes, ready);
        let new = lanes & !self.wanted.lanes();
        if new != 0 {
            self.wanted.add(new, now);
        }
        self.decided(now);
    }

    /// Lanes begin to wake up out of these modes. Gives how many of them pay.
    fn wake(&mut self, rules: &Rules, now: u64, modes: Modes) -> u64 {
        let lanes = modes.all();
        let owed = self.owed.among(lanes);
        let mut paid = 0;
        for (mode, lanes) in modes.each() {
            let n = number(lanes);
            self.rise(rules, now, mode, (lanes, n));
            // Most often they have not been in a deeper one.
            if owed == modes {
                self.account.pay(mode, n);
                paid += n;
            }
        }
        if owed != modes {
            for (mode, lanes) in owed.each() {
                self.account.pay(mode, number(lanes));
                paid += number(lanes);
            }
        }
        self.parted = true;
        for own in [&mut self.own, &mut self.applied, &mut self.owed] {
            *own = own.among(!lanes);
        }
        paid
    }

    /// Sleeping lanes of a group take one mode.
    #[inline]
    fn unite(&mut self, rules: &Rules, now: u64) {
        self.parted = false;
        let (before, after) = (self.applied, self.own.united(|lanes| rules.setup.widen(lanes)));
        let changed = after.apart(before);
        if changed == 0 {
            return;
        }
        after.among(changed).each().for_each(|(mode, lanes)| self.account.enter(mode, number(lanes), now));
        let left = before.among(changed);
        if !left.is_empty() {
            left.each().for_each(|(mode, lanes)| self.account.stays(mode, number(lanes), now));
            if rules.rising == Rising::Each {
                let left = Modes::new(0, left.vs03() & after.vs05(), left.pg() & !after.pg());
                left.each().for_each(|(mode, lanes)| self.account.pay(mode, number(lanes)));
                self.owed = Modes::default();
            }
        }
        self.owed = self.owed.deepened(after);
        self.applied = after;
        self.memory.gated |= after.pg();
    }

    /// Lanes are in VS0.5 in cycle `now` alone, and wake up in it. Gives how many.
    #[inline]
    fn nap(&mut self, rules: &Rules, now: u64, lanes: u32) -> u64 {
        let (n, mode) = (number(lanes), Mode::Vs05);
        self.account.enter(mode, n, now);
        self.rise(rules, now, mode, (lanes, n));
        self.account.pay(mode, n);
        n
    }

    /// Lanes, so many, begin to wake up out of a mode.
    #[inline]
    fn rise(&mut self, rules: &Rules, now: u64, mode: Mode, (lanes, n): (u32, u64)) {
        let awake_at = now + mode.wake_up();
        self.awake_at.set(lanes, awake_at);
        self.waking = self.waking.with(Modes::all_in(mode, lanes));
        match rules.waking {
            Waking::Mode => self.account.stays(mode, n, awake_at),
            Waking::On => {
                self.account.stays(mode, n, now);
                self.account.wakes_up(n, mode.wake_up());
            }
        }
    }

    /// The next cycle after `now` in which something changes by itself. `now` is behind us; `idle`: the first one after it
    /// in which lanes that work are idle.
    #[inline]
    fn next_change(&self, now: u64, idle: u64) -> u64 {
        let mut next = idle;
        if self.parted && !self.own.is_empty() {
            next = now + 1;
        }
        if !self.waking.is_empty() {
            next = next.min(self.awake_at.next(now));
        }
        if self.held != 0 {
            next = next.min(self.held_until);
        }
        let longer = self.own.vs05() & self.memory.switching;
        if longer != 0 {
            let four = self.idle_from.first(longer) + LONG;
            next = next.min(four.max(now + 1));
        }
        next
    }

    /// What lanes do at the end of cycle `now`, after instructions have started in it. Gives how many pay for waking up early.
    #[inline(never)]
    fn cycle(&mut self, rules: &Rules, now: u64, informed: bool, &[_, one, two, three]: &Wanted) -> u64 {
        let mut seen = Seen { ahead: informed.then_some([one, two, three]), ..Seen::default() };
        let due = self.calm_until <= now;
        let (slept, (idle, next_idle)) = (self.own.vs05(), self.idle(now));
        let (mut fresh, mut early, mut changed) = (0, 0, due);
        if due {
            self.waking = self.waking.among(!self.awake_at.take(now));
            if self.held_until <= now {
                self.held = 0;
            }
            let active = !(idle & self.all) | self.held;
            (_, fresh) = fsm::of_on(!self.sleepy(), &Seen { active, ..seen });
            // Some of those that fall asleep will be wanted in the next cycle.
            let at_once = if informed { fsm::waking(Modes::new(fresh, 0, 0), &seen, rules.wake).all() } else { 0 };
            if at_once != 0 {
                early += self.nap(rules, now, at_once);
                fresh &= !at_once;
            }
            self.own = self.own.with(Modes::new(fresh, 0, 0));
        }
        if !self.own.is_empty() {
            (seen.switch, seen.confident) = (self.memory.switching, self.memory.confident);
            // With the window nobody asks.
            if !informed && slept & seen.switch != 0 && now >= LONG {
                seen.long = self.idle_from.reached(now - LONG).0;
            }
            let (_, vs03, pg) = fsm::of_vs05(slept, &seen);
            self.own = self.own.gone_on(vs03, pg);
            if fresh | vs03 | pg != 0 || self.parted {
                self.unite(rules, now);
                changed = true;
            }
            // A lane that is wanted, or works, has been taken out of its mode when the instruction came.
            let woken = if informed { fsm::waking(self.applied, &seen, rules.wake) } else { Modes::default() };
            if !woken.is_empty() {
                early += self.wake(rules, now, woken);
                changed = true;
            }
        }
        if changed {
            self.calm_until = self.next_change(now, next_idle);
        }
        early
    }

    /// An instruction starts on lanes that are awake, for some cycles.
    fn begin(&mut self, rules: &Rules, now: u64, lanes: u32, busy: u64) {
        let until = now + busy;
        let (mut old, mut new) = (lanes, lanes);
        while old != 0 {
            let (some, from) = self.idle_from.take(old);
            if some == 0 {
                break;
            }
            if from > until {
                self.idle_from.add(some, from);
                new ^= some;
            } else {
                self.resume(rules, now, (some, from), until);
            }
            old ^= some;
        }
        if new != 0 {
            self.idle_from.add(new, until);
        }
        self.working = if self.all_idle_from <= now { lanes } else { 0 };
        self.all_idle_from = self.all_idle_from.max(until);
        if !self.waking.is_empty() {
            self.waking = self.waking.among(!lanes);
            self.awake_at.remove(lanes);
        }
        if !self.wanted.is_empty() {
            self.wanted.remove(lanes);
        }
        self.held = 0;
        self.decided(now);
    }

    /// Lanes that have been idle from a cycle on, or will be, work until another one.
    #[inline]
    fn resume(&mut self, rules: &Rules, now: u64, (lanes, from): (u32, u64), until: u64) {
        let n = number(lanes);
        self.account.works(n, until - from.max(now));
        if from >= now {
            return;
        }
        self.account.idle.add(now - from, n);
        self.memory.estimates.all += n;
        let mut rest = lanes;
        while rest != 0 {
            // The length that lanes themselves have not made longer by waking up.
            let (wanted, since) = if self.wanted.is_empty() { (0, 0) } else { self.wanted.take(rest) };
            let (some, until) = if wanted != 0 { (wanted, since) } else { (rest, now) };
            self.memory.learn(some, until.saturating_sub(from), rules);
            rest ^= some;
        }
    }

    /// Takes what has been counted before `now`.
    fn take(&mut self, rules: &Rules, now: u64) -> LaneResidency {
        let (applied, waking, awake_at, idle_from) = (self.applied, self.waking, self.awake_at, &self.idle_from);
        self.account.take(now, number(self.all), |account, sign| {
            let cycles = |n: u64| n.wrapping_mul(sign);
            applied.each().for_each(|(mode, lanes)| account.stays(mode, number(lanes), cycles(now)));
            for (some, at) in awake_at.after(now) {
                for (mode, lanes) in waking.among(some).each() {
                    match rules.waking {
                        Waking::Mode => account.stays(mode, number(lanes), cycles(now.wrapping_sub(at))),
                        Waking::On => account.wakes_up(number(lanes), cycles(now.wrapping_sub(at))),
                    }
                }
            }
            for (lanes, until) in idle_from.among(u32::MAX).filter(|entry| entry.1 > now) {
                account.works(number(lanes), cycles(now.wrapping_sub(until)));
            }
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// Cycles before this one are settled.
    now: u64,
    lines: Vec<Line>,
    /// What the window says for cycle `seen_at`, by pipe.
    ahead: [Wanted; PIPES],
    seen_at: u64,
    /// Scratch: the SPs as it sees them.
    #[serde(skip)]
    units: [Unit; MOST_UNITS],
    /// When each SP can take its next instruction.
    free_at: Vec<u64>,
    /// An instruction waits for lanes until this cycle.
    blocked: u64,
    /// Times that instructions had to wait, cycles in which one waited, the cycle after the last of them.
    waits: u64,
    waited: u64,
    waiting: u64,
    /// Lanes that were woken up early.
    early: u64,
    /// Cycles in which the window gave information.
    foreseen: u64,
    /// SFU lane-cycles before this cycle have been taken.
    sfu_taken: u64,
}

/// The hook object.
#[derive(Debug)]
pub struct Switch {
    rules: Rules,
    pipes: Pipes,
    state: State,
}

impl Switch {
    /// The lanes of an SM, all of them idle from cycle 0 on.
    pub fn new(pipes: Pipes, mut rules: Rules) -> Switch {
        rules.setup = rules.setup.on(pipes.simd);
        let state = State {
            now: 0,
            lines: vec![Line::new(&rules, pipes.simd.all()); pipes.count()],
            ahead: Default::default(),
            seen_at: u64::MAX,
            units: Default::default(),
            free_at: vec![0; pipes.units],
            blocked: 0,
            waits: 0,
            waited: 0,
            waiting: 0,
            sfu_taken: 0,
            early: 0,
            foreseen: 0,
        };
        Switch { rules, pipes, state }
    }

    /// Settles all cycles before `end`.
    #[inline]
    fn settle(&mut self, end: u64) {
        if self.state.now < end {
            self.settle_rest(end);
        }
    }

    #[inline(never)]
    fn settle_rest(&mut self, end: u64) {
        self.pass(end);
    }

    /// The same, in place.
    #[inline(always)]
    fn pass(&mut self, end: u64) {
        let (rules, state) = (&self.rules, &mut self.state);
        while state.now < end {
            let now = state.now;
            let informed = state.seen_at == now;
            state.foreseen += informed as u64;
            let mut next = if informed { now + 1 } else { end };
            for (pipe, line) in state.lines.iter_mut().enumerate() {
                // Most often all lanes are on.
                if (line.calm_until <= now) | informed & !line.own.is_empty() {
                    state.early += line.cycle(rules, now, informed, &state.ahead[pipe % PIPES]);
                }
                next = next.min(line.calm_until);
            }
            state.now = next;
        }
    }

    /// An instruction cannot start before `ready`: lanes that sleep wake up, the others wait for them.
    fn refuse(&mut self, pipe: usize, query: &StartQuery, ready: u64) {
        let (now, lanes) = (query.now, query.lanes);
        let state = &mut self.state;
        let line = &mut state.lines[pipe];
        let woken = line.applied.among(lanes);
        line.wake(&self.rules, now, woken);
        line.want(now, lanes, ready);
        match state.free_at.get_mut(query.unit) {
            // A sub-warp keeps back those behind it in its own SP, a whole instruction all that follow.
            Some(free) if query.begins.is_none() => *free = ready,
            _ => state.blocked = ready,
        }
        state.waits += (state.waiting < now) as u64;
        state.waited += (state.waiting <= now) as u64;
        state.waiting = now + 1;
    }

    /// An instruction starts.
    #[inline]
    fn begin(&mut self, pipe: usize, query: &StartQuery) {
        let (now, state) = (query.now, &mut self.state);
        if let Some(free) = state.free_at.get_mut(query.unit) {
            *free = now + u64::from(query.busy);
        }
        state.lines[pipe].begin(&self.rules, now, query.lanes, self.pipes.working(query));
    }
}

impl Switch {
    /// The beginning of cycle `now`: what stands in the OCEX register and the collectors.
    pub fn show(&mut self, now: u64, list: &[Ahead]) {
        self.settle(now);
        if self.single() {
            self.look_single(now, |sight| {
                let _ = list.iter().all(|op| sight.add(op));
            });
        } else {
            self.look(now, |sight| {
                let _ = list.iter().all(|op| sight.add(op));
            });
        }
    }

    /// There is one SP, as wide as a warp, as most often.
    #[inline(always)]
    fn single(&self) -> bool {
        self.pipes.units == 1 && !self.pipes.simd.narrow()
    }

    /// The window of cycle `now` in this case, given its instructions.
    #[inline(always)]
    fn look_single(&mut self, now: u64, give: impl FnOnce(&mut Single<'_>)) {
        let state = &mut self.state;
        let first = state.free_at[0].max(state.blocked);
        let [int, fp, ..] = &mut state.ahead;
        let mut sight = Single::new(within(now, first), self.pipes.scope, [int, fp]);
        give(&mut sight);
        if sight.known {
            state.seen_at = now;
        }
    }

    /// The window of cycle `now`, given its instructions.
    #[inline(never)]
    fn look(&mut self, now: u64, give: impl FnOnce(&mut Sight<'_>)) {
        let state = &mut self.state;
        let count = self.pipes.units.min(MOST_UNITS);
        let units = &mut state.units[..count];
        for (u, unit) in units.iter_mut().enumerate() {
            let asleep = |fp| state.lines[self.pipes.at(u, fp)].sleepy();
            *unit = Unit { busy: within(now, state.free_at[u]), asleep: [asleep(false), asleep(true)] };
        }
        let mut sight = Sight::new(&self.pipes, within(now, state.blocked), units, &mut state.ahead);
        give(&mut sight);
        if sight.known {
            state.seen_at = now;
        }
    }

    /// The first cycle that is not settled.
    pub fn settled(&self) -> u64 {
        self.state.now
    }
}

impl Hook for Switch {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let saved: State = postcard::from_bytes(state).map_err(|e| format!("ITAP's lanes: {e}"))?;
        if saved.lines.len() != self.state.lines.len() || saved.free_at.len() != self.state.free_at.len() {
            return Err("ITAP's lanes were saved under other parameters".to_owned());
        }
        self.state = saved;
        Ok(())
    }

    fn report(&self, now: u64, report: &mut Report) {
        let s = &self.state;
        report.add("lanes.waits", s.waits);
        report.add("lanes.waited", s.waited);
        let estimates = |of: fn(&Estimates) -> u64| s.lines.iter().map(|line| of(&line.memory.estimates)).sum();
        report.add("itap.right", estimates(|e| e.right));
        report.add("itap.estimates", estimates(|e| e.all));
        report.add("itap.early", s.early);
        report.add("itap.foreseen", s.foreseen);
        report.add("itap.cycles", s.now);
        let idle = s.lines.iter().map(|line| (&line.account.idle, line.idle_from.among(u32::MAX)));
        report_idle(&self.pipes, idle, now, report);
    }
}

impl LanesHook for Switch {
    fn ready(&mut self, query: &StartQuery) -> u64 {
        let Some(pipe) = self.pipes.of(query) else { return query.now };
        self.settle(query.now);
        self.state.lines[pipe].ready(query.now, query.lanes)
    }

    fn start(&mut self, query: &StartQuery) -> u64 {
        let Some(pipe) = self.pipes.of(query) else { return query.now };
        let (now, lanes) = (query.now, query.lanes);
        self.settle(now);
        let ready = self.state.lines[pipe].ready(now, lanes);
        if ready > now {
            self.refuse(pipe, query, ready);
            return ready;
        }
        self.begin(pipe, query);
        now
    }

    fn starts_awake(&mut self, query: &StartQuery) -> bool {
        // SFU lanes are always on.
        let Some(pipe) = self.pipes.of(query) else { return true };
        self.settle(query.now);
        let awake = query.lanes & self.state.lines[pipe].sleepy_in(query.now) == 0;
        if awake {
            self.begin(pipe, query);
        }
        awake
    }

    fn held_up(&mut self, query: &StartQuery) {
        let Some(pipe) = self.pipes.of(query) else { return };
        let now = query.now;
        self.settle(now);
        let ready = self.state.lines[pipe].ready(now, query.lanes);
        if ready > now {
            return self.refuse(pipe, query, ready);
        }
        let line = &mut self.state.lines[pipe];
        line.want(now, query.lanes, now + 1);
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        self.settle(now);
        let mut places = [int, fp];
        for (pipe, line) in self.state.lines.iter_mut().enumerate() {
            self.pipes.add(pipe, &line.take(&self.rules, now), &mut places);
        }
        self.pipes.take_sfu(&mut self.state.sfu_taken, now, sfu);
    }

    fn watches(&self) -> Watches {
        if self.rules.peek { Watches::Ahead } else { Watches::None }
    }

    fn watch(&mut self, sm: &SmState<'_>) {
        let now = sm.now + 1;
        self.pass(now);
        if self.single() {
            self.look_single(now, |sight| sm.ahead(|op| sight.add(&op)));
        } else {
            self.look(now, |sight| {
                sm.under_way(|unit, op| sight.goes_on(unit, &op));
                sm.ahead(|op| sight.add(&op));
            });
        }
    }
}
