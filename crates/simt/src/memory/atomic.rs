//! What an atomic operation makes of its operands (PTX manual, `atom`).

use crate::alu::atomic_apply;
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

fn flush(bits: u32) -> u32 {
    if f32::from_bits(bits).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

/// The new value of the memory word; all values are zero-extended bits. `global`: `add.f32` flushes subnormal inputs and
/// results to zero, as the manual says of global memory.
pub fn apply(op: AtomicOp, ty: AtomicType, old: u64, operand: u64, swap: u64, global: bool) -> u64 {
    if global && op == AtomicOp::Add && ty == AtomicType::F32 {
        let flushed = |bits: u64| flush(bits as u32) as u64;
        return flushed(atomic_apply(op, ty, flushed(old), flushed(operand), swap));
    }
    atomic_apply(op, ty, old, operand, swap)
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
    fn float_add_flushes_subnormals_in_global_memory_only() {
        let tiny = f32::from_bits(1).to_bits() as u64;
        assert_eq!(apply(Add, F32, tiny, tiny, 0, true), 0);
        assert_eq!(apply(Add, F32, tiny, tiny, 0, false), 2);
    }
}
