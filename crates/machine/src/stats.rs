//! What a run counts, launch by launch, and how it ended. Every counter is declared once, with its meaning.

use crate::activity::Sample;
use serde::{Deserialize, Serialize};
use warpwatt_simt::device::Dim3;

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident $(= $alias:literal)?,)*) => {
        /// Event counters of one launch, summed over SMs or memory channels.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counters { $($(#[doc = $doc])* pub $name: u64,)* }

        impl Counters {
            /// Adds another set of counters.
            pub fn add(&mut self, other: &Counters) { $(self.$name += other.$name;)* }
            /// Name, value, meaning, and the established simulator's name for it (empty if it has none).
            pub fn list(&self) -> Vec<(&'static str, u64, &'static str, &'static str)> {
                vec![$((stringify!($name), self.$name, concat!($($doc,)*).trim_ascii(), concat!($($alias)?)),)*]
            }
        }
    };
}

counters! {
    /// Warp instructions issued, those with no lane left by the guard included.
    warp_instructions = "gpgpu_n_tot_w_icount",
    /// Thread instructions: lanes whose guard holds.
    thread_instructions = "gpu_sim_insn",
    /// CTAs completed.
    ctas,
    /// Sum over SMs and cycles of resident warps.
    resident_warp_cycles,
    /// Sum over SMs of cycles with at least one CTA.
    active_sm_cycles,
    /// L1 data reads (transactions), those that bypass it included.
    l1d_reads = "L1D_cache_total_accesses",
    /// L1 data reads that missed (merged in an MSHR, and bypassing, included).
    l1d_read_misses = "L1D_cache_total_misses",
    /// L1 data writes and atomics (transactions; all but hits of local memory go on to the L2).
    l1d_writes,
    /// L1 data writes that found their line.
    l1d_write_hits,
    /// Local-memory transactions (reads and writes).
    local_transactions,
    /// L1 stall cycles: no replaceable line.
    l1d_stall_line,
    /// L1 stall cycles: no MSHR, or no merge slot left in it.
    l1d_stall_mshr,
    /// L1 stall cycles: miss queue or crossbar input full.
    l1d_stall_queue,
    /// Constant-cache accesses.
    constant_accesses,
    /// Constant-cache misses.
    constant_misses,
    /// Texture-cache accesses.
    texture_accesses,
    /// Texture-cache misses.
    texture_misses,
    /// Instruction-cache accesses.
    instruction_accesses,
    /// Instruction-cache misses.
    instruction_misses,
    /// Shared-memory warp accesses.
    shared_accesses,
    /// Extra cycles of shared memory due to bank conflicts.
    shared_conflict_cycles,
    /// Register-bank conflicts: operand reads delayed by a cycle.
    register_bank_conflicts,
    /// Sum of read latencies seen by L1 misses, core cycles from miss to last sector.
    memory_latency_sum,
    /// Number of reads in `memory_latency_sum`.
    memory_latency_count,
    /// Barriers passed (warps).
    barrier_waits,
    /// Crossbar flits SM to memory.
    flits_to_memory,
    /// Crossbar flits memory to SM.
    flits_to_sm,
    /// L2 accesses (32-byte sectors), reads, writes and atomics.
    l2_accesses = "L2_total_cache_accesses",
    /// L2 accesses that missed.
    l2_misses = "L2_total_cache_misses",
    /// L2 write-backs to DRAM (32-byte sectors).
    l2_writebacks,
    /// DRAM reads, 32 bytes.
    dram_reads,
    /// DRAM writes, 32 bytes.
    dram_writes,
    /// DRAM column accesses that found their row open.
    dram_row_hits,
    /// DRAM activations.
    dram_activations,
    /// DRAM command clocks in which data moved, summed over channels.
    dram_busy_clocks,
    /// DRAM command clocks, summed over channels.
    dram_clocks,
}

