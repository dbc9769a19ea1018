//! Control flow: divergence and reconvergence, loops, irreducible graphs, branch lists, exits.

mod harness;
use harness::*;

/// Runs 64 threads and compares each with a scalar model.
fn check(body: &str, model: impl Fn(u32) -> u32) {
    let out = run(body, 64, &[]);
    for (t, &value) in out.iter().enumerate() {
        assert_eq!(value as u32, model(t as u32), "thread {t} of\n{body}");
    }
}

#[test]
fn nested_branches_part_and_meet() {
    let body = "mov.u32 %r1, 0; and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
        and.b32 %r3, %t, 2; setp.eq.u32 %p2, %r3, 0; @%p2 bra ODD0; add.u32 %r1, %r1, 1000; bra MEET1;
        ODD0: add.u32 %r1, %r1, 100; MEET1: add.u32 %r1, %r1, 7; bra MEET;
        EVEN: setp.gt.u32 %p3, %t, 15; @!%p3 bra SMALL; add.u32 %r1, %r1, 5; SMALL: add.u32 %r1, %r1, 1;
        MEET: activemask.b32 %r4; popc.b32 %r4, %r4; mad.lo.u32 %r1, %r4, 10000, %r1; st.global.u32 [%out], %r1;";
    check(body, |t| {
        let v = match (t & 1, t & 2) {
            (0, _) => 1 + if t > 15 { 5 } else { 0 },
            (_, 0) => 107,
            _ => 1007,
        };
        // All 32 lanes are together again.
        v + 320_000
    });
}

#[test]
fn loops_that_lanes_leave_at_different_times() {
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 0; LOOP: setp.ge.u32 %p1, %r2, %t; @%p1 bra DONE; add.u32 %r1, %r1, %r2;
        add.u32 %r2, %r2, 1; bra LOOP; DONE: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r1, %r3, 10000, %r1;
        st.global.u32 [%out], %r1;";
    check(body, |t| (0..t).sum::<u32>() + 320_000);
}

#[test]
fn breaks_and_continues() {
    // for (i = 0; i < 20; i++) { if (i % 3 == t % 3) continue; if (i > t) break; s += i; }
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 0; rem.u32 %r9, %t, 3;
        LOOP: setp.ge.u32 %p1, %r2, 20; @%p1 bra DONE; rem.u32 %r3, %r2, 3; setp.eq.u32 %p2, %r3, %r9; @%p2 bra NEXT;
        setp.gt.u32 %p3, %r2, %t; @%p3 bra DONE; add.u32 %r1, %r1, %r2; NEXT: add.u32 %r2, %r2, 1; bra LOOP;
        DONE: st.global.u32 [%out], %r1;";
    check(body, |t| {
        let mut s = 0;
        for i in 0..20 {
            if i % 3 == t % 3 {
                continue;
            }
            if i > t {
                break;
            }
            s += i;
        }
        s
    });
}

#[test]
fn nested_loops_with_different_counts() {
    let body = "mov.u32 %r1, 0; and.b32 %r8, %t, 7; mov.u32 %r2, 0;
        OUTER: setp.ge.u32 %p1, %r2, %r8; @%p1 bra DONE; mov.u32 %r3, 0; add.u32 %r9, %r2, 3;
        INNER: add.u32 %r1, %r1, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r9; @%p2 bra INNER;
        add.u32 %r2, %r2, 1; bra OUTER; DONE: st.global.u32 [%out], %r1;";
    check(body, |t| (0..t & 7).map(|i| i + 3).sum());
}

