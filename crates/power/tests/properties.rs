//! What holds for any activity, on any preset, under any options.

mod common;

use common::{quiet, run, spec};
use proptest::prelude::*;
use warpwatt_machine::activity::{LaneState, MEM_EVENTS, SM_EVENTS, Sample};
use warpwatt_machine::spec::{VfModel, presets};
use warpwatt_power::{Arithmetic, GatingCost, LeakageSplit, PolicyPower, PowerModel, PowerOptions};

fn options() -> impl Strategy<Value = PowerOptions> {
    let split = prop::sample::select(vec![LeakageSplit::Default, LeakageSplit::Area, LeakageSplit::Mcpat]);
    let arithmetic = prop::sample::select(vec![Arithmetic::Gpuwattch, Arithmetic::Physical]);
    let cost = prop::sample::select(vec![GatingCost::BreakEven, GatingCost::Itap]);
    let model = prop::sample::select(vec![None, Some(VfModel::Crisp), Some(VfModel::Equalizer)]);
    let options = (split, arithmetic, any::<bool>(), cost, model).prop_map(
        |(leakage_split, arithmetic, lane_clock_gating, gating_cost, vf_model)| PowerOptions {
            leakage_split,
            arithmetic,
            lane_clock_gating,
            gating_cost,
            vf_model,
            policy: PolicyPower::default(),
        },
    );
    let hardware = prop::sample::select(vec![(0.0, 0.0, 0.0), (0.0221, 0.0, 0.0), (0.0, 0.00064, 1e-7)]);
    (options, hardware).prop_map(|(mut options, (share, used, always))| {
        options.policy.hardware_share = share;
        options.policy.hardware_lane_used_w = used;
        options.policy.hardware_lane_w = always;
        options
    })
}

fn preset() -> impl Strategy<Value = &'static str> {
    prop::sample::select(presets().collect::<Vec<_>>())
}

/// Random events, V/f levels and lane states on two SMs; residencies add up.
fn sample(name: &'static str) -> impl Strategy<Value = Sample> {
    let events = prop::collection::vec(0..10_000u64, SM_EVENTS);
    let mem = prop::collection::vec(0..10_000u64, MEM_EVENTS);
    let levels = (0.14..1.2f64, 0.5..1.2f64, 0.7..1.2f64, 0.8..1.2f64);
    let asleep = prop::collection::vec((0..7usize, 0.0..1.0f64, 0..100u64), 6);
    (events.clone(), events, mem, levels, asleep, 1..5000u64, 0..3u32).prop_map(
        move |(first, second, mem, levels, asleep, cycles, launch)| {
            let gpu = spec(name);
            let mut sample = quiet(&gpu, cycles);
            sample.sms[0].events = first;
            sample.sms[1].events = second;
            sample.mem = mem;
            sample.launch = launch;
            sample.core_mhz *= levels.0;
            sample.core_volts = levels.1;
            sample.dram_mhz *= levels.2;
            sample.mem_volts = levels.3;
            for (number, (state, share, entries)) in asleep.into_iter().enumerate() {
                let sm = &mut sample.sms[number / 3];
                let unit = [&mut sm.int, &mut sm.fp, &mut sm.sfu].into_iter().nth(number % 3).unwrap();
                let moved = (unit.cycles[LaneState::On as usize] as f64 * share) as u64;
                unit.cycles[LaneState::On as usize] -= moved;
                unit.cycles[state] += moved;
                unit.entries[state] += entries;
                unit.wakes[state] += entries;
                unit.busy = unit.cycles[LaneState::On as usize] / 2;
            }
            sample
        },
    )
}

fn cases() -> impl Strategy<Value = (&'static str, PowerOptions, Sample)> {
    (preset(), options()).prop_flat_map(|(name, options)| (Just(name), Just(options), sample(name)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn never_negative_never_nan((name, options, sample) in cases()) {
        let power = PowerModel::new(&spec(name), options).unwrap().sample(&sample);
        for energy in power.components() {
            for part in [energy.dynamic, energy.leakage, energy.overhead] {
                prop_assert!(part >= 0.0 && part.is_finite(), "{part}");
            }
        }
        prop_assert!(power.labels.iter().all(|&joules| joules >= 0.0 && joules.is_finite()));
    }

    #[test]
    fn more_events_never_cost_less((name, options, sample) in cases(), event in 0..SM_EVENTS + MEM_EVENTS, more in 1..1000u64) {
        let model = PowerModel::new(&spec(name), options).unwrap();
        let mut other = sample.clone();
        match event.checked_sub(SM_EVENTS) {
            None => other.sms[0].events[event] += more,
            Some(event) => other.mem[event] += more,
        }
        prop_assert!(model.sample(&other).total().total() >= model.sample(&sample).total().total());
    }

    #[test]
    fn a_higher_voltage_never_costs_less((name, options, sample) in cases(), factor in 1.0..1.5f64) {
        let model = PowerModel::new(&spec(name), options).unwrap();
        let mut other = sample.clone();
        other.core_volts *= factor;
        prop_assert!(model.sample(&other).total().total() >= model.sample(&sample).total().total());
        other.mem_volts *= factor;
        prop_assert!(model.sample(&other).total().total() >= model.sample(&sample).total().total());
    }

    #[test]
    fn both_audits_hold((name, options, first) in cases(), cut in 0.0..1.0f64) {
        let model = PowerModel::new(&spec(name), options).unwrap();
        let mut second = quiet(&spec(name), 100);
        second.core_volts = 0.5 + cut;
        let stats = run(vec![first, second]);
        let report = model.run(&stats);
        prop_assert!(model.audit(&stats, &report).is_ok(), "{:?}", model.audit(&stats, &report));
    }

    /// Two halves cost what the whole costs.
    #[test]
    fn cutting_a_sample_changes_nothing((name, options, mut sample) in cases()) {
        let model = PowerModel::new(&spec(name), options).unwrap();
        sample.end &= !1;
        let mut half = sample.clone();
        half.end /= 2;
        let halve = |counts: &mut [u64]| counts.iter_mut().for_each(|count| *count /= 2);
        let double = |counts: &mut [u64]| counts.iter_mut().for_each(|count| *count *= 2);
        for (sm, whole) in half.sms.iter_mut().zip(&mut sample.sms) {
            for (part, all) in [(&mut sm.int, &mut whole.int), (&mut sm.fp, &mut whole.fp), (&mut sm.sfu, &mut whole.sfu)] {
                let counts = [
                    (&mut part.cycles, &mut all.cycles),
                    (&mut part.entries, &mut all.entries),
                    (&mut part.wakes, &mut all.wakes),
                ];
                for (part, all) in counts {
                    halve(part);
                    *all = *part;
                    double(all);
                }
                part.busy /= 2;
                all.busy = part.busy * 2;
            }
            halve(&mut sm.component_on);
            whole.component_on = sm.component_on;
            double(&mut whole.component_on);
            halve(&mut sm.events);
            whole.events = sm.events.clone();
            double(&mut whole.events);
            sm.cycles = (sm.cycles / 2).max(1);
            whole.cycles = sm.cycles * 2;
        }
        halve(&mut half.mem);
        sample.mem = half.mem.clone();
        double(&mut sample.mem);
        let (whole, part) = (model.sample(&sample).total().total(), model.sample(&half).total().total());
        prop_assert!((whole - 2.0 * part).abs() <= 1e-9 * whole, "{whole} {part}");
    }
}
