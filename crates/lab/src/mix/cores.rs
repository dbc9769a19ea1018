//! SMs of several kinds on one chip (µC-States §7): each kind is a policy, or none, that its SMs run under.
//!
//! A small core is a big one whose policy keeps half of each component for good (`c-half`); any other policy without a
//! governor may stand there too.

use crate::problem::{Outcome, Problem};
use warpwatt_machine::hooks::{Policy, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_policies::selection::definitions;
use warpwatt_policies::{Definition, Selection, split};
use warpwatt_power::PolicyPower;

/// The name of a core without a policy of its own.
pub const BIG: &str = "big";

/// Half the SMs big, half small, as in the paper's case study.
pub const HETERO: &str = "hetero";

/// The paper's small core.
const SMALL: &str = "c-half";

/// The parameter of static shapes that says what becomes of the halves.
const HALVES: &str = "halves";

/// SMs of one kind, one after the other.
#[derive(Debug)]
struct Kind {
    name: String,
    count: u32,
    /// The common policies and its own.
    policy: Selection,
    /// What its own says of power.
    power: PolicyPower,
}

/// The cores of a chip.
#[derive(Debug)]
pub struct Cores {
    /// As it was written.
    pub text: String,
    kinds: Vec<Kind>,
    common: Selection,
}

impl Cores {
    /// Reads `big`, `c-half`, `hetero`, or kinds with numbers of SMs: `big:8,c-half:8`. `common` are policies of all SMs.
    pub fn parse(text: &str, common: &str, settings: &[&str], spec: &Spec) -> Outcome<Cores> {
        let half = spec.sms / 2;
        let written = match text {
            HETERO => format!("{BIG}:{},{SMALL}:{half}", spec.sms - half),
            other => other.to_owned(),
        };
        let pieces: Vec<&str> = written.split(',').map(str::trim).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        for piece in &pieces {
            let (name, count) = match piece.split_once(':') {
                Some((name, count)) => (name.trim(), number(text, count)?),
                None if pieces.len() == 1 => (*piece, spec.sms),
                None => return Err(wrong(text, format!("`{piece}` does not say how many SMs"))),
            };
            if name.is_empty() {
                return Err(wrong(text, "a kind has no name".to_owned()));
            }
            let own = if name == BIG { "" } else { name };
            let joined = [common, own].iter().filter(|n| !n.is_empty()).copied().collect::<Vec<_>>().join("+");
            let policy = selection(&joined, settings, spec)?;
            let power = selection(own, settings, spec)?.power();
            kinds.push(Kind { name: name.to_owned(), count, policy, power });
        }
        let sum = kinds.iter().map(|kind| u64::from(kind.count)).sum::<u64>();
        if sum != u64::from(spec.sms) {
            return Err(wrong(text, format!("these are {sum} SMs, and {} has {}", spec.name, spec.sms)));
        }
        Ok(Cores { text: text.to_owned(), kinds, common: selection(common, settings, spec)? })
    }

    /// The kind of an SM: its place and name.
    pub fn kind(&self, sm: u32) -> (usize, &str) {
        let mut end = 0;
        for (at, kind) in self.kinds.iter().enumerate() {
            end += kind.count;
            if sm < end {
                return (at, &kind.name);
            }
        }
        (0, BIG)
    }

    /// Names and numbers of SMs of the kinds.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, u32)> {
        self.kinds.iter().map(|kind| (kind.name.as_str(), kind.count))
    }

    /// Policies of the kinds that have some.
    pub fn policies(&self) -> impl Iterator<Item = &Selection> {
        self.kinds.iter().map(|kind| &kind.policy).filter(|policy| !policy.is_empty())
    }

    /// How the policies change the computation of power. What they say holds for the whole chip: hardware that one kind of
    /// core adds is charged to all, and of two kinds that say what gating costs the first one is right.
    pub fn power(&self) -> PolicyPower {
        let mut seen: Vec<&str> = Vec::new();
        self.kinds.iter().fold(self.common.power(), |all, kind| {
            if seen.contains(&kind.name.as_str()) {
                return all;
            }
            seen.push(&kind.name);
            all.and(&kind.power)
        })
    }
}

impl Policy for Cores {
    fn sm(&self, spec: &Spec, sm: u32) -> SmHooks {
        self.kinds.get(self.kind(sm).0).map_or_else(SmHooks::default, |kind| kind.policy.sm(spec, sm))
    }

    fn governor(&self, spec: &Spec) -> Option<Box<dyn warpwatt_machine::hooks::GovernorHook>> {
        self.kinds.iter().find_map(|kind| kind.policy.governor(spec))
    }
}

/// Policies with those of the settings that are theirs. Cores of a static shape are built so (§7): unless a setting says
/// otherwise the halves that they do not use are absent.
fn selection(policies: &str, settings: &[&str], spec: &Spec) -> Outcome<Selection> {
    let problem = |e| Problem::from_policy(&e);
    let named = definitions(policies).map_err(problem)?;
    let theirs = |setting: &&&str| named.iter().any(|d| setting.split('.').next() == Some(d.about.name));
    let halves = |d: &&&'static Definition| d.parameters().iter().any(|p| p.key == HALVES);
    let built: Vec<String> = named.iter().filter(halves).map(|d| format!("{}.{HALVES}=absent", d.about.name)).collect();
    let said = |key: &str| settings.iter().any(|s| s.split('=').next().map(str::trim) == Some(key));
    let unsaid = built.iter().map(String::as_str).filter(|b| !b.split('=').next().is_some_and(said));
    let settings: Vec<&str> = unsaid.chain(settings.iter().filter(theirs).copied()).collect();
    Selection::new(policies, &settings, spec).map_err(problem)
}

/// Refuses settings of policies that no core has.
pub fn check_settings(set: &[String], all: &[Cores]) -> Outcome<()> {
    let (of_policies, _) = split(set).map_err(|e| Problem::from_policy(&e))?;
    for setting in of_policies {
        let policy = setting.split('.').next().unwrap_or_default();
        let chosen = all.iter().flat_map(Cores::policies).flat_map(|selection| selection.chosen());
        if !chosen.into_iter().any(|c| c.definition.about.name == policy) {
            let message = format!("`{setting}` is for policy `{policy}`, which no core runs under");
            return Err(Problem::input("mix::setting", message).help("name it with --policy or --cores"));
        }
    }
    Ok(())
}

fn number(text: &str, count: &str) -> Outcome<u32> {
    let number = count.trim().parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| wrong(text, format!("`{count}` is no number of SMs")))
}

fn wrong(text: &str, why: String) -> Problem {
    let problem = Problem::input("mix::cores", format!("`--cores {text}`: {why}"));
    problem.help("write big, c-half, hetero, or kinds that add up to all SMs: big:8,c-half:8")
}
