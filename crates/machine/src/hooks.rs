//! Where a policy may act. The machine asks, a policy answers; what is absent costs a branch.
//!
//! A policy is a set of at most one object per hook ([`Policy`]); objects that act inside an SM are made once per SM. Each
//! says when it next wants to act on its own ([`Hook::next_event`]) and can be told that time has passed
//! ([`Hook::advance`]), so that skipped cycles make no difference: `advance` over a span must equal stepping through it.
//! The hooks, after `ARCHITECTURE.md`: order, issue, lanes, datapath, governor, observer.

mod cycle;
mod governor;
mod report;
mod state;

pub use cycle::{CYCLE_KINDS, CycleFacts, CycleKind, Kinds};
pub use governor::{ChipView, Foresight, Future, GovernorHook, LaunchView, Order, SmView, WarpCounts, WarpSums};
pub use report::Report;
pub(crate) use state::any_ahead;
pub use state::{AHEAD, Ahead, SmState};

use crate::activity::{COMPONENTS, LaneResidency};
use crate::kernel::Port;
use crate::message::Femtoseconds;
use crate::seldom::seldom;
use crate::sm::warps::Warps;
use crate::stats::Slot;
use serde::{Deserialize, Serialize};
use warpwatt_simt::warp::Warp;

/// What every hook object has.
pub trait Hook: Send + std::fmt::Debug {
    /// The next core cycle, after `now`, at which the object acts by itself; `u64::MAX` for never. Asked when the object
    /// is installed and after each [`Hook::act`]: the answer changes only there.
    fn next_event(&self, now: u64) -> u64 {
        let _ = now;
        u64::MAX
    }

    /// The beginning of the cycle that [`Hook::next_event`] named, or of the first one after it in which the SM holds
    /// warps. All objects of an SM are told when any has an event: each must look at the time.
    fn act(&mut self, state: &SmState<'_>) {
        let _ = state;
    }

    /// Wants to be told of every cycle that passes ([`Hook::advance`]). Few objects need to: all calls say what time it is.
    fn follows_time(&self) -> bool {
        false
    }

    /// Cycles from `from` up to, not including, `to` pass. For objects that follow time.
    fn advance(&mut self, from: u64, to: u64) {
        let _ = (from, to);
    }

    /// The object's state, for a checkpoint.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes a saved state back.
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Ok(())
    }

    /// Adds what the object has counted since the run began. `now`: the first cycle not simulated.
    fn report(&self, now: u64, report: &mut Report) {
        let _ = (now, report);
    }
}

/// What a scheduler asks its order.
#[derive(Clone, Copy, Debug)]
pub struct OrderQuery<'a> {
    /// Core cycle.
    pub now: u64,
    /// Scheduler index.
    pub scheduler: usize,
    /// Its warps that are ready: next instruction buffered, registers available.
    pub ready: u64,
    /// Those of them that can issue now: their port is free.
    pub available: u64,
    /// The scheduler's warps, those of a partner that is tuned down included.
    pub pool: u64,
    /// Warps whose buffered instruction goes to an INT pipeline, to an FP pipeline.
    pub int: u64,
    /// See `int`.
    pub fp: u64,
    /// Everything known of the warps: ages, ports, why they wait.
    pub warps: &'a Warps,
    /// Their SIMT stacks.
    pub threads: &'a [Warp],
}

impl OrderQuery<'_> {
    /// Lanes that a warp would execute with (SIMT stack, before its guard).
    #[inline]
    pub fn active(&self, warp: usize) -> u32 {
        self.threads.get(warp).map_or(0, |t| t.active())
    }
}

/// Which warp issues.
pub trait OrderHook: Hook {
    /// A warp out of `available`, or none. Asked only while some warp is ready.
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize>;
}

/// A warp instruction about to enter an SP.
#[derive(Clone, Copy, Debug)]
pub struct IssueQuery {
    /// Core cycle.
    pub now: u64,
    /// Warp slot.
    pub warp: usize,
    /// Threads that execute: lanes, where SPs have one for each.
    pub lanes: u32,
    /// It goes to the FP pipeline rather than the INT pipeline.
    pub fp: bool,
}

/// How a warp instruction enters the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every thread on its own lane.
    Whole,
    /// On other lanes, the mask says which.
    Permuted(u32),
    /// As two sub-warps, one initiation interval apart, with these lane masks.
    Split(u32, u32),
}

