//! Leakage: sums, splits, lanes asleep, overheads, and what voltage and frequency do to it all.

mod common;

use common::{close, model, quiet, spec};
use warpwatt_machine::activity::{LaneState, Sample};
use warpwatt_machine::spec::{VfModel, presets};
use warpwatt_power::Component::{self, *};
use warpwatt_power::{GatingCost, LeakageSplit, PolicyPower, PowerModel, PowerOptions};

const SPLITS: [LeakageSplit; 3] = [LeakageSplit::Origami, LeakageSplit::Area, LeakageSplit::Mcpat];

fn with(name: &str, leakage_split: LeakageSplit) -> PowerModel {
    PowerModel::new(&spec(name), PowerOptions { leakage_split, ..PowerOptions::default() }).unwrap()
}

/// W of all SMs' components, of those outside, of the execution units.
fn parts(model: &PowerModel) -> (f64, f64, f64) {
    let sum = |keep: &dyn Fn(Component) -> bool| -> f64 {
        let rows = model.inventory();
        rows.iter().filter(|row| keep(row.component)).map(|row| f64::from(row.count) * row.leakage_w).sum()
    };
    (
        sum(&|component| component.in_sm()),
        sum(&|component| !component.in_sm()),
        sum(&|component| component.is_execution_unit()),
    )
}

#[test]
fn gtx480_leaks_41_9_watts_under_every_split() {
    for split in SPLITS {
        let model = with("gtx480", split);
        close(model.leakage_watts(), 41.9);
        let (core, non_core, _) = parts(&model);
        close(core, 15.0 * 1.676);
        close(non_core / (core + non_core), 0.4);
    }
}

#[test]
fn execution_units_under_each_split() {
    let (_, _, default) = parts(&with("gtx480", LeakageSplit::Default));
    close(default, 15.0 * 0.84);
    let (_, _, mcpat) = parts(&with("gtx480", LeakageSplit::Mcpat));
    assert!((mcpat - 4.87).abs() < 1e-4, "{mcpat}");
    // By area: 32.803 of 47.2172 mm².
    let (core, _, area) = parts(&with("gtx480", LeakageSplit::Area));
    close(area / core, (2.52 + 29.45 + 0.833) / 47.2172);
}

#[test]
fn sm_area_is_the_rows_sum() {
    let area: f64 =
        model("gtx480").inventory().iter().filter(|row| row.component.in_sm()).map(|row| row.area_mm2).sum();
    close(area, 47.2172);
}

/// µC-States: static power by area, 40 % outside the SMs; its big GPU leaks 1.44 × the small one.
#[test]
fn big_against_small_by_area() {
    let (big, small) = (with("kepler-big", LeakageSplit::Area), with("kepler-small", LeakageSplit::Area));
    let (core, non_core, _) = parts(&big);
    assert!((core / (core + non_core) - 0.6).abs() < 1e-4, "{core} {non_core}");
    let ratio = big.leakage_watts() / small.leakage_watts();
    assert!((ratio - 1.44).abs() < 0.1, "{ratio}");
    // What one gets with these areas: (0.4 + 0.6) / (0.4 + 0.6 × 47.2172 / 86.0294).
    assert!((ratio - 1.3712).abs() < 1e-3, "{ratio}");
    // The big SM is the small one with twice the pipeline: 47.2172 + 38.8122 mm².
    let area = |model: &PowerModel| -> f64 {
        model.inventory().iter().filter(|row| row.component.in_sm()).map(|row| row.area_mm2).sum()
    };
    close(area(&big), 86.0294);
    close(area(&small), 47.2172);
}

/// The paper's GPUs leak by its rule unless somebody asks for another one; all others as their rows say.
#[test]
fn a_table_names_its_own_split() {
    for name in presets() {
        let own = if name.starts_with("kepler") { LeakageSplit::Area } else { LeakageSplit::Origami };
        assert_eq!(parts(&model(name)), parts(&with(name, own)), "{name}");
    }
}

