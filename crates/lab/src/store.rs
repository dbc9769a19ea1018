//! Run directories: what is in them, how they are written, and how a finished run is found again.
//!
//! A run directory holds `run.json` (all inputs and results), `host.json` (how long the simulation took), `power.csv`,
//! `lanes.csv`, `stats.csv`, and while the run is under way its checkpoints. `run.json` is written last, by rename: a directory
//! that has it is complete.

use crate::checkpoint;
use crate::problem::{Outcome, Problem};
use crate::record::{Host, Record};
use serde::Serialize;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The record's file.
pub const RUN: &str = "run.json";
/// The host timings' file.
pub const HOST: &str = "host.json";

/// Makes a directory's entries durable.
pub fn sync_directory(directory: &Path) -> std::io::Result<()> {
    File::open(directory)?.sync_all()
}

/// What stands there is written into, as it is: a device, a pipe, or what a link leads to. A file of another name must not
/// take its place.
fn stays(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Where a file is before it is whole.
fn partial(path: &Path) -> PathBuf {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    partial.into()
}

/// Writes a file whole: beside its place, made durable, then renamed. Devices, pipes and links are written into.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Outcome<()> {
    if stays(path) {
        return fs::write(path, bytes).map_err(|e| Problem::unwritable(path, &e));
    }
    let partial = partial(path);
    let write = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, path)?;
        match path.parent().filter(|p| !p.as_os_str().is_empty()) {
            Some(parent) => sync_directory(parent),
            None => Ok(()),
        }
    };
    write().map_err(|e| {
        // A piece that cannot be removed does no harm.
        let _ = fs::remove_file(&partial);
        Problem::unwritable(path, &e)
    })
}

/// As JSON, indented, with a line break at the end.
pub fn to_json<T: Serialize>(value: &T) -> Outcome<String> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Problem::run("run::encode", e.to_string()))?;
    Ok(text + "\n")
}

/// The finished run in a directory, if there is one.
pub fn read_record(directory: &Path) -> Outcome<Option<Record>> {
    let path = directory.join(RUN);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // There is no directory, and where there is a file on the way to it there cannot be one.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(Problem::unreadable(&path, &e)),
    };
    serde_json::from_str(&text).map(Some).map_err(|e| {
        let problem =
            Problem::input("store::foreign", format!("`{}` is not a run of this version: {e}", path.display()));
        problem.help("choose another directory, or use --force to replace it")
    })
}

/// The host timings of a finished run.
pub fn read_host(directory: &Path) -> Option<Host> {
    serde_json::from_str(&fs::read_to_string(directory.join(HOST)).ok()?).ok()
}

/// Refuses a run directory that is something else.
pub fn check_directory(directory: &Path) -> Outcome<()> {
    if !directory.exists() || directory.is_dir() {
        return Ok(());
    }
    let message = format!("`{}` is a file, not a directory", directory.display());
    Err(Problem::input("store::not-a-directory", message).help("a run is written into a directory of its own"))
}

/// Makes a directory and sees that files can be written into it: better before a simulation than after it.
pub fn prepare_directory(directory: &Path) -> Outcome<()> {
    check_directory(directory)?;
    write_into(directory)
}

/// Files of a run directory's own.
const OWN: [&str; 6] = [RUN, HOST, "power.csv", "lanes.csv", "stats.csv", "governor.csv"];

/// Refuses an output file that is one of the files that are read, or is one of them before it is whole.
pub fn spare_inputs(path: &Path, inputs: &[PathBuf]) -> Outcome<()> {
    // What is not there yet replaces nothing.
    let places = [path.canonicalize(), partial(path).canonicalize()];
    let replaced = |input: &&PathBuf| input.canonicalize().is_ok_and(|i| places.iter().flatten().any(|p| *p == i));
    match inputs.iter().find(replaced) {
        Some(input) => {
            let message = format!("`{}` would replace the input `{}`", path.display(), input.display());
            Err(Problem::input("file::replaces-input", message).help("write it into another file"))
        }
        None => Ok(()),
    }
}

/// Refuses a run directory whose files, and a timeline that, would replace what the run reads, or one another.
pub fn spare_run(directory: Option<&Path>, trace: Option<&Path>, inputs: &[PathBuf]) -> Outcome<()> {
    trace.map_or(Ok(()), |trace| spare_inputs(trace, inputs))?;
    let Some(directory) = directory else { return Ok(()) };
    let own = || OWN.iter().chain(&checkpoint::FILES).map(|name| directory.join(name));
    own().try_for_each(|file| spare_inputs(&file, inputs))?;
    let place = |path: &Path| std::path::absolute(path).ok();
    match trace.filter(|trace| own().any(|file| place(&file) == place(trace))) {
        Some(trace) => {
            let message = format!("`{}` is a file of the run directory's own", trace.display());
            Err(Problem::input("file::replaces-result", message).help("write it into another file"))
        }
        None => Ok(()),
    }
}

/// Sees that a file can be written, as [`write_whole`] will do.
pub fn prepare_file(path: &Path) -> Outcome<()> {
    if path.is_dir() {
        let message = format!("`{}` is a directory, not a file", path.display());
        return Err(Problem::input("file::unwritable", message).help("give the file a name of its own"));
    }
    if stays(path) {
        return Ok(());
    }
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => write_into(Path::new(".")),
        Some(parent) => write_into(parent),
        None => Ok(()),
    }
}

/// A process that has been killed may hold its directory for a few milliseconds more.
const A_MOMENT: Duration = Duration::from_millis(250);

