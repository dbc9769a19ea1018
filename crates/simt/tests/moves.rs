//! `mov` in all its forms, special registers, addresses as values (PTX ISA manual, `mov`, "Special Registers").

mod harness;
use harness::*;

#[test]
fn registers_and_immediates() {
    assert_eq!(run1("ld.global.u32 %r1, [%in]; mov.u32 %r2, %r1; st.global.u32 [%out], %r2;", 7), 7);
    assert_eq!(run1("ld.global.u64 %rd1, [%in]; mov.b64 %rd2, %rd1; st.global.u64 [%out], %rd2;", 1 << 40), 1 << 40);
    assert_eq!(run1("mov.s32 %r1, -2; st.global.u32 [%out], %r1;", 0), 0xffff_fffe);
    assert_eq!(run1("mov.f32 %f1, 0f3F800000; st.global.f32 [%out], %f1;", 0), 0x3f80_0000);
    assert_eq!(run1("mov.f32 %f1, 1.5; st.global.f32 [%out], %f1;", 0), 0x3fc0_0000);
    assert_eq!(run1("mov.f64 %fd1, 0d3FF8000000000000; st.global.f64 [%out], %fd1;", 0), 0x3ff8_0000_0000_0000);
    assert_eq!(run1("mov.u16 %h1, 70000; st.global.u16 [%out], %h1;", 0), 70000 & 0xffff);
    assert_eq!(run1("mov.u32 %r1, WARP_SZ; st.global.u32 [%out], %r1;", 0), 32);
}

#[test]
fn predicates() {
    let body = "ld.global.u32 %r1, [%in]; setp.ne.u32 %p1, %r1, 0; mov.pred %p2, %p1;
        selp.u32 %r2, 1, 2, %p2; st.global.u32 [%out], %r2;";
    assert_eq!(run(body, 2, &[0, 5]), [2, 1]);
}

#[test]
fn a_move_touches_the_lanes_of_its_guard_only() {
    let body = "mov.u32 %r1, 5; setp.lt.u32 %p1, %t, 2; @%p1 mov.u32 %r1, 6; @!%p1 mov.b64 %rd1, 9;
        @%p1 mov.b64 %rd1, 8; st.global.u32 [%out], %r1; st.global.u32 [%out+4], %rd1;";
    assert_eq!(run(body, 4, &[]), [6 | 8 << 32, 6 | 8 << 32, 5 | 9 << 32, 5 | 9 << 32]);
}

#[test]
fn packing_and_unpacking() {
    let x = 0x1122_3344_5566_7788;
    let unpack = |body: &str| run1(&format!("ld.global.u64 %rd1, [%in]; {body}"), x);
    assert_eq!(
        unpack("mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r2, %r1}; st.global.u64 [%out], %rd2;"),
        0x5566_7788_1122_3344
    );
    assert_eq!(
        unpack(
            "mov.b64 {%h1, %h2, %h3, %h4}, %rd1; mov.b64 %rd2, {%h4, %h3, %h2, %h1};
        st.global.u64 [%out], %rd2;"
        ),
        0x7788_5566_3344_1122
    );
    assert_eq!(unpack("mov.b64 {_, %r2}, %rd1; st.global.u32 [%out], %r2;"), 0x1122_3344);
    assert_eq!(
        unpack(
            "cvt.u32.u64 %r1, %rd1; mov.b32 {%h1, %h2}, %r1; mov.b32 %r2, {%h2, %h1};
        st.global.u32 [%out], %r2;"
        ),
        0x7788_5566
    );
    assert_eq!(run1("mov.b64 %rd1, {1, -1}; st.global.u64 [%out], %rd1;", 0), 0xffff_ffff_0000_0001);
}

#[test]
fn thread_and_block_coordinates() {
    let body = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x;
        mov.u32 %r5, %ntid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;
        mul.wide.u32 %rd1, %r6, 8; add.s64 %rd1, %out0, %rd1;
        shl.b32 %r7, %r2, 8; shl.b32 %r8, %r3, 16; or.b32 %r7, %r7, %r8; or.b32 %r7, %r7, %r1;
        st.global.u32 [%rd1], %r7;";
    let mut bench = Bench::new(&module("", body), &[0; 8]);
    bench.launch([1, 1, 1], [5, 3, 4], 0).unwrap();
    let out = bench.output();
    for z in 0..4 {
        for y in 0..3 {
            for x in 0..5 {
                assert_eq!(out[(z * 3 + y) * 5 + x], (x | y << 8 | z << 16) as u64);
            }
        }
    }
}

