//! Every kind of fault, with its place.

mod harness;
use harness::*;
use warpwatt_simt::device::{Arg, Device, DeviceError};
use warpwatt_simt::fault::{BarrierProblem, Direction, FaultKind};
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_simt::opinfo::MemSpace;

fn access(kind: FaultKind) -> (&'static str, MemSpace, Direction, u64, u32) {
    match kind {
        FaultKind::OutOfBounds { space, direction, address, bytes } => ("bounds", space, direction, address, bytes),
        FaultKind::Misaligned { space, direction, address, bytes } => ("align", space, direction, address, bytes),
        FaultKind::Null { direction, address, bytes } => ("null", MemSpace::Generic, direction, address, bytes),
        FaultKind::Forbidden { space, direction, address, bytes } => ("forbidden", space, direction, address, bytes),
        other => panic!("{other:?}"),
    }
}

use Direction::*;
use MemSpace::*;

/// The input buffer has 1024 bytes at 0xc0000000, the output 8192 at 0xc0000400.
#[test]
fn global_memory() {
    let beyond = 0xc000_0400 + 8192;
    let get = |body: &str| access(kind(body, 1, &[]));
    assert_eq!(get("ld.global.u32 %r1, [%out+8192];"), ("bounds", Global, Read, beyond, 4));
    assert_eq!(get("st.global.u64 [%out+8192], %rd1;"), ("bounds", Global, Write, beyond, 8));
    assert_eq!(get("ld.global.u32 %r1, [%out+-1500];").3, 0xc000_0400 - 1500);
    assert_eq!(get("ld.global.u32 %r1, [%in+2];"), ("align", Global, Read, 0xc000_0002, 4));
    assert_eq!(get("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%in+8];"), ("align", Global, Read, 0xc000_0008, 16));
    assert_eq!(get("st.global.u16 [%in+1], 3;"), ("align", Global, Write, 0xc000_0001, 2));
    assert_eq!(get("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1+12];"), ("null", Generic, Read, 12, 4));
    assert_eq!(get("mov.u64 %rd1, 0; st.u32 [%rd1], 1;"), ("null", Generic, Write, 0, 4));
    assert_eq!(get("atom.global.add.u32 %r1, [%out+8192], 1;"), ("bounds", Global, Atomic, beyond, 4));
    assert_eq!(get("atom.global.add.u64 %rd1, [%out+4], %rd2;"), ("align", Global, Atomic, 0xc000_0404, 8));
    // An exact size: one byte beyond the end, though the next allocation is 256 bytes away.
    let ptx = module(".global .align 4 .b8 g[5];", "ld.global.u8 %r1, [g+4]; ld.global.u8 %r1, [g+5];");
    assert_eq!(access(fault_of_module(&ptx, 1, &[]).kind).0, "bounds");
    // Wrapping around the end of the address space.
    assert_eq!(get("mov.u64 %rd1, -4; ld.global.u32 %r1, [%rd1];").3, u64::MAX - 3);
    assert_eq!(get("mov.u64 %rd1, -8; st.global.v2.u64 [%rd1+-8], {%rd1, %rd1};").3, u64::MAX - 15);
}

#[test]
fn the_first_lane_to_blame_is_named() {
    let body = "setp.ge.u32 %p1, %t, 37; selp.b64 %rd1, 0, %in, %p1; ld.global.u32 %r1, [%rd1];";
    let fault = fault(body, 64, &[]);
    assert_eq!(fault.thread, [37, 0, 0]);
    assert_eq!((fault.kernel.as_str(), fault.function.as_str(), fault.cta), ("k", "k", [0, 0, 0]));
    // Lanes that do not execute are not to blame.
    let body = "setp.ge.u32 %p1, %t, 5; @%p1 ld.global.u32 %r1, [%out+8192];";
    assert_eq!(harness::fault(body, 8, &[]).thread, [5, 0, 0]);
}

#[test]
fn faults_name_line_and_block() {
    let body = "mov.u32 %r1, %ctaid.y;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 trap; // here";
    let ptx = module("", body);
    let mut bench = Bench::new(&ptx, &[0; 8]);
    let error = bench.launch([2, 3, 1], [4, 2, 1], 0).unwrap_err();
    let fault = bench.device.fault().unwrap();
    assert_eq!((&fault.kind, fault.cta, fault.thread), (&FaultKind::Trap, [0, 2, 0], [0, 0, 0]));
    assert_eq!(fault.line, line_of(&ptx, "// here"));
    let place = format!("trap instruction, in kernel k, PTX line {}, CTA (0,2,0), thread (0,0,0)", fault.line);
    assert!(matches!(error, DeviceError::Failed(text) if text == place));
}

