//! Everything that an SM counts: statistics of the launch, and activity and residency of the current sample.

use crate::activity::{COMPONENTS, LaneState, SM_EVENTS, SmActivity, SmEvent};
use crate::spec::Spec;
use crate::stats::{Counters, SLOTS};
use serde::{Deserialize, Serialize};

/// An SM's counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Statistics since the launch began.
    pub counters: Counters,
    /// Issue slots since the launch began.
    pub slots: [u64; SLOTS],
    /// Cycles stepped since the launch began.
    pub stepped: u64,
    /// Instruction-cycles held per component, since the run began.
    pub busy: [u64; COMPONENTS],
    /// The same when the last sample was cut.
    busy_cut: [u64; COMPONENTS],
    /// Activity since the last sample.
    pub activity: SmActivity,
}

impl Counts {
    /// All zero.
    pub fn new() -> Counts {
        Counts {
            counters: Counters::default(),
            slots: [0; SLOTS],
            stepped: 0,
            busy: [0; COMPONENTS],
            busy_cut: [0; COMPONENTS],
            activity: empty_activity(),
        }
    }

    /// Counts one event.
    #[inline(always)]
    pub fn event(&mut self, event: SmEvent) {
        self.activity.events[event as usize] += 1;
    }

    /// Counts `n` events.
    #[inline(always)]
    pub fn events(&mut self, event: SmEvent, n: u64) {
        self.activity.events[event as usize] += n;
    }

    /// Takes the activity since the last call.
    pub fn take_activity(&mut self) -> SmActivity {
        for i in 0..COMPONENTS {
            self.activity.component_busy[i] = self.busy[i] - self.busy_cut[i];
        }
        self.busy_cut = self.busy;
        std::mem::replace(&mut self.activity, empty_activity())
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::new()
    }
}

fn empty_activity() -> SmActivity {
    SmActivity {
        events: vec![0; SM_EVENTS],
        cycles: 0,
        int: Default::default(),
        fp: Default::default(),
        sfu: Default::default(),
        component_on: [0; COMPONENTS],
        component_gated: [0; COMPONENTS],
        component_clock_gated: [0; COMPONENTS],
        component_busy: [0; COMPONENTS],
    }
}

/// Power residency of lanes that no policy acts on, and of the pipeline components' groups. Advanced by the SM over the
/// cycles that pass. A group that is tuned down counts as gated from the decision on, while it drains too.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Residency {
    sp_lanes: u64,
    sfu_lanes: u64,
    /// Groups of each component.
    pub groups: [u32; COMPONENTS],
    /// Those that are on; changed by [`Residency::set_on`].
    on: [u32; COMPONENTS],
    /// Cycles that have passed with these groups on and not yet been counted.
    cycles: u64,
}

/// Components whose tuned-down groups lose power (instruction decoder, scheduler, EX_SP, EX_SFU); the others' only lose
/// their clock (µC-States §4).
const POWER_GATED: [bool; COMPONENTS] =
    [true, true, false, false, false, false, false, false, false, false, false, true, true, false];

impl Residency {
    /// The lanes and groups of a GPU.
    pub fn new(spec: &Spec) -> Residency {
        let (sp, sfu) = spec.lanes();
        let groups = spec.component_groups();
        Residency { sp_lanes: sp as u64, sfu_lanes: sfu as u64, groups, on: groups, cycles: 0 }
    }

    /// Cycles pass.
    #[inline]
    pub fn advance(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// Groups that are on.
    pub fn on(&self) -> &[u32; COMPONENTS] {
        &self.on
    }

    /// Changes the groups that are on, at least one of each component.
    pub fn set_on(&mut self, on: [u32; COMPONENTS], lanes: bool, activity: &mut SmActivity) {
        self.flush(lanes, activity);
        for i in 0..COMPONENTS {
            self.on[i] = on[i].clamp(1, self.groups[i]);
        }
    }

    /// Counts the cycles that have passed. `lanes`: no policy counts the lanes' states, they are all on.
    pub fn flush(&mut self, lanes: bool, activity: &mut SmActivity) {
        let cycles = std::mem::take(&mut self.cycles);
        if lanes {
            self.lanes_on(cycles, activity);
        }
        for i in 0..COMPONENTS {
            activity.component_on[i] += self.on[i] as u64 * cycles;
            let off = (self.groups[i] - self.on[i]) as u64 * cycles;
            let place =
                if POWER_GATED[i] { &mut activity.component_gated } else { &mut activity.component_clock_gated };
            place[i] += off;
        }
    }

    fn lanes_on(&self, cycles: u64, activity: &mut SmActivity) {
        activity.int.cycles[LaneState::On as usize] += self.sp_lanes * cycles;
        activity.fp.cycles[LaneState::On as usize] += self.sp_lanes * cycles;
        activity.sfu.cycles[LaneState::On as usize] += self.sfu_lanes * cycles;
    }
}
