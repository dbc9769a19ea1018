//! `warpwatt`: arguments, progress, tables, exit codes. Everything else is in the library crates.
//!
//! Exit codes: 0 fine; 1 the run failed (fault, deadlock, limit, wrong results, interrupted, audit); 2 the input was
//! wrong.

mod args;
mod commands;
mod output;
mod progress;
mod show;
mod table;

use args::{Cli, Command};
use std::process::ExitCode;
use warpwatt_lab::problem::Problem;

fn main() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are asked for; everything else is a mistake in the arguments.
            let code = u8::from(message.use_stderr()) * 2;
            let _ = message.print();
            return ExitCode::from(code);
        }
    };
    match perform(cli) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            let code = problem.exit_code();
            output::draw(problem);
            ExitCode::from(code)
        }
    }
}

fn perform(cli: Cli) -> Result<u8, Problem> {
    match cli.command {
        Command::Run(args) => commands::run::run(*args),
        Command::Compare(args) => commands::compare::compare(*args),
        Command::Bottleneck(args) => commands::bottleneck::bottleneck(*args),
        Command::Idle(args) => commands::idle::idle(args),
        Command::Predict(args) => commands::predict::predict(args),
        Command::Mix(args) => commands::mix::mix(*args),
        Command::Resume(args) => commands::run::resume(args),
        Command::Check(args) => commands::check::check(args),
        Command::List(args) => commands::list::list(args),
        Command::Gpus(args) => commands::gpu::gpus(args),
        Command::Show(args) => commands::gpu::show(args),
        Command::Policies(args) => commands::policies::policies(args),
        Command::Schema(args) => commands::schema::schema(args),
    }
}
