//! What executes and what is refused, with its reason and place.

use warpwatt_ptx::ir::Opcode;
use warpwatt_ptx::support::{EXTERNS, check, kernel_report, reachable};
use warpwatt_ptx::{line_column, parse};

const REGISTERS: &str = ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; \
    .reg .f64 %fd<9>; .reg .v4 .f32 vec; .param .align 8 .b8 arg[16];";

/// Reasons against a kernel with these lines, and against the items before it.
fn report(items: &str, lines: &str) -> Vec<String> {
    let text = format!(
        ".version 7.8\n.target sm_70\n.address_size 64\n.shared .b32 sv; .global .b32 gv; .global .texref tr;\n{items}\n\
         .entry k(.param .u64 p0)\n{{\n{REGISTERS}\n{lines}\n}}"
    );
    let m = parse("t.ptx", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel_report(&m, m.kernel("k").unwrap()).into_iter().map(|u| u.reason).collect()
}

fn one(line: &str) -> String {
    let mut list = report("", line);
    assert!(list.len() < 2, "{list:?}");
    list.pop().unwrap_or_default()
}

#[test]
fn forms_that_execute() {
    for line in [
        "add.u32 %r1, %r2, -1;",
        "mov.u16 %rs1, %ctaid.x;",
        "cvt.u32.u16 %r1, %tid.x;",
        "cvt.u64.u32 %rd1, %ntid.y;",
        "mov.u64 %rd1, %clock64;",
        "mov.u32 %r1, %clock;",
        "mov.u32 %r1, WARP_SZ;",
        "mov.u32 %r1, sv;",
        "mov.u64 %rd1, gv+4;",
        "mov.b32 %r1, 0f3F800000;",
        "mov.f32 %f1, 1.5;",
        "mov.pred %p1, -1;",
        "mov.b64 %rd1, {%r1, %r2};",
        "mov.b64 {%r1, _}, %rd1;",
        "mov.b32 %r1, {%rs1, 0};",
        "cvta.shared.u64 %rd1, sv;",
        "cvta.to.global.u64 %rd1, %rd2;",
        "ld.global.u8 %r1, [%rd1];",
        "ld.global.nc.L1::no_allocate.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];",
        "ld.global.v4.f32 vec, [%rd1];",
        "mov.f32 %f1, vec.z;",
        "st.volatile.shared.u32 [sv], 7;",
        "st.global.f32 [%r1], 0f00000000;",
        "ld.relaxed.gpu.global.u32 %r1, [gv];",
        "ld.param.u64 %rd1, [p0];",
        "st.param.b32 [arg+8], %r1;",
        "atom.global.cas.b64 %rd1, [%rd2], %rd3, %rd4;",
        "atom.add.u32 _, [%rd2], 1;",
        "setp.lt.and.f32 %p1|%p2, %f1, 0f00000000, !%p3;",
        "setp.lt.s32 %p1|_, %r1, %r2;",
        "lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
        "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;",
        "mad.wide.s32 %rd1, %r1, %r2, %rd2;",
        "bar.red.popc.u32 %r1, 0, %r2, %p1;",
        "bar.sync 0, 64;",
        "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;",
        "tex.2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [tr, {%f1,%f2,%f3,%f4}];",
        "@%p1 exit;",
    ] {
        assert_eq!(one(line), "", "{line}");
    }
}

#[test]
fn forms_that_do_not() {
    for (line, reason) in [
        ("add.f32 %f1, %f2;", "`add.f32` takes 3 operand(s), but 2 are given"),
        ("add.rn.s32 %r1, %r2, %r3;", "`add.rn.s32` is not implemented"),
        ("mul.s32 %r1, %r2, %r3;", "`mul.s32` is not implemented"),
        ("setp.lt.b32 %p1, %r1, %r2;", "`setp.lt.b32` is not implemented"),
        ("add.f16 %rs1, %rs2, %rs3;", "`add.f16` is not implemented"),
        (
            "add.u64 %rd1, %r1, %rd2;",
            "`add.u64`: operand 2: a register of 64 bits is wanted, but `%r1` is declared .b32",
        ),
        (
            "add.u32 %rd1, %r1, %r2;",
            "`add.u32`: operand 1: a register of 32 bits is wanted, but `%rd1` is declared .b64",
        ),
        (
            "ld.global.u32 %rs1, [%rd1];",
            "`ld.global.u32`: operand 1: a register of at least 32 bits is wanted, but `%rs1` is declared .b16",
        ),
        (
            "add.f32 %f1, %f2, 1;",
            "`add.f32`: operand 3: a .f32 literal is written 1.0, 0f3F800000 or 0d3FF0000000000000",
        ),
        ("add.f64 %fd1, %fd2, 0f3F800000;", "`add.f64`: operand 3: a floating literal of another size than .f64"),
        ("mov.u64 %rd1, %tid.x;", "`mov.u64`: operand 2: a special register of 32 bits cannot be read as .u64"),
        ("mov.u32 %r1, %pm1;", "`mov.u32`: operand 2: performance counters are not implemented"),
        ("ld.global.u32 %r1, [sv];", "`ld.global.u32`: operand 2: `sv` lies in .shared, not in .global"),
        ("ld.u64 %rd1, [p0];", "`ld.u64`: operand 2: `p0` lies in .param, not in .generic"),
        ("ld.global.u32 %r1, [%f1];", "`ld.global.u32`: operand 2: `%f1`, declared .f32, holds no address"),
        (
            "ld.global.v4.f32 {%f1,%f2}, [%rd1];",
            "`ld.global.v4.f32`: operand 1: 4 value(s) are wanted, but 2 stand in the braces",
        ),
        (
            "st.global.v2.u32 [%rd1], {%rd2, %ntid.x};",
            "`st.global.v2.u32`: operand 2: no special register stands in a vector",
        ),
        ("mov.u64 %rd1, arg;", "`mov.u64`: operand 2: `arg`, which holds an argument of a call, has no address"),
        (
            "cvta.param.u64 %rd1, arg;",
            "`cvta.param.u64`: operand 2: `arg`, which holds an argument of a call, has no address",
        ),
        ("selp.b32 %r1, %r2, %r3, %r4;", "`selp.b32`: operand 4: a predicate is wanted"),
        ("setp.eq.u32 %r1, %r2, %r3;", "`setp.eq.u32`: operand 1: a predicate register is wanted"),
        ("mov.b64 %rd1, {%r1, %r2, %r3};", "`mov.b64`: operand 2: 8 bytes are packed from 2 or 4 equal parts"),
        ("add.u32 5, %r1, %r2;", "`add.u32`: operand 1: a destination register is wanted"),
        ("mov.u16 %rs1, sv;", "`mov.u16`: operand 2: an address has 32 or 64 bits"),
        ("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "`lop3.b32`: operand 5: an integer literal is wanted"),
        (
            "tex.2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [tr, {%f1}];",
            "`tex.2d.v4.u32.f32`: operand 2: 2 coordinate(s) are wanted, but 1 are given",
        ),
        (
            "tex.1d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%rd1, {%f1}];",
            "`tex.1d.v4.u32.f32`: operand 2: texture handles in registers are not implemented",
        ),
        ("@!%p1 cp.async.wait_all;", "`cp.async.wait_all`: asynchronous copies are not implemented"),
        ("vadd.s32.s32.s32 %r1, %r2.b0, %r3;", "`vadd.s32.s32.s32`: video instructions are not implemented"),
        ("prefetch.global.L1 [%rd1];", "`prefetch.global.L1` is not implemented"),
        ("call (%r1), %rd1, (%r2);", "`call`: an indirect call needs a prototype or a list of targets"),
    ] {
        assert_eq!(one(line), reason, "{line}");
    }
}

#[test]
fn calls() {
    let items = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
         .extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 a);\n\
         .func (.reg .u32 %o) g(.reg .u32 %a) { mov.u32 %o, %a; ret; }";
    let seq = |call: &str| report(items, &format!(".param .b64 a0; .param .b64 a1; .param .b32 r0;\n{call}"));
    assert!(seq("call.uni (r0), vprintf, (a0, a1);").is_empty());
    assert!(seq("call (%r1), g, (%r2);").is_empty());
    assert!(seq("call (%r1), g, (5);").is_empty());
    assert_eq!(seq("call (r0), vprintf, (a0);"), ["`call`: `vprintf`: 2 argument(s) are wanted, but 1 are given"]);
    assert_eq!(
        seq("call (r0), cudaLaunchDevice, (a0);"),
        ["`call`: `cudaLaunchDevice` is not defined in this module and the simulator does not provide it"]
    );
    assert_eq!(seq("call (%r1), g, (%rd2);"), ["`call`: `g`: argument 1: 4 bytes are wanted, but 8 are given"]);
    assert_eq!(seq("call k;"), ["`call`: `k` is a kernel, and kernels are not called"]);
    assert_eq!(EXTERNS.len(), 4);
}

#[test]
fn only_what_the_kernel_reaches_counts() {
    let items = ".func bad() { griddepcontrol.wait; ret; }\n\
         .func deeper() { call bad; ret; }\n\
         .func recursive() { call recursive; ret; }\n\
         .global .u64 table[1] = {deeper};";
    assert!(report(items, "call recursive;").is_empty());
    assert_eq!(report(items, "call deeper;"), ["`griddepcontrol.wait`: dependent launches are not implemented"]);
    let indirect = "P: .callprototype _ (); call %rd1, P;";
    assert_eq!(report(items, indirect).len(), 1, "the address of `deeper` is taken");
    let listed = "T: .calltargets recursive; call %rd1, T;";
    assert!(report(items, listed).is_empty(), "the list says where the call goes");
}

#[test]
fn double_precision_mapped_to_single() {
    let report = |target: &str, line: &str| {
        let m = parse("t", &format!(".version 1.4\n.target {target}\n.entry k() {{ {REGISTERS}\n{line} }}")).unwrap();
        kernel_report(&m, m.kernel("k").unwrap()).into_iter().map(|u| u.reason).collect::<Vec<_>>()
    };
    let mapped = "sm_10, map_f64_to_f32";
    for (line, head) in [
        ("add.f64 %fd1, %fd1, %fd2;", "add.f64"),
        ("cvt.rn.f32.f64 %f1, %fd1;", "cvt.rn.f32.f64"),
        ("ld.global.f64 %fd1, [%rd1];", "ld.global.f64"),
    ] {
        let reason = format!("`{head}`: double precision under `.target map_f64_to_f32` is not implemented");
        assert_eq!(report(mapped, line), [reason]);
        assert!(report("sm_13", line).is_empty());
    }
    assert!(report(mapped, "add.f32 %f1, %f1, %f2;").is_empty());
}

#[test]
fn places() {
    let text = ".version 7.0\n.target sm_70\n.func f() {\n\n exit;\n trap; brkpt; }\n.entry k() {\n call f; }";
    let m = parse("t", text).unwrap();
    let k = m.kernel("k").unwrap();
    assert_eq!(reachable(&m, k).len(), 2);
    let report = kernel_report(&m, k);
    assert_eq!(report.len(), 1);
    assert_eq!(line_column(text, report[0].span.start as usize), (6, 8));
    let lines = warpwatt_ptx::Lines::new(text);
    for offset in 0..text.len() {
        assert_eq!(lines.line(offset as u32), line_column(text, offset).0);
    }
    let f = &m.functions[0].body.as_ref().unwrap().instructions[0];
    assert_eq!(f.opcode, Opcode::Exit);
    assert!(check(&m, warpwatt_ptx::ir::FuncId(0), f).is_ok());
}