#[test]
fn grid_coordinates() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x;
        mov.u32 %r5, %nctaid.y; mov.u32 %r6, %nctaid.z; mad.lo.u32 %r7, %r3, %r5, %r2; mad.lo.u32 %r7, %r7, %r4, %r1;
        mul.wide.u32 %rd1, %r7, 8; add.s64 %rd1, %out0, %rd1;
        shl.b32 %r2, %r2, 4; shl.b32 %r3, %r3, 8; shl.b32 %r6, %r6, 12; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
        add.u32 %r1, %r1, %r6; st.global.u32 [%rd1], %r1;";
    let mut bench = Bench::new(&module("", body), &[0; 8]);
    bench.launch([2, 3, 4], [1, 1, 1], 0).unwrap();
    let out = bench.output();
    for (i, &v) in out.iter().enumerate().take(24) {
        let (x, y, z) = (i % 2, i / 2 % 3, i / 6);
        assert_eq!(v, (x + (y << 4) + (z << 8) + (4 << 12)) as u64);
    }
}

#[test]
fn sixteen_bit_reads_of_special_registers() {
    // As files of PTX 1.x do.
    let body = "mov.u16 %h1, %ntid.x; mov.u16 %h2, %tid.x; mul.wide.u16 %r1, %h1, %h2; cvt.u32.u16 %r2, %tid.x;
        add.u32 %r1, %r1, %r2; st.global.u32 [%out], %r1;";
    assert_eq!(run(body, 3, &[]), [0, 4, 8]);
}

#[test]
fn lanes_and_masks() {
    let special = |name: &str| run(&format!("mov.u32 %r1, %{name}; st.global.u32 [%out], %r1;"), 40, &[]);
    let lane = |i: usize| i as u64 % 32;
    let all = |f: &dyn Fn(u64) -> u32| (0..40).map(|i| f(lane(i)) as u64).collect::<Vec<_>>();
    assert_eq!(special("laneid"), all(&|l| l as u32));
    assert_eq!(special("lanemask_eq"), all(&|l| 1 << l));
    assert_eq!(special("lanemask_lt"), all(&|l| (1u32 << l) - 1));
    assert_eq!(special("lanemask_le"), all(&|l| (1u32 << l) | ((1u32 << l) - 1)));
    assert_eq!(special("lanemask_gt"), all(&|l| !((1u32 << l) | ((1u32 << l) - 1))));
    assert_eq!(special("lanemask_ge"), all(&|l| !((1u32 << l) - 1)));
    assert_eq!(special("warpid")[39], 1);
    assert_eq!(special("nwarpid")[0], 48);
    assert_eq!(special("smid")[0], 0);
    assert_eq!(special("nsmid")[0], 1);
    assert_eq!(special("envreg3")[0], 0);
}

#[test]
fn clocks_run() {
    let body = "mov.u32 %r1, %clock; mov.u64 %rd1, %clock64; mov.u32 %r2, %clock_hi; mov.u64 %rd2, %globaltimer;
        mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %globaltimer_hi; mov.u32 %r5, %clock; sub.u32 %r6, %r5, %r1;
        add.u32 %r2, %r2, %r4; add.u32 %r6, %r6, %r2; st.global.u32 [%out], %r6;";
    // One tick per instruction of the only warp.
    assert_eq!(run1(body, 0), 6);
}

#[test]
fn shared_memory_sizes_and_grid_number() {
    let body = "mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, %total_smem_size; mov.u64 %rd1, %gridid;
        mov.u32 %r3, s; st.shared.u32 [%r3], %r1;
        st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; st.global.u64 [%out+8], %rd1;";
    let mut bench = Bench::new(&module(".shared .align 4 .b8 s[100];", body), &[0; 8]);
    bench.launch([1, 1, 1], [1, 1, 1], 64).unwrap();
    assert_eq!(bench.output()[..2], [64 | 164 << 32, 0]);
    bench.launch([1, 1, 1], [1, 1, 1], 64).unwrap();
    assert_eq!(bench.output()[1], 1);
}

#[test]
fn addresses_of_variables() {
    let declarations = ".global .align 8 .u32 g[4] = {1, 2, 3, 4}; .const .u32 c[2] = {10, 20};
        .global .u64 pointer = generic(g)+8; .global .align 1 .b8 text[3] = {65, 66, 0};";
    let body = "mov.u64 %rd1, g; ld.global.u32 %r1, [%rd1+4]; ld.global.u32 %r2, [g+8];
        mov.u64 %rd2, c+4; ld.const.u32 %r3, [%rd2]; ld.const.u32 %r4, [c];
        ld.global.u64 %rd3, [pointer]; ld.u32 %r5, [%rd3]; ld.global.u8 %r6, [text+1];
        add.u32 %r1, %r1, %r2; mad.lo.u32 %r1, %r3, 10, %r1; mad.lo.u32 %r1, %r4, 100, %r1;
        mad.lo.u32 %r1, %r5, 10000, %r1; mad.lo.u32 %r1, %r6, 100000, %r1; st.global.u32 [%out], %r1;";
    assert_eq!(run_module(&module(declarations, body), 1, &[])[0], 2 + 3 + 200 + 1000 + 30000 + 6_600_000);
}

