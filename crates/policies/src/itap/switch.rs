//! The lanes of an SM under ITAP's state machine.
//!
//! Lanes are bits of masks, and a cycle is a few operations on these. Cycles in which nothing is shown (skipped ones: the
//! window gives no information in them) are passed over from one change to the next.
//!
//! In every cycle, in this order: instructions start, or want lanes that sleep (Activity_cur; these begin to wake up in
//! this cycle); lanes that are on and idle enter VS0.5 (T2); those that slept before go on (T4–T6); groups unite
//! (Table 2); lanes begin to wake up early (T3, T7, T9 by the window).

use super::counters::{Learn, Rules as CounterRules};
use super::frame::{Counts, Pipes};
use super::fsm::{self, Goal, Seen, Wake};
use super::memory::{Estimates, Memory};
use super::modes::{Modes, numbers};
use super::times::{Soon, Times};
use super::window::{MOST_UNITS, Sight, Single, Unit, WINDOW, within};
use crate::lanes::Setup;
use crate::policy_choices;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
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
    /// Modes that sleeping lanes have selected for themselves.
    own: Modes,
    /// Modes that they are in.
    applied: Modes,
    /// Lanes have woken up since sleeping ones last took one mode: those may have been what kept their group up.
    parted: bool,
    /// Modes whose wake-up energy sleeping lanes will have to pay.
    owed: Modes,
    /// Lanes that wake up, by the mode that they leave.
    waking: Modes,
    /// When they are awake.
    awake_at: Soon,
    /// Lanes that an instruction wants, and the cycle in which it can start: until then they stay awake.
    held: u32,
    held_until: u64,
    /// Lanes that have been wanted since they last worked, and since when.
    wanted: Times,
    /// The first cycle after the last one in which a lane works, or worked.
    idle_from: Times,
    memory: Memory,
    /// Before this cycle nothing changes by itself, but for what the window says.
    calm_until: u64,
    /// What the lanes do from `counted` on; cycles before it have been counted.
    doing: Doing,
    counted: u64,
}

/// What lanes do, as it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Doing {
    applied: Modes,
    waking: Modes,
    working: u32,
}

impl Line {
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

    /// Lanes have worked up to this cycle, by themselves, and the others sleep as deep as they will: if they now work on, nothing
    /// else changes.
    #[inline]
    fn goes_on(&self, lanes: u32) -> bool {
        let Doing { applied, waking, working } = self.doing;
        // Together: which of them it is cannot be foreseen.
        let other = (working ^ lanes) | self.held | self.waking.all() | waking.all() | applied.apart(self.applied);
        other == 0 && self.sleeps_on()
    }

    /// An instruction wants lanes, and can start on them from a later cycle on.
    fn want(&mut self, now: u64, lanes: u32, ready: u64) {
        (self.held, self.held_until) = (lanes, ready);
        self.wanted.raise(lanes & !self.wanted.lanes(), now);
        self.calm_until = now;
    }

    /// Lanes begin to wake up out of these modes. Gives the modes that they pay for.
    fn wake(&mut self, now: u64, modes: Modes) -> Modes {
        let lanes = modes.all();
        modes.each().iter().for_each(|(mode, lanes)| self.awake_at.set(*lanes, now + mode.wake_up()));
        self.waking = self.waking.with(modes);
        self.parted = true;
        let owed = self.owed.among(lanes);
        for own in [&mut self.own, &mut self.applied, &mut self.owed] {
            *own = own.among(!lanes);
        }
        owed
    }

    /// Sleeping lanes of a group take one mode.
    #[inline]
    fn unite(&mut self, rules: &Rules, pipe: usize, counts: &mut Counts) {
        self.parted = false;
        let (before, after) = (self.applied, self.own.united(|lanes| rules.setup.widen(lanes)));
        if after.apart(before) == 0 {
            return;
        }
        let entered =
            Modes { vs05: after.vs05 & !before.vs05, vs03: after.vs03 & !before.vs03, pg: after.pg & !before.pg };
        counts.enter(pipe, entered);
        if rules.rising == Rising::Each {
            counts.leave(pipe, Modes { pg: before.pg & !after.pg, vs03: before.vs03 & after.vs05, vs05: 0 });
            self.owed = after;
        }
        self.owed = self.owed.deepened(after);
        self.applied = after;
        self.memory.gated |= after.pg;
    }