#[test]
fn faults_name_the_function() {
    let ptx = module(".func f() { trap; }", "call f;");
    let fault = fault_of_module(&ptx, 1, &[]);
    assert_eq!((fault.kernel.as_str(), fault.function.as_str()), ("k", "f"));
    assert!(fault.to_string().contains("in kernel k, function f"));
}

#[test]
fn shared_local_constant_and_parameter_memory() {
    let get = |declarations: &str, body: &str| access(fault_of_module(&module(declarations, body), 1, &[]).kind);
    let shared = ".shared .align 4 .b8 s[8];";
    assert_eq!(get(shared, "st.shared.u32 [s+8], 1;"), ("bounds", Shared, Write, 8, 4));
    assert_eq!(get(shared, "ld.shared.u32 %r1, [s+6];"), ("align", Shared, Read, 6, 4));
    assert_eq!(get(shared, "atom.shared.add.u32 %r1, [s+8], 1;"), ("bounds", Shared, Atomic, 8, 4));
    assert_eq!(get(shared, "atom.shared.add.u32 %r1, [s+2], 1;"), ("align", Shared, Atomic, 2, 4));
    assert_eq!(get(shared, "cvta.shared.u64 %rd1, s; st.u32 [%rd1+8], 1;"), ("bounds", Shared, Write, 8, 4));
    let local = ".local .align 4 .b8 l[8];";
    assert_eq!(get("", &format!("{local} st.local.u32 [l+8], 1;")), ("bounds", Local, Write, 8, 4));
    assert_eq!(get("", &format!("{local} ld.local.u64 %rd1, [l+4];")), ("align", Local, Read, 4, 8));
    assert_eq!(
        get("", &format!("{local} cvta.local.u64 %rd1, l; ld.u32 %r1, [%rd1+100];")),
        ("bounds", Local, Read, 100, 4)
    );
    assert_eq!(get("", &format!("{local} cvta.local.u64 %rd1, l; atom.add.u32 %r1, [%rd1], 1;")).0, "forbidden");
    let constant = ".const .align 4 .b8 c[8];";
    assert_eq!(get(constant, "mov.u64 %rd1, c; ld.const.u32 %r1, [%rd1+8];").0, "bounds");
    assert_eq!(get(constant, "cvta.const.u64 %rd1, c; st.u32 [%rd1], 1;").0, "forbidden");
    assert_eq!(get("", "mov.u64 %rd1, in; ld.param.u64 %rd2, [%rd1+16];"), ("bounds", Param, Read, 16, 8));
    assert_eq!(
        get("", "mov.u64 %rd1, in; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], 1;"),
        ("forbidden", Param, Write, 0, 4)
    );
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let ptx = module(
        ".func f(.param .b32 x) { .reg .b32 %r; .param .b32 p; ld.param.b32 %r, [x]; st.param.b32 [p], %r;
        call f, (p); ret; }",
        ".param .b32 q; st.param.b32 [q], 1; call f, (q);",
    );
    let FaultKind::StackOverflow { depth } = fault_of_module(&ptx, 1, &[]).kind else { panic!("no overflow") };
    assert!(depth > 1000, "{depth}");
}

#[test]
fn indirect_calls_and_branches_beyond_their_targets() {
    let call = |declarations: &str| {
        let body = ".param .b32 p; st.param.b32 [p], 1; mov.u64 %rd1, g; P: .callprototype _ (.param .b32 _);
            add.s64 %rd1, %rd1, 8; call %rd1, (p), P;";
        fault_of_module(&module(declarations, body), 1, &[]).kind
    };
    // Inside a function, and a function of another shape.
    let wrong = call(".func g(.param .b32 a) { ret; } .func h() { ret; }");
    assert!(matches!(wrong, FaultKind::InvalidCall { target: 0x0800_0008 }), "{wrong:?}");
    let body = ".param .b32 p; st.param.b32 [p], 1; mov.u64 %rd1, h; P: .callprototype _ (.param .b32 _);
        call %rd1, (p), P;";
    let ptx = module(".func h(.param .b64 a) { ret; }", body);
    assert!(matches!(fault_of_module(&ptx, 1, &[]).kind, FaultKind::InvalidCall { .. }));
    let branch = "TS: .branchtargets A, A; add.u32 %r1, %t, 1; brx.idx %r1, TS; A:";
    let fault = fault(branch, 4, &[]);
    assert_eq!((fault.kind, fault.thread[0]), (FaultKind::InvalidBranch { index: 2, targets: 2 }, 1));
}

