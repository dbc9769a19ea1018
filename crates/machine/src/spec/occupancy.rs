//! How many CTAs of a kernel fit an SM, and what limits them.

use super::parameters::Spec;
use serde::{Deserialize, Serialize};

/// The resource that runs out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// CTA slots.
    CtaSlots,
    /// Warps.
    Warps,
    /// Threads.
    Threads,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
}

impl Limit {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Limit::CtaSlots => "CTA slots",
            Limit::Warps => "warps",
            Limit::Threads => "threads",
            Limit::Registers => "registers",
            Limit::Shared => "shared",
        }
    }
}

/// CTAs per SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// CTAs that fit; 0: the kernel cannot run, because of `limit`.
    pub ctas: u32,
    /// What limits them (of several, the first in the order of [`Limit`]).
    pub limit: Limit,
    /// Warps of one CTA.
    pub warps_per_cta: u32,
}

/// CTAs of `threads` threads, each with `registers` registers, and `shared_bytes` of shared memory, that fit one SM.
/// Threads are counted in whole warps; registers are given per warp and shared memory per CTA, in the GPU's units.
pub fn occupancy(spec: &Spec, threads: u32, registers: u32, shared_bytes: u32) -> Occupancy {
    let warps = u64::from(threads.max(1)).div_ceil(32);
    let unit = u64::from(spec.register_unit.max(1));
    let registers = (u64::from(registers) * 32).div_ceil(unit).saturating_mul(unit).saturating_mul(warps);
    let shared = u64::from(shared_bytes).next_multiple_of(u64::from(spec.shared_unit_bytes.max(1)));
    let fit = |have: u32, need: u64| u64::from(have).checked_div(need).unwrap_or(u64::MAX);
    let limits = [
        (u64::from(spec.ctas_per_sm), Limit::CtaSlots),
        (fit(spec.warps_per_sm, warps), Limit::Warps),
        (fit(spec.threads_per_sm, warps * 32), Limit::Threads),
        (fit(spec.registers_per_sm, registers), Limit::Registers),
        (fit(spec.shared_bytes_per_sm, shared), Limit::Shared),
    ];
    let first = limits[0];
    let (ctas, limit) = limits.into_iter().fold(first, |least, next| if next.0 < least.0 { next } else { least });
    // At most `ctas_per_sm`, a u32.
    Occupancy { ctas: ctas as u32, limit, warps_per_cta: warps as u32 }
}
