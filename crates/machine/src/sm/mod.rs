//! A streaming multiprocessor, cycle by cycle.
//!
//! Stages run from the back to the front, so an instruction moves one stage a cycle:
//! write-back ← execute ← operand collection ← issue ← decode ← fetch. A warp instruction takes its functional effect
//! when it issues. The SM meets the rest of the chip only through its [`Exchange`].

pub mod alu;
pub mod coalesce;
pub mod collector;
pub mod counts;
pub mod exchange;
pub mod fetch;
pub mod groups;
mod hear;
pub mod l1;
pub mod ldst;
pub mod order;
pub mod sampler;
pub mod warps;

mod ctas;
mod issue;
mod observe;
mod skip;
mod tune;
mod view;

use crate::activity::{SmActivity, SmEvent};
use crate::clock::Clock;
use crate::hooks::{CYCLE_KINDS, Event, Heard, LanesHook, Report, SmHooks, SmState, Watches, any_ahead};
use crate::kernel::{Kernel, PORTS};
use crate::message::{Femtoseconds, ReplyKind, Traffic, packet_flits};
use crate::ring::Ring;
use crate::seldom::seldom;
use crate::sm::alu::Alus;
use crate::sm::collector::Collector;
use crate::sm::counts::Counts;
use crate::sm::ctas::Slot;
use crate::sm::exchange::{CtaStart, Exchange};
use crate::sm::fetch::Fetch;
use crate::sm::groups::Groups;
use crate::sm::hear::Hear;
use crate::sm::ldst::Ldst;
use crate::sm::order::Order;
use crate::sm::sampler::Sampler;
use crate::sm::tune::Interval;
use crate::sm::warps::Warps;
use crate::spec::Spec;
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use warpwatt_simt::effect::Effect;
use warpwatt_simt::exec::Printed;
use warpwatt_simt::fault::{Fault, FaultKind};
use warpwatt_simt::memory::GlobalMemory;
use warpwatt_simt::warp::Warp;

/// Replies, of 32 bytes each, that an SM takes in a core cycle at most: those of a line. A faster crossbar brings more
/// than one; GPGPU-Sim hands over a whole line's packet in a core cycle, so that memory bandwidth does not shrink with
/// the SMs' clock.
const REPLIES_PER_CYCLE: u32 = 4;

/// One SM.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sm {
    id: u32,
    sms: u32,
    #[serde(skip)]
    kernel: Option<Arc<Kernel>>,
    /// The next cycle to simulate.
    now: u64,
    clock: Clock,
    threads: Vec<Warp>,
    slots: Vec<Slot>,
    warps: Warps,
    /// As many as a GPU may have; `schedulers` of them exist.
    orders: Table<Order, 16>,
    /// Warps that each scheduler chooses from.
    pools: Table<u64, 16>,
    schedulers: usize,
    fetch: Fetch,
    collector: Collector,
    alus: Alus,
    ldst: Ldst,
    groups: Groups,
    credits: u32,
    returned_credits: Ring<(Femtoseconds, u32)>,
    starts: VecDeque<CtaStart>,
    heap_results: VecDeque<exchange::HeapResult>,
    noc_latency: Femtoseconds,
    flit_bytes: u32,
    /// Tenths of a lane that the pipeline registers' duty counts in a cycle at most: 0.8 of what the
    /// result buses carry.
    full_duty: u64,
    started: u64,
    /// Warps that may have retired.
    ending: u64,
    /// Instructions issued per port.
    issued: [u64; PORTS],
    /// Most CTAs that run; younger ones are paused.
    cta_limit: u32,
    sampler: Sampler,
    halted: bool,
    stalled_until: u64,
    skip: bool,
    #[serde(skip)]
    printed: Vec<Printed>,
    /// The policy's objects.
    #[serde(skip)]
    hooks: SmHooks,
    /// Which cycles the lanes' policy is shown.
    #[serde(skip)]
    watched: Watches,
    /// Some of the policy's objects are told of every cycle.
    #[serde(skip)]
    followed: bool,
    /// Some observer wants to hear of issue slots.
    #[serde(skip)]
    slots_heard: bool,
    /// Some observer wants to hear of loads.
    #[serde(skip)]
    loads_heard: bool,
    /// Some observer wants to hear of cycles and requests.
    #[serde(skip)]
    observed: bool,
    /// Cycles by kind that it has not heard of.
    untold: [u64; CYCLE_KINDS],
    /// Collected for them.
    #[serde(skip)]
    news: Vec<Heard>,
    /// The next cycle at which a policy's object acts by itself.
    act_at: u64,
    /// The present datapath interval.
    interval: Interval,
    /// What it has counted.
    pub counts: Counts,
}

