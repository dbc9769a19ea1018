//! Groups of the pipeline's components: which are on, and how they are tuned down and up (µC-States §2.3, §4).
//!
//! A group that is tuned down takes no more work, drains, and is then off. Off is without power for the instruction decoder,
//! the schedulers, EX_SP and EX_SFU, without a clock for everything else. A group without a clock is back at once; one
//! without power stays off for the break-even time at least, and then wakes up. While it drains or wakes up it leaks, and
//! counts as on.
//!
//! *Decision*: where another policy acts on the lanes, their power is its business: EX_SP and EX_SFU then lose their clock
//! alone.

use crate::activity::{COMPONENTS, LaneState, SmActivity};
use crate::hooks::GatingDelays;
use crate::simd::SFU_LANES;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// Index of EX_SP and EX_SFU among the components.
pub const EX_SP: usize = 11;
/// See [`EX_SP`].
pub const EX_SFU: usize = 12;
/// Components whose groups lose power.
const POWER_GATED: [bool; COMPONENTS] =
    [true, true, false, false, false, false, false, false, false, false, false, true, true, false];
/// The operand collectors.
const COLLECTORS: std::ops::Range<usize> = 5..8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    On,
    /// Takes no more work.
    Draining,
    /// Off since a cycle.
    Off(u64),
    /// Wanted again, but off until a cycle: the break-even time has not passed.
    Held(u64),
    /// Waking up until a cycle.
    Waking(u64),
}

/// The groups of one SM, and the residency of lanes that no policy acts on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Groups {
    /// Groups of each component.
    pub of: [u32; COMPONENTS],
    /// Those that take work.
    on: [u32; COMPONENTS],
    /// Those that are off, and those that wake up.
    off: [u32; COMPONENTS],
    waking: [u32; COMPONENTS],
    /// All groups, those of a component after one another.
    states: Vec<State>,
    delays: GatingDelays,
    /// A policy acts on the lanes.
    lanes: bool,
    sp_lanes: u64,
    sfu_lanes: u64,
    /// Lanes of one SP.
    simd_width: u64,
    /// Some group drains.
    pub draining: bool,
    /// The next cycle at which a group changes by itself; `u64::MAX` for never.
    pub wake_at: u64,
    /// Cycles that have passed in this state and not yet been counted.
    cycles: u64,
}

impl Groups {
    /// All groups of a GPU, on.
    pub fn new(spec: &Spec) -> Groups {
        let (sp, sfu) = spec.lanes();
        let of = spec.component_groups();
        Groups {
            of,
            on: of,
            off: [0; COMPONENTS],
            waking: [0; COMPONENTS],
            states: vec![State::On; of.iter().sum::<u32>() as usize],
            delays: GatingDelays::default(),
            lanes: false,
            sp_lanes: sp as u64,
            sfu_lanes: sfu as u64,
            simd_width: spec.simd_width.into(),
            draining: false,
            wake_at: u64::MAX,
            cycles: 0,
        }
    }

    /// A policy takes over. The groups that it does not want at first are off from the beginning.
    pub fn start(&mut self, first: &[u32; COMPONENTS], delays: GatingDelays, lanes: bool, now: u64) {
        (self.delays, self.lanes) = (delays, lanes);
        for (c, g, at) in self.all() {
            self.states[at] = if g < first[c].max(1) { State::On } else { State::Off(now) };
        }
        self.sum_up();
    }

