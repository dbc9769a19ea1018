//! The command line.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use warpwatt_power::LeakageSplit;

/// A GPU simulator for people who study GPU power: real PTX kernels, cycle by cycle, with joules.
#[derive(Debug, Parser)]
#[command(name = "warpwatt", version, max_term_width = 110, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Reads the command line. A negative number after an option is its value, so that what is said of it is what is wrong
/// with it: its range, rather than that there is no option `-5`.
pub fn parse() -> Result<Cli, clap::Error> {
    let negative = |arg: clap::Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let command = Cli::command().mut_subcommands(|command| command.mut_args(negative));
    Cli::from_arg_matches(&command.try_get_matches()?)
}

/// Reads a whole number from `least` upwards.
fn at_least(least: u64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match text.parse::<i128>().map(u64::try_from) {
        Ok(Ok(number)) if number >= least => Ok(number),
        Ok(_) => Err(format!("{text} is not in {least}..={}", u64::MAX)),
        Err(_) => Err(format!("no whole number in {least}..={}", u64::MAX)),
    }
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workload of the suite, a launch description (.toml), or a PTX file (.ptx)
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Compare policies: time, leakage saved, energy, against their papers' baselines; writes an HTML report
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Say which component of the pipeline limits a kernel, and what half or twice of it would do
    Bottleneck(Box<BottleneckArgs>),
    /// Say how idle the execution units are, and what could be saved at most
    Idle(IdleArgs),
    /// Predict run times at other SM clocks with CRISP and its rivals, from one run; --verify says how right they are
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(PredictArgs),
    /// Run several applications at once, each on SMs of its own, against each alone on the whole GPU
    #[command(after_help = MIX_EXAMPLES)]
    Mix(Box<MixArgs>),
    /// Go on with an interrupted run from its last checkpoint
    Resume(ResumeArgs),
    /// Say of each kernel of PTX files whether it can run, and what it needs
    #[command(after_help = "Exit code: 0 if every kernel can run, 1 if some cannot, 2 if a file is no PTX.")]
    Check(CheckArgs),
    /// List the workloads of the suite
    List(JsonArgs),
    /// List the GPUs
    Gpus(JsonArgs),
    /// Show every parameter of a GPU with value, unit, meaning and source
    Show(ShowArgs),
    /// List the policies, or show one with its paper, hooks and parameters
    Policies(PoliciesArgs),
    /// Print the JSON schema of launch descriptions or GPU files, for an editor
    Schema(SchemaArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  warpwatt run sgemm
  warpwatt run bfs --size full --gpu kepler-big --set core_mhz=600 --out results/bfs
  warpwatt run hotspot --policy cpg --set cpg.wake_up=9
  warpwatt run my.toml --json
  warpwatt run my.ptx --kernel saxpy --grid 64 --block 256 --arg u32:16384 --arg f32:2 \\
      --arg buf:f32:16384:uniform --arg buf:f32:16384:iota

Exit code: 0 fine; 1 the run failed (fault, deadlock, limit, wrong results, interrupted, audit); 2 the input is wrong.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  warpwatt compare hotspot
  warpwatt compare hotspot bfs srad --policies cpg,origami --size full
  warpwatt compare heartwall --policies itap-pow,itap-pow:peek_ahead=false,itap-ideal
  warpwatt compare transpose sgemm --policies c-half,ucstates --leakage area
  warpwatt compare all --policies all --gpu gtx480 --set cpg.wake_up=9 --csv > table.csv

Exit code: 0 fine; 1 a run failed, or interrupted (the same command goes on); 2 the input is wrong.";

const PREDICT_EXAMPLES: &str = "\
Examples:
  warpwatt predict gaussian
  warpwatt predict gaussian bfs hotspot --size full --verify --html predict.html
  warpwatt predict my.toml --gpu c2050 --verify --json";

const MIX_EXAMPLES: &str = "\
Examples:
  warpwatt mix BlackScholes sgemm
  warpwatt mix BlackScholes sgemm sad --partition 8,4,4 --gpu kepler-big
  warpwatt mix BlackScholes sgemm --cores big --cores c-half --hetero
  warpwatt mix sgemm NN --cores big:4,c-half:12 --partition kinds --map order

Exit code: 0 fine; 1 a run failed (fault, deadlock, limit, wrong results, interrupted, audit); 2 the input is wrong.";

/// Splits of the leakage among components.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Leakage {
    /// The GPU's own: `area` for kepler-big and kepler-small, `origami` for the others
    Default,
    /// So that about half of the execution units' energy is static (Origami)
    Origami,
    /// In proportion to area (µC-States)
    Area,
    /// As GPUWattch's McPAT reports it
    Mcpat,
}

impl From<Leakage> for LeakageSplit {
    fn from(leakage: Leakage) -> LeakageSplit {
        match leakage {
            Leakage::Default => LeakageSplit::Default,
            Leakage::Origami => LeakageSplit::Origami,
            Leakage::Area => LeakageSplit::Area,
            Leakage::Mcpat => LeakageSplit::Mcpat,
        }
    }
}

/// Energies of arithmetic.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Energies {
    /// GPUWattch's fitted figures
    Gpuwattch,
    /// From published 45 nm figures of the operations
    Physical,
}

