//! The reference cases: small self-checking kernels with fixed inputs, for which checksums and another simulator's counts
//! are known. Each case is driven through [`Device`], so the same code runs it functionally and in timing mode.
//!
//! The kernels' PTX and the expected numbers are not part of the project; [`folder`] finds them. Inputs: h(i) = i ×
//! 2654435761 mod 2³²; u(i) = (h(i) >> 8) / 2²⁴.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3};

/// What a case computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Name in `expected.csv`.
    pub name: &'static str,
    /// Elements of the output buffer.
    pub elements: usize,
    /// Their sum in double precision.
    pub sum: f64,
    /// FNV-1a (64 bit) of its bytes.
    pub fnv1a64: u64,
}

/// A case.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name in the tables.
    pub name: &'static str,
    /// The kernel that it launches.
    pub kernel: &'static str,
    run: fn(&mut dyn Device) -> Result<Vec<Output>, DeviceError>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// Runs the case on a fresh device. `ptx` is the text of the reference kernels.
    pub fn run(&self, device: &mut dyn Device, ptx: &str) -> Result<Vec<Output>, DeviceError> {
        device.load_module("kernels.ptx", ptx)?;
        (self.run)(device)
    }
}

/// All cases, in the order of the tables.
pub fn cases() -> &'static [Case] {
    const fn case(
        name: &'static str,
        kernel: &'static str,
        run: fn(&mut dyn Device) -> Result<Vec<Output>, DeviceError>,
    ) -> Case {
        Case { name, kernel, run }
    }
    const CASES: &[Case] = &[
        case("vecadd", "vecadd", vecadd),
        case("copy4", "copy4", copy4),
        case("strided", "strided", strided),
        case("matmul", "matmul", matmul),
        case("reduce", "reduce", reduce),
        case("transpose_naive", "transpose_naive", |d| transpose(d, "transpose_naive")),
        case("transpose_conflict", "transpose_conflict", |d| transpose(d, "transpose_conflict")),
        case("stencil5", "stencil5", stencil5),
        case("spmv", "spmv", spmv),
        case("bfs", "bfs", bfs),
        case("chase_l1", "chase", |d| chase(d, "chase_l1", 1024, 32)),
        case("chase_l2", "chase", |d| chase(d, "chase_l2", 65536, 32)),
        case("chase_dram", "chase", |d| chase(d, "chase_dram", 1_048_576, 1952)),
        case("diverge", "diverge", diverge),
        case("sfu", "sfu", sfu),
        case("intfp", "intfp", intfp),
        case("banks1", "banks", |d| banks(d, "banks1", 1)),
        case("banks2", "banks", |d| banks(d, "banks2", 2)),
        case("banks32", "banks", |d| banks(d, "banks32", 32)),
        case("histogram", "histogram", |d| histogram(d, "histogram")),
        case("histogram_shared", "histogram_shared", |d| histogram(d, "histogram_shared")),
        case("barriers", "barriers", barriers),
        case("thrash_fit", "thrash", |d| thrash(d, "thrash_fit", 64)),
        case("thrash_over", "thrash", |d| thrash(d, "thrash_over", 512)),
        case("stores", "stores", stores),
        case("fp64", "fp64", fp64),
    ];
    CASES
}

/// The case of this name.
pub fn find(name: &str) -> Option<&'static Case> {
    cases().iter().find(|c| c.name == name)
}

fn h(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761)
}

fn u(i: u32) -> f32 {
    (h(i) >> 8) as f32 / 16_777_216.0
}

/// Element of an output buffer.
trait Element: Copy {
    const BYTES: usize;
    fn value(bytes: &[u8]) -> f64;
}

macro_rules! element {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            const BYTES: usize = size_of::<$ty>();
            fn value(bytes: &[u8]) -> f64 {
                bytes.try_into().map_or(f64::NAN, |b| <$ty>::from_le_bytes(b) as f64)
            }
        }
    )*};
}

element!(f32 f64 i32 u32);

fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(14_695_981_039_346_656_037, |hash, &b| (hash ^ b as u64).wrapping_mul(1_099_511_628_211))
}

fn floats(d: &mut dyn Device, n: u32) -> Result<Arg, DeviceError> {
    let data: Vec<u8> = (0..n).flat_map(|i| u(i).to_le_bytes()).collect();
    upload(d, &data)
}

fn words(d: &mut dyn Device, values: impl Iterator<Item = u32>) -> Result<Arg, DeviceError> {
    let data: Vec<u8> = values.flat_map(u32::to_le_bytes).collect();
    upload(d, &data)
}

fn upload(d: &mut dyn Device, data: &[u8]) -> Result<Arg, DeviceError> {
    let address = d.alloc(data.len() as u64)?;
    d.write(address, data)?;
    Ok(Arg::Ptr(address))
}

fn zeros(d: &mut dyn Device, bytes: u64) -> Result<Arg, DeviceError> {
    d.alloc(bytes).map(Arg::Ptr)
}

