//! Modifiers of instructions.

use super::{Space, Type};

/// Comparison operators of `setp`, `set`, `slct`, `testp` aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned `lo ls hi hs`.
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// Boolean operators of `setp`/`set`, and reductions of `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    Rn,
    Rz,
    Rm,
    Rp,
    Rni,
    Rzi,
    Rmi,
    Rpi,
    Rna,
}

/// Which half of a product, or its whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MulPart {
    Lo,
    Hi,
    Wide,
}

/// Atomic and reduction operations (`atom`, `red`, `redux`; `bar.red` and `vote` have their own).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

/// `vote` and `match` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// `shfl` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// `bar`/`barrier` forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BarMode {
    Sync,
    Arrive,
    /// `bar.red.popc`, with `.and`/`.or` in [`Modifiers::bool_op`].
    RedPopc,
    Red,
    /// `bar.warp.sync`.
    WarpSync,
}

/// Cache operators and memory-model qualifiers: accepted and kept; the L1 is bypassed for `.cg`, `.cv`, `volatile`
/// and the strong orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CacheOp {
    #[default]
    None,
    Ca,
    Cg,
    Cs,
    Lu,
    Cv,
    Wb,
    Wt,
}

/// Memory order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
}

/// Scope of a fence, an order or an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Texture geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TexGeom {
    D1,
    D2,
    D3,
    A1d,
    A2d,
    Cube,
    Acube,
    D2ms,
    A2dms,
}

/// `prmt` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PrmtMode {
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// `testp` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TestpOp {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// All modifiers of an instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modifiers {
    /// Types in the order written: `cvt.rn.f32.s32` = `[F32, S32]`; `setp.lt.s32` = `[S32]`; `set.eq.u32.f32` = `[U32, F32]`.
    pub types: [Option<Type>; 4],
    /// State space of `ld st atom red cvta isspacep prefetch`; `None` is generic.
    pub space: Option<Space>,
    /// `cvta.to`.
    pub to: bool,
    /// Vector width of `ld st tex`: 1 when absent.
    pub vector: u8,
    /// Comparison.
    pub cmp: Option<Cmp>,
    /// Boolean combination.
    pub bool_op: Option<BoolOp>,
    /// Rounding.
    pub rounding: Option<Rounding>,
    /// `.ftz`.
    pub ftz: bool,
    /// `.sat` (`.satfinite` apart).
    pub sat: bool,
    /// `.approx`.
    pub approx: bool,
    /// `.full`.
    pub full: bool,
    /// `.NaN`: min/max propagate NaN.
    pub nan: bool,
    /// `.xorsign.abs`.
    pub xorsign_abs: bool,
    /// `.relu`.
    pub relu: bool,
    /// `.lo .hi .wide`.
    pub part: Option<MulPart>,
    /// `.cc`: writes the carry flag.
    pub cc: bool,
    /// `.uni`.
    pub uni: bool,
    /// `.sync` (on `bar`, `vote`, `shfl`, `match`, `redux`).
    pub sync: bool,
    /// `.aligned`; also of `bar`, which says it by its name.
    pub aligned: bool,
    /// Atomic operation; `Add` on `vabsdiff4` for `.add`.
    pub atom: Option<AtomOp>,
    /// Vote or match mode.
    pub vote: Option<VoteMode>,
    /// Shuffle mode.
    pub shfl: Option<ShflMode>,
    /// Barrier form.
    pub bar: Option<BarMode>,
    /// Cache operator.
    pub cache: CacheOp,
    /// Memory order; `.volatile` included.
    pub order: Order,
    /// Scope.
    pub scope: Option<Scope>,
    /// `.nc` (read-only data cache).
    pub nc: bool,
    /// `.noftz`.
    pub noftz: bool,
    /// `shf.l` = `Some(false)`, `shf.r` = `Some(true)`.
    pub shf_right: Option<bool>,
    /// `.wrap` = `Some(true)`, `.clamp` = `Some(false)` (`shf`, `bmsk`, `szext`).
    pub wrap: Option<bool>,
    /// `bfind.shiftamt`.
    pub shiftamt: bool,
    /// `prmt` mode.
    pub prmt: Option<PrmtMode>,
    /// `testp` test.
    pub testp: Option<TestpOp>,
    /// Texture geometry.
    pub geom: Option<TexGeom>,
    /// The instruction was written with a dual destination `p|q`.
    pub dual: bool,
    /// Modifiers that no field above holds (`.m16n16k16`, `.row`, `.async`, `.level`, …), in order, without the dot.
    /// An executable form has none.
    pub other: Vec<String>,
}

impl Modifiers {
    /// The first (only, or destination) type.
    pub fn ty(&self) -> Option<Type> {
        self.types[0]
    }
}