    /// What the lanes do from cycle `now` on; these are idle in it.
    #[inline]
    fn does(&mut self, rules: &Rules, pipes: &Pipes, pipe: usize, counts: &mut Counts, now: u64, idle: u32) {
        let working = !idle & pipes.simd.all();
        let before = self.doing;
        if (working ^ before.working) | self.applied.apart(before.applied) | self.waking.apart(before.waking) != 0 {
            self.count(rules, pipes, pipe, counts, now);
            // One by one: as a whole it would be put together in memory, and wait for that.
            (self.doing.applied, self.doing.waking) = (self.applied, self.waking);
            self.doing.working = working;
        }
    }

    /// Sleeping lanes stay in their modes, but for what the window says.
    #[inline]
    fn sleeps_on(&self) -> bool {
        self.own.all() == 0 || self.own.vs05 == 0 && !self.parted
    }

    /// What the window shows changes something: lanes go deeper or wake up, or a group's mode is looked at again.
    #[inline]
    fn heeds(&self, ahead: [u32; WINDOW], wake: Wake) -> bool {
        // Most often all lanes are on.
        if self.own.all() == 0 {
            return false;
        }
        let any = ahead.iter().fold(0, |any, lanes| any | lanes);
        let concerned = self.own.vs05 != 0 || self.applied.all() & any != 0;
        concerned
            && (self.parted || self.own.vs05 & !any != 0 || {
                let seen = Seen { ahead: Some(ahead), ..Seen::default() };
                fsm::waking(self.applied, &seen, wake).all() != 0
            })
    }

    /// The next cycle after `now` in which something changes by itself. `now` is behind us; `idle`: the first one after it
    /// in which lanes that work are idle.
    #[inline]
    fn next_change(&self, now: u64, idle: u64) -> u64 {
        let mut next = idle.min(self.awake_at.next(now));
        if self.held != 0 {
            next = next.min(self.held_until);
        }
        let longer = self.own.vs05 & self.memory.switching;
        if longer != 0 {
            let four = self.idle_from.first(longer, 0) + LONG;
            next = next.min(four.max(now + 1));
        }
        next
    }

    /// Counts the cycles before `now` by what the lanes have done.
    fn count(&mut self, rules: &Rules, pipes: &Pipes, pipe: usize, counts: &mut Counts, now: u64) {
        let Doing { applied, waking, working } = self.doing;
        let cycles = now - self.counted;
        self.counted = now;
        let (as_mode, waking) = match rules.waking {
            Waking::Mode => (applied.with(waking), 0),
            Waking::On => (applied, waking.all().count_ones().into()),
        };
        let [vs05, vs03, gated, working] = numbers([as_mode.vs05, as_mode.vs03, as_mode.pg, working]);
        let on = u64::from(pipes.simd.width()) - (vs05 + vs03 + gated + waking);
        let counted = counts.of_pipe(pipe);
        for (state, lanes) in [
            (LaneState::On, on),
            (LaneState::Gated, gated),
            (LaneState::Waking, waking),
            (LaneState::Vs05, vs05),
            (LaneState::Vs03, vs03),
        ] {
            counted.cycles[state as usize] += lanes * cycles;
        }
        counted.busy += working * cycles;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// Cycles before this one are settled.
    now: u64,
    lines: Vec<Line>,
    /// What the window says for cycle `seen_at`, by pipe.
    ahead: Vec<[u32; WINDOW]>,
    seen_at: u64,
    /// Scratch: the SPs as it sees them.
    #[serde(skip)]
    units: [Unit; MOST_UNITS],
    /// When each SP can take its next instruction.
    free_at: Vec<u64>,
    /// An instruction waits for lanes until this cycle.
    blocked: u64,
    counts: Counts,
    /// Times that instructions had to wait, cycles in which one waited, the cycle after the last of them.
    waits: u64,
    waited: u64,
    waiting: u64,
    estimates: Estimates,
    /// Lanes that were woken up early.
    early: u64,
    /// Cycles in which the window gave information.
    foreseen: u64,
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
            lines: vec![
                Line {
                    memory: Memory::new(&rules),
                    idle_from: Times::of(pipes.simd.all(), 0),
                    ..Line::default()
                };
                pipes.count()
            ],
            ahead: vec![[0; WINDOW]; pipes.count()],
            seen_at: u64::MAX,
            units: Default::default(),
            free_at: vec![0; pipes.units],
            blocked: 0,
            counts: Counts::of(&pipes),
            waits: 0,
            waited: 0,
            waiting: 0,
            estimates: Estimates::default(),
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
        while self.state.now < end {
            let now = self.state.now;
            let informed = self.state.seen_at == now;
            self.state.foreseen += informed as u64;
            let mut next = if informed { now + 1 } else { end };
            for pipe in 0..self.state.lines.len() {
                let line = &self.state.lines[pipe];
                if line.calm_until <= now || informed && line.heeds(self.state.ahead[pipe], self.rules.wake) {
                    self.cycle(pipe, now, informed);
                }
                next = next.min(self.state.lines[pipe].calm_until);
            }
            self.state.now = next;
        }
    }

