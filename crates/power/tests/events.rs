//! Every event's energy, once, by hand: the figures are written here again, not read from the table.

mod common;

use common::{add, add_mem, close, model, quiet, spec};
use warpwatt_machine::activity::{MemEvent, SmEvent};
use warpwatt_power::Component::{self, *};
use warpwatt_power::{Arithmetic, PowerModel, PowerOptions};

/// Event, component, pJ of one event.
const SM: &[(SmEvent, Component, f64)] = &[
    (SmEvent::InstructionHit, Fetch, 63.0),
    (SmEvent::InstructionMiss, Fetch, 2169.0),
    (SmEvent::Decoded, Decode, 0.0),
    (SmEvent::BufferRead, InstructionBuffer, 3.6),
    (SmEvent::Issued, Scheduler, 55.0),
    (SmEvent::RegisterRead, RegisterFile, 3.75),
    (SmEvent::RegisterWrite, RegisterFile, 5.99),
    (SmEvent::CollectorOperand, Collectors, 3.5),
    (SmEvent::Immediate, Collectors, 53.0),
    (SmEvent::CommittedLanes, Pipeline, 0.0),
    (SmEvent::PipelineDuty, Pipeline, 2274.0 / 640.0),
    (SmEvent::IntOp, Int, 86.0),
    (SmEvent::IntMul24, Int, 124.0),
    (SmEvent::IntMul32, Int, 193.0),
    (SmEvent::IntDiv, Int, 1934.0),
    (SmEvent::FpAdd, Fp, 29.6),
    (SmEvent::FpFma, Fp, 29.6),
    (SmEvent::FpMul, Fp, 53.0),
    (SmEvent::FpDiv, Fp, 1420.0),
    (SmEvent::DpAdd, Fp, 59.2),
    (SmEvent::DpFma, Fp, 59.2),
    (SmEvent::DpMul, Fp, 106.0),
    (SmEvent::DpDiv, Fp, 2840.0),
    (SmEvent::SfuSinCos, Sfu, 580.0),
    (SmEvent::SfuSqrt, Sfu, 1209.0),
    (SmEvent::SfuLog, Sfu, 1692.0),
    (SmEvent::IntInactive, Int, 43.0),
    (SmEvent::FpInactive, Fp, 14.8),
    (SmEvent::LdstRead, Ldst, 15.9),
    (SmEvent::LdstWrite, Ldst, 20.7),
    (SmEvent::SharedCycle, Shared, 2120.0),
    (SmEvent::L1ReadHit, L1Data, 2935.0),
    (SmEvent::L1ReadMiss, L1Data, 2225.0),
    (SmEvent::L1WriteHit, L1Data, 220.0),
    (SmEvent::L1WriteMiss, L1Data, 2604.0),
    (SmEvent::ConstantHit, ConstantTexture, 1467.0),
    (SmEvent::ConstantMiss, ConstantTexture, 1113.0),
    (SmEvent::TextureHit, ConstantTexture, 1353.0),
    (SmEvent::TextureMiss, ConstantTexture, 2225.0),
    (SmEvent::FlitOut, Noc, 0.0),
    (SmEvent::FlitIn, Noc, 0.0),
    (SmEvent::IdleCycle, Undifferentiated, 0.0),
];

/// Event, pJ in L2, crossbar, memory controllers, DRAM.
const MEM: &[(MemEvent, [f64; 4])] = &[
    (MemEvent::L2ReadHit, [2805.0 / 4.0, 0.0, 0.0, 0.0]),
    (MemEvent::L2ReadMiss, [102.0 / 4.0, 0.0, 0.0, 0.0]),
    (MemEvent::L2WriteHit, [13851.0 / 4.0, 0.0, 0.0, 0.0]),
    (MemEvent::L2WriteMiss, [15024.0 / 4.0, 0.0, 0.0, 0.0]),
    (MemEvent::Flit, [0.0, 1939.0, 0.0, 0.0]),
    (MemEvent::DramRead32, [0.0, 0.0, 1383.0 / 2.0, 25565.0 / 2.0]),
    (MemEvent::DramWrite32, [0.0, 0.0, 1678.0 / 2.0, 14187.0 / 2.0]),
    (MemEvent::Activate, [0.0, 0.0, 0.0, 4232.0]),
];