impl Shape {
    /// The lanes of the first and the second sub-warp of an instruction of these threads; the second is 0 if there is none.
    #[inline]
    pub fn masks(self, threads: u32) -> (u32, u32) {
        match self {
            Shape::Whole => (threads, 0),
            Shape::Permuted(mask) => (mask, 0),
            Shape::Split(first, second) => (first, second),
        }
    }
}

/// How warp instructions enter the SPs.
pub trait IssueHook: Hook {
    /// The shape of one instruction.
    fn shape(&mut self, query: &IssueQuery) -> Shape;

    /// Pipeline stages that the hardware adds to every SP instruction.
    fn extra_stages(&self) -> u32 {
        0
    }
}

/// A warp instruction that wants to start in an execution unit.
#[derive(Clone, Copy, Debug)]
pub struct StartQuery {
    /// Core cycle.
    pub now: u64,
    /// SP or SFU.
    pub port: Port,
    /// Which of the port's units.
    pub unit: usize,
    /// FP rather than INT pipeline.
    pub fp: bool,
    /// Lanes that it uses.
    pub lanes: u32,
    /// Cycles for which the unit takes nothing else, from the start on: the initiation interval, twice if the
    /// instruction goes through as two halves.
    pub busy: u32,
    /// Cycles from the start until its results leave the lanes.
    pub latency: u32,
    /// All threads of the instruction, as it begins. `None`: it has begun, this is one of the sub-warps behind its first, in
    /// an SP with fewer lanes than a warp has threads ([`crate::simd`]). Each is asked for, and starts, on its own.
    pub begins: Option<u32>,
}

/// Cycles at whose end a lanes object is shown the SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watches {
    /// None.
    #[default]
    None,
    /// Those after which an SP instruction is known that will start next, or go on ([`SmState::any_ahead`]).
    Ahead,
    /// All.
    All,
}

/// Power states of the lanes.
pub trait LanesHook: Hook {
    /// The cycle from which on this instruction could start, if it were asked for now. Of several units that are free,
    /// an instruction goes to the one with the least.
    fn ready(&mut self, query: &StartQuery) -> u64 {
        query.now
    }

    /// May this instruction start now? The answer is the cycle from which on it may (`now`: at once, and then the lanes
    /// count as busy). A later cycle is a demand: sleeping lanes wake up for it. The question is repeated every cycle
    /// until the instruction has started.
    fn start(&mut self, query: &StartQuery) -> u64;

    /// The short way, asked first: starts an instruction whose lanes are awake. `false`: nothing has happened, and it goes
    /// the long way.
    fn starts_awake(&mut self, query: &StartQuery) -> bool {
        let _ = query;
        false
    }

    /// An instruction stands before a free unit and cannot start, but not for want of lanes: its result would find no bus. It
    /// wants them as much as one that starts. Told in each such cycle.
    fn held_up(&mut self, query: &StartQuery) {
        let _ = query;
    }

    /// An instruction for the SPs has issued: it wants the lanes of its first and, if it has one, its second sub-warp
    /// ([`Shape::masks`]) in some SP, once its operands are collected.
    fn issued(&mut self, query: &IssueQuery, masks: (u32, u32)) {
        let _ = (query, masks);
    }

    /// Takes the lane-cycles by state of the cycles before `now` that have not been taken, for INT, FP and SFU. Their sum
    /// must be lanes × cycles: an audit checks it.
    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency);

    /// At the end of which cycles it wants to be shown the SM ([`LanesHook::watch`]).
    fn watches(&self) -> Watches {
        Watches::None
    }

    /// The end of cycle `state.now`: what the operand collectors hold, what warps wait. Cycles that are skipped are not
    /// shown; in them everything is as it was at the end of the last one shown, so that seeing them would add nothing.
    fn watch(&mut self, state: &SmState<'_>) {
        let _ = state;
    }
}

