//! Small kernels on the timed GPU.
#![allow(dead_code)]

pub mod policies;

use warpwatt_machine::hooks::Policy;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Ending, RunStats};
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3};
use warpwatt_simt::functional::FunctionalDevice;

/// The kernels of `data/kernels.ptx`.
pub const KERNELS: &str = include_str!("../data/kernels.ptx");

/// A kernel with its launch: `launches` times `grid` × `block`, with `words` of input and of output.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub kernel: &'static str,
    pub grid: Dim3,
    pub block: Dim3,
    pub n: u32,
    pub words: u32,
    pub launches: u32,
    /// The result does not depend on the order in which warps run.
    pub ordered: bool,
}

const fn program(kernel: &'static str, ctas: u32, threads: u32, n: u32) -> Program {
    let (grid, block) = ([ctas, 1, 1], [threads, 1, 1]);
    Program { kernel, grid, block, n, words: ctas * threads, launches: 1, ordered: true }
}

/// One of each kind.
pub const PROGRAMS: &[Program] = &[
    Program { grid: [4, 4, 1], block: [16, 16, 1], words: 2 * 64 * 64, ..program("mm", 16, 256, 64) },
    program("counters", 40, 96, 6),
    Program { ordered: false, ..program("tickets", 20, 64, 3) },
    program("diverge", 24, 128, 29),
    Program { launches: 2, ..program("sums", 33, 256, 3) },
    Program { words: 1 << 16, ..program("chase", 17, 1, 40) },
    program("locals", 32, 160, 12),
    program("compute", 30, 192, 20),
];

/// The program of a kernel.
pub fn find(kernel: &str) -> Program {
    *PROGRAMS.iter().find(|p| p.kernel == kernel).unwrap()
}

impl Program {
    /// Loads, fills, launches, reads back.
    pub fn drive(&self, d: &mut dyn Device) -> Result<Vec<u8>, DeviceError> {
        d.load_module("kernels.ptx", KERNELS)?;
        let word = |i: u32| match self.kernel {
            "mm" => (((i.wrapping_mul(2_654_435_761) >> 8) as f32) / 16_777_216.0).to_bits(),
            "chase" => (i + 8256) % self.words,
            "tickets" => 0,
            _ => i.wrapping_mul(2_654_435_761) >> 16,
        };
        let data: Vec<u8> = (0..self.words).flat_map(|i| word(i).to_le_bytes()).collect();
        let (input, output) = (d.alloc(data.len() as u64)?, d.alloc(data.len() as u64)?);
        d.write(input, &data)?;
        for launch in 0..self.launches {
            let (from, to) = if launch % 2 == 0 { (input, output) } else { (output, input) };
            d.launch(self.kernel, self.grid, self.block, 0, &[Arg::Ptr(from), Arg::Ptr(to), Arg::U32(self.n)])?;
        }
        let mut bytes = vec![0; data.len()];
        d.read(if self.launches % 2 == 1 { output } else { input }, &mut bytes)?;
        Ok(bytes)
    }

    /// What it computes, from the functional device.
    pub fn expected(&self) -> Vec<u8> {
        self.drive(&mut FunctionalDevice::default()).unwrap()
    }

    /// Runs it on a GPU.
    pub fn run(&self, spec: &Spec, options: Options, policy: Option<&dyn Policy>) -> (Vec<u8>, RunStats, Gpu) {
        let gpu = match policy {
            Some(policy) => Gpu::with_policy(spec.clone(), options, policy),
            None => Gpu::new(spec.clone(), options),
        };
        let mut gpu = gpu.unwrap();
        let output = self.drive(&mut gpu).unwrap_or_else(|e| panic!("{}: {e}", self.kernel));
        let stats = gpu.stats();
        assert_eq!(stats.ending, Ending::Completed);
        (output, stats, gpu)
    }
}

/// A preset with some values changed.
pub fn preset(name: &str, settings: &[(&str, &str)]) -> Spec {
    let mut spec = Spec::preset(name).unwrap();
    settings.iter().for_each(|(key, value)| spec.set(key, value).unwrap());
    spec
}

/// The GTX 480.
pub fn gtx480() -> Spec {
    preset("gtx480", &[])
}

/// With this many host threads.
pub fn threads(threads: usize) -> Options {
    Options { threads, ..Options::default() }
}

/// A module with one kernel `k(a, b, c)` of three 64-bit parameters in `%a`, `%b`, `%c`, `%t` = tid.x, `%g` = global
/// index, `%w` = warp in the CTA, `%cta` = ctaid.x.
pub fn kernel(declarations: &str, body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_35\n.address_size 64\n{declarations}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
    .reg .pred %p<8>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<64>;
    .reg .b32 %t, %g, %w, %cta, %nt; .reg .b64 %a, %b, %c;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
    mov.u32 %t, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %nt, %ntid.x;
    mad.lo.u32 %g, %cta, %nt, %t; shr.u32 %w, %t, 5;
{body}
    ret;
}}
"
    )
}

/// A GPU that has run `k` on buffers.
#[derive(Debug)]
pub struct Bench {
    pub gpu: Gpu,
    pub a: u64,
    pub b: u64,
}

impl Bench {
    /// Loads a module; `a` is filled with data, `b` with `b_bytes` zeros.
    pub fn new(spec: &Spec, options: Options, ptx: &str, a: &[u8], b_bytes: u64) -> Bench {
        let mut gpu = Gpu::new(spec.clone(), options).unwrap();
        gpu.load_module("test.ptx", ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        let (address, b) = (gpu.alloc(a.len().max(4) as u64).unwrap(), gpu.alloc(b_bytes.max(4)).unwrap());
        gpu.write(address, a).unwrap();
        Bench { gpu, a: address, b }
    }

    /// Launches `k(a, b, c)`.
    pub fn launch(&mut self, ctas: u32, threads: u32, c: u64) -> Result<(), DeviceError> {
        self.gpu.launch("k", [ctas, 1, 1], [threads, 1, 1], 0, &[Arg::Ptr(self.a), Arg::Ptr(self.b), Arg::U64(c)])
    }

    /// Launches, and gives the cycles of the launch.
    pub fn cycles(&mut self, ctas: u32, threads: u32, c: u64) -> u64 {
        self.launch(ctas, threads, c).unwrap();
        self.gpu.stats().launches.last().unwrap().cycles
    }

    /// Words of a buffer.
    pub fn words(&mut self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; count * 4];
        self.gpu.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// 64-bit words as bytes.
pub fn longs(values: impl IntoIterator<Item = u64>) -> Vec<u8> {
    values.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// All that a run produced, as text, the count of steps apart.
pub fn record(stats: &RunStats) -> String {
    let mut stats = stats.clone();
    stats.launches.iter_mut().for_each(|l| l.stepped_sm_cycles = 0);
    serde_json::to_string(&stats).unwrap()
}
