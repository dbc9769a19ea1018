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

/// One instruction. It reads the flag through the lane mask in its parameter, and always computes the new one.
struct Carry<T, const OP: u8>(PhantomData<T>);

impl<T, const OP: u8> Clone for Carry<T, OP> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const OP: u8> Copy for Carry<T, OP> {}

impl<T: Wide, const OP: u8> Body for Carry<T, OP> {
    const SHAPE: Shape =
        Shape::new(T::DEST, if OP <= DIFFERENCE { &[T::TYPE, T::TYPE] } else { &[T::TYPE, T::TYPE, T::TYPE] });

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let carries = inputs.carry & param as u32;
        let mut flags = 0;
        for lane in 0..32 {
            let carry = carries >> lane & 1 != 0;
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

/// `T` is unsigned: signedness matters to the high half of a product only, whose type is `H`.
fn op<T: Wide, H: Wide>(form: &Form<'_>) -> Option<AluOp> {
    let carry_in = matches!(form.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    let carry_out = form.mods.cc;
    let param = if carry_in { u32::MAX as u64 } else { 0 };
    let mut op = match (form.opcode, form.mods.part) {
        (Opcode::Add | Opcode::Addc, _) => form.op_with(Carry::<T, SUM>(PhantomData), param),
        (Opcode::Sub | Opcode::Subc, _) => form.op_with(Carry::<T, DIFFERENCE>(PhantomData), param),
        (Opcode::Mad | Opcode::Madc, Some(MulPart::Lo)) => form.op_with(Carry::<T, LOW>(PhantomData), param),
        (Opcode::Mad | Opcode::Madc, Some(MulPart::Hi)) => form.op_with(Carry::<H, HIGH>(PhantomData), param),
        _ => None,
    }?;
    (op.shape.carry_in, op.shape.carry_out) = (carry_in, carry_out);
    Some(op)
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    match form.ty()? {
        Type::U32 => op::<u32, u32>(form),
        Type::S32 => op::<u32, i32>(form),
        Type::U64 => op::<u64, u64>(form),
        Type::S64 => op::<u64, i64>(form),
        _ => None,
    }
}
