//! The load/store unit: address lists, shared memory, the L1 data, constant and texture caches, and write-back.
//!
//! The unit consists of groups (16 lanes each; one on a GTX 480, two on µC-States' big core) that share the caches. A group
//! dispatches one instruction at a time, which makes one transaction a cycle. Global and local transactions pass through
//! the group's delay line, as long as the L1's hit latency, and are looked up at its end. Each cycle a reply from the
//! crossbar is taken (more, where its clock is faster), and each group writes one result back (a shared-memory load, or one returned transaction); L1 and
//! constant hits write back on the side. A failed look-up (no line, no MSHR, miss queue full) holds up the delay line and
//! is counted as an L1 stall cycle by its cause.
//!
//! *Decision*: a group brings its own way into the L1 and its own result bus, so that half of the groups have exactly half
//! of the throughput (µC-States §2.3); crossbar, MSHRs and miss queue are the caches' and do not grow with groups.

use crate::activity::SmEvent;
use crate::message::{AtomicPayload, AtomicResult, Reply, ReplyKind, Request, RequestKind, Traffic};
use crate::ring::Ring;
use crate::seldom::seldom;
use crate::sm::coalesce::{self, Route, Transaction};
use crate::sm::collector::{Collector, Flight};
use crate::sm::hear::Hear;
use crate::sm::l1::{FILL, Fate, L1, MissLog, Outcome, Port};
use crate::spec::Spec;
use crate::table::Table;
use serde::{Deserialize, Serialize};
use warpwatt_simt::effect::{AtomicDest, Effect, EffectKind};

/// Address space of local memory, one window per warp slot.
const LOCAL_BASE: u64 = 0x4_0000_0000;
/// Address space of kernel parameters.
const PARAM_BASE: u64 = 0x3_0000_0000;

/// Loads, texture fetches and atomics that may be outstanding in one SM.
const LOADS: usize = 4096;

/// The addresses of one memory instruction between issue and dispatch.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AccessList {
    transactions: Vec<Transaction>,
    payloads: Vec<AtomicPayload>,
    shared_cycles: u32,
    shared: bool,
    store: bool,
    /// Entry in `loads`, if results are awaited.
    load: Option<u16>,
}

/// An instruction whose results are awaited.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Load {
    pc: u32,
    warp: u8,
    /// Transactions (and a shared-memory part) still to come.
    left: u16,
    dest: AtomicDest,
    lanes: u8,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Dispatched {
    flight: Flight,
    next: u16,
}

/// A transaction in the L1's delay line.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Delayed {
    at: u64,
    line: u64,
    sectors: u8,
    local: bool,
    /// A store of this warp, or a read for this load.
    store: bool,
    id: u16,
}

/// A group of the unit's lanes, from dispatch to write-back.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Group {
    /// If the unit's `dispatched` says so.
    dispatched: Dispatched,
    shared_pipe: Ring<(u64, u16)>,
    line: Ring<Delayed>,
    /// Why the oldest transaction in it could not look up the cache, if the unit's `held_up` says so.
    why: Outcome,
    write_back: Option<u16>,
    /// Whose turn it is to write back.
    turn: u8,
}

/// The load/store unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ldst {
    lists: Vec<AccessList>,
    free_lists: Vec<u16>,
    loads: Vec<Load>,
    free_loads: Vec<u16>,
    /// As many as a GPU may have; `count` of them exist.
    groups: Table<Group, 16>,
    count: usize,
    /// Groups that take instructions.
    on: usize,
    /// Groups with an instruction that makes its transactions, a bit each.
    dispatched: u32,
    /// Groups that are stopped by a look-up that failed; nothing has changed in the cache since.
    held_up: u32,
    /// Instructions that have entered the unit, since the run began.
    pub entered: u64,
    /// L1 data cache.
    pub l1d: L1,
    /// Constant cache.
    pub l1c: L1,
    /// Texture cache.
    pub l1t: L1,
    /// Requests of bypassing loads and atomics that are outstanding, and what observers hear of them.
    past: u32,
    /// See `past`.
    #[serde(skip)]
    pub log: MissLog,
    /// A dispatched instruction could not send in this cycle.
    unsent: bool,
    /// Bypassing loads and atomics that have returned.
    returned: Ring<u16>,
    /// Replies under way to this SM, in time order, and the results of atomics among them.
    pub replies: Ring<Reply>,
    /// See `replies`.
    pub results: Ring<AtomicResult>,
    l1_latency: u64,
    shared_latency: u64,
    banks: u32,
    local_words: u64,
    constant_line: u64,
    texture_line: u64,
}