fn download(d: &mut dyn Device, buffer: &Arg, bytes: usize) -> Result<Vec<u8>, DeviceError> {
    let mut data = vec![0; bytes];
    match buffer {
        Arg::Ptr(address) => d.read(*address, &mut data)?,
        _ => return Err(DeviceError::Invalid("an output that is no buffer".to_string())),
    }
    Ok(data)
}

fn output<T: Element>(
    d: &mut dyn Device,
    name: &'static str,
    buffer: &Arg,
    elements: usize,
) -> Result<Output, DeviceError> {
    let data = download(d, buffer, elements * T::BYTES)?;
    let sum = data.chunks_exact(T::BYTES).map(T::value).sum();
    Ok(Output { name, elements, sum, fnv1a64: fnv1a64(&data) })
}

fn launch(d: &mut dyn Device, kernel: &str, grid: Dim3, block: Dim3, args: &[&Arg]) -> Result<(), DeviceError> {
    let args: Vec<Arg> = args.iter().map(|&a| a.clone()).collect();
    d.launch(kernel, grid, block, 0, &args)
}

fn line(n: u32) -> Dim3 {
    [n, 1, 1]
}

fn int(v: i32) -> Arg {
    Arg::I32(v)
}

fn vecadd(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 131_072;
    let (a, b, c) = (floats(d, n)?, floats(d, n)?, zeros(d, 4 * n as u64)?);
    launch(d, "vecadd", line(512), line(256), &[&a, &b, &c, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, "vecadd", &c, n as usize)?])
}

fn copy4(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 65_536;
    let (a, b) = (floats(d, 4 * n)?, zeros(d, 16 * n as u64)?);
    launch(d, "copy4", line(60), line(256), &[&a, &b, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, "copy4", &b, 4 * n as usize)?])
}

fn strided(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 65_536;
    let (a, b) = (floats(d, n)?, zeros(d, 4 * n as u64)?);
    launch(d, "strided", line(256), line(256), &[&a, &b, &int(n as i32), &int(33)])?;
    Ok(vec![output::<f32>(d, "strided", &b, n as usize)?])
}

fn matmul(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 256u32;
    let (a, b, c) = (floats(d, n * n)?, floats(d, n * n)?, zeros(d, 4 * (n * n) as u64)?);
    launch(d, "matmul", [16, 16, 1], [16, 16, 1], &[&a, &b, &c, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, "matmul", &c, (n * n) as usize)?])
}

fn reduce(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 131_072;
    let (a, out) = (floats(d, n)?, zeros(d, 4 * 256)?);
    launch(d, "reduce", line(256), line(256), &[&a, &out, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, "reduce", &out, 256)?])
}

fn transpose(d: &mut dyn Device, name: &'static str) -> Result<Vec<Output>, DeviceError> {
    let n = 256u32;
    let (a, b) = (floats(d, n * n)?, zeros(d, 4 * (n * n) as u64)?);
    launch(d, name, [8, 8, 1], [32, 8, 1], &[&a, &b, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, name, &b, (n * n) as usize)?])
}

fn stencil5(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 384u32;
    let (a, b) = (floats(d, n * n)?, zeros(d, 4 * (n * n) as u64)?);
    launch(d, "stencil5", [12, 48, 1], [32, 8, 1], &[&a, &b, &int(n as i32)])?;
    Ok(vec![output::<f32>(d, "stencil5", &b, (n * n) as usize)?])
}

/// Start of each row, given the rows' lengths.
fn starts(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut list = vec![0];
    let mut total = 0;
    list.extend(lengths.map(|n| {
        total += n;
        total
    }));
    list
}

fn spmv(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let rows = 8192;
    let length = |r: u32| 7919 * r % 37 + 1;
    let entries = move || (0..rows).flat_map(move |r| (0..length(r)).map(move |j| 64 * r + j));
    let row = words(d, starts((0..rows).map(length)).into_iter())?;
    let col = words(d, entries().map(|e| h(e) % rows))?;
    let val = words(d, entries().map(|e| u(e).to_bits()))?;
    let (x, y) = (floats(d, rows)?, zeros(d, 4 * rows as u64)?);
    launch(d, "spmv", line(64), line(128), &[&row, &col, &val, &x, &y, &int(rows as i32)])?;
    Ok(vec![output::<f32>(d, "spmv", &y, rows as usize)?])
}

fn bfs(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let nodes = 16_384u32;
    let length = |r: u32| 31 * r % 9 + 1;
    let row = words(d, starts((0..nodes).map(length)).into_iter())?;
    let col = words(d, (0..nodes).flat_map(|r| (0..length(r)).map(move |j| h(16 * r + j + 1) % nodes)))?;
    let level = words(d, (0..nodes).map(|r| if r == 0 { 0 } else { u32::MAX }))?;
    let changed = words(d, std::iter::once(0))?;
    for depth in 0..nodes as i32 {
        if let Arg::Ptr(address) = changed {
            d.write(address, &[0; 4])?;
        }
        let args = [&row, &col, &level, &changed, &int(depth), &int(nodes as i32)];
        launch(d, "bfs", line(64), line(256), &args)?;
        if download(d, &changed, 4)? == [0; 4] {
            break;
        }
    }
    Ok(vec![output::<i32>(d, "bfs", &level, nodes as usize)?])
}

