//! A GPU's parameters.

use serde::{Deserialize, Serialize};

/// Warp scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Loose round-robin.
    Lrr,
    /// Greedy, then oldest.
    Gto,
    /// Two-level with an active set of warps; a warp leaves it on a long-latency stall (Origami's).
    TwoLevelActive,
    /// Two-level with fetch groups, round-robin within, the group changes when all its warps stall (ITAP's).
    TwoLevelFetch,
}

/// How a cache maps a line address to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// Low line-address bits.
    Linear,
    /// XOR hash of upper bits into the low ones.
    Hash,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheSpec {
    /// Sets (a power of two).
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size in bytes.
    pub line_bytes: u32,
    /// MSHR entries.
    pub mshrs: u32,
    /// Requests merged per MSHR entry.
    pub mshr_merges: u32,
    /// Miss-queue entries.
    pub miss_queue: u32,
    /// Set index function.
    pub set_index: SetIndex,
}

/// Latency and initiation interval of an instruction class, in core cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpTiming {
    /// Cycles from dispatch into the unit to writeback.
    pub latency: u32,
    /// Cycles between two dispatches into one unit.
    pub initiation: u32,
}

/// Latencies by class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OpTimings {
    /// Moves, logic, shifts, comparisons, conversions.
    pub simple: OpTiming,
    pub int_add: OpTiming,
    pub int_minmax: OpTiming,
    pub int_mul: OpTiming,
    pub int_mad: OpTiming,
    pub int_div: OpTiming,
    pub fp_add: OpTiming,
    pub fp_minmax: OpTiming,
    pub fp_mul: OpTiming,
    pub fp_fma: OpTiming,
    pub fp_div: OpTiming,
    pub dp_add: OpTiming,
    pub dp_minmax: OpTiming,
    pub dp_mul: OpTiming,
    pub dp_fma: OpTiming,
    pub dp_div: OpTiming,
    pub sfu: OpTiming,
    pub control: OpTiming,
}

/// GDDR5 timing in DRAM command clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct DramTiming {
    pub banks: u32,
    pub bank_groups: u32,
    pub ccd: u32,
    pub ccdl: u32,
    pub rrd: u32,
    pub rcd: u32,
    pub ras: u32,
    pub rp: u32,
    pub rc: u32,
    pub cl: u32,
    pub wl: u32,
    pub cdlr: u32,
    pub wr: u32,
    pub rtpl: u32,
}

/// Everything that describes a simulated GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Preset name.
    pub name: String,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// SM clock, MHz.
    pub core_mhz: f64,
    /// Crossbar clock, MHz.
    pub noc_mhz: f64,
    /// L2 clock, MHz.
    pub l2_mhz: f64,
    /// DRAM command clock, MHz.
    pub dram_mhz: f64,
    /// Highest legal crossbar clock, MHz: sets the message window, the same for a whole run.
    pub noc_max_mhz: f64,
    /// Warp schedulers per SM.
    pub schedulers: u32,
    /// Scheduler.
    pub scheduler: Scheduler,
    /// Warps in the active set of one scheduler (`two-level-active`).
    pub active_set_warps: u32,
    /// Warps in a fetch group (`two-level-fetch`).
    pub fetch_group_warps: u32,
    /// SP ports per SM, each 32 lanes.
    pub sp_units: u32,
    /// SFU ports per SM.
    pub sfu_units: u32,
    /// Threads per SM.
    pub threads_per_sm: u32,
    /// Warps per SM (at most 64).
    pub warps_per_sm: u32,
    /// CTAs per SM.
    pub ctas_per_sm: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// Shared memory per SM, bytes.
    pub shared_bytes_per_sm: u32,
    /// Shared-memory banks (4 bytes wide).
    pub shared_banks: u32,
    /// Register-file banks.
    pub register_banks: u32,
    /// Operand collector units for the SPs, the SFU, LDST.
    pub collectors_sp: u32,
    /// See `collectors_sp`.
    pub collectors_sfu: u32,
    /// See `collectors_sp`.
    pub collectors_mem: u32,
    /// Warp instructions that may write back in one cycle.
    pub result_buses: u32,
    /// Instructions fetched at once for one warp = instruction-buffer entries per warp.
    pub ibuffer_entries: u32,
    /// Bytes of one instruction in memory, for the instruction cache.
    pub instruction_bytes: u32,
    /// L1 data cache.
    pub l1d: CacheSpec,
    /// Texture cache.
    pub l1t: CacheSpec,
    /// Constant cache.
    pub l1c: CacheSpec,
    /// Instruction cache.
    pub l1i: CacheSpec,
    /// One L2 sub-partition (32-byte sectors).
    pub l2: CacheSpec,
    /// L1 data hit latency, core cycles.
    pub l1_latency_cycles: u32,
    /// Shared-memory latency, core cycles.
    pub shared_latency_cycles: u32,
    /// Memory channels.
    pub channels: u32,
    /// L2 sub-partitions per channel.
    pub sub_partitions: u32,
    /// Bytes of consecutive addresses that stay in one channel.
    pub channel_interleave_bytes: u32,
    /// One-way crossbar latency, NoC cycles (at least 8).
    pub noc_latency_cycles: u32,
    /// Crossbar flit, bytes.
    pub noc_flit_bytes: u32,
    /// Crossbar input buffer per port, flits.
    pub noc_buffer_flits: u32,
    /// Extra L2-domain cycles between the crossbar and the L2 (the raster-operation path).
    pub rop_latency_cycles: u32,
    /// Extra L2-domain cycles of every DRAM access.
    pub dram_latency_cycles: u32,
    /// Depth of the queues crossbar→L2, L2→DRAM, DRAM→L2, L2→crossbar.
    pub partition_queue: u32,
    /// FR-FCFS queue per channel.
    pub dram_queue: u32,
    /// DRAM return queue per channel.
    pub dram_return_queue: u32,
    /// DRAM bus width of a channel, bits.
    pub dram_bus_bits: u32,
    /// Burst length, beats.
    pub dram_burst: u32,
    /// Data beats per command clock.
    pub dram_beats_per_clock: u32,
    /// DRAM row size, bytes.
    pub dram_row_bytes: u32,
    /// DRAM address map of the channel-local address, most significant bit first: R row, B bank, C column, S burst
    /// offset; spaces and underscores are ignored.
    pub dram_address_map: String,
    /// DRAM timing.
    pub dram: DramTiming,
    /// Instruction timings.
    pub op: OpTimings,
    /// CTAs that the dispatcher may start per core cycle.
    pub cta_launches_per_cycle: u32,
    /// Core cycles from a launch to its first CTA.
    pub launch_latency_cycles: u32,
}
