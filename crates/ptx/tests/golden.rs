//! What the test files in `data/` become: one snapshot a file.

use std::fmt::Write;

use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::ir::*;
use warpwatt_ptx::liveness::{Liveness, allocate_rows, registers_per_thread};
use warpwatt_ptx::{Lines, parse, support};

#[test]
fn files() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut names: Vec<_> =
        std::fs::read_dir(folder.clone()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".ptx"));
    names.sort();
    assert_eq!(names.len(), 15);
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let module = parse(&name, &text).unwrap_or_else(|e| panic!("{e}: {:?}", e.errors[0].help));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name.trim_end_matches(".ptx"), dump(&module));
        });
    }
}

fn dump(m: &Module) -> String {
    let mut out = String::new();
    let lines = Lines::new(&m.source);
    let (major, minor) = m.version;
    let _ = writeln!(out, "PTX {major}.{minor} for {}, {} bits", m.target.join(" "), m.address_size);
    for (number, path) in &m.files {
        let _ = writeln!(out, "file {number} {path}");
    }
    for v in &m.variables {
        let _ = writeln!(out, "{}", variable(v));
    }
    for (i, f) in m.functions.iter().enumerate() {
        let id = FuncId(i as u32);
        let _ = writeln!(out, "\n{:?} {} {}", f.linkage, if f.entry { "entry" } else { "func" }, f.name);
        f.params.iter().for_each(|v| _ = writeln!(out, "  param {}", variable(v)));
        f.returns.iter().for_each(|v| _ = writeln!(out, "  return {}", variable(v)));
        if let (None, None, None, None) = (f.maxntid, f.reqntid, f.minnctapersm, f.maxnreg) {
        } else {
            let _ = writeln!(out, "  {:?} {:?} {:?} {:?}", f.maxntid, f.reqntid, f.minnctapersm, f.maxnreg);
        }
        let Some(body) = &f.body else { continue };
        body.variables.iter().for_each(|v| _ = writeln!(out, "  {}", variable(v)));
        let cfg = Cfg::new(f);
        let live = Liveness::new(f, &cfg);
        let rows = allocate_rows(f, &cfg, &live);
        let _ = writeln!(
            out,
            "  {} registers, {} live, {} rows, {} predicates, {} per thread with calls, {} blocks",
            body.registers.len(),
            live.max_live(),
            rows.rows,
            rows.predicates,
            registers_per_thread(m, id),
            cfg.blocks().len()
        );
        for (i, instruction) in body.instructions.iter().enumerate() {
            let _ = writeln!(out, "{}", line(m, body, &cfg, i as u32, instruction));
        }
        for u in support::kernel_report(m, id) {
            let _ = writeln!(out, "  line {}: {u}", lines.line(u.span.start));
        }
    }
    out
}

fn variable(v: &Variable) -> String {
    let mut text = format!("{:?} .{} .{}", v.linkage, v.space.name(), v.ty.name());
    if v.vector > 1 {
        let _ = write!(text, " x{}", v.vector);
    }
    let _ = write!(text, " {}{:?} {} bytes, align {}", v.name, v.dims, v.size, v.align);
    for init in &v.init {
        let _ = match init.value {
            InitValue::Bits { bits, .. } => write!(text, " {}:{bits:#x}", init.offset),
            InitValue::Variable { variable, addend, generic, byte, .. } => {
                let generic = if generic { "generic " } else { "" };
                write!(text, " {}:{generic}variable {variable}+{addend} byte {byte}", init.offset)
            }
            InitValue::Function { function, .. } => write!(text, " {}:function {}", init.offset, function.0),
        };
    }
    text
}

fn line(m: &Module, body: &Body, cfg: &Cfg, at: u32, i: &Instruction) -> String {
    let mut text = format!("  {at:3} ");
    if let Some(guard) = i.guard {
        let not = if guard.negated { "!" } else { "" };
        let _ = write!(text, "@{not}{} ", body.registers[guard.reg.0 as usize].name);
    }
    text.push_str(i.opcode.name());
    i.mods.types.iter().flatten().for_each(|ty| _ = write!(text, ".{}", ty.name()));
    let plain = Modifiers { vector: 1, ..Modifiers::default() };
    let mut mods = i.mods.clone();
    mods.types = [None; 4];
    if mods != plain {
        // Only the fields that say something.
        let (all, none) = (format!("{mods:#?}"), format!("{plain:#?}"));
        let none: Vec<&str> = none.lines().collect();
        let said = all.lines().filter(|l| !none.contains(l) && l.trim().len() > 2);
        let words: Vec<&str> = said.map(|l| l.trim().trim_end_matches(',')).collect();
        let _ = write!(text, " <{}>", words.join(" ").replace("Some( ", "").replace(": true", ""));
    }
    for operand in &i.operands {
        let _ = write!(text, " {}", show(m, body, operand));
    }
    if i.operands.iter().any(|o| matches!(o, Operand::Label(_) | Operand::BranchTargets(_)))
        && i.mods.types[0].is_none()
    {
        let _ = write!(text, " meet {}", cfg.reconvergence(at));
    }
    if let Some((file, line)) = i.loc {
        let _ = write!(text, "  ({file}:{line})");
    }
    text
}

fn show(m: &Module, body: &Body, operand: &Operand) -> String {
    let reg = |id: RegId| body.registers[id.0 as usize].name.clone();
    let list = |items: &[Operand]| items.iter().map(|o| show(m, body, o)).collect::<Vec<_>>().join(" ");
    match operand {
        Operand::Reg(id) => reg(*id),
        Operand::NotReg(id) => format!("!{}", reg(*id)),
        Operand::RegElement(id, e) => format!("{}.{e}", reg(*id)),
        Operand::Vector(items) => format!("{{{}}}", list(items)),
        Operand::Params(items) => format!("({})", list(items)),
        Operand::Function(id) => m.functions[id.0 as usize].name.clone(),
        Operand::Address(AddressBase::Reg(id), offset) => format!("[{}{offset:+}]", reg(*id)),
        Operand::Address(AddressBase::Variable(v), offset) => format!("[{v:?}{offset:+}]"),
        Operand::Address(AddressBase::Absolute, offset) => format!("[{offset}]"),
        Operand::Texture { texture, sampler, coords } => format!("[{texture:?} {sampler:?} {}]", list(coords)),
        other => format!("{other:?}"),
    }
}
