//! Checkpoint files: written whole or not at all, and read only if whole.
//!
//! A file is a magic word, a SHA-256 of the rest, and the rest: [`Checkpoint`] in postcard, compressed with zstd. It
//! is written beside the old one, made durable, and put in its place by rename; the one before is kept, and used if
//! the newest turns out to be damaged.

use crate::problem::{Outcome, Problem};
use crate::request::Request;
use crate::store::sync_directory;
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"WWCHECK1";
const NEWEST: &str = "checkpoint.bin";
const PREVIOUS: &str = "checkpoint.previous.bin";
const PARTIAL: &str = "checkpoint.partial.bin";

/// What it writes into a run directory.
pub(crate) const FILES: [&str; 3] = [NEWEST, PREVIOUS, PARTIAL];

/// Everything that a run needs to go on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What was asked for.
    pub request: Request,
    /// The run's key: the inputs must still be the same.
    pub key: String,
    /// What the host program did so far.
    pub transcript: Transcript,
    /// The machine.
    pub state: Vec<u8>,
    /// Host seconds spent before.
    pub host_seconds: f64,
}

impl Checkpoint {
    /// Writes into a run directory.
    pub fn write(&self, directory: &Path) -> Outcome<()> {
        let damaged = |e: String| Problem::run("checkpoint::encode", format!("cannot encode a checkpoint: {e}"));
        let plain = postcard::to_stdvec(self).map_err(|e| damaged(e.to_string()))?;
        let packed = zstd::encode_all(&plain[..], 1).map_err(|e| damaged(e.to_string()))?;
        let (partial, newest) = (directory.join(PARTIAL), directory.join(NEWEST));
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(directory)?;
            let mut file = File::create(&partial)?;
            file.write_all(MAGIC)?;
            file.write_all(&Sha256::digest(&packed))?;
            file.write_all(&packed)?;
            file.sync_all()?;
            if newest.exists() {
                fs::rename(&newest, directory.join(PREVIOUS))?;
            }
            fs::rename(&partial, &newest)?;
            sync_directory(directory)
        };
        write().map_err(|e| Problem::unwritable(&newest, &e))
    }

    /// Reads the newest whole checkpoint of a run directory.
    pub fn read(directory: &Path) -> Outcome<Checkpoint> {
        let present = |name: &str| Some(directory.join(name)).filter(|path| path.exists());
        let candidates: Vec<PathBuf> = [NEWEST, PREVIOUS].into_iter().filter_map(present).collect();
        if candidates.is_empty() {
            let shown = directory.display();
            return Err(match directory.join("run.json").exists() {
                true => Problem::input("checkpoint::finished", format!("the run in `{shown}` is finished"))
                    .help("its results are there; `warpwatt run … --force` simulates it again"),
                false => Problem::input("checkpoint::none", format!("`{shown}` has no checkpoint"))
                    .help("`warpwatt run … --out DIR --checkpoint-every 30s` makes one"),
            });
        }
        let mut first = None;
        for path in &candidates {
            match read_file(path) {
                Ok(checkpoint) => return Ok(checkpoint),
                Err(problem) => first = first.or(Some(problem)),
            }
        }
        Err(first.unwrap_or_else(|| Problem::input("checkpoint::none", "no checkpoint")))
    }

    /// Refuses a run directory with a checkpoint of another run than that of this key: it would be lost.
    pub fn check_own(directory: &Path, key: &str) -> Outcome<()> {
        match Checkpoint::read(directory) {
            Ok(checkpoint) if checkpoint.key != key => {
                let message = format!("`{}` holds another run, which was interrupted", directory.display());
                let help =
                    "`warpwatt resume DIR` goes on with it; choose another directory, or use --force to replace it";
                Err(Problem::input("store::interrupted-run", message).help(help))
            }
            _ => Ok(()),
        }
    }

    /// Removes a run directory's checkpoints: the run is finished.
    pub fn remove(directory: &Path) {
        for name in FILES {
            // Files that are not there, or cannot be removed, do no harm.
            let _ = fs::remove_file(directory.join(name));
        }
    }
}

fn read_file(path: &Path) -> Outcome<Checkpoint> {
    let bad = |why: &str| Problem::input("checkpoint::damaged", format!("`{}` {why}", path.display()));
    let bytes = fs::read(path).map_err(|e| Problem::unreadable(path, &e))?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| bad("is no checkpoint of this version"))?;
    let (sum, packed) = rest.split_at_checked(32).ok_or_else(|| bad("is cut short"))?;
    if Sha256::digest(packed).as_slice() != sum {
        return Err(bad("is damaged: its checksum does not fit"));
    }
    let plain = zstd::decode_all(packed).map_err(|e| bad(&format!("cannot be unpacked: {e}")))?;
    postcard::from_bytes(&plain).map_err(|e| bad(&format!("was written by another version: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(key: &str) -> Checkpoint {
        let (transcript, state) = (Transcript::default(), vec![1, 2, 3]);
        Checkpoint { request: Request::default(), key: key.to_owned(), transcript, state, host_seconds: 1.5 }
    }

    #[test]
    fn the_newest_whole_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("run");
        checkpoint("one").write(&directory).unwrap();
        checkpoint("two").write(&directory).unwrap();
        assert_eq!(Checkpoint::read(&directory).unwrap().key, "two");
        let mut bytes = fs::read(directory.join(NEWEST)).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(directory.join(NEWEST), &bytes).unwrap();
        assert_eq!(Checkpoint::read(&directory).unwrap().key, "one");
        fs::write(directory.join(PREVIOUS), &bytes[..20]).unwrap();
        assert_eq!(Checkpoint::read(&directory).unwrap_err().code(), "checkpoint::damaged");
        Checkpoint::remove(&directory);
        assert_eq!(Checkpoint::read(&directory).unwrap_err().code(), "checkpoint::none");
    }

    #[test]
    fn a_kill_in_the_middle_of_writing_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        checkpoint("one").write(folder.path()).unwrap();
        fs::write(folder.path().join(PARTIAL), b"WWCHECK1 half").unwrap();
        assert_eq!(Checkpoint::read(folder.path()).unwrap().key, "one");
        // Killed between the two renames: only the previous one is left.
        fs::rename(folder.path().join(NEWEST), folder.path().join(PREVIOUS)).unwrap();
        assert_eq!(Checkpoint::read(folder.path()).unwrap().key, "one");
    }
}
