//! Logic, shifts, bit fields, permutations.

use crate::harness::{cases, op, run};

cases! {
    and_b16: "and.b16" { [0xf0f0u16, 0xff00u16] => 0xf000u16, }
    and_b32: "and.b32" { [0xf0f0_f0f0u32, 0xff00_ff00u32] => 0xf000_f000u32, }
    and_b64: "and.b64" { [u64::MAX, 0x1_0000_0001u64] => 0x1_0000_0001u64, }
    and_pred: "and.pred" { [true, true] => 0b01u64, [true, false] => 0b10u64, }
    or_b16: "or.b16" { [0xf000u16, 0x000fu16] => 0xf00fu16, }
    or_b32: "or.b32" { [0xf000_0000u32, 0xfu32] => 0xf000_000fu32, }
    or_b64: "or.b64" { [1u64 << 63, 1u64] => 1u64 << 63 | 1, }
    or_pred: "or.pred" { [false, true] => 0b01u64, [false, false] => 0b10u64, }
    xor_b16: "xor.b16" { [0xffffu16, 0x00ffu16] => 0xff00u16, }
    xor_b32: "xor.b32" { [0xffff_ffffu32, 0xffu32] => 0xffff_ff00u32, }
    xor_b64: "xor.b64" { [u64::MAX, 1u64] => u64::MAX - 1, }
    xor_pred: "xor.pred" { [true, true] => 0b10u64, [true, false] => 0b01u64, }
    not_b16: "not.b16" { [0x00ffu16] => 0xff00u16, }
    not_b32: "not.b32" { [0u32] => u32::MAX, }
    not_b64: "not.b64" { [0u64] => u64::MAX, }
    not_pred: "not.pred" { [false] => 0b01u64, [true] => 0b10u64, }
    cnot_b16: "cnot.b16" { [0u16] => 1u16, [5u16] => 0u16, }
    cnot_b32: "cnot.b32" { [0u32] => 1u32, [5u32] => 0u32, }
    cnot_b64: "cnot.b64" { [0u64] => 1u64, [1u64 << 40] => 0u64, }

    // Shift amounts clamp to the width, and are unsigned.
    shl_b16: "shl.b16" { [0xffffu16, 4u32] => 0xfff0u16, [0xffffu16, 16u32] => 0u16, [1u16, u32::MAX] => 0u16, }
    shl_b32: "shl.b32" {
        [1u32, 31u32] => 1u32 << 31, [1u32, 32u32] => 0u32, [1u32, 33u32] => 0u32, [7u32, 0u32] => 7u32,
    }
    shl_b64: "shl.b64" { [1u64, 63u32] => 1u64 << 63, [1u64, 64u32] => 0u64, [1u64, u32::MAX] => 0u64, }
    shr_u16: "shr.u16" { [0x8000u16, 15u32] => 1u16, [0x8000u16, 16u32] => 0u16, }
    shr_s16: "shr.s16" { [-8i16, 1u32] => -4i16, [-8i16, 16u32] => -1i16, [8i16, 99u32] => 0i16, }
    shr_b16: "shr.b16" { [0x8000u16, 15u32] => 1u16, }
    shr_u32: "shr.u32" { [0x8000_0000u32, 31u32] => 1u32, [u32::MAX, 32u32] => 0u32, }
    shr_s32: "shr.s32" { [-8, 1u32] => -4, [-8, 32u32] => -1, [i32::MIN, 31u32] => -1, [8, u32::MAX] => 0, }
    shr_b32: "shr.b32" { [0x8000_0000u32, 4u32] => 0x0800_0000u32, }
    shr_u64: "shr.u64" { [1u64 << 63, 63u32] => 1u64, [u64::MAX, 64u32] => 0u64, }
    shr_s64: "shr.s64" { [-8i64, 1u32] => -4i64, [-8i64, 64u32] => -1i64, [8i64, 1000u32] => 0i64, }
    shr_b64: "shr.b64" { [1u64 << 63, 62u32] => 2u64, }

    shf_l_clamp: "shf.l.clamp.b32" {
        [0x8000_0001u32, 0x1u32, 4u32] => 0x18u32, [5u32, 7u32, 0u32] => 7u32, [5u32, 7u32, 32u32] => 5u32,
        [5u32, 7u32, 99u32] => 5u32,
    }
    shf_l_wrap: "shf.l.wrap.b32" { [0x8000_0001u32, 0x1u32, 36u32] => 0x18u32, [5u32, 7u32, 32u32] => 7u32, }
    shf_r_clamp: "shf.r.clamp.b32" {
        [0x10u32, 0x3u32, 4u32] => 0x3000_0001u32, [5u32, 7u32, 32u32] => 7u32, [5u32, 7u32, u32::MAX] => 7u32,
    }
    shf_r_wrap: "shf.r.wrap.b32" { [0x10u32, 0x3u32, 36u32] => 0x3000_0001u32, [5u32, 7u32, 32u32] => 5u32, }

    popc_b32: "popc.b32" { [0u32] => 0u32, [u32::MAX] => 32u32, [0x8000_0001u32] => 2u32, }
    popc_b64: "popc.b64" { [u64::MAX] => 64u32, [1u64 << 40] => 1u32, }
    clz_b32: "clz.b32" { [0u32] => 32u32, [1u32] => 31u32, [u32::MAX] => 0u32, }
    clz_b64: "clz.b64" { [0u64] => 64u32, [1u64] => 63u32, [1u64 << 40] => 23u32, }
    brev_b32: "brev.b32" { [1u32] => 1u32 << 31, [0x1234_5678u32] => 0x1e6a_2c48u32, }
    brev_b64: "brev.b64" { [1u64] => 1u64 << 63, [0xffu64] => 0xffu64 << 56, }

    bfind_u32: "bfind.u32" { [0u32] => u32::MAX, [1u32] => 0u32, [0x8000_0000u32] => 31u32, }
    bfind_s32: "bfind.s32" { [-1] => u32::MAX, [0] => u32::MAX, [-2] => 0u32, [i32::MIN] => 30u32, [5] => 2u32, }
    bfind_u64: "bfind.u64" { [0u64] => u32::MAX, [1u64 << 40] => 40u32, }
    bfind_s64: "bfind.s64" { [-1i64] => u32::MAX, [i64::MIN] => 62u32, [-5i64] => 2u32, }
    bfind_shiftamt_u32: "bfind.shiftamt.u32" { [0u32] => u32::MAX, [1u32] => 31u32, [0x8000_0000u32] => 0u32, }
    bfind_shiftamt_s32: "bfind.shiftamt.s32" { [-1] => u32::MAX, [-2] => 31u32, [i32::MIN] => 1u32, }
    bfind_shiftamt_u64: "bfind.shiftamt.u64" { [1u64] => 63u32, [0u64] => u32::MAX, }
    bfind_shiftamt_s64: "bfind.shiftamt.s64" { [i64::MIN] => 1u32, }

    bfe_u32: "bfe.u32" {
        [0x1234_5678u32, 8u32, 8u32] => 0x56u32, [u32::MAX, 0u32, 32u32] => u32::MAX, [u32::MAX, 28u32, 8u32] => 0xfu32,
        [u32::MAX, 4u32, 0u32] => 0u32, [u32::MAX, 32u32, 4u32] => 0u32, [u32::MAX, 255u32, 255u32] => 0u32,
        // Only the low eight bits of position and length count.
        [0x1234_5678u32, 0x108u32, 0x108u32] => 0x56u32,
    }
    bfe_s32: "bfe.s32" {
        [0x0000_0f00, 8u32, 4u32] => -1, [0x0000_0700, 8u32, 4u32] => 7, [0x0000_0700, 8u32, 3u32] => -1,
        [i32::MIN, 28u32, 8u32] => -8, [i32::MAX, 28u32, 8u32] => 7, [-1, 4u32, 0u32] => 0,
        // Beyond the top: the sign of a everywhere.
        [i32::MIN, 40u32, 4u32] => -1, [i32::MAX, 40u32, 4u32] => 0, [i32::MIN, 0u32, 32u32] => i32::MIN,
        [i32::MIN, 255u32, 255u32] => -1,
    }
    bfe_u64: "bfe.u64" {
        [0x1234_5678_9abc_def0u64, 32u32, 16u32] => 0x5678u64, [u64::MAX, 60u32, 100u32] => 0xfu64,
        [u64::MAX, 64u32, 1u32] => 0u64, [u64::MAX, 3u32, 0u32] => 0u64, [u64::MAX, 0u32, 64u32] => u64::MAX,
    }
    bfe_s64: "bfe.s64" {
        [0xf0_0000_0000u64, 36u32, 4u32] => -1i64, [i64::MIN, 63u32, 1u32] => -1i64, [i64::MIN, 70u32, 1u32] => -1i64,
        [i64::MAX, 70u32, 1u32] => 0i64, [-1i64, 0u32, 0u32] => 0i64,
    }
    bfi_b32: "bfi.b32" {
        [0xabu32, 0u32, 8u32, 8u32] => 0xab00u32, [0u32, u32::MAX, 4u32, 8u32] => 0xffff_f00fu32,
        [0xffu32, 0u32, 28u32, 8u32] => 0xf000_0000u32, [5u32, 7u32, 0u32, 0u32] => 7u32,
        [5u32, 7u32, 32u32, 8u32] => 7u32,
        [5u32, 7u32, 0u32, 32u32] => 5u32, [5u32, 7u32, 0u32, 200u32] => 5u32,
        [0xabu32, 0u32, 0x108u32, 0x108u32] => 0xab00u32,
    }
    bfi_b64: "bfi.b64" {
        [0xabu64, 0u64, 40u32, 8u32] => 0xab00_0000_0000u64, [1u64, u64::MAX, 64u32, 8u32] => u64::MAX,
        [0u64, u64::MAX, 32u32, 64u32] => 0xffff_ffffu64, [9u64, 3u64, 5u32, 0u32] => 3u64,
    }
    bmsk_clamp: "bmsk.clamp.b32" {
        [1u32, 2u32] => 6u32, [0u32, 32u32] => u32::MAX, [0u32, 99u32] => u32::MAX, [32u32, 4u32] => 0u32,
        [4u32, 0u32] => 0u32,
        [28u32, 8u32] => 0xf000_0000u32,
    }
    bmsk_wrap: "bmsk.wrap.b32" {
        [1u32, 2u32] => 6u32, [33u32, 34u32] => 6u32, [0u32, 32u32] => 0u32, [28u32, 8u32] => 0xf000_0000u32,
    }
    szext_clamp_u32: "szext.clamp.u32" {
        [u32::MAX, 8u32] => 0xffu32, [u32::MAX, 32u32] => u32::MAX, [5u32, 0u32] => 0u32,
    }
    szext_wrap_u32: "szext.wrap.u32" {
        [u32::MAX, 0u32] => 0u32, [u32::MAX, 32u32] => 0u32, [u32::MAX, 40u32] => 0xffu32,
    }
    szext_clamp_s32: "szext.clamp.s32" {
        [0x80, 8u32] => -128, [0x7f, 8u32] => 127, [-5, 32u32] => -5, [-5, 99u32] => -5, [-1, 0u32] => 0,
    }
    szext_wrap_s32: "szext.wrap.s32" { [0x80, 40u32] => -128, [-5, 32u32] => 0, }

    prmt_b32: "prmt.b32" {
        [0x3322_1100u32, 0x7766_5544u32, 0x3210u32] => 0x3322_1100u32,
        [0x3322_1100u32, 0x7766_5544u32, 0x7654u32] => 0x7766_5544u32,
        [0x3322_1100u32, 0x7766_5544u32, 0x0536u32] => 0x0055_3366u32,
        // Nibble bit 3: the byte's sign, eight times.
        [0x80ff_017fu32, 0u32, 0xba98u32] => 0xffff_0000u32,
        // Only 16 bits of the selector count.
        [0x3322_1100u32, 0x7766_5544u32, 0xffff_3210u32] => 0x3322_1100u32,
    }
    prmt_f4e: "prmt.b32.f4e" {
        [0x3322_1100u32, 0x7766_5544u32, 1u32] => 0x4433_2211u32,
        [0x3322_1100u32, 0x7766_5544u32, 7u32] => 0x6655_4433u32,
    }
    prmt_b4e: "prmt.b32.b4e" {
        [0x3322_1100u32, 0x7766_5544u32, 0u32] => 0x5566_7700u32,
        [0x3322_1100u32, 0x7766_5544u32, 3u32] => 0x0011_2233u32,
    }
    prmt_rc8: "prmt.b32.rc8" { [0x3322_1100u32, 0u32, 2u32] => 0x2222_2222u32, }
    prmt_ecl: "prmt.b32.ecl" {
        [0x3322_1100u32, 0u32, 1u32] => 0x3322_1111u32, [0x3322_1100u32, 0u32, 2u32] => 0x3322_2222u32,
    }
    prmt_ecr: "prmt.b32.ecr" {
        [0x3322_1100u32, 0u32, 1u32] => 0x1111_1100u32, [0x3322_1100u32, 0u32, 2u32] => 0x2222_1100u32,
    }
    prmt_rc16: "prmt.b32.rc16" {
        [0x3322_1100u32, 0u32, 0u32] => 0x1100_1100u32, [0x3322_1100u32, 0u32, 3u32] => 0x3322_3322u32,
    }
}

