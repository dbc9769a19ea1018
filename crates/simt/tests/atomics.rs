//! `atom` and `red` on every space and type (PTX ISA manual, `atom`, `red`).

mod harness;
use harness::*;

/// `op` on a global word that holds `initial`, by one thread with `operand` (32 bits); old and new value.
fn on_global(op: &str, initial: u32, operand: u32) -> [u32; 2] {
    let declarations = format!(".global .u32 g = {initial};");
    let body = format!(
        "mov.u32 %r1, {operand}; atom.global.{op} %r2, [g], %r1; ld.global.u32 %r3, [g];
        st.global.v2.u32 [%out], {{%r2, %r3}};"
    );
    let out = run_module(&module(&declarations, &body), 1, &[])[0];
    [out as u32, (out >> 32) as u32]
}

fn on_shared(op: &str, initial: u32, operand: u32) -> [u32; 2] {
    let body = format!(
        "st.shared.u32 [s], {initial}; mov.u32 %r1, {operand}; atom.shared.{op} %r2, [s], %r1;
        ld.shared.u32 %r3, [s]; st.global.v2.u32 [%out], {{%r2, %r3}};"
    );
    let out = run_module(&module(".shared .align 4 .u32 s;", &body), 1, &[])[0];
    [out as u32, (out >> 32) as u32]
}

/// The same through a generic address into shared memory.
fn on_generic(op: &str, initial: u32, operand: u32) -> [u32; 2] {
    let body = format!(
        "st.shared.u32 [s], {initial}; mov.u32 %r1, {operand}; cvta.shared.u64 %rd1, s;
        atom.{op} %r2, [%rd1], %r1; ld.shared.u32 %r3, [s]; st.global.v2.u32 [%out], {{%r2, %r3}};"
    );
    let out = run_module(&module(".shared .align 4 .u32 s;", &body), 1, &[])[0];
    [out as u32, (out >> 32) as u32]
}

#[test]
fn operations_on_32_bits() {
    let minus = |v: u32| v.wrapping_neg();
    let cases = [
        ("add.u32", 5, 7, 12),
        ("add.s32", minus(5), 3, minus(2)),
        ("min.u32", 5, minus(1), 5),
        ("min.s32", 5, minus(1), minus(1)),
        ("max.u32", 5, minus(1), minus(1)),
        ("max.s32", 5, minus(1), 5),
        ("and.b32", 0b1100, 0b1010, 0b1000),
        ("or.b32", 0b1100, 0b1010, 0b1110),
        ("xor.b32", 0b1100, 0b1010, 0b0110),
        ("inc.u32", 5, 5, 0),
        ("inc.u32", 4, 5, 5),
        ("dec.u32", 0, 5, 5),
        ("dec.u32", 3, 5, 2),
        ("dec.u32", 9, 5, 5),
        ("exch.b32", 1, 2, 2),
    ];
    for (op, initial, operand, new) in cases {
        assert_eq!(on_global(op, initial, operand), [initial, new], "{op} global");
        assert_eq!(on_shared(op, initial, operand), [initial, new], "{op} shared");
        assert_eq!(on_generic(op, initial, operand), [initial, new], "{op} generic");
    }
    assert_eq!(on_global("sys.add.u32", 1, 1), [1, 2]);
}

#[test]
fn floats() {
    let bits = f32::to_bits;
    let body = |space: &str, target: &str| {
        format!(
            "ld.global.f32 %f1, [%in]; atom.{space}add.f32 %f2, [{target}], %f1;
        ld.{space}f32 %f3, [{target}]; st.global.v2.f32 [%out], {{%f2, %f3}};"
        )
    };
    let declarations = ".global .align 4 .f32 g = 0f3FC00000; .shared .align 4 .f32 s;";
    let run = |b: &str, input: u32| run_module(&module(declarations, b), 1, &[input as u64])[0];
    assert_eq!(run(&body("global.", "g"), bits(2.25)), bits(1.5) as u64 | (bits(3.75) as u64) << 32);
    let shared = format!("st.shared.u32 [s], 1; {}", body("shared.", "s"));
    // Shared memory keeps subnormals, global memory flushes them.
    assert_eq!(run(&shared, 1), 1 | 2 << 32);
    let global = format!("st.global.u32 [g], 1; {}", body("global.", "g"));
    assert_eq!(run(&global, 1), 1);
}

#[test]
fn sixty_four_bits() {
    let run64 = |op: &str, initial: u64, operand: u64| {
        let body = format!(
            "ld.global.u64 %rd1, [%in]; atom.global.{op} %rd2, [g], %rd1; ld.global.u64 %rd3, [g];
            st.global.u64 [%out], %rd3; setp.ne.u64 %p1, %rd2, {}; @%p1 trap;",
            initial as i64
        );
        run_module(&module(&format!(".global .align 8 .u64 g = {initial};"), &body), 1, &[operand])[0]
    };
    assert_eq!(run64("add.u64", u64::MAX, 2), 1);
    assert_eq!(run64("min.s64", 1, u64::MAX), u64::MAX);
    assert_eq!(run64("max.u64", 1, u64::MAX), u64::MAX);
    assert_eq!(run64("and.b64", 0xff00, 0x0ff0), 0x0f00);
    assert_eq!(run64("exch.b64", 1, 1 << 50), 1 << 50);
    let body = "ld.global.f64 %fd1, [%in]; atom.shared.add.f64 %fd2, [s], %fd1; atom.shared.add.f64 %fd3, [s], %fd1;
        st.global.f64 [%out], %fd3;";
    let body = format!("st.shared.u64 [s], 0; {body}");
    assert_eq!(run_module(&module(".shared .align 8 .f64 s;", &body), 1, &[1.5f64.to_bits()])[0], 1.5f64.to_bits());
}