impl Ldst {
    /// An idle unit of a GPU.
    pub fn new(spec: &Spec) -> Ldst {
        let groups = spec.ldst_units.clamp(1, 16) as usize;
        // Collectors; IDOC, OCEX and dispatch of each group; and one to spare.
        let lists = spec.collectors_mem as usize + 3 * groups + 1;
        let list = || AccessList {
            transactions: Vec::with_capacity(128),
            payloads: Vec::with_capacity(32),
            shared_cycles: 0,
            shared: false,
            store: false,
            load: None,
        };
        let group = || Group {
            dispatched: Dispatched::default(),
            shared_pipe: Ring::new(spec.shared_latency_cycles as usize + 2),
            line: Ring::new(spec.l1_latency_cycles as usize + 2),
            why: Outcome::Hit,
            write_back: None,
            turn: 0,
        };
        Ldst {
            lists: (0..lists).map(|_| list()).collect(),
            free_lists: (0..lists as u16).collect(),
            loads: vec![Load::default(); LOADS],
            free_loads: (0..LOADS as u16).rev().collect(),
            groups: Table::from_fn(|_| group()),
            count: groups,
            on: groups,
            dispatched: 0,
            held_up: 0,
            entered: 0,
            l1d: L1::new(&spec.l1d, Traffic::Data),
            l1c: L1::new(&spec.l1c, Traffic::Constant),
            l1t: L1::new(&spec.l1t, Traffic::Texture),
            past: 0,
            log: MissLog::default(),
            unsent: false,
            returned: Ring::new(LOADS),
            replies: Ring::new(256),
            results: Ring::new(256),
            l1_latency: spec.l1_latency_cycles.max(1) as u64,
            shared_latency: spec.shared_latency_cycles.max(1) as u64,
            banks: spec.shared_banks,
            local_words: 0,
            constant_line: spec.l1c.line_bytes as u64,
            texture_line: spec.l1t.line_bytes as u64,
        }
    }

    /// Leaves so many groups on; the others drain.
    pub fn limit(&mut self, on: u32) {
        self.on = (on.max(1) as usize).min(self.count);
    }

    /// A group holds nothing.
    pub fn drained(&self, group: usize) -> bool {
        let g = &self.groups[group];
        let holds = g.write_back.is_some() || !g.line.is_empty() || !g.shared_pipe.is_empty();
        group >= self.count || (self.dispatched >> group & 1 == 0 && !holds)
    }

    /// Prepares for a kernel: caches are empty, local windows have its size.
    pub fn begin(&mut self, local_bytes: u32) {
        self.local_words = (local_bytes as u64).div_ceil(4);
        self.l1d.begin();
        self.l1c.begin();
        self.l1t.begin();
    }

    /// Whether another memory instruction can be issued (besides room in its IDOC register).
    #[inline(always)]
    pub fn can_issue(&self) -> bool {
        !self.free_lists.is_empty() && !self.free_loads.is_empty()
    }

    /// Groups that are taken: what EX_LDST counts as busy. Like the SPs they are pipelines, so an instruction that waits in
    /// the delay lines, on its way, takes nothing.
    #[inline(always)]
    pub fn busy(&self) -> u32 {
        (self.dispatched | self.held_up).count_ones()
    }

