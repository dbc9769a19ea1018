//! What is run for a comparison: everything read, checked and hashed before the first cycle is simulated.

use super::Search;
use crate::problem::{Outcome, Problem};
use crate::request::{Program, ProgramRequest, Request, each_once, find_machine};
use crate::run::prepare;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use warpwatt_policies::registry::POLICIES;
use warpwatt_policies::selection::definitions;
use warpwatt_policies::{Baseline, HookKind, always_on, equalizer, full_width, split};
use warpwatt_power::PowerOptions;

/// A scheduler that all runs shall have, whatever their papers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Loose round-robin.
    Lrr,
    /// Greedy, then oldest.
    Gto,
    /// The paper's own two-level scheduler; with an active set where it has none.
    TwoLevel,
}

impl Scheduler {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Lrr => "lrr",
            Scheduler::Gto => "gto",
            Scheduler::TwoLevel => "two-level",
        }
    }
}

/// What is to be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareRequest {
    /// Workloads and launch descriptions.
    pub programs: Vec<ProgramRequest>,
    /// Policies (`a`, `a+b`, or `all`), each perhaps with settings of its own (`a:key=value`, `a+b:a.key=value`); if empty,
    /// all that their papers measure on the default GPU.
    pub policies: Vec<String>,
    /// GPU for all, instead of the papers'.
    pub gpu: Option<String>,
    /// Settings on top of the GPU and of policies.
    pub set: Vec<String>,
    /// Scheduler for all, instead of the papers'.
    pub scheduler: Option<Scheduler>,
    /// Core cycles of a sample.
    pub sample_cycles: Option<u64>,
    /// How power is computed.
    pub power: PowerOptions,
}

/// A policy of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// As it was asked for: its name (`a+b`), and its own settings.
    pub name: String,
    /// The policies; none of a search.
    pub policies: String,
    /// Settings of its own (`policy.key=value`).
    pub set: Vec<String>,
    /// The baseline that it is measured against: index into [`Plan::groups`].
    pub group: usize,
    /// It is no policy but the best of several runs.
    pub search: Option<Search>,
    /// Nobody has named it: it is one of all.
    pub implied: bool,
}

/// A baseline, and with it the policies that are measured against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name: what is set on top of the GPU.
    pub name: String,
    /// Settings of the GPU.
    pub set: Vec<String>,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Index of its workload.
    pub workload: usize,
    /// Its baseline's index.
    pub group: usize,
    /// Index of its policy; `None` for a baseline.
    pub policy: Option<usize>,
    /// What is asked for.
    pub request: Request,
    /// Its key.
    pub key: String,
    /// Its directory.
    pub directory: PathBuf,
}

/// All runs of a comparison.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Workloads.
    pub workloads: Vec<String>,
    /// Policies.
    pub policies: Vec<Entry>,
    /// Those of `all` that this GPU cannot run, and why.
    pub left_out: Vec<String>,
    /// Baselines.
    pub groups: Vec<Group>,
    /// Workload by workload: baselines, and each baseline's policies after it.
    pub runs: Vec<Run>,
}

/// The GPU of comparisons whose policies nobody names.
const DEFAULT_GPU: &str = "gtx480";