/// What a datapath policy sees at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub struct DatapathQuery {
    /// Core cycle.
    pub now: u64,
    /// Cycles of the interval.
    pub cycles: u64,
    /// Instruction-cycles held by each component in the interval, blocked ones included.
    pub busy: [u64; COMPONENTS],
    /// What `busy` counts of each component, in all its groups: fetch units, schedulers, register entries, collector units,
    /// execution units.
    pub entries: [u32; COMPONENTS],
    /// Groups of each component.
    pub groups: [u32; COMPONENTS],
    /// Those that take work at present.
    pub on: [u32; COMPONENTS],
    /// Warp instructions decoded per port (SP, SFU, LDST).
    pub decoded: [u64; 3],
    /// Warp instructions issued per port.
    pub issued: [u64; 3],
    /// Warp instructions that have entered EX_LDST.
    pub entered: u64,
    /// Sum over the interval's cycles of warps with instructions in EX_LDST or outstanding since: a load until its results
    /// are there, a store until it has left the unit.
    pub outstanding: u64,
}

/// Delays of groups that are power-gated, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatingDelays {
    /// Least time without power.
    pub break_even: u64,
    /// From then to work.
    pub wake_up: u64,
}

/// Tune-down of pipeline components. A group that is not wanted any more drains first; how groups come back is said in
/// [`crate::sm::groups`].
pub trait DatapathHook: Hook {
    /// Length of an interval in core cycles.
    fn interval(&self) -> u64;

    /// Groups of each component that are on at the beginning; the others are off, drained and without power or clock.
    fn initial(&self, groups: &[u32; COMPONENTS]) -> [u32; COMPONENTS] {
        *groups
    }

    /// Delays of power gating.
    fn delays(&self) -> GatingDelays {
        GatingDelays::default()
    }

    /// Groups of each component that shall be on.
    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS];
}

/// Where a request that is outstanding has gone past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L1Cache {
    /// L1 data cache.
    Data,
    /// L1 texture cache.
    Texture,
    /// L1 constant cache.
    Constant,
    /// L1 instruction cache.
    Instruction,
    /// Atomics and loads that bypass the L1s.
    None,
}

/// A request that is outstanding: an MSHR of an L1, or an instruction that bypasses them. One of these may have
/// several requests at a time under the same entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// Which cache missed.
    pub cache: L1Cache,
    /// Which of its MSHRs.
    pub entry: u16,
}

/// What an observer hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An issue slot of a scheduler, and how many cycles in a row it had that fate.
    Slot(Slot, u64),
    /// A load missed the L1 data cache.
    Miss {
        /// Warp slot.
        warp: u8,
        /// Line address.
        line: u64,
    },
    /// A load hit the L1 data cache.
    Hit {
        /// Warp slot.
        warp: u8,
        /// Line address.
        line: u64,
    },
    /// A line has left the L1 data cache to make room for the next miss.
    Evicted {
        /// Line address.
        line: u64,
    },
    /// All results of a load are there.
    LoadDone {
        /// Warp slot.
        warp: u8,
    },
    /// So many cycles were of each [`CycleKind`], since a request last went out or was answered, up to the present one. Comes
    /// before every event below.
    Cycles([u64; CYCLE_KINDS]),
    /// A miss is outstanding from this cycle on.
    Requested(Outstanding),
    /// Its data have come: from this cycle on it is not outstanding.
    Answered(Outstanding),
    /// A launch begins.
    Launch,
    /// From here on a core cycle has this length.
    Period(Femtoseconds),
}

/// Which events an observer wants; it may be told of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// [`Event::Slot`].
    pub slots: bool,
    /// From [`Event::Miss`] to [`Event::LoadDone`].
    pub loads: bool,
    /// From [`Event::Cycles`] on.
    pub cycles: bool,
}

impl Interest {
    /// Of launches and the clock everybody hears.
    pub const NONE: Interest = Interest { slots: false, loads: false, cycles: false };
}

/// An event and its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The SM's cycle.
    pub now: u64,
    /// What happened in it.
    pub event: Event,
}

/// Counts.
pub trait ObserverHook: Hook {
    /// Something happened in a cycle.
    fn event(&mut self, now: u64, event: Event);

    /// Things that happened, in their order. [`Event::Cycles`], [`Event::Requested`] and [`Event::Answered`] come in this
    /// way, many at a time: before a launch begins, the clock changes, the object is saved, or it is asked for what it
    /// knows; but maybe after other events of later cycles.
    fn events(&mut self, heard: &[Heard]) {
        heard.iter().for_each(|h| self.event(h.now, h.event));
    }