fn chase(d: &mut dyn Device, name: &'static str, n: u32, step: u32) -> Result<Vec<Output>, DeviceError> {
    let next = words(d, (0..n).map(|i| (i + step) % n))?;
    let out = zeros(d, 4)?;
    launch(d, "chase", line(1), line(1), &[&next, &out, &int(4096)])?;
    Ok(vec![output::<u32>(d, name, &out, 1)?])
}

fn diverge(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let out = zeros(d, 4 * 30_720)?;
    launch(d, "diverge", line(120), line(256), &[&out, &int(8)])?;
    Ok(vec![output::<i32>(d, "diverge", &out, 30_720)?])
}

fn sfu(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let out = zeros(d, 4 * 30_720)?;
    launch(d, "sfu", line(120), line(256), &[&out, &int(16)])?;
    Ok(vec![output::<f32>(d, "sfu", &out, 30_720)?])
}

fn intfp(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let (floats, ints) = (zeros(d, 4 * 30_720)?, zeros(d, 4 * 30_720)?);
    launch(d, "intfp", line(120), line(256), &[&floats, &ints, &int(64)])?;
    Ok(vec![output::<f32>(d, "intfp_f", &floats, 30_720)?, output::<i32>(d, "intfp", &ints, 30_720)?])
}

fn banks(d: &mut dyn Device, name: &'static str, stride: i32) -> Result<Vec<Output>, DeviceError> {
    let out = zeros(d, 4 * 15_360)?;
    launch(d, "banks", line(60), line(256), &[&out, &int(stride), &int(32)])?;
    Ok(vec![output::<f32>(d, name, &out, 15_360)?])
}

fn histogram(d: &mut dyn Device, name: &'static str) -> Result<Vec<Output>, DeviceError> {
    let n = 65_536;
    let a = words(d, (0..n).map(|i| h(i) >> 8))?;
    let bins = zeros(d, 4 * 256)?;
    launch(d, name, line(60), line(256), &[&a, &bins, &int(n as i32)])?;
    Ok(vec![output::<u32>(d, name, &bins, 256)?])
}

fn barriers(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let out = zeros(d, 4 * 15_360)?;
    launch(d, "barriers", line(60), line(256), &[&out, &int(32)])?;
    Ok(vec![output::<i32>(d, "barriers", &out, 15_360)?])
}

fn thrash(d: &mut dyn Device, name: &'static str, words: u32) -> Result<Vec<Output>, DeviceError> {
    let (a, out) = (floats(d, 480 * words)?, zeros(d, 4 * 15_360)?);
    launch(d, "thrash", line(60), line(256), &[&a, &out, &int(words as i32), &int(8)])?;
    Ok(vec![output::<f32>(d, name, &out, 15_360)?])
}

fn stores(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let n = 1_048_576;
    let out = zeros(d, 4 * n as u64)?;
    launch(d, "stores", line(60), line(256), &[&out, &int(n), &int(4)])?;
    Ok(vec![output::<f32>(d, "stores", &out, n as usize)?])
}

fn fp64(d: &mut dyn Device) -> Result<Vec<Output>, DeviceError> {
    let out = zeros(d, 8 * 15_360)?;
    launch(d, "fp64", line(60), line(256), &[&out, &int(8)])?;
    Ok(vec![output::<f64>(d, "fp64", &out, 15_360)?])
}

/// The reference folder: `$WARPWATT_REFERENCE`, or `../shared/reference` beside the workspace. `None`, with a loud line, if
/// it is missing.
pub fn folder() -> Option<PathBuf> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = match std::env::var_os("WARPWATT_REFERENCE") {
        Some(path) => PathBuf::from(path),
        None => workspace.join("../shared/reference"),
    };
    if path.join("kernels/kernels.ptx").is_file() {
        return Some(path);
    }
    let shown = path.display();
    skipped(&format!("no reference kernels in {shown} (set WARPWATT_REFERENCE to their folder)"));
    None
}

/// Says loudly that a test was skipped. It writes past `cargo test`'s capture, which keeps from the screen what `eprintln!`
/// says in a test that passes.
pub fn skipped(why: &str) {
    // A screen that cannot be written to is no reason to fail.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// A table of numbers by case name and column name, from a CSV text whose first column is the case.
pub fn table(csv: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut fields = line.split(',');
            let name = fields.next().unwrap_or("").to_string();
            (name, columns.iter().skip(1).map(|c| c.to_string()).zip(fields.map(str::to_string)).collect())
        })
        .collect()
}