    /// Cycles pass.
    #[inline(always)]
    pub fn advance(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// Groups of each component that take work: at least one.
    pub fn on(&self) -> &[u32; COMPONENTS] {
        &self.on
    }

    /// A component's tuned-down groups lose power, not only their clock.
    fn loses_power(&self, component: usize) -> bool {
        POWER_GATED[component] && !(self.lanes && (component == EX_SP || component == EX_SFU))
    }

    /// Component, group, and place in `states` of each.
    fn all(&self) -> impl Iterator<Item = (usize, u32, usize)> + use<> {
        let of = self.of;
        (0..COMPONENTS).flat_map(move |c| (0..of[c]).map(move |g| (c, g))).enumerate().map(|(at, (c, g))| (c, g, at))
    }

    /// So many groups shall be on, at least one of each component.
    pub fn want(&mut self, now: u64, on: &[u32; COMPONENTS], activity: &mut SmActivity) {
        self.flush(activity);
        for (c, g, at) in self.all() {
            let wanted = g < on[c].max(1);
            self.states[at] = match self.states[at] {
                State::On | State::Waking(_) if !wanted => State::Draining,
                State::Draining if wanted => State::On,
                State::Off(_) if wanted && !self.loses_power(c) => State::On,
                State::Off(since) if wanted => {
                    let until = since.saturating_add(self.delays.break_even);
                    if until > now { State::Held(until) } else { self.wake(c, now, activity) }
                }
                State::Held(until) if !wanted => State::Off(until - self.delays.break_even),
                state => state,
            };
        }
        self.sum_up();
    }

    /// A group begins to wake up.
    fn wake(&self, component: usize, now: u64, activity: &mut SmActivity) -> State {
        let lanes = LaneState::Gated as usize;
        match component {
            EX_SP => {
                activity.int.wakes[lanes] += self.simd_width;
                activity.fp.wakes[lanes] += self.simd_width;
            }
            EX_SFU => activity.sfu.wakes[lanes] += u64::from(SFU_LANES),
            _ => {}
        }
        if self.delays.wake_up == 0 { State::On } else { State::Waking(now.saturating_add(self.delays.wake_up)) }
    }

    /// Groups that wait for this cycle change.
    pub fn act(&mut self, now: u64, activity: &mut SmActivity) {
        self.flush(activity);
        for (c, _, at) in self.all() {
            // Twice: a group that is held may wake up without delay.
            for _ in 0..2 {
                self.states[at] = match self.states[at] {
                    State::Held(until) if until <= now => self.wake(c, until, activity),
                    State::Waking(until) if until <= now => State::On,
                    state => state,
                };
            }
        }
        self.sum_up();
    }

    /// Groups that have drained are off from `now` on.
    pub fn settle(&mut self, now: u64, drained: impl Fn(usize, u32) -> bool, activity: &mut SmActivity) {
        let mut any = false;
        for (c, g, at) in self.all() {
            if self.states[at] != State::Draining || !drained(c, g) {
                continue;
            }
            if !any {
                self.flush(activity);
                any = true;
            }
            self.states[at] = State::Off(now);
            if self.loses_power(c) {
                activity.component_gatings[c] += 1;
                let lanes = LaneState::Gated as usize;
                match c {
                    EX_SP => {
                        activity.int.entries[lanes] += self.simd_width;
                        activity.fp.entries[lanes] += self.simd_width;
                    }
                    EX_SFU => activity.sfu.entries[lanes] += u64::from(SFU_LANES),
                    _ => {}
                }
            }
        }
        if any {
            self.sum_up();
        }
    }

    /// What follows from the groups' states.
    fn sum_up(&mut self) {
        (self.on, self.off, self.waking) = ([0; COMPONENTS], [0; COMPONENTS], [0; COMPONENTS]);
        (self.draining, self.wake_at) = (false, u64::MAX);
        for (c, g, at) in self.all() {
            match self.states[at] {
                // Only the first ones work: parts of the pipeline are numbered.
                State::On => self.on[c] += (self.on[c] == g) as u32,
                State::Draining => self.draining = true,
                State::Off(_) => self.off[c] += 1,
                State::Held(until) => {
                    self.off[c] += 1;
                    self.wake_at = self.wake_at.min(until);
                }
                State::Waking(until) => {
                    self.waking[c] += 1;
                    self.wake_at = self.wake_at.min(until);
                }
            }
        }
    }

    /// All three collectors are tuned down: so is the register file.
    pub fn registers_halved(&self) -> bool {
        COLLECTORS.into_iter().all(|c| self.on[c] < self.of[c])
    }

    /// Counts the cycles that have passed.
    pub fn flush(&mut self, activity: &mut SmActivity) {
        let cycles = std::mem::take(&mut self.cycles);
        if !self.lanes {
            self.lanes(cycles, activity);
        }
        for c in 0..COMPONENTS {
            let off = u64::from(self.off[c]) * cycles;
            activity.component_on[c] += u64::from(self.of[c]) * cycles - off;
            let place =
                if self.loses_power(c) { &mut activity.component_gated } else { &mut activity.component_clock_gated };
            place[c] += off;
        }
        if COLLECTORS.into_iter().all(|c| self.off[c] > 0) {
            activity.register_file_halved += cycles;
        }
    }

    fn lanes(&self, cycles: u64, activity: &mut SmActivity) {
        let of = |component: usize, lanes: u64, each: u64| {
            let (gated, waking) = (u64::from(self.off[component]) * each, u64::from(self.waking[component]) * each);
            [(LaneState::On, lanes - gated - waking), (LaneState::Gated, gated), (LaneState::Waking, waking)]
        };
        for (state, lanes) in of(EX_SP, self.sp_lanes, self.simd_width) {
            activity.int.cycles[state as usize] += lanes * cycles;
            activity.fp.cycles[state as usize] += lanes * cycles;
        }
        for (state, lanes) in of(EX_SFU, self.sfu_lanes, SFU_LANES.into()) {
            activity.sfu.cycles[state as usize] += lanes * cycles;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::counts::empty_activity;

    fn groups() -> Groups {
        let mut spec = Spec::preset("kepler-big").unwrap();
        spec.sp_units = 2;
        let mut groups = Groups::new(&spec);
        let of = groups.of;
        groups.start(&of, GatingDelays { break_even: 19, wake_up: 9 }, false, 0);
        groups
    }

    /// One SP group less, or all.
    fn sp(groups: &Groups, down: bool) -> [u32; COMPONENTS] {
        let mut on = groups.of;
        on[EX_SP] -= down as u32;
        on
    }

    #[test]
    fn a_group_counts_as_off_from_when_it_has_drained() {
        let (mut g, mut a) = (groups(), empty_activity());
        g.advance(100);
        let on = sp(&g, true);
        g.want(100, &on, &mut a);
        assert_eq!((g.on()[EX_SP], g.draining), (1, true));
        g.advance(7);
        g.settle(107, |_, _| false, &mut a);
        g.settle(107, |c, group| (c, group) == (EX_SP, 1), &mut a);
        assert!(!g.draining);
        g.advance(50);
        g.flush(&mut a);
        assert_eq!((a.component_on[EX_SP], a.component_gated[EX_SP]), (2 * 107 + 50, 50));
        assert_eq!((a.component_gatings[EX_SP], a.int.entries[LaneState::Gated as usize]), (1, 32));
        assert_eq!((a.fp.cycles[0], a.fp.cycles[LaneState::Gated as usize]), (64 * 107 + 32 * 50, 32 * 50));
    }

    #[test]
    fn a_group_sleeps_for_the_break_even_time_and_wakes_up_after_its_delay() {
        // Tuned up 5 cycles after it went off: off until 19 cycles have passed, awake after 9 more.
        for (up, awake) in [(105, 128), (119, 128), (150, 159)] {
            let (mut g, mut a) = (groups(), empty_activity());
            let on = sp(&g, true);
            g.want(100, &on, &mut a);
            g.settle(100, |_, _| true, &mut a);
            let on = sp(&g, false);
            g.advance(up - 100);
            g.want(up, &on, &mut a);
            let mut now = up;
            while g.wake_at != u64::MAX {
                assert_eq!(g.on()[EX_SP], 1);
                g.advance(g.wake_at - now);
                now = g.wake_at;
                g.act(now, &mut a);
            }
            assert_eq!((now, g.on()[EX_SP]), (awake, 2), "tuned up at {up}");
            g.flush(&mut a);
            assert_eq!(a.component_gated[EX_SP], awake - 9 - 100);
            assert_eq!(a.int.cycles[LaneState::Waking as usize], 32 * 9);
            assert_eq!(a.int.wakes[LaneState::Gated as usize], 32);
        }
    }

    #[test]
    fn a_group_that_drains_goes_on_at_once_and_so_does_one_without_a_clock() {
        let (mut g, mut a) = (groups(), empty_activity());
        let (down, up) = (g.of.map(|n| n.div_ceil(2)), g.of);
        g.want(0, &down, &mut a);
        g.want(10, &up, &mut a);
        assert_eq!((*g.on(), g.draining, g.wake_at), (up, false, u64::MAX));
        g.want(20, &down, &mut a);
        assert!(g.registers_halved());
        g.settle(20, |_, _| true, &mut a);
        g.want(25, &up, &mut a);
        let clocked = |c: usize| g.on()[c] == g.of[c];
        assert!((2..11).all(clocked) && clocked(13) && !g.registers_halved());
        assert!([0, 1, 11, 12].into_iter().all(|c| !clocked(c)));
    }

    #[test]
    fn lanes_that_a_policy_acts_on_are_left_to_it() {
        let (mut g, mut a) = (groups(), empty_activity());
        let down = g.of.map(|n| n.div_ceil(2));
        g.start(&down, GatingDelays { break_even: 19, wake_up: 9 }, true, 0);
        g.advance(10);
        g.flush(&mut a);
        assert_eq!((a.component_clock_gated[EX_SP], a.component_gated[EX_SP], a.component_gated[1]), (10, 0, 20));
        assert_eq!(a.int.cycles.iter().sum::<u64>(), 0);
    }
}