    /// Makes the access list of an instruction that has just been executed. Returns the list's index, whether a load
    /// entry was taken, and the number of atomic transactions.
    #[inline(always)]
    pub fn issue(&mut self, effect: &Effect, warp: u8, sm_slots: u64) -> (u16, bool, u32) {
        let Some(slot) = self.free_lists.pop() else { return (0, false, 0) };
        let list = &mut self.lists[slot as usize];
        list.transactions.clear();
        list.payloads.clear();
        list.shared_cycles = 0;
        list.load = None;
        list.store = effect.kind == EffectKind::Store;
        let access = &effect.access;
        let atomic = effect.kind == EffectKind::Atomic;
        list.shared = false;
        // What an effect says of accesses counts only where there was one: a fence leaves it as it was.
        if effect.kind == EffectKind::Fence || effect.executed == 0 {
            seldom();
            let awaited = !list.store && effect.kind != EffectKind::Fence;
            if awaited {
                let id = self.take_load(effect, warp, 0);
                self.lists[slot as usize].load = Some(id);
            }
            return (slot, awaited, 0);
        }
        list.shared = access.shared != 0;
        if list.shared {
            list.shared_cycles = coalesce::shared_cycles(access, self.banks, atomic);
        }
        if atomic {
            seldom();
            coalesce::atomics(access, &effect.atomic, &mut list.transactions, &mut list.payloads);
        } else if access.global != 0 {
            coalesce::global(access, list.store, &mut list.transactions);
        }
        if access.local != 0 {
            let window = LOCAL_BASE + (sm_slots + warp as u64) * self.local_words * 128;
            coalesce::local(access, window, list.store, &mut list.transactions);
        }
        if access.constant | access.param != 0 {
            coalesce::constants(access.constant, access, 0, self.constant_line, &mut list.transactions);
            coalesce::constants(access.param, access, PARAM_BASE, self.constant_line, &mut list.transactions);
        }
        if access.texture != 0 {
            coalesce::textures(access, self.texture_line, &mut list.transactions);
        }
        let parts = list.transactions.len() as u16 + list.shared as u16;
        let atomics = if atomic { list.transactions.len() as u32 } else { 0 };
        if list.store {
            return (slot, false, 0);
        }
        let id = self.take_load(effect, warp, parts);
        self.lists[slot as usize].load = Some(id);
        (slot, true, atomics)
    }

    /// An entry for an instruction whose results are awaited, in so many parts.
    #[inline(always)]
    fn take_load(&mut self, effect: &Effect, warp: u8, left: u16) -> u16 {
        let id = self.free_loads.pop().unwrap_or_default();
        let lanes = effect.executed.count_ones() as u8;
        self.loads[id as usize] = Load { pc: effect.pc, warp, left, dest: effect.atomic.dest, lanes };
        id
    }

    /// Results leave the groups, and others take their place.
    #[inline(always)]
    pub fn write_backs(&mut self, now: u64, hear: &mut Hear<'_>) {
        let results = !self.returned.is_empty()
            || !self.l1d.ready.is_empty()
            || !self.l1c.ready.is_empty()
            || !self.l1t.ready.is_empty();
        for i in 0..self.count {
            let group = &self.groups[i];
            if results || group.write_back.is_some() || !group.shared_pipe.is_empty() {
                self.write_back(i, now, hear);
            }
        }
    }

    /// The caches send misses, and look up what comes out of the delay lines.
    #[inline(always)]
    pub fn caches(&mut self, now: u64, port: &mut Port<'_>, hear: &mut Hear<'_>) {
        if self.l1t.sending() {
            self.l1t.send(port);
        }
        if self.l1c.sending() {
            self.l1c.send(port);
        }
        if self.l1d.sending() && self.l1d.send(port) {
            self.held_up = 0;
        }
        for i in 0..self.count {
            if self.groups[i].line.front().is_some_and(|d| d.at <= now) {
                self.look_up(i, now, hear);
            }
        }
    }

    /// Each group makes a step of its instruction, then takes the next one from the OCEX register.
    #[inline(always)]
    pub fn dispatch_all(&mut self, now: u64, port: &mut Port<'_>, collector: &mut Collector, hear: &mut Hear<'_>) {
        self.unsent = false;
        let mut dispatched = self.dispatched;
        while dispatched != 0 {
            let i = dispatched.trailing_zeros() as usize;
            dispatched &= dispatched - 1;
            self.dispatch(i, now, port, hear);
        }
        let port = crate::kernel::Port::Mem as usize;
        let mut free = !self.dispatched & ((1 << self.on) - 1);
        while free != 0
            && let Some(flight) = collector.next(port)
        {
            let i = free.trailing_zeros() as usize;
            free &= free - 1;
            collector.leave(port);
            self.entered += 1;
            hear.entered(flight.warp());
            self.groups[i].dispatched = Dispatched { flight, next: 0 };
            self.dispatched |= 1 << i;
        }
    }