#[test]
fn compare_and_swap() {
    let body = "mov.u32 %r1, 5; mov.u32 %r2, 9; atom.global.cas.b32 %r3, [g], %r1, %r2;
        atom.global.cas.b32 %r4, [g], %r1, %r2; st.global.v2.u32 [%out], {%r3, %r4};";
    assert_eq!(run_module(&module(".global .u32 g = 5;", body), 1, &[])[0], 5 | 9 << 32);
    let wide = "mov.u64 %rd1, 5; mov.u64 %rd2, 9; atom.global.cas.b64 %rd3, [g], %rd1, %rd2;
        ld.global.u64 %rd4, [g]; st.global.u64 [%out], %rd4;";
    assert_eq!(run_module(&module(".global .align 8 .u64 g = 5;", wide), 1, &[])[0], 9);
}

#[test]
fn lanes_take_their_turns() {
    let body = "atom.global.add.u32 %r1, [g], 1; st.global.u32 [%out], %r1;";
    assert_eq!(run_module(&module(".global .u32 g = 0;", body), 40, &[]), (0..40).collect::<Vec<_>>());
    // Only lanes whose guard holds.
    let guarded = "mov.u32 %r1, 99; and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1;
        @%p1 atom.shared.add.u32 %r1, [s], 10; st.global.u32 [%out], %r1;";
    let guarded = format!("st.shared.u32 [s], 0; bar.sync 0; {guarded}");
    assert_eq!(run_module(&module(".shared .u32 s;", &guarded), 4, &[]), [99, 0, 99, 10]);
}

#[test]
fn reductions_and_results_that_no_one_wants() {
    let body = "red.global.add.u32 [g], %t; red.global.max.s32 [g+4], %t; atom.global.add.u32 _, [g+8], 2;
        red.shared.or.b32 [s], %t; bar.sync 0; ld.global.u32 %r1, [g]; ld.global.u32 %r2, [g+4];
        ld.global.u32 %r3, [g+8]; ld.shared.u32 %r4, [s]; mad.lo.u32 %r1, %r2, 1000, %r1;
        mad.lo.u32 %r1, %r3, 1000000, %r1; st.global.v2.u32 [%out], {%r1, %r4};";
    let body = format!("st.shared.u32 [s], 0; bar.sync 0; {body}");
    let out = run_module(&module(".global .u32 g[3]; .shared .u32 s;", &body), 8, &[]);
    assert_eq!(out[3], (28 + 7 * 1000 + 16 * 1_000_000) | 7 << 32);
}

#[test]
fn scopes_and_orders_are_accepted() {
    for form in
        ["global.gpu.acq_rel.add.u32", "relaxed.cta.add.u32", "add.release.gpu.u32", "acquire.sys.global.add.u32"]
    {
        let body = format!(
            "mov.u64 %rd1, g; atom.{form} %r1, [%rd1], 3; ld.global.u32 %r2, [g];
            st.global.u32 [%out], %r2;"
        );
        assert_eq!(run_module(&module(".global .u32 g = 4;", &body), 1, &[])[0], 7, "{form}");
    }
}

#[test]
fn one_generic_atomic_may_touch_shared_and_global_memory() {
    let body = "st.shared.u32 [s], 100; bar.sync 0; cvta.shared.u64 %rd1, s; mov.u64 %rd2, g; and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 1; selp.b64 %rd3, %rd1, %rd2, %p1; atom.add.u32 %r2, [%rd3], 1; st.global.u32 [%out], %r2;";
    let ptx = module(".global .u32 g = 7; .shared .u32 s;", body);
    assert_eq!(run_module(&ptx, 4, &[]), [7, 100, 8, 101]);
}

#[test]
fn a_lock_between_blocks_is_passed_on() {
    // One thread per CTA takes the lock, adds one without an atomic, and gives it back.
    let body = "TAKE: atom.global.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TAKE;
        membar.gl; ld.volatile.global.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [count], %r2;
        membar.gl; atom.global.exch.b32 %r1, [lock], 0;";
    use warpwatt_simt::device::Device;
    let mut bench = Bench::new(&module(".global .u32 lock; .global .u32 count;", body), &[0; 8]);
    bench.launch([100, 1, 1], [1, 1, 1], 0).unwrap();
    let (address, _) = bench.device.symbol("count").unwrap();
    let mut bytes = [0; 4];
    bench.device.read(address, &mut bytes).unwrap();
    assert_eq!(u32::from_le_bytes(bytes), 100);
}

#[test]
fn a_block_may_wait_for_a_later_one() {
    // CTA 0 spins until CTA 7 has set the flag: all of them must be resident and make progress.
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 7; @%p1 bra SET; setp.ne.u32 %p2, %r1, 0; @%p2 ret;
        WAIT: ld.volatile.global.u32 %r2, [flag]; setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT;
        st.global.u32 [%out], %r2; ret; SET: st.volatile.global.u32 [flag], 5;";
    let mut bench = Bench::new(&module(".global .u32 flag;", body), &[0; 8]);
    bench.launch([8, 1, 1], [1, 1, 1], 0).unwrap();
    assert_eq!(bench.output()[0], 5);
}
