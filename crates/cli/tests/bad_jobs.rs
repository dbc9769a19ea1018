//! Bad launch descriptions: each ends with exit code 2, no panic, its own diagnostic, and the offending line shown.

mod common;

use common::{data, warpwatt_in};

/// A case: the description, the diagnostic, and words that the message must have.
struct Case(&'static str, &'static str, &'static str);

/// A description that is right, up to what a case puts in its place.
const SAXPY: &str = r#"
[[buffer]]
name = "x"
type = "f32"
shape = 64
init = "uniform"

[[buffer]]
name = "y"
type = "f32"
shape = 64

[[step]]
launch = "saxpy"
grid = 1
block = 64
args = [64, 2.0, "x", "y"]
"#;

const CASES: &[Case] = &[
    // TOML and structure.
    Case("ptx = ", "job::toml", "string"),
    Case("ptx = 5", "job::toml", "expected a string"),
    Case("ptx = true", "job::toml", "one value or a list"),
    Case("ptx = 'basic.ptx'\nptx = 'basic.ptx'", "job::toml", "duplicate key"),
    Case("ptx = 'basic.ptx'\nbufer = []", "job::toml", "did you mean `buffer`"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\ntype = 'f32'", "job::toml", "missing field `name`"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntyp = 'f32'", "job::toml", "did you mean `type`"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f23'", "job::toml", "unknown variant"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = -4",
        "job::dimension-range",
        "of -4 is not in 1 to",
    ),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = [4, 0.5]", "job::toml", "`0.5`"),
    Case("ptx = ['basic.ptx', './basic.ptx']", "job::duplicate", "`./basic.ptx` is named twice"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\ninit = 'rand'",
        "job::toml",
        "unknown variant",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [true]",
        "job::toml",
        "a buffer's name, a number, or a table",
    ),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [{ u23 = 1 }]", "job::toml", "did you mean `u32`"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [{ u8 = 300 }]", "job::toml", "300"),
    Case("ptx = 'basic.ptx'\n[[step]]\ncopy = ['a']", "job::toml", "array of length 2"),
    // A date is none of what may stand anywhere.
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [1979-05-27]",
        "job::toml",
        "found a date or time, expected a buffer's name, a number, or a table such as { u32 = 5 }",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [{ u32 = 07:32:00 }]",
        "job::toml",
        "found a date or time, expected u32",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nargs = [{ fields = [1979-05-27T07:32:00Z] }]",
        "job::toml",
        "found a date or time, expected a buffer's name",
    ),
    Case("ptx = 1979-05-27", "job::toml", "found a date or time, expected one value or a list of values"),
    Case("ptx = 'basic.ptx'\nbuffer = [1979-05-27]", "job::toml", "found a date or time, expected a table with one of"),
    Case("ptx = 'basic.ptx'\nset = 1979-05-27", "job::toml", "found a date or time, expected a table"),
    // PTX files.
    Case("[[step]]\nlaunch = 'saxpy'", "job::no-ptx", "no PTX file"),
    Case("ptx = 'missing.ptx'", "file::unreadable", "missing.ptx"),
    Case("ptx = 'syntax.ptx'", "ptx::syntax", "expected"),
    Case("ptx = 'unsupported.ptx'\n[[step]]\nlaunch = 'paint'\ngrid = 1\nblock = 1", "ptx::unsupported", "sust.b.1d"),
    // Buffers.
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = ''\ntype = 'f32'\nshape = 4", "job::empty-name", "needs a name"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4",
        "job::duplicate",
        "two buffers `a`",
    ),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\nshape = 4", "job::no-type", "has no type"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'", "job::no-shape", "has no shape"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = []", "job::empty-shape", "at least one"),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = [4, 0]", "job::empty-buffer", "no elements"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f64'\nshape = [4294967296, 4294967296]",
        "job::buffer-too-large",
        "GiB",
    ),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\nlow = 1", "job::stray-key", "uniform"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\ninit = 'constant'",
        "job::missing-key",
        "`value`",
    ),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\ninit = 'npy'", "job::missing-key", "`file`"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u8'\nshape = 300\ninit = 'iota'",
        "job::value-misfit",
        "does not fit the type u8",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 's32'\nshape = 3\ninit = 'iota'\nstep = 0.5",
        "job::value-misfit",
        "does not fit the type s32",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 3\ninit = 'uniform'\nhigh = inf",
        "job::not-finite",
        "finite",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 3\ninit = 'uniform'\nlow = 2",
        "job::empty-range",
        "above high",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 3\ninit = 'normal'\ndeviation = -1",
        "job::negative-deviation",
        "negative",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 3\ninit = 'values'\nvalues = [1, 2]",
        "job::value-count",
        "3 elements, but 2 values",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 1\ninit = 'raw'\nfile = 'basic.ptx'",
        "job::raw-size",
        "bytes",
    ),
    Case("ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ninit = 'npy'\nfile = 'basic.ptx'", "job::npy", "cannot be used"),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ninit = 'npy'\nfile = '.'",
        "file::not-regular",
        "not an ordinary file",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\nsymbol = 'weight'",
        "job::unknown-symbol",
        "did you mean `weights`",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 5\nsymbol = 'weights'",
        "job::symbol-size",
        "16 bytes",
    ),
    // Textures.
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\n[[texture]]\nname = 'pictures'\nbuffer = 'a'\nsize = 4",
        "job::unknown-texture",
        "did you mean `picture`",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f64'\nshape = 4\n[[texture]]\nname = 'picture'\nbuffer = 'a'\nsize = 4",
        "job::texture-format",
        "f64",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\n[[texture]]\nname = 'picture'\nbuffer = 'a'\nsize = 5",
        "job::texture-size",
        "do not fit",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\n[[texture]]\nname = 'picture'\nbuffer = 'a'\nsize = 1\nchannels = 3",
        "job::texture-channels",
        "1, 2 or 4",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'f32'\nshape = 4\n[[texture]]\nname = 'picture'\nbuffer = 'a'\nsize = 4\nwrap = true",
        "job::texture-wrap",
        "normalized",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\n[[texture]]\nname = 'picture'\nbuffer = 'a'\nsize = 4\nread_normalized = true",
        "job::texture-normalized",
        "8 and 16 bits",
    ),
    // Steps.
    Case("ptx = 'basic.ptx'", "job::no-steps", "nothing to launch"),
    Case("ptx = 'basic.ptx'\n[[step]]\nrepeat = 3", "job::step-kind", "exactly one"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nreset = 'x'", "job::step-kind", "exactly one"),
    Case("ptx = 'basic.ptx'\n[[step]]\nreset = 'x'\ngrid = 4", "job::step-key", "`grid` goes with `launch`"),
    Case("ptx = 'basic.ptx'\n[[step]]\nreset = 'x'\nrepeat = 4", "job::step-key", "repeated"),
    Case("ptx = 'basic.ptx'\n[[step]]\nreset = 'x'", "job::unknown-buffer", "unknown buffer `x`"),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpi'\ngrid = 1\nblock = 1",
        "job::unknown-kernel",
        "did you mean `saxpy`",
    ),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nblock = 1", "job::no-shape-of-launch", "no `grid`"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = [1, 1, 1, 1]\nblock = 1", "job::dimensions", "1 to 3"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = 0\nblock = 1", "job::dimension-range", "of 0"),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = [1, -3]\nblock = 1",
        "job::dimension-range",
        "of -3 is not in 1 to 65535",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\nrepeat = 0",
        "job::rounds-range",
        "`repeat` = 0 is not in 1 to",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = [1, 70000]\nblock = 1",
        "job::dimension-range",
        "65535",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = 1\nblock = [64, 32]",
        "job::block-size",
        "2048 threads",
    ),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'exactly64'\ngrid = 1\nblock = 32", "job::reqntid", "[64, 1, 1]"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'atmost128'\ngrid = 1\nblock = 256", "job::maxntid", "128"),
    Case("ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = 1\nblock = 1\nargs = [1]", "job::arg-count", "takes 4"),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'countdown'\ngrid = 1\nblock = 1\nargs = [1]\nmax_rounds = 5",
        "job::step-key",
        "`max_rounds` goes with",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'countdown'\ngrid = 1\nblock = 1\nargs = [1]\nuntil_zero = 'flag'",
        "job::unknown-buffer",
        "`flag`",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\n[[step]]\nlaunch = 'countdown'\ngrid = 1\nblock = 1\nargs = ['a']\nmax_rounds = 0\nuntil_zero = 'a'",
        "job::rounds-range",
        "`max_rounds` = 0 is not in 1 to",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\n[[buffer]]\nname = 'b'\ntype = 'u32'\nshape = 5\n[[step]]\ncopy = ['a', 'b']",
        "job::copy-size",
        "16 and 20",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[buffer]]\nname = 'a'\ntype = 'u32'\nshape = 4\n[[step]]\nlaunch = 'countdown'\ngrid = 1\nblock = 1\nargs = ['a']\nrepeat = 2\nuntil_zero = 'a'",
        "job::step-key",
        "either",
    ),
    Case(
        "ptx = 'basic.ptx'\n[[step]]\nrepeat = 2\n[[step.do]]\nlaunch = 'nobody'\ngrid = 1\nblock = 1",
        "job::unknown-kernel",
        "nobody",
    ),
];

