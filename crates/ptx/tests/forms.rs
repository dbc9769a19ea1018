//! Every form of the survey of real files parses, and those of tier 1 are in the table of forms that execute.

use warpwatt_ptx::{parse, support};

/// A register for a type, by its name in the survey.
fn reg(ty: &str, n: u32) -> String {
    let bank = match ty {
        "pred" => "%p",
        "f32" => "%f",
        "f64" => "%fd",
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => "%rs",
        "b64" | "u64" | "s64" => "%rd",
        _ => "%r",
    };
    format!("{bank}{n}")
}

fn wide(ty: &str) -> &str {
    match ty {
        "u16" => "u32",
        "s16" => "s32",
        "u32" => "u64",
        _ => "s64",
    }
}

/// A vector of `n` registers.
fn vector(ty: &str, n: u32) -> String {
    let list: Vec<_> = (1..=n).map(|i| reg(ty, i)).collect();
    format!("{{{}}}", list.join(", "))
}

const TYPES: &[&str] = &[
    "pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16",
    "tf32", "f32", "f64",
];

/// Plausible operands for a form.
pub fn operands(form: &str) -> String {
    let words: Vec<&str> = form.split('.').collect();
    let has = |w: &str| words.contains(&w);
    let types: Vec<&str> = words.iter().copied().filter(|w| TYPES.contains(w)).collect();
    let t = types.first().copied().unwrap_or("b32");
    let last = types.last().copied().unwrap_or("b32");
    let width = if has("v2") {
        2
    } else if has("v4") {
        4
    } else {
        1
    };
    let address = if has("shared") {
        "[sv+4]"
    } else if has("const") {
        "[cv]"
    } else if has("param") {
        if words[0] == "st" { "[outp]" } else { "[k_p0]" }
    } else if has("local") {
        "[lv]"
    } else {
        "[%rd7+16]"
    };
    let r = |n| reg(t, n);
    let l = |n| reg(last, n);
    let data = if width > 1 { vector(t, width) } else { r(1) };
    match words[0] {
        "ret" | "exit" | "trap" | "membar" | "fence" | "griddepcontrol" => String::new(),
        "bra" => "L".into(),
        "call" => "f".into(),
        "bar" if has("red") => format!("{}, 0, %p2", r(1)),
        "bar" if has("warp") => "-1".into(),
        "bar" | "barrier" => "0".into(),
        "nanosleep" => "20".into(),
        "ld" | "ldu" => format!("{data}, {address}"),
        "st" => format!("{address}, {data}"),
        "atom" if has("cas") => format!("{}, {address}, {}, {}", r(1), r(2), r(3)),
        "atom" => format!("{}, {address}, {}", r(1), r(2)),
        "red" => format!("{address}, {}", r(2)),
        "cvta" => format!("{}, {}", r(1), r(2)),
        "isspacep" => "%p1, %rd1".into(),
        "tex" | "suld" => {
            let coords = if has("1d") {
                1
            } else if has("2d") {
                2
            } else {
                4
            };
            let coord_type = if words[0] == "tex" { last } else { "b32" };
            let name = if words[0] == "tex" { "tr" } else { "sr" };
            let level = if has("level") { ", 0f00000000" } else { "" };
            format!("{data}, [{name}, {}]{level}", vector(coord_type, coords))
        }
        "sust" => format!("[sr, {}], {data}", vector("b32", 2)),
        "sured" => "[sr, {%r1, %r2}], %r3".into(),
        "suq" => "%r1, [sr]".into(),
        "txq" => "%r1, [tr]".into(),
        "vote" if has("ballot") && has("sync") => "%r1, %p1, -1".into(),
        "vote" if has("ballot") => "%r1, %p1".into(),
        "vote" if has("sync") => "%p1, %p2, -1".into(),
        "vote" => "%p1, !%p2".into(),
        "shfl" if has("sync") => "%r1|%p1, %r2, 1, 31, -1".into(),
        "shfl" => "%r1|%p1, %r2, 1, 31".into(),
        "match" => format!("%r1, {}, -1", r(2)),
        "activemask" => "%r1".into(),
        "redux" => "%r1, %r2, -1".into(),
        "setp" => format!("%p1, {}, {}", r(1), r(2)),
        "set" => format!("{}, {}, {}", r(1), l(2), l(3)),
        "selp" => format!("{}, {}, {}, %p1", r(1), r(2), r(3)),
        "slct" => format!("{}, {}, {}, {}", r(1), r(2), r(3), l(4)),
        "mul" if has("wide") => format!("{}, {}, 3", reg(wide(t), 1), r(2)),
        "mad" if has("wide") => format!("{}, {}, {}, {}", reg(wide(t), 1), r(2), r(3), reg(wide(t), 4)),
        "mad" | "madc" | "fma" => format!("{}, {}, {}, {}", r(1), r(2), r(3), r(4)),
        "cvt" if has("f16x2") => "%r1, %f1, %f2".into(),
        "cvt" => format!("{}, {}", r(1), l(2)),
        "mov" | "abs" | "neg" | "not" | "brev" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" => {
            format!("{}, {}", r(1), r(2))
        }
        "popc" | "clz" | "bfind" => format!("%r1, {}", r(2)),
        "bfe" => format!("{}, {}, 3, %r4", r(1), r(2)),
        "bfi" => format!("{}, {}, {}, 3, %r4", r(1), r(2), r(3)),
        "shl" | "shr" => format!("{}, {}, %r3", r(1), r(2)),
        "shf" | "prmt" | "vabsdiff4" => "%r1, %r2, %r3, %r4".into(),
        "wmma" if has("load") => format!("{}, [%rd7], %r7", vector("b32", 8)),
        "wmma" if has("store") => format!("[%rd7], {}, %r7", vector("b32", 8)),
        "wmma" | "mma" => format!("{0}, {0}, {0}, {0}", vector("b32", 4)),
        "wgmma" if has("mma_async") => format!("{}, %rd1, %rd2, %p1, 1, 1, 0, 0", vector("f32", 8)),
        "wgmma" if has("wait_group") => "0".into(),
        "wgmma" => String::new(),
        "ldmatrix" => format!("{}, [%r7]", vector("b32", 4)),
        "stmatrix" => format!("[%r7], {}", vector("b32", 4)),
        "cp" if has("wait_group") => "1".into(),
        "cp" if has("commit_group") => String::new(),
        "cp" if has("bulk") => "[%r1], [%rd1], %r2, [%r3]".into(),
        "cp" if has("mbarrier") => "[%r1]".into(),
        "cp" => "[%r1], [%rd1], 16".into(),
        "mbarrier" if has("init") => "[%r1], 1".into(),
        "mbarrier" if has("inval") => "[%r1]".into(),
        "mbarrier" if has("arrive") => "_, [%r1]".into(),
        "mbarrier" if has("expect_tx") => "[%r1], 16".into(),
        "mbarrier" => "%p1, [%r1], %rd1".into(),
        _ => format!("{}, {}, {}", r(1), r(2), r(3)),
    }
}

