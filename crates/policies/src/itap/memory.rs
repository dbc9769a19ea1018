//! What each lane remembers (§4.2): its two counters.

use super::counters::{Counters, Learn};
use super::fsm::Goal;
use super::modes::numbers;
use super::switch::{GATE, LONG, Rules, WORTH};
use serde::{Deserialize, Serialize};

/// The memory of the lanes of a pipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    switch: Counters,
    confidence: Counters,
    /// Lanes whose counter has reached its threshold.
    pub switching: u32,
    /// The same of the confidence counter.
    pub confident: u32,
    /// Lanes that have been power-gated in this idle period.
    pub gated: u32,
}

/// Estimates that came true, and all.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// Those that came true.
    pub right: u64,
    /// All.
    pub all: u64,
}

impl Memory {
    /// That of lanes which have not done anything yet.
    pub fn new(rules: &Rules) -> Memory {
        let switch = Counters::at(rules.start, &rules.switch);
        let confidence = Counters::at(rules.start, &rules.confidence);
        Memory {
            switching: switch.high(&rules.switch),
            confident: confidence.high(&rules.confidence),
            switch,
            confidence,
            gated: 0,
        }
    }

    /// Lanes were idle for so many cycles.
    pub fn learn(&mut self, lanes: u32, length: u64, rules: &Rules, estimates: &mut Estimates) {
        let right = if length < WORTH {
            !self.switching
        } else {
            self.switching & if length > GATE { self.confident } else { !self.confident }
        };
        let [right, all, ..] = numbers([lanes & right, lanes, 0, 0]);
        estimates.right += right;
        estimates.all += all;
        let decided = |from| rules.learn == Learn::All || length >= from;
        if length >= WORTH {
            self.switch.up(lanes, &rules.switch);
            self.switching = self.switch.high(&rules.switch);
        } else if decided(LONG) {
            self.switch.down(lanes, &rules.switch);
            self.switching = self.switch.high(&rules.switch);
        }
        if length > GATE {
            self.confidence.up(lanes, &rules.confidence);
            self.confident = self.confidence.high(&rules.confidence);
        } else if length < GATE {
            // With the window a lane may have been gated in a shorter period.
            let gated = lanes & self.gated;
            let concerned = if decided(WORTH) { lanes } else { gated };
            if concerned != 0 {
                let in_vain = if rules.goal == Goal::Performance { gated } else { 0 };
                self.confidence.reset(in_vain);
                self.confidence.down(concerned & !in_vain, &rules.confidence);
                self.confident = self.confidence.high(&rules.confidence);
            }
        }
        self.gated &= !lanes;
    }
}