/// Cases on top of [`SAXPY`]: what to replace, with what.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    // Arguments.
    ("args = [64, 2.0, \"x\", \"y\"]", "args = [64, 2.0, \"z\", \"y\"]", "job::unknown-buffer", "there is: x, y"),
    ("args = [64,", "args = [5000000000,", "job::arg-misfit", "does not fit parameter `n`"),
    ("args = [64,", "args = [1.5,", "job::arg-misfit", "1.5"),
    ("args = [64,", "args = [\"x\",", "job::arg-size", "parameter `n` has 4 bytes"),
    ("args = [64,", "args = [{ u16 = 3 },", "job::arg-size", "the argument has 2"),
    (
        "args = [64,",
        "args = [{ f32 = nan },",
        "job::arg-kind",
        "parameter `n` is a .u32, but the argument is of type f32",
    ),
    ("args = [64, 2.0,", "args = [64, { u32 = 2 },", "job::arg-kind", "is a .f32, but the argument is of type u32"),
    ("args = [64, 2.0,", "args = [64, 1e300,", "job::arg-misfit", "does not fit parameter"),
    ("args = [64, 2.0,", "args = [64, { f32 = -1e300 },", "job::arg-misfit", "does not fit an f32: the largest is"),
    ("\"x\", \"y\"]", "{ f64 = 1.0 }, \"y\"]", "job::arg-kind", "but the argument is of type f64"),
    ("args = [64,", "args = [{},", "job::arg-empty", "says nothing"),
    ("args = [64,", "args = [{ u32 = 1, s32 = 1 },", "job::arg-ambiguous", "more than one"),
    ("args = [64,", "args = [{ u32 = 1, by = 1 },", "job::arg-stray-key", "`by`"),
    ("args = [64,", "args = [{ u32 = 1, offset_bytes = 1 },", "job::arg-stray-key", "`offset_bytes`"),
    ("args = [64, 2.0,", "args = [64, { rounds_from = 1 },", "job::arg-rounds", "integer type"),
    ("\"x\", \"y\"]", "{ alternate = [] }, \"y\"]", "job::arg-alternate", "at least one"),
    ("\"x\", \"y\"]", "{ buffer = \"x\", offset_bytes = 257 }, \"y\"]", "job::arg-offset", "beyond"),
    ("\"x\", \"y\"]", "{ bytes = \"12 3\" }, \"y\"]", "job::arg-hex", "hexadecimal"),
    ("\"x\", \"y\"]", "{ fields = [1, 2] }, \"y\"]", "job::arg-field", "needs its type"),
    ("\"x\", \"y\"]", "{ fields = [{ u32 = 1 }] }, \"y\"]", "job::arg-size", "8 bytes"),
];

