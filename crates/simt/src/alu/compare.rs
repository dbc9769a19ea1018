//! Comparison and selection: `setp set selp slct testp` (PTX manual, "Comparison and Selection Instructions").

use super::half::{Binary16, Brain16, Half, bits};
use super::kernel::{Body, Inputs, Lane, Lanes, Output, map3, test1, test2};
use super::round::flush;
use super::select::Form;
use super::{AluOp, Dest, Shape};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{BoolOp, Cmp, Opcode, TestpOp, Type};

/// The low byte of a parameter: how a comparison's result combines with the predicate operand.
const NONE: u64 = 0;
const AND: u64 = 1;
const OR: u64 = 2;

#[inline(always)]
fn combine(result: u32, predicate: u32, param: u64) -> u32 {
    match param & 0xff {
        NONE => result,
        AND => result & predicate,
        OR => result | predicate,
        _ => result ^ predicate,
    }
}

/// `setp`: p = result op c, q = !result op c.
#[derive(Clone, Copy)]
struct SetPredicate<L>(L);

impl<L: Lanes> Body for SetPredicate<L> {
    const SHAPE: Shape = Shape::new(Dest::Pred, L::SOURCES);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let result = self.0.mask(inputs);
        let predicate = inputs.preds[0];
        output.preds = [combine(result, predicate, param), combine(!result, predicate, param)];
    }
}

/// Writes `value` to the lanes of a mask and zero to the others.
#[inline(always)]
fn spread(mask: u32, value: u32, output: &mut Output) {
    for lane in 0..32 {
        u32::put(&mut output.window, lane, if mask >> lane & 1 != 0 { value } else { 0 });
    }
}

/// `set`: the value of true is in the parameter's upper half.
#[derive(Clone, Copy)]
struct SetRegister<L>(L);

impl<L: Lanes> Body for SetRegister<L> {
    const SHAPE: Shape = Shape::new(Dest::Row32, L::SOURCES);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let mask = combine(self.0.mask(inputs), inputs.preds[0], param);
        spread(mask, (param >> 32) as u32, output);
    }
}

/// `op` as a `setp` or `set`, with the predicate operand if there is a Boolean operator.
fn finish(form: &Form<'_>, mut op: AluOp) -> Option<AluOp> {
    if form.mods.bool_op.is_some() {
        op.shape.sources[2] = Some(Type::Pred);
    }
    Some(op)
}

/// The parameter of a comparison.
fn param(form: &Form<'_>) -> Option<u64> {
    let operator = match form.mods.bool_op {
        None => NONE,
        Some(BoolOp::And) => AND,
        Some(BoolOp::Or) => OR,
        Some(BoolOp::Xor) => 3,
    };
    let yes = match (form.opcode, form.ty()?) {
        (Opcode::Setp, _) => 0,
        (_, Type::F32) => 1f32.to_bits(),
        (_, Type::U32 | Type::S32) => u32::MAX,
        (_, Type::U16 | Type::S16) => 0xffff,
        (_, Type::F16) => 0x3c00,
        (_, Type::Bf16) => 0x3f80,
        _ => return None,
    };
    Some((yes as u64) << 32 | operator)
}

fn emit<L: Lanes>(form: &Form<'_>, lanes: L) -> Option<AluOp> {
    let param = param(form)?;
    let op = if form.opcode == Opcode::Setp {
        form.op_with(SetPredicate(lanes), param)?
    } else {
        form.op_with(SetRegister(lanes), param)?
    };
    finish(form, op)
}

macro_rules! integers {
    ($form:expr, $cmp:expr, $ty:ty) => {
        match $cmp {
            Cmp::Eq => emit($form, test2(|a: $ty, b: $ty| a == b)),
            Cmp::Ne => emit($form, test2(|a: $ty, b: $ty| a != b)),
            Cmp::Lt => emit($form, test2(|a: $ty, b: $ty| a < b)),
            Cmp::Le => emit($form, test2(|a: $ty, b: $ty| a <= b)),
            Cmp::Gt => emit($form, test2(|a: $ty, b: $ty| a > b)),
            Cmp::Ge => emit($form, test2(|a: $ty, b: $ty| a >= b)),
            _ => None,
        }
    };
}

