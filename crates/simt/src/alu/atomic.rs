//! The arithmetic of atomics (PTX manual, `atom`).

use super::float;
use super::half::{Binary16, Half};
use super::round::{RN, narrow_odd, sum_odd};
use crate::effect::{AtomicOp, AtomicType};

/// The new value of a memory cell that held `old`: `operand` is `b` (for `cas` the comparand), `swap` is `c`. Values are
/// bits, zero-extended. Floating-point addition rounds to nearest and supports subnormal numbers; the manual leaves
/// the flushing of `f32` subnormals on global memory to the target.
pub fn atomic_apply(op: AtomicOp, ty: AtomicType, old: u64, operand: u64, swap: u64) -> u64 {
    let wide = matches!(ty, AtomicType::U64 | AtomicType::S64 | AtomicType::F64);
    let mask = if wide { u64::MAX } else { u32::MAX as u64 };
    let (old, operand, swap) = (old & mask, operand & mask, swap & mask);
    let signed = |x: u64| if wide { x as i64 } else { x as u32 as i32 as i64 };
    let is_signed = matches!(ty, AtomicType::S32 | AtomicType::S64);
    let less = |x: u64, y: u64| if is_signed { signed(x) < signed(y) } else { x < y };
    let new = match op {
        AtomicOp::Add => match ty {
            AtomicType::F32 => add_f32(old as u32, operand as u32) as u64,
            AtomicType::F64 => super::double::add_nearest(f64::from_bits(old), f64::from_bits(operand)).to_bits(),
            AtomicType::F16x2 => {
                let part = |shift: u32| add_f16((old >> shift) as u32, (operand >> shift) as u32) << shift;
                (part(0) | part(16)) as u64
            }
            _ => old.wrapping_add(operand),
        },
        AtomicOp::Min => {
            if less(operand, old) {
                operand
            } else {
                old
            }
        }
        AtomicOp::Max => {
            if less(old, operand) {
                operand
            } else {
                old
            }
        }
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        // Counts up to the operand and wraps to zero.
        AtomicOp::Inc => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        // Counts down from the operand, to which zero and greater values wrap.
        AtomicOp::Dec => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        AtomicOp::Exch => operand,
        AtomicOp::Cas => {
            if old == operand {
                swap
            } else {
                old
            }
        }
    };
    new & mask
}

fn add_f32(a: u32, b: u32) -> u32 {
    float::add::<RN, false, false>(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

fn add_f16(a: u32, b: u32) -> u32 {
    let (a, b) = (Binary16::widen(a & 0xffff), Binary16::widen(b & 0xffff));
    Binary16::nearest(narrow_odd(sum_odd::<RN>(a as f64, b as f64)))
}