/// Expectations that are wrong in themselves.
const EXPECTATIONS: &[(&str, &str, &str)] = &[
    ("buffer = 'q'\nsum = 1", "job::unknown-buffer", "`q`"),
    ("buffer = 'y'", "job::expect-kind", "exactly one"),
    ("buffer = 'y'\nsum = 1\nfnv1a = '00'", "job::expect-kind", "exactly one"),
    ("buffer = 'y'\nfnv1a = 'xyz'", "job::checksum", "hexadecimal"),
    ("buffer = 'y'\nraw = 'basic.ptx'", "job::expect-size", "bytes (4 each) for the 64 elements of `y`"),
    ("buffer = 'y'\nvalues = [1, 2, 3]", "job::expect-size", "3 values for the 64 elements of `y`"),
    ("buffer = 'y'\nvalues = [1, 2, 3]\nrange = [2, 4]", "job::expect-size", "3 values for the 2 elements of `y`"),
    ("buffer = 'y'\nvalues = [1]\nrange = [64, 65]", "job::expect-range", "0 ≤ first < end ≤ 64"),
    ("buffer = 'y'\nvalues = []\nrange = [3, 3]", "job::expect-range", "no elements from 3 up to 3"),
    ("buffer = 'y'\nsum = 0\nrange = [-1, 3]", "job::expect-range", "no elements from -1 up to 3"),
    ("buffer = 'y'\nraw = '.'", "file::not-regular", "not an ordinary file"),
    ("buffer = 'y'\nsum = nan", "job::not-finite", "`sum` must be a finite number"),
    ("buffer = 'y'\nsum = inf", "job::not-finite", "`sum` must be a finite number"),
    ("buffer = 'y'\nsum = 1\nabsolute = inf", "job::tolerance", "a finite number from 0 upwards"),
    ("buffer = 'y'\nsum = 1\nabsolute = -1", "job::tolerance", "a finite number from 0 upwards"),
    ("buffer = 'y'\nfnv1a = '00'\nrelative = 0.1", "job::stray-key", "not with `fnv1a`"),
    ("buffer = 'y'\nraw = 'nowhere.bin'", "file::unreadable", "nowhere.bin"),
    ("buffer = 'y'\nnpy = 'basic.ptx'", "job::npy", "cannot be used"),
    ("buffer = 'y'\nsum = 1\nrelative = -0.5", "job::tolerance", "from 0 upwards"),
    ("buffer = 'y'\nsum = 1\nabsolute = nan", "job::tolerance", "from 0 upwards"),
    ("buffer = 'y'\nsum = 'one'", "job::toml", "expected a number"),
];

