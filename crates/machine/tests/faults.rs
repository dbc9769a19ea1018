//! How runs end that do not complete: each with its place, the same for any number of threads, skipping on and off.

mod common;

use common::{Bench, gtx480, kernel, record};
use warpwatt_machine::Options;
use warpwatt_machine::stats::{Ending, RunStats};
use warpwatt_simt::device::DeviceError;

/// Runs `k` in all ways; they must end alike. Gives the statistics and the PTX.
fn failure(declarations: &str, body: &str, (ctas, block): (u32, u32), options: &Options) -> (RunStats, String) {
    let ptx = kernel(declarations, body);
    let mut first: Option<(String, RunStats)> = None;
    for (n, no_skip) in [(1, false), (2, false), (3, false), (1, true), (3, true)] {
        let mut bench = Bench::new(&gtx480(), Options { no_skip, threads: n, ..options.clone() }, &ptx, &[0; 256], 256);
        let error = bench.launch(ctas, block, 0).expect_err("it ends badly");
        let stats = bench.gpu.stats();
        assert!(matches!(&error, DeviceError::Failed(m) if !m.is_empty()), "{error}");
        let record = record(&stats);
        let (expected, _) = first.get_or_insert_with(|| (record.clone(), stats));
        assert!(record == *expected, "{n} threads, no_skip {no_skip}:\n{expected}\n{record}");
        // Nothing runs after the end.
        assert!(matches!(bench.launch(1, 32, 0), Err(DeviceError::Failed(_))));
    }
    (first.unwrap().1, ptx)
}

/// A fault on the line that contains `at`, whose message has all of `parts`.
fn fault(declarations: &str, body: &str, shape: (u32, u32), at: &str, parts: &[&str]) {
    let (stats, ptx) = failure(declarations, body, shape, &Options::default());
    let expected = ptx.lines().position(|l| l.contains(at)).unwrap() as u32 + 1;
    let Ending::Fault { message, line } = &stats.ending else { panic!("{:?}", stats.ending) };
    assert_eq!(*line, expected, "{message}");
    for part in parts.iter().copied().chain(["kernel k", &format!("PTX line {expected}")]) {
        assert!(message.contains(part), "no {part:?} in {message:?}");
    }
}

#[test]
fn out_of_bounds() {
    // Buffer b has 256 bytes: thread 64 of its CTA is the first one beyond.
    let body = "
    setp.ne.u32 %p1, %cta, 2; @%p1 bra DONE;
    mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %b, %rd1;
    st.global.u32 [%rd1], %t;
DONE:";
    let address = format!("{:#x}", 0xc000_0000u64 + 256 + 256);
    let parts = ["out-of-bounds write of 4 bytes", &address, "CTA (2,0,0)", "thread (64,0,0)"];
    fault("", body, (5, 96), "st.global.u32 [%rd1]", &parts);
}

#[test]
fn misaligned() {
    let body = "
    mul.wide.u32 %rd1, %t, 2; add.s64 %rd1, %b, %rd1;
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%b], %r1;";
    fault(
        "",
        body,
        (1, 32),
        "ld.global.u32",
        &["misaligned read of 4 bytes", "0xc0000102", "CTA (0,0,0)", "thread (1,0,0)"],
    );
}

#[test]
fn null() {
    let body = "
    sub.u32 %r1, %t, 40; mov.u64 %rd1, 16;
    setp.eq.u32 %p1, %t, 40; @%p1 red.global.add.u32 [%rd1], 1;";
    fault("", body, (1, 64), "red.global", &["null", "0x10", "thread (40,0,0)"]);
}

#[test]
fn shared_overflow() {
    let body = "
    mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;
    st.shared.u32 [%r1], %t;";
    let parts = ["out-of-bounds write", "shared memory at address 0x80", "thread (32,0,0)"];
    fault(".shared .align 4 .b8 s[128];", body, (3, 64), "st.shared", &parts);
}

#[test]
fn barrier_mismatch() {
    let body = "
    setp.ne.u32 %p1, %w, 1; @%p1 bra OTHERS;
    bar.sync 3, 64; bra DONE;
OTHERS:
    bar.sync 3, 96;
DONE:";
    let (stats, _) = failure("", body, (2, 96), &Options::default());
    let Ending::Fault { message, .. } = &stats.ending else { panic!("{:?}", stats.ending) };
    assert!(message.contains("thread count") && message.contains("CTA (0,0,0)"), "{message}");
}

#[test]
fn an_assertion_that_fails() {
    let text = |name: &str, s: &str| {
        let bytes: Vec<String> = s.bytes().chain([0]).map(|b| b.to_string()).collect();
        format!(".global .align 1 .b8 {name}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))
    };
    let declarations = text("message", "x > 0")
        + &text("file", "a.cu")
        + &text("function", "f")
        + ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);";
    let body = "
    setp.ne.u32 %p1, %t, 7; @%p1 bra DONE;
    mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
    mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; st.param.b64 [m], %rd1;
      st.param.b64 [f], %rd2; st.param.b32 [l], 12; st.param.b64 [n], %rd3; st.param.b64 [s], 1;
      call __assertfail, (m, f, l, n, s); }
DONE:";
    fault(&declarations, body, (2, 32), "call __assertfail", &["x > 0", "a.cu", "12", "CTA (0,0,0)", "thread (7,0,0)"]);
}

#[test]
fn a_trap() {
    fault(
        "",
        "    setp.eq.u32 %p1, %g, 70;\n    @%p1 trap;",
        (2, 64),
        "trap",
        &["trap", "CTA (1,0,0)", "thread (6,0,0)"],
    );
}

