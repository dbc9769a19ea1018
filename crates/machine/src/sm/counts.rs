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
    /// Activity since the last sample.
    pub activity: SmActivity,
}

impl Counts {
    /// All zero.
    pub fn new() -> Counts {
        Counts { counters: Counters::default(), slots: [0; SLOTS], stepped: 0, activity: empty_activity() }
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

/// Power residency where no policy acts: every lane and group is on. Advanced by the SM over the cycles that pass.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AlwaysOn {
    sp_lanes: u64,
    sfu_lanes: u64,
    groups: [u32; COMPONENTS],
}

impl AlwaysOn {
    /// The lanes and groups of a GPU.
    pub fn new(spec: &Spec) -> AlwaysOn {
        let (sp, sfu) = spec.lanes();
        AlwaysOn { sp_lanes: sp as u64, sfu_lanes: sfu as u64, groups: spec.component_groups() }
    }

    /// `cycles` core cycles pass.
    #[inline]
    pub fn advance(&self, cycles: u64, activity: &mut SmActivity) {
        activity.int.cycles[LaneState::On as usize] += self.sp_lanes * cycles;
        activity.fp.cycles[LaneState::On as usize] += self.sp_lanes * cycles;
        activity.sfu.cycles[LaneState::On as usize] += self.sfu_lanes * cycles;
        for (on, groups) in activity.component_on.iter_mut().zip(self.groups) {
            *on += groups as u64 * cycles;
        }
    }
}
