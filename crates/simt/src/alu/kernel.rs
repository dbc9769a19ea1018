//! From a scalar function to code over 32 lanes.
//!
//! A *body* is a loop over the lanes around a scalar function, both of size zero, so that a plain function pointer names
//! their combination. Every body is compiled twice: for the baseline processor, and with the vector extensions of
//! [`Level::detect`]; the loops are written so that the compiler turns them into vector code in both.

use super::row::{Window, lanes64, lanes64_mut};
use super::{AluOp, Dest, Shape};
use std::marker::PhantomData;
use std::ptr::NonNull;
use warpwatt_ptx::ir::Type;

/// What an operation reads. Sources are windows ([`Window`]) in the order of the instruction's operands, predicates
/// counted apart.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Register sources and immediates.
    pub rows: [&'a Window; 4],
    /// Predicate sources as lane masks (already complemented for `!p`).
    pub preds: [u32; 2],
    /// The carry flag, a lane mask.
    pub carry: u32,
}

/// What an operation writes, for all 32 lanes: the caller takes over the lanes that execute.
#[derive(Clone, Copy)]
pub struct Output {
    /// Register result.
    pub window: Window,
    /// Predicate results (`p`, `q`).
    pub preds: [u32; 2],
    /// The new carry flag.
    pub carry: u32,
}

impl Output {
    /// Scratch space for results.
    pub const EMPTY: Output = Output { window: [super::row::Row::ZERO; 2], preds: [0; 2], carry: 0 };
}

/// Which compilation of the kernels to use. Results are the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    wide: bool,
}

impl Level {
    /// Code for the baseline processor.
    pub fn portable() -> Level {
        Level { wide: false }
    }

    /// The best that this processor has: AVX2, FMA, BMI, LZCNT, POPCNT and F16C together, or the baseline.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let wide = has!("avx2")
                && has!("fma")
                && has!("bmi1")
                && has!("bmi2")
                && has!("lzcnt")
                && has!("popcnt")
                && has!("f16c");
            Level { wide }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Level { wide: false }
    }

    /// Whether vector extensions are used.
    pub fn is_wide(self) -> bool {
        self.wide
    }
}

/// Compiled code of one operation. Unsafe to call: the processor must have the features that it was compiled for.
pub(super) type Kernel = unsafe fn(u64, &Inputs<'_>, &mut Output);

/// A loop over the lanes.
pub(super) trait Body: Copy {
    /// What it reads and writes.
    const SHAPE: Shape;
    /// Computes all lanes. `param` is a constant of the instruction, for bodies that serve several forms.
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output);
}

/// A value of a type that has size zero.
#[inline(always)]
fn conjure<B: Body>() -> B {
    const { assert!(size_of::<B>() == 0, "a kernel's body must not capture anything") };
    // SAFETY: a read of zero bytes, from a pointer that is aligned and not null. `B` has values, as `compile` was given
    // one, and `B: Copy` says that another may be made.
    unsafe { NonNull::<B>::dangling().as_ptr().read() }
}

