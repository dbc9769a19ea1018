//! Checks a launch description against its PTX and makes it a [`Job`]. Every mistake is shown at its place.

use super::data::{self, read_data, read_npy};
use super::expect::{Expect, Value, What};
use super::file::{BufferSpec, ElementType, ExpectSpec, JobFile, Number, OneOrMany, StepSpec, TextureSpec};
use super::places::{Part, Places};
use super::{Buffer, Job, Machine, MachinePlaces, PtxFile, Rounds, Step, Texture, args, read_ptx};
use crate::problem::{Outcome, Problem};
use crate::request::is_gpu_file;
use std::path::{Path, PathBuf};
use warpwatt_ptx::ir::{Function, Space};
use warpwatt_simt::device::{Dim3, TexelFormat, TextureBinding};

/// Rounds after which a loop without `max_rounds` is given up.
const DEFAULT_MAX_ROUNDS: u64 = 100_000;
/// Largest grid in x, y, z, and largest block: as the CUDA programming guide's table of compute capability 3.x.
const MAX_GRID: [u64; 3] = [(1 << 31) - 1, 65535, 65535];
const MAX_BLOCK: [u64; 3] = [1024, 1024, 64];
const MAX_THREADS: u64 = 1024;
/// Largest texture in x (one-dimensional, of linear memory), y and z: likewise.
const MAX_TEXELS: [u64; 3] = [1 << 27, 65536, 4096];

/// Resolves a description whose relative file names start at `folder`.
pub fn resolve(file: JobFile, folder: &Path, stem: &str, places: &Places<'_>) -> Outcome<Job> {
    let description = describe(&file, places.name)?;
    let modules = modules(&file, folder, places)?;
    let mut job = Job {
        name: file.name.clone().unwrap_or_else(|| stem.to_owned()),
        machine: machine(&file, folder, places),
        modules,
        buffers: Vec::new(),
        textures: Vec::new(),
        steps: Vec::new(),
        expects: Vec::new(),
        description,
        files: files(&file, folder),
    };
    for (i, spec) in file.buffer.iter().enumerate() {
        let buffer = buffer(spec, folder, &job)
            .map_err(|(p, key)| places.mark(p, &["buffer".into(), i.into(), key.into()], "here"))?;
        job.buffers.push(buffer);
    }
    for (i, spec) in file.texture.iter().enumerate() {
        let texture = texture(spec, &job)
            .map_err(|(p, key)| places.mark(p, &["texture".into(), i.into(), key.into()], "here"))?;
        job.textures.push(texture);
    }
    if file.step.is_empty() {
        let problem = Problem::input("job::no-steps", format!("{}: nothing to launch", places.name));
        return Err(problem.help("add a [[step]] with `launch = \"kernel\"`, `grid` and `block`"));
    }
    let reader = StepReader { job: &job, places };
    let steps: Outcome<Vec<Step>> =
        file.step.iter().enumerate().map(|(i, s)| reader.step(s, &["step".into(), i.into()])).collect();
    job.steps = steps?;
    for (i, spec) in file.expect.iter().enumerate() {
        let expect = expect(spec, folder, &job)
            .map_err(|(p, key)| places.mark(p, &["expect".into(), i.into(), key.into()], "here"))?;
        job.expects.push(expect);
    }
    Ok(job)
}

/// What the description says of the machine.
fn machine(file: &JobFile, folder: &Path, places: &Places<'_>) -> Machine {
    fn settings<'t>(path: &[&'t str], table: &'t toml::Table, into: &mut Vec<(Vec<&'t str>, &'t toml::Value)>) {
        for (key, value) in table {
            let path = [path, &[key.as_str()]].concat();
            match value {
                toml::Value::Table(group) => settings(&path, group, into),
                value => into.push((path, value)),
            }
        }
    }
    let gpu = |name: &String| match is_gpu_file(name) {
        true => folder.join(name).to_string_lossy().into_owned(),
        false => name.clone(),
    };
    let mut given = Vec::new();
    settings(&[], &file.set, &mut given);
    let place = |path: &[&str]| places.find(&path.iter().map(|key| Part::Key(key)).collect::<Vec<_>>());
    let places = MachinePlaces {
        name: places.name.to_owned(),
        text: places.text.to_owned(),
        gpu: place(&["gpu"]),
        policy: place(&["policy"]),
        set: given.iter().map(|(path, _)| place(&[&["set"], &path[..]].concat())).collect(),
    };
    let set = given.iter().map(|(path, value)| format!("{}={value}", path.join("."))).collect();
    Machine { gpu: file.gpu.as_ref().map(gpu), policy: file.policy.clone(), set, places }
}

