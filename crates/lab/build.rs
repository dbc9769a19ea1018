//! Gives the crate a fingerprint of the simulator's sources: results of one version of the code are never taken for
//! those of another.

use std::path::{Path, PathBuf};

fn main() {
    let crates = Path::new("..");
    let mut files = Vec::new();
    for name in ["ptx", "simt", "machine", "power", "policies", "workloads", "lab"] {
        let folder = crates.join(name);
        if folder.exists() {
            println!("cargo::rerun-if-changed={}", folder.display());
            collect(&folder, &mut files);
        }
    }
    files.sort();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut feed = |bytes: &[u8]| {
        bytes.iter().for_each(|byte| hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    };
    for file in &files {
        feed(file.to_string_lossy().as_bytes());
        feed(&std::fs::read(file).unwrap_or_default());
    }
    println!("cargo::rustc-env=WARPWATT_SOURCE={hash:016x}");
}

/// Everything that is compiled in: sources, presets, energy tables, kernels. Tests and benches are not.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "tests" | "benches" | "fuzz" | "examples") {
                collect(&path, files);
            }
        } else if matches!(path.extension().and_then(|e| e.to_str()), Some("rs" | "toml" | "ptx")) {
            files.push(path);
        }
    }
}
