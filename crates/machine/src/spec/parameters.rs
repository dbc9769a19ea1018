//! The parameters of a GPU: fields, units, legal ranges, GPGPU-Sim's names for them.

use super::declare::{At, Choice, Facts, Kind, Node, Slot, Visitor, choices, number, parameters, plain};
use super::levels::{VfLevel, volts_at};
use crate::simd::SFU_LANES;
use serde::{Deserialize, Serialize};

/// Largest count or capacity that a parameter may have: far above any GPU, far below an overflow.
const MANY: f64 = 65_536.0;

/// A clock.
const CLOCK: Facts = number("MHz", 10.0, 10_000.0);
/// A latency.
const CYCLES: Facts = number("cycles", 0.0, 10_000.0);
/// A DRAM constraint.
const COMMANDS: Facts = number("command clocks", 0.0, 1000.0);

choices! {
    /// Warp scheduler.
    Scheduler {
        /// Loose round-robin.
        Lrr = "lrr",
        /// Greedy, then oldest.
        #[default]
        Gto = "gto",
        /// Two-level with an active set of warps; a warp leaves it on a long-latency stall (Origami's).
        TwoLevelActive = "two-level-active",
        /// Two-level with fetch groups, round-robin within, the group changes when all its warps stall (ITAP's).
        TwoLevelFetch = "two-level-fetch",
    }
}

choices! {
    /// How a cache maps a line address to a set.
    SetIndex {
        /// Low line-address bits.
        #[default]
        Linear = "linear",
        /// XOR hash of upper bits into the low ones.
        Hash = "hash",
        /// The XOR hash found in Fermi's 16 KiB L1: the five low bits with address bits 13, 14, 15, 17, 19.
        Fermi = "fermi",
    }
}

choices! {
    /// How power follows voltage and frequency. Dynamic power follows V²f in both.
    VfModel {
        /// Leakage ∝ V, voltage as the levels say (CRISP §4).
        #[default]
        Crisp = "crisp",
        /// Leakage does not change with the SM level (Equalizer §V-A).
        Equalizer = "equalizer",
    }
}

parameters! {
    /// An L1 cache of an SM, or the L2 of a sub-partition.
    CacheSpec {
        /// Sets (a power of two).
        sets: u32 = number("sets", 1.0, MANY).power_of_two();
        /// Ways.
        ways: u32 = number("ways", 1.0, 256.0);
        /// Line size in bytes; 128 in the L1 data cache and the L2.
        line_bytes: u32 = number("B", 32.0, 128.0).power_of_two();
        /// MSHR entries.
        mshrs: u32 = number("entries", 1.0, 4096.0);
        /// Requests merged per MSHR entry.
        mshr_merges: u32 = number("requests", 1.0, 1024.0);
        /// Entries of the queue in which misses wait for the crossbar, or in which accesses of the L2 wait for DRAM.
        miss_queue: u32 = number("entries", 1.0, 4096.0);
        /// Set index function.
        set_index: SetIndex = plain();
    }
}

impl CacheSpec {
    /// Capacity in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways) * u64::from(self.line_bytes)
    }
}

parameters! {
    /// Latency and initiation interval of an instruction class, in core cycles.
    #[derive(Copy, Eq)]
    OpTiming {
        /// Cycles from dispatch into the unit to its end; write-back is two cycles later.
        latency: u32 = number("core cycles", 1.0, 4096.0);
        /// Cycles between two dispatches into one unit.
        initiation: u32 = number("core cycles", 1.0, 4096.0);
    }
}

parameters! {
    /// Latencies by class.
    OpTimings {
        /// Moves, logic, shifts, comparisons, conversions.
        simple: OpTiming = plain();
        /// Integer addition.
        int_add: OpTiming = plain().alias("-ptx_opcode_latency_int");
        /// Integer minimum and maximum.
        int_minmax: OpTiming = plain().alias("-ptx_opcode_latency_int");
        /// Integer multiplication.
        int_mul: OpTiming = plain().alias("-ptx_opcode_latency_int");
        /// Integer multiply-add.
        int_mad: OpTiming = plain().alias("-ptx_opcode_latency_int");
        /// Integer division and remainder.
        int_div: OpTiming = plain().alias("-ptx_opcode_latency_int");
        /// Single-precision addition.
        fp_add: OpTiming = plain().alias("-ptx_opcode_latency_fp");
        /// Single-precision minimum and maximum.
        fp_minmax: OpTiming = plain().alias("-ptx_opcode_latency_fp");
        /// Single-precision multiplication.
        fp_mul: OpTiming = plain().alias("-ptx_opcode_latency_fp");
        /// Single-precision fused multiply-add.
        fp_fma: OpTiming = plain().alias("-ptx_opcode_latency_fp");
        /// Single-precision division.
        fp_div: OpTiming = plain().alias("-ptx_opcode_latency_fp");
        /// Double-precision addition.
        dp_add: OpTiming = plain().alias("-ptx_opcode_latency_dp");
        /// Double-precision minimum and maximum.
        dp_minmax: OpTiming = plain().alias("-ptx_opcode_latency_dp");
        /// Double-precision multiplication.
        dp_mul: OpTiming = plain().alias("-ptx_opcode_latency_dp");
        /// Double-precision fused multiply-add.
        dp_fma: OpTiming = plain().alias("-ptx_opcode_latency_dp");
        /// Double-precision division.
        dp_div: OpTiming = plain().alias("-ptx_opcode_latency_dp");
        /// Special functions.
        sfu: OpTiming = plain().alias("-ptx_opcode_latency_sfu");
        /// Branches, barriers and other control.
        control: OpTiming = plain();
    }
}

