//! Walks over the ticks of a clock domain, one by one or in jumps.

use crate::clock::period_of;
use crate::message::Femtoseconds;
use serde::{Deserialize, Serialize};

/// Ticks of one domain. `next` is a tick that has not been handled; the ones before it have been, or were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticker {
    period: Femtoseconds,
    next: Femtoseconds,
    cycle: u64,
}

impl Ticker {
    /// A ticker whose tick 0 is at time 0.
    pub fn new(mhz: f64) -> Self {
        Ticker { period: period_of(mhz).max(1), next: 0, cycle: 0 }
    }

    /// The period.
    #[inline]
    pub fn period(&self) -> Femtoseconds {
        self.period
    }

    /// Time of the next tick.
    #[inline]
    pub fn next(&self) -> Femtoseconds {
        self.next
    }

    /// Number of the next tick.
    #[inline]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Time of the first tick at or after a time, of those not handled yet. `u64::MAX` stays what it is: never.
    #[inline]
    pub fn tick_from(&self, time: Femtoseconds) -> Femtoseconds {
        if time <= self.next {
            self.next
        } else if time == Femtoseconds::MAX {
            time
        } else {
            self.next + (time - self.next).div_ceil(self.period) * self.period
        }
    }

    /// Time of a tick by its number (a past one counts as the next).
    #[inline]
    pub fn time_of(&self, cycle: u64) -> Femtoseconds {
        let ahead = cycle.saturating_sub(self.cycle);
        self.next.saturating_add(ahead.saturating_mul(self.period))
    }

    /// Skips all ticks before a time.
    #[inline]
    pub fn skip_to(&mut self, time: Femtoseconds) {
        if time > self.next && time <= self.next + self.period {
            self.advance();
        } else if time > self.next {
            let ticks = (time - self.next).div_ceil(self.period);
            self.next += ticks * self.period;
            self.cycle += ticks;
        }
    }

    /// The next tick has been handled.
    #[inline]
    pub fn advance(&mut self) {
        self.next += self.period;
        self.cycle += 1;
    }

    /// Changes the frequency at a time: ticks before it are skipped, the first one at or after it stays where it
    /// is, and the new period holds from there.
    pub fn set_mhz(&mut self, mhz: f64, at: Femtoseconds) {
        self.skip_to(at);
        self.period = period_of(mhz).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_equals_stepping() {
        let mut skipped = Ticker::new(924.0);
        let mut stepped = skipped;
        for time in [0, 1, 1_082_251, 1_082_252, 10_000_000, 10_000_001] {
            skipped.skip_to(time);
            while stepped.next() < time {
                stepped.advance();
            }
            assert_eq!(skipped, stepped);
            assert_eq!(skipped.tick_from(time), skipped.next());
            assert_eq!(skipped.time_of(skipped.cycle() + 3), skipped.next() + 3 * skipped.period());
        }
    }

    #[test]
    fn a_change_keeps_the_tick_under_way() {
        let mut ticker = Ticker::new(1000.0);
        ticker.set_mhz(500.0, 2_500_000);
        assert_eq!((ticker.next(), ticker.cycle()), (3_000_000, 3));
        ticker.advance();
        assert_eq!(ticker.next(), 5_000_000);
    }
}