    /// One part of a load is done.
    #[inline(always)]
    fn part(&mut self, id: u16, hear: &mut Hear<'_>) {
        let load = &mut self.loads[id as usize];
        load.left = load.left.saturating_sub(1);
        if load.left == 0 {
            let (warp, pc, lanes) = (load.warp, load.pc, load.lanes);
            self.free_loads.push(id);
            hear.load(warp, pc, lanes);
        }
    }

    #[inline(always)]
    fn write_back(&mut self, i: usize, now: u64, hear: &mut Hear<'_>) {
        if let Some(id) = self.groups[i].write_back.take() {
            self.part(id, hear);
        }
        // The clients that have a result, a bit each; the first at or after the one whose turn it is. A group that is off
        // has only its own.
        let shared = self.groups[i].shared_pipe.front().is_some_and(|s| s.0 <= now) as u32;
        let clients = (!self.l1t.ready.is_empty() as u32) << 1
            | (!self.l1c.ready.is_empty() as u32) << 2
            | (!self.returned.is_empty() as u32) << 3
            | (!self.l1d.ready.is_empty() as u32) << 4;
        let clients = if i < self.on { clients | shared } else { shared };
        if clients == 0 {
            return;
        }
        let group = &mut self.groups[i];
        let first = clients >> group.turn << group.turn;
        let client = if first != 0 { first } else { clients }.trailing_zeros();
        group.turn = if client == 4 { 0 } else { client as u8 + 1 };
        group.write_back = match client {
            0 => group.shared_pipe.pop().map(|s| s.1),
            1 => self.l1t.ready.pop().map(|t| t as u16),
            2 => self.l1c.ready.pop().map(|t| t as u16),
            3 => self.returned.pop(),
            _ => self.l1d.ready.pop().map(|t| t as u16),
        };
    }

    /// A reply has come.
    #[inline(always)]
    pub fn take(&mut self, now: u64, reply: Reply, hear: &mut Hear<'_>) {
        match reply.kind {
            ReplyKind::WriteAck => {
                if reply.tag != u32::MAX {
                    hear.store(reply.tag as u8);
                }
            }
            ReplyKind::Atomic => {
                seldom();
                let id = reply.tag as u16;
                self.answered(id);
                let load = self.loads[id as usize];
                if let Some(result) = self.results.pop() {
                    hear.atomic(load.warp, load.dest, &result);
                }
                self.returned.push(id);
            }
            ReplyKind::Data if reply.tag & FILL == 0 => {
                let id = reply.tag as u16;
                self.answered(id);
                self.returned.push(id);
            }
            ReplyKind::Data => {
                let cache = match reply.traffic {
                    Traffic::Texture => &mut self.l1t,
                    Traffic::Constant => &mut self.l1c,
                    _ => {
                        // Something has changed in the cache: what was held up may try again.
                        self.held_up = 0;
                        &mut self.l1d
                    }
                };
                cache.fill(reply.tag, now);
            }
            ReplyKind::Credit => {}
        }
    }

    /// A request that went past the L1s is answered.
    fn answered(&mut self, id: u16) {
        self.past -= 1;
        if self.log.on {
            seldom();
            self.log.list.push((Fate::Answered, id));
        }
    }

    /// A load or atomic is outstanding.
    pub fn awaits(&self) -> bool {
        (self.past > 0) | self.l1d.missing() | self.l1c.missing() | self.l1t.missing()
    }

    /// It has something to send and cannot: no MSHR or line is free, or a queue is full.
    pub fn full(&self) -> bool {
        self.unsent || self.held_up != 0
    }

    /// Parts of one instruction take turns at shared memory's banks or at the cache's port, and neither waits for an MSHR, a
    /// line or a queue.
    #[inline(always)]
    pub fn conflict(&self) -> bool {
        let takes_turns = |i: usize| {
            let d = self.groups[i].dispatched;
            let list = &self.lists[d.flight.slot() as usize];
            (d.next > 0 && (d.next as usize) < list.transactions.len()) || list.shared_cycles > 1
        };
        let dispatched = self.dispatched & !self.held_up;
        !self.unsent && dispatched != 0 && (0..self.count).any(|i| dispatched >> i & 1 != 0 && takes_turns(i))
    }

