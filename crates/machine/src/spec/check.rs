//! Rules that hold between parameters, each with a name.

use super::error::Problem;
use super::parameters::Spec;
use crate::memory::MAX_PORTS;

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal,)*) => {
        /// A rule between parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $($(#[doc = $doc])* $name,)* }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];
            /// Its name in diagnostics.
            pub fn code(self) -> &'static str { match self { $(Rule::$name => concat!("gpu::rule::", $code),)* } }
            /// The rule in words.
            pub fn meaning(self) -> &'static str {
                match self { $(Rule::$name => concat!($($doc,)*).trim_ascii(),)* }
            }
        }
    };
}

rules! {
    /// The GPU and its energy table have names, of letters, digits, `-`, `_` and `.`.
    Name = "name",
    /// Threads fit the warps.
    Threads = "threads",
    /// Every scheduler has a warp.
    Schedulers = "schedulers",
    /// A fetch group is no larger than the SM.
    FetchGroup = "fetch-group",
    /// All operand collectors have a bit in a word.
    Collectors = "collectors",
    /// Registers for at least one warp of 64 registers a thread.
    Registers = "registers",
    /// Shared memory for at least one allocation unit.
    Shared = "shared",
    /// One fetch fits an instruction-cache line.
    FetchLine = "fetch-line",
    /// Data is coalesced into 128-byte segments.
    DataLine = "data-line",
    /// The L2 has lines of four 32-byte sectors.
    L2Line = "l2-line",
    /// The longest packet fits the crossbar's input buffer.
    NocBuffer = "noc-buffer",
    /// The crossbar has a port for every SM and every L2 sub-partition.
    NocPorts = "noc-ports",
    /// The crossbar never runs faster than the message window allows.
    NocClock = "noc-clock",
    /// The SM clock has a voltage.
    CoreClock = "core-clock",
    /// The DRAM clock has a voltage.
    MemoryClock = "memory-clock",
    /// A DRAM access is one or more 32-byte sectors, within a row.
    DramBurst = "dram-burst",
    /// A burst takes at least one command clock.
    DramBeats = "dram-beats",
    /// Column commands are no closer within a bank group than across groups.
    DramColumn = "dram-column",
    /// A row stays open for a column command and closes within the row cycle.
    DramRow = "dram-row",
    /// Every bank group has a bank.
    DramBanks = "dram-banks",
    /// The address map is made of R, B, C, S and 0.
    MapLetters = "address-map-letters",
    /// The address map has at least a row bit and at most 64 bits.
    MapLength = "address-map-length",
    /// The address map has as many bank bits as the banks need.
    MapBanks = "address-map-banks",
    /// The address map's column and offset bits cover a row.
    MapRow = "address-map-row",
    /// The address map's offset bits cover a burst.
    MapBurst = "address-map-burst",
    /// The address map keeps bursts together in its lowest bits, and lines together in a sub-partition.
    MapLine = "address-map-line",
    /// Every L2 sub-partition has a bank.
    SubPartitions = "sub-partitions",
}

/// A broken rule and the parameters that break it.
pub(super) struct Broken {
    pub(super) names: &'static [&'static str],
    pub(super) problem: Problem,
}

/// Bytes of a packet's header in the crossbar.
const HEADER_BYTES: u32 = 8;

type Outcome = Result<(), Broken>;

fn require(
    holds: bool,
    rule: Rule,
    names: &'static [&'static str],
    message: impl FnOnce() -> String,
    help: impl FnOnce() -> String,
) -> Outcome {
    if holds {
        return Ok(());
    }
    Err(Broken { names, problem: Problem::Inconsistent { rule, message: message(), help: help() } })
}

/// Holds the parameters against each other; the first broken rule, if any.
pub(super) fn check(spec: &Spec) -> Outcome {
    names(spec)?;
    sm(spec)?;
    caches(spec)?;
    clocks(spec)?;
    dram(spec)?;
    address_map(spec)
}

fn names(spec: &Spec) -> Outcome {
    let good = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
    };
    require(
        good(&spec.name) && good(&spec.energy_table),
        Rule::Name,
        &["name", "energy_table"],
        || format!("`name` = \"{}\" or `energy_table` = \"{}\" is no name", spec.name, spec.energy_table),
        || "use letters, digits, `-`, `_` and `.`".to_owned(),
    )
}

