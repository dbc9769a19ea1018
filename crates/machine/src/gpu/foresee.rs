//! Futures for a governor that wants to see them: what the next stretch of time would be like at other SM clocks.
//!
//! Each is simulated from the present state, which is kept as a snapshot is and taken up again afterwards. The host program
//! does not notice: a future ends at the latest with the launch in progress. Nothing that is outside the state changes: the
//! governor is not asked in a future, and progress is not told.

use super::Gpu;
use crate::hooks::{Foresight, Future};
use crate::stats::Ending;
use std::sync::RwLock;
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::memory::GlobalMemory;

impl Gpu {
    /// Tries all that is asked for. Without a launch in progress there is no future; one that fails is left out.
    pub(super) fn foresee(
        &mut self,
        wish: &Foresight,
        memory: &RwLock<GlobalMemory>,
    ) -> Result<Vec<Future>, DeviceError> {
        if self.state.running.is_none() {
            return Ok(Vec::new());
        }
        let observer = self.observer.take();
        let present = self.save_plain(memory);
        let mut futures = Vec::new();
        for &mhz in &wish.mhz {
            futures.extend(self.try_clock(mhz, wish.time, memory));
            if !self.go_back(&present, memory) {
                let message = "a state could not be taken up again".to_owned();
                return Err(self.over(Ending::AuditFailed { message }));
            }
        }
        self.observer = observer;
        Ok(futures)
    }

    fn try_clock(&mut self, mhz: f64, time: u64, memory: &RwLock<GlobalMemory>) -> Option<Future> {
        let (start, issued, samples) = (self.state.now, self.instructions(), self.state.samples.len());
        self.order_clock(false, mhz);
        self.trial_until = start.saturating_add(time);
        let driven = self.drive(memory);
        self.trial_until = u64::MAX;
        driven.ok()?;
        if self.state.running.is_some() {
            self.close_sample(0);
        }
        let end = self.state.launches.last().filter(|_| self.state.running.is_none()).map_or(self.state.now, |l| l.end);
        Some(Future {
            mhz,
            time: end.saturating_sub(start),
            instructions: self.instructions() - issued,
            activity: self.state.samples.split_off(samples),
        })
    }

    /// Warp instructions issued so far.
    fn instructions(&self) -> u64 {
        let present = self.state.sms.iter().map(|sm| sm.counts.counters.warp_instructions).sum::<u64>();
        self.state.issued + if self.state.running.is_some() { present } else { 0 }
    }
}