    /// The end of the L1's delay line.
    #[inline(always)]
    fn look_up(&mut self, i: usize, now: u64, hear: &mut Hear<'_>) {
        let Some(&d) = self.groups[i].line.front() else { return };
        let outcome = if self.held_up >> i & 1 != 0 {
            self.groups[i].why
        } else if d.store {
            let (outcome, present) = self.l1d.write(d.line, d.sectors, d.id as u32, d.local);
            if let Some(line) = self.l1d.evicted.take() {
                hear.evicted(line);
            }
            if matches!(outcome, Outcome::Hit | Outcome::Miss) {
                hear.counts.counters.l1d_writes += 1;
                hear.counts.counters.l1d_write_hits += present as u64;
                hear.counts.event(if present { SmEvent::L1WriteHit } else { SmEvent::L1WriteMiss });
            }
            outcome
        } else {
            let outcome = self.l1d.read(d.line, d.id as u32, now);
            if matches!(outcome, Outcome::Hit | Outcome::Miss) {
                let warp = self.loads[d.id as usize].warp;
                if let Some(line) = self.l1d.evicted.take() {
                    hear.evicted(line);
                }
                hear.looked(warp, d.line, outcome == Outcome::Hit);
                hear.counts.counters.l1d_reads += 1;
                hear.counts.counters.l1d_read_misses += (outcome == Outcome::Miss) as u64;
                hear.counts.event(if outcome == Outcome::Hit { SmEvent::L1ReadHit } else { SmEvent::L1ReadMiss });
            }
            outcome
        };
        let group = &mut self.groups[i];
        group.why = outcome;
        self.held_up |= 1 << i;
        match outcome {
            Outcome::Hit | Outcome::Miss => {
                self.held_up &= !(1 << i);
                group.line.pop();
                hear.counts.counters.local_transactions += d.local as u64;
                if outcome == Outcome::Hit {
                    if d.store {
                        hear.store(d.id as u8);
                    } else {
                        self.part(d.id, hear);
                    }
                }
            }
            Outcome::NoLine => hear.counts.counters.l1d_stall_line += 1,
            Outcome::NoMshr => hear.counts.counters.l1d_stall_mshr += 1,
            Outcome::QueueFull => hear.counts.counters.l1d_stall_queue += 1,
        }
    }

    /// The dispatched instruction makes one step.
    #[inline(always)]
    fn dispatch(&mut self, i: usize, now: u64, port: &mut Port<'_>, hear: &mut Hear<'_>) {
        let mut d = self.groups[i].dispatched;
        let slot = d.flight.slot() as usize;
        let list = &mut self.lists[slot];
        if list.shared_cycles > 0 {
            list.shared_cycles -= 1;
            hear.counts.event(SmEvent::SharedCycle);
            if list.shared_cycles > 0 {
                hear.counts.counters.shared_conflict_cycles += 1;
                return;
            }
        }
        let count = list.transactions.len();
        if (d.next as usize) < count {
            if !self.transaction(i, now, d, port, hear) {
                self.unsent = true;
                return;
            }
            d.next += 1;
            self.groups[i].dispatched.next = d.next;
            if (d.next as usize) < count {
                return;
            }
        }
        let list = &self.lists[slot];
        if let Some(id) = list.load {
            if list.shared {
                let pipe = &mut self.groups[i].shared_pipe;
                if pipe.len() as u64 >= self.shared_latency {
                    return;
                }
                pipe.push((now + self.shared_latency, id));
            } else if count == 0 {
                // No lane was left: the instruction passes through.
                self.loads[id as usize].left = 1;
                self.part(id, hear);
            }
        }
        if self.lists[slot].shared {
            hear.counts.counters.shared_accesses += 1;
        }
        self.dispatched &= !(1 << i);
        self.free_lists.push(slot as u16);
        if self.lists[slot].load.is_none() {
            hear.committed(d.flight.warp());
        }
        hear.left(d.flight.warp());
    }

