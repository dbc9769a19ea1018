//! The window loop: all SMs run a window, possibly on several threads, then their mail is exchanged and the memory side
//! runs the same window.
//!
//! The grid of windows is fixed for a whole run: a window is as long as the shortest legal time of a message. Nothing
//! that an SM does in a window can reach another SM or the memory side within it, so the order in which SMs run does
//! not matter, and results do not depend on the number of threads. With more threads than one, the memory side runs its
//! window beside the SMs unless it has atomics to execute, which must see the window's stores. Windows in which nothing
//! can happen are skipped.
//!
//! Grids run in *lanes*: a set of SMs, a device memory and at most one grid in progress. A GPU that runs one program has
//! one lane with all SMs; several programs at once ([`super::mix`]) have one each, and meet in the memory side only.

use crate::activity::MEM_EVENTS;
use crate::gpu::dispatch::Dispatcher;
use crate::gpu::options::{Control, Progress};
use crate::memory::{AtomicMemory, MemorySide, NoMemory};
use crate::message::{AtomicPayload, AtomicResult, Femtoseconds, Inbox, Outbox, ReplyKind};
use crate::sm::Sm;
use crate::sm::exchange::{CtaStart, Exchange, HeapResult};
use crate::stats::{Counters, Ending};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use warpwatt_simt::effect::Effect;
use warpwatt_simt::exec::Printed;
use warpwatt_simt::fault::Fault;
use warpwatt_simt::memory::GlobalMemory;

/// Why the loop returned.
#[derive(Debug)]
pub enum Pause {
    /// The launch of this lane is complete.
    Done(usize),
    /// Nothing can ever happen again in this lane, though its launch is not complete.
    Stuck(usize),
    /// A governor's time has come: all parts stand at the first window boundary at or after it.
    Attention,
    /// The observer wants a checkpoint.
    Checkpoint,
    /// A sample was cut.
    Sample(Cut),
    /// The run is over.
    Over(Ending),
    /// A program fault, the sample that was cut in its window, and the lane.
    Fault(Box<Fault>, Option<Cut>, usize),
}

/// A set of SMs with a device memory of its own, and the grid that runs there.
#[derive(Debug)]
pub struct Lane<'a> {
    /// The SMs, a bit each. Lanes have none in common.
    pub sms: u64,
    /// Global memory.
    pub memory: &'a RwLock<GlobalMemory>,
    /// The grid in progress; it knows the lane's SMs by their rank among them.
    pub dispatcher: Option<&'a mut Dispatcher>,
    /// Time of the last CTA end.
    pub last_end: &'a mut Femtoseconds,
    /// Printed text.
    pub printed: &'a mut Vec<Printed>,
    /// Replies that the memory side owes to the SMs. Kept only where there are several lanes: a lane that waits for
    /// nothing and does nothing is stuck, however busy the others are.
    pub owed: &'a mut u64,
}

impl Lane<'_> {
    /// The rank of an SM of the lane.
    fn rank(&self, sm: usize) -> usize {
        (self.sms & ((1 << sm) - 1)).count_ones() as usize
    }
}

/// A sample: when it was cut, and the memory side's part. Each SM's part is in its exchange.
#[derive(Debug)]
pub struct Cut {
    /// When.
    pub time: Femtoseconds,
    /// Counters and events of the memory side.
    pub tally: Box<(Counters, [u64; MEM_EVENTS])>,
}

/// What the loop works on.
pub struct Engine<'a, 'l> {
    /// All SMs.
    pub sms: &'a mut [Sm],
    /// Their mail.
    pub exchanges: &'a [Mutex<Exchange>],
    /// The memory side.
    pub memory_side: &'a mut MemorySide,
    /// What runs, and where.
    pub lanes: &'a mut [Lane<'l>],
    /// Where the loop stands: all parts have simulated everything before.
    pub now: &'a mut Femtoseconds,
    /// Window length.
    pub window: Femtoseconds,
    /// The next sample, and the end of the run by the cycle limit.
    pub sample_at: Femtoseconds,
    /// See `sample_at`.
    pub limit_at: Femtoseconds,
    /// When a governor must be asked, or an order of its takes effect.
    pub attention_at: Femtoseconds,
    /// Threads.
    pub threads: usize,
    /// Skip what cannot matter.
    pub skip: bool,
    /// Windows since the observer was last asked.
    pub unobserved: &'a mut u64,
    /// Asked every so many windows.
    pub observer: &'a mut dyn FnMut(&Progress) -> Control,
}

