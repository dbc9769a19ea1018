//! Comparison and selection: `setp set selp slct testp` (PTX manual, "Comparison and Selection Instructions").

use super::half::{Binary16, Brain16, Half, bits};
use super::kernel::{Body, Inputs, Lane, Lanes, Output, map3, test1, test2};
use super::round::flush;
use super::select::Form;
use super::{AluOp, Dest, Shape};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{BoolOp, Cmp, Opcode, TestpOp, Type};

/// Parameter of a comparison, low byte: how its result combines with the predicate operand.
const NONE: u64 = 0;
const AND: u64 = 1;
const OR: u64 = 2;
const XOR: u64 = 3;
/// The comparison's complement is meant.
const NOT: u64 = 1 << 8;
/// `set`: writes a register; the value of true is in the parameter's upper half.
const SET: u64 = 1 << 9;

#[inline(always)]
fn combine(result: u32, predicate: u32, param: u64) -> u32 {
    match param & 0xff {
        NONE => result,
        AND => result & predicate,
        OR => result | predicate,
        _ => result ^ predicate,
    }
}

/// `setp` and `set`: p = result op c, q = !result op c; or p as a register's value.
#[derive(Clone, Copy)]
struct Compare<L>(L);

impl<L: Lanes> Body for Compare<L> {
    const SHAPE: Shape = Shape::new(Dest::Pred, L::SOURCES);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let mask = self.0.mask(inputs);
        let result = if param & NOT != 0 { !mask } else { mask };
        write([result, !result], param, inputs, output);
    }
}

/// Writes the results of a comparison.
#[inline(always)]
fn write(results: [u32; 2], param: u64, inputs: &Inputs<'_>, output: &mut Output) {
    let [p, q] = results.map(|result| combine(result, inputs.preds[0], param));
    output.preds = [p, q];
    if param & SET != 0 {
        let yes = (param >> 32) as u32;
        for lane in 0..32 {
            u32::put(&mut output.window, lane, if p >> lane & 1 != 0 { yes } else { 0 });
        }
    }
}

/// Everything of a comparison's parameter but `NOT`.
fn param(form: &Form<'_>) -> Option<u64> {
    let operator = match form.mods.bool_op {
        None => NONE,
        Some(BoolOp::And) => AND,
        Some(BoolOp::Or) => OR,
        Some(BoolOp::Xor) => XOR,
    };
    if form.opcode == Opcode::Setp {
        return Some(operator);
    }
    let yes = match form.ty()? {
        Type::F32 => 1f32.to_bits(),
        Type::U32 | Type::S32 => u32::MAX,
        Type::U16 | Type::S16 => 0xffff,
        Type::F16 => 0x3c00,
        Type::Bf16 => 0x3f80,
        _ => return None,
    };
    Some(operator | SET | (yes as u64) << 32)
}

/// The operation with the destination and sources that the instruction has.
fn finish(form: &Form<'_>, op: Option<AluOp>) -> Option<AluOp> {
    let mut op = op?;
    if form.opcode == Opcode::Set {
        op.shape.dest = Dest::Row32;
    }
    if form.mods.bool_op.is_some() {
        op.shape.sources[2] = Some(Type::Pred);
    }
    Some(op)
}

/// A comparison by `lanes`, or its complement.
fn emit<L: Lanes>(form: &Form<'_>, lanes: L, complement: bool) -> Option<AluOp> {
    let param = param(form)? | if complement { NOT } else { 0 };
    finish(form, form.op_with(Compare(lanes), param))
}

macro_rules! integers {
    ($form:expr, $cmp:expr, $ty:ty) => {
        match $cmp {
            Cmp::Lt => emit($form, test2(|a: $ty, b: $ty| a < b), false),
            Cmp::Ge => emit($form, test2(|a: $ty, b: $ty| a < b), true),
            Cmp::Gt => emit($form, test2(|a: $ty, b: $ty| a > b), false),
            Cmp::Le => emit($form, test2(|a: $ty, b: $ty| a > b), true),
            _ => None,
        }
    };
}

/// Whether two integers are equal or not: signedness does not matter.
fn equality<T: Lane + PartialEq>(form: &Form<'_>, cmp: Cmp) -> Option<AluOp> {
    emit(form, test2(|a: T, b: T| a == b), cmp == Cmp::Ne)
}

