//! What observers are told of the SM's cycles: their kinds ([`CycleKind`]), and requests that go out and are answered.
//!
//! One classification a cycle serves all observers; cycles of one kind in a row are told as one. All of it is collected,
//! and told many events at a time: an observer then runs through them without a call for each. Nothing of this is done
//! unless an observer wants it.

use crate::hooks::{CycleFacts, CycleKind, Event, Heard, Kinds, L1Cache, Outstanding};
use crate::kernel::Port;
use crate::sm::Sm;
use crate::sm::l1::Fate;
use serde::{Deserialize, Serialize};

/// Cycles in a row of one kind that observers have not been told of.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Span {
    kind: CycleKind,
    cycles: u64,
}

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
        let fetching = self.fetch.l1i.missing();
        facts.load = self.ldst.awaits() | fetching;
        facts.fetch = fetching & (w.on_fetch != 0);
        if !facts.load {
            facts.full = self.ldst.full();
            facts.stores = free == 0 && alive & w.asleep == 0 && (w.on_fence | w.resident & w.finished) != 0;
            if !facts.outstanding() {
                return facts.kinds();
            }
        }
        facts.control = free & w.wrong_path != 0;
        facts.conflict = self.ldst.conflict();
        if facts.control || facts.conflict {
            return facts.kinds();
        }
        let right = free & !w.wrong_path;
        facts.memory = right & w.on_memory | alive & w.on_atomic != 0;
        if facts.load && !facts.memory {
            facts.full = self.ldst.full();
        }
        let ready = w.ready();
        // Beside a hazard on memory an arithmetic one tells only what a cycle is in which something issues.
        if !facts.memory || ready != 0 {
            let raw = right & w.buffered & !w.clear & !w.on_memory;
            let taken = |port| if self.collector.free(port) { 0 } else { w.port[port as usize] };
            facts.arithmetic = raw | ready & (taken(Port::Sp) | taken(Port::Sfu)) != 0;
        }
        facts.kinds()
    }

    /// Instructions issued so far.
    #[inline(always)]
    pub(super) fn issued_now(&self) -> u64 {
        self.issued.iter().sum()
    }

    /// Cycles of one kind have passed.
    #[inline(always)]
    pub(super) fn passed(&mut self, kind: CycleKind, cycles: u64) {
        if kind != self.span.kind {
            self.end_span();
            self.span.kind = kind;
        }
        self.span.cycles += cycles;
    }

    /// What is collected now has all cycles before the present one.
    fn end_span(&mut self) {
        let cycles = std::mem::take(&mut self.span.cycles);
        if cycles > 0 {
            self.news.push(Heard { now: self.now, event: Event::Cycles(self.span.kind, cycles) });
            if self.news.len() >= BATCH {
                self.tell_news();
            }
        }
    }

    /// Observers hear of all cycles before the present one, and of all that was collected.
    pub(super) fn tell_span(&mut self) {
        self.end_span();
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
        self.end_span();
        let (now, news, ldst) = (self.now, &mut self.news, &mut self.ldst);
        let mut logs = [
            (L1Cache::Data, &mut ldst.l1d.log.list),
            (L1Cache::Texture, &mut ldst.l1t.log.list),
            (L1Cache::Constant, &mut ldst.l1c.log.list),
            (L1Cache::Instruction, &mut self.fetch.l1i.log.list),
            (L1Cache::None, &mut ldst.log.list),
        ];
        for fate in [Fate::Answered, Fate::Requested] {
            for (cache, list) in logs.iter().filter(|l| !l.1.is_empty()) {
                for &(_, entry) in list.iter().filter(|l| l.0 == fate) {
                    let request = Outstanding { cache: *cache, entry };
                    let event = match fate {
                        Fate::Answered => Event::Answered(request),
                        Fate::Requested => Event::Requested(request),
                    };
                    news.push(Heard { now, event });
                }
            }
        }
        logs.iter_mut().for_each(|(_, list)| list.clear());
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
