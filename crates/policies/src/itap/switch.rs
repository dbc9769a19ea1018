//! The lanes of an SM under ITAP's state machine.
//!
//! Lanes are bits of masks, and a cycle is a few operations on these. Cycles in which nothing is shown (skipped ones: the
//! window gives no information in them) are passed over from one change to the next.
//!
//! In every cycle, in this order: instructions start, or want lanes that sleep (Activity_cur; these begin to wake up in
//! this cycle); lanes that are on and idle enter VS0.5 (T2); those that slept before go on (T4–T6); groups unite
//! (Table 2); lanes begin to wake up early (T3, T7, T9 by the window).

use super::counters::{Counter, Learn, Rules as CounterRules};
use super::frame::{Counts, LANES, Pipes, each};
use super::fsm::{self, Goal, Seen, Wake};
use super::modes::Modes;
use super::window::{Unit, WINDOW, foresee};
use crate::lanes::Setup;
use crate::policy_choices;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{Ahead, Hook, LanesHook, Report, SmState, StartQuery};

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
const LONG: u64 = 4;
/// An idle period of so many cycles was worth the change (4 + 4).
const WORTH: u64 = 8;
/// A longer idle period was worth gating (4 + 44).
const GATE: u64 = 48;

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

/// What each lane remembers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    switch: [Counter; LANES],
    confidence: [Counter; LANES],
    /// Lanes whose counter has reached its threshold.
    switching: u32,
    confident: u32,
    /// Lanes that have been power-gated in this idle period.
    gated: u32,
}

/// Estimates that came true, and all.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Estimates {
    right: u64,
    all: u64,
}

impl Memory {
    /// That of lanes which have not done anything yet.
    fn new(rules: &Rules) -> Memory {
        let all = |high: bool| if high { u32::MAX } else { 0 };
        let (switch, confidence) =
            (Counter::at(rules.start, &rules.switch), Counter::at(rules.start, &rules.confidence));
        Memory {
            switching: all(switch.high(&rules.switch)),
            confident: all(confidence.high(&rules.confidence)),
            switch: [switch; LANES],
            confidence: [confidence; LANES],
            gated: 0,
        }
    }

    /// A lane was idle for so many cycles.
    fn learn(&mut self, lane: usize, length: u64, rules: &Rules, estimates: &mut Estimates) {
        let bit = 1 << lane;
        let (longer, gate) = (self.switching & bit != 0, self.confident & bit != 0);
        let right = if length < WORTH { !longer } else { longer && gate == (length > GATE) };
        estimates.right += right as u64;
        estimates.all += 1;
        let (switch, confidence) = (&mut self.switch[lane], &mut self.confidence[lane]);
        let decided = |from| rules.learn == Learn::All || length >= from;
        if length >= WORTH {
            switch.up(&rules.switch);
        } else if decided(LONG) {
            switch.down(&rules.switch);
        }
        match length.cmp(&GATE) {
            std::cmp::Ordering::Greater => confidence.up(&rules.confidence),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Less if rules.goal == Goal::Performance && self.gated & bit != 0 => confidence.reset(),
            std::cmp::Ordering::Less if decided(WORTH) => confidence.down(&rules.confidence),
            std::cmp::Ordering::Less => {}
        }
        let set = |mask: &mut u32, high: bool| *mask = *mask & !bit | if high { bit } else { 0 };
        set(&mut self.switching, switch.high(&rules.switch));
        set(&mut self.confident, confidence.high(&rules.confidence));
        self.gated &= !bit;
    }
}

/// The lanes of a pipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// Modes that sleeping lanes have selected for themselves.
    own: Modes,
    /// Modes that they are in.
    applied: Modes,
    /// Modes whose wake-up energy sleeping lanes will have to pay.
    owed: Modes,
    /// Lanes that wake up, by the mode that they leave.
    waking: Modes,
    /// When they are awake.
    awake_at: [u64; LANES],
    /// Lanes that an instruction wants, and the cycle in which it can start: until then they stay awake.
    held: u32,
    held_until: u64,
    /// Lanes that have been wanted since they last worked, and since when.
    wanted: u32,
    wanted_from: [u64; LANES],
    /// The first cycle after the last one in which a lane works, or worked.
    idle_from: [u64; LANES],
    memory: Memory,
}

impl Line {
    /// Lanes that cannot take an instruction.
    #[inline]
    fn sleepy(&self) -> u32 {
        self.applied.all() | self.waking.all()
    }

    /// The cycle from which an instruction can start on some lanes, if it asks at `now`.
    #[inline]
    fn ready(&self, now: u64, lanes: u32) -> u64 {
        if lanes & self.sleepy() == 0 {
            return now;
        }
        let asleep = self.applied.deepest(lanes).map_or(now, |mode| now + mode.wake_up());
        each(lanes & self.waking.all()).fold(asleep, |ready, lane| ready.max(self.awake_at[lane]))
    }

