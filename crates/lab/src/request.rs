//! What the user asked for, and what of it decides the result: the inputs, written down and hashed.

use crate::job::quick::{Quick, quick};
use crate::job::{Job, Machine, PtxFile, ptx_problem, read_text};
use crate::problem::{Outcome, Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpwatt_machine::spec::{Configuration, Spec, VfLevel, presets};
use warpwatt_policies::selection::definitions;
use warpwatt_policies::{Chosen, PolicyError, Selection, split};
use warpwatt_power::PowerOptions;
use warpwatt_ptx::ir::{FuncId, Module};
use warpwatt_ptx::support::kernel_report;
use warpwatt_workloads::{Size, Workload};

/// A program to run, as asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProgramRequest {
    /// A workload of the suite, and its size.
    Workload(String, String),
    /// A launch description.
    Job(PathBuf),
    /// A PTX file and one launch.
    Quick(PathBuf, Quick),
}

impl Default for ProgramRequest {
    fn default() -> Self {
        ProgramRequest::Workload("sgemm".to_owned(), "small".to_owned())
    }
}

/// Everything that a run is asked for. What changes its results is hashed into its key; the rest is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What to run.
    pub program: ProgramRequest,
    /// A preset's name or a GPU file; if absent the launch description's, else that of the policy's paper, else `gtx480`.
    pub gpu: Option<String>,
    /// Policies, joined by `+`; if empty the launch description's.
    pub policy: String,
    /// `NAME=VALUE` on top of the GPU and of the policies' defaults (`policy.key=value`).
    pub set: Vec<String>,
    /// Without time and power.
    pub functional: bool,
    /// End after so many core cycles.
    pub max_cycles: Option<u64>,
    /// Core cycles of a sample.
    pub sample_cycles: Option<u64>,
    /// SM clock at the start, one of the GPU's levels; without a policy that changes it, of the whole run.
    #[serde(default)]
    pub sm_mhz: Option<f64>,
    /// DRAM command clock at the start, one of the GPU's levels; the whole memory domain goes with it.
    #[serde(default)]
    pub mem_mhz: Option<f64>,
    /// Registers per thread, instead of live-register analysis.
    pub registers: Option<u32>,
    /// How power is computed.
    pub power: PowerOptions,
    /// Host threads (no influence on results).
    pub threads: u32,
    /// Skip cycles in which nothing happens (no influence on results).
    pub skip: bool,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            program: ProgramRequest::default(),
            gpu: None,
            policy: String::new(),
            set: Vec::new(),
            functional: false,
            max_cycles: None,
            sample_cycles: None,
            sm_mhz: None,
            mem_mhz: None,
            registers: None,
            power: PowerOptions::default(),
            threads: 1,
            skip: true,
        }
    }
}

impl Request {
    /// Makes file names independent of the working directory, so that a run can be resumed from anywhere.
    pub fn make_absolute(&mut self) -> Outcome<()> {
        let absolute = |path: &mut PathBuf| -> Outcome<()> {
            *path = std::path::absolute(&*path).map_err(|e| Problem::unreadable(path, &e))?;
            Ok(())
        };
        match &mut self.program {
            ProgramRequest::Workload(..) => {}
            ProgramRequest::Job(path) | ProgramRequest::Quick(path, _) => absolute(path)?,
        }
        if let Some(gpu) = self.gpu.as_mut().filter(|gpu| is_gpu_file(gpu)) {
            let mut path = PathBuf::from(&*gpu);
            absolute(&mut path)?;
            *gpu = path.to_string_lossy().into_owned();
        }
        Ok(())
    }
}