#[test]
fn variants() {
    // 14 SMs, and GDDR5 at 3.0 Gb/s.
    let c2050 = parts(&model("c2050"));
    close(c2050.0, 14.0 * 1.676);
    let dram = 4.5 * (192.0 + 20.6 * (3.0 - 3.2)) / (192.0 + 20.6 * (3.696 - 3.2));
    close(c2050.1, 3.6 + 1.5 + 4.2 + dram + 2.96);
    // Twice everything but register file, caches and the undifferentiated rest: 1.676 + 1.135.
    close(parts(&with("kepler-big", LeakageSplit::Origami)).0, 16.0 * 2.811);
    close(parts(&with("kepler-small", LeakageSplit::Origami)).0, 16.0 * 1.676);
    // 0.45 of a GTX 480 SM's with twice the registers.
    close(parts(&model("pascal16")).0, 16.0 * 0.45 * (1.676 + 0.290));
    for name in presets().filter(|name| *name != "kepler-small") {
        let watts = SPLITS.map(|split| with(name, split).leakage_watts());
        assert!((watts[1] / watts[0] - 1.0).abs() < 1e-4, "{name}: {watts:?}");
        assert!((watts[2] / watts[0] - 1.0).abs() < 1e-9, "{name}: {watts:?}");
    }
}

/// Precharge-standby current times voltage: 12 chips at the nominal rate and at ±15 %.
#[test]
fn gddr5_background() {
    let model = model("gtx480-equalizer");
    let background = &model.table().dram_background;
    for (gbps, watts) in [(3.696, 3.65), (3.696 * 0.85, 3.44), (3.696 * 1.15, 3.85)] {
        let found = background.watts(gbps);
        assert!((found - watts).abs() < 0.015, "{gbps} Gb/s: {found} W");
    }
    close(background.milliamperes(3.2), 192.0);
    assert!((background.milliamperes(6.0) / 192.0 - 1.30).abs() < 0.001);
    // In the model it is 4.50 W at the nominal rate, with the voltage's own change elsewhere.
    let watts = |mhz: f64, volts: f64| {
        let mut sample = quiet(&spec("gtx480-equalizer"), 700);
        (sample.dram_mhz, sample.mem_volts) = (mhz, volts);
        model.sample(&sample).component(Dram).leakage / sample_seconds(&sample)
    };
    close(watts(924.0, 1.0), 4.5);
    close(watts(785.4, 0.85), 4.5 * (192.0 - 20.6 * 0.0584) / 202.2176 * 0.85);
    close(watts(1062.6, 1.15), 4.5 * (192.0 + 20.6 * (4.2504 - 3.2)) / 202.2176 * 1.15);
}

fn sample_seconds(sample: &Sample) -> f64 {
    (sample.end - sample.start) as f64 * 1e-15
}

fn at(name: &str, model: VfModel, core: (f64, f64), memory: (f64, f64)) -> [f64; 4] {
    let gpu = spec(name);
    let model = PowerModel::new(&gpu, PowerOptions { vf_model: Some(model), ..PowerOptions::default() }).unwrap();
    let mut sample = quiet(&gpu, 700);
    (sample.core_mhz, sample.core_volts) = core;
    (sample.dram_mhz, sample.mem_volts) = memory;
    let power = model.sample(&sample);
    let seconds = sample_seconds(&sample);
    [
        power.sms[0].iter().map(|part| part.leakage).sum::<f64>() / seconds,
        power.component(L2).leakage / seconds,
        power.component(Clock).dynamic / seconds,
        power.component(MemoryControllers).dynamic / seconds,
    ]
}

