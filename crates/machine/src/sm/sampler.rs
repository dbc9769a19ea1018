//! Samples of what warps wait for (Equalizer §IV-A), for governors that ask for them.
//!
//! A sample is taken at the issue stage of every `every`-th core cycle. In a span that is skipped nothing changes, so its
//! samples are all the same and are added at once.

use crate::hooks::{WarpCounts, WarpSums};
use crate::kernel::{PORTS, Port};
use crate::sm::warps::Warps;
use serde::{Deserialize, Serialize};

/// An SM's samples.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sampler {
    every: u64,
    /// Cycle of the next sample; `u64::MAX`: never.
    pub next: u64,
    sums: WarpSums,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler { every: 0, next: u64::MAX, sums: WarpSums::default() }
    }
}

impl Sampler {
    /// Samples in every cycle, from `now` on, that `every` divides.
    pub fn new(every: Option<u64>, now: u64) -> Sampler {
        let every = every.unwrap_or(0);
        let next = if every == 0 { u64::MAX } else { now.next_multiple_of(every) };
        Sampler { every, next, sums: WarpSums::default() }
    }

    /// All samples in `cycles` cycles from `now` on have these counts.
    pub fn add(&mut self, now: u64, cycles: u64, counts: &WarpCounts) {
        if self.every == 0 {
            return;
        }
        // Before the first launch, time passes unsampled.
        let first = self.next.max(now.next_multiple_of(self.every));
        let end = (now + cycles).next_multiple_of(self.every);
        if end > first {
            self.sums.add((end - first) / self.every, counts);
        }
        self.next = end.max(first);
    }

    /// Takes the sums since the last call.
    pub fn take(&mut self) -> WarpSums {
        std::mem::take(&mut self.sums)
    }
}

/// What is found before the issue stage.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    active: u32,
    waiting: u32,
    ready_alu: u32,
    ready_mem: u32,
}

/// Counts warps that are not paused by the head of their instruction buffers; one without a valid entry is in none.
pub fn counts(w: &Warps) -> Found {
    let alive = w.resident & !(w.finished | w.paused);
    let headed = alive & w.buffered & !w.wrong_path;
    // The order of its own atomics holds a warp back as a missing operand does.
    let waiting = headed & (w.on_atomic | !(w.clear | w.at_barrier | w.on_fence));
    let (ready, mem) = (w.ready(), w.port[Port::Mem as usize]);
    Found {
        active: headed.count_ones(),
        waiting: waiting.count_ones(),
        ready_alu: (ready & !mem).count_ones(),
        ready_mem: (ready & mem).count_ones(),
    }
}

impl Found {
    /// After the issue stage, in which these ports took so many of the ready warps. `held`: the load/store port takes no
    /// more.
    pub fn after(self, issued: [u64; PORTS], held: bool) -> WarpCounts {
        let mem = issued[Port::Mem as usize] as u32;
        let alu = issued.iter().sum::<u64>() as u32 - mem;
        WarpCounts {
            active: self.active,
            waiting: self.waiting,
            excess_alu: self.ready_alu.saturating_sub(alu),
            excess_mem: if held { self.ready_mem.saturating_sub(mem) } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_counts_the_samples_in_it() {
        let counts = WarpCounts { active: 5, waiting: 3, excess_alu: 2, excess_mem: 1 };
        let spans = |spans: &[(u64, u64)]| {
            let mut s = Sampler::new(Some(128), 0);
            spans.iter().for_each(|&(now, cycles)| s.add(now, cycles, &counts));
            s.take()
        };
        let whole = spans(&[(0, 1000)]);
        assert_eq!((whole.samples, whole.active, whole.excess_mem), (8, 40, 8));
        assert_eq!(spans(&[(0, 1), (1, 127), (128, 1), (129, 871)]), whole);
        assert_eq!(spans(&(0..1000).map(|now| (now, 1)).collect::<Vec<_>>()), whole);
        assert_eq!(spans(&[(500, 12)]).samples, 0);
        assert_eq!(spans(&[(500, 13)]).samples, 1);
        assert_eq!(Sampler::default().next, u64::MAX);
    }
}