    /// What it wants to hear.
    fn interest(&self) -> Interest {
        Interest { slots: true, loads: true, cycles: false }
    }

    /// The governor is about to be asked: adds what it shall know of this object, under a name.
    fn tell(&mut self, now: u64, observed: &mut Vec<(&'static str, Vec<u64>)>) {
        let _ = (now, observed);
    }
}

/// The hook objects of one SM.
#[derive(Debug, Default)]
pub struct SmHooks {
    /// Warp order, instead of the built-in scheduler.
    pub order: Option<Box<dyn OrderHook>>,
    /// Issue shape.
    pub issue: Option<Box<dyn IssueHook>>,
    /// Lane power states, instead of always on.
    pub lanes: Option<Box<dyn LanesHook>>,
    /// Pipeline widths.
    pub datapath: Option<Box<dyn DatapathHook>>,
    /// Observers.
    pub observers: Vec<Box<dyn ObserverHook>>,
}

impl SmHooks {
    /// All objects, in a fixed order.
    fn all(&mut self) -> impl Iterator<Item = &mut dyn Hook> {
        let order = self.order.as_deref_mut().map(|h| h as &mut dyn Hook);
        let issue = self.issue.as_deref_mut().map(|h| h as &mut dyn Hook);
        let lanes = self.lanes.as_deref_mut().map(|h| h as &mut dyn Hook);
        let datapath = self.datapath.as_deref_mut().map(|h| h as &mut dyn Hook);
        let observers = self.observers.iter_mut().map(|h| h.as_mut() as &mut dyn Hook);
        order.into_iter().chain(issue).chain(lanes).chain(datapath).chain(observers)
    }

    /// No object is present.
    pub fn is_empty(&self) -> bool {
        self.order.is_none()
            && self.issue.is_none()
            && self.lanes.is_none()
            && self.datapath.is_none()
            && self.observers.is_empty()
    }

    /// The next cycle at which any object acts by itself.
    pub fn next_event(&mut self, now: u64) -> u64 {
        self.all().map(|h| h.next_event(now)).min().unwrap_or(u64::MAX)
    }

    /// Some object wants to be told of every cycle.
    pub fn follow_time(&mut self) -> bool {
        self.all().any(|h| h.follows_time())
    }

    /// Time passes for all objects.
    pub fn advance(&mut self, from: u64, to: u64) {
        self.all().for_each(|h| h.advance(from, to));
    }

    /// A cycle has come that some object waits for.
    pub fn act(&mut self, state: &SmState<'_>) {
        self.all().for_each(|h| h.act(state));
    }

    /// Adds what the objects have counted.
    pub fn report(&mut self, now: u64, report: &mut Report) {
        self.all().for_each(|h| h.report(now, report));
    }

    /// The objects' states.
    pub fn save(&mut self) -> Vec<Vec<u8>> {
        self.all().map(|h| h.save()).collect()
    }

    /// Takes saved states back.
    pub fn load(&mut self, states: &[Vec<u8>]) -> Result<(), String> {
        let objects = self.all().count();
        if objects != states.len() {
            return Err(format!("{} saved policy objects for an SM that has {objects}", states.len()));
        }
        self.all().zip(states).try_for_each(|(h, s)| h.load(s))
    }

    /// What any observer wants to hear.
    pub fn interest(&self) -> Interest {
        let all = self.observers.iter().map(|o| o.interest());
        all.fold(Interest::NONE, |a, b| Interest {
            slots: a.slots || b.slots,
            loads: a.loads || b.loads,
            cycles: a.cycles || b.cycles,
        })
    }

    /// Tells all observers.
    #[inline]
    pub fn observe(&mut self, now: u64, event: Event) {
        for o in &mut self.observers {
            seldom();
            o.event(now, event);
        }
    }
}

/// A policy: a maker of hook objects. Every method's default is the trivial answer: no object.
pub trait Policy: Send + Sync + std::fmt::Debug {
    /// The objects of one SM.
    fn sm(&self, spec: &crate::spec::Spec, sm: u32) -> SmHooks {
        let _ = (spec, sm);
        SmHooks::default()
    }

    /// The chip's governor.
    fn governor(&self, spec: &crate::spec::Spec) -> Option<Box<dyn GovernorHook>> {
        let _ = spec;
        None
    }
}

/// The policy that changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nominal;

impl Policy for Nominal {}
