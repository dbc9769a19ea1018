//! `bar` and `barrier` (PTX ISA manual, `bar`): counts, partial counts, reductions, arrivals, exits.

mod harness;
use harness::*;

#[test]
fn whole_blocks_wait() {
    // Each thread reads what a thread of another warp wrote.
    for form in ["bar.sync 0", "barrier.sync 3", "barrier.sync.aligned 1", "bar.sync 15, 128"] {
        let body = format!(
            "mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1; st.shared.u32 [%r2], %t; {form};
            add.u32 %r3, %t, 33; and.b32 %r3, %r3, 127; mad.lo.u32 %r3, %r3, 4, %r1; ld.shared.u32 %r4, [%r3];
            st.global.u32 [%out], %r4;"
        );
        let out = run_module(&module(".shared .align 4 .b8 s[512];", &body), 128, &[]);
        assert_eq!(out, (0..128).map(|t| (t + 33) & 127).collect::<Vec<u64>>(), "{form}");
    }
}

#[test]
fn barrier_numbers_and_counts_in_registers() {
    let body =
        "mov.u32 %r1, 5; mov.u32 %r2, 64; st.shared.u32 [s], 0; bar.sync %r1, %r2; atom.shared.add.u32 %r3, [s], 1;
        bar.sync %r1; ld.shared.u32 %r4, [s]; st.global.u32 [%out], %r4;";
    assert_eq!(run_module(&module(".shared .u32 s;", body), 64, &[]), vec![64; 64]);
}

#[test]
fn reductions() {
    let body = |form: &str| format!("and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 1; {form} st.global.u32 [%out], %r2;");
    let all = |form: &str| {
        let out = run(&body(form), 96, &[]);
        assert!(out.iter().all(|&v| v == out[0]), "{form}: {out:?}");
        out[0]
    };
    assert_eq!(all("bar.red.popc.u32 %r2, 0, %p1;"), 24);
    assert_eq!(all("bar.red.popc.u32 %r2, 1, 96, !%p1;"), 72);
    assert_eq!(all("bar.red.or.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"), 1);
    assert_eq!(all("bar.red.and.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"), 0);
    assert_eq!(all("setp.lt.u32 %p1, %t, 96; bar.red.and.pred %p2, 0, 96, %p1; selp.u32 %r2, 1, 0, %p2;"), 1);
    assert_eq!(all("setp.gt.u32 %p1, %t, 96; barrier.red.or.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"), 0);
}

#[test]
fn only_executing_lanes_take_part_in_a_reduction() {
    let body = "mov.u32 %r2, 7; setp.lt.u32 %p1, %t, 10; setp.lt.u32 %p2, %t, 5; @%p1 bar.red.popc.u32 %r2, 0, %p2;
        st.global.u32 [%out], %r2;";
    let out = run(body, 32, &[]);
    assert_eq!(out[..10], [5; 10]);
    assert_eq!(out[10..], [7; 22]);
}

#[test]
fn producers_arrive_and_consumers_wait() {
    // Warp 0 consumes what warps 1 and 2 produce, in two rounds over two barriers.
    let body = "setp.lt.u32 %p1, %t, 32; @%p1 bra CONSUME; sub.u32 %r1, %t, 32; mov.u32 %r2, s;
        mad.lo.u32 %r2, %r1, 4, %r2; add.u32 %r3, %r1, 100; st.shared.u32 [%r2], %r3; bar.arrive 1, 96; bar.sync 2, 96;
        ld.shared.u32 %r4, [%r2]; st.global.u32 [%out], %r4; bra END;
        CONSUME: bar.sync 1, 96; mov.u32 %r2, s; mad.lo.u32 %r2, %t, 4, %r2; ld.shared.u32 %r3, [%r2];
        ld.shared.u32 %r4, [%r2+128]; add.u32 %r3, %r3, %r4; st.shared.u32 [%r2], %r3; bar.arrive 2, 96;
        st.global.u32 [%out], %r3; END:";
    let out = run_module(&module(".shared .align 4 .b8 s[256];", body), 96, &[]);
    for t in 0..32 {
        assert_eq!(out[t], 100 + t as u64 + 132 + t as u64);
        assert_eq!(out[t + 32], out[t], "warp 1 reads the sums");
        assert_eq!(out[t + 64], 132 + t as u64);
    }
}

#[test]
fn halves_of_a_block_use_barriers_of_their_own() {
    let body = "shr.u32 %r1, %t, 6; add.u32 %r1, %r1, 1; mov.u32 %r2, s; mad.lo.u32 %r3, %t, 4, %r2;
        st.shared.u32 [%r3], %t; bar.sync %r1, 64; xor.b32 %r4, %t, 32; mad.lo.u32 %r4, %r4, 4, %r2;
        ld.shared.u32 %r5, [%r4]; st.global.u32 [%out], %r5;";
    let out = run_module(&module(".shared .align 4 .b8 s[512];", body), 128, &[]);
    assert_eq!(out, (0..128).map(|t| t ^ 32).collect::<Vec<u64>>());
}

#[test]
fn warps_that_have_exited_are_not_waited_for() {
    let body = "setp.ge.u32 %p1, %t, 64; @%p1 exit; bar.sync 0; st.global.u32 [%out], 1;";
    let out = run(body, 128, &[]);
    assert_eq!(out[..64], [1; 64]);
    assert_eq!(out[64..], [0; 64]);
    // The other order: warp 3 exits after the others have arrived.
    let late = "setp.ge.u32 %p1, %t, 96; @%p1 bra LATE; bar.sync 0; st.global.u32 [%out], 1; exit;
        LATE: st.global.u32 [%out], 2;";
    let out = run(late, 128, &[]);
    assert_eq!(out[..96], [1; 96]);
    assert_eq!(out[96..], [2; 32]);
}

#[test]
fn a_partial_last_warp_counts_as_a_whole_one() {
    let body = "st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r1, [s], 1; bar.sync 0, 64;
        ld.shared.u32 %r2, [s]; st.global.u32 [%out], %r2;";
    assert_eq!(run_module(&module(".shared .u32 s;", body), 40, &[]), vec![40; 40]);
}

#[test]
fn fences_and_warp_barriers_change_nothing() {
    for form in
        ["membar.gl", "membar.cta", "membar.sys", "fence.sc.cta", "fence.acq_rel.gpu", "bar.warp.sync 0xffffffff"]
    {
        assert_eq!(run1(&format!("{form}; st.global.u32 [%out], 4;"), 0), 4, "{form}");
    }
}

#[test]
fn sleeping_gives_way() {
    // Warp 0 waits for warp 1 by polling with nanosleep.
    let body = "setp.ge.u32 %p1, %t, 32; @%p1 bra SET; WAIT: nanosleep.u32 100; ld.volatile.shared.u32 %r1, [s];
        setp.ne.u32 %p2, %r1, 9; @%p2 bra WAIT; st.global.u32 [%out], %r1; bra END; SET: st.volatile.shared.u32 [s], 9; END:";
    assert_eq!(run_module(&module(".shared .u32 s;", body), 64, &[])[31], 9);
}
