//! Loads, stores, address conversion (PTX ISA manual, `ld`, `st`, `ldu`, `cvta`, `isspacep`).

mod harness;
use harness::*;

const X: u64 = 0x8877_6655_f4e3_92a1;

/// Loads with `form` into a 32-bit register, stores the register.
fn load32(form: &str) -> u64 {
    run1(&format!("{form} %r1, [%in]; st.global.u32 [%out], %r1;"), X)
}

#[test]
fn loads_extend_to_their_register() {
    assert_eq!(load32("ld.global.u8"), 0xa1);
    assert_eq!(load32("ld.global.s8"), 0xffff_ffa1);
    assert_eq!(load32("ld.global.b8"), 0xa1);
    assert_eq!(load32("ld.global.u16"), 0x92a1);
    assert_eq!(load32("ld.global.s16"), 0xffff_92a1);
    assert_eq!(load32("ld.global.u32"), 0xf4e3_92a1);
    let wide = |form: &str| run1(&format!("{form} %rd1, [%in]; st.global.u64 [%out], %rd1;"), X);
    assert_eq!(wide("ld.global.s32"), 0xffff_ffff_f4e3_92a1);
    assert_eq!(wide("ld.global.u32"), 0xf4e3_92a1);
    assert_eq!(wide("ld.global.s8"), 0xffff_ffff_ffff_ffa1);
    assert_eq!(wide("ld.global.u64"), X);
    assert_eq!(wide("ld.global.b64"), X);
    let half =
        |form: &str| run1(&format!("{form} %h1, [%in]; mov.b32 %r1, {{%h1, %h1}}; st.global.u32 [%out], %r1;"), X);
    assert_eq!(half("ld.global.s8"), 0xffa1_ffa1);
    assert_eq!(half("ld.global.u8"), 0x00a1_00a1);
    assert_eq!(half("ld.global.u16"), 0x92a1_92a1);
}

#[test]
fn floats_and_doubles() {
    assert_eq!(run1("ld.global.f32 %f1, [%in]; st.global.f32 [%out], %f1;", X), X & 0xffff_ffff);
    assert_eq!(run1("ld.global.f64 %fd1, [%in]; st.global.f64 [%out], %fd1;", X), X);
}

#[test]
fn stores_write_the_low_bytes_only() {
    let store = |form: &str| {
        run1(
            &format!(
                "mov.u64 %rd1, -1; st.global.u64 [%out], %rd1; ld.global.u64 %rd2, [%in];
        cvt.u32.u64 %r2, %rd2; {form}"
            ),
            X,
        )
    };
    assert_eq!(store("st.global.u8 [%out], %r2;"), 0xffff_ffff_ffff_ffa1);
    assert_eq!(store("st.global.s8 [%out+1], %r2;"), 0xffff_ffff_ffff_a1ff);
    assert_eq!(store("st.global.u16 [%out+2], %r2;"), 0xffff_ffff_92a1_ffff);
    assert_eq!(store("st.global.u8 [%out], %rd2;"), 0xffff_ffff_ffff_ffa1);
    assert_eq!(store("st.global.u32 [%out], %rd2;"), 0xffff_ffff_f4e3_92a1);
    assert_eq!(store("st.global.u32 [%out+4], 5;"), 0x0000_0005_ffff_ffff);
    assert_eq!(store("st.global.f32 [%out], 0f3F800000;"), 0xffff_ffff_3f80_0000);
}

