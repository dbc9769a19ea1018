//! The machine's side of a mix: hears the hosts in order, begins their launches, lets time pass until one is complete.

use super::host::{Answer, Call, live};
use super::{Application, ApplicationStats, MixError, MixStats, Rest};
use crate::gpu::dispatch::Dispatcher;
use crate::gpu::engine::{Engine, Lane, Pause};
use crate::gpu::{Control, Gpu, Observer, Options, Progress, Running, add_sm, fitting, lock, opened};
use crate::hooks::Policy;
use crate::kernel::Kernel;
use crate::message::Femtoseconds;
use crate::spec::Spec;
use crate::stats::{Counters, Ending, LaunchStats};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::exec::Printed;
use warpwatt_simt::host::Host;
use warpwatt_simt::launch::Launch;
use warpwatt_simt::memory::GlobalMemory;

/// Where an application stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// Its host works: a call will come.
    Thinking,
    /// A launch is in progress.
    Running,
    /// Its host program is over.
    Ended,
}

struct App {
    name: String,
    sms: Vec<usize>,
    calls: Receiver<Call>,
    answers: Sender<Answer>,
    stand: Stand,
    running: Option<Running>,
    /// Where an idle lane's last end goes.
    no_end: Femtoseconds,
    launches: Vec<LaunchStats>,
    printed: Vec<Printed>,
    owed: u64,
    /// Launches of the first run, once it is over.
    first: Option<usize>,
    runs: u32,
    /// Launches when the present run began.
    before: usize,
}

struct Mix {
    gpu: Gpu,
    apps: Vec<App>,
    memories: Vec<RwLock<GlobalMemory>>,
    rest: Rest,
    memory: Counters,
}

/// See [`super::run`].
pub(super) fn run(
    spec: Spec,
    options: Options,
    policy: &dyn Policy,
    applications: Vec<Application<'_>>,
    rest: Rest,
    observer: Option<Observer>,
) -> Result<MixStats, MixError> {
    let (registers, shared_limit) = (options.registers, Some(spec.shared_bytes_per_sm));
    let mut gpu = Gpu::with_policy(spec, options, policy)?;
    if gpu.governor.is_some() {
        return Err(MixError::Governor);
    }
    gpu.observer = observer;
    let host = move || {
        let mut host = Host::new(registers);
        host.shared_limit = shared_limit;
        host
    };
    std::thread::scope(|scope| {
        let mut apps = Vec::with_capacity(applications.len());
        for (number, Application { name, mut sms, program }) in applications.into_iter().enumerate() {
            let ((call, calls), (answers, answer)) = (channel(), channel());
            scope.spawn(move || live(program, host, &call, &answer));
            sms.sort_unstable();
            let sms: Vec<usize> = sms.into_iter().map(|sm| sm as usize).collect();
            sms.iter().for_each(|&sm| gpu.memory_side.set_space(sm, number as u64));
            apps.push(App {
                name,
                sms,
                calls,
                answers,
                stand: Stand::Thinking,
                running: None,
                no_end: 0,
                launches: Vec::new(),
                printed: Vec::new(),
                owed: 0,
                first: None,
                runs: 0,
                before: 0,
            });
        }
        let memories = apps.iter().map(|_| RwLock::default()).collect();
        // When this is dropped the channels close, and hosts that still work are told so by their next call.
        Mix { gpu, apps, memories, rest, memory: Counters::default() }.run()
    })
}

impl Mix {
    fn run(mut self) -> Result<MixStats, MixError> {
        loop {
            (0..self.apps.len()).try_for_each(|app| self.hear(app))?;
            if self.apps.iter().all(|app| app.first.is_some()) {
                return Ok(self.end());
            }
            if self.rest == Rest::Again {
                (0..self.apps.len()).try_for_each(|app| self.again(app))?;
            }
            self.simulate()?;
        }
    }

    /// Hears an application's host until it has launched something or is over.
    fn hear(&mut self, number: usize) -> Result<(), MixError> {
        while self.apps[number].stand == Stand::Thinking {
            match self.apps[number].calls.recv() {
                Ok(Call::Launch(launch, memory)) => match self.begin(number, *launch) {
                    Ok(()) => self.memories[number] = RwLock::new(memory),
                    Err(error) => self.answer(number, Answer::Launched(memory, Err(error))),
                },
                Ok(Call::Ended(Ok(()))) => {
                    let app = &mut self.apps[number];
                    app.stand = Stand::Ended;
                    app.runs += 1;
                    app.first.get_or_insert(app.launches.len());
                }
                Ok(Call::Ended(Err(error))) => return Err(MixError::Host { name: self.name(number), error }),
                // The thread's panic goes on where the threads are joined.
                Err(_) => {
                    let error = DeviceError::Failed("the host program has broken off".to_owned());
                    return Err(MixError::Host { name: self.name(number), error });
                }
            }
        }
        Ok(())
    }