/// The description as data, without folders: what is in the files counts, not where they are. The machine is an input of
/// its own.
fn describe(file: &JobFile, name: &str) -> Outcome<serde_json::Value> {
    let bare = |path: &String| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let mut file = file.clone();
    (file.gpu, file.policy) = (None, None);
    file.set.clear();
    file.ptx = OneOrMany::Many(file.ptx.as_slice().iter().map(bare).collect());
    file.buffer.iter_mut().for_each(|b| b.file = b.file.as_ref().map(bare));
    for expect in &mut file.expect {
        (expect.npy, expect.raw) = (expect.npy.as_ref().map(bare), expect.raw.as_ref().map(bare));
    }
    serde_json::to_value(&file).map_err(|e| Problem::input("job::description", format!("{name}: {e}")))
}

/// The files that the description names.
fn files(file: &JobFile, folder: &Path) -> Vec<PathBuf> {
    let gpu = file.gpu.iter().filter(|gpu| is_gpu_file(gpu));
    let data = file.buffer.iter().filter_map(|b| b.file.as_ref());
    let expected = file.expect.iter().flat_map(|e| e.npy.iter().chain(&e.raw));
    file.ptx.as_slice().iter().chain(gpu).chain(data).chain(expected).map(|name| folder.join(name)).collect()
}

type Located<T> = Result<T, (Problem, &'static str)>;

fn modules(file: &JobFile, folder: &Path, places: &Places<'_>) -> Outcome<Vec<PtxFile>> {
    if file.ptx.as_slice().is_empty() {
        let problem = Problem::input("job::no-ptx", format!("{}: no PTX file is named", places.name));
        return Err(problem.help("add `ptx = \"kernels.ptx\"`"));
    }
    let names = file.ptx.as_slice();
    let mut seen = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let path = folder.join(name);
        let path = path.canonicalize().unwrap_or(path);
        if seen.contains(&path) {
            let problem = Problem::input("job::duplicate", format!("`{name}` is named twice")).help("name it once");
            return Err(places.mark(problem, &["ptx".into(), i.into()], "again"));
        }
        seen.push(path);
    }
    names
        .iter()
        .map(|name| {
            let read = read_ptx(&folder.join(name), name);
            read.map_err(|p| if p.code() == "ptx::syntax" { p } else { places.mark(p, &["ptx".into()], "named here") })
        })
        .collect()
}

fn buffer(spec: &BufferSpec, folder: &Path, job: &Job) -> Located<Buffer> {
    if spec.name.is_empty() {
        return Err((Problem::input("job::empty-name", "a buffer needs a name"), "name"));
    }
    if job.buffers.iter().any(|b| b.name == spec.name) {
        return Err((Problem::input("job::duplicate", format!("there are two buffers `{}`", spec.name)), "name"));
    }
    let contents = data::contents(spec, folder)?;
    if let Some(symbol) = &spec.symbol {
        let variables = job.modules.iter().rev().flat_map(|m| &m.module.variables);
        let fit = |v: &&warpwatt_ptx::ir::Variable| matches!(v.space, Space::Global | Space::Const);
        let known: Vec<_> = variables.filter(fit).collect();
        let Some(variable) = known.iter().find(|v| v.name == *symbol) else {
            let names = known.iter().map(|v| v.name.as_str());
            return Err((Problem::unknown("job::unknown-symbol", "module variable", symbol, names), "symbol"));
        };
        if (contents.bytes.len() as u64) > variable.size {
            let (given, size) = (contents.bytes.len(), variable.size);
            let message = format!("`{symbol}` has {size} bytes, but buffer `{}` has {given}", spec.name);
            return Err((Problem::input("job::symbol-size", message), "shape"));
        }
    }
    Ok(Buffer { name: spec.name.clone(), contents, symbol: spec.symbol.clone() })
}