    /// What lanes do at the end of cycle `now`, after instructions have started in it.
    #[inline(never)]
    fn cycle(&mut self, pipe: usize, now: u64, informed: bool) {
        let (rules, pipes, state) = (&self.rules, &self.pipes, &mut self.state);
        let (line, counts) = (&mut state.lines[pipe], &mut state.counts);
        line.waking = line.waking.among(!line.awake_at.take(now));
        if line.held_until <= now {
            line.held = 0;
        }
        let (idle, next_idle) = line.idle_from.reached(now);
        let memory = &line.memory;
        let long = match now.checked_sub(LONG) {
            // With the window nobody asks.
            Some(then) if !informed && memory.switching & line.own.vs05 != 0 => line.idle_from.reached(then).0,
            _ => 0,
        };
        let seen = Seen {
            active: !idle | line.held,
            long,
            switch: memory.switching,
            confident: memory.confident,
            ahead: informed.then_some(state.ahead[pipe]),
        };
        let (_, fresh) = fsm::of_on(!line.sleepy(), &seen);
        // Most often all lanes are busy.
        if fresh | line.own.all() != 0 {
            let (_, vs03, pg) = fsm::of_vs05(line.own.vs05, &seen);
            // A lane that is wanted, or works, has been taken out of its mode when the instruction came.
            let early = |modes: Modes| {
                if informed { fsm::waking(modes, &seen, rules.wake).among(!seen.active) } else { Modes::default() }
            };
            let at_once = early(Modes { vs05: fresh, ..Modes::default() });
            line.own = Modes {
                vs05: (line.own.vs05 | fresh) & !(vs03 | pg | at_once.vs05),
                vs03: line.own.vs03 | vs03,
                pg: line.own.pg | pg,
            };
            line.unite(rules, pipe, counts);
            let woken = early(line.applied).with(at_once);
            if woken.all() != 0 {
                line.owed = line.owed.with(at_once);
                counts.enter(pipe, at_once);
                // Each of them pays.
                state.early += counts.leave(pipe, line.wake(now, woken));
            }
        }
        line.does(rules, pipes, pipe, counts, now, idle);
        line.calm_until = line.next_change(now, next_idle);
    }

    /// An instruction cannot start before `ready`: lanes that sleep wake up, the others wait for them.
    fn refuse(&mut self, pipe: usize, query: &StartQuery, ready: u64) {
        let (now, lanes) = (query.now, query.lanes);
        let state = &mut self.state;
        let line = &mut state.lines[pipe];
        line.want(now, lanes, ready);
        let woken = line.applied.among(lanes);
        state.counts.leave(pipe, line.wake(now, woken));
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
        let (now, lanes, busy) = (query.now, query.lanes, self.pipes.working(query));
        if let Some(free) = self.state.free_at.get_mut(query.unit) {
            *free = now + u64::from(query.busy);
        }
        let line = &mut self.state.lines[pipe];
        if line.goes_on(lanes & self.pipes.simd.all()) {
            line.idle_from.raise(lanes, now + busy);
            line.calm_until = line.idle_from.first(lanes, now + 1);
            return;
        }
        self.begin_after(pipe, now, lanes, busy);
    }

