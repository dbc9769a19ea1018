//! Random straight-line and branching kernels against a scalar interpreter.

mod harness;
use harness::*;
use proptest::prelude::*;

/// An operation on 32-bit registers `%r10` … `%r17`, 64-bit `%rd10` … `%rd13`, floats `%f10` … `%f13`.
#[derive(Clone, Debug)]
enum Step {
    Int(&'static str, usize, usize, usize),
    Imm(&'static str, usize, usize, i32),
    Mad(usize, usize, usize, usize),
    Wide(&'static str, usize, usize, usize),
    Widen(bool, usize, usize, usize),
    Low(usize, usize),
    Select(&'static str, usize, usize, usize, usize, usize),
    Float(&'static str, usize, usize, usize),
    Fma(usize, usize, usize, usize),
    FromInt(usize, usize),
    ToInt(usize, usize),
    /// Branches around the steps where the comparison holds.
    Unless(&'static str, usize, usize, Vec<Step>),
    /// Repeats the steps `1 + (register & 3)` times.
    Loop(usize, Vec<Step>),
}

#[derive(Clone, Debug)]
struct State {
    r: [u32; 8],
    d: [u64; 4],
    f: [f32; 4],
}

fn compare(op: &str, a: u32, b: u32) -> bool {
    match op {
        "eq.u32" => a == b,
        "lt.s32" => (a as i32) < b as i32,
        "lt.u32" => a < b,
        _ => a as i32 >= b as i32,
    }
}

fn int(op: &str, a: u32, b: u32) -> u32 {
    match op {
        "add.s32" => a.wrapping_add(b),
        "sub.s32" => a.wrapping_sub(b),
        "mul.lo.s32" => a.wrapping_mul(b),
        "mul.hi.u32" => ((a as u64 * b as u64) >> 32) as u32,
        "and.b32" => a & b,
        "or.b32" => a | b,
        "xor.b32" => a ^ b,
        "shl.b32" => a.checked_shl(b).unwrap_or(0),
        "shr.u32" => a.checked_shr(b).unwrap_or(0),
        "shr.s32" => (a as i32 >> b.min(31)) as u32,
        "min.s32" => (a as i32).min(b as i32) as u32,
        _ => a.max(b),
    }
}

fn float(op: &str, a: f32, b: f32) -> f32 {
    let value = match op {
        "add.f32" => a + b,
        "sub.f32" => a - b,
        "mul.f32" => a * b,
        _ => a / b,
    };
    if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value }
}

fn interpret(steps: &[Step], s: &mut State) {
    for step in steps {
        match step {
            Step::Int(op, d, a, b) => s.r[*d] = int(op, s.r[*a], s.r[*b]),
            Step::Imm(op, d, a, i) => s.r[*d] = int(op, s.r[*a], *i as u32),
            Step::Mad(d, a, b, c) => s.r[*d] = s.r[*a].wrapping_mul(s.r[*b]).wrapping_add(s.r[*c]),
            Step::Wide("add.s64", d, a, b) => s.d[*d] = s.d[*a].wrapping_add(s.d[*b]),
            Step::Wide("mul.lo.s64", d, a, b) => s.d[*d] = s.d[*a].wrapping_mul(s.d[*b]),
            Step::Wide(_, d, a, b) => s.d[*d] = s.d[*a] ^ s.d[*b],
            Step::Widen(true, d, a, b) => s.d[*d] = (s.r[*a] as i32 as i64 * s.r[*b] as i32 as i64) as u64,
            Step::Widen(false, d, a, b) => s.d[*d] = s.r[*a] as u64 * s.r[*b] as u64,
            Step::Low(d, a) => s.r[*d] = s.d[*a] as u32,
            Step::Select(op, d, a, b, x, y) => {
                s.r[*d] = if compare(op, s.r[*a], s.r[*b]) { s.r[*x] } else { s.r[*y] };
            }
            Step::Float(op, d, a, b) => s.f[*d] = float(op, s.f[*a], s.f[*b]),
            Step::Fma(d, a, b, c) => s.f[*d] = float("add.f32", s.f[*a].mul_add(s.f[*b], s.f[*c]), -0.0),
            Step::FromInt(d, a) => s.f[*d] = s.r[*a] as i32 as f32,
            Step::ToInt(d, a) => s.r[*d] = s.f[*a] as i32 as u32,
            Step::Unless(op, a, b, steps) => {
                if !compare(op, s.r[*a], s.r[*b]) {
                    interpret(steps, s);
                }
            }
            Step::Loop(a, steps) => {
                for _ in 0..=s.r[*a] & 3 {
                    interpret(steps, s);
                }
            }
        }
    }
}

/// The steps as PTX. Loop counters live in registers of their own, one per depth.
fn write(steps: &[Step], text: &mut String, labels: &mut u32, depth: u32) {
    for step in steps {
        let r = |n: &usize| format!("%r{}", 10 + n);
        let d = |n: &usize| format!("%rd{}", 10 + n);
        let f = |n: &usize| format!("%f{}", 10 + n);
        let line = match step {
            Step::Int(op, to, a, b) => format!("{op} {}, {}, {};\n", r(to), r(a), r(b)),
            Step::Imm(op, to, a, i) => format!("{op} {}, {}, {i};\n", r(to), r(a)),
            Step::Mad(to, a, b, c) => format!("mad.lo.s32 {}, {}, {}, {};\n", r(to), r(a), r(b), r(c)),
            Step::Wide(op, to, a, b) => format!("{op} {}, {}, {};\n", d(to), d(a), d(b)),
            Step::Widen(signed, to, a, b) => {
                format!("mul.wide.{} {}, {}, {};\n", if *signed { "s32" } else { "u32" }, d(to), r(a), r(b))
            }
            Step::Low(to, a) => format!("cvt.u32.u64 {}, {};\n", r(to), d(a)),
            Step::Select(op, to, a, b, x, y) => {
                format!("setp.{op} %p1, {}, {}; selp.b32 {}, {}, {}, %p1;\n", r(a), r(b), r(to), r(x), r(y))
            }
            Step::Float("div", to, a, b) => format!("div.rn.f32 {}, {}, {};\n", f(to), f(a), f(b)),
            Step::Float(op, to, a, b) => format!("{op} {}, {}, {};\n", f(to), f(a), f(b)),
            Step::Fma(to, a, b, c) => format!("fma.rn.f32 {}, {}, {}, {};\n", f(to), f(a), f(b), f(c)),
            Step::FromInt(to, a) => format!("cvt.rn.f32.s32 {}, {};\n", f(to), r(a)),
            Step::ToInt(to, a) => format!("cvt.rzi.s32.f32 {}, {};\n", r(to), f(a)),
            Step::Unless(op, a, b, steps) => {
                *labels += 1;
                let label = *labels;
                *text += &format!("setp.{op} %p1, {}, {}; @%p1 bra L{label};\n", r(a), r(b));
                write(steps, text, labels, depth);
                format!("L{label}:\n")
            }
            Step::Loop(a, steps) => {
                *labels += 1;
                let (label, counter) = (*labels, 30 + depth);
                *text += &format!("and.b32 %r{counter}, {}, 3;\nL{label}:\n", r(a));
                write(steps, text, labels, depth + 1);
                format!("sub.s32 %r{counter}, %r{counter}, 1; setp.ge.s32 %p1, %r{counter}, 0; @%p1 bra L{label};\n")
            }
        };
        *text += &line;
    }
}

fn step() -> impl Strategy<Value = Step> {
    let ints = prop::sample::select(vec![
        "add.s32",
        "sub.s32",
        "mul.lo.s32",
        "mul.hi.u32",
        "and.b32",
        "or.b32",
        "xor.b32",
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "min.s32",
        "max.u32",
    ]);
    let compares = || prop::sample::select(vec!["eq.u32", "lt.s32", "lt.u32", "ge.s32"]);
    let wides = prop::sample::select(vec!["add.s64", "mul.lo.s64", "xor.b64"]);
    let floats = prop::sample::select(vec!["add.f32", "sub.f32", "mul.f32", "div"]);
    let (r, d) = (0..8usize, 0..4usize);
    let leaf = prop_oneof![
        4 => (ints.clone(), r.clone(), r.clone(), r.clone()).prop_map(|(o, d, a, b)| Step::Int(o, d, a, b)),
        2 => (ints, r.clone(), r.clone(), prop_oneof![-40..40i32, any::<i32>()]).prop_map(|(o, d, a, i)| Step::Imm(o, d, a, i)),
        1 => (r.clone(), r.clone(), r.clone(), r.clone()).prop_map(|(d, a, b, c)| Step::Mad(d, a, b, c)),
        1 => (wides, d.clone(), d.clone(), d.clone()).prop_map(|(o, d, a, b)| Step::Wide(o, d, a, b)),
        1 => (any::<bool>(), d.clone(), r.clone(), r.clone()).prop_map(|(s, d, a, b)| Step::Widen(s, d, a, b)),
        1 => (r.clone(), d.clone()).prop_map(|(d, a)| Step::Low(d, a)),
        1 => (compares(), r.clone(), r.clone(), r.clone(), r.clone(), r.clone())
            .prop_map(|(o, d, a, b, x, y)| Step::Select(o, d, a, b, x, y)),
        2 => (floats, d.clone(), d.clone(), d.clone()).prop_map(|(o, d, a, b)| Step::Float(o, d, a, b)),
        1 => (d.clone(), d.clone(), d.clone(), d.clone()).prop_map(|(d, a, b, c)| Step::Fma(d, a, b, c)),
        1 => (d.clone(), r.clone()).prop_map(|(d, a)| Step::FromInt(d, a)),
        1 => (r.clone(), d).prop_map(|(d, a)| Step::ToInt(d, a)),
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        let steps = prop::collection::vec(inner, 1..5);
        prop_oneof![
            (compares(), 0..8usize, 0..8usize, steps.clone()).prop_map(|(o, a, b, s)| Step::Unless(o, a, b, s)),
            (0..8usize, steps).prop_map(|(a, s)| Step::Loop(a, s)),
        ]
    })
}

fn start(input: u32) -> State {
    let mut s = State { r: [0; 8], d: [0; 4], f: [0.0; 4] };
    for n in 0..8 {
        s.r[n] = input.wrapping_mul(2 * n as u32 + 1);
    }
    for n in 0..4 {
        s.d[n] = s.r[n] as u64 * s.r[n + 4] as u64;
        s.f[n] = s.r[n] as i32 as f32 * 0.5;
    }
    s
}

const START: &str = "ld.global.u32 %r1, [%in];
    mov.u32 %r10, %r1; mul.lo.u32 %r11, %r1, 3; mul.lo.u32 %r12, %r1, 5; mul.lo.u32 %r13, %r1, 7;
    mul.lo.u32 %r14, %r1, 9; mul.lo.u32 %r15, %r1, 11; mul.lo.u32 %r16, %r1, 13; mul.lo.u32 %r17, %r1, 15;
    mul.wide.u32 %rd10, %r10, %r14; mul.wide.u32 %rd11, %r11, %r15; mul.wide.u32 %rd12, %r12, %r16;
    mul.wide.u32 %rd13, %r13, %r17; mov.f32 %f1, 0f3F000000;
    cvt.rn.f32.s32 %f10, %r10; mul.f32 %f10, %f10, %f1; cvt.rn.f32.s32 %f11, %r11; mul.f32 %f11, %f11, %f1;
    cvt.rn.f32.s32 %f12, %r12; mul.f32 %f12, %f12, %f1; cvt.rn.f32.s32 %f13, %r13; mul.f32 %f13, %f13, %f1;\n";

/// Folds all registers into the result.
const FINISH: &str = "mov.b32 %r2, %f10; xor.b32 %r10, %r10, %r2; mov.b32 %r2, %f11; xor.b32 %r11, %r11, %r2;
    mov.b32 %r2, %f12; xor.b32 %r12, %r12, %r2; mov.b32 %r2, %f13; xor.b32 %r13, %r13, %r2;
    mad.lo.u32 %r3, %r10, 31, %r11; mad.lo.u32 %r3, %r3, 31, %r12; mad.lo.u32 %r3, %r3, 31, %r13;
    mad.lo.u32 %r3, %r3, 31, %r14; mad.lo.u32 %r3, %r3, 31, %r15; mad.lo.u32 %r3, %r3, 31, %r16;
    mad.lo.u32 %r3, %r3, 31, %r17; xor.b64 %rd10, %rd10, %rd11; xor.b64 %rd12, %rd12, %rd13; xor.b64 %rd10, %rd10, %rd12;
    cvt.u64.u32 %rd1, %r3; add.u64 %rd10, %rd10, %rd1; st.global.u64 [%out], %rd10;";

fn finish(s: &State) -> u64 {
    let mut r = s.r;
    for n in 0..4 {
        r[n] ^= s.f[n].to_bits();
    }
    let folded = r[1..].iter().fold(r[0], |h, v| h.wrapping_mul(31).wrapping_add(*v));
    s.d.iter().fold(0, |x, d| x ^ d).wrapping_add(folded as u64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_compute_what_a_scalar_interpreter_does(
        steps in prop::collection::vec(step(), 1..25),
        inputs in prop::collection::vec(prop_oneof![0..20u32, any::<u32>()], 1..70),
    ) {
        let mut body = START.to_string();
        write(&steps, &mut body, &mut 0, 0);
        body += FINISH;
        let words: Vec<u64> = inputs.iter().map(|&v| v as u64).collect();
        let out = run(&body, inputs.len() as u32, &words);
        for (t, &input) in inputs.iter().enumerate() {
            let mut state = start(input);
            interpret(&steps, &mut state);
            prop_assert_eq!(out[t], finish(&state), "thread {} with {}\n{}", t, input, body);
        }
    }
}