/// A program, ready to be driven.
#[derive(Clone, Debug)]
pub enum Program {
    /// A workload of the suite.
    Workload(&'static Workload, Size, PtxFile),
    /// A launch description.
    Job(Box<Job>),
}

impl Program {
    /// Reads and checks what was asked for.
    pub fn load(request: &ProgramRequest) -> Outcome<Program> {
        match request {
            ProgramRequest::Workload(name, size) => {
                let workload = find_workload(name)?;
                let size = size.parse().map_err(|e: String| Problem::input("run::size", e))?;
                let file = format!("{}.ptx", workload.name);
                let module = warpwatt_ptx::parse(&file, workload.ptx).map_err(|e| ptx_problem(&e, workload.ptx))?;
                let ptx = PtxFile { name: file, text: module.source.clone(), module: Arc::new(module) };
                Ok(Program::Workload(workload, size, ptx))
            }
            ProgramRequest::Job(path) => Ok(Program::Job(Box::new(Job::load(path)?))),
            ProgramRequest::Quick(path, pieces) => Ok(Program::Job(Box::new(quick(path, pieces)?))),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Program::Workload(workload, ..) => workload.name,
            Program::Job(job) => &job.name,
        }
    }

    /// Its PTX files.
    pub fn modules(&self) -> &[PtxFile] {
        match self {
            Program::Workload(_, _, ptx) => std::slice::from_ref(ptx),
            Program::Job(job) => &job.modules,
        }
    }

    /// Kernels that it launches.
    pub fn kernels(&self) -> Vec<&str> {
        match self {
            Program::Workload(workload, ..) => workload.kernels.to_vec(),
            Program::Job(job) => job.kernels(),
        }
    }

    /// Refuses a program one of whose kernels needs what is not implemented; every place is shown.
    pub fn check_support(&self) -> Outcome<()> {
        for kernel in self.kernels() {
            let found = self.modules().iter().rev().find_map(|m| Some((m, find_function(&m.module, kernel)?)));
            let Some((file, id)) = found else { continue };
            let mut problems = kernel_report(&file.module, id).into_iter().map(|unsupported| {
                let range = unsupported.span.start as usize..unsupported.span.end as usize;
                let message = format!("kernel `{kernel}`: {}", unsupported.reason);
                Problem::input("ptx::unsupported", message).at(&file.name, &file.text, range, "this")
            });
            if let Some(first) = problems.next() {
                return Err(first.and(problems.take(8)));
            }
        }
        Ok(())
    }

    /// The files that it is read from.
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Program::Workload(..) => &[],
            Program::Job(job) => &job.files,
        }
    }

    /// What decides its results.
    pub(crate) fn inputs(&self) -> Value {
        let modules: Vec<Value> = self
            .modules()
            .iter()
            .map(|m| json!({ "name": file_name(&m.name), "sha256": sha256(m.text.as_bytes()) }))
            .collect();
        match self {
            Program::Workload(workload, size, _) => {
                json!({ "kind": "workload", "name": workload.name, "size": size.name(), "modules": modules })
            }
            Program::Job(job) => {
                let data = job.buffers.iter().map(|b| json!({ "name": b.name, "sha256": sha256(&b.contents.bytes) }));
                let expected = sha256(format!("{:?}", job.expects).as_bytes());
                json!({
                    "kind": "job",
                    "name": job.name,
                    "modules": modules,
                    "buffers": data.collect::<Vec<_>>(),
                    "expected_sha256": expected,
                    "description": job.description,
                })
            }
        }
    }
}

/// A kernel's index in its module.
pub fn find_function(module: &Module, kernel: &str) -> Option<FuncId> {
    let index = module.functions.iter().position(|f| f.entry && f.name == kernel)?;
    Some(FuncId(index as u32))
}

/// Refuses a program that is named twice, and two with the same name.
pub fn each_once<'p>(programs: impl IntoIterator<Item = (&'p ProgramRequest, &'p str)>) -> Outcome<()> {
    let path = |program: &ProgramRequest| match program {
        ProgramRequest::Job(path) => path.canonicalize().ok(),
        _ => None,
    };
    let mut seen: Vec<(&ProgramRequest, &str)> = Vec::new();
    for (program, name) in programs {
        let Some((other, _)) = seen.iter().find(|(_, taken)| *taken == name) else {
            seen.push((program, name));
            continue;
        };
        let (other, own) = (path(other), path(program));
        if own == other {
            return Err(Problem::input("program::twice", format!("`{name}` is named twice")).help("once is enough"));
        }
        let shown = |path: Option<PathBuf>| path.map_or("the workload".to_owned(), |p| format!("`{}`", p.display()));
        let message = format!("two programs are called `{name}`: {} and {}", shown(other), shown(own));
        let problem = Problem::input("program::same-name", message);
        let help = "give a launch description a name of its own, for example `name = \"mine\"` in its first line";
        return Err(problem.help(help));
    }
    Ok(())
}