    /// The same on lanes that have been idle, or beside others that have worked.
    fn begin_after(&mut self, pipe: usize, now: u64, lanes: u32, busy: u64) {
        let state = &mut self.state;
        let line = &mut state.lines[pipe];
        let wanted = line.wanted.lanes() & lanes;
        for (some, from) in line.idle_from.among(lanes).filter(|entry| entry.1 < now) {
            state.counts.period(pipe, now - from, some.count_ones().into());
            // The length that lanes themselves have not made longer by waking up.
            let mut learn = |lanes, until: u64| {
                line.memory.learn(lanes, until.saturating_sub(from), &self.rules, &mut state.estimates);
            };
            if some & wanted != 0 {
                line.wanted.among(some).for_each(|(lanes, since)| learn(lanes, since));
            }
            if some & !wanted != 0 {
                learn(some & !wanted, now);
            }
        }
        line.idle_from.raise(lanes, now + busy);
        line.waking = line.waking.among(!lanes);
        line.awake_at.remove(lanes);
        line.wanted.remove(wanted);
        line.held = 0;
        let (idle, next) = line.idle_from.reached(now);
        line.calm_until = now;
        if line.waking.all() | idle & !line.sleepy() == 0 && line.sleeps_on() {
            // Nothing is left to decide in this cycle.
            line.does(&self.rules, &self.pipes, pipe, &mut state.counts, now, idle);
            line.calm_until = next;
        }
    }
}

impl Switch {
    /// The beginning of cycle `now`: what stands in the OCEX register and the collectors.
    pub fn show(&mut self, now: u64, list: &[Ahead]) {
        if let Some(mut sight) = self.single(now) {
            let _ = list.iter().all(|op| sight.add(op));
            self.saw(now, &sight);
        } else {
            self.look(now, |sight| {
                let _ = list.iter().all(|op| sight.add(op));
            });
        }
    }

    /// The window of cycle `now` in the usual case of one wide SP, before it is given its instructions.
    #[inline(always)]
    fn single(&mut self, now: u64) -> Option<Single> {
        if self.pipes.units != 1 || self.pipes.simd.narrow() {
            return None;
        }
        self.pass(now);
        let first = self.state.free_at[0].max(self.state.blocked);
        Some(Single::new(within(now, first), self.pipes.scope))
    }

    /// Afterwards.
    #[inline(always)]
    fn saw(&mut self, now: u64, sight: &Single) {
        if sight.known() {
            sight.give(&mut self.state.ahead);
            self.state.seen_at = now;
        }
    }

    /// The window of cycle `now`, given its instructions.
    #[inline(never)]
    fn look(&mut self, now: u64, give: impl FnOnce(&mut Sight<'_>)) {
        self.settle(now);
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
        report.add("itap.right", s.estimates.right);
        report.add("itap.estimates", s.estimates.all);
        report.add("itap.early", s.early);
        report.add("itap.foreseen", s.foreseen);
        report.add("itap.cycles", s.now);
        s.counts.report(&self.pipes, s.lines.iter().map(|l| l.idle_from.among(u32::MAX)), now, report);
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
        for (pipe, line) in self.state.lines.iter_mut().enumerate() {
            line.count(&self.rules, &self.pipes, pipe, &mut self.state.counts, now);
        }
        let [own_int, own_fp] = self.state.counts.take(&self.pipes);
        int.add(&own_int);
        fp.add(&own_fp);
        self.state.counts.sfu(&self.pipes, now, sfu);
    }

    fn watches(&self) -> Watches {
        if self.rules.peek { Watches::Ahead } else { Watches::None }
    }

    fn watch(&mut self, sm: &SmState<'_>) {
        if let Some(mut sight) = self.single(sm.now + 1) {
            sm.ahead(|op| sight.add(&op));
            self.saw(sm.now + 1, &sight);
        } else {
            self.look(sm.now + 1, |sight| {
                sm.under_way(|unit, op| sight.goes_on(unit, &op));
                sm.ahead(|op| sight.add(&op));
            });
        }
    }
}
