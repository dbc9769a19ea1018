//! Logic, shifts and bit fields (PTX manual, "Logic and Shift Instructions", "Integer Arithmetic Instructions" from
//! `popc` on, and `prmt`). Shift amounts are 32-bit and clamp to the width.

use super::kernel::{Body, Inputs, Output, map1, map2, map3, map4};
use super::select::Form;
use super::{AluOp, Dest, Shape};
use warpwatt_ptx::ir::{Opcode, PrmtMode, Type};

/// Logic on predicates: a truth table of two lane masks.
#[derive(Clone, Copy)]
struct Logic<F, const SOURCES: usize>(F);

impl<F: Fn(u32, u32) -> u32 + Copy, const SOURCES: usize> Body for Logic<F, SOURCES> {
    const SHAPE: Shape = Shape::new(Dest::Pred, if SOURCES == 1 { &[Type::Pred] } else { &[Type::Pred, Type::Pred] });

    #[inline(always)]
    fn run(self, _param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let result = (self.0)(inputs.preds[0], inputs.preds[1]);
        output.preds = [result, !result];
    }
}

/// Any function of three bits, by its truth table: bit `4a + 2b + c` of `table`.
#[inline(always)]
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for row in 0..8u32 {
        let pick = |x: u32, bit: u32| if row >> bit & 1 != 0 { x } else { !x };
        let term = pick(a, 2) & pick(b, 1) & pick(c, 0);
        result |= term & (table >> row & 1).wrapping_neg();
    }
    result
}

/// Funnel shift of `high:low`; `n` is at most 32.
#[inline(always)]
fn funnel<const RIGHT: bool>(low: u32, high: u32, n: u32) -> u32 {
    let both = (high as u64) << 32 | low as u64;
    if RIGHT { (both >> n) as u32 } else { (both << n >> 32) as u32 }
}

/// Four bytes of `b:a` chosen by nibbles; a nibble's top bit replicates the byte's sign.
#[inline(always)]
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let mut result = 0;
    for i in 0..4 {
        let nibble = selector >> (4 * i);
        let word = if nibble & 4 != 0 { b } else { a };
        let byte = word >> (8 * (nibble & 3)) & 0xff;
        let sign = (byte >> 7).wrapping_neg() & 0xff;
        result |= (if nibble & 8 != 0 { sign } else { byte }) << (8 * i);
    }
    result
}

/// Selectors of the special `prmt` modes, by the low two bits of the control operand (manual, table of `prmt`).
#[inline(always)]
fn special(selectors: [u32; 4], c: u32) -> u32 {
    let [s0, s1, s2, s3] = selectors;
    let low = if c & 1 != 0 { s1 } else { s0 };
    let high = if c & 1 != 0 { s3 } else { s2 };
    if c & 2 != 0 { high } else { low }
}

macro_rules! bit_field {
    ($extract:ident, $extract_signed:ident, $insert:ident, $ty:ty, $signed:ty) => {
        /// Bits `pos..pos + len`, zero-extended.
        #[inline(always)]
        fn $extract(a: $ty, pos: u32, len: u32) -> $ty {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let shifted = if pos < <$ty>::BITS { a >> (pos % <$ty>::BITS) } else { 0 };
            let mask = if len < <$ty>::BITS { !(<$ty>::MAX << (len % <$ty>::BITS)) } else { <$ty>::MAX };
            shifted & mask
        }

        /// Bits `pos..pos + len`, sign-extended; the sign is that of `a` where the field reaches beyond it.
        #[inline(always)]
        fn $extract_signed(a: $signed, pos: u32, len: u32) -> $signed {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let last = (pos + len).min(<$ty>::BITS);
            // Bring the field's last bit to the top, then its first bit to the bottom.
            let top = a << ((<$ty>::BITS - last) % <$ty>::BITS);
            let down = (<$ty>::BITS - last + pos).min(<$ty>::BITS - 1);
            if len == 0 { 0 } else { top >> down }
        }

        /// `b` with its bits `pos..pos + len` replaced by the low bits of `a`.
        #[inline(always)]
        fn $insert(a: $ty, b: $ty, pos: u32, len: u32) -> $ty {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let ones = if len < <$ty>::BITS { !(<$ty>::MAX << (len % <$ty>::BITS)) } else { <$ty>::MAX };
            let inside = pos < <$ty>::BITS;
            let mask = if inside { ones << (pos % <$ty>::BITS) } else { 0 };
            let field = if inside { a << (pos % <$ty>::BITS) } else { 0 };
            b & !mask | field & mask
        }
    };
}

bit_field!(extract32, extract_signed32, insert32, u32, i32);
bit_field!(extract64, extract_signed64, insert64, u64, i64);