#[test]
fn leakage_and_constant_terms_follow_the_models_laws() {
    let nominal = (924.0, 1.0);
    let [sm, l2, clock, controllers] = at("gtx480", VfModel::Crisp, (700.0, 1.0), nominal);
    close(sm, 1.676);
    close(l2, 3.6);
    close(clock, 9.8);
    close(controllers, 1.18);
    // CRISP: leakage ∝ V, dynamic ∝ V²f, memory untouched.
    let [sm, l2, clock, controllers] = at("gtx480", VfModel::Crisp, (100.0, 0.55), nominal);
    close(sm, 1.676 * 0.55);
    close(l2, 3.6);
    close(clock, 9.8 * 0.55 * 0.55 / 7.0);
    close(controllers, 1.18);
    // Equalizer: leakage as it is, dynamic ∝ V²f with V ∝ f.
    let [sm, l2, clock, _] = at("gtx480", VfModel::Equalizer, (805.0, 1.15), nominal);
    close(sm, 1.676);
    close(l2, 3.6);
    close(clock, 9.8 * 1.15 * 1.15 * 1.15);
    let [_, l2, clock, controllers] = at("gtx480", VfModel::Equalizer, (700.0, 1.0), (785.4, 0.85));
    close(l2, 3.6);
    close(clock, 9.8);
    close(controllers, 1.18 * 0.85 * 0.85 * 0.85);
    // The GPU file's own model is the default.
    assert_eq!(common::model("gtx480-equalizer").vf_model(), VfModel::Equalizer);
    assert_eq!(common::model("gtx480-crisp").vf_model(), VfModel::Crisp);
}

/// Equalizer §V-A: an event costs 0.7225 of nominal at −15 %, 1.3225 at +15 %.
#[test]
fn an_event_costs_v_squared() {
    use warpwatt_machine::activity::{MemEvent, SmEvent};
    let (gpu, model) = (spec("gtx480-equalizer"), model("gtx480-equalizer"));
    for (step, factor) in [(0.85, 0.7225), (1.15, 1.3225)] {
        let mut sample = quiet(&gpu, 700);
        common::add(&mut sample, 0, SmEvent::SharedCycle, 1_000_000);
        common::add_mem(&mut sample, MemEvent::DramRead32, 1_000_000);
        let before = model.sample(&sample);
        (sample.core_mhz, sample.core_volts) = (700.0 * step, step);
        (sample.dram_mhz, sample.mem_volts) = (924.0 * step, step);
        let after = model.sample(&sample);
        for component in [Shared, Dram] {
            close(after.component(component).dynamic / before.component(component).dynamic, factor);
        }
    }
}

/// Moves lane-cycles from `On` to another state.
fn sleep(sample: &mut Sample, state: LaneState, lane_cycles: u64, entries: u64) {
    let int = &mut sample.sms[0].int;
    int.cycles[LaneState::On as usize] -= lane_cycles;
    int.cycles[state as usize] += lane_cycles;
    int.entries[state as usize] += entries;
    int.wakes[state as usize] += entries;
}

#[test]
fn sleeping_lanes_leak_what_their_mode_leaves() {
    let (gpu, model) = (spec("gtx480"), model("gtx480"));
    // 64 lanes × 1000 cycles; a quarter asleep.
    for (state, left) in [
        (LaneState::IdleDetect, 1.0),
        (LaneState::Waking, 1.0),
        (LaneState::Gated, 0.0),
        (LaneState::Blackout, 0.0),
        (LaneState::Vs05, 0.50),
        (LaneState::Vs03, 0.27),
    ] {
        let mut sample = quiet(&gpu, 1000);
        sleep(&mut sample, state, 16_000, 0);
        let power = model.sample(&sample);
        close(power.sms[0][Int as usize].leakage, 0.189 * sample_seconds(&sample) * (0.75 + 0.25 * left));
        // Its neighbours leak on.
        close(power.sms[1][Int as usize].leakage, 0.189 * sample_seconds(&sample));
        close(power.sms[0][Fp as usize].leakage, 0.588 * sample_seconds(&sample));
    }
}