#[test]
fn the_earliest_fault_is_reported() {
    // CTA 7 traps soonest, though CTA 2's SM comes first and CTA 2 traps in the same window or soon after.
    for delay in [1, 2, 300] {
        let body = format!(
            "
    mov.u32 %r1, 40; setp.eq.u32 %p1, %cta, 2; @%p1 add.u32 %r1, %r1, {delay};
    setp.eq.u32 %p1, %cta, 7; setp.eq.u32 %p2, %cta, 2; or.pred %p1, %p1, %p2; @!%p1 add.u32 %r1, %r1, 5000;
LOOP:
    sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
    trap;"
        );
        fault("", &body, (12, 32), "trap", &["CTA (7,0,0)"]);
    }
    // All at the same time: the lowest SM's.
    fault("", "    trap;", (30, 32), "trap", &["CTA (0,0,0)", "thread (0,0,0)"]);
}

#[test]
fn a_fault_in_a_run_with_samples() {
    let body = "
    mov.u32 %r1, 400;
LOOP:
    sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
    ld.global.u32 %r2, [%a]; add.u32 %r2, %r2, %cta;
    setp.eq.u32 %p1, %r2, 3; @%p1 trap;";
    let (plain, _) = failure("", body, (20, 64), &Options::default());
    for sample_cycles in [97, 100] {
        let options = Options { sample_cycles: Some(sample_cycles), ..Options::default() };
        let (mut sampled, _) = failure("", body, (20, 64), &options);
        let cycles = |r: &RunStats| r.samples.iter().map(|s| s.sms[3].cycles).sum::<u64>();
        assert_eq!(cycles(&sampled), cycles(&plain));
        sampled.samples = plain.samples.clone();
        assert_eq!(record(&sampled), record(&plain));
    }
}

#[test]
fn an_infinite_loop_ends_at_the_limit_exactly() {
    for limit in [1, 800, 5003] {
        let options = Options { max_cycles: Some(limit), ..Options::default() };
        let (stats, _) = failure("", "LOOP:\n    add.u32 %r1, %r1, 1;\n    bra LOOP;", (40, 64), &options);
        assert_eq!(stats.ending, Ending::CycleLimit { cycles: limit });
        let launch = &stats.launches[0];
        assert_eq!((stats.launches.len(), launch.cycles), (1, limit));
        for sm in &stats.samples.last().unwrap().sms {
            assert_eq!(sm.cycles, limit);
        }
        assert_eq!(launch.slots.iter().sum::<u64>(), limit * 2 * 15);
    }
}

#[test]
fn the_limit_may_come_with_nothing_left_to_do_until_then() {
    // All warps sleep or wait for DRAM at the limit.
    let options = Options { max_cycles: Some(1777), ..Options::default() };
    let body = "LOOP:\n    nanosleep.u32 100000;\n    ld.volatile.global.u32 %r1, [%a];\n    bra LOOP;";
    let (stats, _) = failure("", body, (4, 32), &options);
    assert_eq!(stats.ending, Ending::CycleLimit { cycles: 1777 });
    assert!(stats.samples.iter().flat_map(|s| &s.sms).all(|sm| sm.cycles == 1777));
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let body = "
    setp.ne.u32 %p1, %w, 0; @%p1 bra OTHER;
    bar.sync 1, 64;
    bra DONE;
OTHER:
    bar.sync 2, 64;
DONE:";
    let (stats, ptx) = failure("", body, (3, 64), &Options::default());
    let Ending::Deadlock { message } = &stats.ending else { panic!("{:?}", stats.ending) };
    let line = |at: &str| format!("PTX line {}", ptx.lines().position(|l| l.contains(at)).unwrap() + 1);
    for part in
        ["deadlock", "CTA (0,0,0)", "CTA (2,0,0)", "barrier 1", "barrier 2", "waits at a barrier", "expects 2 warps"]
    {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    // A warp stands behind its barrier.
    assert!(
        message.contains(&line("bra DONE")) && message.contains(&line("DONE:").replace("DONE:", ""))
            || message.contains("PTX line"),
        "{message}"
    );
}

#[test]
fn freeing_what_is_no_live_block() {
    let heap = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);";
    let call = "{ .param .b64 p; st.param.b64 [p], %rd2;\n    call free, (p); }";
    // Thread 37 of CTA 1 frees twice; the others free what they have.
    let twice = format!(
        "
    mov.u64 %rd1, 24;
    {{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call (r), malloc, (n); ld.param.b64 %rd2, [r]; }}
    setp.eq.u32 %p1, %g, 101; @!%p1 bra ONCE;
    {{ .param .b64 p; st.param.b64 [p], %rd2; call free, (p); }}
ONCE:
    {call}"
    );
    let parts = ["free of address 0x", "CTA (1,0,0)", "thread (37,0,0)"];
    fault(heap, &twice, (2, 64), "    call free, (p); }", &parts);
    // Threads 3 and up free an address that was never one of the heap's: the first of them is to blame. The warps'
    // others, which free a null pointer, are not.
    let wrong = format!(
        "
    mov.u64 %rd2, 0; setp.lt.u32 %p1, %t, 3; @!%p1 mov.u64 %rd2, %a;
    {call}"
    );
    let parts = ["free of address 0xc0000000", "CTA (0,0,0)", "thread (3,0,0)"];
    fault(heap, &wrong, (1, 32), "    call free, (p); }", &parts);
}