/// Windows between two calls of the observer.
const OBSERVE: u64 = 256;

/// A lock that a panicking thread left is still good: the panic itself ends the run.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An SM and its mail.
struct Cell<'a> {
    sm: &'a mut Sm,
    mail: &'a mut Exchange,
}

/// All SMs, as the loop's own thread sees them.
struct Cells<'a> {
    all: &'a [Mutex<Cell<'a>>],
    /// The same, if there is no other thread: a lock costs as much as dozens of instructions.
    kept: Vec<MutexGuard<'a, Cell<'a>>>,
}

impl<'a> Cells<'a> {
    #[inline]
    fn with<R>(&mut self, i: usize, f: impl FnOnce(&mut Cell<'a>) -> R) -> R {
        match self.kept.get_mut(i) {
            Some(cell) => f(cell),
            None => f(&mut lock(&self.all[i])),
        }
    }
}

/// What all threads see.
///
/// SMs of a window are claimed one by one, each thread's own share first: a thread that the host does not let run
/// holds nobody up, because the others do its part.
struct Shared<'a> {
    cells: &'a [Mutex<Cell<'a>>],
    /// The lanes' memories, and each SM's lane.
    memories: Vec<&'a RwLock<GlobalMemory>>,
    lane_of: [u8; 64],
    /// The SMs of this window that no thread has begun, a bit each.
    unclaimed: AtomicU64,
    /// How many have been run.
    ran: AtomicU32,
    /// End of the window. Changes only while no SM is claimed.
    until: AtomicU64,
    /// Shares are run from their ends. Changes when `until` does.
    backwards: AtomicBool,
    /// The last SM of each thread's share, where there are several.
    lasts: u64,
    /// Where all SMs cut a sample on their way, or 0.
    cut: AtomicU64,
    generation: AtomicU64,
    quit: AtomicBool,
}