impl Plan {
    /// Reads and checks what is asked for. Run directories are in `store`.
    pub fn new(request: &CompareRequest, store: &Path) -> Outcome<Plan> {
        let policies = entries(request)?;
        let (gpu, baselines) = machine(request, &policies)?;
        let (_, of_gpu) = split(&request.set).map_err(|e| Problem::from_policy(&e))?;
        let own = of_gpu.iter().rfind(|s| is_scheduler(s));
        if let (Some(scheduler), Some(own)) = (request.scheduler, own) {
            return Err(two_schedulers(&format!("--baseline {}", scheduler.name()), own));
        }
        let first = request.programs.first().map(Program::load).transpose()?;
        let (mut left_out, mut kept) = (Vec::new(), Vec::new());
        for (entry, baseline) in policies.into_iter().zip(baselines) {
            let set = settings(&baseline, request.scheduler, own);
            match first.as_ref().filter(|_| entry.implied).and_then(|p| refusal(request, p, &gpu, &entry, set)) {
                Some(why) => left_out.push(why),
                None => kept.push((entry, baseline)),
            }
        }
        let (mut policies, baselines): (Vec<Entry>, Vec<Baseline>) = kept.into_iter().unzip();
        let mut groups: Vec<Group> = Vec::new();
        for (entry, baseline) in policies.iter_mut().zip(&baselines) {
            let set = settings(baseline, request.scheduler, own);
            entry.group = groups.iter().position(|g| g.set == set).unwrap_or_else(|| {
                let short: Vec<&str> = set.iter().map(|s| s.strip_prefix("scheduler=").unwrap_or(s)).collect();
                let name = if set.is_empty() { "as it is".to_owned() } else { short.join(", ") };
                groups.push(Group { name, set });
                groups.len() - 1
            });
        }
        check_settings(request, &policies)?;
        let mut plan = Plan { workloads: Vec::new(), policies, left_out, groups, runs: Vec::new() };
        for program in &request.programs {
            plan.add(request, program, &gpu, store)?;
        }
        Ok(plan)
    }

    /// What a run is called: its policy, or its baseline; of a search, what it tries.
    pub fn name_of(&self, run: &Run) -> String {
        match run.policy.and_then(|at| self.policies.get(at)) {
            None => self.groups.get(run.group).map_or_else(String::new, |group| group.name.clone()),
            Some(Entry { name, search: None, .. }) => name.clone(),
            Some(Entry { name, .. }) => {
                let set = run.request.set.iter().filter(|s| policy_of(s) == run.request.policy);
                let tried: Vec<&str> =
                    [run.request.policy.as_str()].into_iter().chain(set.map(String::as_str)).collect();
                format!("{name}: {}", tried.join(" "))
            }
        }
    }

    fn add(&mut self, request: &CompareRequest, program: &ProgramRequest, gpu: &str, store: &Path) -> Outcome<()> {
        let workload = self.workloads.len();
        for group in 0..self.groups.len() {
            let own: Vec<usize> = (0..self.policies.len()).filter(|at| self.policies[*at].group == group).collect();
            let mut wanted = vec![(None, always_on::NAME.to_owned(), Vec::new())];
            for policy in own {
                let Entry { policies, set, search, .. } = &self.policies[policy];
                let candidates = search.map_or(vec![(policies.clone(), set.clone())], Search::candidates);
                wanted.extend(candidates.into_iter().map(|(name, set)| (Some(policy), name, set)));
            }
            for (policy, name, given) in wanted {
                let own = own_settings(&request.set, &name)?;
                let mut run = Request {
                    program: program.clone(),
                    gpu: Some(gpu.to_owned()),
                    set: self.groups[group].set.iter().cloned().chain(own).chain(given).collect(),
                    policy: name,
                    sample_cycles: request.sample_cycles,
                    power: request.power,
                    ..Request::default()
                };
                run.make_absolute()?;
                let prepared = prepare(&run)?;
                if self.workloads.len() == workload {
                    let name = prepared.program.name().to_owned();
                    let programs = request.programs.iter().zip(self.workloads.iter().chain([&name]));
                    each_once(programs.map(|(program, name)| (program, name.as_str())))?;
                    self.workloads.push(name);
                }
                let directory = prepared.own_directory(store);
                self.runs.push(Run { workload, group, policy, request: run, key: prepared.key, directory });
            }
        }
        Ok(())
    }
}

