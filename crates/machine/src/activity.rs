//! Counts that power is computed from: events, and residency in power states.
//!
//! Counters are cut into [`Sample`]s: at every sampling interval, at every V/f change and at the end of every kernel.
//! Everything in a sample happened at one V/f level per domain.

use serde::{Deserialize, Serialize};

macro_rules! events {
    ($(#[$meta:meta])* $name:ident, $count:ident: $($(#[doc = $doc:literal])* $variant:ident,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])* $variant,)* }

        impl $name {
            /// All events in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// The event's name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant),)* }
            }
            /// What is counted.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => concat!($($doc,)*).trim_ascii(),)* }
            }
        }
        /// How many events there are.
        pub const $count: usize = $name::ALL.len();
    };
}

events! {
    /// Events of one SM.
    SmEvent, SM_EVENTS:
    /// Instruction-cache accesses that hit.
    InstructionHit,
    /// Instruction-cache accesses that missed.
    InstructionMiss,
    /// Warp instructions decoded into the instruction buffer.
    Decoded,
    /// Warp instructions read from the instruction buffer at issue.
    BufferRead,
    /// Warp instructions issued.
    Issued,
    /// Lane reads of a 32-bit register.
    RegisterRead,
    /// Lane writes of a 32-bit register.
    RegisterWrite,
    /// Lane operands (32 bits) through the operand collectors.
    CollectorOperand,
    /// Immediate operands of issued warp instructions.
    Immediate,
    /// Lanes of warp instructions committed (the duty of the pipeline registers: committed lanes / 32 × result buses a cycle, at most 0.8; see `PipelineDuty`).
    CommittedLanes,
    /// Sum over cycles of min(committed lanes, 25.6 × result buses), in tenths of a lane: duty × 640 on the two buses of a GTX 480's SM.
    PipelineDuty,
    /// Integer lane operations other than multiplication and division.
    IntOp,
    /// 24-bit integer multiplications, lanes.
    IntMul24,
    /// 32-bit integer multiplications and multiply-adds, lanes (64-bit ones count two).
    IntMul32,
    /// Integer divisions and remainders, lanes.
    IntDiv,
    /// Single-precision additions, comparisons, lanes.
    FpAdd,
    /// Single-precision fused multiply-adds, lanes.
    FpFma,
    /// Single-precision multiplications, lanes.
    FpMul,
    /// Single-precision divisions, lanes.
    FpDiv,
    /// Double-precision additions, comparisons, lanes.
    DpAdd,
    /// Double-precision fused multiply-adds, lanes.
    DpFma,
    /// Double-precision multiplications, lanes.
    DpMul,
    /// Double-precision divisions and special functions, lanes.
    DpDiv,
    /// Sine and cosine, lanes.
    SfuSinCos,
    /// Square roots and reciprocals, lanes.
    SfuSqrt,
    /// Logarithms and exponentials, lanes.
    SfuLog,
    /// Lanes that were inactive in an integer warp instruction.
    IntInactive,
    /// Lanes that were inactive in a single-precision warp instruction.
    FpInactive,
    /// Load requests of the coalescer (transactions).
    LdstRead,
    /// Store and atomic requests of the coalescer (transactions).
    LdstWrite,
    /// Shared-memory array cycles (a conflict-free access takes one).
    SharedCycle,
    /// L1 data reads that hit.
    L1ReadHit,
    /// L1 data reads that missed.
    L1ReadMiss,
    /// L1 data writes that hit.
    L1WriteHit,
    /// L1 data writes that missed.
    L1WriteMiss,
    /// Constant-cache hits.
    ConstantHit,
    /// Constant-cache misses.
    ConstantMiss,
    /// Texture-cache hits.
    TextureHit,
    /// Texture-cache misses.
    TextureMiss,
    /// Crossbar flits sent by this SM.
    FlitOut,
    /// Crossbar flits received by this SM.
    FlitIn,
    /// Cycles in which this SM had no CTA.
    IdleCycle,
}

events! {
    /// Events of the memory side (all channels together).
    MemEvent, MEM_EVENTS:
    /// L2 reads that hit (32-byte sectors).
    L2ReadHit,
    /// L2 reads that missed.
    L2ReadMiss,
    /// L2 writes that hit.
    L2WriteHit,
    /// L2 writes that missed.
    L2WriteMiss,
    /// Crossbar flits, both directions.
    Flit,
    /// 32-byte reads through the memory controllers (half of the energy tables' 64-byte unit).
    DramRead32,
    /// 32-byte writes through the memory controllers.
    DramWrite32,
    /// Row activations (each with its precharge).
    Activate,
}