#[test]
fn waking_up_costs_cycles_of_leakage() {
    let gpu = spec("gtx480");
    let cycle = 0.189 / 64.0 / 700e6;
    for (cost, state, cycles) in [
        (GatingCost::BreakEven, LaneState::Gated, 14.0),
        (GatingCost::Itap, LaneState::Gated, 13.0),
        (GatingCost::Itap, LaneState::Vs03, 1.2),
        (GatingCost::Itap, LaneState::Vs05, 0.4),
        (GatingCost::Itap, LaneState::Waking, 0.0),
    ] {
        let options = PowerOptions { gating_cost: cost, ..PowerOptions::default() };
        let model = PowerModel::new(&gpu, options).unwrap();
        let mut sample = quiet(&gpu, 1000);
        sleep(&mut sample, state, 500, 10);
        let own = model.sample(&sample).sms[0][Int as usize];
        assert!((own.overhead - 10.0 * cycles * cycle).abs() < 1e-20, "{cost:?} {state:?}: {}", own.overhead);
        // With the voltage, as leakage.
        sample.core_volts = 0.55;
        let low = model.sample(&sample).sms[0][Int as usize];
        assert!((low.overhead - 0.55 * own.overhead).abs() < 1e-20);
    }
    // A lane that sleeps exactly its break-even time saves nothing.
    let model = PowerModel::new(&gpu, PowerOptions::default()).unwrap();
    let mut sample = quiet(&gpu, 1000);
    sleep(&mut sample, LaneState::Gated, 14, 1);
    let slept = model.sample(&sample).total().total();
    let awake = model.sample(&quiet(&gpu, 1000)).total().total();
    assert!((slept / awake - 1.0).abs() < 1e-9, "{slept} {awake}");
}

#[test]
fn gated_groups() {
    use warpwatt_machine::activity::SmEvent;
    let (gpu, model) = (spec("kepler-big"), model("kepler-big"));
    let mut sample = quiet(&gpu, 1000);
    for event in [SmEvent::PipelineDuty, SmEvent::CollectorOperand, SmEvent::LdstRead, SmEvent::BufferRead] {
        common::add(&mut sample, 0, event, 1000);
    }
    let before = model.sample(&sample);
    let sm = &mut sample.sms[0];
    // SCH: 4 groups, one power-gated all the time; IFID: one of 2 clock-gated.
    (sm.component_on[1], sm.component_gated[1]) = (3000, 1000);
    (sm.component_on[0], sm.component_clock_gated[0]) = (1000, 1000);
    // OC_LDST: both of 2 clock-gated, of 8 collector groups in all; EX_LDST: one of 2.
    (sm.component_on[7], sm.component_clock_gated[7]) = (0, 2000);
    (sm.component_on[13], sm.component_clock_gated[13]) = (1000, 1000);
    // All pipeline registers but two groups of sixteen.
    (sm.component_on[2], sm.component_clock_gated[2]) = (2000, 2000);
    let after = model.sample(&sample);
    let ratio = |component: Component, dynamic: bool| {
        let of = |power: &warpwatt_power::SamplePower| {
            let part = power.sms[0][component as usize];
            if dynamic { part.dynamic } else { part.leakage }
        };
        of(&after) / of(&before)
    };
    close(ratio(Scheduler, false), 0.75);
    close(ratio(Decode, false), 1.0);
    close(ratio(InstructionBuffer, true), 0.5);
    close(ratio(InstructionBuffer, false), 1.0);
    close(ratio(Collectors, true), 6.0 / 8.0);
    close(ratio(Ldst, true), 0.5);
    close(ratio(Ldst, false), 1.0);
    close(ratio(Pipeline, true), 14.0 / 16.0);
    // Where these groups have not been built, the others do all of the work.
    let policy = PolicyPower { absent: true, ..PolicyPower::default() };
    let built = PowerModel::new(&gpu, PowerOptions { policy, ..PowerOptions::default() }).unwrap().sample(&sample);
    for component in [InstructionBuffer, Collectors, Ldst, Pipeline] {
        let of = |power: &warpwatt_power::SamplePower| power.sms[0][component as usize].dynamic;
        close(of(&built) / of(&before), 1.0);
    }
}
