//! Reports: averages and extremes, kernels and launches, series, AccelWattch's labels.

mod common;

use common::{add, add_mem, close, model, quiet, run, spec};
use warpwatt_machine::activity::{MemEvent, SmEvent};
use warpwatt_power::{Component, Label, PowerReport};

/// Four milliseconds in launches 0, 0, 1, 2, with 0, 1, 2 and 3 W of shared-memory power on SM 2.
fn four() -> PowerReport {
    let gpu = spec("gtx480");
    let samples = [0, 0, 1, 2]
        .into_iter()
        .enumerate()
        .map(|(number, launch)| {
            let mut sample = quiet(&gpu, 700_000);
            sample.launch = launch;
            (sample.start, sample.end) = (number as u64 * 1_000_000_000_000, (number as u64 + 1) * 1_000_000_000_000);
            // 1 W for 1 ms = 1 mJ = 471 698 shared cycles of 2120 pJ, within 1 µW.
            add(&mut sample, 2, SmEvent::SharedCycle, number as u64 * 471_698);
            sample
        })
        .collect();
    model("gtx480").run(&run(samples))
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-4, "{found} W instead of {expected} W");
}

const FLOOR: f64 = 41.9 + 9.8 + 1.18;

#[test]
fn average_highest_and_lowest() {
    let report = four();
    near(report.total.watts.average, FLOOR + 1.5);
    near(report.total.watts.max, FLOOR + 3.0);
    near(report.total.watts.min, FLOOR);
    close(report.total.seconds, 4e-3);
    let shared = report.total.component(Component::Shared);
    near(shared.watts.max, 15.0 * 0.0918 + 3.0);
    near(shared.watts.min, 15.0 * 0.0918);
    let share: f64 = report.total.components.iter().map(|part| part.share.unwrap()).sum();
    close(share, 1.0);
    close(report.total.share(Component::ALL).unwrap(), 1.0);
}

#[test]
fn by_launch_and_by_kernel() {
    let report = four();
    let launches: Vec<(u32, &str)> =
        report.launches.iter().map(|launch| (launch.launch, launch.kernel.as_str())).collect();
    assert_eq!(launches, [(0, "k"), (1, "other"), (2, "k")]);
    near(report.launches[0].power.watts.average, FLOOR + 0.5);
    near(report.launches[1].power.watts.average, FLOOR + 2.0);
    let kernels: Vec<(&str, u32)> =
        report.kernels.iter().map(|kernel| (kernel.kernel.as_str(), kernel.launches)).collect();
    assert_eq!(kernels, [("k", 2), ("other", 1)]);
    near(report.kernels[0].power.watts.average, FLOOR + 4.0 / 3.0);
    close(report.kernels[0].power.seconds, 3e-3);
    near(report.kernels[0].power.watts.min, FLOOR);
}

#[test]
fn over_time_per_sm_and_component() {
    let report = four();
    assert_eq!(report.series.len(), 4);
    for (number, point) in report.series.iter().enumerate() {
        near(Some(point.watts), FLOOR + number as f64);
        near(Some(point.sm_watts(2)), 1.676 + number as f64);
        near(Some(point.sm_watts(3)), 1.676);
        near(Some(point.sms[2][Component::Shared as usize]), 0.0918 + number as f64);
        near(Some(point.components.iter().sum()), point.watts);
    }
}

#[test]
fn nothing_ran() {
    let report = model("gtx480").run(&run(Vec::new()));
    assert_eq!(report.total.watts.average, None);
    assert_eq!(report.total.component(Component::Fp).share, None);
    assert!(report.launches.is_empty() && report.kernels.is_empty() && report.series.is_empty());
    model("gtx480").audit(&run(Vec::new()), &report).unwrap();
    let text = serde_json::to_string(&report).unwrap();
    assert!(text.contains("\"average\":null") && !text.contains("NaN"));
}

#[test]
fn a_launch_that_the_run_does_not_know() {
    let mut sample = quiet(&spec("gtx480"), 700);
    sample.launch = 77;
    let report = model("gtx480").run(&run(vec![sample]));
    assert_eq!((report.launches[0].launch, report.launches[0].kernel.as_str()), (77, ""));
}

#[test]
fn reports_survive_json() {
    let report = four();
    let text = serde_json::to_string(&report).unwrap();
    let read: PowerReport = serde_json::from_str(&text).unwrap();
    close(read.total.joules.total(), report.total.joules.total());
    assert_eq!(read.options, report.options);
    assert_eq!(read.kernels.len(), 2);
    assert!(text.contains("\"constant-texture\"") && text.contains("\"STATICP\""));
}

#[test]
fn labels_by_hand_and_in_sum() {
    let (gpu, model) = (spec("gtx480"), model("gtx480"));
    let mut sample = quiet(&gpu, 700); // 1 µs
    for (event, count) in [
        (SmEvent::BufferRead, 10),
        (SmEvent::InstructionHit, 20),
        (SmEvent::L1ReadHit, 30),
        (SmEvent::TextureHit, 40),
        (SmEvent::ConstantHit, 50),
        (SmEvent::SharedCycle, 60),
        (SmEvent::RegisterRead, 70),
        (SmEvent::IntOp, 80),
        (SmEvent::SfuLog, 90),
        (SmEvent::FpMul, 100),
        (SmEvent::Issued, 110),
        (SmEvent::PipelineDuty, 640),
        (SmEvent::IdleCycle, 350),
    ] {
        add(&mut sample, 1, event, count);
    }
    for (event, count) in
        [(MemEvent::L2ReadHit, 4), (MemEvent::Flit, 5), (MemEvent::DramRead32, 6), (MemEvent::Activate, 7)]
    {
        add_mem(&mut sample, event, count);
    }
    let power = model.sample(&sample);
    let pj = [
        (Label::Ibp, 36.0),
        (Label::Icp, 1260.0),
        (Label::Dcp, 88_050.0),
        (Label::Tcp, 54_120.0),
        (Label::Ccp, 73_350.0),
        (Label::Shrdp, 127_200.0),
        (Label::Rfp, 262.5),
        (Label::Spp, 6880.0),
        (Label::Sfup, 152_280.0),
        (Label::Fpup, 5300.0),
        (Label::Schedp, 6050.0),
        (Label::L2cp, 2805.0),
        (Label::Mcp, 3.0 * 1383.0),
        (Label::Nocp, 9695.0),
        (Label::Dramp, 3.0 * 25565.0 + 7.0 * 4232.0),
        (Label::Pipep, 2274.0),
        // SM 1 was idle for half of the microsecond.
        (Label::IdleCorep, 1.676e6 / 2.0),
        (Label::ConstDynamicp, 10.98e6),
        (Label::Staticp, 41.9e6 - 1.676e6 / 2.0),
    ];
    assert_eq!(pj.len(), Label::ALL.len());
    for (label, pj) in pj {
        let found = power.labels[label as usize] * 1e12;
        assert!((found / pj - 1.0).abs() < 1e-9, "{label:?}: {found} pJ instead of {pj}");
    }
    close(power.labels.iter().sum(), power.total().total());
}
