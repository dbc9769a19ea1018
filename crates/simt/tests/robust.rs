//! No panic on any program: real kernels with words exchanged, run on buffers that do not fit them. Any ending is right
//! but a panic.

use proptest::prelude::*;
use warpwatt_simt::device::{Arg, Device};
use warpwatt_simt::functional::FunctionalDevice;

/// Texts to mutate: the suite's kernels and the parser's files.
fn texts() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    let mut folders = vec![root.join("workloads/src"), root.join("ptx/tests/data")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ptx") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The text cut into words and what lies between them.
fn words(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || "_$%.".contains(c);
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        list.push(&rest[..end]);
        rest = &rest[end..];
    }
    list
}

/// Puts words in the place of others of the same kind (registers by registers, numbers by numbers …).
fn mutate(text: &str, edits: &[(usize, usize)]) -> String {
    let mut list = words(text);
    let kind = |w: &str| w.chars().next().map(|c| (c.is_numeric(), c == '%', c.is_alphabetic(), w.contains('.')));
    for &(to, from) in edits {
        let to = to % list.len();
        let candidates: Vec<usize> = (0..list.len()).filter(|&i| kind(list[i]) == kind(list[to])).collect();
        list[to] = list[candidates[from % candidates.len()]];
    }
    list.concat()
}

fn run(text: &str, seed: u64) -> Option<()> {
    let mut device = FunctionalDevice::default();
    device.limit_warp_instructions(3000);
    device.load_module("mutant.ptx", text).ok()?;
    let module = warpwatt_ptx::parse("mutant.ptx", text).ok()?;
    let buffer = device.alloc(1 << 12).ok()?;
    let data: Vec<u8> = (0..1 << 12).map(|i: u64| (i.wrapping_mul(seed | 1) >> 5) as u8).collect();
    device.write(buffer, &data).ok()?;
    for kernel in module.functions.iter().filter(|f| f.entry) {
        let args: Vec<Arg> = kernel
            .params
            .iter()
            .map(|p| match p.size {
                1 => Arg::U8(seed as u8),
                2 => Arg::U16(seed as u16),
                4 => Arg::U32((seed % 100) as u32),
                8 => Arg::Ptr(buffer),
                n => Arg::Bytes(vec![seed as u8; n as usize]),
            })
            .collect();
        let _ = device.launch(&kernel.name, [2, 1, 1], [40 + (seed % 100) as u32, 1, 1], 64, &args);
    }
    Some(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_kernels_do_not_panic(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<usize>(), any::<usize>()), 0..6),
        seed in any::<u64>(),
    ) {
        static TEXTS: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(texts);
        run(&mutate(which.get(TEXTS.as_slice()).as_str(), &edits), seed);
    }
}
