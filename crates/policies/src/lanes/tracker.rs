//! The lanes of an SM: all pipes, and what is counted of them.

use super::cohort::{Cohort, Pipe, PipeKind};
use super::control::Control;
use super::idle::IdlePeriods;
use super::line::Line;
use super::setup::{Scope, Setup};
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::simd::{SFU_LANES, Simd};
use warpwatt_machine::spec::Spec;

/// All lanes of an SM that a policy switches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracker {
    lines: Vec<Line>,
    /// Instructions that had to wait for lanes to wake up, and how long altogether.
    waits: u64,
    waited: u64,
    /// The cycle after the one in which an instruction last had to wait.
    waiting: u64,
    /// Pipes, a bit each, of which lanes have been wanted, or worked, since this was last taken.
    #[serde(skip)]
    touched: u64,
    #[serde(skip)]
    sfu_lanes: u64,
    sfu_counted: u64,
}

/// All lanes of an SFU.
const ALL_OF_SFU: u32 = (1 << SFU_LANES) - 1;

/// Where a kind of pipe is counted: INT, FP, SFU.
#[inline]
fn places(kind: PipeKind) -> &'static [usize] {
    match kind {
        PipeKind::Int => &[0],
        PipeKind::Fp => &[1],
        PipeKind::Both => &[0, 1],
        PipeKind::Sfu => &[2],
    }
}

impl Tracker {
    /// The lanes of an SM, all of them idle from cycle 0 on.
    pub fn new(spec: &Spec, setup: &Setup, control: &(impl Control + ?Sized)) -> Tracker {
        let sp = spec.sp_units as usize;
        let kinds: &[PipeKind] = match setup.scope {
            Scope::Type => &[PipeKind::Int, PipeKind::Fp],
            Scope::Lane => &[PipeKind::Both],
        };
        let sps = (0..sp).flat_map(|unit| kinds.iter().map(move |kind| (*kind, unit)));
        let sfus = (sp..sp + spec.sfu_units as usize).map(|unit| (PipeKind::Sfu, unit)).filter(|_| setup.sfu);
        let lines = sps.chain(sfus).enumerate().map(|(index, (kind, unit))| {
            let lanes = if kind == PipeKind::Sfu { ALL_OF_SFU } else { Simd::of(spec).all() };
            Line::new(Pipe { index, kind, unit }, lanes, control)
        });
        Tracker {
            lines: lines.collect(),
            waits: 0,
            waited: 0,
            waiting: 0,
            touched: 0,
            sfu_lanes: if setup.sfu { 0 } else { u64::from(spec.lanes().1) },
            sfu_counted: 0,
        }
    }

    /// After loading a saved state: what is not saved comes from a fresh one.
    pub(crate) fn complete(&mut self, fresh: &Tracker) -> Result<(), String> {
        if !self.pipes().eq(fresh.pipes()) {
            return Err("the lanes were saved under other parameters".to_owned());
        }
        self.sfu_lanes = fresh.sfu_lanes;
        for (line, fresh) in self.lines.iter_mut().zip(&fresh.lines) {
            line.announced = fresh.announced;
            line.reserve();
        }
        Ok(())
    }

    /// Instructions will be announced.
    pub fn expect_announcements(&mut self) {
        self.lines.iter_mut().for_each(|line| line.announced = true);
    }

    /// The pipes, in the order of their indices.
    pub fn pipes(&self) -> impl Iterator<Item = Pipe> {
        self.lines.iter().map(|line| line.pipe)
    }

    /// The cohorts of a pipe.
    pub fn cohorts(&self, pipe: usize) -> &[Cohort] {
        &self.lines[pipe].cohorts
    }

    /// Idle periods of INT, FP and SFU lanes, those included that go on at `now`.
    pub fn idle_until(&self, now: u64) -> [IdlePeriods; 3] {
        let mut idle: [IdlePeriods; 3] = Default::default();
        for line in &self.lines {
            for &place in places(line.pipe.kind) {
                idle[place].join(&line.account.idle);
                let periods = line.cohorts.iter().filter(|c| c.idle_from < now);
                periods.for_each(|c| idle[place].add(now - c.idle_from, c.count()));
            }
        }
        idle
    }