/// The truth table's index is 4a + 2b + c: 0xf0, 0xcc, 0xaa are a, b, c themselves.
#[test]
fn lop3() {
    let (a, b, c) = (0x1234_5678u64, 0xdead_beef, 0x0f0f_3c3c);
    for (table, want) in [
        (0xf0, a),
        (0xcc, b),
        (0xaa, c),
        (0x80, a & b & c),
        (0xfe, a | b | c),
        (0x96, a ^ b ^ c),
        (0x1a, (a & b | c) ^ a),
        (0x00, 0),
        (0xff, 0xffff_ffff),
    ] {
        assert_eq!(run("lop3.b32 %r0, %r1, %r2, %r3, %r4", &[a, b, c, table]), want, "{table:#x}");
    }
}

/// Bit fields against the manual's loops, for every position and length up to 70.
#[test]
fn fields_as_the_manual_says_bit_by_bit() {
    let (u, s, i) = (op("bfe.u32", 3), op("bfe.s32", 3), op("bfi.b32", 4));
    let (a, b) = (0x9c35_a5f1u32, 0x6b8d_d10eu32);
    for pos in 0..70u64 {
        for len in 0..70u64 {
            let (mut zero, mut sign, mut insert) = (0u32, 0u32, b);
            let last = (pos + len).saturating_sub(1).min(31);
            let sbit = if len == 0 { 0 } else { a >> last & 1 };
            for k in 0..32u64 {
                let inside = k < len && pos + k <= 31;
                let bit = |x: u32, n: u64| x >> n & 1;
                zero |= if inside { bit(a, pos + k) << k } else { 0 };
                sign |= if inside { bit(a, pos + k) << k } else { sbit << k };
                if inside {
                    insert = insert & !(1 << (pos + k)) | bit(a, k) << (pos + k);
                }
            }
            assert_eq!(u.all(&[a as u64, pos, len]), zero as u64, "bfe.u32 {pos} {len}");
            assert_eq!(s.all(&[a as u64, pos, len]), sign as u64, "bfe.s32 {pos} {len}");
            assert_eq!(i.all(&[a as u64, b as u64, pos, len]), insert as u64, "bfi.b32 {pos} {len}");
        }
    }
}