    /// Lanes begin to wake up out of these modes. Gives the modes that they pay for.
    fn wake(&mut self, now: u64, modes: Modes) -> Modes {
        let lanes = modes.all();
        for (mode, lanes) in modes.each() {
            each(lanes).for_each(|lane| self.awake_at[lane] = now + mode.wake_up());
        }
        self.waking = self.waking.with(modes);
        let owed = self.owed.among(lanes);
        for own in [&mut self.own, &mut self.applied, &mut self.owed] {
            *own = own.among(!lanes);
        }
        owed
    }

    /// The next cycle after `now` in which something changes by itself. `now` is behind us.
    fn next_change(&self, now: u64) -> u64 {
        let soonest = |lanes: u32, at: &[u64; LANES]| each(lanes).map(|lane| at[lane]).filter(|&c| c > now).min();
        let awake = soonest(self.waking.all(), &self.awake_at);
        let idle = soonest(!self.sleepy(), &self.idle_from);
        let held = (self.held != 0 && self.held_until > now).then_some(self.held_until);
        let longer = each(self.own.vs05 & self.memory.switching).map(|lane| (self.idle_from[lane] + LONG).max(now + 1));
        [awake, idle, held, longer.min()].into_iter().flatten().min().unwrap_or(u64::MAX)
    }
}