const COUNT: u64 = 1_000_000;

#[test]
fn one_sm_event_at_a_time() {
    let (gpu, model) = (spec("gtx480"), model("gtx480"));
    let nothing = model.sample(&quiet(&gpu, 1000));
    assert_eq!(SM.len(), SmEvent::ALL.len());
    for (index, &(event, component, pj)) in SM.iter().enumerate() {
        assert_eq!(event as usize, index, "the table follows the events' order");
        let mut sample = quiet(&gpu, 1000);
        add(&mut sample, 3, event, COUNT);
        let power = model.sample(&sample);
        for &other in Component::ALL {
            let more = power.component(other).dynamic - nothing.component(other).dynamic;
            let expected = if other == component { pj * 1e-12 * COUNT as f64 } else { 0.0 };
            assert!((more - expected).abs() < 1e-15, "{event:?} in {other:?}: {more} J instead of {expected}");
        }
        // It is SM 3 that pays.
        for (sm, parts) in power.sms.iter().enumerate() {
            assert_eq!(parts.iter().map(|part| part.dynamic).sum::<f64>() > 0.0, sm == 3 && pj > 0.0, "{event:?}");
        }
        assert_eq!(power.total().leakage, nothing.total().leakage, "{event:?}");
    }
}

#[test]
fn one_memory_event_at_a_time() {
    let (gpu, model) = (spec("gtx480"), model("gtx480"));
    let nothing = model.sample(&quiet(&gpu, 1000));
    assert_eq!(MEM.len(), MemEvent::ALL.len());
    for &(event, pj) in MEM {
        let mut sample = quiet(&gpu, 1000);
        add_mem(&mut sample, event, COUNT);
        let power = model.sample(&sample);
        for &other in Component::ALL {
            let more = power.component(other).dynamic - nothing.component(other).dynamic;
            let place = [L2, Noc, MemoryControllers, Dram].iter().position(|&component| component == other);
            let expected = place.map_or(0.0, |place| pj[place] * 1e-12 * COUNT as f64);
            assert!((more - expected).abs() < 1e-15, "{event:?} in {other:?}: {more} J instead of {expected}");
        }
    }
}

/// An FMA-heavy microsecond on one SM, added up on paper.
#[test]
fn a_hand_made_kernel() {
    let (gpu, model) = (spec("gtx480"), model("gtx480"));
    let mut sample = quiet(&gpu, 700); // 1 µs
    let events = [
        (SmEvent::Issued, 100),         // 100 × 55 = 5 500
        (SmEvent::BufferRead, 100),     // 100 × 3.6 = 360
        (SmEvent::RegisterRead, 9600),  // 9600 × 3.75 = 36 000
        (SmEvent::RegisterWrite, 3200), // 3200 × 5.99 = 19 168
        (SmEvent::FpFma, 3200),         // 3200 × 29.6 = 94 720
        (SmEvent::L1ReadMiss, 10),      // 10 × 2225 = 22 250
    ];
    for (event, count) in events {
        add(&mut sample, 0, event, count);
    }
    add_mem(&mut sample, MemEvent::DramRead32, 40); // 20 × (25 565 + 1 383) = 538 960
    let power = model.sample(&sample);
    // 716 958 pJ of events; clock floor 9.8 W and controllers 1.18 W for 1 µs; leakage 41.9 W for 1 µs.
    close(power.seconds(), 1e-6);
    close(power.total().dynamic, 716_958e-12 + (9.8 + 1.18) * 1e-6);
    close(power.total().leakage, 41.9e-6);
    close(power.watts().unwrap(), 0.716_958 + 10.98 + 41.9);
}