macro_rules! floats {
    ($form:expr, $cmp:expr, $ty:ty, $in:expr) => {
        match $cmp {
            Cmp::Eq => emit($form, test2(|a: $ty, b: $ty| $in(a) == $in(b))),
            Cmp::Ne => emit($form, test2(|a: $ty, b: $ty| ($in(a) < $in(b)) | ($in(a) > $in(b)))),
            Cmp::Lt => emit($form, test2(|a: $ty, b: $ty| $in(a) < $in(b))),
            Cmp::Le => emit($form, test2(|a: $ty, b: $ty| $in(a) <= $in(b))),
            Cmp::Gt => emit($form, test2(|a: $ty, b: $ty| $in(a) > $in(b))),
            Cmp::Ge => emit($form, test2(|a: $ty, b: $ty| $in(a) >= $in(b))),
            // Unordered: the opposite ordered comparison fails.
            Cmp::Equ => emit($form, test2(|a: $ty, b: $ty| !(($in(a) < $in(b)) | ($in(a) > $in(b))))),
            Cmp::Neu => emit($form, test2(|a: $ty, b: $ty| $in(a) != $in(b))),
            Cmp::Ltu => emit($form, test2(|a: $ty, b: $ty| !($in(a) >= $in(b)))),
            Cmp::Leu => emit($form, test2(|a: $ty, b: $ty| !($in(a) > $in(b)))),
            Cmp::Gtu => emit($form, test2(|a: $ty, b: $ty| !($in(a) <= $in(b)))),
            Cmp::Geu => emit($form, test2(|a: $ty, b: $ty| !($in(a) < $in(b)))),
            Cmp::Num => emit($form, test2(|a: $ty, b: $ty| !(a.is_nan() | b.is_nan()))),
            Cmp::Nan => emit($form, test2(|a: $ty, b: $ty| a.is_nan() | b.is_nan())),
            _ => None,
        }
    };
}

/// Half-precision `setp` (one value or a pair, whose results are p and q) and `set`. The comparison is a truth table in
/// the parameter: of less, equal, greater, unordered.
struct HalfCompare<H, const N: usize, const SETP: bool>(PhantomData<H>);

impl<H, const N: usize, const SETP: bool> Clone for HalfCompare<H, N, SETP> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H, const N: usize, const SETP: bool> Copy for HalfCompare<H, N, SETP> {}

const LESS: u64 = 1 << 8;
const EQUAL: u64 = 1 << 9;
const GREATER: u64 = 1 << 10;
const UNORDERED: u64 = 1 << 11;
/// `.ftz`.
const FLUSH: u64 = 1 << 12;

impl<H: Half, const N: usize, const SETP: bool> Body for HalfCompare<H, N, SETP> {
    const SHAPE: Shape = {
        let ty = if N == 1 { H::TYPE } else { Type::B32 };
        Shape::new(if SETP { Dest::Pred } else { Dest::Row32 }, &[ty, ty])
    };

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let mut results = [0u32; 2];
        for (part, result) in results.iter_mut().enumerate().take(N) {
            let (mut less, mut equal, mut greater) = (0, 0, 0);
            for lane in 0..32 {
                let read = |window| {
                    let value = bits(window, lane, part);
                    let tiny = param & FLUSH != 0 && value & H::EXPONENT == 0;
                    H::widen(if tiny { value & 0x8000 } else { value })
                };
                let (a, b) = (read(inputs.rows[0]), read(inputs.rows[1]));
                less |= ((a < b) as u32) << lane;
                equal |= ((a == b) as u32) << lane;
                greater |= ((a > b) as u32) << lane;
            }
            let pick = |flag: u64, mask: u32| if param & flag != 0 { mask } else { 0 };
            *result = pick(LESS, less)
                | pick(EQUAL, equal)
                | pick(GREATER, greater)
                | pick(UNORDERED, !(less | equal | greater));
        }
        let second = if N == 2 { results[1] } else { !results[0] };
        let predicate = inputs.preds[0];
        if SETP {
            output.preds = [combine(results[0], predicate, param), combine(second, predicate, param)];
        } else {
            spread(combine(results[0], predicate, param), (param >> 32) as u32, output);
        }
    }
}

