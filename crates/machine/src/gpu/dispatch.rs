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
    /// A grid of `total` CTAs, of which `limit` fit an SM and so many are `allowed` on each.
    pub fn new(total: u64, limit: u32, allowed: &[u32]) -> Dispatcher {
        let allowed: Vec<u32> = allowed.iter().map(|&ctas| ctas.clamp(1, limit.max(1))).collect();
        Dispatcher { next: 0, total, ended: 0, running: vec![0; allowed.len()], limit, allowed }
    }

    /// The first CTAs: `per_cycle` a core cycle from `time` on, until every SM is full.
    pub fn begin(
        &mut self,
        time: Femtoseconds,
        period: Femtoseconds,
        per_cycle: u32,
        mut send: impl FnMut(usize, CtaStart),
    ) {
        loop {
            let first = self.next;
            for sm in 0..self.running.len() {
                if let Some(cta) = self.next_for(sm) {
                    send(sm, CtaStart { time: time + cta / per_cycle.max(1) as u64 * period, cta });
                }
            }
            if self.next == first {
                return;
            }
        }
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
        let mut d = Dispatcher::new(5, 2, &[u32::MAX; 2]);
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

    #[test]
    fn what_is_allowed_holds_from_the_first_cta_on() {
        let mut d = Dispatcher::new(9, 3, &[1, 9]);
        let mut sent = Vec::new();
        d.begin(0, 10, 1, |sm, s| sent.push((sm, s.cta)));
        assert_eq!(sent, [(0, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!((d.allowed(0), d.allowed(1)), (1, 3));
        // A lower limit: nothing new until those resident are fewer.
        d.allow(1, 2);
        assert_eq!((d.ended(1), d.ended(1), d.ended(0)), (None, Some(4), Some(5)));
        d.allow(1, 3);
        assert_eq!((d.next_for(1), d.next_for(1)), (Some(6), None));
    }
}
