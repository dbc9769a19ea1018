//! Each audit passes on honest counts and fails on a planted miscount.

mod common;

use common::{add, add_mem, model, quiet, run, spec};
use warpwatt_machine::activity::{LaneState, MemEvent, Sample, SmEvent};
use warpwatt_machine::stats::RunStats;
use warpwatt_power::{AuditError, PowerReport, residency};

/// Two samples with some of everything, one of no length.
fn busy() -> RunStats {
    let gpu = spec("kepler-big");
    let mut samples: Vec<Sample> = vec![quiet(&gpu, 1000), quiet(&gpu, 500), quiet(&gpu, 0)];
    for (number, sample) in samples.iter_mut().enumerate().take(2) {
        sample.launch = number as u32;
        for (index, &event) in SmEvent::ALL.iter().enumerate() {
            add(sample, index % 16, event, 100 + index as u64);
        }
        for &event in MemEvent::ALL {
            add_mem(sample, event, 1000);
        }
        let int = &mut sample.sms[5].int;
        int.cycles[LaneState::On as usize] -= 3000;
        int.cycles[LaneState::Gated as usize] += 2500;
        int.cycles[LaneState::Vs03 as usize] += 500;
        int.entries[LaneState::Gated as usize] = 7;
        sample.sms[2].component_on[1] -= 300;
        sample.sms[2].component_gated[1] += 300;
        sample.sms[2].component_on[9] -= 400;
        sample.sms[2].component_clock_gated[9] += 400;
    }
    samples[1].start = samples[0].end;
    samples[1].end += samples[0].end;
    (samples[1].core_mhz, samples[1].core_volts) = (600.0, 0.925);
    (samples[2].start, samples[2].end) = (samples[1].end, samples[1].end);
    add(&mut samples[2], 0, SmEvent::Issued, 3);
    run(samples)
}

fn verdict(plant: impl FnOnce(&mut RunStats), tamper: impl FnOnce(&mut PowerReport)) -> Result<(), AuditError> {
    let model = model("kepler-big");
    let mut stats = busy();
    plant(&mut stats);
    let mut report = model.run(&stats);
    tamper(&mut report);
    model.audit(&stats, &report)
}

#[test]
fn honest_counts_pass() {
    verdict(|_| (), |_| ()).unwrap();
}

#[test]
fn a_lane_cycle_too_few_or_too_many() {
    type Plant = fn(&mut RunStats);
    let cases: [(&str, usize, usize, Plant); 4] = [
        ("INT", 0, 5, |run| run.samples[0].sms[5].int.cycles[LaneState::Gated as usize] -= 1),
        ("INT", 0, 0, |run| run.samples[0].sms[0].int.cycles[LaneState::On as usize] += 1),
        ("FP", 1, 15, |run| run.samples[1].sms[15].fp.cycles[LaneState::Waking as usize] += 1),
        ("SFU", 1, 3, |run| run.samples[1].sms[3].sfu.cycles[LaneState::On as usize] -= 1),
    ];
    for (wanted, in_sample, in_sm, plant) in cases {
        match verdict(plant, |_| ()) {
            Err(AuditError::LaneResidency { sample, sm, unit, expected, found, .. }) => {
                assert_eq!((unit, sample, sm), (wanted, in_sample, in_sm));
                assert_eq!(expected.abs_diff(found), 1);
            }
            other => panic!("{wanted}: {other:?}"),
        }
    }
    // A cycle that the SM counted and its lanes did not.
    let missing = verdict(|run| run.samples[0].sms[7].cycles += 1, |_| ());
    assert!(matches!(missing, Err(AuditError::LaneResidency { sm: 7, .. })), "{missing:?}");
    // No overflow makes a wrong sum right.
    let huge = verdict(|run| run.samples[0].sms[7].int.cycles = [u64::MAX; 7], |_| ());
    assert!(matches!(huge, Err(AuditError::LaneResidency { sm: 7, .. })), "{huge:?}");
}

#[test]
fn a_group_cycle_too_few_or_too_many() {
    for stage in 0..14 {
        for counter in 0..3 {
            let planted = verdict(
                |run| {
                    let sm = &mut run.samples[1].sms[4];
                    match counter {
                        0 => sm.component_on[stage] -= 1,
                        1 => sm.component_gated[stage] += 1,
                        _ => sm.component_clock_gated[stage] += 1,
                    }
                },
                |_| (),
            );
            match planted {
                Err(AuditError::ComponentResidency { sample: 1, sm: 4, component, .. }) => {
                    assert_eq!(component, warpwatt_machine::activity::COMPONENT_NAMES[stage]);
                }
                other => panic!("stage {stage}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_gated_group_whose_lanes_leak_on() {
    let planted = verdict(
        |run| {
            let sm = &mut run.samples[0].sms[1];
            sm.component_on[11] -= 1000;
            sm.component_gated[11] += 1000;
        },
        |_| (),
    );
    match planted {
        Err(AuditError::GatedLanes { sample: 0, sm: 1, component: "EX_SP", group_cycles: 1000, lane_cycles: 0 }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn samples_of_the_wrong_shape() {
    let gpu = spec("gtx480");
    let mut sample = quiet(&gpu, 10);
    sample.sms.pop();
    assert!(matches!(
        residency(&gpu, &[sample]),
        Err(AuditError::Shape { what: "SMs", expected: 15, found: 14, sample: 0 })
    ));
    let mut sample = quiet(&gpu, 10);
    sample.sms[3].events.pop();
    assert!(matches!(residency(&gpu, &[sample]), Err(AuditError::Shape { what: "SM events", .. })));
    let mut sample = quiet(&gpu, 10);
    sample.mem.push(0);
    assert!(matches!(residency(&gpu, &[sample]), Err(AuditError::Shape { what: "memory events", .. })));
}

#[test]
fn energy_lost_or_invented_on_the_way_to_the_report() {
    type Tamper = fn(&mut PowerReport);
    let cases: [(&str, Tamper); 8] = [
        ("the run's joules", |report| report.total.joules.dynamic *= 1.000_001),
        ("the components", |report| report.total.components[7].joules.leakage *= 1.001),
        ("the components", |report| report.total.components.truncate(20)),
        ("the labels", |report| report.total.labels[6].joules = 0.0),
        ("the launches", |report| drop(report.launches.pop())),
        ("the kernels", |report| report.kernels[0].power.components[9].joules.dynamic += 1e-9),
        ("the series", |report| drop(report.series.pop())),
        ("the series' SMs and chip components", |report| report.series[0].sms[3][5] += 0.001),
    ];
    for (wanted, tamper) in cases {
        match verdict(|_| (), tamper) {
            Err(AuditError::Energy { what, .. }) => assert_eq!(what, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }
}

/// An event that is counted after the report was made, or that the report does not know of, shows as well.
#[test]
fn a_report_of_other_counts() {
    let model = model("kepler-big");
    let mut stats = busy();
    let report = model.run(&stats);
    for event in 0..stats.samples[0].mem.len() {
        stats.samples[0].mem[event] += 1;
        let planted = model.audit(&stats, &report);
        assert!(matches!(planted, Err(AuditError::Energy { .. })), "{event}: {planted:?}");
        stats.samples[0].mem[event] -= 1;
    }
    model.audit(&stats, &report).unwrap();
}