#[test]
fn vectors() {
    let copy = |body: &str| {
        run(
            &format!(
                "mul.lo.u32 %r9, %t, 16; cvt.u64.u32 %rd9, %r9; add.s64 %rd8, %in0, %rd9;
        add.s64 %rd9, %out0, %rd9; {body}"
            ),
            2,
            &[1, 2, 0x0807_0605_0403_0201, 4],
        )
    };
    assert_eq!(
        copy("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd8]; st.global.v4.u32 [%rd9], {%r4,%r3,%r2,%r1};"),
        [2 << 32, 1 << 32]
    );
    assert_eq!(copy("ld.global.v2.f64 {%fd1,%fd2}, [%rd8]; st.global.v2.f64 [%rd9], {%fd2,%fd1};"), [2, 1]);
    assert_eq!(copy("ld.global.v2.u32 {%r1,%r2}, [%rd8]; st.global.v2.b32 [%rd9], {%r2,%r1};"), [1 << 32, 0]);
    assert_eq!(
        copy("ld.global.v4.u8 {%r1,%r2,%r3,%r4}, [%rd8]; st.global.v4.u8 [%rd9], {%r4,%r3,%r2,%r1};")[0],
        0x0100_0000
    );
    assert_eq!(
        copy("ld.global.v4.u16 {%h1,%h2,%h3,%h4}, [%rd8]; st.global.v4.u16 [%rd9], {%h1,%h1,%h4,%h1};")[0],
        0x0001_0000_0001_0001
    );
    assert_eq!(copy("ld.global.v2.u16 {%h1,%h2}, [%rd8]; st.global.v2.u16 [%rd9], {%h2,%h1};")[0], 0x0001_0000);
    assert_eq!(copy("ld.global.v2.u8 {%h1,%h2}, [%rd8+2]; st.global.v2.u8 [%rd9], {%h2,%h1};")[0], 0);
    assert_eq!(copy("ld.global.v4.f32 {_,%f2,_,%f4}, [%rd8]; st.global.v2.f32 [%rd9], {%f4,%f2};")[0], 0);
    // A load whose destination holds its address.
    assert_eq!(copy("ld.global.v2.u64 {%rd8,%rd7}, [%rd8]; st.global.v2.u64 [%rd9], {%rd7,%rd8};"), [2, 1]);
}

#[test]
fn whole_warps_at_unit_stride_and_in_reverse() {
    let input: Vec<u64> = (0..64).map(|i| i * 0x1_0000_0001 + 1).collect();
    let forward = "ld.global.u64 %rd1, [%in]; st.global.u64 [%out], %rd1;";
    assert_eq!(run(forward, 64, &input), input);
    let reverse = "mul.wide.u32 %rd5, %t, 8; sub.s64 %rd6, %in0, %rd5; ld.global.u64 %rd1, [%rd6+504];
        st.global.u64 [%out], %rd1;";
    assert_eq!(run(reverse, 64, &input), input.iter().rev().copied().collect::<Vec<_>>());
    let uniform = "ld.global.u64 %rd1, [%in0+24]; st.global.u64 [%out], %rd1;";
    assert_eq!(run(uniform, 64, &input), vec![input[3]; 64]);
    // 4 bytes a lane: the other fast path.
    let words = "mul.wide.u32 %rd5, %t, 4; add.s64 %rd6, %in0, %rd5; ld.global.u32 %r1, [%rd6];
        add.s64 %rd6, %out0, %rd5; st.global.u32 [%rd6], %r1;";
    let out = run(words, 64, &input);
    assert_eq!(out[..32], input[..32]);
}

#[test]
fn the_highest_lane_wins_a_conflicting_store() {
    assert_eq!(
        run("st.global.u32 [%out0], %t; bar.sync 0; ld.global.u32 %r1, [%out0]; st.global.u32 [%out], %r1;", 32, &[])
            [5],
        31
    );
}

#[test]
fn negative_and_absolute_addresses() {
    assert_eq!(run1("add.s64 %rd1, %in, 16; ld.global.u32 %r1, [%rd1+-16]; st.global.u32 [%out], %r1;", 9), 9);
    // The first buffer is at 0xc0000000.
    assert_eq!(run1("ld.global.u32 %r1, [3221225472]; st.global.u32 [%out], %r1;", 9), 9);
}