impl OpTimings {
    /// The timings of all classes.
    pub fn all(&self) -> [OpTiming; 18] {
        [
            self.simple,
            self.int_add,
            self.int_minmax,
            self.int_mul,
            self.int_mad,
            self.int_div,
            self.fp_add,
            self.fp_minmax,
            self.fp_mul,
            self.fp_fma,
            self.fp_div,
            self.dp_add,
            self.dp_minmax,
            self.dp_mul,
            self.dp_fma,
            self.dp_div,
            self.sfu,
            self.control,
        ]
    }
}

parameters! {
    /// GDDR5 timing in DRAM command clocks.
    DramTiming {
        /// Banks per channel.
        banks: u32 = number("banks", 1.0, 64.0).power_of_two();
        /// Bank groups per channel.
        bank_groups: u32 = number("groups", 1.0, 16.0).power_of_two();
        /// Column command to column command, different bank groups.
        ccd: u32 = number("command clocks", 1.0, 1000.0);
        /// Column command to column command, same bank group.
        ccdl: u32 = number("command clocks", 1.0, 1000.0);
        /// Activate to activate, different banks.
        rrd: u32 = COMMANDS;
        /// Activate to column command.
        rcd: u32 = COMMANDS;
        /// Activate to precharge of the same bank, at least.
        ras: u32 = COMMANDS;
        /// Precharge to activate.
        rp: u32 = COMMANDS;
        /// Activate to activate of the same bank.
        rc: u32 = COMMANDS;
        /// Read command to its first data.
        cl: u32 = COMMANDS;
        /// Write command to its first data.
        wl: u32 = COMMANDS;
        /// Last write data to a read command.
        cdlr: u32 = COMMANDS;
        /// Last write data to a precharge.
        wr: u32 = COMMANDS;
        /// Read command to a precharge.
        rtpl: u32 = COMMANDS;
    }
}

parameters! {
    /// Voltage and frequency levels, and what a change costs.
    DvfsSpec {
        /// How power follows voltage and frequency.
        model: VfModel = plain();
        /// SM-domain levels (core clock), nominal included.
        core_levels: Vec<VfLevel> = number("[MHz, relative V]", 0.0, 0.0);
        /// Memory-domain levels (DRAM command clock; crossbar and L2 clocks change in proportion), nominal included.
        mem_levels: Vec<VfLevel> = number("[MHz, relative V]", 0.0, 0.0);
        /// Time that a change takes, besides `transition_core_cycles`.
        transition_ns: f64 = number("ns", 0.0, 1e6);
        /// SM cycles (at the old clock) that a change takes, besides `transition_ns`.
        transition_core_cycles: u32 = number("core cycles", 0.0, 1e6);
        /// Energy of one change of a domain's level, besides the power drawn meanwhile.
        transition_nj: f64 = number("nJ", 0.0, 1e9);
        /// SMs issue nothing while their level changes; what is under way goes on.
        transition_halts: bool = plain();
    }
}

