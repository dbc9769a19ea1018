//! Memory order between warps and CTAs, at 1, 2 and 3 host threads: reductions, fences, locks, tickets, flags.
//!
//! The patterns that rule 1 of the machine's design must serve: an atomic executes at its L2 partition later than it
//! issues, a store is seen by its own SM at once and by the others from the next window on.

mod common;

use common::{Bench, gtx480, kernel, longs, record, threads};

/// Runs `k` at 1, 2 and 3 threads; the words of `b` must satisfy `check`, and the runs must be the same.
fn at_all_threads(
    declarations: &str,
    body: &str,
    (ctas, block): (u32, u32),
    c: u64,
    words: usize,
    check: impl Fn(&[u32]),
) {
    let ptx = kernel(declarations, body);
    let mut first = None;
    for n in 1..=3 {
        let mut bench = Bench::new(&gtx480(), threads(n), &ptx, &longs([0; 64]), words as u64 * 4);
        bench.launch(ctas, block, c).unwrap_or_else(|e| panic!("{n} threads: {e}\n{ptx}"));
        let b = bench.b;
        let out = bench.words(b, words);
        check(&out);
        let record = record(&bench.gpu.stats());
        let (words, expected) = first.get_or_insert_with(|| (out.clone(), record.clone()));
        assert_eq!((&out, &record), (&*words, &*expected), "{n} threads");
    }
}

#[test]
fn a_reduction_then_a_load_of_the_same_word_by_the_same_warp() {
    // Each warp has a word of its own, and adds to it with all lanes: every load must see all reductions before it.
    let body = "
    shr.u32 %r1, %g, 5; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %b, %rd1; mov.u32 %r2, 0; mov.u32 %r5, 0;
ROUND:
    red.global.add.u32 [%rd1], 1;
    ld.global.u32 %r3, [%rd1];
    add.u32 %r2, %r2, 1; mul.lo.u32 %r4, %r2, 32; setp.ne.u32 %p1, %r3, %r4; @%p1 add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r2, 10; @%p1 bra ROUND;
    setp.ne.u32 %p1, %r5, 0; @%p1 st.global.u32 [%rd1], 999;";
    at_all_threads("", body, (20, 96), 0, 60, |out| assert_eq!(out, [320; 60]));
}

#[test]
fn a_reduction_then_a_load_through_another_pointer() {
    // The same word by its generic address, and as part of a vector.
    let body = "
    shr.u32 %r1, %g, 5; mul.wide.u32 %rd1, %r1, 16; add.s64 %rd1, %b, %rd1; cvta.global.u64 %rd2, %rd1;
    red.global.add.u32 [%rd1+4], 2; ld.u32 %r2, [%rd2+4];
    red.global.add.u32 [%rd1+8], 3; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];
    add.u32 %r2, %r2, %r5; atom.global.max.u32 %r7, [%rd1], %r2;";
    at_all_threads("", body, (16, 64), 0, 128, |out| {
        for word in out.chunks_exact(4) {
            assert_eq!(word, [32 * 2 + 32 * 3, 64, 96, 0]);
        }
    });
}

#[test]
fn reductions_of_all_threads_then_a_barrier_then_one_thread_reads() {
    let body = "
    mul.wide.u32 %rd1, %cta, 8; add.s64 %rd1, %b, %rd1;
    red.global.add.u32 [%rd1], %t;
    bar.sync 0;
    setp.ne.u32 %p1, %t, 0; @%p1 bra DONE;
    ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;
DONE:";
    at_all_threads("", body, (40, 256), 0, 80, |out| assert_eq!(out, [256 * 255 / 2; 80]));
}

#[test]
fn a_reduction_a_fence_and_a_flag() {
    // CTA 0: all threads reduce into word 0, fence, meet, thread 0 raises the flag; the other CTAs' threads wait for
    // it and read word 0.
    for fence in ["membar.gl;", "fence.acq_rel.gpu;"] {
        let body = format!(
            "
    setp.ne.u32 %p1, %cta, 0; @%p1 bra READER;
    red.global.add.u32 [%b], 1; {fence} bar.sync 0;
    setp.ne.u32 %p1, %t, 0; @%p1 bra DONE;
    st.volatile.global.u32 [%b+4], 1;
    bra DONE;
READER:
    ld.volatile.global.u32 %r1, [%b+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra READER;
    ld.volatile.global.u32 %r2, [%b];
    mul.wide.u32 %rd1, %g, 4; add.s64 %rd1, %b, %rd1; st.global.u32 [%rd1], %r2;
DONE:"
        );
        at_all_threads("", &body, (16, 64), 0, 16 * 64, |out| {
            assert_eq!(out[..2], [64, 1]);
            assert!(out[64..].iter().all(|&w| w == 64), "{out:?}");
        });
    }
}

#[test]
fn a_spin_lock_protects_a_counter() {
    // The lock is word 0, the counter word 1; one thread of each warp takes the lock three times.
    let body = "
    and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u32 %r2, 0;
TAKE:
    atom.global.cas.b32 %r3, [%b], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra TAKE;
    membar.gl;
    ld.volatile.global.u32 %r4, [%b+4]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%b+4], %r4;
    membar.gl;
    atom.global.exch.b32 %r5, [%b], 0;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra TAKE;
DONE:";
    at_all_threads("", body, (18, 64), 0, 2, |out| assert_eq!(out, [0, 18 * 2 * 3]));
}