/// Position of the first bit that is set, or all ones.
#[inline(always)]
fn find32<const SHIFT: bool>(a: u32) -> u32 {
    let position = 31u32.wrapping_sub(a.leading_zeros());
    if a == 0 {
        u32::MAX
    } else if SHIFT {
        31 - position
    } else {
        position
    }
}

/// Position of the first bit that is set, or all ones.
#[inline(always)]
fn find64<const SHIFT: bool>(a: u64) -> u32 {
    let zeros = a.leading_zeros();
    let found = if SHIFT { zeros } else { 63u32.wrapping_sub(zeros) };
    if a == 0 { u32::MAX } else { found }
}

/// Ones in `b` bits from bit `a` on.
#[inline(always)]
fn bit_mask<const WRAP: bool>(a: u32, b: u32) -> u32 {
    let (a, b) = if WRAP { (a & 31, b & 31) } else { (a, b) };
    insert32(u32::MAX, 0, a.min(32), b.min(32))
}

/// The low `n` bits of `a`, zero-extended.
#[inline(always)]
fn zero_extend<const WRAP: bool>(a: u32, n: u32) -> u32 {
    extract32(a, 0, if WRAP { n & 31 } else { n.min(32) })
}

/// The low `n` bits of `a`, sign-extended.
#[inline(always)]
fn sign_extend<const WRAP: bool>(a: i32, n: u32) -> i32 {
    extract_signed32(a, 0, if WRAP { n & 31 } else { n.min(32) })
}

macro_rules! shifts {
    ($left:ident, $right:ident, $arithmetic:ident, $ty:ty, $signed:ty) => {
        #[inline(always)]
        fn $left(a: $ty, n: u32) -> $ty {
            if n < <$ty>::BITS { a << (n % <$ty>::BITS) } else { 0 }
        }

        #[inline(always)]
        fn $right(a: $ty, n: u32) -> $ty {
            if n < <$ty>::BITS { a >> (n % <$ty>::BITS) } else { 0 }
        }

        #[inline(always)]
        fn $arithmetic(a: $signed, n: u32) -> $signed {
            a >> n.min(<$ty>::BITS - 1)
        }
    };
}