/// The policies, `all` and the default written out; each must exist, once with the same settings.
fn entries(request: &CompareRequest) -> Outcome<Vec<Entry>> {
    // Policies that only observe change nothing.
    let acts = |d: &&warpwatt_policies::Definition| d.about.hooks.iter().any(|h| *h != HookKind::Observer);
    let observers = [always_on::NAME, full_width::NAME];
    let everything = || POLICIES.iter().filter(|d| !observers.contains(&d.about.name)).filter(acts);
    let alone = |d: &warpwatt_policies::Definition| Entry {
        implied: true,
        ..Entry::new(d.about.name, d.about.name, Vec::new())
    };
    let mut entries: Vec<Entry> = Vec::new();
    for given in request.policies.iter().map(|name| name.trim()) {
        if given == "all" {
            entries.extend(everything().map(alone));
        } else {
            entries.push(entry(given)?);
        }
    }
    if request.policies.is_empty() {
        let here = |d: &&warpwatt_policies::Definition| request.gpu.is_some() || d.about.baseline.gpu == DEFAULT_GPU;
        entries.extend(everything().filter(here).map(alone));
    }
    let same = |a: &Entry, b: &Entry| (&a.policies, &a.set, a.search) == (&b.policies, &b.set, b.search);
    let twice = entries.iter().enumerate().find(|(i, entry)| entries[..*i].iter().any(|e| same(e, entry)));
    match twice {
        Some((_, entry)) => {
            let problem = Problem::input("compare::twice", format!("policy `{}` is named twice", entry.name));
            Err(problem.help("once is enough; `all` names every policy"))
        }
        None => Ok(entries),
    }
}

/// `a`, `a+b`, `a:key=value`, `a+b:a.key=value:b.key=value`.
fn entry(given: &str) -> Outcome<Entry> {
    if let Some(search) = Search::named(given) {
        return Ok(Entry { search: Some(search), ..Entry::new(given, "", Vec::new()) });
    }
    let (policies, settings) = given.split_once(':').map_or((given, None), |(name, rest)| (name, Some(rest)));
    let policies = policies.trim();
    let defined = definitions(policies).map_err(|e| Problem::from_policy(&e))?;
    let Some(first) = defined.first() else {
        let problem = Problem::input("compare::no-name", "a policy without a name");
        return Err(problem.help("write --policies a,b,c, or all"));
    };
    let mut set = Vec::new();
    for setting in settings.into_iter().flat_map(|settings| settings.split(':')).map(str::trim) {
        if setting.is_empty() {
            let help = format!("write {policies}:key=value, or leave the colon out");
            return Err(Problem::input("compare::no-setting", format!("`{given}` lacks a setting")).help(help));
        }
        let own = defined.iter().any(|d| policy_of(setting) == d.about.name && setting.contains('.'));
        match (own, &defined[..]) {
            (true, _) => set.push(setting.to_owned()),
            (false, [_]) => set.push(format!("{}.{setting}", first.about.name)),
            (false, _) => {
                let message = format!("`{setting}` of `{policies}`: whose setting is it?");
                let help = format!("write the policy's name before it: {policies}:{}.key=value", first.about.name);
                return Err(Problem::input("compare::whose", message).help(help));
            }
        }
    }
    Ok(Entry::new(given, policies, set))
}

impl Entry {
    fn new(name: &str, policies: &str, set: Vec<String>) -> Entry {
        Entry { name: name.to_owned(), policies: policies.to_owned(), set, group: 0, search: None, implied: false }
    }
}

/// Why a policy is not one for this GPU, if it is not.
fn refusal(request: &CompareRequest, program: &Program, gpu: &str, entry: &Entry, set: Vec<String>) -> Option<String> {
    let own = own_settings(&request.set, &entry.policies).ok()?;
    let (gpu, policy) = (Some(gpu.to_owned()), entry.policies.clone());
    let set = set.into_iter().chain(own).collect();
    let mut run = Request { program: request.programs.first()?.clone(), gpu, set, policy, ..Request::default() };
    run.make_absolute().ok()?;
    let problem = find_machine(&run, program).err()?;
    matches!(problem.code(), "policy::inconsistent" | "policy::narrow-simd").then(|| problem.to_string())
}

