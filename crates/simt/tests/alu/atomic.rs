//! The arithmetic of atomics.

use warpwatt_simt::alu::atomic_apply;
use warpwatt_simt::effect::AtomicOp::*;
use warpwatt_simt::effect::AtomicType::{self, *};

#[test]
fn integers() {
    let neg = |x: i32| x as u32 as u64;
    let cases: &[(_, AtomicType, u64, u64, u64, u64)] = &[
        (Add, U32, 0xffff_ffff, 2, 0, 1),
        (Add, S32, neg(-1), 1, 0, 0),
        (Add, U64, u64::MAX, 2, 0, 1),
        (Add, S64, u64::MAX, 1, 0, 0),
        (Min, U32, 5, 0xffff_ffff, 0, 5),
        (Min, S32, 5, neg(-1), 0, neg(-1)),
        (Min, U64, 5, u64::MAX, 0, 5),
        (Min, S64, 5, u64::MAX, 0, u64::MAX),
        (Max, U32, 5, 0xffff_ffff, 0, 0xffff_ffff),
        (Max, S32, 5, neg(-1), 0, 5),
        (Max, U64, 5, u64::MAX, 0, u64::MAX),
        (Max, S64, 5, u64::MAX, 0, 5),
        (And, U32, 0xff, 0x0f, 0, 0x0f),
        (Or, U32, 0xf0, 0x0f, 0, 0xff),
        (Xor, U64, u64::MAX, 1, 0, u64::MAX - 1),
        (Inc, U32, 5, 7, 0, 6),
        (Inc, U32, 7, 7, 0, 0),
        (Inc, U32, 9, 7, 0, 0),
        (Dec, U32, 5, 7, 0, 4),
        (Dec, U32, 0, 7, 0, 7),
        (Dec, U32, 9, 7, 0, 7),
        (Exch, U32, 1, 2, 0, 2),
        (Exch, U64, 1, 1 << 40, 0, 1 << 40),
        (Cas, U32, 5, 5, 9, 9),
        (Cas, U32, 4, 5, 9, 4),
        (Cas, U64, 1 << 40, 1 << 40, 9, 9),
    ];
    for &(op, ty, old, operand, swap, want) in cases {
        assert_eq!(atomic_apply(op, ty, old, operand, swap), want, "{op:?} {ty:?} {old:#x} {operand:#x}");
    }
}

#[test]
fn garbage_above_32_bits_is_ignored() {
    assert_eq!(atomic_apply(Cas, U32, 5, 0xdead_0000_0005, 0xbeef_0000_0007), 7);
    assert_eq!(atomic_apply(Add, U32, 0x1_0000_0001, 0x1_0000_0001, 0), 2);
    assert_eq!(atomic_apply(Max, U32, 1, 0xf_0000_0000, 0), 1);
}

#[test]
fn floats() {
    let f32s =
        |a: f32, b: f32| f32::from_bits(atomic_apply(Add, F32, a.to_bits() as u64, b.to_bits() as u64, 0) as u32);
    assert_eq!(f32s(1.5, 2.25), 3.75);
    assert_eq!(f32s(f32::from_bits(1), f32::from_bits(1)), f32::from_bits(2));
    assert_eq!(f32s(f32::INFINITY, f32::NEG_INFINITY).to_bits(), 0x7fff_ffff);
    let f64s = |a: f64, b: f64| f64::from_bits(atomic_apply(Add, F64, a.to_bits(), b.to_bits(), 0));
    assert_eq!(f64s(1.5, 2.25), 3.75);
    assert_eq!(f64s(0.1, 0.2), 0.1 + 0.2);
    assert_eq!(atomic_apply(Add, F16x2, 0x3c00_4000, 0x4000_bc00, 0), 0x4200_3c00);
}
