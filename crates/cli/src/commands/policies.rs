//! `policies`: the published systems, their papers, hooks and parameters.

use crate::args::PoliciesArgs;
use crate::output::{faint, heading, print};
use crate::table::table;
use serde_json::{Value, json};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::store::to_json;
use warpwatt_policies::registry::{POLICIES, find};
use warpwatt_policies::{Definition, Paper};

/// Lists all policies, or shows one.
pub fn policies(args: PoliciesArgs) -> Result<u8, Problem> {
    let one = args.name.as_deref().map(find).transpose().map_err(|e| Problem::from_policy(&e))?;
    let text = match (one, args.json) {
        (Some(policy), true) => to_json(&entry(policy))?,
        (Some(policy), false) => detail(policy),
        (None, true) => to_json(&POLICIES.iter().map(entry).collect::<Vec<_>>())?,
        (None, false) => list(),
    };
    print(&text)?;
    Ok(0)
}

fn hooks(policy: &Definition) -> String {
    policy.about.hooks.iter().map(|h| h.name()).collect::<Vec<_>>().join(", ")
}

fn list() -> String {
    let row = |policy: &Definition| {
        let about = &policy.about;
        let paper = format!("{} {}", about.paper.venue, about.paper.year);
        vec![about.name.to_owned(), hooks(policy), paper, about.meaning.to_owned()]
    };
    let rows: Vec<_> = POLICIES.iter().map(row).collect();
    let more =
        " `warpwatt policies NAME` shows one with its paper and parameters; `--policy a+b` runs several together.\n";
    table(&["policy", "hooks", "paper", "what it does"], &rows, 4) + &faint(more)
}

fn citation(paper: &Paper) -> String {
    format!("{}. {}. {} {}.", paper.authors, paper.title, paper.venue, paper.year)
}

fn detail(policy: &Definition) -> String {
    let about = &policy.about;
    let mut out = format!("{}   {}\n{}\n\n", heading(about.name), about.meaning, faint(&citation(&about.paper)));
    let baseline = [about.baseline.gpu].into_iter().chain(about.baseline.set.iter().copied()).collect::<Vec<_>>();
    out += &format!(" hooks     {}\n measured  on {}\n", hooks(policy), baseline.join(", "));
    let beside = about.yields.iter().map(|(other, hook)| format!("leaves the hook `{}` to `{other}`", hook.name()));
    out.extend(beside.map(|line| format!(" beside    {line}\n")));
    let parameters = policy.parameters();
    if !parameters.is_empty() {
        let row = |p: &warpwatt_policies::Parameter| {
            let key = format!("{}.{}", about.name, p.key);
            vec![key, p.default.clone(), p.unit.to_owned(), p.kind.legal(), p.source.to_owned(), p.meaning.clone()]
        };
        let rows: Vec<_> = parameters.iter().map(row).collect();
        out += &format!("\n{}\n", heading("Parameters (--set)"));
        out += &table(&["parameter", "default", "unit", "legal", "source", "meaning"], &rows, 6);
    }
    if !about.metrics.is_empty() {
        let rows: Vec<_> =
            about.metrics.iter().map(|m| vec![m.name.to_owned(), m.unit.to_owned(), m.meaning.to_owned()]).collect();
        out += &format!("\n{}\n{}", heading("Reports"), table(&["result", "unit", "meaning"], &rows, 3));
    }
    out
}

fn entry(policy: &Definition) -> Value {
    let about = &policy.about;
    let parameter = |p: warpwatt_policies::Parameter| {
        json!({
            "name": format!("{}.{}", about.name, p.key),
            "default": serde_json::from_str(&p.default).unwrap_or_else(|_| json!(p.default)),
            "unit": p.unit,
            "legal": p.kind.legal(),
            "meaning": p.meaning,
            "source": p.source,
        })
    };
    let metric = |m: &warpwatt_policies::Metric| json!({ "name": m.name, "unit": m.unit, "meaning": m.meaning });
    json!({
        "name": about.name,
        "meaning": about.meaning,
        "paper": {
            "title": about.paper.title,
            "authors": about.paper.authors,
            "venue": about.paper.venue,
            "year": about.paper.year,
        },
        "hooks": about.hooks.iter().map(|h| h.name()).collect::<Vec<_>>(),
        "baseline": { "gpu": about.baseline.gpu, "set": about.baseline.set },
        "parameters": policy.parameters().into_iter().map(parameter).collect::<Vec<_>>(),
        "metrics": about.metrics.iter().map(metric).collect::<Vec<_>>(),
    })
}
