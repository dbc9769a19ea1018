//! What the parser makes of the constructs of real files.

use warpwatt_ptx::ir::*;
use warpwatt_ptx::{parse, parse_bytes};

/// Parses a module that consists of a header and these items.
fn module(items: &str) -> Module {
    let text = format!(".version 7.8\n.target sm_35\n.address_size 64\n{items}");
    parse("test.ptx", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Parses a kernel with this body and gives the body.
fn body(text: &str) -> Body {
    let mut m = module(&format!(".visible .entry k(.param .u64 k_p0, .param .u32 k_p1)\n{{\n{text}\n}}\n"));
    m.functions.pop().unwrap().body.unwrap()
}

/// The only instruction of a body whose registers are declared here.
fn one(text: &str) -> Instruction {
    let b = body(&format!(
        ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n{text}"
    ));
    assert_eq!(b.instructions.len(), 1, "{text}");
    b.instructions.into_iter().next().unwrap()
}

#[test]
fn modifiers_come_in_any_order() {
    let a = one("div.rn.ftz.f32 %f1, %f2, %f3;");
    let b = one("div.ftz.rn.f32 %f1, %f2, %f3;");
    assert_eq!(a.mods, b.mods);
    assert_eq!(a.mods.rounding, Some(Rounding::Rn));
    assert!(a.mods.ftz && a.mods.other.is_empty());
    assert_eq!(one("vote.ballot.sync.b32 %r1, %p1, -1;").mods, one("vote.sync.ballot.b32 %r1, %p1, -1;").mods);
    assert_eq!(one("setp.ftz.gt.f32 %p1, %f1, %f2;").mods, one("setp.gt.ftz.f32 %p1, %f1, %f2;").mods);
    assert_eq!(
        one("atom.add.release.gpu.global.u32 %r1, [%rd1], 1;").mods,
        one("atom.global.gpu.release.add.u32 %r1, [%rd1], 1;").mods
    );
}

#[test]
fn words_mean_what_the_opcode_makes_of_them() {
    assert_eq!(one("setp.lo.u32 %p1, %r1, %r2;").mods.cmp, Some(Cmp::Lo));
    assert_eq!(one("mul.lo.u32 %r1, %r1, %r2;").mods.part, Some(MulPart::Lo));
    assert_eq!(one("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;").mods.bool_op, Some(BoolOp::And));
    assert_eq!(one("atom.shared.and.b32 %r1, [%r2], 1;").mods.atom, Some(AtomOp::And));
    assert_eq!(one("bar.red.popc.u32 %r1, 0, %p1;").mods.bar, Some(BarMode::RedPopc));
    assert_eq!(one("barrier.sync 0;").mods.bar, Some(BarMode::Sync));
    assert_eq!(one("bar.warp.sync -1;").mods.bar, Some(BarMode::WarpSync));
    assert_eq!(one("vote.uni.pred %p1, %p2;").mods.vote, Some(VoteMode::Uni));
    assert!(one("L: bra.uni L;").mods.uni);
    assert_eq!(one("shf.r.wrap.b32 %r1, %r2, %r3, %r4;").mods.shf_right, Some(true));
    assert!(one("setp.nan.f32 %p1, %f1, %f2;").mods.cmp == Some(Cmp::Nan));
    assert!(one("min.NaN.f32 %f1, %f1, %f2;").mods.nan);
    assert_eq!(one("membar.gl;").mods.scope, Some(Scope::Gpu));
    assert_eq!(one("fence.sc.cta;").mods.order, Order::Sc);
    assert_eq!(one("ld.global.nc.L1::no_allocate.f32 %f1, [%rd1];").mods.other, Vec::<String>::new());
    assert_eq!(one("cp.async.ca.shared.global [%r1], [%rd1], 4;").mods.other, ["async", "global"]);
}

#[test]
fn operands() {
    let reg = RegId;
    assert_eq!(
        *one("ld.global.f32 %f1, [%rd1+-4];").operands,
        [Operand::Reg(reg(0)), Operand::Address(AddressBase::Reg(reg(1)), -4)]
    );
    assert_eq!(
        *one("ld.param.u32 %r1, [k_p1+0];").operands,
        [Operand::Reg(reg(0)), Operand::Address(AddressBase::Variable(VarRef::Param(1)), 0)]
    );
    assert_eq!(one("ld.global.u32 %r1, [1024];").operands[1], Operand::Address(AddressBase::Absolute, 1024));
    assert_eq!(one("mov.u32 %r1, 0xFFFFFFFF;").operands[1], Operand::Int(0xFFFF_FFFF));
    assert_eq!(one("mov.u64 %rd1, 18446744073709551615;").operands[1], Operand::Int(-1));
    assert_eq!(one("mov.u64 %rd1, -9223372036854775808;").operands[1], Operand::Int(i64::MIN));
    assert_eq!(one("mov.f32 %f1, 0f3F800000;").operands[1], Operand::F32(0x3F80_0000));
    assert_eq!(one("mov.f64 %fd1, 0d3FF0000000000000;").operands[1], Operand::F64(1f64.to_bits()));
    assert_eq!(one("mov.f64 %fd1, -1.5e1;").operands[1], Operand::F64((-15f64).to_bits()));
    assert_eq!(one("mov.u16 %rs1, %ctaid.x;").operands[1], Operand::Special(Special::Ctaid(0)));
    assert_eq!(one("mov.u32 %r1, %tid.w;").operands[1], Operand::Int(0));
    assert_eq!(one("mov.u32 %r1, WARP_SZ;").operands[1], Operand::Special(Special::WarpSize));
    assert_eq!(one("mov.u32 %r1, %envreg3;").operands[1], Operand::Special(Special::EnvReg(3)));
    assert_eq!(
        *one("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;").operands,
        [
            Operand::Reg(reg(0)),
            Operand::Reg(reg(1)),
            Operand::Reg(reg(2)),
            Operand::Int(1),
            Operand::Int(31),
            Operand::Int(-1)
        ]
    );
    assert!(one("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;").mods.dual);
    assert_eq!(
        *one("mov.b64 %rd1, {%r1, _};").operands.last().unwrap(),
        Operand::Vector([Operand::Reg(reg(1)), Operand::Sink].into())
    );
    assert_eq!(one("ld.global.b32 { %r1 }, [ %rd1 + 0 ];").operands[0], Operand::Vector([Operand::Reg(reg(0))].into()));
}

#[test]
fn guards_and_labels() {
    let b = body(
        ".reg .pred p; .reg .u32 r;\n\
         setp.eq.u32 p, r, 0;\n\
         @!p bra $done;\n\
         $loop: add.u32 r, r, 1;\n\
         @p bra.uni $loop;\n\
         $done:",
    );
    assert_eq!(b.instructions[1].guard, Some(Guard { reg: RegId(0), negated: true }));
    assert_eq!(*b.instructions[1].operands, [Operand::Label(4)]);
    assert_eq!(*b.instructions[3].operands, [Operand::Label(2)]);
}

#[test]
fn scopes_have_their_own_names() {
    let b = body(
        ".reg .u32 r; .reg .b32 %x<4>;\n\
         mov.u32 r, %x1;\n\
         { .reg .u64 r; .reg .f32 %x<2>; mov.u64 r, 1; mov.f32 %x1, %x1; mov.u32 %x3, 1; L: bra L; }\n\
         { L: bra L; }\n\
         mov.u32 r, %x1;",
    );
    assert_eq!(b.instructions[0].operands, b.instructions[6].operands);
    assert_eq!(
        b.registers[match b.instructions[1].operands[0] {
            Operand::Reg(r) => r.0 as usize,
            _ => panic!(),
        }]
        .ty,
        Type::U64
    );
    assert_eq!(b.instructions[4].operands[0], Operand::Label(4));
    assert_eq!(b.instructions[5].operands[0], Operand::Label(5));
}

#[test]
fn inner_ranges_hide_outer_ones_of_a_shorter_prefix() {
    let b = body(
        ".reg .u32 %s<20>; mov.u32 %s12, 7; { .reg .u16 %s1<3>; mov.u16 %s12, 9; mov.u32 %s13, 1; } mov.u32 %s12, 8;\n\
         { .reg .u16 %s<13>; { .reg .f32 %s1<2>; mov.u16 %s12, 1; } }",
    );
    let types: Vec<Type> = b
        .instructions
        .iter()
        .map(|i| match i.operands[0] {
            Operand::Reg(r) => b.registers[r.0 as usize].ty,
            _ => panic!(),
        })
        .collect();
    assert_eq!(types, [Type::U32, Type::U16, Type::U32, Type::U32, Type::U16]);
    assert_eq!(b.instructions[0].operands[0], b.instructions[3].operands[0]);
}

#[test]
fn a_call_sequence() {
    let m = module(
        ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1)\n;\n\
         .func (.reg .u32 %rv) old (.reg .u32 %ra, .reg .u64 %rb)\n\
         .func (.reg .u32 %rv) old (.reg .u32 %ra, .reg .u64 %rb) { mov.u32 %rv, %ra; ret; }\n\
         .entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>;\n\
         { .reg .b32 temp_param_reg; .param .b64 param0; st.param.b64 [param0+0], %rd1; .param .b64 param1;\n\
           .param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0+0]; }\n\
         prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);\n\
         { .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n\
           call (retval0), %rd2, (param0, param1), prototype_0; }\n\
         call (%r1), old, (%r2, %rd1); call.uni exit_fn; mov.u64 %rd1, old; }\n\
         .func exit_fn {exit;}",
    );
    assert_eq!(m.functions.len(), 4);
    let old = &m.functions[1];
    assert_eq!(old.params[1].reg, Some(RegId(1)));
    assert_eq!(old.returns[0].reg, Some(RegId(2)));
    assert!(old.body.is_some() && m.functions[0].body.is_none());
    let k = m.functions[2].body.as_ref().unwrap();
    let calls: Vec<_> = k.instructions.iter().filter(|i| i.opcode == Opcode::Call).collect();
    let var = |n| Operand::Variable(VarRef::Body(n), 0);
    assert_eq!(
        *calls[0].operands,
        [Operand::Params([var(2)].into()), Operand::Function(FuncId(0)), Operand::Params([var(0), var(1)].into())]
    );
    assert!(matches!(
        &*calls[1].operands,
        [Operand::Params(_), Operand::Reg(_), Operand::Params(_), Operand::Prototype(0)]
    ));
    assert!(matches!(&*calls[2].operands, [Operand::Params(_), Operand::Function(FuncId(1)), Operand::Params(_)]));
    assert_eq!(*calls[3].operands, [Operand::Function(FuncId(3))]);
    assert_eq!(k.instructions.last().unwrap().operands[1], Operand::Function(FuncId(1)));
}

