//! What a PTX file's kernels need, and whether they can run.

use crate::job::PtxFile;
use serde::Serialize;
use warpwatt_machine::spec::{Spec, occupancy};
use warpwatt_ptx::Lines;
use warpwatt_ptx::ir::{FuncId, Function};
use warpwatt_ptx::support::kernel_report;
use warpwatt_simt::memory::{GlobalMemory, MemoryError};
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
    let module = &file.module;
    let lines = Lines::new(&file.text);
    // External variables may lie anywhere here.
    let image = ModuleImage::place(module, &mut GlobalMemory::default(), |_| Some(0));
    let kernels = module.functions.iter().enumerate().filter(|(_, f)| f.entry);
    let check = |(index, kernel): (usize, &Function)| {
        let id = FuncId(index as u32);
        let line = lines.line(kernel.span.start);
        let built = kernel_program(file, id, &lines, line, image.as_ref(), registers);
        let needs = built.as_ref().map(|program| needs(program, kernel, spec, block)).ok();
        KernelCheck {
            kernel: kernel.name.clone(),
            line,
            runs: needs.is_some(),
            unsupported: built.err().unwrap_or_default(),
            needs,
        }
    };
    kernels.map(check).collect()
}

/// A kernel that can run, or all that keeps it from running. `line` is where it begins.
fn kernel_program(
    file: &PtxFile,
    id: FuncId,
    lines: &Lines,
    line: u32,
    image: Result<&ModuleImage, &MemoryError>,
    registers: Option<u32>,
) -> Result<Program, Vec<Unsupported>> {
    let unsupported: Vec<Unsupported> = kernel_report(&file.module, id)
        .into_iter()
        .map(|u| Unsupported { line: lines.line(u.span.start), reason: u.reason })
        .collect();
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let refuse = |line: u32, reason: String| vec![Unsupported { line, reason }];
    let image = image.map_err(|e| refuse(line, e.to_string()))?;
    let options = BuildOptions { image, registers_override: registers };
    Program::build(&file.module, id, &options).map_err(|e| refuse(e.line, e.to_string()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::sync::Arc;

    /// A file of so many small kernels.
    fn file(kernels: usize) -> PtxFile {
        let mut text = ".version 7.8\n.target sm_35\n.address_size 64\n".to_owned();
        for i in 0..kernels {
            let body = ".reg .b32 %r<3>;\n mov.u32 %r1, %tid.x;\n add.u32 %r2, %r1, 1;\n ret;";
            let _ = writeln!(text, ".visible .entry k{i}(.param .u64 p)\n{{\n {body}\n}}");
        }
        let module = warpwatt_ptx::parse("many.ptx", &text).unwrap();
        PtxFile { name: "many.ptx".to_owned(), text: module.source.clone(), module: Arc::new(module) }
    }

    #[test]
    fn kernels_are_checked_one_by_one_in_the_order_of_the_file() {
        let spec = Spec::preset("gtx480").unwrap();
        let checks = check(&file(100), &spec, 256, None);
        assert_eq!(checks.len(), 100);
        for (i, check) in checks.iter().enumerate() {
            assert_eq!((check.kernel.as_str(), check.line), (format!("k{i}").as_str(), 4 + 7 * i as u32));
            assert!(check.runs && check.unsupported.is_empty());
        }
    }
}
