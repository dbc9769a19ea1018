//! What a PTX file's kernels need, and whether they can run.

use crate::job::PtxFile;
use crate::request::find_function;
use serde::Serialize;
use warpwatt_machine::spec::{Spec, occupancy};
use warpwatt_ptx::ir::Function;
use warpwatt_ptx::line_column;
use warpwatt_ptx::support::kernel_report;
use warpwatt_simt::memory::GlobalMemory;
use warpwatt_simt::program::{BuildOptions, ModuleImage, Program};

/// Something that is not implemented, with its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unsupported {
    /// Line, from 1.
    pub line: u32,
    /// What and why.
    pub reason: String,
}

/// Room on an SM.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Room {
    /// Threads of the CTA that this is worked out for.
    pub block_threads: u32,
    /// CTAs that fit an SM.
    pub ctas_per_sm: u32,
    /// Warps of them.
    pub warps_per_sm: u32,
    /// Of those an SM can hold.
    pub occupancy: f64,
    /// What limits it.
    pub limit: &'static str,
}

/// What a kernel that can run needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Static shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// Local memory of a thread, bytes.
    pub local_bytes: u32,
    /// Constant bank, bytes.
    pub constant_bytes: u64,
    /// Parameters, bytes.
    pub param_bytes: u32,
    /// Occupancy.
    pub room: Room,
}

/// A kernel's report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelCheck {
    /// Name.
    pub kernel: String,
    /// Its line, from 1.
    pub line: u32,
    /// Whether it can run.
    pub runs: bool,
    /// Everything that it can reach and that is not implemented.
    pub unsupported: Vec<Unsupported>,
    /// What it needs; absent if it cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
}

/// Checks every kernel of a file, in the file's order. `block` is the CTA's threads for occupancy, unless the kernel
/// requires or allows only another number.
pub fn check(file: &PtxFile, spec: &Spec, block: u32, registers: Option<u32>) -> Vec<KernelCheck> {
    let kernels = file.module.functions.iter().filter(|f| f.entry);
    kernels.map(|kernel| check_kernel(file, kernel, spec, block, registers)).collect()
}

fn check_kernel(file: &PtxFile, kernel: &Function, spec: &Spec, block: u32, registers: Option<u32>) -> KernelCheck {
    let line = |at: u32| line_column(&file.text, at as usize).0;
    let mut report = KernelCheck {
        kernel: kernel.name.clone(),
        line: line(kernel.span.start),
        runs: false,
        unsupported: Vec::new(),
        needs: None,
    };
    let Some(id) = find_function(&file.module, &kernel.name) else { return report };
    let unsupported = kernel_report(&file.module, id).into_iter();
    report.unsupported = unsupported.map(|u| Unsupported { line: line(u.span.start), reason: u.reason }).collect();
    if !report.unsupported.is_empty() {
        return report;
    }
    let refuse = |line: u32, reason: String| Unsupported { line, reason };
    let image = match ModuleImage::place(&file.module, &mut GlobalMemory::default(), |_| Some(0)) {
        Ok(image) => image,
        Err(e) => {
            report.unsupported.push(refuse(report.line, e.to_string()));
            return report;
        }
    };
    match Program::build(&file.module, id, &BuildOptions { image: &image, registers_override: registers }) {
        Ok(program) => {
            report.runs = true;
            report.needs = Some(needs(&program, kernel, spec, block));
        }
        Err(e) => report.unsupported.push(refuse(e.line, e.to_string())),
    }
    report
}

fn needs(program: &Program, kernel: &Function, spec: &Spec, block: u32) -> Needs {
    let required = kernel.reqntid.map(|r| r.iter().product());
    let threads: u32 = required.unwrap_or(block.min(kernel.maxntid.unwrap_or(block))).max(1);
    let fit = occupancy(spec, threads, program.registers_per_thread, program.static_shared);
    let warps = fit.ctas * fit.warps_per_cta;
    let room = Room {
        block_threads: threads,
        ctas_per_sm: fit.ctas,
        warps_per_sm: warps,
        occupancy: f64::from(warps) / f64::from(spec.warps_per_sm.max(1)),
        limit: fit.limit.label(),
    };
    Needs {
        registers_per_thread: program.registers_per_thread,
        shared_bytes: program.static_shared,
        local_bytes: program.local_bytes,
        constant_bytes: program.constants.len() as u64,
        param_bytes: program.param_bytes,
        room,
    }
}