/// Input sizes of workloads.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Size {
    /// Seconds
    Small,
    /// Minutes
    Full,
}

/// Warp schedulers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Scheduler {
    /// Loose round-robin
    Lrr,
    /// Greedy, then oldest
    Gto,
    /// Two-level with an active set
    TwoLevelActive,
    /// Two-level with fetch groups
    TwoLevelFetch,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A workload's name, a launch description (.toml) or a PTX file (.ptx)
    pub program: String,
    /// Input size of a workload [default: small]
    #[arg(long)]
    pub size: Option<Size>,
    /// A preset's name or a GPU file (.toml) [default: gtx480; with --policy, the GPU and scheduler of its paper]
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Policies, joined by `+`, as `warpwatt policies` lists them
    #[arg(long, value_name = "NAME[+NAME…]")]
    pub policy: Option<String>,
    /// Set a parameter of the GPU, as `warpwatt show` names it, or of a policy (policy.key=value); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Warp scheduler (short for --set scheduler=…)
    #[arg(long)]
    pub scheduler: Option<Scheduler>,
    /// SM clock, one of the GPU's V/f levels; under a policy that changes it, the first one
    #[arg(long, value_name = "MHZ")]
    pub sm_mhz: Option<f64>,
    /// DRAM command clock, one of the GPU's V/f levels: crossbar, L2 and memory controllers go with it
    #[arg(long, value_name = "MHZ")]
    pub mem_mhz: Option<f64>,
    /// Compute the results only, without time and power
    #[arg(long, conflicts_with_all = ["set", "policy", "scheduler", "sample_cycles", "no_skip", "checkpoint_every", "max_cycles", "sm_mhz", "mem_mhz"])]
    pub functional: bool,
    /// Host threads; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Step every cycle, also those in which nothing can happen; results do not depend on it
    #[arg(long)]
    pub no_skip: bool,
    /// End after so many core cycles
    #[arg(long, value_name = "N", value_parser = at_least(1))]
    pub max_cycles: Option<u64>,
    /// Core cycles of a power sample, at least 100
    #[arg(long, value_name = "N", value_parser = at_least(100))]
    pub sample_cycles: Option<u64>,
    /// Registers per thread, instead of what live-register analysis says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Split of the leakage among components
    #[arg(long, value_enum, default_value_t = Leakage::Default)]
    pub leakage: Leakage,
    /// Energies of arithmetic
    #[arg(long, value_enum, default_value_t = Energies::Gpuwattch)]
    pub energies: Energies,
    /// Inactive lanes of an issued warp cost nothing (off: half an integer or FP addition)
    #[arg(long)]
    pub lane_clock_gating: bool,
    /// Print everything as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Write the run directory DIR: run.json, host.json, power.csv, lanes.csv, stats.csv; under a governor governor.csv
    ///
    /// If DIR already holds this very run, it is looked up and not simulated again.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Simulate even if DIR holds a run, and replace it
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Write a timeline for Perfetto or chrome://tracing, in simulated time: a step per sample (--sample-cycles)
    #[arg(long, value_name = "FILE.json", conflicts_with = "functional")]
    pub trace: Option<PathBuf>,
    /// Write a checkpoint so often: wall time (30s, 5min, 1h) or simulated cycles (500000cycles)
    ///
    /// Goes into the run directory. Ctrl-C and SIGTERM always write one.
    #[arg(long, value_name = "TIME|CYCLES", allow_hyphen_values = true)]
    pub checkpoint_every: Option<String>,
    /// Kernel of a PTX file; may be left out if it has just one
    #[arg(long, help_heading = "PTX files")]
    pub kernel: Option<String>,
    /// CTAs: 64, 16x16 or 8x8x8
    #[arg(long, value_name = "SHAPE", help_heading = "PTX files", allow_hyphen_values = true)]
    pub grid: Option<String>,
    /// Threads of a CTA, likewise
    #[arg(long, value_name = "SHAPE", help_heading = "PTX files", allow_hyphen_values = true)]
    pub block: Option<String>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "N", help_heading = "PTX files")]
    pub shared_bytes: Option<u32>,
    /// An argument, in order: `TYPE:VALUE`, `buf:TYPE:COUNT[:zero|iota|uniform|normal|NUMBER[:SEED]]`, `buf:FILE.npy`
    #[arg(long = "arg", value_name = "ARG", help_heading = "PTX files", allow_hyphen_values = true)]
    pub args: Vec<String>,
}