fn barrier(body: &str, threads: u32) -> (u32, BarrierProblem) {
    match kind(body, threads, &[]) {
        FaultKind::Barrier { barrier, problem } => (barrier, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn misused_barriers() {
    assert_eq!(barrier("mov.u32 %r1, 16; bar.sync %r1;", 32), (16, BarrierProblem::Number));
    assert_eq!(barrier("mov.u32 %r1, 40; bar.sync 1, %r1;", 64), (1, BarrierProblem::Count(40)));
    assert_eq!(barrier("mov.u32 %r1, 0; bar.sync 1, %r1;", 64), (1, BarrierProblem::Count(0)));
    assert_eq!(barrier("mov.u32 %r1, 96; bar.sync 1, %r1;", 64), (1, BarrierProblem::TooMany(96)));
    assert_eq!(barrier("bar.sync %t;", 2), (0, BarrierProblem::NotUniform));
    assert_eq!(
        barrier("shr.u32 %r1, %t, 5; add.u32 %r1, %r1, 2; shl.b32 %r1, %r1, 5; bar.sync 1, %r1;", 128),
        (1, BarrierProblem::Mismatch { given: 96, expected: 64 })
    );
    assert_eq!(barrier("bar.arrive 1, 64; bar.arrive 1, 64;", 64), (1, BarrierProblem::Again));
    assert_eq!(
        barrier(
            "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.red.popc.u32 %r1, 1, 64, %p1; bra B;
        A: bar.sync 1, 64; B:",
            64
        ),
        (1, BarrierProblem::Operation)
    );
}

#[test]
fn barriers_that_cannot_complete() {
    let body = "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B:";
    let ptx = module("", body);
    let fault = fault_of_module(&ptx, 64, &[]);
    let FaultKind::BarrierDeadlock { waiting } = &fault.kind else { panic!("{fault}") };
    assert_eq!(waiting.len(), 2);
    assert!(
        waiting[0].contains("1 warps have arrived at barrier 1 (mask 0x2), which expects the 2 warps"),
        "{waiting:?}"
    );
    assert_eq!(fault.line, line_of(&ptx, "bar.sync"));
    // A count that too few warps reach.
    let few = kind("bar.sync 0, 64; setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 0, 64;", 64, &[]);
    assert!(matches!(few, FaultKind::BarrierDeadlock { .. }), "{few:?}");
}

#[test]
fn endless_loops_meet_the_limit() {
    let mut bench = Bench::new(&module("", "L: bra L;"), &[0; 8]);
    bench.device.limit_warp_instructions(10_000);
    bench.launch([1; 3], [64, 1, 1], 0).unwrap_err();
    assert_eq!(bench.device.fault().unwrap().kind, FaultKind::InstructionLimit { limit: 10_000 });
    assert_eq!(bench.device.counts().warp_instructions, 10_000);
}

#[test]
fn textures_without_binding_and_wrong_handles() {
    let fetch = "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%t}];";
    let unbound = fault_of_module(&module(".global .texref t;", fetch), 1, &[]).to_string();
    assert!(unbound.contains("nothing is bound to texture reference t"), "{unbound}");
}

#[test]
fn member_masks_must_name_the_executing_lanes() {
    for body in [
        "vote.sync.any.pred %p1, %p2, 1;",
        "shfl.sync.idx.b32 %r1, %t, 0, 31, 1;",
        "redux.sync.add.u32 %r1, %t, 1;",
        "match.any.sync.b32 %r1, %t, 1;",
        "bar.warp.sync 1;",
    ] {
        assert_eq!(kind(body, 2, &[]), FaultKind::MemberMask { mask: 1 }, "{body}");
    }
}

/// Lanes 0 to 9 and 20 branch around the lines.
fn diverged(lines: &str) -> String {
    format!(
        "setp.lt.u32 %p1, %t, 10; setp.eq.u32 %p2, %t, 20; or.pred %p1, %p1, %p2;
        @%p1 bra AROUND;\n{lines} // here\nAROUND: st.global.u32 [%out], 1;"
    )
}

#[test]
fn lanes_of_a_member_mask_must_come_together() {
    for (instruction, form) in [
        ("vote.sync", "vote.sync.ballot.b32 %r1, %p2, -1;"),
        ("shfl.sync", "shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;"),
        ("match.sync", "match.any.sync.b32 %r1, %t, -1;"),
        ("redux.sync", "redux.sync.add.u32 %r1, %t, -1;"),
        ("bar.warp.sync", "bar.warp.sync -1;"),
    ] {
        let ptx = module("", &diverged(form));
        let fault = fault_of_module(&ptx, 32, &[]);
        let kind = FaultKind::Diverged { instruction: instruction.to_string(), missing: 0x0010_03ff };
        assert_eq!((&fault.kind, fault.thread[0], fault.line), (&kind, 10, line_of(&ptx, "// here")), "{form}");
        let text =
            format!("{instruction} without lanes 0-9, 20, which its member mask names but which diverged before");
        assert!(fault.to_string().starts_with(&text), "{fault}");
        // In a mask of its own each side is whole; lanes that have exited need not come.
        run(&diverged(&form.replace("-1;", "0xffeffc00;")), 32, &[]);
        run(&format!("setp.lt.u32 %p1, %t, 10; @%p1 exit; {form}"), 32, &[]);
    }
    // Without `.sync`, whoever is here takes part.
    run(&diverged("vote.ballot.b32 %r1, %p2; shfl.bfly.b32 %r1, %t, 1, 31;"), 32, &[]);
}

#[test]
fn barriers_without_aligned_take_no_part_of_a_warp() {
    for (form, aligned) in [
        ("barrier.sync 3;", "barrier.sync.aligned 3;"),
        ("barrier.sync 3, 32;", "bar.sync 3, 32;"),
        ("barrier.arrive 3, 32;", "bar.arrive 3, 32;"),
        ("barrier.red.popc.u32 %r1, 3, %p2;", "bar.red.popc.u32 %r1, 3, %p2;"),
    ] {
        assert_eq!(barrier(&diverged(form), 32), (3, BarrierProblem::Diverged(0x0010_03ff)), "{form}");
        run(&diverged(aligned), 32, &[]);
        run(&format!("setp.lt.u32 %p1, %t, 10; @%p1 exit; {form}"), 32, &[]);
    }
}

#[test]
fn a_device_goes_on_after_a_fault() {
    let mut bench = Bench::new(
        &module(
            "",
            "ld.global.u32 %r1, [%in]; setp.eq.u32 %p1, %r1, 0; @%p1 trap;
        st.global.u32 [%out], 1;",
        ),
        &[0; 8],
    );
    assert!(matches!(bench.launch([1; 3], [1; 3], 0), Err(DeviceError::Failed(_))));
    bench.device.write(bench.input, &[1]).unwrap();
    bench.launch([1; 3], [1; 3], 0).unwrap();
    assert!(bench.device.fault().is_none());
    assert_eq!(bench.output()[0], 1);
}

/// The message of a refused launch of a kernel with these directives and parameters `(u32, f64)`.
fn refused(directives: &str, grid: [u32; 3], block: [u32; 3], dynamic: u32, args: &[Arg]) -> String {
    let mut device = FunctionalDevice::default();
    let ptx = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 a, .param .f64 b)
        {directives} {{ .shared .b8 s[1000]; .reg .b32 %r; mov.u32 %r, s; ret; }}"
    );
    device.load_module("r.ptx", &ptx).unwrap();
    match device.launch("k", grid, block, dynamic, args) {
        Err(DeviceError::Invalid(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn launches_are_checked() {
    let args = [Arg::U32(1), Arg::F64(1.0)];
    let bad = |directives, grid, block, dynamic| refused(directives, grid, block, dynamic, &args);
    let one = [1, 1, 1];
    assert!(bad("", [0, 1, 1], one, 0).contains("grid [0, 1, 1] has a zero dimension"));
    assert!(bad("", [1, 70000, 1], one, 0).contains("too large"));
    assert!(bad("", one, [1, 0, 1], 0).contains("block [1, 0, 1] has a zero dimension"));
    assert!(bad("", one, [1025, 1, 1], 0).contains("1025 threads"));
    assert!(bad("", one, [1, 1, 65], 0).contains("65 threads"));
    assert!(bad("", one, [64, 64, 1], 0).contains("4096 threads"));
    assert!(bad(".reqntid 32, 2, 1", one, [32, 1, 1], 0).contains(".reqntid [32, 2, 1], the block is [32, 1, 1]"));
    assert!(bad(".maxntid 64, 1, 1", one, [65, 1, 1], 0).contains(".maxntid 64 threads, the block has 65"));
    assert!(bad("", one, one, 1 << 20).contains("1049576 bytes of shared memory"));
    assert!(refused("", one, one, 0, &args[..1]).contains("takes 2 arguments, 1 are given"));
    let wide = [Arg::U64(1), Arg::F64(1.0)];
    assert!(refused("", one, one, 0, &wide).contains("argument 0 (a) of kernel k has 4 bytes, 8 are given"));
    let mut device = FunctionalDevice::default();
    let unknown = device.launch("nobody", one, one, 0, &[]).unwrap_err().to_string();
    assert!(unknown.contains("no kernel named nobody"), "{unknown}");
}

#[test]
fn programs_that_cannot_be_built_say_where() {
    let build = |declarations: &str, body: &str| {
        let ptx = module(declarations, body);
        let mut bench = Bench::new(&ptx, &[0; 8]);
        (bench.launch([1; 3], [1; 3], 0).unwrap_err().to_string(), line_of(&ptx, "// here"))
    };
    let (text, line) = build(
        "",
        "\n mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd2}, {%fd1}, {%fd1}, {%fd1,%fd2}; // here\n",
    );
    assert!(text.contains(&format!("line {line}")) && text.contains("mma.sync"), "{text}");
    let (text, line) = build(".extern .func other();", "\n call other; // here\n");
    assert!(text.contains(&format!("line {line}")) && text.contains("other"), "{text}");
    let mut large = Bench::new(&module(".shared .b8 s[300000];", "mov.u32 %r1, s;"), &[0; 8]);
    let text = large.launch([1; 3], [1; 3], 0).unwrap_err().to_string();
    assert!(text.contains("shared memory needs 300000 bytes; at most 233472 are possible"), "{text}");
    let mut local = Bench::new(&module("", ".local .b8 l[600000]; mov.u64 %rd1, l;"), &[0; 8]);
    let text = local.launch([1; 3], [1; 3], 0).unwrap_err().to_string();
    assert!(text.contains("the local memory of a function needs 600000 bytes"), "{text}");
    let mut aligned = Bench::new(&module("", ".local .align 8192 .b8 l[4]; mov.u64 %rd1, l;"), &[0; 8]);
    let text = aligned.launch([1; 3], [1; 3], 0).unwrap_err().to_string();
    assert!(text.contains("the alignment of a function's local memory needs 8192 bytes; at most 4096"), "{text}");
}

#[test]
fn what_a_kernel_cannot_reach_does_not_matter() {
    let ptx = format!(
        "{}\n.visible .entry other() {{ .reg .f64 %fd<3>;
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%fd1,%fd2}}, {{%fd1}}, {{%fd1}}, {{%fd1,%fd2}}; ret; }}",
        module("", "st.global.u32 [%out], 1;")
    );
    assert_eq!(run_module(&ptx, 1, &[])[0], 1);
}

#[test]
fn host_accesses_are_checked() {
    let mut device = FunctionalDevice::default();
    let a = device.alloc(100).unwrap();
    assert_eq!(a, 0xc000_0000);
    assert_eq!(device.alloc(1).unwrap(), 0xc000_0100);
    assert!(device.write(a + 96, &[0; 5]).unwrap_err().to_string().contains("5 bytes at device address 0xc0000060"));
    assert!(device.read(0, &mut [0; 1]).is_err());
    assert!(device.read(a, &mut []).is_ok());
    assert!(device.alloc(1 << 50).unwrap_err().to_string().contains("out of device memory"));
    assert!(device.symbol("x").unwrap_err().to_string().contains("x"));
    assert!(device.load_module("bad.ptx", "nonsense").is_err());
}