#[test]
fn cache_operators_and_orders_are_accepted() {
    for form in [
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.cv.u32",
        "ld.global.nc.u32",
        "ld.volatile.global.u32",
        "ldu.global.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.cta.global.u32",
    ] {
        assert_eq!(load32(form), X & 0xffff_ffff, "{form}");
    }
    for form in [
        "st.global.wb.u32",
        "st.global.cg.u32",
        "st.global.wt.u32",
        "st.volatile.global.u32",
        "st.release.gpu.global.u32",
    ] {
        assert_eq!(run1(&format!("{form} [%out], 3;"), 0), 3, "{form}");
    }
}

#[test]
fn shared_memory() {
    let declarations = ".shared .align 8 .b8 a[64]; .shared .u32 b;";
    let body = "mov.u32 %r1, a; mad.lo.u32 %r2, %t, 4, %r1; add.u32 %r3, %t, 100; st.shared.u32 [%r2], %r3; bar.sync 0;
        xor.b32 %r4, %t, 3; mad.lo.u32 %r4, %r4, 4, %r1; ld.shared.u32 %r5, [%r4]; ld.shared.u8 %r6, [a+4];
        st.shared.u32 [b], %r6; ld.shared.u32 %r6, [b]; st.global.u32 [%out], %r5; st.global.u32 [%out+4], %r6;";
    assert_eq!(run_module(&module(declarations, body), 4, &[]), [103, 102, 101, 100].map(|v| v | 101 << 32));
    let vectors = "mov.u64 %rd1, a; st.shared.v2.f64 [%rd1], {0d3FF0000000000000, 0d4000000000000000};
        ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1]; st.global.v2.u32 [%out], {%r2, %r4};";
    assert_eq!(run_module(&module(declarations, vectors), 1, &[])[0], 0x4000_0000_3ff0_0000);
}

#[test]
fn dynamic_shared_memory_follows_the_static_part() {
    let declarations =
        ".shared .align 4 .b8 a[20]; .extern .shared .align 16 .b8 d[]; .extern .shared .align 4 .b8 e[];";
    let body = "mov.u32 %r1, a; mov.u32 %r2, d; mov.u32 %r3, e; sub.u32 %r4, %r2, %r1; sub.u32 %r5, %r3, %r2;
        st.shared.u32 [d+12], 77; ld.shared.u32 %r6, [e+12]; add.u32 %r4, %r4, %r5; st.global.u32 [%out], %r4;
        st.global.u32 [%out+4], %r6;";
    let mut bench = Bench::new(&module(declarations, body), &[0; 8]);
    bench.launch([1; 3], [1; 3], 16).unwrap();
    assert_eq!(bench.output()[0], 32 | 77 << 32);
}

#[test]
fn local_memory_is_each_threads_own() {
    let body = ".local .align 8 .b8 depot[32]; mov.u64 %rd1, depot; mul.wide.u32 %rd2, %t, 4; and.b64 %rd2, %rd2, 12;
        add.s64 %rd3, %rd1, %rd2; st.local.u32 [depot], 0; st.local.u32 [depot+4], 0; st.local.v2.u32 [depot+8], {0, 0};
        add.u32 %r1, %t, 7; st.local.u32 [%rd3], %r1; st.local.u8 [%rd3+1], 1; ld.local.v4.u32 {%r2,%r3,%r4,%r5}, [depot];
        ld.local.s16 %r6, [%rd3]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;
        st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r6;";
    let expected: Vec<u64> = (0..40).map(|t| 0x100 + t + 7).map(|v| v | v << 32).collect();
    assert_eq!(run(body, 40, &[]), expected);
    let doubles = ".local .align 8 .b8 depot[16]; ld.global.f64 %fd1, [%in]; st.local.f64 [depot+8], %fd1;
        ld.local.u32 %r1, [depot+12]; ld.local.f64 %fd2, [depot+8]; st.global.f64 [%out], %fd2;";
    assert_eq!(run(doubles, 33, &[X; 33]), [X; 33]);
}

