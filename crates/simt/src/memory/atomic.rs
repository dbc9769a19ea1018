//! What an atomic operation makes of its operands (PTX manual, `atom`).

use crate::effect::{AtomicOp, AtomicType};

impl AtomicType {
    /// Size of the memory word.
    pub fn bytes(self) -> u32 {
        match self {
            AtomicType::U64 | AtomicType::S64 | AtomicType::F64 => 8,
            _ => 4,
        }
    }
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

fn canonical32(x: f32) -> u64 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() as u64 }
}

fn canonical64(x: f64) -> u64 {
    if x.is_nan() { 0x7fff_ffff_ffff_ffff } else { x.to_bits() }
}

/// The new value of the memory word; all values are zero-extended bits. `global`: `add.f32` flushes subnormals.
pub fn apply(op: AtomicOp, ty: AtomicType, old: u64, operand: u64, swap: u64, global: bool) -> u64 {
    use AtomicOp::*;
    match ty {
        AtomicType::U32 | AtomicType::S32 => {
            let (a, b) = (old as u32, operand as u32);
            let signed = ty == AtomicType::S32;
            (match op {
                Add => a.wrapping_add(b),
                Min if signed => (a as i32).min(b as i32) as u32,
                Max if signed => (a as i32).max(b as i32) as u32,
                Min => a.min(b),
                Max => a.max(b),
                And => a & b,
                Or => a | b,
                Xor => a ^ b,
                // inc: (r >= s) ? 0 : r + 1; dec: (r == 0 || r > s) ? s : r - 1
                Inc => {
                    if a >= b {
                        0
                    } else {
                        a + 1
                    }
                }
                Dec => {
                    if a == 0 || a > b {
                        b
                    } else {
                        a - 1
                    }
                }
                Exch => b,
                Cas if a == b => swap as u32,
                Cas => a,
            }) as u64
        }
        AtomicType::U64 | AtomicType::S64 => {
            let (a, b) = (old, operand);
            let signed = ty == AtomicType::S64;
            match op {
                Add => a.wrapping_add(b),
                Min if signed => (a as i64).min(b as i64) as u64,
                Max if signed => (a as i64).max(b as i64) as u64,
                Min => a.min(b),
                Max => a.max(b),
                And => a & b,
                Or => a | b,
                Xor => a ^ b,
                Inc => {
                    if a >= b {
                        0
                    } else {
                        a + 1
                    }
                }
                Dec => {
                    if a == 0 || a > b {
                        b
                    } else {
                        a - 1
                    }
                }
                Exch => b,
                Cas if a == b => swap,
                Cas => a,
            }
        }
        AtomicType::F32 => {
            let (a, b) = (f32::from_bits(old as u32), f32::from_bits(operand as u32));
            match op {
                Add if global => canonical32(flush(flush(a) + flush(b))),
                Add => canonical32(a + b),
                Min => canonical32(a.min(b)),
                Max => canonical32(a.max(b)),
                _ => apply(op, AtomicType::U32, old, operand, swap, global),
            }
        }
        AtomicType::F64 => {
            let (a, b) = (f64::from_bits(old), f64::from_bits(operand));
            match op {
                Add => canonical64(a + b),
                Min => canonical64(a.min(b)),
                Max => canonical64(a.max(b)),
                _ => apply(op, AtomicType::U64, old, operand, swap, global),
            }
        }
        AtomicType::F16x2 => match op {
            Add => {
                let half = |shift: u32| {
                    let part = |v: u64| half::f16::from_bits((v >> shift) as u16).to_f32();
                    // The sum of two halves is exact in f32 or rounds the same way twice: 24 ≥ 2 × 11 + 2 bits.
                    let sum = half::f16::from_f32(part(old) + part(operand));
                    (if sum.is_nan() { 0x7fff } else { sum.to_bits() } as u64) << shift
                };
                half(0) | half(16)
            }
            _ => apply(op, AtomicType::U32, old, operand, swap, global),
        },
    }
}

/// Performs an atomic on the bytes of a memory word and gives the old value. `place` has [`AtomicType::bytes`] bytes.
pub(crate) fn on_bytes(place: &mut [u8], op: AtomicOp, ty: AtomicType, operand: u64, swap: u64, global: bool) -> u64 {
    let mut word = [0; 8];
    word[..place.len()].copy_from_slice(place);
    let old = u64::from_le_bytes(word);
    let new = apply(op, ty, old, operand, swap, global);
    place.copy_from_slice(&new.to_le_bytes()[..place.len()]);
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use AtomicOp::*;
    use AtomicType::*;

    #[test]
    fn increment_and_decrement_wrap_at_the_operand() {
        assert_eq!(apply(Inc, U32, 3, 5, 0, true), 4);
        assert_eq!(apply(Inc, U32, 5, 5, 0, true), 0);
        assert_eq!(apply(Inc, U32, 9, 5, 0, true), 0);
        assert_eq!(apply(Dec, U32, 3, 5, 0, true), 2);
        assert_eq!(apply(Dec, U32, 0, 5, 0, true), 5);
        assert_eq!(apply(Dec, U32, 9, 5, 0, true), 5);
    }

    #[test]
    fn float_add_flushes_subnormals_in_global_memory_only() {
        let tiny = f32::from_bits(1).to_bits() as u64;
        assert_eq!(apply(Add, F32, tiny, tiny, 0, true), 0);
        assert_eq!(apply(Add, F32, tiny, tiny, 0, false), 2);
    }

    #[test]
    fn signed_and_unsigned_minima_differ() {
        assert_eq!(apply(Min, S32, 1, 0xffff_ffff, 0, true), 0xffff_ffff);
        assert_eq!(apply(Min, U32, 1, 0xffff_ffff, 0, true), 1);
        assert_eq!(apply(Max, S64, 1, u64::MAX, 0, true), 1);
    }

    #[test]
    fn halves_add_apart() {
        // 1.0 + 2.0 in the low half, NaN in the high half.
        assert_eq!(apply(Add, F16x2, 0x7e00_3c00, 0x3c00_4000, 0, true), 0x7fff_4200);
    }
}
