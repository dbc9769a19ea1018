//! The GPU as a device: launches run on the SMs and the memory side, and everything that they count is collected.

pub mod dispatch;
pub mod engine;
pub mod mix;
pub mod options;

mod foresee;
mod govern;
mod snapshot;

pub use options::{Control, Options, Progress};
pub use snapshot::RestoreError;

use crate::activity::Sample;
use crate::clock::period_of;
use crate::hooks::{GovernorHook, LaunchView, Policy, Report};
use crate::kernel::Kernel;
use crate::memory::MemorySide;
use crate::message::Femtoseconds;
use crate::sm::Sm;
use crate::sm::exchange::Exchange;
use crate::spec::{Occupancy, Spec, SpecError, occupancy};
use crate::stats::{Counters, Decision, Ending, LaunchStats, RunStats};
use dispatch::Dispatcher;
use engine::{Cut, Engine, Lane, Pause};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::exec::Printed;
use warpwatt_simt::host::{Executor, Host};
use warpwatt_simt::launch::Launch;

/// The launch in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Running {
    dispatcher: Dispatcher,
    stats: LaunchStats,
    /// Time of the last CTA end.
    last_end: Femtoseconds,
    /// Core tick at which the launch began.
    tick: u64,
}

/// All that changes while a GPU runs, memory apart.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    sms: Vec<Sm>,
    exchanges: Vec<Mutex<Exchange>>,
    now: Femtoseconds,
    running: Option<Running>,
    launches: Vec<LaunchStats>,
    samples: Vec<Sample>,
    printed: Vec<Printed>,
    /// Not in a snapshot: only a run that goes on is saved (and postcard cannot read a tagged enum).
    #[serde(skip, default = "going_on")]
    ending: Ending,
    /// Where the present sample began.
    sample_start: Femtoseconds,
    /// Core tick of the next sample.
    next_sample: u64,
    /// Warp instructions of completed launches.
    issued: u64,
    clocks: govern::Clocks,
    /// CTAs that a governor allows on each SM.
    cta_limits: Vec<u32>,
    decisions: Vec<Decision>,
    /// States of the policy's objects, filled for a snapshot.
    hooks: Vec<Vec<Vec<u8>>>,
    governor: Vec<u8>,
}

fn going_on() -> Ending {
    Ending::Completed
}

/// What is called now and then while a launch runs.
pub type Observer = Box<dyn FnMut(&Progress) -> Control + Send>;

/// What is called with a state that can be saved.
pub type Checkpoint = Box<dyn FnMut(Vec<u8>) -> Result<(), String> + Send>;

/// A simulated GPU.
pub struct Gpu {
    spec: Spec,
    options: Options,
    host: Host,
    memory_side: MemorySide,
    state: State,
    /// Window length.
    window: Femtoseconds,
    /// Windows since the observer was last asked.
    unobserved: u64,
    observer: Option<Observer>,
    checkpoint: Option<Checkpoint>,
    governor: Option<Box<dyn GovernorHook>>,
    /// A restored run that the host program is still replaying.
    replay: Option<Replay>,
    /// Where the future that is being tried ends.
    trial_until: Femtoseconds,
}

/// What a restored GPU keeps until the host program has come to the launch that was in progress: until then host calls
/// work on scratch memory, and launches that were complete are passed over.
#[derive(Debug)]
struct Replay {
    memory: warpwatt_simt::memory::GlobalMemory,
    passed: usize,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("spec", &self.spec.name).field("now", &self.state.now).finish_non_exhaustive()
    }
}

/// Length of a message window: the crossbar's latency at its highest clock.
fn window(spec: &Spec) -> Femtoseconds {
    spec.noc_latency_cycles as u64 * period_of(spec.noc_max_mhz.max(spec.noc_mhz))
}

/// Most store instructions that an SM can issue in one window: in each core cycle one a scheduler, as far as the register
/// to the load/store unit has entries.
fn stores_per_window(spec: &Spec) -> u32 {
    let fastest = spec.dvfs.core_levels.iter().map(|l| l.mhz).fold(spec.core_mhz, f64::max);
    ((window(spec) / period_of(fastest)) as u32 + 2) * spec.ldst_units.min(spec.schedulers).max(1)
}