impl Shared<'_> {
    /// A worker's life: wait for a window, run SMs of it.
    fn work(&self, own: u64) {
        let mut seen = 0;
        let mut effect = Effect::default();
        loop {
            let mut spins = 0u32;
            let mut generation = self.generation.load(Ordering::Acquire);
            while generation == seen {
                pause(&mut spins);
                generation = self.generation.load(Ordering::Acquire);
            }
            seen = generation;
            if self.quit.load(Ordering::Acquire) {
                return;
            }
            self.run_claimed(own, &mut effect);
        }
    }

    /// Claims and runs SMs, those of `own` first, until none is left.
    fn run_claimed(&self, own: u64, effect: &mut Effect) {
        loop {
            let left = self.unclaimed.load(Ordering::Acquire);
            if left == 0 {
                return;
            }
            let i = self.next_of(left, own);
            if self.unclaimed.fetch_and(!(1 << i), Ordering::AcqRel) >> i & 1 != 0 {
                self.run_one(&mut lock(&self.cells[i]), &self.read(self.lane_of[i]), effect);
                self.ran.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// Which of some SMs a thread with this share runs next. Forth in one window and back in the other: what the last SMs
    /// have left in the host's caches is still there when they go on. The last of each share comes at its end both times,
    /// so that it is always the same one that others take over.
    fn next_of(&self, left: u64, own: u64) -> usize {
        let one = |from: u64, back: bool| if back { from.leading_zeros() ^ 63 } else { from.trailing_zeros() } as usize;
        let inner = left & own & !self.lasts;
        if inner != 0 {
            one(inner, self.backwards.load(Ordering::Relaxed))
        } else if left & own != 0 {
            one(left & own, false)
        } else {
            one(if left & self.lasts != 0 { left & self.lasts } else { left }, true)
        }
    }

    fn read(&self, lane: u8) -> RwLockReadGuard<'_, GlobalMemory> {
        self.memories[lane as usize].read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one SM to the end of the window.
    fn run_one(&self, cell: &mut Cell<'_>, memory: &GlobalMemory, effect: &mut Effect) {
        let Cell { sm, mail: x } = cell;
        let cut = self.cut.load(Ordering::Relaxed);
        if cut != 0 {
            sm.run(cut, x, memory, effect);
            x.sample = Some(sm.take_activity());
        }
        sm.run(self.until.load(Ordering::Relaxed), x, memory, effect);
        x.next_time = sm.next_time();
        x.quiet = sm.quiet();
        x.warp_instructions = sm.counts.counters.warp_instructions;
    }
}

/// Waits a little: spins at first, then lets others run.
fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < 2000 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// Ends the workers when the loop is left, in whatever way.
struct Dismiss<'a, 'b>(&'a Shared<'b>);

impl Drop for Dismiss<'_, '_> {
    fn drop(&mut self) {
        self.0.quit.store(true, Ordering::Release);
        self.0.generation.fetch_add(1, Ordering::Release);
    }
}

impl Engine<'_, '_> {
    /// Runs until something asks for attention.
    pub fn run(self) -> Pause {
        let Engine { sms, exchanges, threads, .. } = self;
        let count = sms.len();
        let mut lane_of = [0; 64];
        for (number, lane) in self.lanes.iter().enumerate() {
            bits(lane.sms).for_each(|sm| lane_of[sm] = number as u8);
        }
        let all = u64::MAX >> (64 - count);
        let share = count.div_ceil(threads.clamp(1, count));
        let workers = count.div_ceil(share) - 1;
        // This thread's share is the last and smallest: it has the memory side as well.
        let own = |i: usize| all >> (count - share.min(count)) << ((workers - i) * share) & all;
        let lasts = (0..=workers).filter(|_| workers > 0).fold(0, |m, i| m | 1 << 63 >> own(i).leading_zeros());
        let mut mail: Vec<MutexGuard<'_, Exchange>> = exchanges.iter().map(lock).collect();
        let cell = |(sm, mail)| Mutex::new(Cell { sm, mail });
        let cells: Vec<Mutex<Cell<'_>>> = sms.iter_mut().zip(mail.iter_mut().map(|x| &mut **x)).map(cell).collect();
        let shared = Shared {
            cells: &cells,
            memories: self.lanes.iter().map(|lane| lane.memory).collect(),
            lane_of,
            unclaimed: AtomicU64::new(0),
            ran: AtomicU32::new(0),
            until: AtomicU64::new(0),
            backwards: AtomicBool::new(false),
            lasts,
            cut: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            quit: AtomicBool::new(false),
        };
        std::thread::scope(|scope| {
            for i in 1..=workers {
                let (shared, own) = (&shared, own(i));
                scope.spawn(move || shared.work(own));
            }
            let _dismiss = Dismiss(&shared);
            let mut turn = Turn {
                memory_side: self.memory_side,
                lanes: self.lanes,
                now: self.now,
                window: self.window,
                outboxes: exchanges.iter().map(|_| Outbox::roomy()).collect(),
                inboxes: exchanges.iter().map(|_| Inbox::roomy()).collect(),
                cells: Cells {
                    all: &cells,
                    kept: if workers == 0 { cells.iter().map(lock).collect() } else { Vec::new() },
                },
                shared: &shared,
                workers,
                own: own(0),
                effect: Effect::default(),
                ends: Vec::with_capacity(64),
                next: Vec::with_capacity(exchanges.len()),
                quiet: 0,
                all,
            };
            turn.look_around();
            loop {
                if *self.unobserved >= OBSERVE {
                    *self.unobserved = 0;
                    match (self.observer)(&turn.progress()) {
                        Control::Continue => {}
                        Control::Checkpoint => {
                            turn.catch_up();
                            return Pause::Checkpoint;
                        }
                        Control::Stop => {
                            turn.catch_up();
                            return Pause::Over(Ending::Interrupted);
                        }
                    }
                }
                *self.unobserved += 1;
                if let Some(pause) = turn.window(self.sample_at, self.limit_at, self.attention_at, self.skip) {
                    return pause;
                }
            }
        })
    }
}

/// The loop's working set, apart from the SMs.
struct Turn<'a, 'b, 'l> {
    memory_side: &'a mut MemorySide,
    lanes: &'a mut [Lane<'l>],
    now: &'a mut Femtoseconds,
    window: Femtoseconds,
    outboxes: Vec<Outbox>,
    inboxes: Vec<Inbox>,
    shared: &'a Shared<'b>,
    cells: Cells<'b>,
    workers: usize,
    /// The SMs that this thread runs first.
    own: u64,
    /// Scratch of this thread's SMs.
    effect: Effect,
    /// CTA ends of a window, kept for its room.
    ends: Vec<(Femtoseconds, usize)>,
    /// When each SM must run next, for itself or for its mail.
    next: Vec<Femtoseconds>,
    /// SMs in which nothing is under way.
    quiet: u64,
    /// All SMs.
    all: u64,
}

