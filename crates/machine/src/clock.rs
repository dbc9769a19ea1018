//! Clock domains: integer femtoseconds, and ticks that keep their place when the frequency changes.

use crate::message::Femtoseconds;
use serde::{Deserialize, Serialize};

/// Period of a frequency, femtoseconds, rounded to the nearest integer.
pub fn period_of(mhz: f64) -> Femtoseconds {
    (1e9 / mhz).round() as Femtoseconds
}

/// One clock domain. Tick `n` is at `anchor_time + (n - anchor_tick) * period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    anchor_time: Femtoseconds,
    anchor_tick: u64,
    period: Femtoseconds,
}

impl Clock {
    /// A clock whose tick 0 is at time 0.
    pub fn new(period: Femtoseconds) -> Clock {
        Clock { anchor_time: 0, anchor_tick: 0, period: period.max(1) }
    }

    /// Its period.
    pub fn period(&self) -> Femtoseconds {
        self.period
    }

    /// Time of a tick at or after the last change.
    pub fn time(&self, tick: u64) -> Femtoseconds {
        self.anchor_time + (tick - self.anchor_tick) * self.period
    }

    /// As [`Clock::time`], for any tick: one before the last change has the time of the change, one beyond the end of time
    /// `u64::MAX`, never.
    pub fn time_or_never(&self, tick: u64) -> Femtoseconds {
        let ahead = tick.saturating_sub(self.anchor_tick);
        ahead.checked_mul(self.period).and_then(|time| time.checked_add(self.anchor_time)).unwrap_or(Femtoseconds::MAX)
    }

    /// First tick at or after a time.
    pub fn tick_at(&self, time: Femtoseconds) -> u64 {
        self.anchor_tick + time.saturating_sub(self.anchor_time).div_ceil(self.period)
    }

    /// Changes the period from the first tick at or after `time` on; that tick keeps its time.
    pub fn change(&mut self, time: Femtoseconds, period: Femtoseconds) {
        let tick = self.tick_at(time);
        *self = Clock { anchor_time: self.time(tick), anchor_tick: tick, period: period.max(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_keep_their_place_over_a_change() {
        let mut c = Clock::new(1000);
        assert_eq!(c.tick_at(0), 0);
        assert_eq!(c.tick_at(1), 1);
        assert_eq!(c.tick_at(1000), 1);
        c.change(2500, 2000);
        assert_eq!(c.time(3), 3000);
        assert_eq!(c.time(4), 5000);
        assert_eq!(c.tick_at(3001), 4);
        assert_eq!(c.time_or_never(4), 5000);
        assert_eq!(c.time_or_never(1), 3000);
        assert_eq!(c.time_or_never(u64::MAX), u64::MAX);
    }

    #[test]
    fn seven_hundred_megahertz() {
        assert_eq!(period_of(700.0), 1_428_571);
    }
}