fn half<H: Half>(form: &Form<'_>, cmp: Cmp, pair: bool) -> Option<AluOp> {
    let table = match cmp {
        Cmp::Eq => EQUAL,
        Cmp::Ne => LESS | GREATER,
        Cmp::Lt => LESS,
        Cmp::Le => LESS | EQUAL,
        Cmp::Gt => GREATER,
        Cmp::Ge => GREATER | EQUAL,
        Cmp::Equ => EQUAL | UNORDERED,
        Cmp::Neu => LESS | GREATER | UNORDERED,
        Cmp::Ltu => LESS | UNORDERED,
        Cmp::Leu => LESS | EQUAL | UNORDERED,
        Cmp::Gtu => GREATER | UNORDERED,
        Cmp::Geu => GREATER | EQUAL | UNORDERED,
        Cmp::Num => LESS | EQUAL | GREATER,
        Cmp::Nan => UNORDERED,
        Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs => return None,
    };
    let param = param(form)? | table | if form.mods.ftz { FLUSH } else { 0 };
    let op = match (form.opcode, pair) {
        (Opcode::Setp, false) => form.op_with(HalfCompare::<H, 1, true>(PhantomData), param)?,
        (Opcode::Setp, true) => form.op_with(HalfCompare::<H, 2, true>(PhantomData), param)?,
        (_, false) => form.op_with(HalfCompare::<H, 1, false>(PhantomData), param)?,
        (_, true) => return None,
    };
    finish(form, op)
}

fn compare(form: &Form<'_>, ty: Type) -> Option<AluOp> {
    use Type::*;
    let cmp = form.mods.cmp?;
    match ty {
        F32 if form.mods.ftz => floats!(form, cmp, f32, flush::<true>),
        F32 => floats!(form, cmp, f32, flush::<false>),
        F64 => floats!(form, cmp, f64, std::convert::identity),
        F16 => half::<Binary16>(form, cmp, false),
        F16x2 => half::<Binary16>(form, cmp, true),
        Bf16 => half::<Brain16>(form, cmp, false),
        Bf16x2 => half::<Brain16>(form, cmp, true),
        _ => {
            let (cmp, unsigned) = match cmp {
                Cmp::Lo => (Cmp::Lt, true),
                Cmp::Ls => (Cmp::Le, true),
                Cmp::Hi => (Cmp::Gt, true),
                Cmp::Hs => (Cmp::Ge, true),
                cmp => (cmp, false),
            };
            match ty {
                S16 if !unsigned => integers!(form, cmp, i16),
                S32 if !unsigned => integers!(form, cmp, i32),
                S64 if !unsigned => integers!(form, cmp, i64),
                B16 | U16 | S16 => integers!(form, cmp, u16),
                B32 | U32 | S32 => integers!(form, cmp, u32),
                B64 | U64 | S64 => integers!(form, cmp, u64),
                _ => None,
            }
        }
    }
}

/// `selp`: a where the predicate holds, else b.
struct Choose<T>(PhantomData<T>);

impl<T> Clone for Choose<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Choose<T> {}

impl<T: Lane> Body for Choose<T> {
    const SHAPE: Shape = Shape::new(T::DEST, &[T::TYPE, T::TYPE, Type::Pred]);

    #[inline(always)]
    fn run(self, _param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let mask = inputs.preds[0];
        for lane in 0..32 {
            let (a, b) = (T::get(inputs.rows[0], lane), T::get(inputs.rows[1], lane));
            T::put(&mut output.window, lane, if mask >> lane & 1 != 0 { a } else { b });
        }
    }
}

