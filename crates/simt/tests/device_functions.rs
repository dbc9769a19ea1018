//! What the device provides: `vprintf`, `__assertfail`, `malloc`, `free`.

mod harness;
use harness::*;
use warpwatt_simt::fault::FaultKind;

/// A byte array with a zero-terminated text.
fn text(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().chain([0]).map(|b| b.to_string()).collect();
    format!(".global .align 1 .b8 {name}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))
}

const VPRINTF: &str = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";

/// What threads print with a format and arguments that `fill` puts into the buffer `args`.
fn printed(format: &str, fill: &str, threads: u32) -> (Vec<String>, Vec<u64>) {
    let declarations = format!("{VPRINTF}{}{}", text("format", format), text("word", "abc"));
    let body = format!(
        ".local .align 8 .b8 args[64]; .param .b64 p0; .param .b64 p1; .param .b32 q; {fill}
        mov.u64 %rd1, format; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, args; cvta.local.u64 %rd2, %rd2;
        st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r9, [q];
        st.global.u32 [%out], %r9;"
    );
    let mut bench = Bench::new(&module(&declarations, &body), &[0; 8]);
    bench.launch([1; 3], [threads, 1, 1], 0).unwrap_or_else(|e| panic!("{e}"));
    let texts = bench.device.printed().iter().map(|p| p.text.clone()).collect();
    (texts, bench.output()[..threads as usize].to_vec())
}

#[test]
fn texts_come_in_order_of_the_lanes() {
    let fill = "st.local.u32 [args], %t; mov.u64 %rd5, word; cvta.global.u64 %rd5, %rd5; st.local.u64 [args+8], %rd5;
        mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [args+16], %fd1; st.local.u32 [args+24], 65;";
    let (texts, results) = printed("%d %s %.2f %c|%%\n", fill, 3);
    assert_eq!(texts, ["0 abc 1.50 A|%\n", "1 abc 1.50 A|%\n", "2 abc 1.50 A|%\n"]);
    assert_eq!(results, [4, 4, 4]);
}

#[test]
fn sixty_four_bit_arguments_are_aligned() {
    let fill = "st.local.u32 [args], 1; mov.u64 %rd5, -2; st.local.u64 [args+8], %rd5; st.local.u32 [args+16], 3;";
    assert_eq!(printed("%u %lld %x", fill, 1).0, ["1 -2 3"]);
    assert_eq!(printed("nothing", "", 1).0, ["nothing"]);
}

#[test]
fn a_print_says_who_printed() {
    let declarations = format!("{VPRINTF}{}", text("format", "x"));
    let body = ".param .b64 p0; .param .b64 p1; .param .b32 q; setp.eq.u32 %p1, %t, 33; cvta.global.u64 %rd1, format;
        st.param.b64 [p0], %rd1; st.param.b64 [p1], 0; @%p1 call (q), vprintf, (p0, p1);";
    let mut bench = Bench::new(&module(&declarations, body), &[0; 8]);
    bench.launch([2, 1, 1], [40, 1, 1], 0).unwrap();
    let who: Vec<(u64, u32)> = bench.device.printed().iter().map(|p| (p.cta, p.thread)).collect();
    assert_eq!(who, [(0, 33), (1, 33)]);
}

#[test]
fn bad_prints_are_faults() {
    let body = ".param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], 4096; st.param.b64 [p1], 0;
        call (q), vprintf, (p0, p1);";
    assert!(matches!(fault_of_module(&module(VPRINTF, body), 1, &[]).kind, FaultKind::Print { .. }));
    let declarations = format!("{VPRINTF}{}", text("format", "%d"));
    let body = body.replace("st.param.b64 [p0], 4096;", "cvta.global.u64 %rd1, format; st.param.b64 [p0], %rd1;");
    let fault = fault_of_module(&module(&declarations, &body), 1, &[]);
    assert!(fault.to_string().contains("an argument is not in memory"), "{fault}");
}

#[test]
fn what_lower_lanes_printed_before_a_fault_stays() {
    let declarations = format!("{VPRINTF}{}", text("format", "%d "));
    let body = ".local .align 8 .b8 args[8]; .param .b64 p0; .param .b64 p1; .param .b32 q; st.local.u32 [args], %t;
        cvta.global.u64 %rd1, format; mov.u64 %rd2, args; cvta.local.u64 %rd2, %rd2; setp.eq.u32 %p1, %t, 2;
        @%p1 mov.u64 %rd2, 0; st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; call (q), vprintf, (p0, p1);";
    let mut bench = Bench::new(&module(&declarations, body), &[0; 8]);
    assert!(bench.launch([1; 3], [4, 1, 1], 0).is_err());
    let texts: Vec<&str> = bench.device.printed().iter().map(|p| p.text.as_str()).collect();
    assert_eq!(texts, ["0 ", "1 "]);
}

#[test]
fn a_print_without_a_format_gives_minus_one() {
    let body = ".param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], 0; st.param.b64 [p1], 0;
        call (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; st.global.u32 [%out], %r1;";
    let mut bench = Bench::new(&module(VPRINTF, body), &[0; 8]);
    bench.launch([1; 3], [1, 1, 1], 0).unwrap();
    assert!(bench.device.printed().is_empty());
    assert_eq!(bench.output()[0], u64::from(u32::MAX));
}

#[test]
fn assertions_name_message_file_line_function_and_thread() {
    let declarations = format!(
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n{}{}{}",
        text("message", "x > 0"),
        text("file", "code.cu"),
        text("function", "void k()")
    );
    let body = "setp.eq.u32 %p1, %t, 37; @!%p1 bra FINE; .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;
        .param .b64 e; cvta.global.u64 %rd1, message; cvta.global.u64 %rd2, file; cvta.global.u64 %rd3, function;
        st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 21; st.param.b64 [d], %rd3; st.param.b64 [e], 1;
        call.uni __assertfail, (a, b, c, d, e); FINE:";
    let fault = fault_of_module(&module(&declarations, body), 64, &[]);
    let expected = FaultKind::Assertion {
        message: "x > 0".to_string(),
        file: "code.cu".to_string(),
        line: 21,
        function: "void k()".to_string(),
    };
    assert_eq!((fault.kind.clone(), fault.thread), (expected, [37, 0, 0]));
    assert!(fault.to_string().contains("assertion `x > 0` failed in void k() at code.cu:21"), "{fault}");
}

const HEAP: &str = ".extern .func (.param .b64 r) malloc(.param .b64 a); .extern .func free(.param .b64 a);\n";

#[test]
fn blocks_of_the_heap_are_distinct_and_are_used_again() {
    let body = ".param .b64 p; .param .b64 q; .param .b64 o; st.param.b64 [p], 24; call.uni (q), malloc, (p);
        ld.param.b64 %rd1, [q]; cvt.u64.u32 %rd2, %t; st.u64 [%rd1+16], %rd2; bar.sync 0; ld.global.u64 %rd3, [%rd1+16];
        st.param.b64 [o], %rd1; call.uni free, (o); bar.sync 0; st.param.b64 [p], 24; call.uni (q), malloc, (p);
        ld.param.b64 %rd4, [q]; sub.s64 %rd4, %rd4, %rd1; add.s64 %rd3, %rd3, %rd4; st.global.u64 [%out], %rd3;";
    assert_eq!(run_module(&module(HEAP, body), 40, &[]), (0..40).collect::<Vec<u64>>());
}

#[test]
fn an_exhausted_heap_gives_null_and_freeing_null_is_allowed() {
    let body =
        ".param .b64 p; .param .b64 q; st.param.b64 [p], 100000000; call (q), malloc, (p); ld.param.b64 %rd1, [q];
        st.param.b64 [p], %rd1; call free, (p); add.s64 %rd1, %rd1, 5; st.global.u64 [%out], %rd1;";
    assert_eq!(run_module(&module(HEAP, body), 1, &[])[0], 5);
}

#[test]
fn freeing_twice_is_a_fault() {
    let body = ".param .b64 p; .param .b64 q; st.param.b64 [p], 8; call (q), malloc, (p); ld.param.b64 %rd1, [q];
        st.param.b64 [p], %rd1; call free, (p); call free, (p);";
    assert!(matches!(
        fault_of_module(&module(HEAP, body), 1, &[]).kind,
        FaultKind::InvalidFree { address: 0x8000_0000 }
    ));
}
