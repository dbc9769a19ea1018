//! Extended-precision integer arithmetic: `add.cc addc sub.cc subc mad.cc madc` (PTX manual, "Extended-Precision Integer
//! Arithmetic Instructions"). The carry flag of a warp is one bit per lane; after a subtraction it is the borrow.

use super::kernel::{Body, Inputs, Lane, Output};
use super::select::Form;
use super::{AluOp, Shape};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{MulPart, Opcode, Type};

/// An integer with carry arithmetic.
trait Wide: Lane {
    fn add(self, other: Self, carry: bool) -> (Self, bool);
    fn sub(self, other: Self, borrow: bool) -> (Self, bool);
    fn low(self, other: Self) -> Self;
    fn high(self, other: Self) -> Self;
}

macro_rules! wide {
    ($($ty:ty, $double:ty, $unsigned:ty;)*) => {$(
        impl Wide for $ty {
            #[inline(always)]
            fn add(self, other: Self, carry: bool) -> (Self, bool) {
                let (a, b) = (self as $unsigned, other as $unsigned);
                let partial = a.wrapping_add(b);
                let sum = partial.wrapping_add(carry as $unsigned);
                (sum as $ty, (partial < a) | (sum < partial))
            }
            #[inline(always)]
            fn sub(self, other: Self, borrow: bool) -> (Self, bool) {
                let (a, b) = (self as $unsigned, other as $unsigned);
                let partial = a.wrapping_sub(b);
                let difference = partial.wrapping_sub(borrow as $unsigned);
                (difference as $ty, (a < b) | (partial < borrow as $unsigned))
            }
            #[inline(always)]
            fn low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn high(self, other: Self) -> Self {
                ((self as $double * other as $double) >> <$ty>::BITS) as $ty
            }
        }
    )*};
}

wide! {
    u32, u64, u32;
    i32, i64, u32;
    u64, u128, u64;
    i64, i128, u64;
}

const SUM: u8 = 0;
const DIFFERENCE: u8 = 1;
const LOW: u8 = 2;
const HIGH: u8 = 3;

/// One instruction: `OP`, whether it reads the flag, whether it writes it.
struct Carry<T, const OP: u8, const IN: bool, const OUT: bool>(PhantomData<T>);

impl<T, const OP: u8, const IN: bool, const OUT: bool> Clone for Carry<T, OP, IN, OUT> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const OP: u8, const IN: bool, const OUT: bool> Copy for Carry<T, OP, IN, OUT> {}

impl<T: Wide, const OP: u8, const IN: bool, const OUT: bool> Body for Carry<T, OP, IN, OUT> {
    const SHAPE: Shape = {
        let types: &[Type] = if OP <= DIFFERENCE { &[T::TYPE, T::TYPE] } else { &[T::TYPE, T::TYPE, T::TYPE] };
        Shape { carry_in: IN, carry_out: OUT, ..Shape::new(T::DEST, types) }
    };

    #[inline(always)]
    fn run(self, _param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let mut flags = 0;
        for lane in 0..32 {
            let carry = IN && inputs.carry >> lane & 1 != 0;
            let (a, b) = (T::get(inputs.rows[0], lane), T::get(inputs.rows[1], lane));
            let (result, flag) = match OP {
                SUM => a.add(b, carry),
                DIFFERENCE => a.sub(b, carry),
                LOW => a.low(b).add(T::get(inputs.rows[2], lane), carry),
                _ => a.high(b).add(T::get(inputs.rows[2], lane), carry),
            };
            T::put(&mut output.window, lane, result);
            flags |= (flag as u32) << lane;
        }
        output.carry = flags;
    }
}

fn op<T: Wide>(form: &Form<'_>) -> Option<AluOp> {
    macro_rules! forms {
        ($OP:ident, $in:expr) => {
            match ($in, form.mods.cc) {
                (false, false) => None,
                (false, true) => form.op(Carry::<T, $OP, false, true>(PhantomData)),
                (true, false) => form.op(Carry::<T, $OP, true, false>(PhantomData)),
                (true, true) => form.op(Carry::<T, $OP, true, true>(PhantomData)),
            }
        };
    }
    match (form.opcode, form.mods.part) {
        (Opcode::Add, _) => forms!(SUM, false),
        (Opcode::Addc, _) => forms!(SUM, true),
        (Opcode::Sub, _) => forms!(DIFFERENCE, false),
        (Opcode::Subc, _) => forms!(DIFFERENCE, true),
        (Opcode::Mad, Some(MulPart::Lo)) => forms!(LOW, false),
        (Opcode::Madc, Some(MulPart::Lo)) => forms!(LOW, true),
        (Opcode::Mad, Some(MulPart::Hi)) => forms!(HIGH, false),
        (Opcode::Madc, Some(MulPart::Hi)) => forms!(HIGH, true),
        _ => None,
    }
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    match form.ty()? {
        Type::U32 => op::<u32>(form),
        Type::S32 => op::<i32>(form),
        Type::U64 => op::<u64>(form),
        Type::S64 => op::<i64>(form),
        _ => None,
    }
}
