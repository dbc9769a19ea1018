//! Integer arithmetic.

use crate::harness::cases;

const MIN32: i32 = i32::MIN;
const MAX32: i32 = i32::MAX;
const MIN64: i64 = i64::MIN;

cases! {
    add_s16: "add.s16" { [i16::MAX, 1i16] => i16::MIN, [-1i16, 1i16] => 0i16, }
    add_u16: "add.u16" { [0xffffu16, 2u16] => 1u16, }
    add_s32: "add.s32" { [MAX32, 1] => MIN32, [-5, 3] => -2, }
    add_u32: "add.u32" { [u32::MAX, 2u32] => 1u32, }
    add_s64: "add.s64" { [i64::MAX, 1i64] => MIN64, [0xffff_ffffu64, 1u64] => 0x1_0000_0000u64, }
    add_u64: "add.u64" { [u64::MAX, 1u64] => 0u64, }
    add_sat_s32: "add.sat.s32" { [MAX32, 1] => MAX32, [MIN32, -1] => MIN32, [MIN32, MAX32] => -1, }
    sub_s16: "sub.s16" { [i16::MIN, 1i16] => i16::MAX, }
    sub_u16: "sub.u16" { [0u16, 1u16] => 0xffffu16, }
    sub_s32: "sub.s32" { [MIN32, 1] => MAX32, [3, 5] => -2, }
    sub_u32: "sub.u32" { [0u32, 1u32] => u32::MAX, }
    sub_s64: "sub.s64" { [MIN64, 1i64] => i64::MAX, }
    sub_u64: "sub.u64" { [0x1_0000_0000u64, 1u64] => 0xffff_ffffu64, }
    sub_sat_s32: "sub.sat.s32" { [MIN32, 1] => MIN32, [MAX32, -1] => MAX32, [0, MIN32] => MAX32, }

    mul_lo_s16: "mul.lo.s16" { [300i16, 300i16] => 90000u32 as u16, [-2i16, 3i16] => -6i16, }
    mul_lo_u16: "mul.lo.u16" { [0xffffu16, 0xffffu16] => 1u16, }
    mul_lo_s32: "mul.lo.s32" { [0x10001, 0x10001] => 0x20001, [-7, 6] => -42, [MIN32, -1] => MIN32, }
    mul_lo_u32: "mul.lo.u32" { [u32::MAX, u32::MAX] => 1u32, }
    mul_lo_s64: "mul.lo.s64" { [0x1_0000_0001i64, 0x1_0000_0001i64] => 0x2_0000_0001i64, [-3i64, 5i64] => -15i64, }
    mul_lo_u64: "mul.lo.u64" { [u64::MAX, u64::MAX] => 1u64, }
    mul_hi_s16: "mul.hi.s16" { [-1i16, 1i16] => -1i16, [0x4000i16, 4i16] => 1i16, }
    mul_hi_u16: "mul.hi.u16" { [0xffffu16, 0xffffu16] => 0xfffeu16, }
    mul_hi_s32: "mul.hi.s32" { [-1, 1] => -1, [MIN32, MIN32] => 0x4000_0000, }
    mul_hi_u32: "mul.hi.u32" { [u32::MAX, u32::MAX] => u32::MAX - 1, [0x8000_0000u32, 2u32] => 1u32, }
    mul_hi_s64: "mul.hi.s64" { [MIN64, 2i64] => -1i64, [MIN64, MIN64] => 1i64 << 62, }
    mul_hi_u64: "mul.hi.u64" { [u64::MAX, u64::MAX] => u64::MAX - 1, }
    mul_wide_s16: "mul.wide.s16" { [i16::MIN, i16::MIN] => 1 << 30, [-1i16, 1i16] => -1, }
    mul_wide_u16: "mul.wide.u16" { [0xffffu16, 0xffffu16] => 0xfffe_0001u32, }
    mul_wide_s32: "mul.wide.s32" { [-1, 4] => -4i64, [MIN32, MIN32] => 1i64 << 62, }
    mul_wide_u32: "mul.wide.u32" { [u32::MAX, u32::MAX] => 0xffff_fffe_0000_0001u64, }

    mad_lo_s16: "mad.lo.s16" { [-2i16, 3i16, 7i16] => 1i16, }
    mad_lo_u16: "mad.lo.u16" { [0x100u16, 0x100u16, 5u16] => 5u16, }
    mad_lo_s32: "mad.lo.s32" { [-7, 6, 2] => -40, [MAX32, 2, 3] => 1, }
    mad_lo_u32: "mad.lo.u32" { [0x1_0000u32, 0x1_0000u32, 9u32] => 9u32, }
    mad_lo_s64: "mad.lo.s64" { [-3i64, 5i64, 16i64] => 1i64, }
    mad_lo_u64: "mad.lo.u64" { [1u64 << 33, 1u64 << 33, 3u64] => 3u64, }
    mad_hi_s16: "mad.hi.s16" { [-1i16, 1i16, 5i16] => 4i16, }
    mad_hi_u16: "mad.hi.u16" { [0xffffu16, 0xffffu16, 3u16] => 1u16, }
    mad_hi_s32: "mad.hi.s32" { [MIN32, 2, 10] => 9, }
    mad_hi_u32: "mad.hi.u32" { [u32::MAX, u32::MAX, 3u32] => 1u32, }
    mad_hi_s64: "mad.hi.s64" { [-1i64, 1i64, 1i64] => 0i64, }
    mad_hi_u64: "mad.hi.u64" { [u64::MAX, 2u64, 1u64] => 2u64, }
    mad_hi_sat_s32: "mad.hi.sat.s32" { [MIN32, MIN32, MAX32] => MAX32, [MIN32, MAX32, MIN32] => MIN32, [1, 1, 5] => 5, }
    mad_wide_s16: "mad.wide.s16" { [-2i16, 3i16, 5] => -1, }
    mad_wide_u16: "mad.wide.u16" { [0xffffu16, 0xffffu16, 1u32] => 0xfffe_0002u32, }
    mad_wide_s32: "mad.wide.s32" { [-2, 3, 5i64] => -1i64, [MIN32, MIN32, -1i64] => (1i64 << 62) - 1, }
    mad_wide_u32: "mad.wide.u32" { [u32::MAX, u32::MAX, 1u64] => 0xffff_fffe_0000_0002u64, }

    mul24_lo_s32: "mul24.lo.s32" {
        // Only the low 24 bits count, signed.
        [0x0100_0002, 3] => 6, [0x00ff_ffff, 5] => -5, [0x0080_0000, 2] => -0x0100_0000,
    }
    mul24_lo_u32: "mul24.lo.u32" { [0xff00_0002u32, 3u32] => 6u32, [0xff_ffffu32, 0xff_ffffu32] => 0xfe00_0001u32, }
    mul24_hi_s32: "mul24.hi.s32" { [0x00ff_ffff, 1] => -1, [0x40_0000, 0x40_0000] => 0x1000_0000, }
    mul24_hi_u32: "mul24.hi.u32" { [0xff_ffffu32, 0xff_ffffu32] => 0xffff_fe00u32, }
    mad24_lo_s32: "mad24.lo.s32" { [0x00ff_ffff, 5, 7] => 2, }
    mad24_lo_u32: "mad24.lo.u32" { [0x0100_0003u32, 5u32, 7u32] => 22u32, }
    mad24_hi_s32: "mad24.hi.s32" { [0x00ff_ffff, 1, 1] => 0, }
    mad24_hi_u32: "mad24.hi.u32" { [0xff_ffffu32, 0xff_ffffu32, 0x200u32] => 0u32, }
    mad24_hi_sat_s32: "mad24.hi.sat.s32" { [0x40_0000, 0x40_0000, MAX32] => MAX32, }

    sad_u16: "sad.u16" { [3u16, 10u16, 1u16] => 8u16, }
    sad_s16: "sad.s16" { [i16::MIN, i16::MAX, 1i16] => 0u16, }
    sad_u32: "sad.u32" { [0u32, u32::MAX, 2u32] => 1u32, [5u32, 3u32, 10u32] => 12u32, }
    sad_s32: "sad.s32" { [MIN32, MAX32, 0] => u32::MAX, [-5, 3, 10] => 18, }
    sad_u64: "sad.u64" { [1u64, 1u64 << 40, 1u64] => 1u64 << 40, }
    sad_s64: "sad.s64" { [-1i64, 1i64, 5i64] => 7i64, }

    div_u16: "div.u16" { [7u16, 2u16] => 3u16, [0xffffu16, 1u16] => 0xffffu16, [5u16, 0u16] => 0xffffu16, }
    div_s16: "div.s16" { [-7i16, 2i16] => -3i16, [i16::MIN, -1i16] => i16::MIN, [5i16, 0i16] => -1i16, }
    div_u32: "div.u32" {
        [7u32, 2u32] => 3u32, [u32::MAX, 1u32] => u32::MAX, [u32::MAX, u32::MAX] => 1u32,
        [u32::MAX - 1, u32::MAX] => 0u32, [0x8000_0000u32, 3u32] => 0x2aaa_aaaau32,
        // By zero: all ones, as on hardware.
        [5u32, 0u32] => u32::MAX, [0u32, 0u32] => u32::MAX,
    }
    div_s32: "div.s32" {
        [-7, 2] => -3, [7, -2] => -3, [-7, -2] => 3, [MIN32, 1] => MIN32, [MIN32, -1] => MIN32, [MIN32, MIN32] => 1,
        [MAX32, MIN32] => 0, [5, 0] => -1, [-5, 0] => -1,
    }
    div_u64: "div.u64" { [u64::MAX, 3u64] => u64::MAX / 3, [5u64, 0u64] => u64::MAX, }
    div_s64: "div.s64" { [-7i64, 2i64] => -3i64, [MIN64, -1i64] => MIN64, [5i64, 0i64] => -1i64, }
    rem_u16: "rem.u16" { [7u16, 4u16] => 3u16, [7u16, 0u16] => 7u16, }
    rem_s16: "rem.s16" { [-7i16, 4i16] => -3i16, [i16::MIN, -1i16] => 0i16, }
    rem_u32: "rem.u32" {
        [u32::MAX, 10u32] => 5u32, [7u32, 0u32] => 7u32, [u32::MAX, 0x8000_0001u32] => 0x7fff_fffeu32,
    }
    rem_s32: "rem.s32" { [-7, 4] => -3, [7, -4] => 3, [MIN32, -1] => 0, [MIN32, 3] => -2, [-7, 0] => -7, }
    rem_u64: "rem.u64" { [u64::MAX, 10u64] => 5u64, [7u64, 0u64] => 7u64, }
    rem_s64: "rem.s64" { [-7i64, 4i64] => -3i64, [MIN64, -1i64] => 0i64, [-7i64, 0i64] => -7i64, }

    abs_s16: "abs.s16" { [-5i16] => 5i16, [i16::MIN] => i16::MIN, }
    abs_s32: "abs.s32" { [-5] => 5, [5] => 5, [MIN32] => MIN32, }
    abs_s64: "abs.s64" { [-5i64] => 5i64, [MIN64] => MIN64, }
    neg_s16: "neg.s16" { [5i16] => -5i16, [i16::MIN] => i16::MIN, }
    neg_s32: "neg.s32" { [5] => -5, [0] => 0, [MIN32] => MIN32, }
    neg_s64: "neg.s64" { [5i64] => -5i64, [MIN64] => MIN64, }

    min_u16: "min.u16" { [1u16, 0xffffu16] => 1u16, }
    min_s16: "min.s16" { [1i16, -1i16] => -1i16, }
    min_u32: "min.u32" { [1u32, u32::MAX] => 1u32, }
    min_s32: "min.s32" { [1, -1] => -1, [MIN32, MAX32] => MIN32, }
    min_u64: "min.u64" { [1u64, u64::MAX] => 1u64, }
    min_s64: "min.s64" { [1i64, -1i64] => -1i64, }
    max_u16: "max.u16" { [1u16, 0xffffu16] => 0xffffu16, }
    max_s16: "max.s16" { [1i16, -1i16] => 1i16, }
    max_u32: "max.u32" { [1u32, u32::MAX] => u32::MAX, }
    max_s32: "max.s32" { [1, -1] => 1, }
    max_u64: "max.u64" { [1u64, u64::MAX] => u64::MAX, }
    max_s64: "max.s64" { [1i64, -1i64] => 1i64, }
    min_relu_s32: "min.relu.s32" { [-5, 3] => 0, [5, 3] => 3, }
    max_relu_s32: "max.relu.s32" { [-5, -3] => 0, [-5, 3] => 3, }

    dp4a_u32_u32: "dp4a.u32.u32" { [0xff01_0203u32, 0xff04_0506u32, 10u32] => 65025u32 + 4 + 10 + 18 + 10, }
    dp4a_s32_s32: "dp4a.s32.s32" { [0xff01_0203u32, 0xff04_0506u32, 10u32] => 1u32 + 4 + 10 + 18 + 10, }
    dp4a_u32_s32: "dp4a.u32.s32" { [0xff00_0000u32, 0xff00_0000u32, 0u32] => -255, }
    dp4a_s32_u32: "dp4a.s32.u32" { [0xfe00_0000u32, 0xff00_0000u32, 0u32] => -510, }
    dp2a_lo_u32_u32: "dp2a.lo.u32.u32" { [0x0002_ffffu32, 0x0403_02ffu32, 1u32] => 0xffffu32 * 255 + 4 + 1, }
    dp2a_hi_s32_s32: "dp2a.hi.s32.s32" { [0x0002_ffffu32, 0xff03_0201u32, 0u32] => -3 - 2, }
    vabsdiff4_add: "vabsdiff4.u32.u32.u32.add" { [0x01ff_0305u32, 0x0400_0307u32, 100u32] => 100u32 + 3 + 255 + 2, }
    vabsdiff4: "vabsdiff4.u32.u32.u32" { [0x01ff_0305u32, 0x0400_0307u32, 0u32] => 0x03ff_0002u32, }
}