#[test]
fn brx_and_its_targets() {
    let b = body(".reg .u32 r;\n A: mov.u32 r, 1;\n ts: .branchtargets A, B, A;\n brx.idx r, ts;\n B: ret;");
    assert_eq!(b.branch_targets, [[0, 2, 0]]);
    assert_eq!(*b.instructions[1].operands, [Operand::Reg(RegId(0)), Operand::BranchTargets(0)]);
}

#[test]
fn initialisers() {
    let m = module(
        ".global .align 4 .u32 a[2][3] = {{1, 2}, {-1, 0x10, 3}};\n\
         .const .f32 f[] = {0f3F800000, 2.5, 3};\n\
         .visible .global .align 8 .u64 p[3] = {a, generic(f)+4, fn};\n\
         .global .b8 bytes[4] = {0xFF00(a), 1};\n\
         .global .v2 .f64 v[2] = {{1.0, 0d4000000000000000}, {3.0, 4.0}};\n\
         .func fn { ret; }",
    );
    let v = |name: &str| m.variables.iter().find(|v| v.name == name).unwrap();
    let bits = |bits, size| InitValue::Bits { bits, size };
    assert_eq!(v("a").size, 24);
    assert_eq!(v("a").init.iter().map(|i| i.offset).collect::<Vec<_>>(), [0, 4, 12, 16, 20]);
    assert_eq!(v("a").init[2].value, bits(u64::MAX, 4));
    assert_eq!((v("f").dims.clone(), v("f").size), (vec![3], 12));
    assert_eq!(v("f").init[1].value, bits(u64::from(2.5f32.to_bits()), 4));
    assert_eq!(v("f").init[2].value, bits(u64::from(3f32.to_bits()), 4));
    assert_eq!(v("p").init[0].value, InitValue::Variable { variable: 0, addend: 0, generic: false, size: 8, byte: 0 });
    assert_eq!(v("p").init[1].value, InitValue::Variable { variable: 1, addend: 4, generic: true, size: 8, byte: 0 });
    assert_eq!(v("p").init[2].value, InitValue::Function { function: FuncId(0), size: 8 });
    assert_eq!(
        v("bytes").init[0].value,
        InitValue::Variable { variable: 0, addend: 0, generic: false, size: 1, byte: 1 }
    );
    assert_eq!(v("v").init[2], Init { offset: 16, value: bits(3f64.to_bits(), 8) });
}