fn portable<B: Body>(param: u64, inputs: &Inputs<'_>, output: &mut Output) {
    conjure::<B>().run(param, inputs, output);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn wide<B: Body>(param: u64, inputs: &Inputs<'_>, output: &mut Output) {
    conjure::<B>().run(param, inputs, output);
}

/// The operation that `body` computes, in the code for `level`.
pub(super) fn compile<B: Body>(body: B, param: u64, level: Level) -> AluOp {
    #[cfg(target_arch = "x86_64")]
    if level.wide {
        return AluOp { kernel: wide::<B>, param, shape: B::SHAPE };
    }
    let _ = level;
    compile_portable(body, param)
}

/// The operation that `body` computes, in the code for the baseline processor.
pub(super) fn compile_portable<B: Body>(_body: B, param: u64) -> AluOp {
    AluOp { kernel: portable::<B>, param, shape: B::SHAPE }
}

/// A lane's value: how it lies in a window.
pub(super) trait Lane: Copy {
    /// The type that literals are read as.
    const TYPE: Type;
    /// The register that holds it.
    const DEST: Dest;
    /// Reads lane `lane`.
    fn get(window: &Window, lane: usize) -> Self;
    /// Writes lane `lane`.
    fn put(window: &mut Window, lane: usize, value: Self);
}

macro_rules! lane {
    ($($ty:ty, $type:ident, $dest:ident, |$w:ident, $i:ident| $get:expr, |$o:ident, $j:ident, $v:ident| $put:expr;)*) => {$(
        impl Lane for $ty {
            const TYPE: Type = Type::$type;
            const DEST: Dest = Dest::$dest;
            #[inline(always)]
            fn get($w: &Window, $i: usize) -> Self { $get }
            #[inline(always)]
            fn put($o: &mut Window, $j: usize, $v: Self) { $put }
        }
    )*};
}

lane! {
    u8, U8, Row32, |w, i| w[0].0[i] as u8, |w, i, v| w[0].0[i] = v as u32;
    i8, S8, Row32, |w, i| w[0].0[i] as i8, |w, i, v| w[0].0[i] = v as u8 as u32;
    u16, U16, Row32, |w, i| w[0].0[i] as u16, |w, i, v| w[0].0[i] = v as u32;
    i16, S16, Row32, |w, i| w[0].0[i] as i16, |w, i, v| w[0].0[i] = v as u16 as u32;
    u32, U32, Row32, |w, i| w[0].0[i], |w, i, v| w[0].0[i] = v;
    i32, S32, Row32, |w, i| w[0].0[i] as i32, |w, i, v| w[0].0[i] = v as u32;
    f32, F32, Row32, |w, i| f32::from_bits(w[0].0[i]), |w, i, v| w[0].0[i] = v.to_bits();
    u64, U64, Row64, |w, i| lanes64(w)[i], |w, i, v| lanes64_mut(w)[i] = v;
    i64, S64, Row64, |w, i| lanes64(w)[i] as i64, |w, i, v| lanes64_mut(w)[i] = v as u64;
    f64, F64, Row64, |w, i| f64::from_bits(lanes64(w)[i]), |w, i, v| lanes64_mut(w)[i] = v.to_bits();
}

macro_rules! maps {
    ($($(#[$doc:meta])* $Map:ident, $map:ident: $($T:ident $n:literal),*;)*) => {$(
        $(#[$doc])*
        pub(super) struct $Map<F, D, $($T),*>(F, PhantomData<(D, $($T),*)>);

        impl<F: Copy, D, $($T),*> Clone for $Map<F, D, $($T),*> {
            fn clone(&self) -> Self { *self }
        }

        impl<F: Copy, D, $($T),*> Copy for $Map<F, D, $($T),*> {}

        impl<D: Lane, $($T: Lane,)* F: Fn($($T),*) -> D + Copy> Body for $Map<F, D, $($T),*> {
            const SHAPE: Shape = Shape::new(D::DEST, &[$($T::TYPE),*]);
            #[inline(always)]
            fn run(self, _param: u64, inputs: &Inputs<'_>, output: &mut Output) {
                for lane in 0..32 {
                    D::put(&mut output.window, lane, (self.0)($($T::get(inputs.rows[$n], lane)),*));
                }
            }
        }

        $(#[$doc])*
        pub(super) fn $map<D: Lane, $($T: Lane,)* F: Fn($($T),*) -> D + Copy>(f: F) -> $Map<F, D, $($T),*> {
            $Map(f, PhantomData)
        }
    )*};
}

maps! {
    /// One source, one result.
    Map1, map1: A 0;
    /// Two sources, one result.
    Map2, map2: A 0, B 1;
    /// Three sources, one result.
    Map3, map3: A 0, B 1, C 2;
    /// Four sources, one result.
    Map4, map4: A 0, B 1, C 2, E 3;
}

macro_rules! predicates {
    ($($(#[$doc:meta])* $Map:ident, $map:ident: $($T:ident $n:literal),*;)*) => {$(
        $(#[$doc])*
        pub(super) struct $Map<F, $($T),*>(F, PhantomData<($($T,)*)>);

        impl<F: Copy, $($T),*> Clone for $Map<F, $($T),*> {
            fn clone(&self) -> Self { *self }
        }

        impl<F: Copy, $($T),*> Copy for $Map<F, $($T),*> {}

        impl<$($T: Lane,)* F: Fn($($T),*) -> bool + Copy> Lanes for $Map<F, $($T),*> {
            const SOURCES: &'static [Type] = &[$($T::TYPE),*];
            #[inline(always)]
            fn mask(self, inputs: &Inputs<'_>) -> u32 {
                let mut mask = 0;
                for lane in 0..32 {
                    mask |= ((self.0)($($T::get(inputs.rows[$n], lane)),*) as u32) << lane;
                }
                mask
            }
        }

        $(#[$doc])*
        pub(super) fn $map<$($T: Lane,)* F: Fn($($T),*) -> bool + Copy>(f: F) -> $Map<F, $($T),*> {
            $Map(f, PhantomData)
        }
    )*};
}

/// A truth value per lane.
pub(super) trait Lanes: Copy {
    /// Its sources.
    const SOURCES: &'static [Type];
    /// The lanes where it holds.
    fn mask(self, inputs: &Inputs<'_>) -> u32;
}

predicates! {
    /// A property of one source.
    Test1, test1: A 0;
    /// A relation of two sources.
    Test2, test2: A 0, B 1;
}
