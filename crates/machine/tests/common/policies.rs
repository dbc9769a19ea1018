//! A policy for each hook, with an answer that is not the trivial one and a state of its own where it can have one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use warpwatt_machine::activity::{COMPONENTS, LaneResidency, LaneState};
use warpwatt_machine::hooks::*;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Slot;

/// A saved state of so many words.
fn words<const N: usize>(state: &[u8]) -> Result<[u64; N], String> {
    let words = state.chunks_exact(8).map(|word| word.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)));
    words.collect::<Vec<u64>>().try_into().map_err(|_| "not its own state".to_string())
}

/// The last slot first; loads are held in every second block of 64 cycles.
#[derive(Debug)]
pub struct Reversed(pub bool);

impl Hook for Reversed {
    fn next_event(&self, now: u64) -> u64 {
        now / 64 * 64 + 64
    }
    fn follows_time(&self) -> bool {
        true
    }
    fn advance(&mut self, _from: u64, to: u64) {
        self.0 = to / 64 % 2 == 1;
    }
    fn save(&self) -> Vec<u8> {
        (self.0 as u64).to_le_bytes().to_vec()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.0 = words::<1>(state)?[0] != 0;
        Ok(())
    }
}

impl OrderHook for Reversed {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        assert_eq!(query.int & query.fp, 0);
        let available = query.available & if self.0 { !query.warps.load } else { u64::MAX };
        (available != 0).then(|| 63 - available.leading_zeros() as usize)
    }
}

#[derive(Debug)]
pub struct OrderPolicy;

impl Policy for OrderPolicy {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { order: Some(Box::new(Reversed(false))), ..SmHooks::default() }
    }
}

#[derive(Clone, Debug)]
pub struct Shapes {
    pub split: bool,
    pub stages: u32,
}

impl Hook for Shapes {}

impl IssueHook for Shapes {
    fn shape(&mut self, query: &IssueQuery) -> Shape {
        let (low, high) = (query.lanes & 0xffff, query.lanes & 0xffff_0000);
        match self.split {
            false => Shape::Permuted(query.lanes.reverse_bits()),
            true if low != 0 && high != 0 => Shape::Split(low, high),
            true => Shape::Whole,
        }
    }
    fn extra_stages(&self) -> u32 {
        self.stages
    }
}

impl Policy for Shapes {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { issue: Some(Box::new(self.clone())), ..SmHooks::default() }
    }
}

/// Lets units start in every fourth cycle only, and counts lanes as gated in every second block of eight cycles.
#[derive(Debug)]
pub struct Slow {
    pub cycles: [u64; 2],
    pub lanes: (u64, u64),
}

impl Hook for Slow {
    fn follows_time(&self) -> bool {
        true
    }
    fn advance(&mut self, from: u64, to: u64) {
        // Cycles below n in the first half of their 16.
        let first = |n: u64| n / 16 * 8 + (n % 16).min(8);
        let on = first(to) - first(from);
        self.cycles[0] += on;
        self.cycles[1] += to - from - on;
    }
    fn save(&self) -> Vec<u8> {
        self.cycles.iter().flat_map(|c| c.to_le_bytes()).collect()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.cycles = words(state)?;
        Ok(())
    }
}

impl LanesHook for Slow {
    fn start(&mut self, query: &StartQuery) -> u64 {
        assert!(query.busy > 0);
        query.now.next_multiple_of(4)
    }
    fn residency(&mut self, _now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        let [on, off] = std::mem::take(&mut self.cycles);
        for (r, lanes) in [(int, self.lanes.0), (fp, self.lanes.0), (sfu, self.lanes.1)] {
            r.cycles[LaneState::On as usize] += lanes * on;
            r.cycles[LaneState::Gated as usize] += lanes * off;
        }
    }
}

/// Lane-cycles of lanes that are always on.
#[derive(Debug)]
pub struct AlwaysOn {
    lanes: (u64, u64),
    from: u64,
}

