//! Cycles in which nothing can happen: when the next one comes in which something can, and what those before it count.

use crate::hooks::Event;
use crate::message::Femtoseconds;
use crate::sm::Sm;

impl Sm {
    /// Time of the next cycle in which something can happen; `u64::MAX` if only a message can wake it.
    pub fn next_time(&mut self) -> Femtoseconds {
        match self.next_event::<true>() {
            u64::MAX => u64::MAX,
            cycle => self.clock.time(cycle),
        }
    }

    /// The next cycle, from `now` on, in which something can happen.
    #[inline(always)]
    pub(super) fn next_event<const NARROW: bool>(&mut self) -> u64 {
        let now = self.now;
        let hungry = self.warps.hungry() & !self.warps.wrong_path;
        if (self.warps.ready() != 0 && self.stalled_until <= now)
            || self.warps.wrong_path != 0
            || self.fetch.active(hungry)
            || !self.collector.idle()
            || (self.credits > 0 && self.fetch.l1i.sending())
            || NARROW && self.alus.narrow.under_way != 0
        {
            return now;
        }
        let mut next = self.ldst.next_event(now, self.credits);
        if next == now {
            return now;
        }
        next = next.min(self.groups.wake_at);
        if let Some(cycle) = self.alus.next_write_back(now) {
            next = next.min(cycle);
        }
        let mut message = u64::MAX;
        if let Some(reply) = self.ldst.replies.front() {
            message = message.min(reply.time + self.clock.period());
        }
        if let Some(&(time, _)) = self.returned_credits.front() {
            message = message.min(time);
        }
        if let Some(start) = self.starts.front() {
            message = message.min(start.time);
        }
        if let Some(result) = self.heap_results.front() {
            message = message.min(result.time);
        }
        if message != u64::MAX {
            next = next.min(self.clock.tick_at(message));
        }
        let mut asleep = self.warps.asleep;
        while asleep != 0 {
            next = next.min(self.warps.of[asleep.trailing_zeros() as usize].wake);
            asleep &= asleep - 1;
        }
        if self.stalled_until > now {
            next = next.min(self.stalled_until);
        }
        if self.warps.resident != 0 || !self.starts.is_empty() {
            next = next.min(self.act_at).min(self.interval.end);
        }
        next.max(now)
    }

    /// Cycles pass in which nothing happens.
    #[inline(always)]
    pub(super) fn pass(&mut self, cycles: u64) {
        if self.observed {
            let kinds = self.kinds();
            self.passed(kinds.of(0, self.schedulers_on() as u32), cycles);
        }
        for i in 0..self.schedulers {
            // Warps are ready in a span that passes only while the SM stands still for a V/f transition.
            let slot = self.idle_cause(self.pools[i], self.warps.ready() & self.pools[i]);
            self.counts.slots[slot as usize] += cycles;
            if self.slots_heard {
                self.hooks.observe(self.now, Event::Slot(slot, cycles));
            }
        }
        if self.now + cycles > self.sampler.next {
            let counts = self.warps_now();
            self.sampler.add(self.now, cycles, &counts);
        }
        self.account(cycles);
        self.now += cycles;
    }
}