macro_rules! floats {
    ($form:expr, $cmp:expr, $ty:ty, $in:expr) => {{
        // An unordered comparison holds if the opposite ordered one fails.
        let (ordered, complement) = match $cmp {
            Cmp::Equ => (Cmp::Ne, true),
            Cmp::Neu => (Cmp::Eq, true),
            Cmp::Ltu => (Cmp::Ge, true),
            Cmp::Leu => (Cmp::Gt, true),
            Cmp::Gtu => (Cmp::Le, true),
            Cmp::Geu => (Cmp::Lt, true),
            Cmp::Nan => (Cmp::Num, true),
            cmp => (cmp, false),
        };
        match ordered {
            Cmp::Eq => emit($form, test2(|a: $ty, b: $ty| $in(a) == $in(b)), complement),
            Cmp::Ne => emit($form, test2(|a: $ty, b: $ty| ($in(a) < $in(b)) | ($in(a) > $in(b))), complement),
            Cmp::Lt => emit($form, test2(|a: $ty, b: $ty| $in(a) < $in(b)), complement),
            Cmp::Le => emit($form, test2(|a: $ty, b: $ty| $in(a) <= $in(b)), complement),
            Cmp::Gt => emit($form, test2(|a: $ty, b: $ty| $in(a) > $in(b)), complement),
            Cmp::Ge => emit($form, test2(|a: $ty, b: $ty| $in(a) >= $in(b)), complement),
            Cmp::Num => emit($form, test2(|a: $ty, b: $ty| !(a.is_nan() | b.is_nan())), complement),
            _ => None,
        }
    }};
}

/// Half-precision `setp` (one value or a pair, whose results are p and q) and `set`. The comparison is a truth table in
/// the parameter: of less, equal, greater, unordered.
#[derive(Clone, Copy)]
struct HalfCompare<H, const N: usize>(PhantomData<H>);

const LESS: u64 = 1 << 16;
const EQUAL: u64 = 1 << 17;
const GREATER: u64 = 1 << 18;
const UNORDERED: u64 = 1 << 19;
/// `.ftz`.
const FLUSH: u64 = 1 << 20;

impl<H: Half, const N: usize> Body for HalfCompare<H, N> {
    const SHAPE: Shape = {
        let ty = if N == 1 { H::TYPE } else { Type::B32 };
        Shape::new(Dest::Pred, &[ty, ty])
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
        write([results[0], if N == 2 { results[1] } else { !results[0] }], param, inputs, output);
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
    if pair && form.opcode == Opcode::Set {
        return None;
    }
    let op = if pair {
        form.rare_with(HalfCompare::<H, 2>(PhantomData), param)
    } else {
        form.rare_with(HalfCompare::<H, 1>(PhantomData), param)
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
                B16 | U16 | S16 if matches!(cmp, Cmp::Eq | Cmp::Ne) => equality::<u16>(form, cmp),
                B32 | U32 | S32 if matches!(cmp, Cmp::Eq | Cmp::Ne) => equality::<u32>(form, cmp),
                B64 | U64 | S64 if matches!(cmp, Cmp::Eq | Cmp::Ne) => equality::<u64>(form, cmp),
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

/// The operation with its first two sources of type `ty`, for the sake of literals.
fn choosing(op: Option<AluOp>, ty: Type) -> Option<AluOp> {
    let mut op = op?;
    op.shape.sources[..2].fill(Some(ty));
    Some(op)
}

fn select_choose(form: &Form<'_>) -> Option<AluOp> {
    let ty = form.ty()?;
    let op = match ty.bytes() {
        2 => form.op(Choose::<u16>(PhantomData)),
        4 => form.op(Choose::<u32>(PhantomData)),
        8 => form.op(Choose::<u64>(PhantomData)),
        _ => None,
    };
    choosing(op, ty)
}

/// `slct`: a where c ≥ 0, else b. A subnormal c is a zero with `.ftz`.
fn select_by_sign(form: &Form<'_>) -> Option<AluOp> {
    let ty = form.ty()?;
    macro_rules! by_width {
        ($C:ty, $holds:expr) => {
            match ty.bytes() {
                2 => form.op(map3(|a: u16, b: u16, c: $C| if $holds(c) { a } else { b })),
                4 => form.op(map3(|a: u32, b: u32, c: $C| if $holds(c) { a } else { b })),
                8 => form.op(map3(|a: u64, b: u64, c: $C| if $holds(c) { a } else { b })),
                _ => None,
            }
        };
    }
    let op = match form.mods.types[1]? {
        Type::S32 => by_width!(i32, |c| c >= 0),
        Type::F32 if form.mods.ftz => by_width!(f32, |c| flush::<true>(c) >= 0.0),
        Type::F32 => by_width!(f32, |c| c >= 0.0),
        _ => None,
    };
    choosing(op, ty)
}

/// `testp`; zeros count as normal.
fn select_test(form: &Form<'_>) -> Option<AluOp> {
    macro_rules! tests {
        ($ty:ty) => {
            match form.mods.testp? {
                TestpOp::Finite => form.rare(Compare(test1(|a: $ty| a.is_finite()))),
                TestpOp::Infinite => form.rare(Compare(test1(|a: $ty| a.is_infinite()))),
                TestpOp::Number => form.rare(Compare(test1(|a: $ty| !a.is_nan()))),
                TestpOp::NotANumber => form.rare(Compare(test1(|a: $ty| a.is_nan()))),
                TestpOp::Normal => form.rare(Compare(test1(|a: $ty| a.is_normal() | (a == 0.0)))),
                TestpOp::Subnormal => form.rare(Compare(test1(|a: $ty| a.is_subnormal()))),
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
