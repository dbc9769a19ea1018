//! The governor hook: concurrency, voltage and frequency of the whole chip, decided now and then.

use super::Hook;
use crate::activity::Sample;
use crate::message::Femtoseconds;
use crate::stats::Counters;
use serde::{Deserialize, Serialize};

/// Warps of an SM, those of paused CTAs apart, by the head of their instruction buffers (Equalizer §IV-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpCounts {
    /// With a valid entry.
    pub active: u32,
    /// Whose operands are not there, or which wait for their own atomics.
    pub waiting: u32,
    /// That could have gone to the SPs or SFUs and did not issue.
    pub excess_alu: u32,
    /// That could have gone to the load/store unit, if it took any more.
    pub excess_mem: u32,
}

/// Sums of [`WarpCounts`] over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpSums {
    /// Samples.
    pub samples: u64,
    /// See [`WarpCounts::active`].
    pub active: u64,
    /// See [`WarpCounts::waiting`].
    pub waiting: u64,
    /// See [`WarpCounts::excess_alu`].
    pub excess_alu: u64,
    /// See [`WarpCounts::excess_mem`].
    pub excess_mem: u64,
}

impl WarpSums {
    /// Adds so many samples with the same counts.
    pub fn add(&mut self, samples: u64, counts: &WarpCounts) {
        self.samples += samples;
        self.active += samples * u64::from(counts.active);
        self.waiting += samples * u64::from(counts.waiting);
        self.excess_alu += samples * u64::from(counts.excess_alu);
        self.excess_mem += samples * u64::from(counts.excess_mem);
    }
}

/// What a governor sees of one SM.
#[derive(Clone, Debug, Default)]
pub struct SmView {
    /// Counters since the launch began.
    pub counters: Counters,
    /// Issue slots since the launch began.
    pub slots: Vec<u64>,
    /// Warps as they stand.
    pub warps: WarpCounts,
    /// Samples since the last question, if the governor asks for them ([`GovernorHook::sampling`]).
    pub sampled: WarpSums,
    /// CTAs resident, and those of them that are paused.
    pub ctas: u32,
    /// See `ctas`.
    pub paused_ctas: u32,
    /// The most CTAs that may run at present.
    pub cta_limit: u32,
    /// What the SM's observers have to tell ([`ObserverHook::tell`](super::ObserverHook::tell)).
    pub observed: Vec<(&'static str, Vec<u64>)>,
}

/// A launch as a governor sees it.
#[derive(Clone, Copy, Debug)]
pub struct LaunchView<'a> {
    /// Its number in the run.
    pub index: u32,
    /// Kernel.
    pub kernel: &'a str,
    /// CTAs.
    pub ctas: u64,
    /// Warps of a CTA.
    pub warps_per_cta: u32,
    /// CTAs that fit an SM.
    pub ctas_per_sm: u32,
}

/// What a governor sees of the chip.
#[derive(Clone, Debug)]
pub struct ChipView<'a> {
    /// Time.
    pub time: Femtoseconds,
    /// Core cycle.
    pub cycle: u64,
    /// The launch in progress.
    pub launch: LaunchView<'a>,
    /// SM clock in MHz.
    pub core_mhz: f64,
    /// DRAM command clock in MHz.
    pub dram_mhz: f64,
    /// SMs.
    pub sms: &'a [SmView],
    /// What was counted since the last question, in time order, for a governor that wants it
    /// ([`GovernorHook::wants_activity`]).
    pub activity: &'a [Sample],
    /// What will be, for a governor that wants to know ([`GovernorHook::foresees`]).
    pub futures: &'a [Future],
}

/// Which futures a governor wants to know: those of SM clocks, over a time that begins with the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Foresight {
    /// SM clocks, MHz.
    pub mhz: Vec<f64>,
    /// How far ahead.
    pub time: Femtoseconds,
}

/// What comes if the SMs have another clock from now on: to the end of the time asked for, or of the launch.
#[derive(Clone, Debug)]
pub struct Future {
    /// SM clock ordered, MHz.
    pub mhz: f64,
    /// How much time it is.
    pub time: Femtoseconds,
    /// Warp instructions issued in it.
    pub instructions: u64,
    /// Activity in it.
    pub activity: Vec<Sample>,
}

/// A governor's order. It takes effect at the first window boundary at or after it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// At most so many CTAs run on an SM, in this launch and those after it. Of more that are resident the youngest are
    /// paused: their warps neither fetch nor issue, what they have under way completes. When one of the others ends, the
    /// oldest paused one goes on, and no new one comes. A higher limit lets paused ones go on, then new ones come.
    CtaLimit {
        /// SM.
        sm: usize,
        /// CTAs, at least 1.
        limit: u32,
    },
    /// SM clock.
    CoreMhz(f64),
    /// Memory domain (crossbar, L2, controllers, DRAM), as a DRAM command clock; the others keep their ratio to it.
    DramMhz(f64),
    /// No SM issues for so many core cycles: what deciding costs. A change of the SM clock ordered after it waits for its
    /// end.
    Halt(u64),
}

/// Concurrency, voltage and frequency.
pub trait GovernorHook: Hook {
    /// Core cycles between two questions.
    fn interval(&self) -> u64;

    /// Core cycles between two samples of what warps wait for, if it wants any.
    fn sampling(&self) -> Option<u64> {
        None
    }

    /// Wants [`ChipView::activity`]: each question then closes an activity sample.
    fn wants_activity(&self) -> bool {
        false
    }

    /// Futures that it wants to be shown with the next question. No hardware has them: they are simulated, each from the
    /// present state, which is then taken up again.
    fn foresees(&self) -> Option<Foresight> {
        None
    }

    /// A launch is about to begin. Clocks ordered before the first one are the run's first: no transition.
    fn launch(&mut self, launch: &LaunchView<'_>) -> Vec<Order> {
        let _ = launch;
        Vec::new()
    }

    /// What to change.
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order>;

    /// Tells why it has decided so: numbers by name, for the run's log. Asked after each [`GovernorHook::decide`]; the
    /// names should always be the same.
    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        let _ = note;
    }
}