impl Turn<'_, '_, '_> {
    fn progress(&mut self) -> Progress {
        let grids = self.lanes.iter().filter_map(|lane| Some(lane.dispatcher.as_ref()?.progress()));
        let (ctas_done, ctas) = grids.fold((0, 0), |sum, grid| (sum.0 + grid.0, sum.1 + grid.1));
        let warp_instructions = (0..self.inboxes.len()).map(|i| self.cells.with(i, |c| c.mail.warp_instructions)).sum();
        Progress { time: *self.now, ctas_done, ctas, warp_instructions, ..Progress::default() }
    }

    /// Reads the state of all SMs' mail.
    fn look_around(&mut self) {
        self.next.clear();
        for i in 0..self.inboxes.len() {
            self.cells.with(i, |Cell { mail: x, .. }| {
                let mail = x.inbox.replies.first().map(|r| r.time);
                let start = x.starts.first().map(|s| s.time);
                let heap = x.heap_results.first().map(|h| h.time);
                self.next.push(mail.into_iter().chain(start).chain(heap).fold(x.next_time, u64::min));
                if x.quiet && !x.waiting() {
                    self.quiet |= 1 << i;
                }
            });
        }
    }

    /// Mail for an SM, to be read at a time.
    fn announce(&mut self, sm: usize, time: Femtoseconds) {
        self.next[sm] = self.next[sm].min(time);
        self.quiet &= !(1 << sm);
    }

    /// The SMs of a mask, on all threads. `beside`: the memory side has no atomic to execute, so that it can run the same
    /// window, from this time on, meanwhile: what it works on was sent in earlier windows. Returns whether it did.
    fn run_sms(&mut self, mask: u64, until: Femtoseconds, beside: Option<Femtoseconds>) -> bool {
        let s = self.shared;
        s.until.store(until, Ordering::Relaxed);
        s.backwards.store(!s.backwards.load(Ordering::Relaxed), Ordering::Relaxed);
        if self.workers == 0 || mask.count_ones() < 2 {
            for (number, lane) in self.lanes.iter().enumerate() {
                let memory = s.read(number as u8);
                let mut left = mask & lane.sms;
                while left != 0 {
                    let i = s.next_of(left, self.own);
                    left ^= 1 << i;
                    self.cells.with(i, |cell| s.run_one(cell, &memory, &mut self.effect));
                }
            }
            return false;
        }
        s.ran.store(0, Ordering::Relaxed);
        s.unclaimed.store(mask, Ordering::Release);
        s.generation.fetch_add(1, Ordering::Release);
        if let Some(from) = beside {
            self.memory_side.run(from, until, &mut self.inboxes, &mut NoMemory);
        }
        s.run_claimed(self.own, &mut self.effect);
        let mut spins = 0;
        while s.ran.load(Ordering::Acquire) < mask.count_ones() {
            pause(&mut spins);
        }
        beside.is_some()
    }

    /// Brings SMs that had nothing to do up to the present, so that their counters are complete.
    fn catch_up(&mut self) {
        self.run_sms(self.all, *self.now, None);
    }

    /// One window, or as many as pass before something happens; the last one ends early at the limit.
    fn window(
        &mut self,
        sample: Femtoseconds,
        limit: Femtoseconds,
        attention: Femtoseconds,
        skip: bool,
    ) -> Option<Pause> {
        let start = *self.now;
        if start >= attention {
            self.catch_up();
            return Some(Pause::Attention);
        }
        if let Some(lane) = self.done() {
            self.catch_up();
            return Some(Pause::Done(lane));
        }
        if self.lanes.len() > 1
            && let Some(lane) = self.stuck()
        {
            self.catch_up();
            return Some(Pause::Stuck(lane));
        }
        let next = self.next_event();
        if next == u64::MAX {
            self.catch_up();
            return Some(Pause::Over(Ending::Deadlock { message: String::new() }));
        }
        let mut end = (start / self.window + 1) * self.window;
        if skip && next >= end {
            // On to the window that holds the next event, but not beyond one with a sample in it.
            let grid = |time: Femtoseconds| (time / self.window + 1) * self.window;
            end = grid(next.min(sample)).min(attention.div_ceil(self.window).saturating_mul(self.window)).max(end);
        }
        let end = end.min(limit);
        let cut = if sample < end { sample } else { 0 };
        if cut != 0 {
            self.shared.cut.store(cut, Ordering::Relaxed);
        }
        let mask = if cut != 0 || !skip {
            self.all
        } else {
            self.next.iter().enumerate().fold(0, |m, (i, &t)| m | ((t < end) as u64) << i)
        };
        let beside = (cut == 0 && !self.memory_side.has_atomics()).then_some(start);
        let memory_ran = self.run_sms(mask, end, beside);
        let fault = self.collect(mask, end);
        if self.lanes.len() > 1 {
            self.count_owed();
        }
        self.memory_side.take_requests(&mut self.outboxes);
        let mut sample = None;
        if cut != 0 {
            self.shared.cut.store(0, Ordering::Relaxed);
            self.run_memory(start, cut);
            sample = Some(Cut { time: cut, tally: Box::new(self.memory_side.take_tally()) });
        }
        if !memory_ran {
            self.run_memory(start.max(cut), end);
        }
        self.deliver();
        *self.now = end;
        if let Some((lane, fault)) = fault {
            self.catch_up();
            return Some(Pause::Fault(fault, sample, lane));
        }
        if let Some(sample) = sample {
            return Some(Pause::Sample(sample));
        }
        if end == limit {
            self.catch_up();
            return Some(Pause::Over(Ending::CycleLimit { cycles: 0 }));
        }
        None
    }

    fn run_memory(&mut self, from: Femtoseconds, to: Femtoseconds) {
        self.memory_side.run(from, to, &mut self.inboxes, &mut Memories::new(self.shared));
    }

    /// A lane whose launch is complete.
    fn done(&self) -> Option<usize> {
        self.lanes.iter().position(|lane| {
            lane.dispatcher.as_ref().is_some_and(|d| d.done()) && lane.sms & !self.quiet & self.all == 0
        })
    }

    /// A lane that has a launch in progress, no SM that will do anything, and nothing to come.
    fn stuck(&self) -> Option<usize> {
        self.lanes.iter().position(|lane| {
            lane.dispatcher.is_some() && *lane.owed == 0 && bits(lane.sms).all(|sm| self.next[sm] == u64::MAX)
        })
    }

    /// Counts the replies that will come for what the SMs have sent in this window.
    fn count_owed(&mut self) {
        for (sm, outbox) in self.outboxes.iter().enumerate() {
            let replies = outbox.requests.iter().map(|request| request.replies());
            *self.lanes[self.shared.lane_of[sm] as usize].owed += replies.sum::<u64>();
        }
    }

    /// When something happens next anywhere.
    fn next_event(&self) -> Femtoseconds {
        self.next.iter().copied().fold(self.memory_side.next_event(), u64::min)
    }

    /// Takes what the SMs sent: stores reach memory in SM order, CTA ends and heap calls in (time, SM) order. Returns the
    /// earliest fault and its lane.
    fn collect(&mut self, mask: u64, end: Femtoseconds) -> Option<(usize, Box<Fault>)> {
        let mut fault: Option<(Femtoseconds, usize, Box<Fault>)> = None;
        let mut ends = std::mem::take(&mut self.ends);
        // These two are for programs that print or allocate; they cost nothing otherwise.
        let mut calls = Vec::new();
        let mut texts = Vec::new();
        let mut memories = Memories::new(self.shared);
        for i in bits(mask) {
            self.cells.with(i, |Cell { mail: x, .. }| {
                self.next[i] = x.next_time;
                self.quiet = self.quiet & !(1 << i) | (x.quiet as u64) << i;
                if !x.log.is_empty() {
                    x.log.apply(memories.of(i));
                    x.log.clear();
                }
                std::mem::swap(&mut x.outbox, &mut self.outboxes[i]);
                ends.extend(x.ended.drain(..).map(|e| (e.time, i)));
                if !(x.heap.is_empty() && x.printed.is_empty()) {
                    calls.extend(x.heap.drain(..).map(|c| (c.time, i, c)));
                    texts.extend(x.printed.drain(..).map(|(time, p)| (time, i, p)));
                }
                if let Some((time, f)) = x.fault.take()
                    && fault.as_ref().is_none_or(|(t, ..)| time < *t)
                {
                    fault = Some((time, self.shared.lane_of[i] as usize, f));
                }
            });
        }
        ends.sort_by_key(|&(time, sm)| (time, sm));
        for (time, sm) in ends.drain(..) {
            let lane = &mut self.lanes[self.shared.lane_of[sm] as usize];
            *lane.last_end = (*lane.last_end).max(time);
            let rank = lane.rank(sm);
            if let Some(cta) = lane.dispatcher.as_mut().and_then(|d| d.ended(rank)) {
                let time = (time + self.window).max(end);
                self.cells.with(sm, |cell| cell.mail.starts.push(CtaStart { time, cta }));
                self.announce(sm, time);
            }
        }
        self.ends = ends;
        calls.sort_by_key(|(time, sm, _)| (*time, *sm));
        for (time, sm, call) in calls {
            let (mut values, mut invalid) = ([0; 32], None);
            let memory = memories.of(sm);
            for lane in bits(call.lanes.into()) {
                let operand = call.operands[lane];
                if call.malloc {
                    values[lane] = memory.malloc(operand);
                } else if !memory.free(operand) && invalid.is_none() {
                    invalid = Some((call.pc, lane as u32, operand));
                }
            }
            let time = (time + self.window).max(end);
            let dest = call.dest;
            let result = HeapResult { time, warp: call.warp, lanes: call.lanes, values, dest, invalid };
            self.cells.with(sm, |cell| cell.mail.heap_results.push(result));
            self.announce(sm, time);
        }
        texts.sort_by_key(|(time, sm, _)| (*time, *sm));
        for (_, sm, text) in texts {
            self.lanes[self.shared.lane_of[sm] as usize].printed.push(text);
        }
        fault.map(|(_, lane, f)| (lane, f))
    }

    /// Hands the memory side's replies to the SMs.
    fn deliver(&mut self) {
        for sm in 0..self.inboxes.len() {
            let Some(first) = self.inboxes[sm].replies.first() else { continue };
            let time = first.time;
            self.announce(sm, time);
            let inbox = &mut self.inboxes[sm];
            if self.lanes.len() > 1 {
                let replies = inbox.replies.iter().filter(|r| r.kind != ReplyKind::Credit).count();
                let owed = &mut *self.lanes[self.shared.lane_of[sm] as usize].owed;
                *owed = owed.saturating_sub(replies as u64);
            }
            self.cells.with(sm, |Cell { mail: x, .. }| {
                if x.inbox.replies.is_empty() {
                    std::mem::swap(&mut x.inbox, inbox);
                } else {
                    // The SM has not read its last mail: the indices of atomic results move.
                    let shift = x.inbox.atomics.len() as u32;
                    x.inbox.replies.extend(inbox.replies.drain(..).map(|mut r| {
                        r.atomic += shift;
                        r
                    }));
                    x.inbox.atomics.append(&mut inbox.atomics);
                }
            });
        }
    }
}

/// The set bits of a mask.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let i = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            i
        })
    })
}

/// The lanes' memories to write to, one at a time.
struct Memories<'a, 'b> {
    shared: &'a Shared<'b>,
    held: Option<(u8, RwLockWriteGuard<'a, GlobalMemory>)>,
}

impl<'a, 'b> Memories<'a, 'b> {
    fn new(shared: &'a Shared<'b>) -> Memories<'a, 'b> {
        Memories { shared, held: None }
    }

    /// The memory of an SM's lane.
    fn of(&mut self, sm: usize) -> &mut GlobalMemory {
        let (shared, lane) = (self.shared, self.shared.lane_of[sm]);
        if self.held.as_ref().is_some_and(|held| held.0 != lane) {
            self.held = None;
        }
        let lock = || shared.memories[lane as usize].write().unwrap_or_else(PoisonError::into_inner);
        &mut self.held.get_or_insert_with(|| (lane, lock())).1
    }
}

impl AtomicMemory for Memories<'_, '_> {
    fn atomic(&mut self, sm: u8, payload: &AtomicPayload) -> AtomicResult {
        AtomicMemory::atomic(self.of(sm.into()), sm, payload)
    }
}
