//! Calls: parameter storage, register parameters, recursion, indirect calls, exits inside functions.

mod harness;
use harness::*;

fn check(declarations: &str, body: &str, model: impl Fn(u32) -> u32) {
    let out = run_module(&module(declarations, body), 64, &[]);
    for (t, &value) in out.iter().enumerate() {
        assert_eq!(value as u32, model(t as u32), "thread {t} of\n{body}");
    }
}

const SQUARE: &str = ".func (.param .b32 result) square(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x];
    mul.lo.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }";

#[test]
fn direct_calls_with_parameter_storage() {
    let body =
        "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %t; call.uni (q), square, (p); ld.param.b32 %r1, [q]; }
        st.global.u32 [%out], %r1;";
    check(SQUARE, body, |t| t * t);
}

#[test]
fn a_guarded_call_is_made_by_some_lanes() {
    let body = ".param .b32 p; .param .b32 q; mov.u32 %r1, 5; and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1;
        st.param.b32 [p], %t; st.param.b32 [q], %r1; @%p1 call (q), square, (p); ld.param.b32 %r1, [q];
        st.global.u32 [%out], %r1;";
    check(SQUARE, body, |t| if t & 1 == 1 { t * t } else { 5 });
}

#[test]
fn register_parameters_of_old_files() {
    let declarations = ".func (.reg .u32 %rv, .reg .pred %pv) f(.reg .u32 %ra, .reg .u64 %rb, .reg .pred %pa)
        { .reg .u32 %x; cvt.u32.u64 %x, %rb; add.u32 %rv, %ra, %x; @%pa add.u32 %rv, %rv, 1000; not.pred %pv, %pa; ret; }";
    let body = "cvt.u64.u32 %rd1, %t; setp.gt.u32 %p1, %t, 40; call (%r1, %p2), f, (%t, %rd1, %p1);
        @%p2 add.u32 %r1, %r1, 5; st.global.u32 [%out], %r1;";
    check(declarations, body, |t| 2 * t + if t > 40 { 1000 } else { 5 });
}

#[test]
fn structures_are_passed_by_value() {
    let declarations =
        ".func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[16]) { .reg .b64 %rd<4>; .reg .b32 %r<4>;
        ld.param.u32 %r1, [s+4]; ld.param.u32 %r2, [s]; st.param.v2.b32 [r], {%r1, %r2}; ld.param.u64 %rd2, [s+8];
        mov.b64 %rd1, s; add.s64 %rd1, %rd1, 8; ld.param.u64 %rd3, [%rd1]; add.s64 %rd2, %rd2, %rd3;
        st.param.b64 [r+8], %rd2; ret; }";
    let body = ".param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; add.u32 %r1, %t, 100; st.param.b32 [a], %t;
        st.param.b32 [a+4], %r1; cvt.u64.u32 %rd1, %t; st.param.b64 [a+8], %rd1; call (b), swap, (a);
        ld.param.b32 %r2, [b]; ld.param.b32 %r3, [b+4]; ld.param.b64 %rd2, [b+8]; cvt.u32.u64 %r4, %rd2;
        mad.lo.u32 %r2, %r3, 1000, %r2; mad.lo.u32 %r2, %r4, 100000, %r2; st.global.u32 [%out], %r2;";
    check(declarations, body, |t| t + 100 + t * 1000 + 2 * t * 100_000);
}

#[test]
fn recursion_keeps_each_frames_registers() {
    // fib(n) with different depths in the lanes of a warp.
    let declarations =
        ".func (.param .b32 r) fib(.param .b32 n) { .reg .b32 %r<9>; .reg .pred %p; .local .align 4 .b8 l[4];
        ld.param.b32 %r1, [n]; st.local.u32 [l], %r1; setp.lt.u32 %p, %r1, 2; @%p bra BASE; sub.u32 %r2, %r1, 1;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r3, [b]; }
        ld.local.u32 %r1, [l]; sub.u32 %r4, %r1, 2;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call (b), fib, (a); ld.param.b32 %r5, [b]; }
        add.u32 %r1, %r3, %r5; BASE: st.param.b32 [r], %r1; ret; }";
    let body = ".param .b32 p; .param .b32 q; and.b32 %r1, %t, 7; st.param.b32 [p], %r1; call (q), fib, (p);
        ld.param.b32 %r2, [q]; activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 100, %r2;
        st.global.u32 [%out], %r2;";
    check(declarations, body, |t| [0, 1, 1, 2, 3, 5, 8, 13][t as usize & 7] + 3200);
}