/// The files that some programs and a GPU are read from.
pub fn files<'p>(programs: impl IntoIterator<Item = &'p Program>, gpu: Option<&str>) -> Vec<PathBuf> {
    let gpu = gpu.filter(|gpu| is_gpu_file(gpu)).map(PathBuf::from);
    programs.into_iter().flat_map(Program::files).cloned().chain(gpu).collect()
}

/// A GPU that is a file rather than a preset.
pub(crate) fn is_gpu_file(gpu: &str) -> bool {
    gpu.ends_with(".toml") || gpu.contains(['/', '\\'])
}

/// A workload by its name.
pub fn find_workload(name: &str) -> Outcome<&'static Workload> {
    let names = warpwatt_workloads::all().iter().map(|w| w.name);
    warpwatt_workloads::find(name).map_err(|_| {
        Problem::unknown("run::unknown-workload", "workload", name, names)
            .also_help("a launch description ends in .toml, a PTX file in .ptx; `warpwatt list` lists the workloads")
    })
}

/// A GPU by a preset's name or a file (anything that ends in `.toml` or has a `/`), with settings on top.
pub fn find_gpu(gpu: &str, set: &[String]) -> Outcome<Configuration> {
    let path = Path::new(gpu);
    let mut configuration = if is_gpu_file(gpu) {
        Configuration::from_toml(gpu, &read_text(path)?).map_err(Problem::from_spec)?
    } else {
        Configuration::preset(gpu).map_err(Problem::from_spec)?
    };
    for assignment in set {
        configuration.set(assignment).map_err(Problem::from_spec)?;
    }
    Ok(configuration)
}

/// GPU and policies of a run. What the request leaves open the launch description says; a GPU that neither names is the
/// one of the (first) policy's paper, with the paper's settings below all others.
pub fn find_machine(request: &Request, program: &Program) -> Outcome<(Spec, Selection)> {
    let problem = |e: PolicyError| Problem::from_policy(&e);
    let none = Machine::default();
    let described = match program {
        Program::Job(job) => &job.machine,
        Program::Workload(..) => &none,
    };
    let places = &described.places;
    let mark = |problem: Problem, place: Option<&Range<usize>>| match place {
        Some(place) => places.mark(problem, place),
        None => problem,
    };
    let (policy, place) = match &described.policy {
        Some(policy) if request.policy.is_empty() => (policy.as_str(), Some(&places.policy)),
        _ => (request.policy.as_str(), None),
    };
    if place.is_some() && policy.trim().is_empty() {
        let problem = Problem::input("policy::no-name", "`policy` names no policy");
        return Err(mark(problem.help("leave the key out to run without a policy"), place));
    }
    let named = definitions(policy).map_err(|e| mark(problem(e), place))?;
    // Settings, the later ones on top, and where they stand in the description.
    let mut set: Vec<(&str, Option<&Range<usize>>)> = Vec::new();
    let (gpu, place) = match (&request.gpu, &described.gpu, named.first()) {
        (Some(gpu), _, _) => (gpu.as_str(), None),
        (None, Some(gpu), _) => (gpu.as_str(), Some(&places.gpu)),
        (None, None, None) => (DEFAULT_GPU, None),
        (None, None, Some(first)) => {
            set.extend(first.about.baseline.set.iter().map(|setting| (*setting, None)));
            (first.about.baseline.gpu, None)
        }
    };
    set.extend(described.set.iter().map(String::as_str).zip(places.set.iter().map(Some)));
    set.extend(request.set.iter().map(|setting| (setting.as_str(), None)));
    let mut configuration = find_gpu(gpu, &[]).map_err(|p| mark(p, place))?;
    let mut of_policies = Vec::new();
    for (setting, place) in &set {
        let (_, of_gpu) = split(&[(*setting).to_owned()]).map_err(|e| mark(problem(e), *place))?;
        let assigned = match (of_gpu.is_empty(), place) {
            (true, _) => {
                of_policies.push(*setting);
                continue;
            }
            (false, Some(place)) => configuration.set_in(setting, &places.name, &places.text, (*place).clone()),
            (false, None) => configuration.set(setting),
        };
        assigned.map_err(Problem::from_spec)?;
    }
    let spec = configuration.finish().map_err(Problem::from_spec)?;
    let selection = Selection::new(policy, &of_policies, &spec).map_err(|e| {
        let place = set.iter().find(|(setting, _)| e.is_in(setting)).and_then(|(_, place)| *place);
        mark(problem(e), place)
    })?;
    legal_clock("--sm-mhz", request.sm_mhz, &spec.name, &spec.dvfs.core_levels)?;
    legal_clock("--mem-mhz", request.mem_mhz, &spec.name, &spec.dvfs.mem_levels)?;
    Ok((spec, selection))
}