    fn name(&self, number: usize) -> String {
        self.apps[number].name.clone()
    }

    /// A host that does not listen any more has ended by itself.
    fn answer(&self, number: usize, answer: Answer) {
        let _ = self.apps[number].answers.send(answer);
    }

    /// Begins an application anew if it is over and the others are not; one that launches nothing takes no time and would
    /// be begun anew for ever.
    fn again(&mut self, number: usize) -> Result<(), MixError> {
        while self.apps[number].stand == Stand::Ended && self.apps[number].launches.len() > self.apps[number].before {
            let spaces = self.apps.len() as u64;
            let app = &mut self.apps[number];
            app.before = app.launches.len();
            app.stand = Stand::Thinking;
            let space = u64::from(app.runs) * spaces + number as u64;
            app.sms.iter().for_each(|&sm| self.gpu.memory_side.set_space(sm, space));
            self.answer(number, Answer::Again);
            self.hear(number)?;
        }
        Ok(())
    }

    /// Begins a launch on its application's SMs.
    fn begin(&mut self, number: usize, launch: Launch) -> Result<(), DeviceError> {
        let idle = self.apps.iter().all(|app| app.running.is_none());
        let (spec, state, app) = (&self.gpu.spec, &mut self.gpu.state, &mut self.apps[number]);
        let launch = Arc::new(launch);
        let fit = fitting(spec, &launch)?;
        let kernel = Arc::new(Kernel::new(launch.clone(), spec, fit.ctas));
        let clock = *state.sms[0].clock();
        let tick = clock.tick_at(state.now);
        let start = clock.time(tick);
        app.sms.iter().for_each(|&sm| state.sms[sm].begin(kernel.clone(), tick));
        let mut dispatcher = Dispatcher::new(launch.ctas(), fit.ctas, &vec![u32::MAX; app.sms.len()]);
        let first = start + u64::from(spec.launch_latency_cycles) * clock.period();
        let (sms, exchanges) = (&app.sms, &state.exchanges);
        dispatcher.begin(first, clock.period(), spec.cta_launches_per_cycle, |rank, cta| {
            lock(&exchanges[sms[rank]]).starts.push(cta);
        });
        if idle {
            state.sample_start = start;
        }
        app.stand = Stand::Running;
        app.running = Some(Running { dispatcher, last_end: start, tick, stats: opened(&launch, &fit, start) });
        Ok(())
    }

    /// Lets time pass until some launch is complete.
    fn simulate(&mut self) -> Result<(), MixError> {
        match self.pause() {
            Pause::Done(app) => {
                self.finish(app, true);
                let memory = std::mem::take(&mut self.memories[app]);
                let memory = memory.into_inner().unwrap_or_else(PoisonError::into_inner);
                self.apps[app].stand = Stand::Thinking;
                self.answer(app, Answer::Launched(memory, Ok(())));
                Ok(())
            }
            Pause::Fault(fault, _, app) => Err(MixError::Fault {
                name: self.name(app),
                message: fault.to_string(),
                kernel: self.apps[app].running.as_ref().map_or_else(String::new, |r| r.stats.kernel.clone()),
                line: fault.line,
            }),
            Pause::Stuck(app) => Err(self.deadlock(app)),
            Pause::Over(Ending::CycleLimit { .. }) => {
                let unfinished = self.apps.iter().filter(|app| app.first.is_none());
                Err(MixError::CycleLimit {
                    cycles: self.gpu.options.max_cycles.unwrap_or_default(),
                    names: unfinished.map(|app| app.name.clone()).collect(),
                })
            }
            Pause::Over(Ending::Interrupted) => Err(MixError::Interrupted),
            // Nothing can happen anywhere.
            Pause::Over(_) => {
                let stuck = self.apps.iter().position(|app| app.running.is_some());
                Err(self.deadlock(stuck.unwrap_or_default()))
            }
            // Neither governors nor samples nor checkpoints are asked for: time goes on at the next call.
            Pause::Attention | Pause::Checkpoint | Pause::Sample(_) => Ok(()),
        }
    }

