//! Lanes evaluated by events against lanes stepped one by one, cycle by cycle, on random traces.

use proptest::prelude::*;
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{LanesHook, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::cpg::Gate;
use warpwatt_policies::lanes::{Lanes, Occupancy, Scope, Setup};

/// One lane, the obvious way.
#[derive(Clone, Copy, Debug)]
struct Lane {
    state: LaneState,
    since: u64,
    idle_from: u64,
    awake_at: u64,
    held: u64,
}

/// 32 lanes of a pipe under conventional power gating.
struct Stepped {
    gate: Gate,
    lanes: [Lane; 32],
    counted: LaneResidency,
}

impl Stepped {
    fn new(gate: Gate) -> Stepped {
        let lane = Lane { state: LaneState::On, since: 0, idle_from: 0, awake_at: 0, held: 0 };
        Stepped { gate, lanes: [lane; 32], counted: LaneResidency::default() }
    }

    fn ready(&self, now: u64, mask: u32) -> u64 {
        let one = |l: &Lane| match l.state {
            LaneState::Waking => l.awake_at,
            LaneState::Gated => now + self.gate.wake_up,
            _ => now,
        };
        (0..32).filter(|i| mask >> i & 1 != 0).map(|i| one(&self.lanes[i])).max().unwrap_or(now)
    }

    fn start(&mut self, now: u64, mask: u32, busy: u64) -> u64 {
        let ready = self.ready(now, mask);
        for lane in (0..32).filter(|i| mask >> i & 1 != 0) {
            let l = &mut self.lanes[lane];
            let gated = l.state == LaneState::Gated;
            self.counted.wakes[LaneState::Gated as usize] += gated as u64;
            if ready == now {
                *l = Lane { state: LaneState::On, since: now, idle_from: l.idle_from.max(now + busy), held: 0, ..*l };
                continue;
            }
            l.held = l.held.max(ready);
            if gated {
                (l.state, l.awake_at) = (LaneState::Waking, now + self.gate.wake_up);
            } else if l.state == LaneState::IdleDetect {
                l.state = LaneState::On;
            }
        }
        ready
    }

    /// The end of cycle `now`.
    fn step(&mut self, now: u64) {
        for l in &mut self.lanes {
            if l.state == LaneState::Waking && now >= l.awake_at {
                l.state = LaneState::On;
            }
            if l.state == LaneState::On && now >= l.idle_from.max(l.held) {
                (l.state, l.since) = (LaneState::IdleDetect, now);
            }
            if l.state == LaneState::IdleDetect && now >= l.since + self.gate.idle_detect {
                l.state = LaneState::Gated;
                self.counted.entries[LaneState::Gated as usize] += 1;
            }
            self.counted.cycles[l.state as usize] += 1;
            self.counted.busy += (now < l.idle_from) as u64;
        }
    }
}

/// What is asked in a cycle.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Nothing,
    Ready(u32),
    /// Wants lanes; asks again every cycle until it has them.
    Start(u32, u32),
    /// Wants lanes, and then goes elsewhere.
    Abandon(u32),
    Cut,
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let mask = prop::sample::select(vec![u32::MAX, 1, 0xffff, 0xff00_00ff, 0x8000_0001, 0x0f0f_0f0f]);
    let ask = prop_oneof![
        8 => Just(Ask::Nothing),
        1 => mask.clone().prop_map(Ask::Ready),
        3 => (mask.clone(), 1..5u32).prop_map(|(mask, busy)| Ask::Start(mask, busy)),
        2 => mask.prop_map(Ask::Abandon),
        1 => Just(Ask::Cut),
    ];
    prop::collection::vec(ask, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn events_and_steps_agree(asks in asks(), idle_detect in 0..8u64, wake_up in 0..12u64, gaps in any::<u64>()) {
        let gate = Gate { idle_detect, wake_up };
        let setup = Setup { scope: Scope::Type, granularity: 1, occupancy: Occupancy::Issue, sfu: false };
        let mut lanes = Lanes::new(&Spec::preset("gtx480").unwrap(), setup, gate);
        let mut stepped = Stepped::new(gate);
        let mut taken = LaneResidency::default();
        let (mut now, mut free) = (0u64, 0);
        let mut take = |lanes: &mut Lanes<Gate>, now| {
            let mut r: [LaneResidency; 3] = Default::default();
            let [int, fp, sfu] = &mut r;
            lanes.residency(now, int, fp, sfu);
            taken.add(&r[0]);
            taken.clone()
        };
        for (i, ask) in asks.into_iter().enumerate() {
            let query = |now, lanes, busy| StartQuery { now, port: Port::Sp, unit: 0, fp: false, lanes, busy, latency: 9, begins: Some(lanes) };
            match ask {
                Ask::Nothing => {}
                Ask::Ready(mask) => prop_assert_eq!(lanes.ready(&query(now, mask, 1)), stepped.ready(now, mask)),
                Ask::Start(mask, busy) => {
                    while now < free {
                        stepped.step(now);
                        now += 1;
                    }
                    loop {
                        let ready = lanes.start(&query(now, mask, busy));
                        prop_assert_eq!(ready, stepped.start(now, mask, busy.into()));
                        if ready == now {
                            break;
                        }
                        stepped.step(now);
                        now += 1;
                    }
                    free = now + u64::from(busy);
                }
                Ask::Abandon(mask) if now >= free && stepped.ready(now, mask) > now => {
                    prop_assert_eq!(lanes.start(&query(now, mask, 1)), stepped.start(now, mask, 1));
                }
                Ask::Abandon(_) => {}
                Ask::Cut => { take(&mut lanes, now); }
            }
            for _ in 0..1 + (gaps >> (i % 61) & 7) * (gaps >> (i % 59) & 1) {
                stepped.step(now);
                now += 1;
            }
        }
        let mut counted = take(&mut lanes, now);
        // Unit 1 has never worked.
        let other = 32 * now;
        let first = 32 * idle_detect.min(now);
        counted.cycles[LaneState::IdleDetect as usize] -= first;
        counted.cycles[LaneState::Gated as usize] -= other - first;
        counted.entries[LaneState::Gated as usize] -= if now > idle_detect { 32 } else { 0 };
        prop_assert_eq!(counted, stepped.counted);
    }
}