#[test]
fn debug_data_is_skipped() {
    let m = module(
        ".file 1 \"a.cu\"\n.file 2 \"/b.h\", 12345, 678\n\
         .entry k() { .reg .u32 r; .loc 1 7 3\n mov.u32 r, 1; .loc 2 9 1, function_name $L__info_string1+4, inlined_at 1 8 2\n\
         mov.u32 r, 2; }\n\
         .section .debug_str { $L__info_string1: .b8 95,90 .b8 0 }\n\
         .section .debug_abbrev\n{ .b8 1 { .b8 2 } }\n",
    );
    let b = m.functions[0].body.as_ref().unwrap();
    assert_eq!(b.instructions[0].loc, Some((1, 7)));
    assert_eq!(b.instructions[1].loc, Some((2, 9)));
    assert_eq!(m.files[1], (2, "/b.h".to_owned()));
}

#[test]
fn textures() {
    let m = module(
        ".global .texref tex; .tex .u32 old; .global .samplerref s = { addr_mode_0 = wrap, filter_mode = linear };\n\
         .entry k(.param .texref p) { .reg .f32 %f<9>; .reg .u64 h; .reg .s32 i;\n\
         tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex, {%f5,%f6}];\n\
         tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [h, s, {i}];\n\
         tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [p, i]; }",
    );
    let b = m.functions[0].body.as_ref().unwrap();
    assert!(matches!(&b.instructions[0].operands[1],
        Operand::Texture { texture: TextureBase::Variable(VarRef::Module(0)), sampler: None, coords } if coords.len() == 2));
    assert!(matches!(
        &b.instructions[1].operands[1],
        Operand::Texture { texture: TextureBase::Reg(_), sampler: Some(TextureBase::Variable(VarRef::Module(2))), .. }
    ));
    assert!(matches!(&b.instructions[2].operands[1],
        Operand::Texture { texture: TextureBase::Variable(VarRef::Param(0)), coords, .. } if coords.len() == 1));
}