#[test]
fn a_ticket_lock_serves_in_order() {
    // Words: next ticket, now serving, counter; then who had which ticket.
    let body = "
    setp.ne.u32 %p1, %t, 0; @%p1 bra DONE;
    atom.global.add.u32 %r1, [%b], 1;
WAIT:
    ld.volatile.global.u32 %r2, [%b+4]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra WAIT;
    membar.gl;
    ld.volatile.global.u32 %r3, [%b+8]; mul.wide.u32 %rd1, %r3, 4; add.s64 %rd1, %b, %rd1;
    st.global.u32 [%rd1+12], %r1; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%b+8], %r3;
    membar.gl;
    add.u32 %r2, %r2, 1; st.volatile.global.u32 [%b+4], %r2;
DONE:";
    at_all_threads("", body, (40, 32), 0, 43, |out| {
        assert_eq!(out[..3], [40, 40, 40]);
        assert!(out[3..].iter().copied().eq(0..40), "{out:?}");
    });
}

#[test]
fn a_producer_and_a_consumer() {
    // CTA 0 fills a slot for CTA 1 and raises its flag; CTA 1 reads the slot and takes the flag down again.
    let body = "
    setp.ne.u32 %p1, %t, 0; @%p1 bra DONE; mov.u32 %r1, 0; mov.u32 %r9, 0;
    setp.ne.u32 %p1, %cta, 0; @%p1 bra CONSUME;
PRODUCE:
    ld.volatile.global.u32 %r2, [%b]; setp.ne.u32 %p1, %r2, 0; @%p1 bra PRODUCE;
    mad.lo.u32 %r3, %r1, %r1, 7; st.global.u32 [%b+128], %r3;
    membar.gl;
    st.volatile.global.u32 [%b], 1;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 12; @%p1 bra PRODUCE;
    bra DONE;
CONSUME:
    ld.volatile.global.u32 %r2, [%b]; setp.eq.u32 %p1, %r2, 0; @%p1 bra CONSUME;
    membar.gl;
    ld.volatile.global.u32 %r3, [%b+128]; mad.lo.u32 %r9, %r9, 3, %r3;
    membar.gl;
    st.volatile.global.u32 [%b], 0;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 12; @%p1 bra CONSUME;
    st.global.u32 [%b+64], %r9;
DONE:";
    let expected = (0..12).fold(0u32, |sum, i| sum * 3 + i * i + 7);
    at_all_threads("", body, (2, 32), 0, 64, |out| assert_eq!((out[0], out[16]), (0, expected)));
}

#[test]
fn stores_of_two_sms_to_one_word_leave_one_of_them_whole() {
    let body = "mad.lo.u32 %r1, %cta, 65537, 257; st.global.u32 [%b], %r1; st.global.u32 [%b+4], %r1;";
    at_all_threads("", body, (15, 32), 0, 2, |out| {
        for &word in out {
            assert!((0..15).any(|cta| word == cta * 65537 + 257), "{word:#x} is nobody's");
        }
    });
}

const HEAP: &str = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);";

#[test]
fn many_warps_allocate_and_free() {
    // Each thread of the first CTAs' warps takes a block, fills it, checks it after a barrier, and gives it back.
    let body = "
    mov.u32 %r9, 0; mov.u32 %r10, 0;
ROUND:
    and.b32 %r1, %t, 3; add.u32 %r1, %r1, 1; mul.lo.u32 %r1, %r1, 16; cvt.u64.u32 %rd1, %r1;
    { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call (r), malloc, (n); ld.param.b64 %rd2, [r]; }
    setp.eq.u64 %p1, %rd2, 0; @%p1 bra FAIL;
    add.u32 %r2, %g, %r9; st.u32 [%rd2], %r2; st.u32 [%rd2+12], %r2;
    bar.sync 0;
    ld.u32 %r3, [%rd2]; ld.u32 %r4, [%rd2+12];
    setp.ne.u32 %p1, %r3, %r2; @%p1 bra FAIL; setp.ne.u32 %p1, %r4, %r2; @%p1 bra FAIL;
    { .param .b64 p; st.param.b64 [p], %rd2; call free, (p); }
    add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra ROUND;
    mov.u32 %r10, 1;
FAIL:
    mul.wide.u32 %rd1, %g, 4; add.s64 %rd1, %b, %rd1; st.global.u32 [%rd1], %r10;";
    at_all_threads(HEAP, body, (18, 64), 0, 18 * 64, |out| assert!(out.iter().all(|&w| w == 1)));
}

#[test]
fn printed_text_has_one_order() {
    let declarations = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[14] = {67, 84, 65, 32, 37, 100, 32, 116, 32, 37, 100, 10, 0, 0};";
    let body = "
    .local .align 8 .b8 args[8]; mov.u64 %rd1, args; cvta.local.u64 %rd2, %rd1;
    st.local.u32 [%rd1], %cta; st.local.u32 [%rd1+4], %t; mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3;
    and.b32 %r1, %t, 15; setp.ne.u32 %p1, %r1, 5; @%p1 bra DONE;
    { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd3; st.param.b64 [a], %rd2;
      call (r), vprintf, (f, a); ld.param.b32 %r2, [r]; }
DONE:";
    let ptx = kernel(declarations, body);
    let mut first: Option<Vec<String>> = None;
    for n in 1..=3 {
        let mut bench = Bench::new(&gtx480(), threads(n), &ptx, &[0; 8], 8);
        bench.launch(20, 64, 0).unwrap();
        let printed = bench.gpu.stats().printed;
        let mut sorted = printed.clone();
        sorted.sort();
        let mut expected: Vec<String> =
            (0..20).flat_map(|cta| [5, 21, 37, 53].map(|t| format!("CTA {cta} t {t}\n"))).collect();
        expected.sort();
        assert_eq!(sorted, expected);
        assert_eq!(first.get_or_insert_with(|| printed.clone()), &printed, "{n} threads");
    }
}