#[test]
fn inactive_lanes_cost_nothing_with_lane_clock_gating() {
    let gpu = spec("gtx480");
    let options = PowerOptions { lane_clock_gating: true, ..PowerOptions::default() };
    let gated = PowerModel::new(&gpu, options).unwrap();
    let mut sample = quiet(&gpu, 1000);
    add(&mut sample, 0, SmEvent::IntInactive, COUNT);
    add(&mut sample, 0, SmEvent::FpInactive, COUNT);
    assert_eq!(gated.sample(&sample).component(Int).dynamic, 0.0);
    assert_eq!(gated.sample(&sample).component(Fp).dynamic, 0.0);
    // Active lanes cost what they did.
    add(&mut sample, 0, SmEvent::IntOp, COUNT);
    close(gated.sample(&sample).component(Int).dynamic, 86e-6);
}

#[test]
fn physical_energies_have_the_published_proportions_and_the_measured_average() {
    let gpu = spec("gtx480");
    let physical =
        PowerModel::new(&gpu, PowerOptions { arithmetic: Arithmetic::Physical, ..PowerOptions::default() }).unwrap();
    let of = |model: &PowerModel, component, events: &[(SmEvent, u64)]| {
        let mut sample = quiet(&gpu, 1000);
        for &(event, count) in events {
            add(&mut sample, 0, event, count);
        }
        model.sample(&sample).component(component).dynamic
    };
    let one = |event, component| of(&physical, component, &[(event, COUNT)]) / COUNT as f64 * 1e12;
    // (0.39 · 86 + 0.03 · 193 + 0.30 · 29.6 + 0.17 · 29.6 + 0.11 · 53) / 1.591
    let factor = 59.072 / 1.591;
    close(physical.datapath_factor(), factor);
    close(one(SmEvent::IntOp, Int), 0.1 * factor);
    close(one(SmEvent::IntMul32, Int), 3.1 * factor);
    close(one(SmEvent::FpAdd, Fp), 0.9 * factor);
    close(one(SmEvent::FpMul, Fp), 3.7 * factor);
    close(one(SmEvent::FpFma, Fp), 4.6 * factor);
    close(one(SmEvent::IntDiv, Int), 1934.0);
    close(one(SmEvent::IntInactive, Int), 0.05 * factor);
    // An integer operation is cheaper than a floating-point one, as it is not under `gpuwattch`.
    assert!(one(SmEvent::IntOp, Int) < one(SmEvent::FpAdd, Fp));
    let mix = [
        (SmEvent::IntOp, 39),
        (SmEvent::IntMul32, 3),
        (SmEvent::FpAdd, 30),
        (SmEvent::FpFma, 17),
        (SmEvent::FpMul, 11),
    ];
    let both = |model: &PowerModel| of(model, Int, &mix) + of(model, Fp, &mix);
    close(both(&physical), both(&common::model("gtx480")));
}

#[test]
fn smaller_transistors_scale_each_class() {
    let (gpu, model) = (spec("pascal16"), model("pascal16"));
    let nothing = model.sample(&quiet(&gpu, 1000));
    let more = |component, change: &dyn Fn(&mut warpwatt_machine::activity::Sample)| {
        let mut sample = quiet(&gpu, 1000);
        change(&mut sample);
        let power = model.sample(&sample);
        power.component(component).dynamic - nothing.component(component).dynamic
    };
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    near(more(Int, &|sample| add(sample, 0, SmEvent::IntOp, COUNT)), 0.35 * 86e-6);
    near(more(L1Data, &|sample| add(sample, 0, SmEvent::L1ReadHit, COUNT)), 0.40 * 2935e-6);
    near(more(Noc, &|sample| add_mem(sample, MemEvent::Flit, COUNT)), 0.40 * 1939e-6);
    near(more(Dram, &|sample| add_mem(sample, MemEvent::Activate, COUNT)), 0.60 * 4232e-6);
}