    /// Times that instructions had to wait for lanes to wake up (of several that wait in the same cycle one is counted),
    /// and the cycles in which one waited.
    pub fn waits(&self) -> (u64, u64) {
        (self.waits, self.waited)
    }

    /// The cycle from which an instruction can start on some lanes of a pipe.
    #[inline]
    pub fn ready(&self, pipe: usize, control: &(impl Control + ?Sized), now: u64, lanes: u32) -> u64 {
        self.lines[pipe].ready(control, now, lanes)
    }

    /// An instruction wants lanes of a pipe for some cycles. Gives the cycle from which it can start: `now`, and it has
    /// started; or a later one, and the lanes wake up for it.
    #[inline]
    pub fn start(
        &mut self,
        pipe: usize,
        control: &mut (impl Control + ?Sized),
        now: u64,
        lanes: u32,
        busy: u64,
    ) -> u64 {
        let ready = self.ready(pipe, control, now, lanes);
        if ready > now {
            self.refuse(pipe, control, now, lanes, ready);
            return ready;
        }
        self.touched |= 1 << pipe;
        self.lines[pipe].begin(control, now, lanes, busy);
        now
    }

    /// An instruction cannot start before `ready`.
    fn refuse(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, ready: u64) {
        self.touched |= 1 << pipe;
        self.lines[pipe].promise(control, now, lanes, ready);
        self.waits += (self.waiting < now) as u64;
        self.waited += (self.waiting <= now) as u64;
        self.waiting = now + 1;
    }

    /// The short way: an instruction starts on lanes that are awake. Whether they are; otherwise nothing has happened.
    #[inline]
    pub fn starts_awake(
        &mut self,
        pipe: usize,
        control: &(impl Control + ?Sized),
        now: u64,
        lanes: u32,
        busy: u64,
    ) -> bool {
        let starts = self.lines[pipe].starts_awake(control, now, lanes, busy);
        self.touched |= (starts as u64) << pipe;
        starts
    }

    /// When lanes fall asleep is no longer what the policy said: asks it again, for all that are awake. Those that fell
    /// asleep before `now` did so as it was said; others do at `now` at the earliest.
    pub fn replan(&mut self, control: &(impl Control + ?Sized), now: u64) {
        self.lines.iter_mut().for_each(|line| line.replan(control, now));
    }

    /// The same of a pipe.
    pub fn replan_pipe(&mut self, pipe: usize, control: &(impl Control + ?Sized), now: u64) {
        self.lines[pipe].replan(control, now);
    }

    /// The same of all pipes of SPs, after marking some lanes of each.
    pub fn mark(&mut self, control: &(impl Control + ?Sized), now: u64, lanes: u32) {
        let sps = self.lines.iter_mut().filter(|line| line.pipe.kind != PipeKind::Sfu);
        sps.for_each(|line| line.mark(control, now, lanes));
    }

    /// An instruction is on its way that will want lanes of a pipe: those that are asleep wake up, and none falls asleep
    /// before `until`, unless the rules change.
    #[inline]
    pub fn announce(&mut self, pipe: usize, control: &mut (impl Control + ?Sized), now: u64, lanes: u32, until: u64) {
        self.touched |= (self.lines[pipe].announce(control, now, lanes, until) as u64) << pipe;
    }

    /// Pipes, a bit each, of which lanes have been wanted, or worked, since this was last taken; not kept in checkpoints.
    #[inline]
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Takes it of some pipes.
    #[inline]
    pub fn take_touched(&mut self, pipes: u64) -> u64 {
        let taken = self.touched & pipes;
        self.touched ^= taken;
        taken
    }

    /// Takes the lane-cycles before `now`.
    pub fn take_residency(&mut self, control: &(impl Control + ?Sized), now: u64) -> [LaneResidency; 3] {
        let mut taken: [LaneResidency; 3] = Default::default();
        for line in &mut self.lines {
            let mut closed = line.account.take();
            line.cohorts.iter().for_each(|c| line.account.cut(&mut closed, c, control.blackout(), now));
            let closed = LaneResidency::from(closed);
            places(line.pipe.kind).iter().for_each(|&place| taken[place].add(&closed));
        }
        taken[2].cycles[LaneState::On as usize] += self.sfu_lanes * (now - self.sfu_counted);
        self.sfu_counted = now;
        taken
    }
}