macro_rules! slots {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// What became of an issue slot (one per scheduler and core cycle). When nothing issues, the first cause in
        /// this order that any of the scheduler's warps has: the cause that would have gone away soonest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Slot { $($(#[doc = $doc])* $name,)* }
        impl Slot {
            /// All in order of precedence.
            pub const ALL: &'static [Slot] = &[$(Slot::$name,)*];
            /// Label for tables.
            pub fn label(self) -> &'static str { match self { $(Slot::$name => $label,)* } }
        }
        /// Number of slot kinds.
        pub const SLOTS: usize = Slot::ALL.len();
    };
}

slots! {
    /// A warp instruction issued.
    Issued = "issued",
    /// A warp was ready, but its execution port (SP or SFU) was taken.
    Structural = "execution port busy",
    /// A warp was ready with a memory instruction, but the load/store port was taken.
    MemoryPort = "load/store port busy",
    /// A warp waited for an arithmetic result.
    Arithmetic = "arithmetic dependency",
    /// A warp's instruction buffer was empty: fetch or decode under way, instruction-cache miss included.
    Fetch = "instruction fetch",
    /// A warp waited for a load or a texture fetch.
    Memory = "memory dependency",
    /// A warp waited at a fence or for its atomics (with one under way it issues nothing), or slept (`nanosleep`).
    Fence = "fence or atomic order",
    /// All that is left waits at a barrier.
    Barrier = "barrier",
    /// Warps finished, but stores or other warps of their CTA still out.
    Drain = "draining",
    /// A policy held back what was ready, or has paused all that is left; with a two-level scheduler also: ready warps outside
    /// its active set.
    Policy = "held by policy",
    /// The scheduler has no warp.
    Empty = "no warp",
    /// None of the above.
    Other = "other",
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ending {
    /// Ran to its end.
    Completed,
    /// The program did something illegal.
    Fault {
        /// The whole message: what, kernel, source line, CTA, thread, address.
        message: String,
        /// Line of the PTX text (1-based).
        line: u32,
    },
    /// Nothing can ever happen again.
    Deadlock {
        /// Who waits for whom.
        message: String,
    },
    /// `--max-cycles` reached.
    CycleLimit {
        /// The limit.
        cycles: u64,
    },
    /// Stopped from outside.
    Interrupted,
    /// An audit found a miscount: a mistake in the simulator.
    AuditFailed {
        /// Which one.
        message: String,
    },
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchStats {
    /// Kernel name.
    pub kernel: String,
    /// Grid.
    pub grid: Dim3,
    /// Block.
    pub block: Dim3,
    /// Registers per thread that occupancy was computed with.
    pub registers_per_thread: u32,
    /// Shared memory per CTA, bytes, static and dynamic.
    pub shared_bytes: u32,
    /// CTAs that fit an SM, and what limits them (`threads`, `registers`, `shared`, `CTA slots`, `warps`).
    pub ctas_per_sm: u32,
    /// See `ctas_per_sm`.
    pub occupancy_limit: String,
    /// Core cycles.
    pub cycles: u64,
    /// Core cycles in which some SM was really stepped (equals SMs × cycles with skipping off).
    pub stepped_sm_cycles: u64,
    /// Start, femtoseconds.
    pub start: u64,
    /// End, femtoseconds.
    pub end: u64,
    /// Issue slots by [`Slot`], summed over SMs.
    pub slots: Vec<u64>,
    /// Counters.
    pub counters: Counters,
}

/// What a governor decided when it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When, femtoseconds.
    pub time: u64,
    /// Core cycle.
    pub cycle: u64,
    /// Launch.
    pub launch: u32,
    /// SM clock ordered, MHz: in force after the transition.
    pub core_mhz: f64,
    /// DRAM command clock ordered, MHz.
    pub dram_mhz: f64,
    /// The most CTAs that may run on each SM from now on.
    pub cta_limits: Vec<u32>,
    /// Its reasons: numbers by name.
    pub notes: Vec<(String, f64)>,
}

/// Everything that a run produced, host timings apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStats {
    /// How it ended.
    pub ending: Ending,
    /// Launches in order.
    pub launches: Vec<LaunchStats>,
    /// Activity in time order.
    pub samples: Vec<Sample>,
    /// What a governor decided, in time order.
    pub decisions: Vec<Decision>,
    /// Text printed by kernels, in order.
    pub printed: Vec<String>,
}