fn sm(spec: &Spec) -> Outcome {
    require(
        spec.threads_per_sm <= 32 * spec.warps_per_sm,
        Rule::Threads,
        &["threads_per_sm", "warps_per_sm"],
        || format!("{} threads do not fit {} warps of 32", spec.threads_per_sm, spec.warps_per_sm),
        || format!("threads_per_sm at most {}", 32 * spec.warps_per_sm),
    )?;
    require(
        spec.schedulers <= spec.warps_per_sm,
        Rule::Schedulers,
        &["schedulers", "warps_per_sm"],
        || format!("{} schedulers share {} warps", spec.schedulers, spec.warps_per_sm),
        || "at least one warp for each scheduler".to_owned(),
    )?;
    require(
        spec.fetch_group_warps <= spec.warps_per_sm,
        Rule::FetchGroup,
        &["fetch_group_warps", "warps_per_sm"],
        || format!("a fetch group of {} warps in an SM of {}", spec.fetch_group_warps, spec.warps_per_sm),
        || format!("fetch_group_warps at most {}", spec.warps_per_sm),
    )?;
    let collectors = spec.collectors_sp + spec.collectors_sfu + spec.collectors_mem;
    require(
        collectors <= 63,
        Rule::Collectors,
        &["collectors_sp", "collectors_sfu", "collectors_mem"],
        || format!("{collectors} operand collectors in an SM"),
        || "at most 63 together".to_owned(),
    )?;
    require(
        spec.registers_per_sm >= (64 * 32u32).next_multiple_of(spec.register_unit),
        Rule::Registers,
        &["registers_per_sm", "register_unit"],
        || format!("{} registers are too few for one warp", spec.registers_per_sm),
        || "a warp of 64 registers a thread takes 2048, rounded up to `register_unit`".to_owned(),
    )?;
    require(
        spec.shared_unit_bytes <= spec.shared_bytes_per_sm,
        Rule::Shared,
        &["shared_unit_bytes", "shared_bytes_per_sm"],
        || format!("{} B of shared memory are less than one unit", spec.shared_bytes_per_sm),
        || format!("shared_unit_bytes at most {}", spec.shared_bytes_per_sm),
    )
}

fn caches(spec: &Spec) -> Outcome {
    let fetch = spec.ibuffer_entries * spec.instruction_bytes;
    require(
        fetch <= spec.l1i.line_bytes,
        Rule::FetchLine,
        &["ibuffer_entries", "instruction_bytes", "l1i.line_bytes"],
        || format!("a fetch of {fetch} B does not fit a line of {} B", spec.l1i.line_bytes),
        || "ibuffer_entries × instruction_bytes at most l1i.line_bytes".to_owned(),
    )?;
    require(
        spec.l1d.line_bytes == 128,
        Rule::DataLine,
        &["l1d.line_bytes"],
        || format!("an L1 data line of {} B", spec.l1d.line_bytes),
        || "accesses are coalesced into 128-byte segments: l1d.line_bytes must be 128".to_owned(),
    )?;
    require(
        spec.l2.line_bytes == 128,
        Rule::L2Line,
        &["l2.line_bytes"],
        || format!("an L2 line of {} B", spec.l2.line_bytes),
        || "an L2 line is four 32-byte sectors: l2.line_bytes must be 128".to_owned(),
    )?;
    let slices = spec.channels * spec.sub_partitions;
    require(
        spec.sms <= MAX_PORTS && slices <= MAX_PORTS,
        Rule::NocPorts,
        &["sms", "channels", "sub_partitions"],
        || format!("{} SMs and {slices} L2 sub-partitions on the crossbar", spec.sms),
        || format!("at most {MAX_PORTS} SMs, and at most {MAX_PORTS} for channels × sub_partitions"),
    )?;
    let packet = (HEADER_BYTES + 128).div_ceil(spec.noc_flit_bytes);
    require(
        packet <= spec.noc_buffer_flits,
        Rule::NocBuffer,
        &["noc_flit_bytes", "noc_buffer_flits"],
        || format!("a packet of {packet} flits does not fit a buffer of {}", spec.noc_buffer_flits),
        || format!("noc_buffer_flits at least {packet}, or wider flits"),
    )
}

fn clocks(spec: &Spec) -> Outcome {
    let top = |levels: &[super::VfLevel]| levels.last().map_or(0.0, |level| level.mhz);
    let core = top(&spec.dvfs.core_levels);
    require(
        spec.core_mhz <= core,
        Rule::CoreClock,
        &["core_mhz", "dvfs.core_levels"],
        || format!("`core_mhz` = {} is above the highest V/f level, {core} MHz", spec.core_mhz),
        || "which voltage would it need? Add a level to dvfs.core_levels".to_owned(),
    )?;
    let memory = top(&spec.dvfs.mem_levels);
    require(
        spec.dram_mhz <= memory,
        Rule::MemoryClock,
        &["dram_mhz", "dvfs.mem_levels"],
        || format!("`dram_mhz` = {} is above the highest V/f level, {memory} MHz", spec.dram_mhz),
        || "which voltage would it need? Add a level to dvfs.mem_levels".to_owned(),
    )?;
    let fastest = spec.noc_mhz * (memory / spec.dram_mhz);
    require(
        fastest <= spec.noc_max_mhz * (1.0 + 1e-9),
        Rule::NocClock,
        &["noc_max_mhz", "noc_mhz", "dvfs.mem_levels", "dram_mhz"],
        || {
            format!(
                "the crossbar would run at {fastest} MHz at the memory level of {memory} MHz, above `noc_max_mhz` = {}",
                spec.noc_max_mhz
            )
        },
        || format!("the crossbar follows the DRAM clock: noc_max_mhz at least {fastest}, or lower levels"),
    )
}