#[test]
fn irreducible_graphs() {
    // Odd threads jump into the middle of the loop.
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 0; and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 1; @%p1 bra B;
        A: add.u32 %r1, %r1, 1; B: add.u32 %r1, %r1, 10; add.u32 %r2, %r2, 1; and.b32 %r4, %t, 3;
        setp.le.u32 %p2, %r2, %r4; @%p2 bra A; st.global.u32 [%out], %r1;";
    check(body, |t| {
        let n = (t & 3) + 1;
        10 * n + if t & 1 == 1 { n - 1 } else { n }
    });
    // Two loops with two entries each, crossing.
    let crossing = "mov.u32 %r1, 0; mov.u32 %r2, 0; and.b32 %r3, %t, 3; setp.eq.u32 %p1, %r3, 0; @%p1 bra X;
        setp.eq.u32 %p1, %r3, 1; @%p1 bra Y; bra Z;
        X: add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, 12; @%p3 bra END; xor.b32 %r4, %r2, %t;
        and.b32 %r4, %r4, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra Z;
        Y: add.u32 %r1, %r1, 100; add.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, 12; @%p3 bra END; xor.b32 %r4, %r2, %t;
        and.b32 %r4, %r4, 2; setp.eq.u32 %p2, %r4, 0; @%p2 bra X;
        Z: add.u32 %r1, %r1, 10000; add.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, 12; @%p3 bra END; bra Y;
        END: st.global.u32 [%out], %r1;";
    check(crossing, |t| {
        let (mut sum, mut n) = (0, 0);
        let mut at = match t & 3 {
            0 => 'x',
            1 => 'y',
            _ => 'z',
        };
        loop {
            sum += match at {
                'x' => 1,
                'y' => 100,
                _ => 10000,
            };
            n += 1;
            if n > 12 {
                return sum;
            }
            at = match at {
                'x' => {
                    if (n ^ t) & 1 == 0 {
                        'z'
                    } else {
                        'y'
                    }
                }
                'y' => {
                    if (n ^ t) & 2 == 0 {
                        'x'
                    } else {
                        'z'
                    }
                }
                _ => 'y',
            };
        }
    });
}

#[test]
fn exits_in_divergent_code() {
    let body = "st.global.u32 [%out], 1; and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; @%p1 exit;
        setp.eq.u32 %p1, %r1, 1; @%p1 bra OUT; st.global.u32 [%out], 2; activemask.b32 %r2; popc.b32 %r2, %r2;
        setp.eq.u32 %p2, %r1, 2; @%p2 ret; st.global.u32 [%out], %r2; ret; OUT: st.global.u32 [%out], 3; exit;";
    check(body, |t| [1, 3, 2, 16][t as usize & 3]);
}

#[test]
fn a_kernel_may_fall_off_its_end() {
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {
        .reg .b64 %rd1; .reg .pred %p; .reg .b32 %r; ld.param.u64 %rd1, [out]; mov.u32 %r, %tid.x;
        setp.eq.u32 %p, %r, 1; @%p bra END; st.global.u32 [%rd1], 9; END: }";
    assert_eq!(run_module(ptx, 2, &[])[0], 9);
}

#[test]
fn branches_through_a_list() {
    let body = "and.b32 %r1, %t, 3; TS: .branchtargets L0, L1, L2, L1; mov.u32 %r2, 5; brx.idx %r1, TS;
        L0: mov.u32 %r2, 10; bra MEET; L1: mov.u32 %r2, 20; bra MEET; L2: mov.u32 %r2, 30; bra MEET;
        MEET: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 100, %r2; st.global.u32 [%out], %r2;";
    check(body, |t| [10, 20, 30, 20][t as usize & 3] + 3200);
    let guarded = "setp.gt.u32 %p1, %t, 9; and.b32 %r1, %t, 1; TS: .branchtargets L0, L1; @%p1 brx.idx %r1, TS;
        mov.u32 %r2, 1; bra MEET; L0: mov.u32 %r2, 2; bra MEET; L1: mov.u32 %r2, 3; MEET: st.global.u32 [%out], %r2;";
    check(guarded, |t| if t > 9 { 2 + (t & 1) } else { 1 });
}

#[test]
fn guards_that_no_lane_passes() {
    let body = "setp.gt.u32 %p1, %t, 1000; mov.u32 %r1, 3; @%p1 mov.u32 %r1, 4; @%p1 st.global.u32 [%out], 9;
        @%p1 bra NEVER; @%p1 trap; st.global.u32 [%out], %r1; ret; NEVER: st.global.u32 [%out], 8;";
    check(body, |_| 3);
}

#[test]
fn instructions_are_counted_as_issued_and_as_executed() {
    let body = "setp.eq.u32 %p1, %t, 0; @%p1 add.u32 %r1, %t, 1; @!%p1 add.u32 %r1, %t, 2;";
    let mut bench = Bench::new(&module("", body), &[0; 8]);
    bench.launch([2, 1, 1], [40, 1, 1], 0).unwrap();
    let counts = bench.device.counts();
    // Prelude 6, body 3, ret 1; two CTAs of two warps.
    assert_eq!(counts.warp_instructions, 4 * 10);
    assert_eq!(counts.thread_instructions, 2 * 40 * (6 + 1 + 1 + 1));
}
