//! What each lane remembers (§4.2): its two counters.

use super::account::number;
use super::counters::{Counters, Learn};
use super::fsm::Goal;
use super::switch::{GATE, LONG, Rules, WORTH};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

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
    /// What came of the counters' estimates.
    pub estimates: Estimates,
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
            estimates: Estimates::default(),
        }
    }

    /// Lanes were idle for so many cycles.
    #[inline]
    pub fn learn(&mut self, lanes: u32, length: u64, rules: &Rules) {
        // How long it was cannot be foreseen: no branches.
        let confident = select_unpredictable(length > GATE, self.confident, !self.confident);
        let right = select_unpredictable(length < WORTH, !self.switching, self.switching & confident);
        self.estimates.right += number(lanes & right);
        // Most periods are short. With the window a lane may have been gated in one.
        if (length >= LONG) | (rules.learn == Learn::All) | (lanes & self.gated != 0) {
            self.count(lanes, length, rules);
        }
    }

    /// The counters learn from it.
    #[inline(never)]
    fn count(&mut self, lanes: u32, length: u64, rules: &Rules) {
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