/// The GPU of all runs, and each policy's baseline.
fn machine(request: &CompareRequest, entries: &[Entry]) -> Outcome<(String, Vec<Baseline>)> {
    let mut baselines = Vec::new();
    for entry in entries {
        if entry.search.is_some() {
            baselines.push(equalizer::BASELINE);
            continue;
        }
        let defined = definitions(&entry.policies).map_err(|e| Problem::from_policy(&e))?;
        baselines.extend(defined.first().map(|d| d.about.baseline));
    }
    if let Some(gpu) = &request.gpu {
        return Ok((gpu.clone(), baselines));
    }
    let mut gpus: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (entry, baseline) in entries.iter().zip(&baselines) {
        gpus.entry(baseline.gpu).or_default().push(&entry.name);
    }
    let mut machines = gpus.iter();
    match (machines.next(), machines.next()) {
        (None, _) => Ok((DEFAULT_GPU.to_owned(), baselines)),
        (Some((gpu, _)), None) => Ok(((*gpu).to_owned(), baselines)),
        (Some((gpu, own)), Some((other, others))) => {
            let message = format!(
                "a table is of one machine, but the paper of `{}` measures on {gpu}, that of `{}` on {other}",
                own[0], others[0]
            );
            let lists = gpus.iter().map(|(gpu, names)| format!("--policies {}   (on {gpu})", names.join(",")));
            let help = format!(
                "--gpu NAME puts all of them on one GPU, for example --gpu {gpu}; or compare those of one machine:\n{}",
                lists.collect::<Vec<_>>().join("\n")
            );
            Err(Problem::input("compare::machines", message).help(help))
        }
    }
}

/// An option and a setting name the warp scheduler: one of them would have no effect.
pub fn two_schedulers(option: &str, setting: &str) -> Problem {
    let message = format!("`{option}` and `--set {setting}` both name the warp scheduler");
    Problem::input("args::two-schedulers", message).help("leave one of them out")
}

/// It sets the warp scheduler.
pub fn is_scheduler(setting: &str) -> bool {
    setting.split('=').next().is_some_and(|key| key.trim() == "scheduler")
}

/// What a baseline sets on top of the GPU. `named`: the scheduler's setting that the user gives.
fn settings(baseline: &Baseline, scheduler: Option<Scheduler>, named: Option<&String>) -> Vec<String> {
    let own = baseline.set.iter().find(|s| is_scheduler(s)).map(|s| (*s).to_owned());
    let wanted = match scheduler {
        _ if named.is_some() => named.cloned(),
        None => own,
        Some(Scheduler::Lrr) => Some("scheduler=lrr".to_owned()),
        Some(Scheduler::Gto) => Some("scheduler=gto".to_owned()),
        Some(Scheduler::TwoLevel) => {
            Some(own.filter(|s| s.contains("two-level")).unwrap_or_else(|| "scheduler=two-level-active".to_owned()))
        }
    };
    let others = baseline.set.iter().filter(|s| !is_scheduler(s)).map(|s| (*s).to_owned());
    others.chain(wanted).collect()
}

/// The user's settings that hold for a run under some policies: the GPU's, and these policies'.
fn own_settings(set: &[String], policies: &str) -> Outcome<Vec<String>> {
    let (of_policies, of_gpu) = split(set).map_err(|e| Problem::from_policy(&e))?;
    let own = of_policies.into_iter().filter(|s| policies.split('+').any(|p| policy_of(s) == p.trim()));
    Ok(of_gpu.into_iter().chain(own.map(str::to_owned)).collect())
}

/// The policy that a setting `policy.key=value` is of.
fn policy_of(setting: &str) -> &str {
    setting.split('.').next().unwrap_or_default().trim()
}

/// Refuses settings of policies that are not compared.
fn check_settings(request: &CompareRequest, policies: &[Entry]) -> Outcome<()> {
    let (of_policies, _) = split(&request.set).map_err(|e| Problem::from_policy(&e))?;
    for setting in of_policies {
        let policy = policy_of(setting);
        let used = policies.iter().flat_map(|p| p.policies.split('+')).any(|p| p.trim() == policy);
        if !used && policy != always_on::NAME {
            let message = format!("`{setting}` is a setting of policy `{policy}`, which is not compared");
            let help = format!("add {policy} to --policies, or leave the setting out");
            return Err(Problem::input("compare::not-in-use", message).help(help));
        }
    }
    Ok(())
}
