//! What a user asks for: policies by name, joined by `+`, and settings `policy.key=value`.

use crate::error::{PolicyError, nearest};
use crate::registry::{find, names};
use crate::system::{Built, Definition, HookKind, Values};
use warpwatt_machine::hooks::{GovernorHook, Policy, Report, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_power::PolicyPower;

/// One of the policies of a selection.
#[derive(Debug)]
pub struct Chosen {
    /// Its declaration.
    pub definition: &'static Definition,
    /// Key and value of each of its parameters.
    pub values: Values,
    built: Built,
    /// Hooks that it leaves to another policy.
    left: Vec<HookKind>,
}

/// The policies of a run, ready to make their hook objects; none at all is a selection too.
#[derive(Debug, Default)]
pub struct Selection {
    chosen: Vec<Chosen>,
}

/// Settings of policies apart from those of the GPU: a key whose first part is (nearly) the name of a policy, and not the
/// name of one of the GPU's parameters or groups, belongs to a policy. Returns (policies', GPU's).
pub fn split(settings: &[String]) -> Result<(Vec<&str>, Vec<String>), PolicyError> {
    let declarations = warpwatt_machine::spec::declarations();
    let of_gpu = |first: &str| declarations.iter().any(|d| d.name.split('.').next() == Some(first));
    let (mut policies, mut gpu) = (Vec::new(), Vec::new());
    for setting in settings {
        let key = setting.split('=').next().unwrap_or_default().trim();
        match key.split_once('.') {
            Some((first, _)) if names().any(|n| n == first) => policies.push(setting.as_str()),
            Some((first, _)) if !of_gpu(first) && nearest(first, &names().collect::<Vec<_>>()).is_some() => {
                find(first)?;
            }
            _ => gpu.push(setting.clone()),
        }
    }
    Ok((policies, gpu))
}

impl Selection {
    /// Reads `a+b` and settings `a.key=value`. An empty text selects nothing.
    pub fn new(policies: &str, settings: &[&str], spec: &Spec) -> Result<Selection, PolicyError> {
        let named = definitions(policies)?;
        let mut given: Vec<Vec<(String, String)>> = vec![Vec::new(); named.len()];
        for setting in settings {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            let key = key.trim();
            let (policy, own) = key.split_once('.').unwrap_or((key, ""));
            find(policy)?;
            match named.iter().position(|d| d.about.name == policy) {
                Some(at) => given[at].push((own.to_owned(), value.to_owned())),
                None => return Err(PolicyError::NotInUse { key: key.to_owned(), policy: policy.to_owned() }),
            }
        }
        let mut chosen = Vec::new();
        for (definition, given) in named.iter().zip(&given) {
            let (built, values) = definition.build(given, spec)?;
            let left = left(definition, &named);
            chosen.push(Chosen { definition, values, built, left });
        }
        Ok(Selection { chosen })
    }

    /// The policies, in the order in which they were named.
    pub fn chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Their names, joined by `+`.
    pub fn name(&self) -> String {
        self.chosen.iter().map(|c| c.definition.about.name).collect::<Vec<_>>().join("+")
    }

    /// How they change the computation of power, all together.
    pub fn power(&self) -> PolicyPower {
        // What gating lanes costs is said by the policy that acts on them, if there is one.
        let acts = |c: &&Chosen| c.definition.about.hooks.contains(&HookKind::Lanes);
        let (first, then): (Vec<&Chosen>, Vec<&Chosen>) = self.chosen.iter().partition(acts);
        first.into_iter().chain(then).fold(PolicyPower::default(), |all, c| {
            let gating = c.built.power.gating.filter(|_| !c.left.contains(&HookKind::Lanes));
            all.and(&PolicyPower { gating, ..c.built.power })
        })
    }
}

/// The policies that a text names, if they can run together.
pub fn definitions(policies: &str) -> Result<Vec<&'static Definition>, PolicyError> {
    let mut named: Vec<&'static Definition> = Vec::new();
    if policies.trim().is_empty() {
        return Ok(named);
    }
    for name in policies.split('+').map(str::trim) {
        if name.is_empty() {
            return Err(PolicyError::NoName { given: policies.trim().to_owned() });
        }
        // Comparisons have cut off the settings that may stand there.
        if let Some((policy, _)) = name.split_once(':').filter(|(policy, _)| names().any(|n| n == *policy)) {
            let hint = format!("settings go elsewhere: --policy {policy} --set {policy}.key=value");
            return Err(PolicyError::Unknown { name: name.to_owned(), hint });
        }
        let definition = find(name)?;
        if named.iter().any(|d| d.about.name == name) {
            return Err(PolicyError::Twice { name: name.to_owned() });
        }
        named.push(definition);
    }
    for (i, second) in named.iter().enumerate() {
        for first in &named[..i] {
            let wants = |d: &Definition, hook| d.about.hooks.contains(&hook) && !left(d, &named).contains(&hook);
            let clash = first.about.hooks.iter().find(|h| h.exclusive() && wants(first, **h) && wants(second, **h));
            if let Some(hook) = clash {
                let (first, second) = (first.about.name.to_owned(), second.about.name.to_owned());
                return Err(PolicyError::SameHook { first, second, hook: hook.controls() });
            }
        }
    }
    Ok(named)
}

/// Hooks that a policy leaves to others of a selection.
fn left(definition: &Definition, named: &[&'static Definition]) -> Vec<HookKind> {
    let there = |name: &str| named.iter().any(|d| d.about.name == name);
    definition.about.yields.iter().filter(|(to, _)| there(to)).map(|(_, hook)| *hook).collect()
}

impl Chosen {
    /// Names and values of what it reports.
    pub fn metrics<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = (&'a crate::Metric, Option<f64>)> {
        self.definition.about.metrics.iter().map(|m| (m, (m.value)(report).filter(|v| v.is_finite())))
    }
}

impl Policy for Selection {
    fn sm(&self, spec: &Spec, sm: u32) -> SmHooks {
        let mut all = SmHooks::default();
        for chosen in &self.chosen {
            let own = chosen.built.policy.sm(spec, sm);
            let keeps = |hook| !chosen.left.contains(&hook);
            all.order = all.order.or(own.order.filter(|_| keeps(HookKind::Order)));
            all.issue = all.issue.or(own.issue.filter(|_| keeps(HookKind::Issue)));
            all.lanes = all.lanes.or(own.lanes.filter(|_| keeps(HookKind::Lanes)));
            all.datapath = all.datapath.or(own.datapath.filter(|_| keeps(HookKind::Datapath)));
            all.observers.extend(own.observers);
        }
        all
    }

    fn governor(&self, spec: &Spec) -> Option<Box<dyn GovernorHook>> {
        self.chosen.iter().find_map(|chosen| {
            let governor = chosen.built.policy.governor(spec);
            governor.filter(|_| !chosen.left.contains(&HookKind::Governor))
        })
    }
}