fn texture(spec: &TextureSpec, job: &Job) -> Located<Texture> {
    let declared = job
        .modules
        .iter()
        .flat_map(|m| &m.module.variables)
        .filter(|v| v.space == Space::Tex || matches!(v.ty, warpwatt_ptx::ir::Type::TexRef));
    let names: Vec<&str> = declared.map(|v| v.name.as_str()).collect();
    if !names.contains(&spec.name.as_str()) {
        return Err((Problem::unknown("job::unknown-texture", "texture reference", &spec.name, names), "name"));
    }
    let buffer = args::find_buffer(&spec.buffer, &job.buffers).map_err(|p| (p, "buffer"))?;
    let contents = &job.buffers[buffer].contents;
    let format = match contents.element {
        ElementType::U8 => TexelFormat::U8,
        ElementType::S8 => TexelFormat::S8,
        ElementType::U16 => TexelFormat::U16,
        ElementType::S16 => TexelFormat::S16,
        ElementType::U32 => TexelFormat::U32,
        ElementType::S32 => TexelFormat::S32,
        ElementType::F32 => TexelFormat::F32,
        other => {
            let message = format!("a texture cannot hold {} elements", other.name());
            return Err((Problem::input("job::texture-format", message), "buffer"));
        }
    };
    if !matches!(spec.channels, 1 | 2 | 4) {
        return Err((Problem::input("job::texture-channels", "a texel has 1, 2 or 4 channels"), "channels"));
    }
    let size = dims("size", &spec.size, MAX_TEXELS).map_err(|(problem, _)| (problem, "size"))?;
    let texels = size.iter().map(|d| u64::from(*d)).product::<u64>();
    if texels == 0 || texels.saturating_mul(u64::from(spec.channels)) > contents.count {
        let have = contents.count;
        let message = format!("{size:?} texels of {} channels do not fit {have} elements", spec.channels);
        return Err((Problem::input("job::texture-size", message), "size"));
    }
    if spec.read_normalized && contents.element.bytes() == 4 {
        let message = "only elements of 8 and 16 bits are read as normalized floats";
        return Err((Problem::input("job::texture-normalized", message), "read_normalized"));
    }
    if spec.wrap && !spec.normalized {
        return Err((Problem::input("job::texture-wrap", "`wrap` needs `normalized = true`"), "wrap"));
    }
    let pitch = u64::from(size[0]) * u64::from(spec.channels) * contents.element.bytes() as u64;
    let binding = TextureBinding {
        address: 0,
        size,
        pitch,
        channels: spec.channels,
        format,
        linear: spec.linear,
        normalized: spec.normalized,
        wrap: spec.wrap,
        read_normalized: spec.read_normalized,
    };
    Ok(Texture { name: spec.name.clone(), buffer, binding })
}

/// One to three dimensions, the missing ones 1. A problem comes with the number of the dimension, if it is that of one.
fn dims(key: &str, given: &OneOrMany<i64>, most: [u64; 3]) -> Result<Dim3, (Problem, Option<usize>)> {
    let given = given.as_slice();
    if !(1..=3).contains(&given.len()) {
        return Err((Problem::input("job::dimensions", format!("a {key} has 1 to 3 dimensions")), None));
    }
    let mut dims = [1; 3];
    for (i, (size, most)) in given.iter().zip(most).enumerate() {
        match u32::try_from(*size) {
            Ok(size) if size > 0 && u64::from(size) <= most => dims[i] = size,
            _ => {
                let message = format!("a {key}'s dimension of {size} is not in 1 to {most}");
                return Err((Problem::input("job::dimension-range", message), Some(i)));
            }
        }
    }
    Ok(dims)
}

struct StepReader<'a> {
    job: &'a Job,
    places: &'a Places<'a>,
}