fn refuse(text: &str, code: &str, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["basic.ptx", "syntax.ptx", "unsupported.ptx"] {
        std::fs::copy(data(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
    let ran = warpwatt_in(folder.path(), &["run", "job.toml"]);
    // The drawing wraps lines: look for words in the text without its line breaks.
    let flat: String = ran.err.split_whitespace().filter(|w| *w != "│").collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, Some(2), "{text}\n{}", ran.err);
    assert!(ran.err.contains(code), "{text}\nexpected {code}:\n{}", ran.err);
    assert!(flat.contains(words), "{text}\nexpected `{words}`:\n{}", ran.err);
    assert!(ran.out.is_empty(), "{text}\nprinted {}", ran.out);
}

#[test]
fn bad_descriptions_are_refused_with_their_diagnostic() {
    for Case(text, code, words) in CASES {
        refuse(text, code, words);
    }
}

#[test]
fn bad_arguments_are_refused_with_their_diagnostic() {
    for (from, to, code, words) in CHANGES {
        let text = format!("ptx = 'basic.ptx'\n{SAXPY}").replace(from, to);
        refuse(&text, code, words);
    }
}

#[test]
fn bad_expectations_are_refused_with_their_diagnostic() {
    for (expectation, code, words) in EXPECTATIONS {
        refuse(&format!("ptx = 'basic.ptx'\n{SAXPY}\n[[expect]]\n{expectation}\n"), code, words);
    }
}

#[test]
fn the_wrong_element_of_a_list_is_underlined() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    let job = "ptx = 'basic.ptx'\n[[step]]\nlaunch = 'saxpy'\ngrid = [12, 70000]\nblock = 64\n";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let ran = warpwatt_in(folder.path(), &["run", "job.toml"]);
    assert!(ran.err.contains("job.toml:4:13"), "{}", ran.err);
}

/// What a description says of the machine, its diagnostic, and where the mistake is.
const MACHINES: &[(&str, &str, &str)] = &[
    ("gpu = 'gtx48'", "gpu::unknown-preset", "job.toml:2:7"),
    ("gpu = 'nowhere.toml'", "file::unreadable", "job.toml:2:7"),
    ("policy = 'cgp'", "policy::unknown", "job.toml:2:10"),
    ("policy = ''", "policy::no-name", "job.toml:2:10"),
    ("set = { core_mhz = 'fast' }", "gpu::wrong-type", "job.toml:2:20"),
    ("set = { core_mh = 5 }", "gpu::unknown-parameter", "job.toml:2:19"),
    ("[set]\nsms = 8\nl1d.sets = 33", "gpu::not-a-power-of-two", "job.toml:4:12"),
    ("[set.l1d]\nsets = 1979-05-27", "gpu::wrong-type", "job.toml:3:8"),
    ("set = { energy_table = 'a b' }", "gpu::", "job.toml:2:24"),
    ("set = { cgp.bet = 5 }", "policy::unknown", "job.toml:2:19"),
    ("set = { cpg.bet = 5 }", "policy::not-in-use", "job.toml:2:19"),
    ("policy = 'cpg'\nset = { cpg.bet = -5 }", "policy::bad-value", "job.toml:3:19"),
    ("policy = 'cpg'\n[set]\ncpg.bett = 5", "policy::unknown-parameter", "job.toml:4:12"),
];

#[test]
fn mistakes_in_the_machine_of_a_description_are_shown_in_it() {
    for (machine, code, place) in MACHINES {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
        std::fs::write(folder.path().join("job.toml"), format!("ptx = 'basic.ptx'\n{machine}\n{SAXPY}")).unwrap();
        let ran = warpwatt_in(folder.path(), &["run", "job.toml"]);
        assert_eq!(ran.code, Some(2), "{machine}\n{}", ran.err);
        assert!(ran.err.contains(code) && ran.err.contains(place), "{machine}\n{}", ran.err);
        assert!(!ran.err.contains("--set:"), "{machine}\n{}", ran.err);
    }
    // The command line's own mistakes are shown in it.
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    std::fs::write(folder.path().join("job.toml"), format!("ptx = 'basic.ptx'\npolicy = 'cpg'\n{SAXPY}")).unwrap();
    let ran = warpwatt_in(folder.path(), &["run", "job.toml", "--set", "core_mhz=fast"]);
    assert!(ran.err.contains("--set:1:10"), "{}", ran.err);
}

#[test]
fn there_are_enough_of_them_and_they_differ() {
    let codes = CASES.iter().map(|c| c.1).chain(CHANGES.iter().map(|c| c.2)).chain(EXPECTATIONS.iter().map(|c| c.1));
    let mut codes: Vec<&str> = codes.collect();
    assert!(codes.len() >= 60, "{} cases", codes.len());
    codes.sort_unstable();
    codes.dedup();
    assert!(codes.len() >= 40, "{} distinct diagnostics", codes.len());
}

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "\u{1b}]0;title\u{7}\u{1b}[31m";
    let toml = "\\u001b]0;title\\u0007\\u001b[31m";
    let clean = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    let job = format!("ptx = 'basic.ptx'\nname = \"{toml}\"\n{SAXPY}").replace("\"y\"", &format!("\"y{toml}\""));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("job.toml", &job);
    write("unknown.toml", &job.replace("saxpy", &format!("k{toml}")));
    // A comment may hold what a string may not.
    write("raw.ptx", &format!(".version 7.8 // {evil}\n.target sm_35 // {evil}\n.nonsense // {evil}\n"));
    for (args, code, told) in [
        (vec!["run", "job.toml"], 0, "\\u{1b}]0;title\\u{7}\\u{1b}[31m on gtx480"),
        (vec!["compare", "job.toml", "--policies", "cpg"], 0, "\\u{1b}]0;title"),
        (vec!["mix", "job.toml"], 0, "\\u{1b}]0;title"),
        (vec!["run", "unknown.toml"], 2, "`k\\u{1b}]0;title"),
        (vec!["check", "raw.ptx"], 2, "// \\u{1b}]0;title"),
    ] {
        let ran = warpwatt_in(folder.path(), &args);
        assert_eq!(ran.code, Some(code), "{args:?}\n{}", ran.err);
        assert!(clean(&ran.out) && clean(&ran.err), "{args:?}\n{:?}\n{:?}", ran.out, ran.err);
        assert!(ran.out.contains(told) || ran.err.contains(told), "{args:?}\n{}\n{}", ran.out, ran.err);
    }
    // Data are as they are.
    let name = warpwatt_in(folder.path(), &["run", "job.toml", "--json"]).json()["inputs"]["program"]["name"].take();
    assert_eq!(name, evil);
}