impl AlwaysOn {
    pub fn of(spec: &Spec) -> AlwaysOn {
        let (sp, sfu) = spec.lanes();
        AlwaysOn { lanes: (sp.into(), sfu.into()), from: 0 }
    }

    /// Adds those before `now`.
    pub fn take(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        let cycles = now - std::mem::replace(&mut self.from, now);
        for (r, lanes) in [(int, self.lanes.0), (fp, self.lanes.0), (sfu, self.lanes.1)] {
            r.cycles[LaneState::On as usize] += lanes * cycles;
        }
    }
}

#[derive(Debug)]
pub struct LanesPolicy;

impl Policy for LanesPolicy {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let (sp, sfu) = spec.lanes();
        let lanes = Slow { cycles: [0; 2], lanes: (sp.into(), sfu.into()) };
        SmHooks { lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}

/// Half of every component's groups, in every second interval.
#[derive(Debug, Default)]
pub struct Halves {
    pub turns: u64,
}

impl Hook for Halves {
    fn save(&self) -> Vec<u8> {
        self.turns.to_le_bytes().to_vec()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.turns = words::<1>(state)?[0];
        Ok(())
    }
}

impl DatapathHook for Halves {
    fn interval(&self) -> u64 {
        300
    }
    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS] {
        assert!(query.cycles > 0);
        self.turns += 1;
        query.groups.map(|g| if self.turns % 2 == 1 { g.div_ceil(2) } else { g })
    }
}

#[derive(Debug)]
pub struct DatapathPolicy;

impl Policy for DatapathPolicy {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { datapath: Some(Box::new(Halves::default())), ..SmHooks::default() }
    }
}

/// Gives its orders in turn, the last ones again and again; keeps the most CTAs on an SM that it saw.
#[derive(Debug)]
pub struct Governor {
    pub policy: GovernorPolicy,
    pub turn: usize,
}

impl Hook for Governor {
    fn save(&self) -> Vec<u8> {
        (self.turn as u64).to_le_bytes().to_vec()
    }
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.turn = words::<1>(state)?[0] as usize;
        Ok(())
    }
}

impl GovernorHook for Governor {
    fn interval(&self) -> u64 {
        self.policy.interval
    }
    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let most = chip.sms.iter().map(|s| s.ctas).max().unwrap_or(0);
        self.policy.seen.lock().unwrap().push(most);
        let orders = &self.policy.orders;
        self.turn += 1;
        orders[(self.turn - 1).min(orders.len() - 1)].clone()
    }
}

#[derive(Clone, Debug, Default)]
pub struct GovernorPolicy {
    pub interval: u64,
    pub orders: Vec<Vec<Order>>,
    pub seen: Arc<Mutex<Vec<u32>>>,
}

impl Policy for GovernorPolicy {
    fn governor(&self, _: &Spec) -> Option<Box<dyn GovernorHook>> {
        Some(Box::new(Governor { policy: self.clone(), turn: 0 }))
    }
}

/// Counts events, for all SMs together.
#[derive(Clone, Debug, Default)]
pub struct Counter(pub Arc<[AtomicU64; 6]>);

impl Hook for Counter {}

impl ObserverHook for Counter {
    fn event(&mut self, _now: u64, event: Event) {
        let (place, n) = match event {
            Event::Slot(Slot::Issued, n) => (0, n),
            Event::Slot(_, n) => (1, n),
            Event::Hit { .. } => (2, 1),
            Event::Miss { .. } => (3, 1),
            Event::LoadDone { .. } => (4, 1),
            Event::Evicted { .. } => (5, 1),
            _ => return,
        };
        self.0[place].fetch_add(n, Ordering::Relaxed);
    }
}

impl Policy for Counter {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { observers: vec![Box::new(self.clone()), Box::new(self.clone())], ..SmHooks::default() }
    }
}