/// A kernel that holds the instruction.
pub fn file(form: &str, operands: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .global .texref tr;\n.global .surfref sr;\n.shared .align 16 .b8 sv[64];\n.const .align 16 .b8 cv[64];\n\
         .func f() {{ ret; }}\n\
         .visible .entry k(.param .align 16 .b8 k_p0[64])\n{{\n\
         .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n\
         .local .align 16 .b8 lv[64]; .param .align 16 .b8 outp[64];\n\
         L:\n\t{form} \t{operands};\n}}\n"
    )
}

/// The families that tier 2 refuses as a whole.
fn tier2(form: &str) -> bool {
    const FAMILIES: &[&str] = &[
        "wmma",
        "mma",
        "ldmatrix",
        "stmatrix",
        "wgmma",
        "cp",
        "mbarrier",
        "griddepcontrol",
        "suld",
        "sust",
        "sured",
        "suq",
        "txq",
    ];
    FAMILIES.contains(&form.split('.').next().unwrap())
}

#[test]
fn every_surveyed_form() {
    let Some(folder) = warpwatt_workloads::reference::folder() else { return };
    let table = std::fs::read_to_string(folder.join("ptx-forms.tsv")).unwrap();
    let (mut forms, mut tier1, mut executing) = (0, 0, 0);
    let mut complaints = Vec::new();
    for line in table.lines().skip(1) {
        let mut columns = line.split('\t');
        let (form, files): (&str, u32) = (columns.next().unwrap(), columns.next().unwrap().parse().unwrap());
        forms += 1;
        let text = file(form, &operands(form));
        let module = match parse("form.ptx", &text) {
            Ok(module) => module,
            Err(e) => {
                complaints.push(format!("{form}: {e}"));
                continue;
            }
        };
        let report = support::kernel_report(&module, module.kernel("k").unwrap());
        executing += u32::from(report.is_empty());
        if tier2(form) {
            assert!(!report.is_empty(), "{form} is refused");
        } else if files >= 3 {
            tier1 += 1;
            complaints.extend(report.iter().map(|u| format!("{form} ({files} files): {u}")));
        } else if let [first, ..] = report.as_slice() {
            eprintln!("not executing, in {files} file(s): {form}: {first}");
        }
    }
    eprintln!("{forms} forms, {tier1} of tier 1, {executing} execute");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(forms > 800 && tier1 > 400, "the survey is not whole");
}