impl Gpu {
    /// A GPU at time zero.
    pub fn new(spec: Spec, options: Options) -> Result<Gpu, SpecError> {
        spec.validate()?;
        let noc_latency = spec.noc_latency_cycles as u64 * period_of(spec.noc_mhz);
        let mut host = Host::new(options.registers);
        host.shared_limit = Some(spec.shared_bytes_per_sm);
        let mut memory_side = MemorySide::new(&spec);
        memory_side.set_skip(!options.no_skip);
        let stores = stores_per_window(&spec);
        let state = State {
            sms: (0..spec.sms).map(|i| Sm::new(&spec, i, noc_latency, !options.no_skip)).collect(),
            exchanges: (0..spec.sms).map(|_| Mutex::new(Exchange::new(stores))).collect(),
            now: 0,
            running: None,
            launches: Vec::new(),
            samples: Vec::new(),
            printed: Vec::new(),
            ending: Ending::Completed,
            sample_start: 0,
            next_sample: options.sample_cycles.unwrap_or(u64::MAX),
            issued: 0,
            clocks: govern::Clocks::new(spec.core_mhz, spec.noc_mhz, spec.dram_mhz),
            cta_limits: vec![u32::MAX; spec.sms as usize],
            decisions: Vec::new(),
            hooks: Vec::new(),
            governor: Vec::new(),
        };
        let mut gpu = Gpu {
            window: window(&spec),
            unobserved: 0,
            spec,
            host,
            options,
            memory_side,
            state,
            observer: None,
            checkpoint: None,
            governor: None,
            replay: None,
            trial_until: Femtoseconds::MAX,
        };
        for (memory, mhz) in [(false, gpu.options.core_mhz), (true, gpu.options.dram_mhz)] {
            if let Some(mhz) = mhz {
                gpu.set_clock(memory, mhz);
            }
        }
        Ok(gpu)
    }

    /// A GPU at time zero, under a policy.
    pub fn with_policy(spec: Spec, options: Options, policy: &dyn Policy) -> Result<Gpu, SpecError> {
        let mut gpu = Gpu::new(spec, options)?;
        for (i, sm) in gpu.state.sms.iter_mut().enumerate() {
            sm.set_hooks(policy.sm(&gpu.spec, i as u32));
        }
        gpu.governor = policy.governor(&gpu.spec);
        gpu.state.clocks.ask_at = gpu.governor.as_ref().map_or(u64::MAX, |g| g.interval().max(1));
        let sampling = gpu.governor.as_ref().and_then(|g| g.sampling());
        gpu.state.sms.iter_mut().for_each(|sm| sm.sample_warps(sampling));
        Ok(gpu)
    }

    /// V/f transitions so far.
    pub fn transitions(&self) -> u64 {
        self.state.clocks.transitions
    }

    /// What the policy has counted for itself.
    pub fn report(&mut self) -> Report {
        let mut report = Report::default();
        self.state.sms.iter_mut().for_each(|sm| sm.report(&mut report));
        if let Some(governor) = &self.governor {
            governor.report(self.state.sms.first().map_or(0, |sm| sm.now()), &mut report);
        }
        report
    }