fn select_choose(form: &Form<'_>) -> Option<AluOp> {
    use Type::*;
    match form.ty()? {
        B16 | U16 | S16 | F16 | Bf16 => form.op(Choose::<u16>(PhantomData)),
        B32 | U32 | S32 | F16x2 | Bf16x2 => form.op(Choose::<u32>(PhantomData)),
        // Apart from the integers for the sake of literals only.
        F32 => form.op(Choose::<f32>(PhantomData)),
        B64 | U64 | S64 => form.op(Choose::<u64>(PhantomData)),
        F64 => form.op(Choose::<f64>(PhantomData)),
        _ => None,
    }
}

/// `slct`: a where c ≥ 0, else b.
fn select_by_sign(form: &Form<'_>) -> Option<AluOp> {
    use Type::*;
    macro_rules! by_type {
        ($c:ty) => {
            match form.ty()? {
                B16 | U16 | S16 => form.op(map3(|a: u16, b: u16, c: $c| if c >= 0 as $c { a } else { b })),
                B32 | U32 | S32 => form.op(map3(|a: u32, b: u32, c: $c| if c >= 0 as $c { a } else { b })),
                F32 => form.op(map3(|a: f32, b: f32, c: $c| if c >= 0 as $c { a } else { b })),
                B64 | U64 | S64 => form.op(map3(|a: u64, b: u64, c: $c| if c >= 0 as $c { a } else { b })),
                F64 => form.op(map3(|a: f64, b: f64, c: $c| if c >= 0 as $c { a } else { b })),
                _ => None,
            }
        };
    }
    match form.mods.types[1]? {
        S32 => by_type!(i32),
        F32 if form.mods.ftz => match form.ty()? {
            // A flushed subnormal c is a zero.
            B16 | U16 | S16 => form.op(map3(|a: u16, b: u16, c| if flush::<true>(c) >= 0.0 { a } else { b })),
            B32 | U32 | S32 => form.op(map3(|a: u32, b: u32, c| if flush::<true>(c) >= 0.0 { a } else { b })),
            F32 => form.op(map3(|a: f32, b: f32, c| if flush::<true>(c) >= 0.0 { a } else { b })),
            B64 | U64 | S64 => form.op(map3(|a: u64, b: u64, c| if flush::<true>(c) >= 0.0 { a } else { b })),
            F64 => form.op(map3(|a: f64, b: f64, c| if flush::<true>(c) >= 0.0 { a } else { b })),
            _ => None,
        },
        F32 => by_type!(f32),
        _ => None,
    }
}

/// `testp`; zeros count as normal.
fn select_test(form: &Form<'_>) -> Option<AluOp> {
    macro_rules! tests {
        ($ty:ty) => {
            match form.mods.testp? {
                TestpOp::Finite => form.op(SetPredicate(test1(|a: $ty| a.is_finite()))),
                TestpOp::Infinite => form.op(SetPredicate(test1(|a: $ty| a.is_infinite()))),
                TestpOp::Number => form.op(SetPredicate(test1(|a: $ty| !a.is_nan()))),
                TestpOp::NotANumber => form.op(SetPredicate(test1(|a: $ty| a.is_nan()))),
                TestpOp::Normal => form.op(SetPredicate(test1(|a: $ty| a.is_normal() | (a == 0.0)))),
                TestpOp::Subnormal => form.op(SetPredicate(test1(|a: $ty| a.is_subnormal()))),
            }
        };
    }
    match form.ty()? {
        Type::F32 => tests!(f32),
        Type::F64 => tests!(f64),
        _ => None,
    }
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    match form.opcode {
        Opcode::Setp => compare(form, form.ty()?),
        Opcode::Set => compare(form, form.mods.types[1]?),
        Opcode::Selp => select_choose(form),
        Opcode::Slct => select_by_sign(form),
        Opcode::Testp => select_test(form),
        _ => None,
    }
}