/// Refuses a clock that is none of a GPU's V/f levels.
fn legal_clock(option: &str, mhz: Option<f64>, gpu: &str, levels: &[VfLevel]) -> Outcome<()> {
    match mhz {
        Some(mhz) if !levels.iter().any(|level| level.mhz == mhz) => {
            let legal: Vec<String> = levels.iter().map(|level| level.mhz.to_string()).collect();
            let problem = Problem::input("run::clock", format!("{option}: {mhz} MHz is no V/f level of {gpu}"));
            Err(problem.help(format!("its levels, in MHz: {}", legal.join(", "))))
        }
        _ => Ok(()),
    }
}

/// What runs if nobody names a GPU.
const DEFAULT_GPU: &str = "gtx480";

/// Names of the presets.
pub fn gpu_names() -> Vec<&'static str> {
    presets().collect()
}

/// The inputs of a run as data, and their hash: the run's key.
pub fn inputs(request: &Request, program: &Program, spec: &Spec, policy: &Selection) -> Outcome<(Value, String)> {
    let mut inputs = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": env!("WARPWATT_SOURCE"),
        "mode": if request.functional { "functional" } else { "timing" },
        "program": program.inputs(),
    });
    if !request.functional {
        let gpu = serde_json::to_value(spec).map_err(|e| Problem::run("run::encode", e.to_string()))?;
        inputs["gpu"] = gpu;
        inputs["policy"] = policies(policy);
        inputs["power"] = json!(request.power);
        inputs["sample_cycles"] = json!(request.sample_cycles);
        inputs["max_cycles"] = json!(request.max_cycles);
        inputs["sm_mhz"] = json!(request.sm_mhz);
        inputs["mem_mhz"] = json!(request.mem_mhz);
    }
    inputs["registers"] = json!(request.registers);
    let key = sha256(inputs.to_string().as_bytes())[..32].to_owned();
    Ok((inputs, key))
}

/// The policies of a run with all their parameters.
fn policies(selection: &Selection) -> Value {
    if selection.is_empty() {
        return Value::Null;
    }
    let typed = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    let parameters = |chosen: &Chosen| -> serde_json::Map<String, Value> {
        chosen.values.iter().map(|(key, value)| ((*key).to_owned(), typed(value))).collect()
    };
    let one = |chosen: &Chosen| json!({ "name": chosen.definition.about.name, "parameters": parameters(chosen) });
    json!({ "name": selection.name(), "policies": selection.chosen().iter().map(one).collect::<Vec<_>>() })
}

/// SHA-256 as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |n| n.to_string_lossy().into_owned())
}
