//! Register rows: one value per lane, side by side, so that a loop over the lanes vectorizes.

use bytemuck::{Pod, Zeroable};
use warpwatt_ptx::ir::{Operand, Type};

/// A 32-bit register: one value per lane. Values of 8 and 16 bits (integers, `f16`, `bf16`) lie zero-extended in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [u32; 32]);

impl Row {
    /// All lanes zero.
    pub const ZERO: Row = Row([0; 32]);

    /// The same value in all lanes.
    #[inline(always)]
    pub fn broadcast(value: u32) -> Row {
        Row([value; 32])
    }

    /// Replaces the lanes of `mask` by those of `from`.
    #[inline(always)]
    pub fn merge(&mut self, from: &Row, mask: u32) {
        if mask == u32::MAX {
            *self = *from;
        } else {
            for lane in 0..32 {
                let old = self.0[lane];
                self.0[lane] = if mask >> lane & 1 != 0 { from.0[lane] } else { old };
            }
        }
    }
}

/// Two consecutive rows, from a register's first row on. A 64-bit register fills the window: it is read and written as
/// `[u64; 32]` through [`lanes64`] and [`lanes64_mut`]. Of a 32-bit register's window only the first row counts, so a
/// register file needs one spare row at its end.
pub type Window = [Row; 2];

/// A window of zeros, for unused sources.
pub static ZERO: Window = [Row::ZERO; 2];

/// The 64-bit lanes of a window.
#[inline(always)]
pub fn lanes64(window: &Window) -> &[u64; 32] {
    bytemuck::cast_ref(window)
}

/// The 64-bit lanes of a window.
#[inline(always)]
pub fn lanes64_mut(window: &mut Window) -> &mut [u64; 32] {
    bytemuck::cast_mut(window)
}

/// Replaces the 64-bit lanes of `mask` by those of `from`.
#[inline(always)]
pub fn merge64(to: &mut Window, from: &Window, mask: u32) {
    if mask == u32::MAX {
        *to = *from;
    } else {
        let (to, from) = (lanes64_mut(to), lanes64(from));
        for lane in 0..32 {
            let old = to[lane];
            to[lane] = if mask >> lane & 1 != 0 { from[lane] } else { old };
        }
    }
}

/// The bits of an immediate operand read as type `ty`, zero-extended: integers cut to the type's size, floating literals
/// converted to the type, integer literals for floating types converted too. `None` if `operand` is not a literal.
pub fn immediate_bits(ty: Type, operand: &Operand) -> Option<u64> {
    let as_f64 = match *operand {
        Operand::Int(value) if !matches!(ty, Type::F32 | Type::F64) => {
            let bits = 8 * ty.bytes();
            return Some(if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) });
        }
        Operand::F32(bits) if matches!(ty.bytes(), 4) && ty != Type::F16x2 => return Some(bits as u64),
        Operand::F64(bits) if ty.bytes() == 8 => return Some(bits),
        Operand::Int(value) => value as f64,
        Operand::F32(bits) => f32::from_bits(bits) as f64,
        Operand::F64(bits) => f64::from_bits(bits),
        _ => return None,
    };
    Some(match ty {
        Type::F32 | Type::B32 | Type::U32 | Type::S32 | Type::Tf32 => (as_f64 as f32).to_bits() as u64,
        Type::F64 | Type::B64 | Type::U64 | Type::S64 => as_f64.to_bits(),
        _ => return None,
    })
}

/// A window with `bits` (as from [`immediate_bits`]) in every lane, laid out for type `ty`.
pub fn broadcast(ty: Type, bits: u64) -> Window {
    if ty.bytes() == 8 { bytemuck::cast([bits; 32]) } else { [Row::broadcast(bits as u32), Row::ZERO] }
}
