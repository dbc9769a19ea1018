//! Lost locality: victim tags and scores of the warps of one SM.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What the scores follow from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Victim tags of each warp.
    pub tags: usize,
    /// Gain of a lost hit.
    pub throttle: u64,
    /// Score of a warp that has lost nothing.
    pub base: u64,
    /// A lost hit adds to the score, rather than setting it.
    pub adds: bool,
}

/// The detector of one SM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detector {
    /// Which warp brought each line of the cache.
    owners: BTreeMap<u64, u8>,
    /// The last lines that each warp has lost, the latest last.
    victims: Vec<VecDeque<u64>>,
    /// Scores above the base, and the cycle in which they were that.
    scores: Vec<(u64, u64)>,
    /// Misses on lines that the warp itself had brought and lost, in this launch and in those before.
    pub lost_hits: u64,
    before: u64,
}

impl Detector {
    /// For so many warp slots.
    pub fn new(warps: usize) -> Detector {
        Detector {
            owners: BTreeMap::new(),
            victims: vec![VecDeque::new(); warps],
            scores: vec![(0, 0); warps],
            lost_hits: 0,
            before: 0,
        }
    }

    /// A launch begins: nothing is remembered of the last one.
    pub fn begin(&mut self) {
        *self = Detector { before: self.all_lost_hits(), ..Detector::new(self.victims.len()) };
    }

    /// Lost hits of all launches.
    pub fn all_lost_hits(&self) -> u64 {
        self.before + self.lost_hits
    }

    /// A line has left the cache: it becomes a victim tag of the warp that brought it.
    pub fn evicted(&mut self, rules: &Rules, line: u64) {
        let Some(owner) = self.owners.remove(&line) else { return };
        let Some(tags) = self.victims.get_mut(owner as usize) else { return };
        tags.retain(|&tag| tag != line);
        tags.push_back(line);
        if tags.len() > rules.tags {
            tags.pop_front();
        }
    }

    /// A warp has missed a line. If it is one of its victim tags, locality is lost: the warp's score rises with the rate
    /// of such losses, `issued` being the SM's instructions so far and `cutoff` the sum of scores up to which warps may
    /// load.
    pub fn missed(&mut self, rules: &Rules, now: u64, warp: u8, line: u64, issued: u64, cutoff: u64) {
        self.owners.entry(line).or_insert(warp);
        let w = warp as usize;
        let Some(tags) = self.victims.get_mut(w) else { return };
        let Some(at) = tags.iter().position(|&tag| tag == line) else { return };
        tags.remove(at);
        self.lost_hits += 1;
        let gain = self.lost_hits * rules.throttle * cutoff / issued.max(1);
        let present = self.above(w, now);
        let score = if rules.adds { present + gain } else { present.max(gain.saturating_sub(rules.base)) };
        self.scores[w] = (score, now);
    }

    /// A warp's score above the base: it decays by one a cycle.
    fn above(&self, warp: usize, now: u64) -> u64 {
        self.scores.get(warp).map_or(0, |&(score, at)| score.saturating_sub(now.saturating_sub(at)))
    }

    /// The warps of `live` (oldest first) that may not load: those that the highest scores push past the sum of as many
    /// base scores as there are warps.
    pub fn held(&self, rules: &Rules, now: u64, live: &[usize]) -> u64 {
        let mut stack: Vec<(u64, usize)> = live.iter().map(|&w| (rules.base + self.above(w, now), w)).collect();
        // Of equal scores the older warp comes first.
        stack.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
        let cutoff = rules.base * live.len() as u64;
        let (mut sum, mut held) = (0, 0);
        for (place, (score, w)) in stack.into_iter().enumerate() {
            sum += score;
            // Somebody must be able to go on.
            if sum > cutoff && place > 0 {
                held |= 1 << w;
            }
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { tags: 2, throttle: 8, base: 100, adds: false };

    /// A warp brings a line and loses it; another, or the same, wants it back, after so many instructions.
    fn loses(d: &mut Detector, rules: &Rules, brings: u8, wants: u8, issued: u64) {
        d.missed(rules, 0, brings, 64, issued, 400);
        d.evicted(rules, 64);
        d.missed(rules, 0, wants, 64, issued, 400);
    }

    #[test]
    fn only_a_warps_own_losses_count() {
        let mut d = Detector::new(4);
        loses(&mut d, &RULES, 1, 2, 1000);
        assert_eq!(d.lost_hits, 0);
        d.missed(&RULES, 0, 1, 64, 1000, 400);
        assert_eq!(d.lost_hits, 1);
        // A victim tag is used up, and the oldest make room.
        for line in [128, 192, 256] {
            d.missed(&RULES, 0, 3, line, 1000, 400);
            d.evicted(&RULES, line);
        }
        d.missed(&RULES, 0, 3, 128, 1000, 400);
        assert_eq!(d.lost_hits, 1);
        d.missed(&RULES, 0, 3, 192, 1000, 400);
        assert_eq!(d.lost_hits, 2);
    }

    #[test]
    fn a_score_is_the_rate_of_losses_and_decays() {
        let mut d = Detector::new(4);
        // 1 × 8 × 400 / 10 = 320.
        loses(&mut d, &RULES, 1, 1, 10);
        assert_eq!([0, 100, 220, 500].map(|now| d.above(1, now)), [220, 120, 0, 0]);
        let adds = Rules { adds: true, ..RULES };
        let mut d = Detector::new(4);
        loses(&mut d, &adds, 1, 1, 1000);
        let one = d.above(1, 0);
        assert_eq!(one, 8 * 400 / 1000);
        loses(&mut d, &adds, 1, 1, 1000);
        assert_eq!(d.above(1, 0), one + 2 * 8 * 400 / 1000);
    }

    #[test]
    fn a_launch_begins_with_nothing_lost() {
        let mut d = Detector::new(4);
        loses(&mut d, &RULES, 1, 1, 10);
        assert_eq!((d.lost_hits, d.above(1, 0)), (1, 220));
        d.begin();
        assert_eq!((d.lost_hits, d.above(1, 0), d.all_lost_hits()), (0, 0, 1));
        // Whose line it was in the last launch says nothing: warp 2 brings it now, and loses it.
        loses(&mut d, &RULES, 2, 1, 1000);
        assert_eq!(d.lost_hits, 0);
        d.missed(&RULES, 0, 2, 64, 1000, 400);
        assert_eq!((d.lost_hits, d.all_lost_hits()), (1, 2));
    }

    #[test]
    fn high_scores_push_others_past_the_cut_off() {
        let mut d = Detector::new(4);
        let live = [0, 1, 2, 3];
        assert_eq!(d.held(&RULES, 0, &live), 0);
        d.scores[2] = (150, 0);
        // 250 + 100 + 100 + 100 against 400: the youngest two do not fit.
        assert_eq!(d.held(&RULES, 0, &live), 1 << 1 | 1 << 3);
        assert_eq!(d.held(&RULES, 60, &live), 1 << 3);
        assert_eq!(d.held(&RULES, 150, &live), 0);
        d.scores[2] = (10_000, 0);
        assert_eq!(d.held(&RULES, 0, &live), 0b1011);
        assert_eq!(d.held(&RULES, 0, &[]), 0);
    }
}