    /// Sends one transaction on its way; false if it cannot go now.
    #[inline(always)]
    fn transaction(&mut self, i: usize, now: u64, d: Dispatched, port: &mut Port<'_>, hear: &mut Hear<'_>) -> bool {
        let list = &self.lists[d.flight.slot() as usize];
        let t = list.transactions[d.next as usize];
        let load = list.load.unwrap_or_default();
        let store = list.store;
        let sent = match t.route {
            Route::Global | Route::Local => {
                let line = &mut self.groups[i].line;
                if line.len() as u64 >= self.l1_latency {
                    return false;
                }
                let id = if store { d.flight.warp() as u16 } else { load };
                let local = t.route == Route::Local;
                line.push(Delayed { at: now + self.l1_latency, line: t.line, sectors: t.sectors, local, store, id });
                true
            }
            Route::Bypass | Route::Atomic => {
                let atomic = t.route == Route::Atomic;
                let index = port.outbox.atomics.len() as u32;
                let request = Request {
                    time: 0,
                    sm: 0,
                    kind: if atomic { RequestKind::Atomic } else { RequestKind::Read },
                    traffic: Traffic::Data,
                    sectors: t.sectors,
                    flits: 0,
                    tag: load.into(),
                    line: t.line,
                    atomic: if atomic { index } else { 0 },
                };
                if !port.send(request) {
                    hear.counts.counters.l1d_stall_queue += 1;
                    return false;
                }
                self.past += 1;
                if self.log.on {
                    seldom();
                    self.log.list.push((Fate::Requested, load));
                }
                if atomic {
                    port.outbox.atomics.push(list.payloads[t.payload as usize]);
                    hear.counts.counters.l1d_writes += 1;
                } else {
                    hear.counts.counters.l1d_reads += 1;
                    hear.counts.counters.l1d_read_misses += 1;
                }
                true
            }
            Route::Constant | Route::Texture => {
                let texture = t.route == Route::Texture;
                let cache = if texture { &mut self.l1t } else { &mut self.l1c };
                let outcome = cache.read(t.line, load as u32, now);
                let hit = outcome == Outcome::Hit;
                if !hit && outcome != Outcome::Miss {
                    return false;
                }
                let c = &mut hear.counts.counters;
                let (accesses, misses, event) = if texture {
                    let event = if hit { SmEvent::TextureHit } else { SmEvent::TextureMiss };
                    (&mut c.texture_accesses, &mut c.texture_misses, event)
                } else {
                    let event = if hit { SmEvent::ConstantHit } else { SmEvent::ConstantMiss };
                    (&mut c.constant_accesses, &mut c.constant_misses, event)
                };
                *accesses += 1;
                *misses += !hit as u64;
                hear.counts.event(event);
                if hit {
                    self.part(load, hear);
                }
                true
            }
        };
        hear.counts.event(if store || t.route == Route::Atomic { SmEvent::LdstWrite } else { SmEvent::LdstRead });
        sent
    }

    /// The next cycle at or after `now` in which something can happen, replies apart.
    #[inline(always)]
    pub fn next_event(&self, now: u64, credits: u32) -> u64 {
        if self.dispatched != 0
            || self.groups.iter().take(self.count).any(|g| g.write_back.is_some())
            || !self.returned.is_empty()
            || !(self.l1d.ready.is_empty() && self.l1c.ready.is_empty() && self.l1t.ready.is_empty())
            || (credits > 0 && (self.l1d.sending() || self.l1c.sending() || self.l1t.sending()))
        {
            return now;
        }
        let shared = |g: &Group| g.shared_pipe.front().map_or(u64::MAX, |s| s.0);
        let line = |g: &Group| g.line.front().map_or(u64::MAX, |d| d.at);
        self.groups.iter().take(self.count).map(|g| shared(g).min(line(g))).min().unwrap_or(u64::MAX).max(now)
    }

    /// Some cache waits for a line.
    pub fn missing(&self) -> bool {
        [&self.l1d, &self.l1c, &self.l1t].iter().any(|c| c.missing() || !c.idle())
    }

    /// Transactions that a store instruction makes, for the warp's count of unacknowledged stores.
    pub fn transactions(&self, slot: u16) -> u32 {
        self.lists[slot as usize].transactions.len() as u32
    }
}
