//! A run without time: what the kernels compute, and how many instructions they execute.

use super::{Controls, Prepared, Report, Reporter, Simulated, Stage, host};
use crate::transcript::{Shared, Transcript};
use warpwatt_machine::stats::{Counters, Ending, LaunchStats, RunStats};
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::fault::FaultKind;
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_simt::host::{Executor, Host};
use warpwatt_simt::launch::Launch;

/// Runs a program on the functional device.
pub(super) fn simulate(prepared: &Prepared, controls: Controls) -> Simulated {
    let mut device = Counted { device: FunctionalDevice::default(), launches: Vec::new(), report: controls.report };
    device.device.host().registers_override = prepared.request.registers;
    let log = Shared::default();
    let driven = prepared.drive(&mut device, Transcript::default(), &log, &controls.interrupted);
    let ending = match device.device.fault() {
        None if matches!(driven, Err(DeviceError::Interrupted)) => Ending::Interrupted,
        None => Ending::Completed,
        Some(fault) if matches!(fault.kind, FaultKind::BarrierDeadlock { .. }) => {
            Ending::Deadlock { message: fault.to_string() }
        }
        Some(fault) => Ending::Fault { message: fault.to_string(), line: fault.line },
    };
    let printed = device.device.printed().iter().map(|p| p.text.clone()).collect();
    let stats = RunStats { ending, launches: device.launches, samples: Vec::new(), decisions: Vec::new(), printed };
    let host = host(prepared, &stats, &log, 0.0);
    Simulated { stats, policy: Default::default(), driven, host, resumable: false }
}

/// Counts launch by launch.
struct Counted {
    device: FunctionalDevice,
    launches: Vec<LaunchStats>,
    report: Reporter,
}

impl Executor for Counted {
    fn host(&mut self) -> &mut Host {
        self.device.host()
    }

    fn execute(&mut self, launch: Launch) -> Result<(), DeviceError> {
        let (before, ctas) = (self.device.counts(), launch.ctas());
        (self.report)(&Report {
            stage: Stage::Functional,
            kernel: launch.program.kernel.clone(),
            launch: self.launches.len() as u64,
            cycles: 0,
            warp_instructions: before.warp_instructions,
            ctas_done: 0,
            ctas_total: ctas,
        });
        let mut stats = LaunchStats {
            kernel: launch.program.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            registers_per_thread: launch.program.registers_per_thread,
            shared_bytes: launch.shared_bytes(),
            ctas_per_sm: 0,
            occupancy_limit: String::new(),
            cycles: 0,
            stepped_sm_cycles: 0,
            start: 0,
            end: 0,
            slots: Vec::new(),
            counters: Counters::default(),
        };
        let result = self.device.execute(launch);
        let after = self.device.counts();
        stats.counters.warp_instructions = after.warp_instructions - before.warp_instructions;
        stats.counters.thread_instructions = after.thread_instructions - before.thread_instructions;
        stats.counters.ctas = if result.is_ok() { ctas } else { 0 };
        self.launches.push(stats);
        result
    }
}