impl Sm {
    /// An idle SM. `noc_latency`: time for a message to the memory side.
    pub fn new(spec: &Spec, id: u32, noc_latency: Femtoseconds, skip: bool) -> Sm {
        let slots = spec.warps_per_sm as usize;
        Sm {
            id,
            sms: spec.sms,
            kernel: None,
            now: 0,
            clock: Clock::new(crate::clock::period_of(spec.core_mhz)),
            threads: (0..slots).map(|_| Warp::new()).collect(),
            slots: vec![Slot::default(); spec.ctas_per_sm as usize],
            warps: Warps::new(slots),
            orders: Table::from_fn(|i| Order::new(spec, i as u32)),
            pools: Table::from_fn(|i| Order::new(spec, i as u32).own),
            schedulers: spec.schedulers as usize,
            fetch: Fetch::new(spec),
            collector: Collector::new(spec),
            alus: Alus::new(spec),
            ldst: Ldst::new(spec),
            groups: Groups::new(spec),
            credits: spec.noc_buffer_flits,
            returned_credits: Ring::new(256),
            starts: VecDeque::with_capacity(64),
            heap_results: VecDeque::new(),
            noc_latency,
            flit_bytes: spec.noc_flit_bytes,
            full_duty: 256 * spec.result_buses as u64,
            started: 0,
            ending: 0,
            issued: [0; PORTS],
            cta_limit: u32::MAX,
            sampler: Sampler::default(),
            halted: false,
            stalled_until: 0,
            skip,
            printed: Vec::new(),
            hooks: SmHooks::default(),
            watched: Watches::None,
            followed: false,
            slots_heard: false,
            loads_heard: false,
            observed: false,
            untold: [0; CYCLE_KINDS],
            news: Vec::new(),
            act_at: u64::MAX,
            interval: Interval::never(),
            counts: Counts::new(),
        }
    }

    /// Installs a policy's objects.
    pub fn set_hooks(&mut self, hooks: SmHooks) {
        if let Some(issue) = &hooks.issue {
            self.alus.add_stages(issue.extra_stages());
        }
        self.interval.end = u64::MAX;
        let lanes = hooks.lanes.is_some();
        if let Some(datapath) = &hooks.datapath {
            self.interval.end = self.now.saturating_add(datapath.interval().max(1));
            self.fetch.count_by_port();
            let first = datapath.initial(&self.groups.of);
            self.groups.start(&first, datapath.delays(), lanes, self.now);
            self.set_widths();
        } else {
            let all = self.groups.of;
            self.groups.start(&all, Default::default(), lanes, self.now);
        }
        self.take_hooks(hooks);
        self.act_at = self.hooks.next_event(self.now);
        self.hooks.observe(self.now, Event::Period(self.clock.period()));
    }

    fn take_hooks(&mut self, hooks: SmHooks) {
        self.watched = hooks.lanes.as_ref().map_or(Watches::None, |l| l.watches());
        self.hooks = hooks;
        self.followed = self.hooks.follow_time();
        let interest = self.hooks.interest();
        self.slots_heard = interest.slots;
        self.loads_heard = interest.loads;
        self.set_observed(interest.cycles);
    }

