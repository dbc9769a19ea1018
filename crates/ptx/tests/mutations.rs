//! Real files with damage: no panic, and every error has its place.

mod common;

use proptest::prelude::*;
use std::sync::LazyLock;

/// The test files, and the reference kernels if they are there.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> =
        std::fs::read_dir(root.join("tests/data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "ptx"));
    paths.sort();
    assert!(paths.len() >= 12);
    paths.extend(warpwatt_workloads::reference::folder().map(|folder| folder.join("kernels/kernels.ptx")));
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
});

#[derive(Clone, Debug)]
enum Damage {
    /// Changes a byte.
    Flip(usize, u8),
    /// Cuts off the rest.
    Truncate(usize),
    /// Removes a word.
    Delete(usize),
    /// Writes a word twice.
    Double(usize),
    /// Swaps two words.
    Swap(usize, usize),
    /// Puts something in.
    Insert(usize, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || any::<usize>();
    let odd = prop::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ":",
        "@",
        "!",
        "|",
        "<",
        ">",
        "+",
        "-",
        "=",
        ".",
        "_",
        "\"",
        "/*",
        "\0",
        "é",
        "0x",
        "0f3",
        "99999999999999999999",
        "-9223372036854775808",
        ".reg",
        ".entry",
        ".func",
        ".param .b32 x[",
        ".v4",
        ".align 3",
        "%r4294967295",
        "call",
        "bra",
        ".section {",
        ".branchtargets",
        "= {",
        "L:",
    ]);
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, b)| Damage::Flip(i, b)),
        at().prop_map(Damage::Truncate),
        at().prop_map(Damage::Delete),
        at().prop_map(Damage::Double),
        (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        (at(), odd).prop_map(|(i, s)| Damage::Insert(i, s)),
    ]
}

/// The bounds of the word (letters and digits, or one other byte) at or behind a place.
fn word(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"_$%.".contains(b);
    let start = (at..bytes.len()).find(|&i| !bytes[i].is_ascii_whitespace()).unwrap_or(bytes.len());
    let length = bytes[start..].iter().take_while(|b| is_word(b)).count();
    start..(start + length.max(1)).min(bytes.len())
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let n = bytes.len();
    match *damage {
        Damage::Flip(at, byte) => bytes[at % n] ^= byte,
        Damage::Truncate(at) => bytes.truncate(at % n),
        Damage::Delete(at) => drop(bytes.drain(word(bytes, at % n))),
        Damage::Double(at) => {
            let word = word(bytes, at % n);
            let copy = bytes[word.clone()].to_vec();
            bytes.splice(word.start..word.start, copy.into_iter().chain([b' ']));
        }
        Damage::Swap(a, b) => {
            let (a, b) = (word(bytes, (a % n).min(b % n)), word(bytes, (a % n).max(b % n)));
            if a.end <= b.start {
                let (first, second) = (bytes[a.clone()].to_vec(), bytes[b.clone()].to_vec());
                bytes.splice(b, first);
                bytes.splice(a, second);
            }
        }
        Damage::Insert(at, text) => drop(bytes.splice(at % n..at % n, text.bytes())),
    }
}

/// `PROPTEST_CASES`, but not fewer than 1500.
fn more_cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(1500), ..config }
}

proptest! {
    #![proptest_config(more_cases())]

    #[test]
    fn damaged_files(file in any::<prop::sample::Index>(), list in prop::collection::vec(damage(), 1..5)) {
        let mut bytes = file.get(&FILES).clone();
        list.iter().for_each(|damage| apply(&mut bytes, damage));
        common::exercise(&bytes);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        common::exercise(&bytes);
    }

    #[test]
    fn words_in_any_order(list in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..60)) {
        let mut bytes = b".version 7.0\n.target sm_70\n.entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<9>;\n".to_vec();
        for (file, at) in list {
            let file = file.get(&FILES);
            let word = word(file, at.index(file.len()));
            bytes.extend_from_slice(&file[word]);
            bytes.push(b' ');
        }
        common::exercise(&bytes);
        bytes.extend_from_slice(b"\n}\n");
        common::exercise(&bytes);
    }
}

/// What damage has found before.
#[test]
fn found_before() {
    for body in [
        // A list that breaks off must leave no mention of its labels behind.
        "A: ts: .branchtargets A, A ts; brx.idx %r1, ts;",
        "A: ts: .branchtargets A, ;",
    ] {
        let text = format!(".version 7.0\n.target sm_70\n.entry k() {{ .reg .b32 %r<4>; {body} }}");
        assert!(warpwatt_ptx::parse("t", &text).is_err());
        common::exercise(text.as_bytes());
    }
}

#[test]
fn the_files_themselves() {
    FILES.iter().for_each(|bytes| common::exercise(bytes));
}