#[test]
fn mutual_recursion() {
    let declarations = ".func (.param .b32 r) odd(.param .b32 n);
        .func (.param .b32 r) even(.param .b32 n) { .reg .b32 %r<4>; .reg .pred %p; .param .b32 a; .param .b32 b;
            ld.param.b32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p bra BASE; sub.u32 %r1, %r1, 1; st.param.b32 [a], %r1;
            call (b), odd, (a); ld.param.b32 %r2, [b]; st.param.b32 [r], %r2; ret; BASE: st.param.b32 [r], 1; ret; }
        .func (.param .b32 r) odd(.param .b32 n) { .reg .b32 %r<4>; .reg .pred %p; .param .b32 a; .param .b32 b;
            ld.param.b32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p bra BASE; sub.u32 %r1, %r1, 1; st.param.b32 [a], %r1;
            call (b), even, (a); ld.param.b32 %r2, [b]; st.param.b32 [r], %r2; ret; BASE: st.param.b32 [r], 0; ret; }";
    let body = ".param .b32 p; .param .b32 q; st.param.b32 [p], %t; call (q), even, (p); ld.param.b32 %r2, [q];
        st.global.u32 [%out], %r2;";
    check(declarations, body, |t| (t % 2 == 0) as u32);
}

const THREE: &str = ".func (.param .b32 r) f0(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1;
        st.param.b32 [r], %r; ret; }
    .func (.param .b32 r) f1(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, 2;
        st.param.b32 [r], %r; ret; }
    .func (.param .b32 r) f2(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, 3;
        st.param.b32 [r], %r; ret; }";

#[test]
fn indirect_calls_through_a_table_part_by_target() {
    let declarations = format!("{THREE} .global .align 8 .u64 table[3] = {{f0, f1, f2}};");
    let body = ".param .b32 p; .param .b32 q; rem.u32 %r1, %t, 3; mul.wide.u32 %rd1, %r1, 8; mov.u64 %rd2, table;
        add.s64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2]; st.param.b32 [p], %t;
        P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %rd3, (p), P; ld.param.b32 %r2, [q];
        activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 1000, %r2; st.global.u32 [%out], %r2;";
    check(&declarations, body, |t| [t + 1, 2 * t, 3 * t][t as usize % 3] + 32_000);
}

#[test]
fn indirect_calls_through_a_moved_address_with_targets() {
    let body = ".param .b32 p; .param .b32 q; mov.u64 %rd1, f1; mov.u64 %rd2, f2; setp.gt.u32 %p1, %t, 20;
        selp.b64 %rd3, %rd1, %rd2, %p1; st.param.b32 [p], %t; TS: .calltargets f1, f2; call (q), %rd3, (p), TS;
        ld.param.b32 %r2, [q]; st.global.u32 [%out], %r2;";
    check(THREE, body, |t| if t > 20 { 2 * t } else { 3 * t });
}

#[test]
fn functions_that_return_lane_by_lane_and_that_exit() {
    let declarations = ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [x];
        and.b32 %r2, %r1, 3; setp.eq.u32 %p, %r2, 0; @%p bra ZERO; setp.eq.u32 %p, %r2, 1; @%p exit;
        setp.eq.u32 %p, %r2, 2; st.param.b32 [r], 22; @%p ret; st.param.b32 [r], 33; ret;
        ZERO: st.param.b32 [r], 11; ret; }";
    let body = "st.global.u32 [%out], 5; .param .b32 p; .param .b32 q; st.param.b32 [p], %t; call (q), f, (p);
        ld.param.b32 %r2, [q]; activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 100, %r2;
        st.global.u32 [%out], %r2;";
    check(declarations, body, |t| [2411, 5, 2422, 2433][t as usize & 3]);
}

#[test]
fn functions_use_shared_memory_and_barriers() {
    let declarations = ".shared .align 4 .b8 s[256]; .func rotate(.param .b64 unused) { .reg .b32 %r<6>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.sync 0;
        add.u32 %r4, %r1, 1; and.b32 %r4, %r4, 63; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, [%r4]; bar.sync 0;
        st.shared.u32 [%r3], %r5; bar.sync 0; ret; }";
    let body = ".param .b64 p; st.param.b64 [p], 0; call rotate, (p); mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;
        ld.shared.u32 %r2, [%r1]; st.global.u32 [%out], %r2;";
    check(declarations, body, |t| (t + 1) & 63);
}