#[test]
fn headers_and_sizes() {
    let m = parse(
        "old.ptx",
        ".version 1.4\n.target sm_10, map_f64_to_f32\n\
         .extern .shared .align 16 .b8 dyn[];\n\
         .entry k (.param .align 8 .b8 s[32], .param .u64 .ptr .global .align 16 q) .maxntid 16,8 .minnctapersm 2 .maxnreg 20\n\
         { .reg .u64 %rd1; .reg .v4 .f32 v; ld.param.u64 %rd1, [q]; ld.global.v4.f32 v, [%rd1]; mov.f32 v.x, v.w; }",
    )
    .unwrap();
    assert_eq!((m.version, m.address_size), ((1, 4), 64));
    assert_eq!(m.target, ["sm_10", "map_f64_to_f32"]);
    assert_eq!((m.variables[0].size, m.variables[0].align, m.variables[0].dims.clone()), (0, 16, vec![0]));
    let k = &m.functions[0];
    assert_eq!((k.maxntid, k.minnctapersm, k.maxnreg), (Some(128), Some(2), Some(20)));
    assert_eq!((k.params[0].size, k.params[0].align), (32, 8));
    assert_eq!((k.params[1].size, k.params[1].align), (8, 8));
    assert_eq!(k.body.as_ref().unwrap().instructions[2].operands[1], Operand::RegElement(RegId(1), 3));
}

#[test]
fn spans_cover_the_instruction() {
    let text = ".version 7.0\n.target sm_70\n.entry k() {\n  .reg .pred p;\n  @p  ret ; // x\n}\n";
    let m = parse("x", text).unwrap();
    let span = m.functions[0].body.as_ref().unwrap().instructions[0].span;
    assert_eq!(&text[span.start as usize..span.end as usize], "@p  ret ;");
}

#[test]
fn bytes_that_are_no_text() {
    let e = parse_bytes("x.ptx", b".version 7.0\n.tar\xffget sm_70\n").unwrap_err();
    assert_eq!((e.errors[0].line, e.errors[0].column), (2, 5));
}

#[test]
fn several_errors_in_one_file() {
    let text = ".version 7.0\n.target sm_70\n.entry k() {\n.reg .u32 %r<4>;\nmov.u32 %r1, %r9;\nmoov.u32 %r1, 1;\nadd.u32 %r1, %r2\nret;\nbra nowhere;\n}\n";
    let e = parse("x", text).unwrap_err();
    let seen: Vec<_> = e.errors.iter().map(|e| (e.line, e.message.as_str())).collect();
    assert_eq!(
        seen,
        [
            (5, "`%r9` is beyond the 4 registers of `%r<4>`"),
            (6, "unknown instruction `moov`"),
            (7, "`;` is missing at the end of this instruction"),
            (9, "there is no label `nowhere`"),
        ]
    );
    assert_eq!(e.errors[1].help.as_deref(), Some("did you mean `mov`?"));
}

#[test]
fn the_reference_kernels() {
    let Some(folder) = warpwatt_workloads::reference::folder() else { return };
    let text = std::fs::read_to_string(folder.join("kernels/kernels.ptx")).unwrap();
    let m = parse("kernels.ptx", &text).unwrap();
    assert_eq!(m.functions.iter().filter(|f| f.entry).count(), 21);
    for i in 0..m.functions.len() as u32 {
        assert_eq!(warpwatt_ptx::support::kernel_report(&m, FuncId(i)), []);
    }
}
