//! Everything that an SM counts: statistics of the launch, and activity and residency of the current sample.

use crate::activity::{COMPONENTS, SM_EVENTS, SmActivity, SmEvent};
use crate::kernel::Kernel;
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
    /// `counters.resident_warp_cycles` when the last sample was cut.
    warps_cut: u64,
    /// Resident CTAs.
    ctas: u64,
    /// CTA-cycles since the last sample, if every resident CTA had ended in cycle 0 (modulo 2^64): beginnings are taken
    /// off, ends are added.
    cta_sum: u64,
    /// Activity since the last sample, apart from what is in `events` and `issued`.
    pub activity: SmActivity,
    /// Events since the last sample.
    events: [[u64; 32]; 2],
    /// Warp instructions and lanes issued since the last sample, by instruction of the kernel: what an issue counts
    /// follows from these two ([`Counts::fold`]).
    issued: Vec<[u64; 2]>,
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
            warps_cut: 0,
            ctas: 0,
            cta_sum: 0,
            activity: empty_activity(),
            events: [[0; 32]; 2],
            issued: Vec::new(),
        }
    }

    /// Prepares for a kernel.
    pub fn begin(&mut self, kernel: &Kernel) {
        self.counters = Counters::default();
        self.warps_cut = 0;
        self.slots = [0; SLOTS];
        self.stepped = 0;
        self.issued.resize(kernel.ops.len(), [0; 2]);
    }

    /// Counts an issue of an instruction with so many lanes.
    #[inline(always)]
    pub fn issue(&mut self, pc: u32, lanes: u64) {
        self.counters.warp_instructions += 1;
        self.counters.thread_instructions += lanes;
        self.busy[1] += 1;
        let issued = &mut self.issued[pc as usize];
        issued[0] += 1;
        issued[1] += lanes;
    }

    /// Turns issues of a kernel's instructions into events.
    pub fn fold(&mut self, kernel: &Kernel) {
        let mut issued = std::mem::take(&mut self.issued);
        for (op, issued) in kernel.events.iter().zip(&mut issued) {
            let [warps, lanes] = std::mem::take(issued);
            self.events(SmEvent::Issued, warps);
            self.events(SmEvent::BufferRead, warps);
            self.events(SmEvent::RegisterRead, op.reads as u64 * lanes);
            self.events(SmEvent::CollectorOperand, op.reads as u64 * lanes);
            self.events(SmEvent::Immediate, op.immediates as u64 * warps);
            if let Some((event, weight)) = op.event {
                self.events(event, weight as u64 * lanes);
            }
            // Those of narrow SPs depend on which threads are active: the SPs count them.
            if let Some(event) = op.inactive.filter(|_| !kernel.narrow) {
                self.events(event, 32 * warps - lanes);
            }
        }
        self.issued = issued;
    }

    /// Counts one event.
    #[inline(always)]
    pub fn event(&mut self, event: SmEvent) {
        self.events(event, 1);
    }

    /// Counts `n` events.
    #[inline(always)]
    pub fn events(&mut self, event: SmEvent, n: u64) {
        const { assert!(SM_EVENTS <= 64) };
        self.events[event as usize / 32 % 2][event as usize % 32] += n;
    }

    /// A CTA begins.
    pub fn cta_begins(&mut self, now: u64) {
        self.ctas += 1;
        self.cta_sum = self.cta_sum.wrapping_sub(now);
    }

    /// A CTA has ended.
    pub fn cta_ends(&mut self, now: u64) {
        self.ctas -= 1;
        self.cta_sum = self.cta_sum.wrapping_add(now);
    }

    /// Takes the activity since the last call. [`Counts::fold`] comes first.
    pub fn take_activity(&mut self, now: u64) -> SmActivity {
        let so_far = self.ctas.wrapping_mul(now);
        self.activity.cta_cycles = self.cta_sum.wrapping_add(so_far);
        self.cta_sum = so_far.wrapping_neg();
        self.activity.warp_cycles = self.counters.resident_warp_cycles - self.warps_cut;
        self.warps_cut = self.counters.resident_warp_cycles;
        for i in 0..COMPONENTS {
            self.activity.component_busy[i] = self.busy[i] - self.busy_cut[i];
        }
        self.busy_cut = self.busy;
        self.activity.events.copy_from_slice(&self.events.as_flattened()[..SM_EVENTS]);
        self.events = [[0; 32]; 2];
        std::mem::replace(&mut self.activity, empty_activity())
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::new()
    }
}

/// An activity in which nothing has happened.
pub(crate) fn empty_activity() -> SmActivity {
    SmActivity { events: vec![0; SM_EVENTS], ..SmActivity::default() }
}