shifts!(shl16, shr16, sar16, u16, i16);
shifts!(shl32, shr32, sar32, u32, i32);
shifts!(shl64, shr64, sar64, u64, i64);

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    use Opcode::*;
    use Type::*;
    // The manual wants `.b` types for logic; older assemblers took integers of the size too.
    let ty = form.ty()?;
    let size = if ty == Pred || ty.is_float() { 0 } else { ty.bytes() };
    match (form.opcode, ty, size) {
        (And, Pred, _) => form.op(Logic::<_, 2>(|a: u32, b: u32| a & b)),
        (Or, Pred, _) => form.op(Logic::<_, 2>(|a: u32, b: u32| a | b)),
        (Xor, Pred, _) => form.op(Logic::<_, 2>(|a: u32, b: u32| a ^ b)),
        (Not, Pred, _) => form.op(Logic::<_, 1>(|a: u32, _: u32| !a)),
        (And, _, 2) => form.op(map2(|a: u16, b: u16| a & b)),
        (And, _, 4) => form.op(map2(|a: u32, b: u32| a & b)),
        (And, _, 8) => form.op(map2(|a: u64, b: u64| a & b)),
        (Or, _, 2) => form.op(map2(|a: u16, b: u16| a | b)),
        (Or, _, 4) => form.op(map2(|a: u32, b: u32| a | b)),
        (Or, _, 8) => form.op(map2(|a: u64, b: u64| a | b)),
        (Xor, _, 2) => form.op(map2(|a: u16, b: u16| a ^ b)),
        (Xor, _, 4) => form.op(map2(|a: u32, b: u32| a ^ b)),
        (Xor, _, 8) => form.op(map2(|a: u64, b: u64| a ^ b)),
        (Not, _, 2) => form.op(map1(|a: u16| !a)),
        (Not, _, 4) => form.op(map1(|a: u32| !a)),
        (Not, _, 8) => form.op(map1(|a: u64| !a)),
        (Cnot, _, 2) => form.op(map1(|a: u16| (a == 0) as u16)),
        (Cnot, _, 4) => form.op(map1(|a: u32| (a == 0) as u32)),
        (Cnot, _, 8) => form.op(map1(|a: u64| (a == 0) as u64)),
        (Lop3, _, 4) if form.mods.bool_op.is_none() => form.op(map4(lop3)),
        (Shl, _, 2) => form.op(map2(shl16)),
        (Shl, _, 4) => form.op(map2(shl32)),
        (Shl, _, 8) => form.op(map2(shl64)),
        (Shr, S16, _) => form.op(map2(sar16)),
        (Shr, S32, _) => form.op(map2(sar32)),
        (Shr, S64, _) => form.op(map2(sar64)),
        (Shr, _, 2) => form.op(map2(shr16)),
        (Shr, _, 4) => form.op(map2(shr32)),
        (Shr, _, 8) => form.op(map2(shr64)),
        (Shf, _, 4) => match (form.mods.shf_right?, form.mods.wrap?) {
            (false, false) => form.op(map3(|a, b, c: u32| funnel::<false>(a, b, c.min(32)))),
            (false, true) => form.op(map3(|a, b, c: u32| funnel::<false>(a, b, c & 31))),
            (true, false) => form.op(map3(|a, b, c: u32| funnel::<true>(a, b, c.min(32)))),
            (true, true) => form.op(map3(|a, b, c: u32| funnel::<true>(a, b, c & 31))),
        },
        (Prmt, _, 4) => select_permute(form),
        (Popc, _, 4) => form.op(map1(|a: u32| a.count_ones())),
        (Popc, _, 8) => form.op(map1(|a: u64| a.count_ones())),
        (Clz, _, 4) => form.op(map1(|a: u32| a.leading_zeros())),
        (Clz, _, 8) => form.op(map1(|a: u64| a.leading_zeros())),
        (Brev, _, 4) => form.op(map1(|a: u32| a.reverse_bits())),
        (Brev, _, 8) => form.op(map1(|a: u64| a.reverse_bits())),
        (Bfind, ..) => select_find(form, ty),
        (Bfe, U32, _) => form.op(map3(extract32)),
        (Bfe, S32, _) => form.op(map3(extract_signed32)),
        (Bfe, U64, _) => form.op(map3(extract64)),
        (Bfe, S64, _) => form.op(map3(extract_signed64)),
        (Bfi, _, 4) => form.op(map4(insert32)),
        (Bfi, _, 8) => form.op(map4(insert64)),
        (Bmsk, _, 4) => match form.mods.wrap? {
            false => form.op(map2(bit_mask::<false>)),
            true => form.op(map2(bit_mask::<true>)),
        },
        (Szext, U32, _) => match form.mods.wrap? {
            false => form.op(map2(zero_extend::<false>)),
            true => form.op(map2(zero_extend::<true>)),
        },
        (Szext, S32, _) => match form.mods.wrap? {
            false => form.op(map2(sign_extend::<false>)),
            true => form.op(map2(sign_extend::<true>)),
        },
        _ => None,
    }
}

fn select_find(form: &Form<'_>, ty: Type) -> Option<AluOp> {
    match (ty, form.mods.shiftamt) {
        (Type::U32, false) => form.op(map1(find32::<false>)),
        (Type::U32, true) => form.op(map1(find32::<true>)),
        (Type::S32, false) => form.op(map1(|a: i32| find32::<false>((a ^ (a >> 31)) as u32))),
        (Type::S32, true) => form.op(map1(|a: i32| find32::<true>((a ^ (a >> 31)) as u32))),
        (Type::U64, false) => form.op(map1(find64::<false>)),
        (Type::U64, true) => form.op(map1(find64::<true>)),
        (Type::S64, false) => form.op(map1(|a: i64| find64::<false>((a ^ (a >> 63)) as u64))),
        (Type::S64, true) => form.op(map1(|a: i64| find64::<true>((a ^ (a >> 63)) as u64))),
        _ => None,
    }
}

fn select_permute(form: &Form<'_>) -> Option<AluOp> {
    macro_rules! mode {
        ($s0:literal, $s1:literal, $s2:literal, $s3:literal) => {
            form.op(map3(|a, b, c: u32| permute(a, b, special([$s0, $s1, $s2, $s3], c))))
        };
    }
    match form.mods.prmt {
        None => form.op(map3(permute)),
        Some(PrmtMode::F4e) => mode!(0x3210, 0x4321, 0x5432, 0x6543),
        Some(PrmtMode::B4e) => mode!(0x5670, 0x6701, 0x7012, 0x0123),
        Some(PrmtMode::Rc8) => mode!(0x0000, 0x1111, 0x2222, 0x3333),
        Some(PrmtMode::Ecl) => mode!(0x3210, 0x3211, 0x3222, 0x3333),
        Some(PrmtMode::Ecr) => mode!(0x0000, 0x1110, 0x2210, 0x3210),
        Some(PrmtMode::Rc16) => mode!(0x1010, 0x3232, 0x1010, 0x3232),
    }
}