#[test]
fn constants_and_host_writes_to_them() {
    use warpwatt_simt::device::Device;
    let declarations = ".const .align 4 .f32 c[4] = {0f3F800000, 2.0}; .const .u8 d = 9;";
    let body = "mul.wide.u32 %rd1, %t, 4; mov.u64 %rd2, c; add.s64 %rd2, %rd2, %rd1; ld.const.u32 %r1, [%rd2];
        ld.const.u8 %r2, [d]; ld.const.v2.u32 {%r3, %r4}, [c]; st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2;";
    let mut bench = Bench::new(&module(declarations, body), &[0; 8]);
    bench.launch([1; 3], [4, 1, 1], 0).unwrap();
    assert_eq!(bench.output()[..4], [0x3f80_0000, 0x4000_0000, 0, 0].map(|v: u64| v | 9 << 32));
    let (address, size) = bench.device.symbol("c").unwrap();
    assert_eq!(size, 16);
    bench.device.write(address + 8, &5u32.to_le_bytes()).unwrap();
    bench.launch([1; 3], [4, 1, 1], 0).unwrap();
    assert_eq!(bench.output()[2], 5 | 9 << 32);
}

#[test]
fn generic_addresses_reach_every_space_at_once() {
    let declarations = ".shared .align 4 .u32 s; .const .u32 c = 300; .global .u32 g = 400;";
    let body = ".local .align 4 .b8 l[4]; st.local.u32 [l], 100; st.shared.u32 [s], 200; bar.sync 0;
        mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; cvta.shared.u64 %rd2, s; cvta.const.u64 %rd3, c;
        cvta.global.u64 %rd4, g;
        setp.eq.u32 %p1, %t, 1; selp.b64 %rd5, %rd2, %rd1, %p1; setp.eq.u32 %p1, %t, 2; selp.b64 %rd5, %rd3, %rd5, %p1;
        setp.eq.u32 %p1, %t, 3; selp.b64 %rd5, %rd4, %rd5, %p1; ld.u32 %r1, [%rd5];
        isspacep.local %p1, %rd5; isspacep.shared %p2, %rd5; isspacep.const %p3, %rd5; isspacep.global %p4, %rd5;
        selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; selp.u32 %r4, 4, 0, %p3; selp.u32 %r5, 8, 0, %p4;
        add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;
        st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2;";
    assert_eq!(
        run_module(&module(declarations, body), 4, &[]),
        [100 | 1 << 32, 200 | 2 << 32, 300 | 4 << 32, 400 | 8 << 32]
    );
    let stores = ".local .align 4 .b8 l[4]; st.local.u32 [l], 0; st.shared.u32 [s], 0; bar.sync 0; mov.u64 %rd1, l;
        cvta.local.u64 %rd1, %rd1; cvta.shared.u64 %rd2, s; cvta.global.u64 %rd4, g;
        setp.eq.u32 %p1, %t, 1; selp.b64 %rd5, %rd2, %rd1, %p1; setp.eq.u32 %p1, %t, 2; selp.b64 %rd5, %rd4, %rd5, %p1;
        add.u32 %r1, %t, 50; st.u32 [%rd5], %r1; bar.sync 0; ld.local.u32 %r2, [l]; ld.shared.u32 %r3, [s];
        ld.global.u32 %r4, [g]; mad.lo.u32 %r2, %r3, 1000, %r2; mad.lo.u32 %r2, %r4, 1000000, %r2;
        st.global.u32 [%out], %r2;";
    assert_eq!(run_module(&module(declarations, stores), 3, &[]), [52_051_050, 52_051_000, 52_051_000]);
}

#[test]
fn parameters_lie_in_global_memory_too() {
    let body = "mov.u64 %rd1, in; cvta.param.u64 %rd1, %rd1; isspacep.param %p1, %rd1; isspacep.global %p2, %rd1;
        isspacep.local %p3, %rd1; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3;
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%out], %r1;";
    assert_eq!(run1(body, 0), 3);
}

