//! Tiny kernels on the functional device.
#![allow(dead_code)]

use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3};
use warpwatt_simt::fault::{Fault, FaultKind};
use warpwatt_simt::functional::FunctionalDevice;

/// What every test kernel begins with: `%tid` in `%t`, `in` and `out` plus 8 × tid in `%in` and `%out`.
pub const PRELUDE: &str = "
    .reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 %rd<40>; .reg .f64 %fd<10>;
    .reg .b32 %t; .reg .b64 %in, %out, %in0, %out0, %o8;
    ld.param.u64 %in0, [in];
    ld.param.u64 %out0, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o8, %t, 8;
    add.s64 %in, %in0, %o8;
    add.s64 %out, %out0, %o8;
";

/// A module with `declarations` and a kernel `k(in, out)` whose body follows the prelude.
pub fn module(declarations: &str, body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 in, .param .u64 \
         out)\n{{{PRELUDE}{body}\n    ret;\n}}\n"
    )
}

/// A device, and the two buffers of `k`.
pub struct Bench {
    pub device: FunctionalDevice,
    pub input: u64,
    pub output: u64,
}

pub const OUTPUT_BYTES: usize = 8192;

impl Bench {
    pub fn new(ptx: &str, input: &[u8]) -> Bench {
        let mut device = FunctionalDevice::default();
        device.limit_warp_instructions(5_000_000);
        device.load_module("test.ptx", ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        let address = device.alloc(input.len() as u64).unwrap();
        device.write(address, input).unwrap();
        let output = device.alloc(OUTPUT_BYTES as u64).unwrap();
        Bench { device, input: address, output }
    }

    pub fn launch(&mut self, grid: Dim3, block: Dim3, dynamic: u32) -> Result<(), DeviceError> {
        let args = [Arg::Ptr(self.input), Arg::Ptr(self.output)];
        self.device.launch("k", grid, block, dynamic, &args)
    }

    pub fn output(&mut self) -> Vec<u64> {
        let mut bytes = vec![0; OUTPUT_BYTES];
        self.device.read(self.output, &mut bytes).unwrap();
        bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

fn bytes(input: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
    bytes.resize(bytes.len().max(1024), 0);
    bytes
}

/// Runs one CTA of `threads` threads; thread i's 8-byte words of input and output are `input[i]` and the result's i.
pub fn run_module(ptx: &str, threads: u32, input: &[u64]) -> Vec<u64> {
    let mut bench = Bench::new(ptx, &bytes(input));
    bench.launch([1, 1, 1], [threads, 1, 1], 0).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    let mut out = bench.output();
    out.truncate(threads as usize);
    out
}

/// As [`run_module`], for a body without declarations.
pub fn run(body: &str, threads: u32, input: &[u64]) -> Vec<u64> {
    run_module(&module("", body), threads, input)
}

/// The result of one thread with one input.
pub fn run1(body: &str, input: u64) -> u64 {
    run(body, 1, &[input])[0]
}

/// The fault of a kernel that fails.
pub fn fault_of_module(ptx: &str, threads: u32, input: &[u64]) -> Fault {
    let mut bench = Bench::new(ptx, &bytes(input));
    match bench.launch([1, 1, 1], [threads, 1, 1], 0) {
        Err(DeviceError::Failed(_)) => bench.device.fault().unwrap().clone(),
        other => panic!("no fault: {other:?}\n{ptx}"),
    }
}

/// The fault of a body that fails.
pub fn fault(body: &str, threads: u32, input: &[u64]) -> Fault {
    fault_of_module(&module("", body), threads, input)
}

pub fn kind(body: &str, threads: u32, input: &[u64]) -> FaultKind {
    fault(body, threads, input).kind
}

/// Line of the first line of a module that contains `text`.
pub fn line_of(ptx: &str, text: &str) -> u32 {
    ptx.lines().position(|l| l.contains(text)).unwrap() as u32 + 1
}