    fn deadlock(&self, number: usize) -> MixError {
        let sms = self.apps[number].sms.iter().flat_map(|&sm| self.gpu.state.sms[sm].explain());
        let lines: String = sms.take(40).flat_map(|line| ["\n  ".to_owned(), line]).collect();
        let message = format!("deadlock: nothing can happen any more{lines}");
        MixError::Deadlock { name: self.name(number), message }
    }

    /// Runs the engine until something asks for attention.
    fn pause(&mut self) -> Pause {
        let completed: usize = self.apps.iter().map(|app| app.launches.len()).sum();
        let issued: u64 = self.apps.iter().flat_map(|app| &app.launches).map(|l| l.counters.warp_instructions).sum();
        let Gpu { spec: _, options, memory_side, state, window, unobserved, observer, .. } = &mut self.gpu;
        let clock = *state.sms[0].clock();
        let mut lanes: Vec<Lane<'_>> = Vec::with_capacity(self.apps.len());
        for (app, memory) in self.apps.iter_mut().zip(&self.memories) {
            let (dispatcher, last_end) = match &mut app.running {
                Some(running) => (Some(&mut running.dispatcher), &mut running.last_end),
                None => (None, &mut app.no_end),
            };
            let sms = app.sms.iter().fold(0, |mask, sm| mask | 1 << sm);
            lanes.push(Lane { sms, memory, dispatcher, last_end, printed: &mut app.printed, owed: &mut app.owed });
        }
        Engine {
            sms: &mut state.sms,
            exchanges: &state.exchanges,
            memory_side,
            lanes: &mut lanes,
            now: &mut state.now,
            window: *window,
            unobserved,
            sample_at: u64::MAX,
            limit_at: options.max_cycles.map_or(u64::MAX, |cycles| clock.time_or_never(cycles)),
            attention_at: u64::MAX,
            threads: options.threads.max(1),
            skip: !options.no_skip,
            observer: &mut |p: &Progress| match observer {
                Some(observe) => observe(&Progress {
                    cycles: clock.tick_at(p.time),
                    warp_instructions: issued + p.warp_instructions,
                    launches: completed as u32,
                    ..p.clone()
                }),
                None => Control::Continue,
            },
        }
        .run()
    }

    /// Closes an application's launch.
    fn finish(&mut self, number: usize, complete: bool) {
        self.cut();
        let (state, app) = (&self.gpu.state, &mut self.apps[number]);
        let Some(Running { mut stats, last_end, tick, .. }) = app.running.take() else { return };
        for &sm in &app.sms {
            add_sm(&mut stats, &state.sms[sm]);
            let own = self.gpu.memory_side.take_use(sm);
            stats.counters.l2_accesses += own.accesses;
            stats.counters.l2_misses += own.misses;
        }
        stats.end = if complete { last_end } else { state.now };
        stats.cycles = state.sms[0].clock().tick_at(stats.end) - tick;
        app.launches.push(stats);
    }

    /// Closes the sample, if time has passed since the last one.
    fn cut(&mut self) {
        let (counters, events) = self.gpu.memory_side.take_tally();
        self.memory.add(&counters);
        if self.gpu.state.now <= self.gpu.state.sample_start {
            return;
        }
        let completed = self.apps.iter().map(|app| app.launches.len()).sum::<usize>();
        self.gpu.cut_sample(self.gpu.state.now, &events, false);
        if let Some(sample) = self.gpu.state.samples.last_mut() {
            sample.launch = completed as u32;
        }
    }

    /// Every application has ended once.
    fn end(mut self) -> MixStats {
        (0..self.apps.len()).for_each(|app| self.finish(app, false));
        let report = self.gpu.report();
        let state = &mut self.gpu.state;
        let cycles = state.sms[0].clock().tick_at(state.now);
        let sms = &state.sms;
        let applications = self.apps.into_iter().map(|app| {
            let all: u64 = app.sms.iter().flat_map(|&sm| sms[sm].counts.slots).sum();
            let last: u64 = app.launches.last().map_or(0, |launch| launch.slots.iter().sum());
            ApplicationStats {
                name: app.name,
                sms: app.sms.iter().map(|&sm| sm as u32).collect(),
                first: app.first.unwrap_or(app.launches.len()),
                launches: app.launches,
                runs: app.runs,
                printed: app.printed.into_iter().map(|p| p.text).collect(),
                idle_slots: all.saturating_sub(last),
            }
        });
        MixStats {
            applications: applications.collect(),
            cycles,
            samples: std::mem::take(&mut state.samples),
            memory: self.memory,
            report,
        }
    }
}