/// Schedulers of comparisons.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BaselineScheduler {
    /// Greedy, then oldest
    Gto,
    /// The paper's own two-level scheduler; with an active set where it has none
    TwoLevel,
    /// Loose round-robin
    Lrr,
}

/// What commands share that make several runs.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Input size of workloads
    #[arg(long, value_enum, default_value_t = Size::Small)]
    pub size: Size,
    /// Folder of run directories: what is in it is looked up
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub store: PathBuf,
    /// Simulate all runs, also those in the store
    #[arg(long)]
    pub force: bool,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Workloads (`all`: the suite) and launch descriptions (.toml)
    #[arg(required = true, value_name = "WORKLOAD|FILE.toml")]
    pub programs: Vec<String>,
    /// Policies, or `all`; settings of its own after a colon, so that one may stand twice: `cpg,cpg:bet=19:wake_up=9`
    /// [default: those that their papers measure on gtx480; with --gpu, all]
    #[arg(long, value_delimiter = ',', value_name = "A,B+C,D:KEY=VALUE,…|all")]
    pub policies: Vec<String>,
    /// GPU for all runs [default: the one of the policies' papers]
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Set a parameter of the GPU, or of a policy (policy.key=value); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Scheduler of all runs [default: the one of each policy's paper]
    #[arg(long, value_enum)]
    pub baseline: Option<BaselineScheduler>,
    /// Simulations at a time, each on one core [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: Option<u32>,
    /// Core cycles of a power sample: a step of the timeline [default: 5000; for full workloads 100000]
    #[arg(long, value_name = "N", value_parser = at_least(100))]
    pub sample_cycles: Option<u64>,
    /// Split of the leakage among components
    #[arg(long, value_enum, default_value_t = Leakage::Default)]
    pub leakage: Leakage,
    /// Print the table as CSV, and nothing else, on standard output
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print the table as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Where the report goes [default: compare.html in the store]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// `bottleneck`.
#[derive(Debug, Args)]
pub struct BottleneckArgs {
    /// Workloads or launch descriptions (.toml)
    #[arg(value_name = "WORKLOAD|FILE.toml", required = true)]
    pub programs: Vec<String>,
    /// A preset's name or a GPU file (.toml) [default: kepler-big]
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Set a parameter of the GPU; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Run the eight static shapes, too, and show measured against predicted time
    #[arg(long)]
    pub verify: bool,
    /// Write the utilizations as a heat map
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Host threads; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// `idle`.
#[derive(Debug, Args)]
pub struct IdleArgs {
    /// A workload's name or a launch description (.toml)
    #[arg(value_name = "WORKLOAD|FILE.toml")]
    pub program: String,
    /// Input size of a workload [default: small]
    #[arg(long)]
    pub size: Option<Size>,
    /// A preset's name or a GPU file (.toml) [default: gtx480 with the two-level scheduler of Origami]
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Set a parameter of the GPU, or of the observer (always-on.occupancy=…); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Break-even time of power gating, cycles
    #[arg(long, value_name = "N", default_value_t = warpwatt_lab::idle::BET,
          value_parser = clap::value_parser!(u32).range(0..=i64::from(warpwatt_lab::idle::LONGEST_BET)))]
    pub bet: u32,
    /// Host threads; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the run directory DIR, or look the run up there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `predict`.
#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Workloads (`all`: the suite) and launch descriptions (.toml)
    #[arg(required = true, value_name = "WORKLOAD|FILE.toml")]
    pub programs: Vec<String>,
    /// A preset's name or a GPU file (.toml): its P-states are predicted
    #[arg(long, value_name = "NAME|FILE", default_value = warpwatt_lab::predict::DEFAULT_GPU)]
    pub gpu: String,
    /// Set a parameter of the GPU, or of a model (crisp.store_wait=…); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Run every P-state too, and say how far off the predictions are
    #[arg(long)]
    pub verify: bool,
    /// Simulations at a time, each on one core [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: Option<u32>,
    /// Print as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Which application gets which part of the GPU.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MapBy {
    /// The first application the first SMs
    Order,
    /// Applications that memory limits the parts with fewest big cores
    Affinity,
}