#[test]
fn masks_cut_bytes_out_of_addresses() {
    let declarations = ".global .u32 pad[16]; .global .align 4 .u32 foo = 42;
        .global .align 8 .u8 a[8] = {0xff(foo+1), 0xff00(foo+1), 0xff0000(foo+1), 0xff000000(foo+1), 0, 0, 0, 0};
        .global .align 8 .u16 b[4] = {0xffff(generic(foo)-3), 0xffff0000(generic(foo)-3),
            0xffff00000000(generic(foo)-3), 7};";
    let body = "mov.u64 %rd1, foo; ld.global.u64 %rd2, [a]; ld.global.u64 %rd3, [b]; sub.u64 %rd2, %rd2, %rd1;
        sub.u64 %rd3, %rd3, %rd1; sub.u64 %rd2, %rd2, %rd3; st.global.u64 [%out], %rd2;";
    assert_eq!(run_module(&module(declarations, body), 1, &[])[0], 4u64.wrapping_sub(7 << 48));
}

#[test]
fn constant_expressions() {
    let value = |text: &str| run1(&format!("mov.b64 %rd1, {text}; st.global.u64 [%out], %rd1;"), 0) as i64;
    for (text, expected) in [
        ("(1+2)*3", 9),
        ("1+2*3", 7),
        ("-1<<4", -16),
        ("!5", 0),
        ("!0", 1),
        ("~5", -6),
        ("10-4-3", 3),
        ("-7/2", -3),
        ("-7 % 4", -3),
        ("-8>>1", -4),
        ("~7>>1", i64::MAX - 3),
        ("1<<64", 0),
        ("0xff&0x0f^3|16", 28),
        ("3>2==1&&2!=2||0", 0),
        ("-1<0", 1),
        ("-1<0U", 0),
        ("5<=4?10:2>=2?20:30", 20),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    let declarations = ".global .u32 a[2*2] = {1, 1+1, (1+2), 1<<2}; .global .f32 f = .05;
        .global .align 2 .u8 b[2] = {0xFF(1000 + 546), 0xFF00(1546)}; .global .u64 p = a+2*4;";
    let body = "ld.global.u32 %r1, [a+4*2]; ld.global.u32 %r2, [a + 3*4 - 4*2]; ld.global.u64 %rd1, [p];
        ld.global.u32 %r3, [%rd1+(2-1)*4]; ld.global.u16 %r4, [b]; mad.lo.u32 %r1, %r1, 10, %r2;
        mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10000, %r4; ld.global.u32 %r5, [f];
        st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r5;";
    let expected = 3_241_546 | u64::from(0.05f32.to_bits()) << 32;
    assert_eq!(run_module(&module(declarations, body), 1, &[])[0], expected);
}

#[test]
fn large_alignments() {
    let declarations = ".global .u8 x; .global .align 1024 .b8 g[16]; .const .u8 y = 1; .const .align 512 .b8 c[4];
        .shared .align 256 .b8 s[4];
        .func (.param .b64 r) f() { .local .align 64 .b8 l[64]; .reg .b64 %a; mov.u64 %a, l; and.b64 %a, %a, 63;
            st.param.b64 [r], %a; st.local.u8 [l+63], 1; ret; }";
    let body = ".local .align 4 .b8 l[20]; st.local.u8 [l], 1; .param .b64 q;
        mov.u64 %rd1, g; and.b64 %rd1, %rd1, 1023; mov.u64 %rd2, c; and.b64 %rd2, %rd2, 511; mov.u64 %rd3, s;
        and.b64 %rd3, %rd3, 255; call (q), f, (); ld.param.b64 %rd4, [q]; or.b64 %rd1, %rd1, %rd2;
        or.b64 %rd3, %rd3, %rd4; or.b64 %rd1, %rd1, %rd3; st.global.u64 [%out], %rd1;";
    assert_eq!(run_module(&module(declarations, body), 32, &[]), [0; 32]);
}

#[test]
fn vector_registers() {
    let body = ".reg .v4 .f32 %v; ld.global.v4.f32 %v, [%in]; add.f32 %f1, %v.x, %v.w; st.global.f32 [%out], %f1;";
    let (one, four) = (1f32.to_bits() as u64, 4f32.to_bits() as u64);
    assert_eq!(run(body, 1, &[one, four << 32])[0], 5f32.to_bits() as u64);
}