parameters! {
    /// Everything that describes a simulated GPU.
    Spec {
        /// Preset name.
        name: String = plain();
        /// Energy table that power is computed from.
        energy_table: String = plain();
        /// Streaming multiprocessors.
        sms: u32 = number("SMs", 1.0, 1024.0).alias("-gpgpu_n_clusters");
        /// SM clock, MHz.
        core_mhz: f64 = CLOCK.alias("-gpgpu_clock_domains");
        /// Crossbar clock, MHz.
        noc_mhz: f64 = CLOCK.alias("-gpgpu_clock_domains");
        /// L2 clock, MHz.
        l2_mhz: f64 = CLOCK.alias("-gpgpu_clock_domains");
        /// DRAM command clock, MHz.
        dram_mhz: f64 = CLOCK.alias("-gpgpu_clock_domains");
        /// Highest legal crossbar clock, MHz: sets the message window, the same for a whole run.
        noc_max_mhz: f64 = CLOCK;
        /// Warp schedulers per SM.
        schedulers: u32 = number("schedulers", 1.0, 16.0).alias("-gpgpu_num_sched_per_core");
        /// Scheduler.
        scheduler: Scheduler = plain().alias("-gpgpu_scheduler");
        /// Warps in the active set of one scheduler (`two-level-active`).
        active_set_warps: u32 = number("warps", 1.0, 64.0);
        /// Warps in a fetch group (`two-level-fetch`).
        fetch_group_warps: u32 = number("warps", 1.0, 64.0);
        /// SP ports per SM.
        sp_units: u32 = number("ports", 1.0, 16.0).alias("-gpgpu_num_sp_units");
        /// Lanes of an SP. With fewer than 32 it takes a warp in several cycles, that many threads in each.
        simd_width: u32 = number("lanes", 4.0, 32.0).power_of_two();
        /// SFU ports per SM.
        sfu_units: u32 = number("ports", 1.0, 16.0).alias("-gpgpu_num_sfu_units");
        /// Load/store ports per SM.
        ldst_units: u32 = number("ports", 1.0, 16.0);
        /// Fetch and decode units per SM, each for one warp a cycle.
        fetch_units: u32 = number("units", 1.0, 4.0);
        /// Threads per SM.
        threads_per_sm: u32 = number("threads", 32.0, 2048.0).alias("-gpgpu_shader_core_pipeline");
        /// Warps per SM (at most 64).
        warps_per_sm: u32 = number("warps", 1.0, 64.0);
        /// CTAs per SM.
        ctas_per_sm: u32 = number("CTAs", 1.0, 64.0).alias("-gpgpu_shader_cta");
        /// 32-bit registers per SM.
        registers_per_sm: u32 = number("registers", 1024.0, 1_048_576.0).alias("-gpgpu_shader_registers");
        /// Registers are given to a warp in multiples of this.
        register_unit: u32 = number("registers", 1.0, 4096.0);
        /// Shared memory per SM, bytes.
        shared_bytes_per_sm: u32 = number("B", 1024.0, 1_048_576.0).alias("-gpgpu_shmem_size");
        /// Shared memory is given to a CTA in multiples of this.
        shared_unit_bytes: u32 = number("B", 1.0, 65_536.0);
        /// Shared-memory banks (4 bytes wide).
        shared_banks: u32 = number("banks", 1.0, 32.0).power_of_two().alias("-gpgpu_shmem_num_banks");
        /// Register-file banks.
        register_banks: u32 = number("banks", 1.0, 64.0).power_of_two().alias("-gpgpu_num_reg_banks");
        /// Operand collector units for the SPs.
        collectors_sp: u32 = number("units", 1.0, 64.0).alias("-gpgpu_operand_collector_num_units_sp");
        /// Operand collector units for the SPs to each of their ports in and out, where a policy turns collectors off; an SP
        /// has a port of its own in any case.
        sp_collectors_per_port: u32 = number("units", 1.0, 64.0);
        /// Operand collector units for the SFU.
        collectors_sfu: u32 = number("units", 1.0, 64.0).alias("-gpgpu_operand_collector_num_units_sfu");
        /// Operand collector units for LDST.
        collectors_mem: u32 = number("units", 1.0, 64.0).alias("-gpgpu_operand_collector_num_units_mem");
        /// Warp instructions of SPs and SFUs that may write back in one cycle, at most one of each unit; LDST has a way of its own.
        result_buses: u32 = number("instructions", 1.0, 32.0).alias("-gpgpu_pipeline_widths");
        /// Instructions fetched at once for one warp = instruction-buffer entries per warp.
        ibuffer_entries: u32 = number("instructions", 1.0, 16.0);
        /// Bytes of one instruction in memory, for the instruction cache.
        instruction_bytes: u32 = number("B", 1.0, 32.0).power_of_two();
        /// L1 data cache.
        l1d: CacheSpec = plain().alias("-gpgpu_cache:dl1");
        /// Texture cache.
        l1t: CacheSpec = plain().alias("-gpgpu_tex_cache:l1");
        /// Constant cache.
        l1c: CacheSpec = plain().alias("-gpgpu_const_cache:l1");
        /// Instruction cache.
        l1i: CacheSpec = plain().alias("-gpgpu_cache:il1");
        /// One L2 sub-partition (32-byte sectors).
        l2: CacheSpec = plain().alias("-gpgpu_cache:dl2");
        /// L1 data hit latency, core cycles.
        l1_latency_cycles: u32 = number("core cycles", 1.0, 10_000.0).alias("-gpgpu_l1_latency");
        /// Shared-memory latency, core cycles.
        shared_latency_cycles: u32 = number("core cycles", 1.0, 10_000.0).alias("-gpgpu_smem_latency");
        /// Memory channels.
        channels: u32 = number("channels", 1.0, 64.0).alias("-gpgpu_n_mem");
        /// L2 sub-partitions per channel.
        sub_partitions: u32 = number("sub-partitions", 1.0, 8.0).power_of_two().alias("-gpgpu_n_sub_partition_per_mchannel");
        /// Bytes of consecutive addresses that stay in one channel.
        channel_interleave_bytes: u32 = number("B", 128.0, 65_536.0).power_of_two().alias("-gpgpu_mem_addr_mapping");
        /// One-way crossbar latency, NoC cycles (at least 8).
        noc_latency_cycles: u32 = number("NoC cycles", 8.0, 1000.0);
        /// Crossbar flit, bytes.
        noc_flit_bytes: u32 = number("B", 16.0, 256.0);
        /// Crossbar input buffer of an SM's port, flits. (Those of the L2 slices are `partition_queue`.)
        noc_buffer_flits: u32 = number("flits", 1.0, 4096.0);
        /// Extra L2-domain cycles between the crossbar and the L2 (the raster-operation path).
        rop_latency_cycles: u32 = CYCLES.alias("-gpgpu_l2_rop_latency");
        /// Extra L2-domain cycles of every DRAM access.
        dram_latency_cycles: u32 = CYCLES.alias("-dram_latency");
        /// Depth of the queues crossbar→L2 and L2→crossbar.
        partition_queue: u32 = number("entries", 1.0, 4096.0).alias("-gpgpu_dram_partition_queues");
        /// FR-FCFS queue per channel.
        dram_queue: u32 = number("entries", 1.0, 4096.0).alias("-gpgpu_frfcfs_dram_sched_queue_size");
        /// DRAM return queue per channel.
        dram_return_queue: u32 = number("entries", 1.0, 4096.0).alias("-gpgpu_dram_return_queue_size");
        /// DRAM bus width of a channel, bits.
        dram_bus_bits: u32 = number("bits", 8.0, 1024.0).power_of_two().alias("-gpgpu_dram_buswidth");
        /// Burst length, beats.
        dram_burst: u32 = number("beats", 1.0, 64.0).power_of_two().alias("-gpgpu_dram_burst_length");
        /// Data beats per command clock.
        dram_beats_per_clock: u32 = number("beats", 1.0, 16.0).power_of_two().alias("-dram_data_command_freq_ratio");
        /// 32-byte sectors of a burst that miss together share it. Off, each takes a whole burst, as in GPGPU-Sim.
        dram_merge_sectors: bool = plain();
        /// DRAM row size, bytes.
        dram_row_bytes: u32 = number("B", 256.0, 65_536.0).power_of_two();
        /// DRAM address map of the channel-local address, most significant bit first: R row, B bank, C column, S burst
        /// offset; spaces and underscores are ignored.
        dram_address_map: String = plain().alias("-gpgpu_mem_addr_mapping");
        /// DRAM timing.
        dram: DramTiming = plain().alias("-gpgpu_dram_timing_opt");
        /// Instruction timings.
        op: OpTimings = plain();
        /// CTAs of a launch's first wave that the dispatcher may start per core cycle; later ones start as room comes.
        cta_launches_per_cycle: u32 = number("CTAs", 1.0, 1024.0);
        /// Core cycles from a launch to its first CTA.
        launch_latency_cycles: u32 = number("core cycles", 0.0, 1e6).alias("-gpgpu_kernel_launch_latency");
        /// V/f levels.
        dvfs: DvfsSpec = plain();
    }
}