/// Power states of an execution-unit lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LaneState {
    On,
    IdleDetect,
    Gated,
    Waking,
    Blackout,
    Vs05,
    Vs03,
}

/// Number of lane states.
pub const LANE_STATES: usize = 7;

/// Lane-cycles of one execution-unit type of an SM by state, and gating events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneResidency {
    /// Lane-cycles per [`LaneState`].
    pub cycles: [u64; LANE_STATES],
    /// Transitions into `Gated`, `Vs05`, `Vs03` (lane events), by state entered. Entering a blackout is entering `Gated`.
    pub entries: [u64; LANE_STATES],
    /// Lanes that began to wake up, by the sleep state that they left.
    pub wakes: [u64; LANE_STATES],
    /// Lane-cycles in which an instruction entered the lane; known only under a policy on lanes.
    pub busy: u64,
}

impl LaneResidency {
    /// Adds another one's counts.
    pub fn add(&mut self, other: &LaneResidency) {
        for state in 0..LANE_STATES {
            self.cycles[state] += other.cycles[state];
            self.entries[state] += other.entries[state];
            self.wakes[state] += other.wakes[state];
        }
        self.busy += other.busy;
    }
}

/// One SM in one sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SmActivity {
    /// Event counts, indexed by [`SmEvent`].
    pub events: Vec<u64>,
    /// Core cycles of the sample.
    pub cycles: u64,
    /// Sum over these cycles of resident warps.
    pub warp_cycles: u64,
    /// Sum over these cycles of resident CTAs.
    pub cta_cycles: u64,
    /// INT lanes of the SP ports (ports × lanes of an SP).
    pub int: LaneResidency,
    /// FP lanes of the SP ports.
    pub fp: LaneResidency,
    /// SFU lanes.
    pub sfu: LaneResidency,
    /// Group-cycles of the fourteen pipeline components, powered and clocked.
    pub component_on: [u64; COMPONENTS],
    /// Group-cycles power-gated.
    pub component_gated: [u64; COMPONENTS],
    /// Group-cycles clock-gated.
    pub component_clock_gated: [u64; COMPONENTS],
    /// How often a group lost power.
    pub component_gatings: [u64; COMPONENTS],
    /// Cycles in which half of the register file was clock-gated: part of all three operand collectors was.
    pub register_file_halved: u64,
    /// Cycles × entries ([`crate::hooks::DatapathQuery::entries`]) in which the component held an instruction (blocked
    /// included). EX units are pipelines: an instruction holds its SP or SFU for the initiation interval, the known service
    /// time of µC-States' utilization law (§2.2), its LDST group while it makes transactions or is stopped by the L1.
    pub component_busy: [u64; COMPONENTS],
}

/// The fourteen pipeline components of µC-States (§2.2).
pub const COMPONENTS: usize = 14;

/// Their names, in order.
pub const COMPONENT_NAMES: [&str; COMPONENTS] = [
    "IFID",
    "SCH",
    "IDOC_SP",
    "IDOC_SFU",
    "IDOC_LDST",
    "OC_SP",
    "OC_SFU",
    "OC_LDST",
    "OCEX_SP",
    "OCEX_SFU",
    "OCEX_LDST",
    "EX_SP",
    "EX_SFU",
    "EX_LDST",
];

/// One span of time with constant V/f levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Start, femtoseconds of simulated time.
    pub start: u64,
    /// End.
    pub end: u64,
    /// Kernel launch number that the sample belongs to.
    pub launch: u32,
    /// SM clock, MHz (per chip: all SMs share one domain).
    pub core_mhz: f64,
    /// SM voltage relative to nominal.
    pub core_volts: f64,
    /// NoC and L2 clock, MHz.
    pub noc_mhz: f64,
    /// DRAM command clock, MHz.
    pub dram_mhz: f64,
    /// Memory-domain voltage relative to nominal.
    pub mem_volts: f64,
    /// Per SM.
    pub sms: Vec<SmActivity>,
    /// Memory side, indexed by [`MemEvent`].
    pub mem: Vec<u64>,
    /// V/f transitions that took effect at its end.
    pub transitions: u32,
}
