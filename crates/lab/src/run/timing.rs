//! A run on the cycle-level machine: progress, checkpoints, interruption.

use super::{Controls, Every, Prepared, Report, Simulated, Stage, host};
use crate::checkpoint::Checkpoint;
use crate::problem::{Outcome, Problem};
use crate::transcript::{Shared, Transcript, lock};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use warpwatt_machine::gpu::{Control, Gpu, Options, Progress};
use warpwatt_machine::stats::Ending;
use warpwatt_simt::device::DeviceError;

/// Simulates, from a checkpoint if there is one.
pub(super) fn simulate(
    prepared: &Prepared,
    from: Option<Checkpoint>,
    controls: Controls,
    directory: &Path,
) -> Outcome<Simulated> {
    let request = &prepared.request;
    let options = Options {
        threads: request.threads as usize,
        no_skip: !request.skip,
        sample_cycles: request.sample_cycles,
        max_cycles: request.max_cycles,
        core_mhz: request.sm_mhz,
        dram_mhz: request.mem_mhz,
        registers: request.registers,
    };
    let (spec, policy) = (prepared.spec.clone(), &prepared.policy);
    let (earlier, before, mut gpu) = match from {
        None => (Transcript::default(), 0.0, Gpu::with_policy(spec, options, policy).map_err(Problem::from_spec)?),
        Some(checkpoint) => {
            let gpu = Gpu::restore_with_policy(spec, options, policy, &checkpoint.state)
                .map_err(|e| Problem::input("checkpoint::state", e.to_string()))?;
            (checkpoint.transcript, checkpoint.host_seconds, gpu)
        }
    };
    let log = Shared::default();
    let kept = Arc::new(AtomicBool::new(false));
    let Controls { checkpoint_every, interrupted, mut report, .. } = controls;
    let writer = Writer {
        directory: directory.to_owned(),
        request: request.clone(),
        key: prepared.key.clone(),
        log: log.clone(),
        before,
    };
    let (wrote, stop) = (Arc::clone(&kept), Arc::clone(&interrupted));
    let unwritten: Arc<Mutex<Option<Problem>>> = Arc::default();
    let failed = Arc::clone(&unwritten);
    gpu.set_checkpoint(Box::new(move |state| {
        writer.write(state).map_err(|problem| {
            let message = problem.to_string();
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            message
        })?;
        wrote.store(true, Ordering::Relaxed);
        Ok(())
    }));
    let (mut clock, seen, mut stopping) = (Clock::new(checkpoint_every), log.clone(), false);
    gpu.set_observer(Box::new(move |progress: &Progress| {
        report(&Report {
            stage: Stage::Timing,
            kernel: lock(&seen).kernel.clone(),
            launch: u64::from(progress.launches),
            cycles: progress.cycles,
            warp_instructions: progress.warp_instructions,
            ctas_done: progress.ctas_done,
            ctas_total: progress.ctas,
        });
        if stop.load(Ordering::Relaxed) {
            // First the state is kept, as it is at a window's end; then the run ends.
            let answer = if stopping { Control::Stop } else { Control::Checkpoint };
            stopping = true;
            return answer;
        }
        if clock.due(progress.cycles) { Control::Checkpoint } else { Control::Continue }
    }));
    let driven = prepared.drive(&mut gpu, earlier, &log, &interrupted);
    if let Some(problem) = unwritten.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Without results, and without touching the checkpoint before.
        let resume = "the run has ended here; `warpwatt resume DIR` goes on from the checkpoint before";
        return Err(if kept.load(Ordering::Relaxed) { problem.help(resume) } else { problem });
    }
    let mut stats = gpu.stats();
    if matches!(driven, Err(DeviceError::Interrupted)) {
        stats.ending = Ending::Interrupted;
    }
    let host = host(prepared, &stats, &log, before);
    let resumable = interrupted.load(Ordering::Relaxed) && kept.load(Ordering::Relaxed);
    let policy = gpu.report();
    Ok(Simulated { stats, policy, driven, host, resumable })
}

/// When the next checkpoint is due.
struct Clock {
    every: Option<Every>,
    last: Instant,
    last_cycles: Option<u64>,
}

impl Clock {
    fn new(every: Option<Every>) -> Clock {
        Clock { every, last: Instant::now(), last_cycles: None }
    }

    fn due(&mut self, cycles: u64) -> bool {
        let last_cycles = *self.last_cycles.get_or_insert(cycles);
        let due = match self.every {
            None => false,
            Some(Every::Seconds(seconds)) => self.last.elapsed().as_secs_f64() >= seconds,
            Some(Every::Cycles(every)) => cycles.saturating_sub(last_cycles) >= every,
        };
        if due {
            (self.last, self.last_cycles) = (Instant::now(), Some(cycles));
        }
        due
    }
}

/// Writes checkpoints into the run directory.
struct Writer {
    directory: PathBuf,
    request: crate::request::Request,
    key: String,
    log: Shared,
    before: f64,
}

impl Writer {
    fn write(&self, state: Vec<u8>) -> Outcome<()> {
        let transcript = lock(&self.log).clone();
        let host_seconds = self.before + transcript.in_launches.as_secs_f64();
        let (request, key) = (self.request.clone(), self.key.clone());
        Checkpoint { request, key, transcript, state, host_seconds }.write(&self.directory)
    }
}
