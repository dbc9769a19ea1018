//! One mix on one chip, from host programs to its record.

use super::{Alone, Cores, MixRequest, Mixed, Share, Watcher, tell};
use crate::power;
use crate::problem::{Outcome, Problem};
use crate::record::{Verified, named, policies};
use crate::request::Program;
use crate::run::{Report, Stage, host_program};
use crate::statistics::{Totals, compute, declared};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use warpwatt_machine::gpu::mix::{Application, ApplicationStats, HostProgram, MixError, MixStats, run};
use warpwatt_machine::gpu::{Control, Options, Progress};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Slot;
use warpwatt_power::{PowerModel, PowerOptions, PowerReport};
use warpwatt_simt::device::DeviceError;

/// What one simulation needs.
pub(super) struct Job<'a> {
    pub request: &'a MixRequest,
    pub spec: &'a Spec,
    pub cores: &'a Cores,
    pub programs: &'a [Program],
    pub alone: &'a [Alone],
    /// Each application's SMs.
    pub sms: &'a [&'a [u32]],
}

impl Job<'_> {
    pub(super) fn run(&self, interrupted: &Arc<AtomicBool>, watcher: &Watcher) -> Outcome<Mixed> {
        let verified: Vec<Mutex<Option<Verified>>> = self.programs.iter().map(|_| Mutex::default()).collect();
        let applications = self.programs.iter().zip(self.alone).zip(self.sms).zip(&verified);
        let applications = applications.map(|(((program, alone), sms), verified)| {
            let host: HostProgram<'_> = Box::new(move |device, round| {
                let driven = host_program(program, device, interrupted)?;
                if round == 0 {
                    *verified.lock().unwrap_or_else(PoisonError::into_inner) = Some(driven.verified);
                }
                Ok(())
            });
            Application { name: alone.name.clone(), sms: sms.to_vec(), program: host }
        });
        let options = Options {
            threads: self.request.threads as usize,
            no_skip: !self.request.skip,
            max_cycles: self.request.max_cycles,
            ..Options::default()
        };
        let (watcher, stop) = (watcher.clone(), interrupted.clone());
        let names: Vec<&str> = self.alone.iter().map(|a| a.name.as_str()).collect();
        let title = format!("{} on {}", names.join(" | "), self.cores.text);
        let observer = move |p: &Progress| {
            tell(&watcher, &report(&title, p));
            if stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
        };
        let applications = applications.collect();
        let stats =
            run(self.spec.clone(), options, self.cores, applications, self.request.rest, Some(Box::new(observer)))
                .map_err(|error| self.problem(&error))?;
        let verified = verified.into_iter().map(|v| v.into_inner().unwrap_or_else(PoisonError::into_inner));
        self.mixed(&stats, verified.map(|v| v.unwrap_or(NOT_COMPARED)).collect())
    }

    /// The record of a mix, audited.
    fn mixed(&self, stats: &MixStats, verified: Vec<Verified>) -> Outcome<Mixed> {
        let policy = self.cores.power();
        let asked = self.request.power;
        let lane_clock_gating = asked.lane_clock_gating || policy.lane_clock_gating;
        let model = power::model(self.spec, PowerOptions { lane_clock_gating, policy, ..asked })?;
        let chip = stats.chip();
        let report = model.run(&chip);
        self.audit(stats, &model, &report).map_err(|message| Problem::run("run::audit", message))?;
        let shares = stats.applications.iter().zip(self.alone).zip(verified);
        let applications: Vec<Share> =
            shares.map(|((app, alone), verified)| self.share(app, alone, verified)).collect();
        let (joules, seconds) = (report.total.joules, report.total.seconds);
        let watts = |joules: f64| if seconds > 0.0 { joules / seconds } else { 0.0 };
        let memory = &stats.memory;
        Ok(Mixed {
            cores: self.cores.text.clone(),
            weighted_speedup: applications.iter().map(|share| share.speedup).sum(),
            applications,
            cycles: stats.cycles,
            seconds,
            watts: watts(joules.total()),
            static_watts: watts(joules.leakage + joules.overhead),
            dynamic_watts: watts(joules.dynamic),
            dram_use: (memory.dram_clocks > 0).then(|| memory.dram_busy_clocks as f64 / memory.dram_clocks as f64),
            policies: self.cores.policies().flat_map(|selection| policies(selection, &stats.report)).collect(),
        })
    }

    fn share(&self, app: &ApplicationStats, alone: &Alone, verification: Verified) -> Share {
        let totals = Totals::of(app.first_run());
        let ipc = totals.counters.thread_instructions as f64 / totals.cycles.max(1) as f64;
        // What is divided by all SMs is here divided by the application's own.
        let own = Spec { sms: app.sms.len() as u32, ..self.spec.clone() };
        let values = declared().into_iter().zip(compute(&totals, &own)).filter(|(d, _)| !of_memory(&d.name));
        let mut cores: Vec<(String, u32)> = Vec::new();
        for name in app.sms.iter().map(|sm| self.cores.kind(*sm).1) {
            match cores.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => cores.push((name.to_owned(), 1)),
            }
        }
        Share {
            name: app.name.clone(),
            sms: app.sms.clone(),
            cores,
            cycles: totals.cycles,
            ipc,
            ipc_alone: alone.ipc,
            speedup: if alone.ipc > 0.0 { ipc / alone.ipc } else { 0.0 },
            runs: app.runs,
            verification,
            values: named(values),
        }
    }

    /// Issue slots against the SMs' cycles, application by application; residencies and energies of the chip.
    fn audit(&self, stats: &MixStats, model: &PowerModel, report: &PowerReport) -> Result<(), String> {
        for app in &stats.applications {
            let sms = stats.samples.iter().flat_map(|s| app.sms.iter().filter_map(|sm| s.sms.get(*sm as usize)));
            let expected = sms.map(|sm| sm.cycles).sum::<u64>() * u64::from(self.spec.schedulers);
            let found = app.launches.iter().flat_map(|l| &l.slots).sum::<u64>() + app.idle_slots;
            if found != expected {
                return Err(format!("{} has {found} issue slots, not SM-cycles × schedulers = {expected}", app.name));
            }
            for (number, launch) in app.launches.iter().enumerate() {
                let issued = launch.slots.get(Slot::Issued as usize).copied().unwrap_or(0);
                let counted = launch.counters.warp_instructions;
                if issued != counted {
                    let name = &app.name;
                    return Err(format!("{name}, launch {number}: {issued} slots issued, {counted} warp instructions"));
                }
            }
        }
        model.audit(&stats.chip(), report).map_err(|e| e.to_string())
    }

    fn problem(&self, error: &MixError) -> Problem {
        let message = error.to_string();
        match error {
            MixError::Spec(_) | MixError::Partition(_) => Problem::input("mix::partition", message),
            MixError::Governor => Problem::input("mix::governor", message),
            MixError::Host { error: DeviceError::Invalid(_), .. } => Problem::input("run::invalid", message),
            MixError::Host { error: DeviceError::Interrupted, .. } | MixError::Interrupted => {
                Problem::run("run::interrupted", "the mix was interrupted").help("runs alone that have ended are kept")
            }
            MixError::Host { .. } => Problem::run("mix::host", message),
            MixError::Deadlock { .. } => Problem::run("run::deadlock", message),
            MixError::CycleLimit { .. } => Problem::run("run::cycle-limit", message),
            MixError::Fault { name, kernel, line, .. } => {
                let problem = Problem::run("run::fault", message);
                let program = self.alone.iter().position(|a| a.name == *name).map(|at| &self.programs[at]);
                let has = |m: &&crate::job::PtxFile| m.module.functions.iter().any(|f| f.entry && f.name == *kernel);
                match program.and_then(|p| p.modules().iter().rev().find(has)) {
                    Some(module) if *line > 0 => problem.at_line(&module.name, &module.text, *line, "here"),
                    _ => problem,
                }
            }
        }
    }
}

const NOT_COMPARED: Verified = Verified { verified: None, detail: String::new() };

/// Statistics that a mix does not keep apart by application.
fn of_memory(name: &str) -> bool {
    ["dram_", "flits_", "l2_writebacks"].iter().any(|prefix| name.starts_with(prefix))
}

fn report(title: &str, p: &Progress) -> Report {
    Report {
        stage: Stage::Timing,
        kernel: title.to_owned(),
        launch: u64::from(p.launches),
        cycles: p.cycles,
        warp_instructions: p.warp_instructions,
        ctas_done: p.ctas_done,
        ctas_total: p.ctas,
    }
}
