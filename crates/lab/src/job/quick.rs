//! A launch without a description file: `--kernel K --grid 256 --block 256 --arg u32:65536 --arg buf:f32:65536:uniform`.
//! The pieces become a [`JobFile`] and take the same way as a file.

use super::file::{ArgSpec, ArgTable, BufferSpec, ElementType, Init, JobFile, OneOrMany, StepSpec};
use super::places::Places;
use super::{Job, resolve};
use crate::problem::{Outcome, Problem, suggestion};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A launch as pieces of a command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quick {
    /// Kernel; may be left out if the file has just one.
    pub kernel: Option<String>,
    /// Grid, `64` or `16x16` or `16,16`.
    pub grid: String,
    /// Block, likewise.
    pub block: String,
    /// Dynamic shared memory, bytes.
    pub shared_bytes: Option<u32>,
    /// Arguments.
    pub args: Vec<String>,
}

/// Makes a job of a PTX file and one launch.
pub fn quick(path: &Path, quick: &Quick) -> Outcome<Job> {
    let ptx = super::read_ptx(path, &path.display().to_string())?;
    let kernels: Vec<&str> =
        ptx.module.functions.iter().filter(|f| f.entry && f.body.is_some()).map(|f| f.name.as_str()).collect();
    let kernel = match (&quick.kernel, kernels.as_slice()) {
        (Some(kernel), _) => kernel.clone(),
        (None, [only]) => (*only).to_owned(),
        (None, []) => {
            return Err(Problem::input("quick::no-kernel", format!("`{}` has no kernel", path.display())));
        }
        (None, several) => {
            let problem = Problem::input("quick::which-kernel", format!("`{}` has several kernels", path.display()));
            return Err(problem.help(format!("choose one with --kernel: {}", several.join(", "))));
        }
    };
    let mut file = JobFile { ptx: OneOrMany::One(path.display().to_string()), ..Default::default() };
    let mut args = Vec::new();
    for text in &quick.args {
        args.push(argument(text, &mut file.buffer)?);
    }
    file.step.push(StepSpec {
        launch: Some(kernel),
        grid: Some(shape("--grid", &quick.grid)?),
        block: Some(shape("--block", &quick.block)?),
        shared_bytes: quick.shared_bytes,
        args,
        ..Default::default()
    });
    let stem = path.file_stem().map_or_else(|| "kernel".to_owned(), |s| s.to_string_lossy().into_owned());
    // The description has no text of its own; mistakes are shown in the same pieces written as TOML.
    let text = toml::to_string(&file).unwrap_or_default();
    resolve::resolve(file, Path::new(""), &stem, &Places { name: "command line (as TOML)", text: &text })
}

fn shape(option: &str, text: &str) -> Outcome<OneOrMany<i64>> {
    let parts: Result<Vec<i64>, _> = text.split(['x', ',']).map(|p| p.trim().parse()).collect();
    parts.map(OneOrMany::Many).map_err(|_| {
        let problem = Problem::input("quick::shape", format!("{option} `{text}` is not a shape"));
        problem.help("write 64, or 16x16, or 8x8x8")
    })
}

/// `TYPE:VALUE`, or `buf:TYPE:COUNT[:INIT[:SEED]]`, or `buf:FILE.npy`.
fn argument(text: &str, buffers: &mut Vec<BufferSpec>) -> Outcome<ArgSpec> {
    let usage = "write u32:1024, f32:0.5, buf:f32:65536:uniform, buf:s32:64:iota, or buf:data.npy";
    let bad = |code, why: String| Problem::input(code, format!("--arg `{text}`: {why}")).help(usage);
    let Some((kind, rest)) = text.split_once(':') else {
        return Err(bad("quick::arg-form", "neither TYPE:VALUE nor buf:…".to_owned()));
    };
    if kind == "buf" {
        let spec = buffer(rest, buffers.len()).map_err(|why| bad("quick::arg-buffer", why))?;
        buffers.push(spec);
        return Ok(ArgSpec::Buffer(buffers[buffers.len() - 1].name.clone()));
    }
    let Some(ty) = ElementType::by_name(kind) else {
        let names = ElementType::ALL.iter().map(|(_, n)| *n).chain(["buf"]);
        let hint = suggestion(kind, names).unwrap_or_default();
        return Err(bad("quick::arg-type", format!("`{kind}` is no type ({hint})")));
    };
    let table = scalar(ty, rest).ok_or_else(|| bad("quick::arg-value", format!("`{rest}` is no {}", ty.name())))?;
    Ok(ArgSpec::Table(Box::new(table)))
}

fn scalar(ty: ElementType, text: &str) -> Option<ArgTable> {
    let mut table = ArgTable::default();
    let unsigned = || match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<u64>().ok(),
    };
    match ty {
        ElementType::U8 => table.u8 = Some(u8::try_from(unsigned()?).ok()?),
        ElementType::U16 => table.u16 = Some(u16::try_from(unsigned()?).ok()?),
        ElementType::U32 => table.u32 = Some(u32::try_from(unsigned()?).ok()?),
        ElementType::U64 => table.u64 = Some(unsigned()?),
        ElementType::S8 => table.s8 = Some(text.parse().ok()?),
        ElementType::S16 => table.s16 = Some(text.parse().ok()?),
        ElementType::S32 => table.s32 = Some(text.parse().ok()?),
        ElementType::S64 => table.s64 = Some(text.parse().ok()?),
        ElementType::F32 => table.f32 = Some(text.parse().ok()?),
        ElementType::F64 => table.f64 = Some(text.parse().ok()?),
    }
    Some(table)
}

fn buffer(text: &str, number: usize) -> Result<BufferSpec, String> {
    let name = format!("buffer{number}");
    if text.ends_with(".npy") {
        return Ok(BufferSpec { name, init: Init::Npy, file: Some(text.to_owned()), ..Default::default() });
    }
    let mut parts = text.split(':');
    let ty = parts.next().unwrap_or_default();
    let element = ElementType::by_name(ty).ok_or_else(|| format!("`{ty}` is no element type"))?;
    let count = parts.next().ok_or("the number of elements is missing")?;
    let count: i64 = count.parse().map_err(|_| format!("`{count}` is no number of elements"))?;
    let mut spec =
        BufferSpec { name, element: Some(element), shape: Some(OneOrMany::One(count)), ..Default::default() };
    spec.init = match parts.next() {
        None | Some("zero") => Init::Zero,
        Some("iota") => Init::Iota,
        Some("uniform") => Init::Uniform,
        Some("normal") => Init::Normal,
        Some(number) => {
            let value =
                number.parse().map_err(|_| format!("`{number}` is none of zero, iota, uniform, normal, a number"))?;
            spec.value = Some(value);
            Init::Constant
        }
    };
    if let Some(seed) = parts.next() {
        spec.seed = Some(seed.parse().map_err(|_| format!("`{seed}` is no seed"))?);
    }
    match parts.next() {
        Some(rest) => Err(format!("what does `{rest}` mean?")),
        None => Ok(spec),
    }
}