/// `mix`.
#[derive(Debug, Args)]
pub struct MixArgs {
    /// Workloads and launch descriptions (.toml)
    #[arg(required = true, value_name = "WORKLOAD|FILE.toml")]
    pub programs: Vec<String>,
    /// A preset's name or a GPU file (.toml) [default: kepler-big]
    #[arg(long, value_name = "NAME|FILE")]
    pub gpu: Option<String>,
    /// Set a parameter of the GPU, or of a policy (policy.key=value); may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Policies of all SMs, joined by `+`
    #[arg(long, value_name = "NAME[+NAME…]")]
    pub policy: Option<String>,
    /// The chip's cores: big, a core shape or another policy, or several kinds; may be repeated to compare [default: big]
    #[arg(long, value_name = "KIND|KIND:SMS,…")]
    pub cores: Vec<String>,
    /// Half the cores big, half c-half: short for --cores hetero
    #[arg(long)]
    pub hetero: bool,
    /// SMs of each application: even, kinds (all cores of one kind each), or numbers
    #[arg(long, value_name = "even|kinds|N,N,…", default_value = "even", allow_hyphen_values = true)]
    pub partition: String,
    /// Which application gets which part [default: affinity where there are several kinds of cores, else order]
    #[arg(long, value_enum)]
    pub map: Option<MapBy>,
    /// Leave the SMs of an application that has ended idle, rather than begin it anew until all have ended once
    #[arg(long)]
    pub no_restart: bool,
    /// Host threads; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Step every cycle, also those in which nothing can happen; results do not depend on it
    #[arg(long)]
    pub no_skip: bool,
    /// End after so many core cycles
    #[arg(long, value_name = "N", value_parser = at_least(1))]
    pub max_cycles: Option<u64>,
    /// Print everything as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to a file, too
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run directory
    pub directory: PathBuf,
    /// Print everything as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Write a checkpoint so often from now on
    #[arg(long, value_name = "TIME|CYCLES", allow_hyphen_values = true)]
    pub checkpoint_every: Option<String>,
    /// Host threads; results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// PTX files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The GPU that occupancy is worked out for
    #[arg(long, default_value = "gtx480", value_name = "NAME|FILE")]
    pub gpu: String,
    /// Set a parameter of the GPU
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Threads of a CTA, for occupancy; .reqntid and .maxntid are respected
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub block: u32,
    /// Registers per thread, instead of what live-register analysis says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Commands that only list.
#[derive(Debug, Args)]
pub struct JsonArgs {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A preset's name or a GPU file
    pub gpu: String,
    /// Set a parameter
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Only parameters whose name or meaning contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `policies`.
#[derive(Debug, Args)]
pub struct PoliciesArgs {
    /// A policy's name; all if absent
    pub name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Of what
    #[arg(value_enum, default_value_t = SchemaOf::Job)]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// Launch descriptions
    Job,
    /// GPU files
    Gpu,
}
