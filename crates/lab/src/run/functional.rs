//! A run without time: what the kernels compute, and how many instructions they execute.

use super::{Controls, Prepared, Report, Reporter, Simulated, Stage, host};
use crate::transcript::{Shared, Transcript};
use warpwatt_machine::stats::{Counters, Ending, LaunchStats, RunStats};
use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3, TextureBinding};
use warpwatt_simt::fault::FaultKind;
use warpwatt_simt::functional::FunctionalDevice;

/// Runs a program on the functional device.
pub(super) fn simulate(prepared: &Prepared, controls: Controls) -> Simulated {
    let mut device = Counted { device: FunctionalDevice::default(), launches: Vec::new(), report: controls.report };
    device.device.host().registers_override = prepared.request.registers;
    let log = Shared::default();
    let driven = prepared.drive(&mut device, Transcript::default(), &log);
    let ending = match device.device.fault() {
        None => Ending::Completed,
        Some(fault) if matches!(fault.kind, FaultKind::BarrierDeadlock { .. }) => {
            Ending::Deadlock { message: fault.to_string() }
        }
        Some(fault) => Ending::Fault { message: fault.to_string(), line: fault.line },
    };
    let printed = device.device.printed().iter().map(|p| p.text.clone()).collect();
    let stats = RunStats { ending, launches: device.launches, samples: Vec::new(), printed };
    let host = host(prepared, &stats, &log, 0.0);
    Simulated { stats, policy: Default::default(), driven, host, resumable: false }
}

/// Counts launch by launch.
struct Counted {
    device: FunctionalDevice,
    launches: Vec<LaunchStats>,
    report: Reporter,
}

impl Device for Counted {
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        self.device.load_module(name, ptx)
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.device.alloc(bytes)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.device.write(address, data)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.device.read(address, data)
    }

    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        self.device.symbol(name)
    }

    fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError> {
        self.device.bind_texture(name, binding)
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let before = self.device.counts();
        let ctas = grid.iter().map(|d| u64::from(*d)).product();
        (self.report)(&Report {
            stage: Stage::Functional,
            kernel: kernel.to_owned(),
            launch: self.launches.len() as u64,
            cycles: 0,
            warp_instructions: before.warp_instructions,
            ctas_done: 0,
            ctas_total: ctas,
        });
        let program = self.device.host().program(kernel)?;
        let result = self.device.launch(kernel, grid, block, dynamic_shared, args);
        if let Err(DeviceError::Invalid(_)) = result {
            return result;
        }
        let after = self.device.counts();
        let counters = Counters {
            warp_instructions: after.warp_instructions - before.warp_instructions,
            thread_instructions: after.thread_instructions - before.thread_instructions,
            ctas: if result.is_ok() { ctas } else { 0 },
            ..Counters::default()
        };
        self.launches.push(LaunchStats {
            kernel: kernel.to_owned(),
            grid,
            block,
            registers_per_thread: program.registers_per_thread,
            shared_bytes: program.static_shared + dynamic_shared,
            ctas_per_sm: 0,
            occupancy_limit: String::new(),
            cycles: 0,
            stepped_sm_cycles: 0,
            start: 0,
            end: 0,
            slots: Vec::new(),
            counters,
        });
        result
    }
}
