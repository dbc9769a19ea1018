//! What a user may ask of a run besides the GPU itself.

/// How to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Host threads for one simulation (0 is taken as 1). Results do not depend on it.
    pub threads: usize,
    /// Step every cycle instead of skipping those in which nothing can happen. Results do not depend on it.
    pub no_skip: bool,
    /// Cut an activity sample every so many core cycles.
    pub sample_cycles: Option<u64>,
    /// End the run at this core cycle.
    pub max_cycles: Option<u64>,
    /// SM clock at the start, MHz: one of the GPU's levels. Nominal if absent.
    pub core_mhz: Option<f64>,
    /// DRAM command clock at the start, MHz: one of the GPU's levels. Nominal if absent.
    pub dram_mhz: Option<f64>,
    /// Registers per thread, instead of the estimate, for occupancy.
    pub registers: Option<u32>,
}

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Simulated time, femtoseconds.
    pub time: u64,
    /// Core cycles since the run began.
    pub cycles: u64,
    /// Warp instructions issued since the run began.
    pub warp_instructions: u64,
    /// Launches completed.
    pub launches: u32,
    /// CTAs of the present launch that have ended.
    pub ctas_done: u64,
    /// CTAs of the present launch.
    pub ctas: u64,
}

/// An observer's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Return to the host at the next window boundary, so that the state can be saved; then go on.
    Checkpoint,
    /// End the run.
    Stop,
}