    /// Adds what the policy's objects have counted.
    pub fn report(&mut self, report: &mut Report) {
        self.tell_all();
        self.hooks.report(self.now, report);
    }

    /// The policy objects' states.
    pub fn save_hooks(&mut self) -> Vec<Vec<u8>> {
        self.tell_news();
        self.hooks.save()
    }

    /// Puts a policy's objects, with their saved states, into a restored SM.
    pub fn restore_hooks(&mut self, mut hooks: SmHooks, states: &[Vec<u8>]) -> Result<(), String> {
        hooks.load(states)?;
        self.take_hooks(hooks);
        Ok(())
    }

    /// Takes the place of what became of this SM: its kernel, and its policy's objects with their saved states.
    pub fn succeed(&mut self, old: &mut Sm, states: &[Vec<u8>]) -> Result<(), String> {
        self.kernel = old.kernel.take();
        self.restore_hooks(std::mem::take(&mut old.hooks), states)
    }

    /// The next cycle to simulate.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Takes the activity since the last call.
    pub fn take_activity(&mut self) -> SmActivity {
        if let Some(kernel) = &self.kernel {
            self.counts.fold(kernel);
        }
        self.alus.count_inactive(&mut self.counts);
        self.counts.busy = self.busy();
        let a = &mut self.counts.activity;
        self.groups.flush(a);
        if let Some(lanes) = &mut self.hooks.lanes {
            lanes.residency(self.now, &mut a.int, &mut a.fp, &mut a.sfu);
        }
        self.counts.take_activity(self.now)
    }

    /// The cycle before which the SM issues nothing.
    pub fn stalled_until(&self) -> u64 {
        self.stalled_until
    }

    /// The SM issues nothing before this cycle.
    pub fn stall_until(&mut self, cycle: u64) {
        self.stalled_until = self.stalled_until.max(cycle);
    }

    /// Sets the time that a message to the memory side takes.
    pub fn set_noc_latency(&mut self, latency: Femtoseconds) {
        self.noc_latency = latency;
    }

    /// Prepares for a launch: empty L1 caches, statistics at zero, cycles counted from `tick` on.
    pub fn begin(&mut self, kernel: Arc<Kernel>, tick: u64) {
        if let Some(last) = &self.kernel {
            self.counts.fold(last);
        }
        self.counts.begin(&kernel);
        self.warps.set_words(kernel.words);
        self.alus.begin(kernel.longest);
        self.ldst.begin(kernel.launch.program.local_bytes);
        self.fetch.l1i.begin();
        self.tell_all();
        self.now = self.now.max(tick);
        self.hooks.observe(self.now, Event::Launch);
        self.kernel = Some(kernel);
    }

    /// Attaches the kernel of a restored state.
    pub fn attach(&mut self, kernel: Arc<Kernel>) {
        self.kernel = Some(kernel);
    }

    /// The SM's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Steps every cycle, or only those in which something can happen.
    pub fn set_skip(&mut self, skip: bool) {
        self.skip = skip;
    }

    /// Changes the core clock from the first tick at or after `time` on. The SM must stand before that tick.
    pub fn set_period(&mut self, time: Femtoseconds, period: Femtoseconds) {
        self.clock.change(time, period);
        self.tell_all();
        self.hooks.observe(self.now, Event::Period(period));
    }

    /// Simulates all cycles before `until`. `effect` is scratch that all SMs of a thread share, so that it stays in the
    /// host's cache.
    pub fn run(&mut self, until: Femtoseconds, x: &mut Exchange, memory: &GlobalMemory, effect: &mut Effect) {
        self.intake(x);
        let end = self.clock.tick_at(until);
        let Some(kernel) = self.kernel.take() else {
            self.now = self.now.max(end);
            return;
        };
        self.run_kernel(end, &kernel, x, memory, effect);
        self.kernel = Some(kernel);
    }