impl StepReader<'_> {
    fn fail<T>(&self, path: &[Part<'_>], key: &'static str, problem: Problem) -> Outcome<T> {
        let mut path = path.to_vec();
        path.push(key.into());
        Err(self.places.mark(problem, &path, "here"))
    }

    fn step(&self, spec: &StepSpec, path: &[Part<'static>]) -> Outcome<Step> {
        let kinds = [spec.launch.is_some(), !spec.body.is_empty(), spec.reset.is_some(), spec.copy.is_some()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            let problem = Problem::input("job::step-kind", "a step has exactly one of `launch`, `do`, `reset`, `copy`");
            return self.fail(path, "launch", problem);
        }
        if spec.launch.is_none() {
            let launch_only = [
                ("grid", spec.grid.is_some()),
                ("block", spec.block.is_some()),
                ("shared_bytes", spec.shared_bytes.is_some()),
                ("args", !spec.args.is_empty()),
            ];
            if let Some((key, _)) = launch_only.into_iter().find(|(_, given)| *given) {
                return self.fail(path, key, Problem::input("job::step-key", format!("`{key}` goes with `launch`")));
            }
        }
        let repeats = spec.repeat.is_some() || spec.until_zero.is_some() || spec.max_rounds.is_some();
        if repeats && (spec.reset.is_some() || spec.copy.is_some()) {
            let problem = Problem::input("job::step-key", "only `launch` and `do` are repeated");
            return self.fail(path, "repeat", problem);
        }
        let buffer = |name: &str| args::find_buffer(name, &self.job.buffers);
        if let Some(name) = &spec.reset {
            return buffer(name).map(Step::Reset).or_else(|p| self.fail(path, "reset", p));
        }
        if let Some([from, to]) = &spec.copy {
            let pair = buffer(from).and_then(|f| Ok((f, buffer(to)?)));
            let (from, to) = pair.or_else(|p| self.fail(path, "copy", p))?;
            let size = |i: usize| self.job.buffers[i].contents.bytes.len();
            if size(from) != size(to) {
                let message = format!("the buffers have {} and {} bytes", size(from), size(to));
                return self.fail(path, "copy", Problem::input("job::copy-size", message));
            }
            return Ok(Step::Copy(from, to));
        }
        let rounds = self.rounds(spec, path)?;
        let Some(kernel) = &spec.launch else {
            let inner = |(i, s)| {
                let mut path = path.to_vec();
                path.extend([Part::Key("do"), Part::Index(i)]);
                self.step(s, &path)
            };
            let body: Outcome<Vec<Step>> = spec.body.iter().enumerate().map(inner).collect();
            return Ok(Step::Loop(body?, rounds));
        };
        self.launch(spec, kernel, rounds, path)
    }

    fn rounds(&self, spec: &StepSpec, path: &[Part<'static>]) -> Outcome<Rounds> {
        for (key, given) in [("repeat", spec.repeat), ("max_rounds", spec.max_rounds)] {
            if let Some(wrong) = given.filter(|n| *n < 1) {
                let message = format!("`{key}` = {wrong} is not in 1 to {}", i64::MAX);
                return self.fail(path, key, Problem::input("job::rounds-range", message));
            }
        }
        let count = |given: Option<i64>| given.map(i64::unsigned_abs);
        let Some(name) = &spec.until_zero else {
            if spec.max_rounds.is_some() {
                let problem = Problem::input("job::step-key", "`max_rounds` goes with `until_zero`");
                return self.fail(path, "max_rounds", problem);
            }
            return Ok(Rounds::Count(count(spec.repeat).unwrap_or(1)));
        };
        if spec.repeat.is_some() {
            return self.fail(path, "repeat", Problem::input("job::step-key", "either `repeat` or `until_zero`"));
        }
        let buffer = args::find_buffer(name, &self.job.buffers).or_else(|p| self.fail(path, "until_zero", p))?;
        Ok(Rounds::UntilZero { buffer, at_most: count(spec.max_rounds).unwrap_or(DEFAULT_MAX_ROUNDS) })
    }

    fn launch(&self, spec: &StepSpec, kernel: &str, rounds: Rounds, path: &[Part<'static>]) -> Outcome<Step> {
        let (function, pointer) = find_kernel(&self.job.modules, kernel).or_else(|p| self.fail(path, "launch", p))?;
        let grid = self.shape(spec.grid.as_ref(), "grid", MAX_GRID, path)?;
        let block = self.shape(spec.block.as_ref(), "block", MAX_BLOCK, path)?;
        let threads: u64 = block.iter().map(|d| u64::from(*d)).product();
        if threads > MAX_THREADS {
            let message = format!("a block of {threads} threads; at most {MAX_THREADS} are possible");
            return self.fail(path, "block", Problem::input("job::block-size", message));
        }
        if let Some(required) = function.reqntid.filter(|r| *r != block) {
            let message = format!("`{kernel}` requires a block of {required:?} (.reqntid)");
            return self.fail(path, "block", Problem::input("job::reqntid", message));
        }
        if let Some(most) = function.maxntid.filter(|m| u64::from(*m) < threads) {
            let message = format!("`{kernel}` allows blocks of at most {most} threads (.maxntid)");
            return self.fail(path, "block", Problem::input("job::maxntid", message));
        }
        let (given, wanted) = (spec.args.len(), function.params.len());
        if given != wanted {
            let message = format!("`{kernel}` takes {wanted} arguments, {given} are given");
            let help: Vec<String> = function.params.iter().map(args::describe).collect();
            let problem = Problem::input("job::arg-count", message).maybe_help((wanted > 0).then(|| help.join("\n")));
            return self.fail(path, "args", problem);
        }
        let mut arguments = Vec::new();
        for (i, (spec, parameter)) in spec.args.iter().zip(&function.params).enumerate() {
            let argument = args::resolve(spec, parameter, pointer, &self.job.buffers).map_err(|p| {
                let mut path = path.to_vec();
                path.extend([Part::Key("args"), Part::Index(i)]);
                self.places.mark(p, &path, "this argument")
            })?;
            arguments.push(argument);
        }
        let shared_bytes = spec.shared_bytes.unwrap_or(0);
        Ok(Step::Launch { kernel: kernel.to_owned(), grid, block, shared_bytes, args: arguments, rounds })
    }

    fn shape(
        &self,
        given: Option<&OneOrMany<i64>>,
        key: &'static str,
        most: [u64; 3],
        path: &[Part<'static>],
    ) -> Outcome<Dim3> {
        let Some(given) = given else {
            let problem = Problem::input("job::no-shape-of-launch", format!("this launch has no `{key}`"));
            return self.fail(path, "launch", problem.help(format!("add `{key} = 64` or `{key} = [16, 16]`")));
        };
        dims(key, given, most).map_err(|(problem, dimension)| {
            let mut path = path.to_vec();
            path.push(key.into());
            path.extend(dimension.map(Part::Index));
            self.places.mark(problem, &path, "here")
        })
    }
}

/// A kernel by its name (the last module that has it) and its module's pointer size in bytes.
pub fn find_kernel<'a>(modules: &'a [PtxFile], name: &str) -> Outcome<(&'a Function, usize)> {
    let kernels = || {
        modules.iter().rev().flat_map(|m| {
            let pointer = usize::from(m.module.address_size / 8);
            m.module.functions.iter().filter(|f| f.entry && f.body.is_some()).map(move |f| (f, pointer))
        })
    };
    kernels()
        .find(|(f, _)| f.name == name)
        .ok_or_else(|| Problem::unknown("job::unknown-kernel", "kernel", name, kernels().map(|(f, _)| f.name.as_str())))
}

fn expect(spec: &ExpectSpec, folder: &Path, job: &Job) -> Located<Expect> {
    let buffer = args::find_buffer(&spec.buffer, &job.buffers).map_err(|p| (p, "buffer"))?;
    let contents = &job.buffers[buffer].contents;
    let kinds = [
        ("npy", spec.npy.is_some()),
        ("raw", spec.raw.is_some()),
        ("values", spec.values.is_some()),
        ("fnv1a", spec.fnv1a.is_some()),
        ("sum", spec.sum.is_some()),
    ];
    if kinds.iter().filter(|(_, given)| *given).count() != 1 {
        let message = "an expectation has exactly one of `npy`, `raw`, `values`, `fnv1a`, `sum`";
        return Err((Problem::input("job::expect-kind", message), "buffer"));
    }
    for (key, given) in [("relative", spec.relative), ("absolute", spec.absolute)] {
        if given.is_some_and(|v| !v.is_finite() || v < 0.0) {
            return Err((Problem::input("job::tolerance", "a tolerance is a finite number from 0 upwards"), key));
        }
        if given.is_some() && spec.fnv1a.is_some() {
            let message = format!("`{key}` goes with `npy`, `raw`, `values` or `sum`, not with `fnv1a`");
            return Err((Problem::input("job::stray-key", message), key));
        }
    }
    let [first, end] = spec.range.unwrap_or([0, contents.count as i64]);
    if first < 0 || first >= end || end.unsigned_abs() > contents.count {
        let message = format!("`{}` has no elements from {first} up to {end}", spec.buffer);
        let help = format!("range = [first, end] with 0 ≤ first < end ≤ {}", contents.count);
        return Err((Problem::input("job::expect-range", message).help(help), "range"));
    }
    let elements = first as usize..end as usize;
    let what = what(spec, folder, contents, elements.len())?;
    Ok(Expect {
        buffer,
        elements,
        what,
        relative: spec.relative.unwrap_or(0.0),
        absolute: spec.absolute.unwrap_or(0.0),
    })
}

/// What is expected of so many elements.
fn what(spec: &ExpectSpec, folder: &Path, contents: &data::Contents, count: usize) -> Located<What> {
    let (name, element) = (&spec.buffer, contents.element);
    let size_problem = |given: String, key| {
        let problem = Problem::input("job::expect-size", format!("{given} for the {count} elements of `{name}`"));
        let help = "give as many as there are, or say with `range = [first, end]` which elements are meant";
        Err((problem.help(help), key))
    };
    if let Some(file) = &spec.npy {
        let found = read_npy(&folder.join(file)).map_err(|p| (p, "npy"))?;
        if found.element != element {
            let message = format!("`{file}` holds {}, but `{name}` is {}", found.element.name(), element.name());
            return Err((Problem::input("job::expect-type", message), "npy"));
        }
        if found.count != count as u64 {
            return size_problem(format!("{} values", found.count), "npy");
        }
        return Ok(What::Bytes(found.bytes));
    }
    if let Some(file) = &spec.raw {
        let found = read_data(&folder.join(file)).map_err(|p| (p, "raw"))?;
        if found.len() != count * element.bytes() {
            return size_problem(format!("{} bytes ({} each)", found.len(), element.bytes()), "raw");
        }
        return Ok(What::Bytes(found));
    }
    if let Some(values) = &spec.values {
        if values.len() != count {
            return size_problem(format!("{} values", values.len()), "values");
        }
        let mut bytes = Vec::new();
        for value in values {
            element.push_number(&mut bytes, *value).ok_or_else(|| {
                let message = format!("{value} does not fit the type {} of `{name}`", element.name());
                (Problem::input("job::value-misfit", message), "values")
            })?;
        }
        return Ok(What::Bytes(bytes));
    }
    if let Some(text) = &spec.fnv1a {
        let parsed = u64::from_str_radix(text.trim_start_matches("0x"), 16);
        return parsed.map(What::Checksum).map_err(|_| {
            (Problem::input("job::checksum", format!("`{text}` is not a 64-bit hexadecimal number")), "fnv1a")
        });
    }
    match (spec.sum.unwrap_or(Number::Int(0)), element.is_float()) {
        (Number::Float(sum), _) if !sum.is_finite() => {
            Err((Problem::input("job::not-finite", "`sum` must be a finite number"), "sum"))
        }
        (Number::Float(sum), false) if sum.fract() != 0.0 => {
            let message = format!("{sum} is not a sum of whole numbers, but `{name}` is {}", element.name());
            Err((Problem::input("job::value-misfit", message), "sum"))
        }
        (Number::Int(sum), true) => Ok(What::Sum(Value::Real(sum as f64))),
        (Number::Float(sum), true) => Ok(What::Sum(Value::Real(sum))),
        (Number::Int(sum), false) => Ok(What::Sum(Value::Whole(sum.into()))),
        (Number::Float(sum), false) => Ok(What::Sum(Value::Whole(sum as i128))),
    }
}
