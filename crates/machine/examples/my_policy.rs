//! A policy of your own in a few lines: a scheduler that keeps FP warps together, so that INT lanes rest longer.
//!
//! `cargo run --release -p warpwatt-machine --example my_policy` runs it beside the built-in scheduler.

use std::error::Error;
use warpwatt_machine::hooks::{Hook, Nominal, OrderHook, OrderQuery, Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Slot;
use warpwatt_machine::{Gpu, Options};
use warpwatt_workloads::Size;

/// One per SM. It has no state that a checkpoint would have to keep.
#[derive(Debug)]
struct FpFirst;

impl Hook for FpFirst {}

impl OrderHook for FpFirst {
    fn pick(&mut self, query: &OrderQuery<'_>) -> Option<usize> {
        let fp = query.available & query.fp;
        let set = if fp != 0 { fp } else { query.available };
        // The oldest warp of the set.
        (0..64).filter(|w| set >> w & 1 != 0).min_by_key(|&w| query.warps.of[w].age)
    }
}

#[derive(Debug)]
struct FpFirstPolicy;

impl Policy for FpFirstPolicy {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { order: Some(Box::new(FpFirst)), ..SmHooks::default() }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let workload = warpwatt_workloads::find("hotspot")?;
    for policy in [&Nominal as &dyn Policy, &FpFirstPolicy] {
        let mut gpu = Gpu::with_policy(Spec::preset("gtx480")?, Options::default(), policy)?;
        let verification = (workload.run)(&mut gpu, Size::Small)?;
        let stats = gpu.stats();
        let cycles: u64 = stats.launches.iter().map(|l| l.cycles).sum();
        let issued: u64 = stats.launches.iter().map(|l| l.slots[Slot::Issued as usize]).sum();
        println!("{policy:?}: {cycles} cycles, {issued} instructions, verified: {}", verification.verified);
    }
    Ok(())
}