impl Spec {
    /// Bytes of one DRAM burst.
    pub fn burst_bytes(&self) -> u32 {
        self.dram_bus_bits / 8 * self.dram_burst
    }

    /// Relative voltage of the SM domain at a clock.
    pub fn core_volts(&self, mhz: f64) -> f64 {
        volts_at(&self.dvfs.core_levels, mhz)
    }

    /// Relative voltage of the memory domain at a DRAM command clock.
    pub fn mem_volts(&self, dram_mhz: f64) -> f64 {
        volts_at(&self.dvfs.mem_levels, dram_mhz)
    }

    /// Groups of each of the fourteen pipeline components of an SM, in the order of
    /// [`COMPONENT_NAMES`](crate::activity::COMPONENT_NAMES): what µC-States may tune down one by one, and what
    /// group-cycles are counted in.
    pub fn component_groups(&self) -> [u32; crate::activity::COMPONENTS] {
        let (sp, sfu, ldst) = (self.sp_units, self.sfu_units, self.ldst_units);
        [self.fetch_units, self.schedulers, sp, sfu, ldst, sp, sfu, ldst, sp, sfu, ldst, sp, sfu, ldst]
    }

    /// Lanes of an SM's INT (and FP) pipelines, and of its SFUs.
    pub fn lanes(&self) -> (u32, u32) {
        (self.simd_width * self.sp_units, SFU_LANES * self.sfu_units)
    }
}
