//! Votes, shuffles, matches, reductions across a warp (PTX ISA manual, `vote`, `shfl`, `match`, `redux`, `activemask`).

mod harness;
use harness::*;

/// `body` must leave a result in `%r2`; the lanes' values are their inputs, in `%r1`.
fn lanes(body: &str, input: impl Fn(u64) -> u64, threads: u32) -> Vec<u32> {
    let body = format!("ld.global.u32 %r1, [%in]; {body} st.global.u32 [%out], %r2;");
    let input: Vec<u64> = (0..threads as u64).map(input).collect();
    run(&body, threads, &input).into_iter().map(|v| v as u32).collect()
}

#[test]
fn votes() {
    let vote = |form: &str, truth: fn(u64) -> bool| {
        let body = format!("setp.ne.u32 %p1, %r1, 0; {form} selp.u32 %r2, 1, 0, %p2;");
        let out = lanes(&body, |l| truth(l) as u64, 32);
        assert!(out.iter().all(|&v| v == out[0]));
        out[0] == 1
    };
    let (none, one, all): (fn(u64) -> bool, fn(u64) -> bool, fn(u64) -> bool) = (|_| false, |l| l == 9, |_| true);
    for sync in [false, true] {
        let form = |mode: &str, p: &str| {
            if sync {
                format!("vote.sync.{mode}.pred %p2, {p}, 0xffffffff;")
            } else {
                format!("vote.{mode}.pred %p2, {p};")
            }
        };
        for (mode, expected) in
            [("all", [false, false, true]), ("any", [false, true, true]), ("uni", [true, false, true])]
        {
            for (truth, expected) in [none, one, all].into_iter().zip(expected) {
                assert_eq!(vote(&form(mode, "%p1"), truth), expected, "{mode}");
            }
        }
        assert!(vote(&form("all", "!%p1"), none));
    }
}

#[test]
fn ballots_count_executing_lanes_only() {
    let body = |form: &str| format!("setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 1; {form}");
    let truth = |l: u64| (l % 3 == 0) as u64;
    let mask = (0..32).filter(|l| l % 3 == 0).fold(0u32, |m, l| m | 1 << l);
    assert_eq!(lanes(&body("vote.ballot.b32 %r2, %p1;"), truth, 32), vec![mask; 32]);
    assert_eq!(lanes(&body("vote.sync.ballot.b32 %r2, %p1, -1;"), truth, 32), vec![mask; 32]);
    assert_eq!(lanes(&body("vote.ballot.b32 %r2, %p1;"), truth, 8), vec![mask & 0xff; 8]);
    let guarded = lanes(&body("setp.lt.u32 %p3, %t, 10; @%p3 vote.ballot.b32 %r2, %p1;"), truth, 32);
    assert_eq!(guarded[..10], [mask & 0x3ff; 10]);
    assert_eq!(guarded[10..], [1; 22]);
}

#[test]
fn groups_vote_by_their_own_masks() {
    // Even lanes among themselves, odd lanes among themselves.
    let body = "setp.ne.u32 %p1, %r1, 0; and.b32 %r3, %t, 1; setp.eq.u32 %p2, %r3, 1;
        selp.u32 %r4, 0xaaaaaaaa, 0x55555555, %p2; vote.sync.ballot.b32 %r2, %p1, %r4;";
    let out = lanes(body, |l| (l < 8) as u64, 32);
    assert_eq!(out[0], 0x55);
    assert_eq!(out[1], 0xaa);
}

#[test]
fn active_masks() {
    assert_eq!(lanes("activemask.b32 %r2;", |_| 0, 32), vec![u32::MAX; 32]);
    assert_eq!(lanes("activemask.b32 %r2;", |_| 0, 5), vec![31; 5]);
    let body = "mov.u32 %r2, 0; setp.lt.u32 %p1, %t, 3; @%p1 bra IN; bra MEET; IN: activemask.b32 %r2; MEET:";
    assert_eq!(lanes(body, |_| 0, 32)[..4], [7, 7, 7, 0]);
}

/// PTX's pseudo code.
fn shuffled(mode: &str, lane: i32, b: i32, c: i32) -> (i32, bool) {
    let (bval, cval, mask) = (b & 31, c & 31, c >> 8 & 31);
    let (max, min) = (lane & mask | cval & !mask, lane & mask);
    let (j, valid) = match mode {
        "up" => (lane - bval, lane - bval >= max),
        "down" => (lane + bval, lane + bval <= max),
        "bfly" => (lane ^ bval, lane ^ bval <= max),
        _ => (min | bval & !mask, (min | bval & !mask) <= max),
    };
    (if valid { j } else { lane }, valid)
}

