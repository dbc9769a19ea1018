//! A user's own kernels: the launch description (TOML, or pieces of a command line), checked against its PTX and
//! resolved, and then driven on any [`Device`](warpwatt_simt::device::Device).

pub mod args;
pub mod data;
pub mod drive;
pub mod expect;
pub mod file;
pub mod places;
pub mod quick;
pub mod random;
pub mod resolve;

use crate::problem::{Outcome, Problem};
use data::Contents;
use expect::Expect;
use file::JobFile;
use places::Places;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpwatt_ptx::ir::Module;
use warpwatt_simt::device::{Dim3, TextureBinding};

/// A PTX file, parsed.
#[derive(Clone, Debug)]
pub struct PtxFile {
    /// Its name as the user wrote it.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// The module.
    pub module: Arc<Module>,
}

/// A buffer with its initial contents.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Name.
    pub name: String,
    /// Type, count, bytes.
    pub contents: Contents,
    /// The module variable that it is, if it has no memory of its own.
    pub symbol: Option<String>,
}

/// A texture reference; the binding's address is that of `buffer`.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The reference's name.
    pub name: String,
    /// Index of the buffer.
    pub buffer: usize,
    /// The rest.
    pub binding: TextureBinding,
}

/// How often a launch or a loop runs.
#[derive(Clone, Copy, Debug)]
pub enum Rounds {
    /// So many times.
    Count(u64),
    /// Until the first element of a buffer is zero after a round.
    UntilZero {
        /// Index of the buffer.
        buffer: usize,
        /// The run fails after so many rounds.
        at_most: u64,
    },
}

/// What the host does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Launches a kernel.
    Launch {
        /// Name.
        kernel: String,
        /// Grid.
        grid: Dim3,
        /// Block.
        block: Dim3,
        /// Dynamic shared memory, bytes.
        shared_bytes: u32,
        /// Arguments.
        args: Vec<args::Argument>,
        /// Times.
        rounds: Rounds,
    },
    /// Runs steps several times.
    Loop(Vec<Step>, Rounds),
    /// Writes a buffer's initial contents again.
    Reset(usize),
    /// Copies a buffer to another.
    Copy(usize, usize),
}

/// What a launch description says of the machine; all of it may be overridden.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// A preset's name or a GPU file.
    pub gpu: Option<String>,
    /// Policies, joined by `+`.
    pub policy: Option<String>,
    /// `NAME=VALUE`.
    pub set: Vec<String>,
    /// Where that stands.
    pub places: MachinePlaces,
}

/// Where a launch description says what of the machine.
#[derive(Clone, Debug, Default)]
pub struct MachinePlaces {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The GPU.
    pub gpu: Range<usize>,
    /// The policies.
    pub policy: Range<usize>,
    /// Each of the settings.
    pub set: Vec<Range<usize>>,
}

impl MachinePlaces {
    /// Shows a place, unless the problem has one of its own.
    pub fn mark(&self, problem: Problem, range: &Range<usize>) -> Problem {
        let placed = miette::Diagnostic::labels(&problem).is_some();
        if placed { problem } else { problem.at(&self.name, &self.text, range.clone(), "here") }
    }
}

/// A launch description, complete and checked.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name.
    pub name: String,
    /// What it says of the machine.
    pub machine: Machine,
    /// PTX files.
    pub modules: Vec<PtxFile>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Steps.
    pub steps: Vec<Step>,
    /// Expected outputs.
    pub expects: Vec<Expect>,
    /// The description as data, to be written down and hashed.
    pub description: serde_json::Value,
    /// The files that it is read from: the description's own, if it has one, and all that it names.
    pub files: Vec<PathBuf>,
}

impl Job {
    /// Reads a launch description and all that it names.
    pub fn load(path: &Path) -> Outcome<Job> {
        let text = read_text(path)?;
        let name = path.display().to_string();
        let stem = path.file_stem().map_or_else(|| name.clone(), |s| s.to_string_lossy().into_owned());
        let places = Places { name: &name, text: &text };
        let file: JobFile = toml::from_str(&text).map_err(|e| places.toml_problem("job::toml", &e))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut job = resolve::resolve(file, folder, &stem, &places)?;
        job.files.push(path.to_owned());
        Ok(job)
    }
}

impl Job {
    /// Kernels that it launches, each once.
    pub fn kernels(&self) -> Vec<&str> {
        fn collect<'a>(steps: &'a [Step], names: &mut Vec<&'a str>) {
            for step in steps {
                match step {
                    Step::Launch { kernel, .. } if !names.contains(&kernel.as_str()) => names.push(kernel),
                    Step::Loop(body, _) => collect(body, names),
                    _ => {}
                }
            }
        }
        let mut names = Vec::new();
        collect(&self.steps, &mut names);
        names
    }
}

/// Most bytes of a file of text.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// Reads a text file.
pub fn read_text(path: &Path) -> Outcome<String> {
    let bytes = data::read_at_most(MAX_TEXT_BYTES, path)?;
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Problem::input("file::not-text", format!("`{}` is not UTF-8 text (line {line})", path.display()))
    })
}

/// Reads and parses a PTX file; `name` is what messages call it.
pub fn read_ptx(path: &Path, name: &str) -> Outcome<PtxFile> {
    let bytes = data::read_at_most(MAX_TEXT_BYTES, path)?;
    let module = warpwatt_ptx::parse_bytes(name, &bytes).map_err(|e| {
        let text = String::from_utf8_lossy(&bytes);
        ptx_problem(&e, &text)
    })?;
    Ok(PtxFile { name: name.to_owned(), text: module.source.clone(), module: Arc::new(module) })
}

/// The PTX parser's errors, at most eight, as one problem with the others behind it.
pub fn ptx_problem(errors: &warpwatt_ptx::ParseErrors, text: &str) -> Problem {
    const SHOWN: usize = 8;
    let mut problems = errors.errors.iter().take(SHOWN).map(|e| {
        let range = e.span.start as usize..e.span.end as usize;
        Problem::input("ptx::syntax", e.to_string()).maybe_help(e.help.clone()).at(&e.file, text, range, "here")
    });
    let first = problems.next().unwrap_or_else(|| Problem::input("ptx::syntax", "not PTX"));
    let hidden = errors.errors.len().saturating_sub(SHOWN);
    let more = (hidden > 0).then(|| Problem::input("ptx::syntax", format!("and {hidden} more errors")));
    let others: Vec<Problem> = problems.chain(more).collect();
    first.and(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_without_an_end_is_not_read() {
        assert_eq!(read_text(Path::new("/dev/zero")).unwrap_err().code(), "file::too-large");
        assert_eq!(read_ptx(Path::new("/dev/zero"), "zero").unwrap_err().code(), "file::too-large");
    }
}
