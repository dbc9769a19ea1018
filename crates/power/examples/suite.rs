//! Power of the suite's small inputs on a preset: `workload W  static  EU  static part of EU  RF  DRAM`, each run
//! audited. Arguments: preset (default gtx480), then workloads (none: all).

use std::error::Error;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Gpu, Options};
use warpwatt_power::{Component, PowerModel, PowerOptions};
use warpwatt_workloads::{Size, all};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec = Spec::preset(&arguments.next().unwrap_or_else(|| "gtx480".to_owned()))?;
    let names: Vec<String> = arguments.collect();
    let model = PowerModel::new(&spec, PowerOptions::default())?;
    println!("{:14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}", "workload", "W", "static", "EU", "EU st", "RF", "DRAM");
    for workload in all().iter().filter(|w| names.is_empty() || names.iter().any(|name| name == w.name)) {
        let options = Options { sample_cycles: Some(10_000), ..Options::default() };
        let mut gpu = Gpu::new(spec.clone(), options)?;
        (workload.run)(&mut gpu, Size::Small)?;
        let stats = gpu.stats();
        let report = model.run(&stats);
        model.audit(&stats, &report)?;
        let total = &report.total;
        let units = [Component::Int, Component::Fp, Component::Sfu];
        let sum = |of: &dyn Fn(Component) -> f64| units.iter().map(|&unit| of(unit)).sum::<f64>();
        let resting = sum(&|unit| total.component(unit).joules.leakage);
        let all = sum(&|unit| total.component(unit).joules.total());
        let percent = |share: Option<f64>| share.map_or("n/a".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        println!(
            "{:14} {:>7.1} {:>7} {:>7} {:>7} {:>7} {:>7}",
            workload.name,
            total.watts.average.unwrap_or(f64::NAN),
            percent(Some(total.joules.leakage / total.joules.total())),
            percent(total.share(&units)),
            percent(Some(resting / all)),
            percent(total.share(&[Component::RegisterFile, Component::Collectors])),
            percent(total.share(&[Component::Dram])),
        );
    }
    Ok(())
}