#[test]
fn conversions_to_a_space_undo_those_from_it() {
    let body = ".local .align 4 .b8 l[16]; mov.u64 %rd1, l; add.s64 %rd1, %rd1, 4; cvta.local.u64 %rd2, %rd1;
        cvta.to.local.u64 %rd3, %rd2; sub.s64 %rd4, %rd3, %rd1; mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5;
        cvta.to.shared.u64 %rd7, %rd6; sub.s64 %rd8, %rd7, %rd5; cvta.to.global.u64 %rd9, %in; sub.s64 %rd9, %rd9, %in;
        or.b64 %rd4, %rd4, %rd8; or.b64 %rd4, %rd4, %rd9; setp.ne.s64 %p1, %rd2, %rd1; selp.u64 %rd10, 1, 0, %p1;
        add.s64 %rd4, %rd4, %rd10; st.global.u64 [%out], %rd4;";
    assert_eq!(run_module(&module(".shared .u32 s[4];", body), 1, &[])[0], 1);
}

#[test]
fn parameters_of_every_size() {
    use warpwatt_simt::device::{Arg, Device};
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u8 a,
        .param .s16 b, .param .f32 c, .param .f64 d, .param .align 4 .b8 e[12]) {
        .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %fd<3>;
        ld.param.u64 %rd1, [out]; ld.param.s8 %r1, [a]; ld.param.s16 %r2, [b]; ld.param.f32 %f1, [c];
        ld.param.f64 %fd1, [d]; ld.param.u32 %r3, [e+8]; ld.param.v2.u32 {%r4, %r5}, [e];
        st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.f32 [%rd1+8], %f1; st.global.f64 [%rd1+16], %fd1;
        st.global.u32 [%rd1+24], %r3; st.global.u32 [%rd1+28], %r5;
        mov.b64 %rd2, e; cvta.param.u64 %rd2, %rd2; ld.u32 %r6, [%rd2+4]; st.global.u32 [%rd1+32], %r6; ret; }";
    let mut device = warpwatt_simt::functional::FunctionalDevice::default();
    device.load_module("p.ptx", ptx).unwrap();
    let out = device.alloc(64).unwrap();
    let structure = [1u32, 2, 3].iter().flat_map(|v| v.to_le_bytes()).collect();
    let args = [Arg::Ptr(out), Arg::U8(0x80), Arg::U16(0xfffe), Arg::F32(1.0), Arg::F64(2.0), Arg::Bytes(structure)];
    device.launch("k", [1; 3], [1; 3], 0, &args).unwrap();
    let mut bytes = [0; 36];
    device.read(out, &mut bytes).unwrap();
    let word = |n: usize| u32::from_le_bytes(bytes[4 * n..][..4].try_into().unwrap());
    assert_eq!([word(0), word(1), word(2)], [0xffff_ff80, 0xffff_fffe, 0x3f80_0000]);
    assert_eq!([word(4), word(5), word(6), word(7), word(8)], [0, 0x4000_0000, 3, 2, 2]);
}

#[test]
fn thirty_two_bit_modules() {
    use warpwatt_simt::device::{Arg, Device};
    let ptx = ".version 2.3\n.target sm_20\n.address_size 32\n.shared .u32 s;\n.entry k(.param .u32 out) {
        .reg .u32 %r<10>; ld.param.u32 %r1, [out]; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r1, %r1, %r3;
        mov.u32 %r5, s; cvta.shared.u32 %r6, %r5; st.u32 [%r6], 40; ld.shared.u32 %r7, [%r5];
        add.u32 %r7, %r7, %r2; st.global.u32 [%r1], %r7; exit; }";
    let mut device = warpwatt_simt::functional::FunctionalDevice::default();
    device.load_module("p.ptx", ptx).unwrap();
    let out = device.alloc(64).unwrap();
    device.launch("k", [1; 3], [3, 1, 1], 0, &[Arg::Ptr(out)]).unwrap();
    let mut bytes = [0; 12];
    device.read(out, &mut bytes).unwrap();
    assert_eq!(bytes, [40, 0, 0, 0, 41, 0, 0, 0, 42, 0, 0, 0]);
}
