//! Carry chains: the flag is one bit per lane.

use crate::harness::op;

/// Result and flag of `form` where the flag was `carry`.
fn run(form: &str, sources: &[u64], carry: bool) -> (u64, bool) {
    let lanes: Vec<[u64; 32]> = sources.iter().map(|&v| [v; 32]).collect();
    let op = op(form, sources.len());
    let results = op.lanes(&lanes, if carry { u32::MAX } else { 0 });
    assert!(results.lanes.iter().all(|&lane| lane == results.lanes[0]), "{form}: lanes differ");
    assert!(results.carry == 0 || results.carry == u32::MAX, "{form}: flags differ");
    (results.lanes[0], results.carry != 0)
}

#[test]
fn shapes_say_who_reads_and_writes_the_flag() {
    for (form, sources, carry_in, carry_out) in [
        ("add.cc.u32", 2, false, true),
        ("addc.u32", 2, true, false),
        ("addc.cc.u32", 2, true, true),
        ("sub.cc.u32", 2, false, true),
        ("subc.u32", 2, true, false),
        ("subc.cc.s64", 2, true, true),
        ("mad.lo.cc.u32", 3, false, true),
        ("madc.lo.u32", 3, true, false),
        ("madc.hi.cc.u32", 3, true, true),
        ("add.u32", 2, false, false),
    ] {
        let op = op(form, sources);
        assert_eq!((op.shape().carry_in, op.shape().carry_out), (carry_in, carry_out), "{form}");
    }
}

#[test]
fn add_cc() {
    for ty in ["u32", "s32"] {
        let form = format!("add.cc.{ty}");
        assert_eq!(run(&form, &[0xffff_ffff, 1], false), (0, true));
        assert_eq!(run(&form, &[0x7fff_ffff, 1], true), (0x8000_0000, false), "add.cc does not read the flag");
    }
    for ty in ["u64", "s64"] {
        assert_eq!(run(&format!("add.cc.{ty}"), &[u64::MAX, u64::MAX], false), (u64::MAX - 1, true));
    }
}

#[test]
fn addc() {
    assert_eq!(run("addc.u32", &[5, 6], true).0, 12);
    assert_eq!(run("addc.u32", &[5, 6], false).0, 11);
    assert_eq!(run("addc.s64", &[u64::MAX, 0], true).0, 0);
}

#[test]
fn addc_cc() {
    assert_eq!(run("addc.cc.u32", &[0xffff_ffff, 0], true), (0, true));
    assert_eq!(run("addc.cc.u32", &[0xffff_ffff, 0xffff_ffff], true), (0xffff_ffff, true));
    assert_eq!(run("addc.cc.u32", &[0xffff_fffe, 0], true), (0xffff_ffff, false));
    assert_eq!(run("addc.cc.u64", &[u64::MAX, 0], true), (0, true));
}

#[test]
fn sub_cc() {
    assert_eq!(run("sub.cc.u32", &[0, 1], false), (0xffff_ffff, true));
    assert_eq!(run("sub.cc.u32", &[5, 5], true), (0, false), "sub.cc does not read the flag");
    assert_eq!(run("sub.cc.s64", &[0, 1], false), (u64::MAX, true));
}

#[test]
fn subc() {
    assert_eq!(run("subc.u32", &[5, 3], true).0, 1);
    assert_eq!(run("subc.u32", &[5, 3], false).0, 2);
}

#[test]
fn subc_cc() {
    assert_eq!(run("subc.cc.u32", &[5, 5], true), (0xffff_ffff, true));
    assert_eq!(run("subc.cc.u32", &[0, 0xffff_ffff], true), (0, true));
    assert_eq!(run("subc.cc.u32", &[6, 5], true), (0, false));
}

#[test]
fn mad_cc() {
    assert_eq!(run("mad.lo.cc.u32", &[0x10000, 0x10000, 7], false), (7, false));
    assert_eq!(run("mad.lo.cc.u32", &[0xffff_ffff, 1, 1], false), (0, true));
    assert_eq!(run("mad.hi.cc.u32", &[0xffff_ffff, 0xffff_ffff, 2], false), (0, true));
    assert_eq!(run("mad.hi.cc.s32", &[0xffff_ffff, 1, 0], false), (0xffff_ffff, false), "−1 × 1, upper half −1");
}

#[test]
fn madc() {
    assert_eq!(run("madc.lo.u32", &[3, 4, 5], true).0, 18);
    assert_eq!(run("madc.hi.u32", &[0x8000_0000, 2, 5], true).0, 7);
    assert_eq!(run("madc.lo.cc.u32", &[0xffff_ffff, 1, 0], true), (0, true));
    assert_eq!(run("madc.hi.cc.u32", &[0xffff_ffff, 0xffff_ffff, 1], true), (0, true));
    assert_eq!(run("madc.hi.cc.u64", &[u64::MAX, 2, 0], true), (2, false));
}

/// A 128-bit sum out of four 32-bit ones in every lane, each with numbers of its own.
#[test]
fn chain_of_four_words() {
    let value = |lane: u64, k: u64| (lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ k << 17) as u128 * k as u128;
    let a: [u128; 32] = std::array::from_fn(|i| value(i as u64, 0xffff_ffff_ffff_fff1) | 0xffff_ffff);
    let b: [u128; 32] = std::array::from_fn(|i| value(i as u64, 0xf123_4567_89ab_cdef));
    let word = |x: &[u128; 32], k: u32| x.map(|v| (v >> (32 * k)) as u32 as u64);
    let mut sum = [0u128; 32];
    let mut carry = 0;
    for (k, form) in ["add.cc.u32", "addc.cc.u32", "addc.cc.u32", "addc.u32"].iter().enumerate() {
        let results = op(form, 2).lanes(&[word(&a, k as u32), word(&b, k as u32)], carry);
        carry = results.carry;
        for (sum, word) in sum.iter_mut().zip(results.lanes) {
            *sum |= (word as u128) << (32 * k);
        }
    }
    for lane in 0..32 {
        assert_eq!(sum[lane], a[lane].wrapping_add(b[lane]), "lane {lane}");
    }
}