    /// The GPU's parameters.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Sets what is called now and then while a launch runs.
    pub fn set_observer(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Sets what is called with the saved state when the observer answers [`Control::Checkpoint`].
    pub fn set_checkpoint(&mut self, checkpoint: Checkpoint) {
        self.checkpoint = Some(checkpoint);
    }

    /// Everything counted so far.
    pub fn stats(&self) -> RunStats {
        let mut launches = self.state.launches.clone();
        launches.extend(self.state.running.as_ref().map(|r| r.stats.clone()));
        RunStats {
            ending: self.state.ending.clone(),
            launches,
            samples: self.state.samples.clone(),
            decisions: self.state.decisions.clone(),
            printed: self.state.printed.iter().map(|p| p.text.clone()).collect(),
        }
    }

    fn begin(&mut self, launch: Launch) -> Result<(), DeviceError> {
        let launch = Arc::new(launch);
        let fit = fitting(&self.spec, &launch)?;
        let kernel = Arc::new(Kernel::new(launch.clone(), &self.spec, fit.ctas));
        self.govern_launch(&LaunchView {
            index: self.state.launches.len() as u32,
            kernel: &launch.program.kernel,
            ctas: launch.ctas(),
            warps_per_cta: kernel.warps_per_cta,
            ctas_per_sm: fit.ctas,
        });
        let state = &mut self.state;
        let tick = state.sms[0].clock().tick_at(state.now);
        let period = state.sms[0].clock().period();
        let start = state.sms[0].clock().time(tick);
        for sm in &mut state.sms {
            sm.begin(kernel.clone(), tick);
        }
        let mut dispatcher = Dispatcher::new(launch.ctas(), fit.ctas, &state.cta_limits);
        let first = start + self.spec.launch_latency_cycles as u64 * period;
        let exchanges = &state.exchanges;
        dispatcher.begin(first, period, self.spec.cta_launches_per_cycle, |sm, s| lock(&exchanges[sm]).starts.push(s));
        state.sample_start = start;
        state.running = Some(Running { dispatcher, last_end: start, tick, stats: opened(&launch, &fit, start) });
        Ok(())
    }

    /// Runs the present launch to its end, or to the end of the run.
    fn go_on(&mut self) -> Result<(), DeviceError> {
        let memory = RwLock::new(std::mem::take(&mut self.host.memory));
        let result = self.drive(&memory);
        self.host.memory = memory.into_inner().unwrap_or_else(PoisonError::into_inner);
        result
    }

    fn drive(&mut self, memory: &RwLock<warpwatt_simt::memory::GlobalMemory>) -> Result<(), DeviceError> {
        loop {
            let state = &self.state;
            if state.now >= self.trial_until {
                return Ok(());
            }
            let limit_at = self.options.max_cycles.map_or(u64::MAX, |c| state.sms[0].clock().time_or_never(c));
            let sample_at = state.sms[0].clock().time_or_never(state.next_sample);
            let attention_at = self.attention_at();
            let state = &mut self.state;
            let Some(running) = state.running.as_mut() else { return Ok(()) };
            let (launches, issued, clock) = (state.launches.len() as u32, state.issued, *state.sms[0].clock());
            let observer = &mut self.observer;
            let mut lanes = [Lane {
                sms: u64::MAX >> (64 - state.sms.len()),
                memory,
                dispatcher: Some(&mut running.dispatcher),
                last_end: &mut running.last_end,
                printed: &mut state.printed,
                owed: &mut 0,
            }];
            let pause = Engine {
                sms: &mut state.sms,
                exchanges: &state.exchanges,
                memory_side: &mut self.memory_side,
                lanes: &mut lanes,
                now: &mut state.now,
                window: self.window,
                unobserved: &mut self.unobserved,
                sample_at,
                limit_at,
                attention_at,
                threads: self.options.threads.max(1),
                skip: !self.options.no_skip,
                observer: &mut |p: &Progress| match observer {
                    Some(observe) => observe(&Progress {
                        cycles: clock.tick_at(p.time),
                        warp_instructions: issued + p.warp_instructions,
                        launches,
                        ..p.clone()
                    }),
                    None => Control::Continue,
                },
            }
            .run();
            match pause {
                Pause::Sample(cut) => self.sampled(&cut),
                Pause::Attention => self.govern(memory)?,
                Pause::Checkpoint => {
                    let bytes = self.save_with(memory);
                    if let Some(keep) = self.checkpoint.as_mut() {
                        keep(bytes).map_err(DeviceError::Failed)?;
                    }
                }
                Pause::Done(_) => {
                    self.finish(Ending::Completed);
                    return Ok(());
                }
                Pause::Stuck(_) => return Err(self.over(Ending::Deadlock { message: String::new() })),
                Pause::Over(ending) => return Err(self.over(ending)),
                Pause::Fault(fault, cut, _) => {
                    cut.iter().for_each(|cut| self.sampled(cut));
                    let message = fault.to_string();
                    self.finish(Ending::Fault { message: message.clone(), line: fault.line });
                    return Err(DeviceError::Failed(message));
                }
            }
        }
    }

    /// The run is over before its time.
    fn over(&mut self, ending: Ending) -> DeviceError {
        let ending = match ending {
            Ending::Deadlock { .. } => Ending::Deadlock { message: self.deadlock() },
            Ending::CycleLimit { .. } => Ending::CycleLimit { cycles: self.options.max_cycles.unwrap_or_default() },
            other => other,
        };
        let mut message = describe(&ending);
        if matches!(ending, Ending::CycleLimit { .. }) {
            message.push_str(&self.whereabouts(8));
        }
        self.finish(ending);
        DeviceError::Failed(message)
    }

    fn deadlock(&self) -> String {
        String::from("deadlock: nothing can happen any more") + &self.whereabouts(40)
    }

    /// Where warps stand and what they wait for, one on a line, the first so many.
    fn whereabouts(&self, most: usize) -> String {
        self.state
            .sms
            .iter()
            .flat_map(|sm| sm.explain())
            .take(most)
            .flat_map(|line| ["\n  ".to_owned(), line])
            .collect()
    }

    /// The engine has cut a sample.
    fn sampled(&mut self, cut: &Cut) {
        self.cut_sample(cut.time, &cut.tally.1, true);
        if let Some(r) = self.state.running.as_mut() {
            r.stats.counters.add(&cut.tally.0);
        }
        let next = self.options.sample_cycles.and_then(|every| self.state.next_sample.checked_add(every));
        self.state.next_sample = next.unwrap_or(u64::MAX);
    }

    /// Closes the present sample at a time. `cut`: the SMs cut theirs on the way; else they stand there now.
    fn cut_sample(&mut self, end: Femtoseconds, mem: &[u64], cut: bool) {
        let state = &mut self.state;
        let sms = state
            .sms
            .iter_mut()
            .zip(&state.exchanges)
            .map(|(sm, x)| {
                let early = if cut { lock(x).sample.take() } else { None };
                early.unwrap_or_else(|| sm.take_activity())
            })
            .collect();
        state.samples.push(Sample {
            start: state.sample_start,
            end,
            launch: state.launches.len() as u32,
            core_mhz: state.clocks.core_mhz,
            core_volts: self.spec.core_volts(state.clocks.core_mhz),
            noc_mhz: state.clocks.noc_mhz,
            dram_mhz: state.clocks.dram_mhz,
            mem_volts: self.spec.mem_volts(state.clocks.dram_mhz),
            sms,
            mem: mem.to_vec(),
            transitions: 0,
        });
        state.sample_start = end;
    }

    /// Closes the launch in progress.
    fn finish(&mut self, ending: Ending) {
        let (counters, events) = self.memory_side.take_tally();
        self.cut_sample(self.state.now, &events, false);
        let state = &mut self.state;
        state.ending = ending;
        let Some(Running { mut stats, last_end, tick, .. }) = state.running.take() else { return };
        stats.counters.add(&counters);
        state.sms.iter().for_each(|sm| add_sm(&mut stats, sm));
        stats.end = if state.ending == Ending::Completed { last_end } else { state.now };
        stats.cycles = state.sms[0].clock().tick_at(stats.end) - tick;
        state.issued += stats.counters.warp_instructions;
        state.launches.push(stats);
    }
}

/// How many CTAs of a launch fit an SM; an error if none does.
fn fitting(spec: &Spec, launch: &Launch) -> Result<Occupancy, DeviceError> {
    let (threads, registers) = (launch.threads_per_cta(), launch.program.registers_per_thread);
    let fit = occupancy(spec, threads, registers, launch.shared_bytes());
    if fit.ctas == 0 {
        return Err(DeviceError::Invalid(format!(
            "kernel {}: a CTA of {threads} threads with {registers} registers each and {} bytes of shared memory does not \
             fit an SM of {}: limited by {}",
            launch.program.kernel,
            launch.shared_bytes(),
            spec.name,
            fit.limit.label()
        )));
    }
    Ok(fit)
}

/// The statistics of a launch that begins.
fn opened(launch: &Launch, fit: &Occupancy, start: Femtoseconds) -> LaunchStats {
    LaunchStats {
        kernel: launch.program.kernel.clone(),
        grid: launch.grid,
        block: launch.block,
        registers_per_thread: launch.program.registers_per_thread,
        shared_bytes: launch.shared_bytes(),
        ctas_per_sm: fit.ctas,
        occupancy_limit: fit.limit.label().to_string(),
        cycles: 0,
        stepped_sm_cycles: 0,
        start,
        end: start,
        slots: vec![0; crate::stats::SLOTS],
        counters: Counters::default(),
    }
}

/// Adds what an SM has counted in a launch.
fn add_sm(stats: &mut LaunchStats, sm: &Sm) {
    stats.counters.add(&sm.counts.counters);
    let (sum, count) = sm.latency();
    stats.counters.memory_latency_sum += sum;
    stats.counters.memory_latency_count += count;
    stats.slots.iter_mut().zip(&sm.counts.slots).for_each(|(a, b)| *a += b);
    stats.stepped_sm_cycles += sm.counts.stepped;
}

fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Completed => "completed".into(),
        Ending::Fault { message, .. } | Ending::Deadlock { message } | Ending::AuditFailed { message } => {
            message.clone()
        }
        Ending::CycleLimit { cycles } => format!("the limit of {cycles} cycles was reached"),
        Ending::Interrupted => "interrupted".into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Executor for Gpu {
    fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    fn execute(&mut self, launch: Launch) -> Result<(), DeviceError> {
        if self.state.ending != Ending::Completed {
            return Err(DeviceError::Failed(describe(&self.state.ending)));
        }
        match self.replay.take() {
            Some(mut replay) if replay.passed < self.state.launches.len() => {
                replay.passed += 1;
                self.replay = Some(replay);
                return Ok(());
            }
            Some(replay) => {
                self.host.memory = replay.memory;
                self.reattach(launch)?;
            }
            None => self.begin(launch)?,
        }
        self.go_on()
    }
}
