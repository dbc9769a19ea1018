//! Lanes, masks, literals, and the two compilations.

use crate::harness::{literal, op};
use warpwatt_ptx::ir::{Operand, RegId, Type};
use warpwatt_simt::alu::{Level, Row, Window, immediate_bits, lanes64, lanes64_mut, merge64};

/// A lane's result depends on its own operands only: each lane alone gives what all give together.
#[test]
fn lanes_are_independent() {
    let pattern =
        |k: u64| std::array::from_fn::<u64, 32, _>(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ k << 40));
    let forms = [
        ("add.s32", 2),
        ("mul.wide.u32", 2),
        ("mad.lo.s64", 3),
        ("div.s32", 2),
        ("bfe.s64", 3),
        ("prmt.b32", 3),
        ("fma.rm.f32", 3),
        ("fma.rz.f64", 3),
        ("sin.approx.f32", 1),
        ("setp.ltu.f32", 2),
        ("setp.ge.xor.s64", 3),
        ("selp.f64", 3),
        ("fma.rn.f16x2", 3),
        ("cvt.rn.f16.f32", 1),
        ("cvt.rzi.s64.f64", 1),
        ("cvt.sat.s8.s64", 1),
    ];
    for (form, count) in forms {
        let op = op(form, count);
        let sources: Vec<[u64; 32]> = (0..count as u64).map(pattern).collect();
        let together = op.lanes(&sources, 0).lanes;
        for lane in 0..32 {
            let alone: Vec<u64> = sources.iter().map(|s| s[lane]).collect();
            assert_eq!(op.all(&alone), together[lane], "{form}, lane {lane}");
        }
    }
}

#[test]
fn merging_takes_the_lanes_of_the_mask() {
    let old = Row(std::array::from_fn(|i| i as u32));
    let new = Row(std::array::from_fn(|i| 100 + i as u32));
    for mask in [0, 1, 0x8000_0000, 0x0f0f_1234, u32::MAX] {
        let mut row = old;
        row.merge(&new, mask);
        let mut to: Window = bytemuck::cast::<[u64; 32], Window>(std::array::from_fn(|i| i as u64));
        let from: Window = bytemuck::cast::<[u64; 32], Window>(std::array::from_fn(|i| (100 + i as u64) << 32));
        merge64(&mut to, &from, mask);
        for lane in 0..32 {
            let taken = mask >> lane & 1 != 0;
            assert_eq!(row.0[lane], lane as u32 + if taken { 100 } else { 0 });
            assert_eq!(lanes64(&to)[lane], if taken { (100 + lane as u64) << 32 } else { lane as u64 });
        }
    }
    let mut window: Window = [Row::ZERO; 2];
    lanes64_mut(&mut window)[31] = 7;
    assert_eq!(lanes64(&window)[31], 7);
}

#[test]
fn literals_are_read_as_the_source_type() {
    let one = 1f32.to_bits() as u64;
    let bits = |ty, operand| immediate_bits(ty, &operand);
    assert_eq!(bits(Type::S32, Operand::Int(-1)), Some(0xffff_ffff));
    assert_eq!(bits(Type::U16, Operand::Int(-1)), Some(0xffff));
    assert_eq!(bits(Type::S64, Operand::Int(-1)), Some(u64::MAX));
    assert_eq!(bits(Type::B32, Operand::Int(0x1_2345_6789)), Some(0x2345_6789));
    assert_eq!(bits(Type::F32, Operand::Int(1)), Some(one));
    assert_eq!(bits(Type::F64, Operand::Int(1)), Some(1f64.to_bits()));
    assert_eq!(bits(Type::F32, Operand::F32(0x3f80_0001)), Some(0x3f80_0001));
    assert_eq!(bits(Type::B32, Operand::F32(0x3f80_0001)), Some(0x3f80_0001));
    assert_eq!(bits(Type::F32, Operand::F64(1f64.to_bits())), Some(one));
    assert_eq!(bits(Type::F64, Operand::F32(one as u32)), Some(1f64.to_bits()));
    assert_eq!(bits(Type::F64, Operand::F64(0x3ff0_0000_0000_0001)), Some(0x3ff0_0000_0000_0001));
    assert_eq!(bits(Type::F16, Operand::Int(0x3c00)), Some(0x3c00));
    assert_eq!(bits(Type::F32, Operand::Reg(RegId(0))), None);
    assert_eq!(literal(Type::S32, 0xffff_fffe)[0], Row([0xffff_fffe; 32]));
    assert_eq!(lanes64(&literal(Type::S64, 1 << 40)), &[1 << 40; 32]);
}

/// The harness runs both compilations of every form; say so if they are the same here.
#[test]
fn both_compilations_are_tested() {
    assert!(!Level::portable().is_wide());
    if !Level::detect().is_wide() {
        warpwatt_workloads::reference::skipped("this processor lacks AVX2/FMA, only the baseline code was tested");
    }
}
