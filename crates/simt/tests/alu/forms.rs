//! Every arithmetic form that real files use in three or more files has an operation.

use crate::harness::try_op;

/// Opcodes that this module is responsible for.
const OPCODES: &str = "abs add addc and bfe bfi bfind bmsk brev clz cnot copysign cos cvt div dp2a dp4a ex2 fma lg2 lop3 \
    mad mad24 madc max min mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub \
    subc szext tanh testp vabsdiff4 xor";

fn sources(form: &str) -> usize {
    match form.split('.').next().unwrap_or("") {
        "abs" | "neg" | "not" | "cnot" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "popc"
        | "clz" | "brev" | "bfind" | "testp" => 1,
        "cvt" => 1 + form.contains("x2") as usize,
        "fma" | "mad" | "mad24" | "madc" | "sad" | "shf" | "prmt" | "bfe" | "selp" | "slct" | "dp4a" | "dp2a"
        | "vabsdiff4" => 3,
        "bfi" | "lop3" => 4,
        _ => 2,
    }
}

#[test]
fn forms_of_the_survey() {
    let Some(folder) = warpwatt_workloads::reference::folder() else { return };
    let table = std::fs::read_to_string(folder.join("ptx-forms.tsv")).expect("the survey");
    let (mut supported, mut missing, mut rare_missing) = (0, Vec::new(), Vec::new());
    for line in table.lines().skip(1) {
        let mut columns = line.split('\t');
        let (form, files) =
            (columns.next().unwrap_or(""), columns.next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0));
        if !OPCODES.split_whitespace().any(|opcode| form.split('.').next() == Some(opcode)) {
            continue;
        }
        if try_op(form, sources(form)).is_some() {
            supported += 1;
        } else if files >= 3 {
            missing.push(form.to_string());
        } else {
            rare_missing.push(form.to_string());
        }
    }
    assert!(missing.is_empty(), "not supported: {missing:?}");
    assert!(rare_missing.is_empty(), "not supported, though in one or two files only: {rare_missing:?}");
    assert!(supported > 330, "only {supported} forms were found");
}

/// What has no meaning is refused, not guessed.
#[test]
fn meaningless_forms_are_refused() {
    for (form, count) in [
        ("add.sat.u32", 2),
        ("mul.s32", 2),
        ("add.b32", 2),
        ("and.f32", 2),
        ("add.sat.f64", 2),
        ("fma.rni.f32", 3),
        ("setp.ltu.s32", 2),
        ("cvt.rni.f64.f32", 1),
        ("rem.f32", 2),
        ("neg.u32", 1),
        ("shr.f32", 2),
        ("min.relu.f32", 2),
    ] {
        assert!(try_op(form, count).is_none(), "{form}");
    }
}