/// Keeps other runs out of a run directory, which is made if need be, for as long as the answer lives. `interrupted`: while
/// another run is there this one waits for its end, or for this; `None`: it is refused, after a moment in which one that has
/// just been killed lets go.
pub fn hold_directory(directory: &Path, interrupted: Option<&AtomicBool>) -> Outcome<Option<File>> {
    check_directory(directory)?;
    if !directory.exists() {
        write_into(directory)?;
    }
    // Where directories cannot be opened or locked nothing is held.
    let Ok(file) = File::open(directory) else { return Ok(None) };
    let end = Instant::now() + A_MOMENT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
        }
        if interrupted.map_or(Instant::now() > end, |stop| stop.load(Ordering::Relaxed)) {
            let message = format!("another run is writing into `{}`", directory.display());
            let help = "wait for its end, or choose another directory";
            return Err(Problem::input("store::busy", message).help(help));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn write_into(directory: &Path) -> Outcome<()> {
    let probe = directory.join(format!(".writable-{}", std::process::id()));
    let made = match directory.exists() && !directory.is_dir() {
        true => Err(ErrorKind::NotADirectory.into()),
        false => fs::create_dir_all(directory),
    };
    made.and_then(|()| File::create(&probe)).map_err(|e| {
        let message = format!("cannot write into `{}`: {e}", directory.display());
        Problem::input("file::unwritable", message).help("choose a directory that you may write into")
    })?;
    // A file that cannot be removed does no harm.
    let _ = fs::remove_file(probe);
    Ok(())
}

/// Looks a run up by its key. `Ok(None)`: it has to be run.
pub fn look_up(directory: &Path, key: &str) -> Outcome<Option<Record>> {
    let Some(record) = read_record(directory)? else { return Ok(None) };
    if record.key == key {
        return Ok(Some(record));
    }
    let shown = directory.display();
    let problem =
        Problem::input("store::other-run", format!("`{shown}` already holds another run: {}", record.title()));
    Err(problem.help("choose another directory, or use --force to replace it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_written_is_found_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let (file, new) = (folder.path().join("file"), folder.path().join("a/b"));
        prepare_directory(&new).unwrap();
        prepare_file(&new.join("page.html")).unwrap();
        assert_eq!(fs::read_dir(&new).unwrap().count(), 0);
        fs::write(&file, "").unwrap();
        for problem in
            [prepare_directory(&file.join("run")), prepare_file(&file.join("run/page.html")), prepare_file(&new)]
        {
            let problem = problem.unwrap_err();
            assert_eq!((problem.code(), problem.exit_code()), ("file::unwritable", 2));
        }
        assert_eq!(prepare_directory(&file).unwrap_err().code(), "store::not-a-directory");
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_written_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link, null) =
            (folder.path().join("target"), folder.path().join("link"), folder.path().join("null"));
        fs::write(&target, "long before").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        for path in [&link, &null] {
            prepare_file(path).unwrap();
            write_whole(path, b"now").unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_symlink());
        }
        assert_eq!(fs::read(&target).unwrap(), b"now");
        assert!(!fs::metadata(&null).unwrap().is_file());
    }

    #[test]
    fn a_directory_is_held_by_one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("run");
        let held = hold_directory(&directory, None).unwrap();
        assert!(held.is_some());
        let there = &directory;
        std::thread::scope(|scope| {
            let other = scope.spawn(move || hold_directory(there, None).map(|held| held.is_some()));
            std::thread::sleep(A_MOMENT / 5);
            drop(held);
            assert!(other.join().unwrap().unwrap(), "let go in a moment");
        });
        let held = hold_directory(&directory, None).unwrap();
        assert!(held.is_some());
        assert_eq!(hold_directory(&directory, None).unwrap_err().code(), "store::busy");
        assert_eq!(hold_directory(&directory, Some(&AtomicBool::new(true))).unwrap_err().code(), "store::busy");
        let waiting = std::thread::spawn(move || hold_directory(&directory, Some(&AtomicBool::new(false))).unwrap());
        drop(held);
        assert!(waiting.join().unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path().join("run")).unwrap().count(), 0);
    }

    #[test]
    fn outputs_spare_inputs_and_results() {
        let folder = tempfile::tempdir().unwrap();
        let job = folder.path().join("job.toml");
        fs::write(&job, "").unwrap();
        let inputs = [folder.path().join("gone.ptx"), job.clone()];
        let again = folder.path().join("./job.toml");
        assert_eq!(spare_inputs(&again, &inputs).unwrap_err().code(), "file::replaces-input");
        // `job` is written as `job.partial` first.
        let unfinished = folder.path().join("job.partial");
        fs::write(&unfinished, "").unwrap();
        let problem = spare_inputs(&folder.path().join("job"), &[unfinished]).unwrap_err();
        assert_eq!(problem.code(), "file::replaces-input");
        let (trace, run) = (folder.path().join("trace.json"), folder.path().join("run.json"));
        spare_run(Some(folder.path()), Some(&trace), &inputs).unwrap();
        let problem = spare_run(Some(folder.path()), Some(&run), &inputs).unwrap_err();
        assert_eq!((problem.code(), problem.exit_code()), ("file::replaces-result", 2));
        spare_run(None, Some(&run), &inputs).unwrap();
        // Data of an earlier run, in the directory of this one.
        let stats = folder.path().join("stats.csv");
        fs::write(&stats, "").unwrap();
        let problem = spare_run(Some(folder.path()), None, &[stats]).unwrap_err();
        assert_eq!((problem.code(), problem.exit_code()), ("file::replaces-input", 2));
    }

    #[test]
    fn what_cannot_be_put_in_its_place_leaves_no_piece() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        fs::create_dir_all(place.join("full")).unwrap();
        assert_eq!(write_whole(&place, b"x").unwrap_err().exit_code(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_written_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/run.json");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