#[test]
fn shuffles() {
    for (mode, b, c) in [
        ("up", 1, 0),
        ("up", 3, 0x1800),
        ("down", 16, 31),
        ("down", 2, 0x1c1f),
        ("bfly", 1, 31),
        ("bfly", 31, 31),
        ("bfly", 8, 0x181f),
        ("idx", 5, 31),
        ("idx", 3, 0x1c1f),
        ("idx", 30, 0x0f),
    ] {
        for (name, tail) in [(format!("shfl.{mode}.b32"), ""), (format!("shfl.sync.{mode}.b32"), ", -1")] {
            let body = format!("{name} %r2|%p1, %r1, {b}, {c}{tail}; @%p1 add.u32 %r2, %r2, 1000;");
            let expected: Vec<u32> = (0..32)
                .map(|l| {
                    let (from, valid) = shuffled(mode, l, b, c);
                    from as u32 * 7 + if valid { 1000 } else { 0 }
                })
                .collect();
            assert_eq!(lanes(&body, |l| 7 * l, 32), expected, "{name} {b} {c:#x}");
        }
    }
    // The lane and the clamp differ from lane to lane; no predicate.
    let body = "shfl.sync.idx.b32 %r2, %r1, %r1, 31, 0xffffffff;";
    assert_eq!(lanes(body, |l| 31 - l, 32), (0..32).collect::<Vec<u32>>());
}

#[test]
fn matches() {
    let any = "match.any.sync.b32 %r2, %r1, -1;";
    let expected: Vec<u32> = (0..32).map(|l| (0..32).filter(|k| k % 5 == l % 5).fold(0, |m, k| m | 1 << k)).collect();
    assert_eq!(lanes(any, |l| l % 5, 32), expected);
    let wide = "cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 40; match.any.sync.b64 %r2, %rd1, -1;";
    assert_eq!(lanes(wide, |l| l % 5, 32), expected);
    let all = "match.all.sync.b32 %r2|%p1, %r1, -1; @%p1 and.b32 %r2, %r2, 0xff;";
    assert_eq!(lanes(all, |_| 3, 32), vec![0xff; 32]);
    assert_eq!(lanes(all, |l| l / 31, 32), vec![0; 32]);
    let group = "and.b32 %r3, %t, 16; setp.eq.u32 %p2, %r3, 0; selp.u32 %r4, 0xffff, 0xffff0000, %p2;
        match.all.sync.b32 %r2, %r1, %r4;";
    let out = lanes(group, |l| (l == 20) as u64, 32);
    assert_eq!((out[3], out[20], out[30]), (0xffff, 0, 0));
}

#[test]
fn reductions() {
    let redux = |form: &str, input: fn(u64) -> u64| {
        let out = lanes(&format!("redux.sync.{form} %r2, %r1, -1;"), input, 32);
        assert!(out.iter().all(|&v| v == out[0]));
        out[0]
    };
    assert_eq!(redux("add.s32", |l| l), 496);
    assert_eq!(redux("add.u32", |_| u32::MAX as u64), 32u32.wrapping_neg());
    let mixed: fn(u64) -> u64 = |l| (l as u32).wrapping_sub(5) as u64;
    assert_eq!(redux("max.s32", mixed), 26);
    assert_eq!(redux("min.s32", mixed), 5u32.wrapping_neg());
    assert_eq!(redux("max.u32", mixed), u32::MAX);
    assert_eq!(redux("min.u32", mixed), 0);
    assert_eq!(redux("and.b32", |l| 0xf0 | l), 0xf0);
    assert_eq!(redux("or.b32", |l| l), 31);
    assert_eq!(redux("xor.b32", |l| 1 << (l % 16)), 0);
}

#[test]
fn a_warp_sums_by_shuffling() {
    let mut body = String::new();
    for step in [16, 8, 4, 2, 1] {
        body += &format!("shfl.sync.down.b32 %r3, %r1, {step}, 31, -1; add.u32 %r1, %r1, %r3;\n");
    }
    assert_eq!(lanes(&format!("{body} mov.u32 %r2, %r1;"), |l| l * l, 32)[0], (0..32).map(|l| l * l).sum::<u32>());
}