/// Lanes for which a cycle has come.
#[inline]
fn reached(cycles: &[u64; LANES], now: u64) -> u32 {
    cycles.iter().enumerate().fold(0, |lanes, (lane, &cycle)| lanes | ((cycle <= now) as u32) << lane)
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// Cycles before this one are settled.
    now: u64,
    lines: Vec<Line>,
    /// What the window says for cycle `seen_at`, by pipe.
    ahead: Vec<[u32; WINDOW]>,
    seen_at: u64,
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
    pub fn new(pipes: Pipes, rules: Rules) -> Switch {
        let state = State {
            now: 0,
            lines: vec![Line { memory: Memory::new(&rules), ..Line::default() }; pipes.count()],
            ahead: vec![[0; WINDOW]; pipes.count()],
            seen_at: u64::MAX,
            free_at: vec![0; pipes.units],
            blocked: 0,
            counts: Counts::default(),
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
    fn settle(&mut self, end: u64) {
        while self.state.now < end {
            let now = self.state.now;
            let informed = self.state.seen_at == now;
            self.state.foreseen += informed as u64;
            let mut next = if informed { now + 1 } else { end };
            for pipe in 0..self.state.lines.len() {
                self.cycle(pipe, now, informed);
                if next > now + 1 {
                    next = next.min(self.state.lines[pipe].next_change(now));
                }
            }
            for pipe in 0..self.state.lines.len() {
                self.count(pipe, now, next - now);
            }
            self.state.now = next;
        }
    }

    /// What lanes do at the end of cycle `now`, after instructions have started in it.
    fn cycle(&mut self, pipe: usize, now: u64, informed: bool) {
        let (rules, pipes, state) = (&self.rules, &self.pipes, &mut self.state);
        let (line, counts) = (&mut state.lines[pipe], &mut state.counts);
        if line.waking.all() != 0 {
            line.waking = line.waking.among(!reached(&line.awake_at, now));
        }
        if line.held_until <= now {
            line.held = 0;
        }
        let idle = reached(&line.idle_from, now);
        let memory = &line.memory;
        let long =
            if memory.switching & line.own.vs05 != 0 { reached(&line.idle_from, now.wrapping_sub(LONG)) } else { 0 };
        let seen = Seen {
            active: !idle | line.held,
            long: if now < LONG { 0 } else { long },
            switch: memory.switching,
            confident: memory.confident,
            ahead: informed.then_some(state.ahead[pipe]),
        };
        // A lane that is wanted, or works, has been taken out of its mode when the instruction came.
        let early = |modes: Modes| {
            if informed { fsm::waking(modes, &seen, rules.wake).among(!seen.active) } else { Modes::default() }
        };
        let (_, fresh) = fsm::of_on(!line.sleepy(), &seen);
        let (_, vs03, pg) = fsm::of_vs05(line.own.vs05, &seen);
        let at_once = early(Modes { vs05: fresh, ..Modes::default() });
        counts.enter(pipes, pipe, LaneState::Vs05, at_once.vs05);
        let own = Modes {
            vs05: (line.own.vs05 | fresh) & !(vs03 | pg | at_once.vs05),
            vs03: line.own.vs03 | vs03,
            pg: line.own.pg | pg,
        };
        // Those that woke up meanwhile may have been what kept their group up.
        let (before, after) = (line.applied, own.united(|lanes| rules.setup.widen(lanes)));
        line.own = own;
        if after != before {
            for ((mode, from), (_, to)) in before.each().into_iter().zip(after.each()) {
                counts.enter(pipes, pipe, mode.state(), to & !from);
            }
            if rules.rising == Rising::Each {
                let rise = Modes { pg: before.pg & !after.pg, vs03: before.vs03 & after.vs05, vs05: 0 };
                rise.each().iter().for_each(|(mode, lanes)| counts.leave(pipes, pipe, mode.state(), *lanes));
                line.owed = after;
            }
            line.owed = line.owed.deepened(after);
            line.applied = after;
            line.memory.gated |= after.pg;
        }
        let woken = early(line.applied).with(at_once);
        if woken.all() != 0 {
            line.owed = line.owed.with(at_once);
            let paid = line.wake(now, woken);
            paid.each().iter().for_each(|(mode, lanes)| counts.leave(pipes, pipe, mode.state(), *lanes));
            state.early += u64::from(woken.all().count_ones());
        }
    }

    /// Counts some cycles of a pipe.
    fn count(&mut self, pipe: usize, now: u64, cycles: u64) {
        let (pipes, line, counts) = (&self.pipes, &self.state.lines[pipe], &mut self.state.counts);
        let asleep = line.applied;
        let n = |lanes: u32| u64::from(lanes.count_ones()) * cycles;
        let (as_mode, as_waking) = match self.rules.waking {
            Waking::Mode => (asleep.with(line.waking), 0),
            Waking::On => (asleep, line.waking.all()),
        };
        for (mode, lanes) in as_mode.each() {
            counts.spend(pipes, pipe, mode.state(), n(lanes));
        }
        counts.spend(pipes, pipe, LaneState::Waking, n(as_waking));
        counts.spend(pipes, pipe, LaneState::On, n(!line.sleepy()));
        counts.work(pipes, pipe, n(!reached(&line.idle_from, now)));
    }

    /// An instruction cannot start before `ready`: lanes that sleep wake up, the others wait for them.
    fn refuse(&mut self, pipe: usize, now: u64, lanes: u32, ready: u64) {
        let (pipes, state) = (&self.pipes, &mut self.state);
        let line = &mut state.lines[pipe];
        (line.held, line.held_until) = (lanes, ready);
        let woken = line.applied.among(lanes);
        let paid = line.wake(now, woken);
        paid.each().iter().for_each(|(mode, lanes)| state.counts.leave(pipes, pipe, mode.state(), *lanes));
        each(lanes & !line.wanted).for_each(|lane| line.wanted_from[lane] = now);
        line.wanted |= lanes;
        state.blocked = ready;
        state.waits += (state.waiting < now) as u64;
        state.waited += (state.waiting <= now) as u64;
        state.waiting = now + 1;
    }

    /// An instruction starts.
    fn begin(&mut self, pipe: usize, now: u64, lanes: u32, busy: u64) {
        let state = &mut self.state;
        let line = &mut state.lines[pipe];
        for lane in each(lanes) {
            let idle = now.saturating_sub(line.idle_from[lane]);
            if idle > 0 {
                // The length that the lane itself has not made longer by waking up.
                let wanted = if line.wanted >> lane & 1 != 0 { line.wanted_from[lane] } else { now };
                let length = wanted.saturating_sub(line.idle_from[lane]);
                line.memory.learn(lane, length, &self.rules, &mut state.estimates);
                state.counts.period(&self.pipes, pipe, idle, 1);
            }
            line.idle_from[lane] = line.idle_from[lane].max(now + busy);
        }
        line.waking = line.waking.among(!lanes);
        line.wanted &= !lanes;
        line.held = 0;
    }
}

impl Switch {
    /// The beginning of cycle `now`: what stands in the OCEX register and the collectors.
    pub fn show(&mut self, now: u64, list: &[Ahead]) {
        if list.is_empty() {
            return;
        }
        self.settle(now);
        let state = &mut self.state;
        let unit = |u: usize| {
            let awake = |fp| state.lines.get(self.pipes.at(u, fp)).map_or(0, |l| !l.sleepy());
            Unit { free_at: state.free_at.get(u).copied().unwrap_or(0), awake: [awake(false), awake(true)] }
        };
        if foresee(&self.pipes, now, state.blocked, list, unit, &mut state.ahead) {
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
        s.counts.report(&self.pipes, s.lines.iter().map(|l| &l.idle_from), now, report);
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
            self.refuse(pipe, now, lanes, ready);
            return ready;
        }
        self.begin(pipe, now, lanes, self.pipes.working(query));
        if let Some(free) = self.state.free_at.get_mut(query.unit) {
            *free = now + u64::from(query.busy);
        }
        now
    }

    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        self.settle(now);
        let [own_int, own_fp] = std::mem::take(&mut self.state.counts.residency);
        int.add(&own_int);
        fp.add(&own_fp);
        self.state.counts.sfu(&self.pipes, now, sfu);
    }

    fn watches(&self) -> bool {
        self.rules.peek
    }

    fn watch(&mut self, sm: &SmState<'_>) {
        let (list, known) = sm.ahead();
        self.show(sm.now + 1, &list[..known]);
    }
}