    /// [`Sm::run_to`] in the form that is compiled for this processor, and for SPs of this width: the usual ones do not even
    /// ask whether they are narrow.
    fn run_kernel(
        &mut self,
        end: u64,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        if kernel.narrow {
            return self.run_to::<true>(end, kernel, x, memory, effect);
        }
        #[cfg(target_arch = "x86_64")]
        if kernel.launch.program.level.is_wide() {
            // SAFETY: such a level comes from `Level::detect` alone, which has found the processor's features.
            return unsafe { self.run_wide(end, kernel, x, memory, effect) };
        }
        self.run_to::<false>(end, kernel, x, memory, effect);
    }

    /// [`Sm::run_to`], compiled for processors with these features: its bit operations take half the instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    unsafe fn run_wide(
        &mut self,
        end: u64,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        self.run_to::<false>(end, kernel, x, memory, effect);
    }

    /// Simulates all cycles before `end`.
    #[inline(always)]
    fn run_to<const NARROW: bool>(
        &mut self,
        end: u64,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        while self.now < end {
            // While operands are being collected there is something to do in every cycle.
            if self.skip && !self.collector.collecting() || self.halted {
                let next = if self.halted { end } else { self.next_event::<NARROW>().min(end) };
                if next > self.now {
                    self.pass(next - self.now);
                    continue;
                }
            }
            self.step::<NARROW>(kernel, x, memory, effect);
        }
    }

    /// Takes messages that have been delivered; they carry the time from which they count.
    #[inline(always)]
    fn intake(&mut self, x: &mut Exchange) {
        for reply in x.inbox.replies.drain(..) {
            if reply.kind == ReplyKind::Credit {
                self.returned_credits.push((reply.time, reply.tag));
            } else {
                if reply.kind == ReplyKind::Atomic {
                    self.ldst.results.push(x.inbox.atomics[reply.atomic as usize]);
                }
                self.ldst.replies.push(reply);
            }
        }
        x.inbox.atomics.clear();
        if !(x.starts.is_empty() && x.heap_results.is_empty()) {
            seldom();
            self.starts.extend(x.starts.drain(..));
            self.heap_results.extend(x.heap_results.drain(..));
        }
    }

    /// What is counted in every cycle, stepped or not.
    #[inline(always)]
    fn account(&mut self, cycles: u64) {
        let resident = self.warps.count as u64;
        let c = &mut self.counts;
        c.counters.resident_warp_cycles += resident * cycles;
        if resident > 0 {
            c.counters.active_sm_cycles += cycles;
        } else {
            c.events(SmEvent::IdleCycle, cycles);
        }
        c.activity.cycles += cycles;
        self.groups.advance(cycles);
        if self.followed {
            seldom();
            self.hooks.advance(self.now, self.now + cycles);
        }
        if self.hooks.datapath.is_some() {
            seldom();
            self.interval.cycles += cycles;
            self.interval.outstanding += self.warps.in_ldst.count_ones() as u64 * cycles;
        }
        let busy = &mut c.busy;
        busy[0] += self.fetch.held() as u64 * cycles;
        for (busy, &held) in busy[2..].iter_mut().zip(self.collector.held()) {
            *busy += held as u64 * cycles;
        }
        busy[13] += self.ldst.busy() as u64 * cycles;
    }

    /// One cycle.
    #[inline(always)]
    fn step<const NARROW: bool>(
        &mut self,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        let time = self.clock.time(self.now);
        self.counts.stepped += 1;
        if self.now >= self.interval.end && self.warps.resident != 0 {
            seldom();
            self.tune();
        }
        if self.now >= self.groups.wake_at {
            seldom();
            self.groups.act(self.now, &mut self.counts.activity);
            self.set_widths();
        }
        if self.now >= self.act_at && self.warps.resident != 0 {
            seldom();
            self.act(kernel);
        }
        self.deliver(time, kernel, x);
        let mut committed = 0;
        let written = self.write_back(kernel, &mut committed);
        let written = written | self.execute::<NARROW>(time, kernel, x, &mut committed);
        if committed > 0 {
            self.counts.events(SmEvent::CommittedLanes, committed);
            self.counts.events(SmEvent::PipelineDuty, (committed * 10).min(self.full_duty));
        }
        if !self.collector.idle() {
            let delayed = self.collector.step(kernel, written);
            self.counts.counters.register_bank_conflicts += delayed as u64;
        }
        let observed = if self.observed {
            seldom();
            Some((self.kinds(), self.issued_now()))
        } else {
            None
        };
        if self.now >= self.sampler.next {
            self.issue_and_sample(time, kernel, x, memory, effect);
        } else {
            self.issue(time, kernel, x, memory, effect);
        }
        self.fetch.step(self.now, kernel, &mut self.warps, &self.threads, &mut self.counts);
        if let Some((kinds, before)) = observed {
            seldom();
            self.note_requests();
            let issued = (self.issued_now() - before) as u32;
            self.passed(kinds.of(issued, self.schedulers_on() as u32), 1);
        }
        if self.watched != Watches::None {
            seldom();
            if self.watched == Watches::All || any_ahead(&self.collector, &self.alus) {
                self.watch(kernel);
            }
        }
        self.account(1);
        self.now += 1;
        if self.groups.draining {
            seldom();
            self.settle();
        }
    }

    /// A policy's object wants to act by itself.
    #[cold]
    fn act(&mut self, kernel: &Kernel) {
        let mut hooks = std::mem::take(&mut self.hooks);
        hooks.act(&self.state(kernel));
        self.act_at = hooks.next_event(self.now).max(self.now + 1);
        self.hooks = hooks;
    }

    /// Shows the lanes' policy the end of a cycle.
    fn watch(&mut self, kernel: &Kernel) {
        let Sm { hooks, warps, threads, collector, alus, .. } = self;
        if let Some(lanes) = &mut hooks.lanes {
            let (now, issued) = (self.now, self.issued);
            lanes.watch(&SmState { now, warps, threads, issued, collector, alus, kernel });
        }
    }

    /// What hook objects see.
    fn state<'a>(&'a self, kernel: &'a Kernel) -> SmState<'a> {
        SmState {
            now: self.now,
            warps: &self.warps,
            threads: &self.threads,
            issued: self.issued,
            collector: &self.collector,
            alus: &self.alus,
            kernel,
        }
    }

    /// Messages whose time has come, and sleepers that wake.
    #[inline(always)]
    fn deliver(&mut self, time: Femtoseconds, kernel: &Arc<Kernel>, x: &mut Exchange) {
        while let Some(&(_, flits)) = self.returned_credits.front().filter(|c| c.0 <= time) {
            self.credits += flits;
            self.returned_credits.pop();
        }
        while let Some(start) = self.starts.front().copied().filter(|s| s.time <= time) {
            seldom();
            self.starts.pop_front();
            self.start_cta(kernel, start.cta);
        }
        while let Some(result) = self.heap_results.front().filter(|r| r.time <= time) {
            seldom();
            let w = result.warp as usize;
            if let Some((pc, lane, address)) = result.invalid {
                let (warp, cta) = (&self.threads[w], &self.slots[self.warps.of[w].cta as usize].cta);
                let fault = Fault::new(FaultKind::InvalidFree { address }, &kernel.launch, warp, cta, pc, lane);
                self.halted = true;
                x.fault = Some((time, fault));
                return;
            }
            for (lane, &bits) in result.values.iter().enumerate() {
                if result.lanes >> lane & 1 != 0 {
                    self.threads[w].write_back(result.dest, lane as u32, bits);
                }
            }
            self.heap_results.pop_front();
            self.warps.of[w].atomics -= 1;
            self.after_atomic(w, time, x);
        }
        let mut asleep = self.warps.asleep;
        while asleep != 0 {
            seldom();
            let w = asleep.trailing_zeros() as usize;
            asleep &= asleep - 1;
            if self.warps.of[w].wake <= self.now {
                self.warps.asleep &= !(1 << w);
            }
        }
    }

    /// Results leave the SP and SFU pipelines. Returns the register banks that are written.
    #[inline(always)]
    fn write_back(&mut self, kernel: &Kernel, committed: &mut u64) -> u64 {
        let mut written = 0;
        for i in 0..self.alus.write_backs(self.now) {
            let f = self.alus.write_back(self.now, i);
            let w = f.warp() as usize;
            let op = &kernel.ops[f.pc() as usize];
            self.warps.release(w, f.pc(), op, kernel);
            self.warps.of[w].in_flight -= 1;
            let lanes = f.threads() as u64;
            *committed += lanes;
            self.counts.events(SmEvent::RegisterWrite, op.writes as u64 * lanes);
            written |= self.collector.banks_of(op.dest_banks, f.warp());
            if self.warps.finished >> w & 1 != 0 {
                self.ending |= 1 << w;
            }
        }
        written
    }

    /// Execution units take instructions; the load/store unit makes a step.
    #[inline(always)]
    fn execute<const NARROW: bool>(
        &mut self,
        time: Femtoseconds,
        kernel: &Kernel,
        x: &mut Exchange,
        committed: &mut u64,
    ) -> u64 {
        let lanes = self.hooks.lanes.as_deref_mut().map(|l| l as &mut dyn LanesHook);
        self.alus.accept::<NARROW>(self.now, &mut self.collector, kernel, lanes);
        let mut flits = 0;
        let mut port = l1::Port {
            sm: self.id as u16,
            credits: &mut self.credits,
            arrival: time + self.noc_latency,
            flit_bytes: self.flit_bytes,
            outbox: &mut x.outbox,
            flits: &mut flits,
        };
        let mut hear = Hear {
            now: self.now,
            kernel,
            warps: &mut self.warps,
            threads: &mut self.threads,
            ending: &mut self.ending,
            hooks: &mut self.hooks,
            loads_heard: self.loads_heard,
            counts: &mut self.counts,
            lanes: 0,
            written: 0,
            banks: self.collector.banks,
        };
        self.ldst.write_backs(self.now, &mut hear);
        // A reply is handed on in the cycle after it came.
        let ready = time.saturating_sub(self.clock.period());
        for _ in 0..REPLIES_PER_CYCLE {
            let Some(&reply) = self.ldst.replies.front().filter(|r| r.time <= ready) else { break };
            self.ldst.replies.pop();
            let arrived = packet_flits(reply.kind.data_sectors(), self.flit_bytes);
            hear.counts.events(SmEvent::FlitIn, arrived.into());
            if reply.traffic == Traffic::Instruction {
                seldom();
                self.fetch.l1i.fill(reply.tag, self.now);
            } else {
                self.ldst.take(self.now, reply, &mut hear);
            }
        }
        self.ldst.caches(self.now, &mut port, &mut hear);
        self.ldst.dispatch_all(self.now, &mut port, &mut self.collector, &mut hear);
        *committed += hear.lanes;
        let written = hear.written;
        if self.fetch.l1i.sending() {
            seldom();
            self.fetch.l1i.send(&mut port);
        }
        self.counts.events(SmEvent::FlitOut, flits);
        if self.ending != 0 {
            seldom();
            self.retire(time, x);
        }
        written
    }

    /// No warp is resident, none is about to come, and no cache waits for a line.
    pub fn quiet(&self) -> bool {
        self.warps.resident == 0 && self.starts.is_empty() && !self.fetch.l1i.missing() && !self.ldst.missing()
    }

    /// Miss latencies of the L1 data cache since the launch began: sum in core cycles, and number.
    pub fn latency(&self) -> (u64, u64) {
        self.ldst.l1d.latency
    }
}
