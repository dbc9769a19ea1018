//! What observers are told of the SM's cycles: their kinds ([`CycleKind`]), and requests that go out and are answered.
//!
//! One classification a cycle serves all observers; cycles are told by kind when a request goes out or is answered. All of
//! it is collected, and told many events at a time: an observer then runs through them without a call for each. Nothing of
//! this is done unless an observer wants it.

use crate::hooks::{CycleFacts, CycleKind, Event, Heard, Kinds, L1Cache, Outstanding};
use crate::kernel::Port;
use crate::sm::Sm;
use crate::sm::l1::Fate;
use crate::stats::Slot;

/// So many events are told at once. A cycle adds far fewer.
const BATCH: usize = 256;

impl Sm {
    /// What kind the cycle has by what issues in it, before anything does. What can no longer change it is not looked at.
    /// Paused warps wait for nothing.
    #[inline(always)]
    pub(super) fn kinds(&self) -> Kinds {
        let w = &self.warps;
        let mut facts =
            CycleFacts { empty: w.resident == 0, halted: self.stalled_until > self.now, ..Default::default() };
        if facts.empty || facts.halted {
            return facts.kinds();
        }
        let alive = w.resident & !(w.finished | w.paused);
        let free = alive & !(w.on_atomic | w.on_fence | w.asleep | w.at_barrier);
        facts.conflict = self.ldst.conflict();
        facts.control = free & w.wrong_path != 0;
        if facts.conflict || facts.control {
            return facts.kinds();
        }
        let fetching = self.fetch.l1i.missing();
        facts.load = self.ldst.awaits() | fetching;
        facts.memory = free & w.on_memory | alive & w.on_atomic != 0;
        let ready = free & w.buffered & w.clear;
        let raw = free & w.buffered & !(w.clear | w.on_memory);
        let taken = |port| if self.collector.free(port) { 0 } else { w.port[port as usize] };
        facts.arithmetic = raw | ready & (taken(Port::Sp) | taken(Port::Sfu)) != 0;
        if facts.load & facts.memory {
            return facts.kinds();
        }
        facts.fetch = fetching & (w.on_fetch != 0);
        facts.full = self.ldst.full();
        facts.stores = free == 0 && alive & w.asleep == 0 && self.awaits_stores();
        facts.kinds()
    }

    /// Some warp waits for its stores, at a fence or to retire.
    fn awaits_stores(&self) -> bool {
        let w = &self.warps;
        let mut ended = w.resident & w.finished;
        let mut stores = w.on_fence != 0;
        while ended != 0 && !stores {
            stores = w.of[ended.trailing_zeros() as usize].stores != 0;
            ended &= ended - 1;
        }
        stores
    }

    /// Instructions issued since the launch began.
    #[inline(always)]
    pub(super) fn issued_now(&self) -> u64 {
        self.counts.slots[Slot::Issued as usize]
    }

    /// Cycles of one kind have passed.
    #[inline(always)]
    pub(super) fn passed(&mut self, kind: CycleKind, cycles: u64) {
        self.untold[kind as usize] += cycles;
    }

    /// What is collected now has all cycles before the present one.
    fn collect_cycles(&mut self) {
        let cycles = std::mem::take(&mut self.untold);
        if cycles.iter().any(|&n| n > 0) {
            self.news.push(Heard { now: self.now, event: Event::Cycles(cycles) });
        }
    }

    /// Observers hear of all cycles before the present one, and of all that was collected.
    pub(super) fn tell_all(&mut self) {
        self.collect_cycles();
        self.tell_news();
    }

    /// Observers hear what was collected.
    pub(super) fn tell_news(&mut self) {
        if !self.news.is_empty() {
            self.hooks.observers.iter_mut().for_each(|o| o.events(&self.news));
            self.news.clear();
        }
    }

    /// Collects what was answered and what went out in this cycle.
    #[inline(always)]
    pub(super) fn note_requests(&mut self) {
        let ldst = &self.ldst;
        let logs = [&ldst.l1d.log, &ldst.l1t.log, &ldst.l1c.log, &self.fetch.l1i.log, &ldst.log];
        if logs.iter().fold(0, |any, log| any | log.list.len()) != 0 {
            self.note_logged();
        }
    }

    /// Answers come first.
    fn note_logged(&mut self) {
        self.collect_cycles();
        let (now, news, ldst) = (self.now, &mut self.news, &mut self.ldst);
        let logs = [
            (L1Cache::Data, &mut ldst.l1d.log.list),
            (L1Cache::Texture, &mut ldst.l1t.log.list),
            (L1Cache::Constant, &mut ldst.l1c.log.list),
            (L1Cache::Instruction, &mut self.fetch.l1i.log.list),
            (L1Cache::None, &mut ldst.log.list),
        ];
        let mut requests = news.len();
        for (cache, list) in logs.into_iter().filter(|(_, list)| !list.is_empty()) {
            for (fate, entry) in list.drain(..) {
                let request = Outstanding { cache, entry };
                if fate == Fate::Answered {
                    news.insert(requests, Heard { now, event: Event::Answered(request) });
                    requests += 1;
                } else {
                    news.push(Heard { now, event: Event::Requested(request) });
                }
            }
        }
        if news.len() >= BATCH {
            self.tell_news();
        }
    }

    /// Somebody observes cycles and requests, or nobody does.
    pub(super) fn set_observed(&mut self, observed: bool) {
        self.observed = observed;
        if observed {
            self.news.reserve(2 * BATCH);
        }
        let ldst = &mut self.ldst;
        for log in [&mut ldst.l1d.log, &mut ldst.l1t.log, &mut ldst.l1c.log, &mut self.fetch.l1i.log, &mut ldst.log] {
            log.on = observed;
            log.list.reserve(128);
        }
    }
}
