//! The CTA dispatcher: which SM begins which CTA, and when.
//!
//! CTAs go out in order, round-robin over SMs with room; when one ends, its SM gets the next. Orders are messages: an SM
//! that reports an end gets the next CTA one window later.

use crate::message::Femtoseconds;
use crate::sm::exchange::CtaStart;
use serde::{Deserialize, Serialize};

/// Progress of one grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dispatcher {
    next: u64,
    total: u64,
    ended: u64,
    running: Vec<u32>,
    /// CTAs that fit an SM, and those allowed by a governor.
    limit: u32,
    allowed: Vec<u32>,
}

impl Dispatcher {
    /// A grid of `total` CTAs, at most `limit` at a time on an SM.
    pub fn new(total: u64, sms: usize, limit: u32) -> Dispatcher {
        Dispatcher { next: 0, total, ended: 0, running: vec![0; sms], limit, allowed: vec![limit; sms] }
    }

    /// The first CTAs: `per_cycle` a core cycle from `time` on, until every SM is full.
    pub fn begin(
        &mut self,
        time: Femtoseconds,
        period: Femtoseconds,
        per_cycle: u32,
        mut send: impl FnMut(usize, CtaStart),
    ) {
        let sms = self.running.len();
        let room = (sms as u64 * self.limit as u64).min(self.total);
        for i in 0..room {
            let sm = (i % sms as u64) as usize;
            self.running[sm] += 1;
            send(sm, CtaStart { time: time + i / per_cycle.max(1) as u64 * period, cta: i });
        }
        self.next = room;
    }

    /// A CTA has ended on an SM; the answer is the next one for it, if any is left.
    pub fn ended(&mut self, sm: usize) -> Option<u64> {
        self.ended += 1;
        self.running[sm] -= 1;
        self.next_for(sm)
    }

    /// The next CTA for an SM, if it has room and any is left.
    pub fn next_for(&mut self, sm: usize) -> Option<u64> {
        if self.next == self.total || self.running[sm] >= self.allowed[sm] {
            return None;
        }
        self.running[sm] += 1;
        self.next += 1;
        Some(self.next - 1)
    }

    /// Allows at most `ctas` CTAs on an SM (at least one, at most what fits).
    pub fn allow(&mut self, sm: usize, ctas: u32) {
        if let Some(allowed) = self.allowed.get_mut(sm) {
            *allowed = ctas.clamp(1, self.limit.max(1));
        }
    }

    /// CTAs allowed on an SM.
    pub fn allowed(&self, sm: usize) -> u32 {
        self.allowed.get(sm).copied().unwrap_or(0)
    }

    /// All CTAs have ended.
    pub fn done(&self) -> bool {
        self.ended == self.total
    }

    /// CTAs ended, and of how many.
    pub fn progress(&self) -> (u64, u64) {
        (self.ended, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_then_on_demand() {
        let mut d = Dispatcher::new(5, 2, 2);
        let mut sent = Vec::new();
        d.begin(1000, 10, 2, |sm, s| sent.push((sm, s.cta, s.time)));
        assert_eq!(sent, [(0, 0, 1000), (1, 1, 1000), (0, 2, 1010), (1, 3, 1010)]);
        assert_eq!(d.ended(1), Some(4));
        assert_eq!(d.ended(0), None);
        assert!(!d.done());
        for sm in [0, 1, 1] {
            assert_eq!(d.ended(sm), None);
        }
        assert!(d.done());
    }
}
