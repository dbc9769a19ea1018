//! Real kernels on the cycle-level machine: both audits hold, and energy does not depend on how samples are cut.

use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Gpu, Options};
use warpwatt_power::{PowerModel, PowerOptions};
use warpwatt_workloads::{Size, find};

fn power(preset: &str, workload: &str, sample_cycles: Option<u64>) -> (f64, usize) {
    let spec = Spec::preset(preset).unwrap();
    let mut gpu = Gpu::new(spec.clone(), Options { sample_cycles, ..Options::default() }).unwrap();
    (find(workload).unwrap().run)(&mut gpu, Size::Small).unwrap();
    let model = PowerModel::new(&spec, PowerOptions::default()).unwrap();
    let stats = gpu.stats();
    let report = model.run(&stats);
    model.audit(&stats, &report).unwrap_or_else(|error| panic!("{preset}, {workload}: {error}"));
    (report.total.joules.total(), report.series.len())
}

#[test]
fn audits_hold_on_real_kernels() {
    for (preset, workload) in [("gtx480", "sgemm"), ("kepler-small", "spmv")] {
        power(preset, workload, Some(1000));
    }
}

/// How often samples are cut does not change the energy.
#[test]
fn energy_does_not_depend_on_the_sampling_interval() {
    let (whole, few) = power("gtx480", "histo", None);
    let (cut, many) = power("gtx480", "histo", Some(500));
    assert!(many > few, "{many} {few}");
    assert!((whole / cut - 1.0).abs() < 1e-9, "{whole} J and {cut} J");
}

/// A planted miscount in a real run is found.
#[test]
fn a_miscount_in_a_real_run_fails() {
    let spec = Spec::preset("gtx480").unwrap();
    let mut gpu = Gpu::new(spec.clone(), Options::default()).unwrap();
    (find("sgemm").unwrap().run)(&mut gpu, Size::Small).unwrap();
    let model = PowerModel::new(&spec, PowerOptions::default()).unwrap();
    let mut stats = gpu.stats();
    let report = model.run(&stats);
    let last = stats.samples.len() - 1;
    stats.samples[last].sms[14].sfu.cycles[0] += 1;
    assert!(model.audit(&stats, &report).is_err());
}
