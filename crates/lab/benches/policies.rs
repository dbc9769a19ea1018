//! What policies cost in simulation speed: wall time for a simulated cycle over that of the baseline.
//!
//! `cargo bench --bench policies -- WORKLOAD… [--full] [--bare] [--rounds=N] [--policies=A,B…]` runs each policy between two
//! runs of its baseline and takes the ratio to their mean: what slows the host down for longer than a run slows down all
//! three. Printed is the median over the rounds, and in brackets the middle half of them. The baseline is that of `compare`:
//! the GPU and scheduler of the policy's paper, its lanes always on, their idle periods counted. With `--bare` it is the
//! same machine without any policy, where nothing is known of lanes. Time is that in kernel launches, on one thread.

use miette::Diagnostic;
use std::path::Path;
use std::process::ExitCode;
use warpwatt_lab::compare::{CompareRequest, Mean, Plan, average};
use warpwatt_lab::problem::{Outcome, Problem};
use warpwatt_lab::request::{ProgramRequest, Request};
use warpwatt_lab::run::{Controls, run};

const WORKLOADS: [&str; 9] = ["heartwall", "lavaMD", "sgemm", "hotspot", "b+tree", "nw", "backprop", "srad", "bfs"];
const POLICIES: [&str; 7] = ["cpg", "warped-gates", "fold", "origami", "pats", "itap-pow", "itap-perf"];
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` does not want to wait for this.
    if !arguments.iter().any(|a| a == "--bench") {
        return ExitCode::SUCCESS;
    }
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            if let Some(help) = Diagnostic::help(&problem) {
                eprintln!("{help}");
            }
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Outcome<()> {
    let option = |name: &str| arguments.iter().find_map(|a| a.strip_prefix(name)?.strip_prefix('='));
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|a| !a.starts_with('-')).collect();
    let workloads = if words.is_empty() { WORKLOADS.to_vec() } else { words };
    let policies = option("--policies").map_or(POLICIES.to_vec(), |list| list.split(',').collect());
    let rounds = option("--rounds").map_or(Some(ROUNDS), |n| n.parse().ok().filter(|&n| n > 0));
    let rounds = rounds.ok_or_else(|| Problem::input("bench::rounds", "`--rounds` takes a number, 1 or more"))?;
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let size = if flag("--full") { "full" } else { "small" };

    println!("| | {} |\n| --- |{}", policies.join(" | "), " ---: |".repeat(policies.len()));
    let mut medians = vec![Vec::new(); policies.len()];
    for workload in workloads {
        let program = ProgramRequest::Workload(workload.to_owned(), size.to_owned());
        let mut all = ratios(&pairs(&program, &policies, flag("--bare"))?, rounds)?;
        let cells = all.iter_mut().zip(&mut medians).map(|(ratios, medians)| {
            ratios.sort_by(f64::total_cmp);
            let [low, middle, high] = [1, 2, 3].map(|quarter| ratios[ratios.len() * quarter / 4]);
            medians.push(Some(middle));
            format!("{middle:.2} ({low:.2} to {high:.2})")
        });
        println!("| {workload} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    let mean = |of: &Vec<_>| average(Mean::Geometric, of).map_or("n/a".to_owned(), |mean| format!("{mean:.2}"));
    let means: Vec<String> = medians.iter().map(mean).collect();
    println!("| geometric mean | {} |", means.join(" | "));
    Ok(())
}

/// A program under each policy, behind it on that policy's baseline.
fn pairs(program: &ProgramRequest, policies: &[&str], bare: bool) -> Outcome<Vec<[Request; 2]>> {
    let pair = |policy: &&str| {
        let (programs, policies) = (vec![program.clone()], vec![(*policy).to_owned()]);
        let plan = Plan::new(&CompareRequest { programs, policies, ..CompareRequest::default() }, Path::new("runs"))?;
        let [baseline, run] = &plan.runs[..] else {
            return Err(Problem::input("bench::policy", format!("`{policy}` is a search among several runs")));
        };
        let mut baseline = baseline.request.clone();
        if bare {
            baseline.policy.clear();
        }
        Ok([run.request.clone(), baseline])
    };
    policies.iter().map(pair).collect()
}

/// Of each policy and round the ratio to the baseline.
fn ratios(pairs: &[[Request; 2]], rounds: usize) -> Outcome<Vec<Vec<f64>>> {
    let mut ratios = vec![Vec::new(); pairs.len()];
    for _ in 0..rounds {
        let mut last = None;
        for ([policy, baseline], ratios) in pairs.iter().zip(&mut ratios) {
            let before = match last.take() {
                Some((of, cost)) if of == baseline => cost,
                _ => cost(baseline)?,
            };
            let own = cost(policy)?;
            let after = cost(baseline)?;
            ratios.push(2.0 * own / (before + after));
            last = Some((baseline, after));
        }
    }
    Ok(ratios)
}

/// Seconds for a simulated cycle.
fn cost(request: &Request) -> Outcome<f64> {
    let host = run(request, Controls::default())?.host;
    let speed = host.and_then(|host| host.cycles_per_second);
    speed.map(f64::recip).ok_or_else(|| Problem::run("bench::no-cycles", "nothing was simulated"))
}