fn dram(spec: &Spec) -> Outcome {
    let dram = &spec.dram;
    let burst = spec.burst_bytes();
    require(
        burst >= 32 && burst <= spec.dram_row_bytes,
        Rule::DramBurst,
        &["dram_bus_bits", "dram_burst", "dram_row_bytes"],
        || format!("a burst of {burst} B in rows of {} B", spec.dram_row_bytes),
        || "dram_bus_bits / 8 × dram_burst must be at least 32 B and at most a row".to_owned(),
    )?;
    require(
        spec.dram_beats_per_clock <= spec.dram_burst,
        Rule::DramBeats,
        &["dram_beats_per_clock", "dram_burst"],
        || format!("{} beats a clock in bursts of {}", spec.dram_beats_per_clock, spec.dram_burst),
        || format!("dram_beats_per_clock at most {}", spec.dram_burst),
    )?;
    require(
        dram.ccd <= dram.ccdl,
        Rule::DramColumn,
        &["dram.ccd", "dram.ccdl"],
        || format!("dram.ccd = {} is longer than dram.ccdl = {}", dram.ccd, dram.ccdl),
        || "commands to one bank group are further apart than to different ones".to_owned(),
    )?;
    require(
        dram.rcd <= dram.ras && dram.ras + dram.rp <= dram.rc,
        Rule::DramRow,
        &["dram.rc", "dram.ras", "dram.rp", "dram.rcd"],
        || format!("RCD {}, RAS {}, RP {} do not fit RC {}", dram.rcd, dram.ras, dram.rp, dram.rc),
        || "RCD ≤ RAS and RAS + RP ≤ RC".to_owned(),
    )?;
    require(
        dram.bank_groups <= dram.banks,
        Rule::DramBanks,
        &["dram.bank_groups", "dram.banks"],
        || format!("{} bank groups of {} banks", dram.bank_groups, dram.banks),
        || format!("dram.bank_groups at most {}", dram.banks),
    )?;
    require(
        spec.sub_partitions <= dram.banks,
        Rule::SubPartitions,
        &["sub_partitions", "dram.banks"],
        || format!("{} sub-partitions share {} banks", spec.sub_partitions, dram.banks),
        || "a sub-partition is chosen by the lowest bank bits".to_owned(),
    )
}

fn address_map(spec: &Spec) -> Outcome {
    const NAMES: &[&str] = &["dram_address_map"];
    let map: String = spec.dram_address_map.chars().filter(|letter| !" _".contains(*letter)).collect();
    let stray = map.chars().find(|letter| !"RBCS0".contains(*letter));
    require(
        stray.is_none(),
        Rule::MapLetters,
        NAMES,
        || format!("`dram_address_map` has a `{}`", stray.unwrap_or_default()),
        || "R row, B bank, C column, S burst offset, 0 unused; spaces and underscores are ignored".to_owned(),
    )?;
    let count = |letters: &str| map.chars().filter(|letter| letters.contains(*letter)).count() as u32;
    require(
        count("R") >= 1 && map.len() <= 64,
        Rule::MapLength,
        NAMES,
        || format!("`dram_address_map` has {} bits, {} of them row bits", map.len(), count("R")),
        || "at least one row bit, at most 64 bits".to_owned(),
    )?;
    let field = |rule, names, letters: &str, what: &str, size: u32| {
        let (have, need) = (count(letters), size.ilog2());
        require(
            have == need,
            rule,
            names,
            || format!("`dram_address_map` has {have} {what} bits, but {size} needs {need}"),
            || format!("{need} bits of {letters}"),
        )
    };
    field(Rule::MapBanks, &["dram_address_map", "dram.banks"], "B", "bank", spec.dram.banks)?;
    field(Rule::MapBurst, &["dram_address_map", "dram_burst"], "S", "offset", spec.burst_bytes())?;
    // Bits from the lowest up; the first bank bits choose the sub-partition.
    let bits: Vec<char> = map.chars().rev().collect();
    let offset = spec.burst_bytes().ilog2() as usize;
    let bank = bits.iter().position(|&letter| letter == 'B').unwrap_or(0);
    require(
        bits.iter().take(offset).all(|&letter| letter == 'S') && (bank >= 7 || spec.sub_partitions == 1),
        Rule::MapLine,
        NAMES,
        || "`dram_address_map` tears a burst or a 128-byte line apart".to_owned(),
        || format!("S in the lowest {offset} bits, and no B in the lowest 7"),
    )?;
    field(Rule::MapRow, &["dram_address_map", "dram_row_bytes"], "CS", "column and offset", spec.dram_row_bytes)
}
