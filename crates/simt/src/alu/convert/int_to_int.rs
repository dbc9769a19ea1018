//! Integers to integers.

use super::super::kernel::{Body, Inputs, Lane, Output, map1};
use super::super::select::Form;
use super::super::{AluOp, Shape};
use super::{Int, Plan, widths};
use std::marker::PhantomData;
use warpwatt_ptx::ir::Type;

/// Extends, and with `SAT` clamps, as the plan says; `D` is the destination's row.
struct Extend<D, const SAT: bool>(PhantomData<D>);

impl<D, const SAT: bool> Clone for Extend<D, SAT> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, const SAT: bool> Copy for Extend<D, SAT> {}

/// A destination row.
pub(super) trait Register: Lane {
    fn cut(bits: u64) -> Self;
}

impl Register for u32 {
    #[inline(always)]
    fn cut(bits: u64) -> u32 {
        bits as u32
    }
}

impl Register for u64 {
    #[inline(always)]
    fn cut(bits: u64) -> u64 {
        bits
    }
}

impl<D: Register, const SAT: bool> Body for Extend<D, SAT> {
    const SHAPE: Shape = Shape::new(D::DEST, &[Type::U32]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let plan = Plan::decode(param);
        for lane in 0..32 {
            let value = plan.read(inputs.rows[0], lane);
            let value = if SAT { clamp(value, plan) } else { plan.dest.extend(value) };
            D::put(&mut output.window, lane, D::cut(plan.cut(value)));
        }
    }
}

/// The nearest value of the destination type.
#[inline(always)]
fn clamp(value: u64, plan: Plan) -> u64 {
    if plan.source.signed && (value as i64) < plan.dest.min() {
        return plan.dest.min() as u64;
    }
    let above = if plan.source.signed { value as i64 > 0 && value > plan.dest.max() } else { value > plan.dest.max() };
    if above { plan.dest.max() } else { value }
}

pub(super) fn select(form: &Form<'_>, to: Int, from: Int, types: (Type, Type)) -> Option<AluOp> {
    let (register, source_register) = widths(form, types.0, types.1);
    let source_wide = source_register == 64;
    let sat = form.mods.sat;
    if !sat {
        // What remains of a narrowing or plain conversion, and of the widening ones from 32 to 64 bits.
        match (to.bits, from.bits, register, source_wide) {
            (32, 32 | 64, 32, true) => return form.op(map1(|a: u64| a as u32)),
            (32, 32, 32, false) => return form.op(map1(|a: u32| a)),
            (16, 16.., 16, false) => return form.op(map1(|a: u16| a)),
            (64, 64, 64, true) => return form.op(map1(|a: u64| a)),
            (64, 32, 64, false) if from.signed => return form.op(map1(|a: i32| a as i64)),
            (64, 32, 64, false) => return form.op(map1(|a: u32| a as u64)),
            (32, 16, 32, false) if from.signed => return form.op(map1(|a: i16| a as i32)),
            (32, 16, 32, false) => return form.op(map1(|a: u16| a as u32)),
            (32, 8, 32, false) if from.signed => return form.op(map1(|a: i8| a as i32)),
            (32, 8, 32, false) => return form.op(map1(|a: u8| a as u32)),
            _ => {}
        }
    }
    let plan = Plan { source: from, source_wide, dest: to, register, flags: 0 }.encode();
    match (register, sat) {
        (64, false) => form.rare_with(Extend::<u64, false>(PhantomData), plan),
        (64, true) => form.rare_with(Extend::<u64, true>(PhantomData), plan),
        (_, false) => form.rare_with(Extend::<u32, false>(PhantomData), plan),
        (_, true) => form.rare_with(Extend::<u32, true>(PhantomData), plan),
    }
}
