//! The vocabulary: opcodes, modifiers, types and special registers of the PTX ISA manual, as tables.
//!
//! A word that stands in no table is a syntax error; a modifier that is in the table but that no field of
//! [`Modifiers`](crate::ir::Modifiers) holds is kept as text.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::ir::*;

macro_rules! opcodes {
    ($($name:literal $variant:ident),* $(,)?) => {
        /// Every opcode with the name that [`Opcode::name`] prints.
        const OPCODES: &[(&str, Opcode)] = &[$(($name, Opcode::$variant)),*];

        impl Opcode {
            /// PTX's name (`bar` for `barrier`, `membar` for `fence`).
            pub fn name(self) -> &'static str {
                match self { $(Opcode::$variant => $name),* }
            }
        }
    };
}

opcodes! {
    "abs" Abs, "activemask" Activemask, "add" Add, "addc" Addc, "and" And, "applypriority" Applypriority, "atom" Atom,
    "bar" Bar, "bfe" Bfe, "bfi" Bfi, "bfind" Bfind, "bmsk" Bmsk, "bra" Bra, "brev" Brev, "brkpt" Brkpt, "brx" Brx,
    "call" Call, "clz" Clz, "cnot" Cnot, "copysign" Copysign, "cos" Cos, "cp" Cp, "cvt" Cvt, "cvta" Cvta,
    "discard" Discard, "div" Div, "dp2a" Dp2a, "dp4a" Dp4a, "elect" Elect, "ex2" Ex2, "exit" Exit, "fma" Fma, "fns" Fns,
    "griddepcontrol" Griddepcontrol, "isspacep" Isspacep, "ld" Ld, "ldmatrix" Ldmatrix, "ldu" Ldu, "lg2" Lg2,
    "lop3" Lop3, "mad" Mad, "mad24" Mad24, "madc" Madc, "mapa" Mapa, "match" Match, "max" Max, "mbarrier" Mbarrier,
    "membar" Membar, "min" Min, "mma" Mma, "mov" Mov, "mul" Mul, "mul24" Mul24, "nanosleep" Nanosleep, "neg" Neg,
    "not" Not, "or" Or, "pmevent" Pmevent, "popc" Popc, "prefetch" Prefetch, "prefetchu" Prefetchu, "prmt" Prmt,
    "rcp" Rcp, "red" Red, "redux" Redux, "rem" Rem, "ret" Ret, "rsqrt" Rsqrt, "sad" Sad, "selp" Selp, "set" Set,
    "setmaxnreg" Setmaxnreg, "setp" Setp, "shf" Shf, "shfl" Shfl, "shl" Shl, "shr" Shr, "sin" Sin, "slct" Slct,
    "sqrt" Sqrt, "st" St, "stmatrix" Stmatrix, "sub" Sub, "subc" Subc, "suld" Suld, "suq" Suq, "sured" Sured,
    "sust" Sust, "szext" Szext, "tanh" Tanh, "testp" Testp, "tex" Tex, "tld4" Tld4, "trap" Trap, "txq" Txq,
    "vabsdiff" Vabsdiff, "vabsdiff2" Vabsdiff2, "vabsdiff4" Vabsdiff4, "vadd" Vadd, "vadd2" Vadd2, "vadd4" Vadd4,
    "vavrg2" Vavrg2, "vavrg4" Vavrg4, "vmad" Vmad, "vmax" Vmax, "vmax2" Vmax2, "vmax4" Vmax4, "vmin" Vmin,
    "vmin2" Vmin2, "vmin4" Vmin4, "vote" Vote, "vset" Vset, "vset2" Vset2, "vset4" Vset4, "vshl" Vshl, "vshr" Vshr,
    "vsub" Vsub, "vsub2" Vsub2, "vsub4" Vsub4, "wgmma" Wgmma, "wmma" Wmma, "xor" Xor,
}

/// Second names of opcodes.
const ALIASES: &[(&str, Opcode)] = &[("barrier", Opcode::Bar), ("fence", Opcode::Membar)];

static OPCODE_MAP: LazyLock<FxHashMap<&'static str, Opcode>> =
    LazyLock::new(|| OPCODES.iter().chain(ALIASES).copied().collect());

/// The opcode of that name.
pub(crate) fn opcode(name: &str) -> Option<Opcode> {
    OPCODE_MAP.get(name).copied()
}

/// All opcode names, for suggestions.
pub(crate) fn opcode_names() -> impl Iterator<Item = &'static str> {
    OPCODES.iter().chain(ALIASES).map(|(name, _)| *name)
}

/// A modifier's meaning or, where a word means different things on different opcodes, its meanings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Word {
    Type(Type),
    Space(Space),
    To,
    Vector(u8),
    Cmp(Cmp),
    /// `and or xor`: boolean or atomic.
    Logic(BoolOp, AtomOp),
    Round(Rounding),
    Ftz,
    Sat,
    Approx,
    Full,
    NanFlag,
    Xorsign,
    Relu,
    /// `lo hi wide`; the first two compare on `set`/`setp`.
    Part(MulPart),
    Cc,
    /// `.uni`: a vote mode, or a promise.
    Uni,
    Sync,
    Aligned,
    Atom(AtomOp),
    Vote(VoteMode),
    Shfl(ShflMode),
    Arrive,
    Red,
    Popc,
    Warp,
    Cache(CacheOp),
    Order(Order),
    Scope(Scope),
    Nc,
    Noftz,
    ShfRight(bool),
    Wrap(bool),
    ShiftAmt,
    Prmt(PrmtMode),
    Testp(TestpOp),
    Geom(TexGeom),
    /// Eviction and prefetch hints: accepted and dropped.
    Hint,
    /// In the manual, but kept as text.
    Other,
}

/// Type names.
pub(crate) const TYPES: &[(&str, Type)] = &[
    ("pred", Type::Pred),
    ("b8", Type::B8),
    ("b16", Type::B16),
    ("b32", Type::B32),
    ("b64", Type::B64),
    ("b128", Type::B128),
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("s8", Type::S8),
    ("s16", Type::S16),
    ("s32", Type::S32),
    ("s64", Type::S64),
    ("f16", Type::F16),
    ("f16x2", Type::F16x2),
    ("bf16", Type::Bf16),
    ("bf16x2", Type::Bf16x2),
    ("tf32", Type::Tf32),
    ("f32", Type::F32),
    ("f64", Type::F64),
    ("u16x2", Type::U16x2),
    ("s16x2", Type::S16x2),
    ("texref", Type::TexRef),
    ("samplerref", Type::SamplerRef),
    ("surfref", Type::SurfRef),
];

impl Type {
    /// PTX's name, without the dot.
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, ty)| *ty == self).map_or("?", |(name, _)| name)
    }
}

const MODIFIERS: &[(&str, Word)] = {
    use Word::*;
    &[
        ("global", Space(crate::ir::Space::Global)),
        ("shared", Space(crate::ir::Space::Shared)),
        ("shared::cta", Space(crate::ir::Space::Shared)),
        ("local", Space(crate::ir::Space::Local)),
        ("const", Space(crate::ir::Space::Const)),
        ("param", Space(crate::ir::Space::Param)),
        ("param::entry", Space(crate::ir::Space::Param)),
        ("param::func", Space(crate::ir::Space::Param)),
        ("to", To),
        ("v2", Vector(2)),
        ("v4", Vector(4)),
        ("v8", Vector(8)),
        ("eq", Cmp(crate::ir::Cmp::Eq)),
        ("ne", Cmp(crate::ir::Cmp::Ne)),
        ("lt", Cmp(crate::ir::Cmp::Lt)),
        ("le", Cmp(crate::ir::Cmp::Le)),
        ("gt", Cmp(crate::ir::Cmp::Gt)),
        ("ge", Cmp(crate::ir::Cmp::Ge)),
        ("ls", Cmp(crate::ir::Cmp::Ls)),
        ("hs", Cmp(crate::ir::Cmp::Hs)),
        ("equ", Cmp(crate::ir::Cmp::Equ)),
        ("neu", Cmp(crate::ir::Cmp::Neu)),
        ("ltu", Cmp(crate::ir::Cmp::Ltu)),
        ("leu", Cmp(crate::ir::Cmp::Leu)),
        ("gtu", Cmp(crate::ir::Cmp::Gtu)),
        ("geu", Cmp(crate::ir::Cmp::Geu)),
        ("num", Cmp(crate::ir::Cmp::Num)),
        ("nan", Cmp(crate::ir::Cmp::Nan)),
        ("and", Logic(BoolOp::And, AtomOp::And)),
        ("or", Logic(BoolOp::Or, AtomOp::Or)),
        ("xor", Logic(BoolOp::Xor, AtomOp::Xor)),
        ("rn", Round(Rounding::Rn)),
        ("rz", Round(Rounding::Rz)),
        ("rm", Round(Rounding::Rm)),
        ("rp", Round(Rounding::Rp)),
        ("rni", Round(Rounding::Rni)),
        ("rzi", Round(Rounding::Rzi)),
        ("rmi", Round(Rounding::Rmi)),
        ("rpi", Round(Rounding::Rpi)),
        ("rna", Round(Rounding::Rna)),
        ("ftz", Ftz),
        ("sat", Sat),
        ("approx", Approx),
        ("full", Full),
        ("NaN", NanFlag),
        ("xorsign", Xorsign),
        ("relu", Relu),
        ("lo", Part(MulPart::Lo)),
        ("hi", Part(MulPart::Hi)),
        ("wide", Part(MulPart::Wide)),
        ("cc", Cc),
        ("uni", Uni),
        ("sync", Sync),
        ("aligned", Aligned),
        ("add", Atom(AtomOp::Add)),
        ("min", Atom(AtomOp::Min)),
        ("max", Atom(AtomOp::Max)),
        ("inc", Atom(AtomOp::Inc)),
        ("dec", Atom(AtomOp::Dec)),
        ("exch", Atom(AtomOp::Exch)),
        ("cas", Atom(AtomOp::Cas)),
        ("all", Vote(VoteMode::All)),
        ("any", Vote(VoteMode::Any)),
        ("ballot", Vote(VoteMode::Ballot)),
        ("up", Shfl(ShflMode::Up)),
        ("down", Shfl(ShflMode::Down)),
        ("bfly", Shfl(ShflMode::Bfly)),
        ("idx", Shfl(ShflMode::Idx)),
        ("arrive", Arrive),
        ("red", Red),
        ("popc", Popc),
        ("warp", Warp),
        ("ca", Cache(CacheOp::Ca)),
        ("cg", Cache(CacheOp::Cg)),
        ("cs", Cache(CacheOp::Cs)),
        ("lu", Cache(CacheOp::Lu)),
        ("cv", Cache(CacheOp::Cv)),
        ("wb", Cache(CacheOp::Wb)),
        ("wt", Cache(CacheOp::Wt)),
        ("weak", Order(crate::ir::Order::Weak)),
        ("volatile", Order(crate::ir::Order::Volatile)),
        ("relaxed", Order(crate::ir::Order::Relaxed)),
        ("acquire", Order(crate::ir::Order::Acquire)),
        ("release", Order(crate::ir::Order::Release)),
        ("acq_rel", Order(crate::ir::Order::AcqRel)),
        ("sc", Order(crate::ir::Order::Sc)),
        ("cta", Scope(crate::ir::Scope::Cta)),
        ("cluster", Scope(crate::ir::Scope::Cluster)),
        ("gpu", Scope(crate::ir::Scope::Gpu)),
        ("gl", Scope(crate::ir::Scope::Gpu)),
        ("sys", Scope(crate::ir::Scope::Sys)),
        ("nc", Nc),
        ("noftz", Noftz),
        ("l", ShfRight(false)),
        ("r", ShfRight(true)),
        ("wrap", Wrap(true)),
        ("clamp", Wrap(false)),
        ("shiftamt", ShiftAmt),
        ("f4e", Prmt(PrmtMode::F4e)),
        ("b4e", Prmt(PrmtMode::B4e)),
        ("rc8", Prmt(PrmtMode::Rc8)),
        ("ecl", Prmt(PrmtMode::Ecl)),
        ("ecr", Prmt(PrmtMode::Ecr)),
        ("rc16", Prmt(PrmtMode::Rc16)),
        ("finite", Testp(TestpOp::Finite)),
        ("infinite", Testp(TestpOp::Infinite)),
        ("number", Testp(TestpOp::Number)),
        ("notanumber", Testp(TestpOp::NotANumber)),
        ("normal", Testp(TestpOp::Normal)),
        ("subnormal", Testp(TestpOp::Subnormal)),
        ("1d", Geom(TexGeom::D1)),
        ("2d", Geom(TexGeom::D2)),
        ("3d", Geom(TexGeom::D3)),
        ("a1d", Geom(TexGeom::A1d)),
        ("a2d", Geom(TexGeom::A2d)),
        ("cube", Geom(TexGeom::Cube)),
        ("acube", Geom(TexGeom::Acube)),
        ("2dms", Geom(TexGeom::D2ms)),
        ("a2dms", Geom(TexGeom::A2dms)),
        ("L1::evict_normal", Hint),
        ("L1::evict_unchanged", Hint),
        ("L1::evict_first", Hint),
        ("L1::evict_last", Hint),
        ("L1::no_allocate", Hint),
        ("L2::evict_normal", Hint),
        ("L2::evict_first", Hint),
        ("L2::evict_last", Hint),
        ("L2::64B", Hint),
        ("L2::128B", Hint),
        ("L2::256B", Hint),
    ]
};

/// Words of the manual that are kept as text: the matrix, asynchronous-copy, barrier-object, surface, query and video
/// families, and what newer versions added.
const OTHERS: &str = "a b c d m p g s row col load store mma mma_async fence commit_group wait_group wait_all async bulk \
    tensor tile im2col reduce prefetch mbarrier init inval test_wait try_wait expect_tx complete_tx parity pending_count \
    noComplete noinc arrive_drop wait launch_dependents shared::cluster cluster::cta mbarrier::complete_tx::bytes \
    mbarrier::arrive::one multicast::cluster L2::cache_hint x1 x2 x4 m8n8 m16n8 m8n16 m16n16 trans sp ordered_metadata \
    satfinite e4m3 e5m2 e4m3x2 e5m2x2 e2m1 e2m3 e3m2 e2m1x2 e2m3x2 e3m2x2 ue8m0 ue8m0x2 u4 s4 b1 kind::f8f6f4 \
    level base grad trap zero width height depth channel_data_type channel_order normalized_coords \
    force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples \
    memory_layout rs abs mask proxy alias tensormap proxy::async async::generic generic mmio unified L1 L2 \
    acquire::sync sync_restrict::shared::cta sync_restrict::shared::cluster mbarrier_init op_restrict read pack po \
    shr7 shr15";

static WORD_MAP: LazyLock<FxHashMap<&'static str, Word>> = LazyLock::new(|| {
    let mut map: FxHashMap<&'static str, Word> = OTHERS.split_whitespace().map(|word| (word, Word::Other)).collect();
    map.extend(MODIFIERS.iter().copied());
    map.extend(TYPES.iter().map(|&(name, ty)| (name, Word::Type(ty))));
    map
});

/// The meaning of a modifier, written without its dot.
pub(crate) fn modifier(name: &str) -> Option<Word> {
    WORD_MAP.get(name).copied().or_else(|| matrix_shape(name).then_some(Word::Other))
}

/// `m64n128k16`: `wgmma` has dozens of these.
fn matrix_shape(name: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    name.strip_prefix('m')
        .and_then(|rest| rest.split_once('n'))
        .and_then(|(m, rest)| rest.split_once('k').map(|(n, k)| digits(m) && digits(n) && digits(k)))
        .unwrap_or(false)
}

/// All modifiers, for suggestions.
pub(crate) fn modifier_names() -> impl Iterator<Item = &'static str> {
    WORD_MAP.keys().copied()
}

/// The type of that name.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    match modifier(name) {
        Some(Word::Type(ty)) => Some(ty),
        _ => None,
    }
}

const SPECIALS: &[(&str, Special)] = &[
    ("%laneid", Special::LaneId),
    ("%warpid", Special::WarpId),
    ("%nwarpid", Special::NWarpId),
    ("%smid", Special::SmId),
    ("%nsmid", Special::NSmId),
    ("%gridid", Special::GridId),
    ("%lanemask_eq", Special::LaneMaskEq),
    ("%lanemask_le", Special::LaneMaskLe),
    ("%lanemask_lt", Special::LaneMaskLt),
    ("%lanemask_ge", Special::LaneMaskGe),
    ("%lanemask_gt", Special::LaneMaskGt),
    ("%clock", Special::Clock),
    ("%clock_hi", Special::ClockHi),
    ("%clock64", Special::Clock64),
    ("%globaltimer", Special::GlobalTimer),
    ("%globaltimer_lo", Special::GlobalTimerLo),
    ("%globaltimer_hi", Special::GlobalTimerHi),
    ("%dynamic_smem_size", Special::DynamicSmemSize),
    ("%total_smem_size", Special::TotalSmemSize),
    ("WARP_SZ", Special::WarpSize),
];

/// What a name that is no symbol may be.
pub(crate) enum SpecialName {
    Scalar(Special),
    /// `%tid` and its kin, which need a component.
    Vector(fn(u8) -> Special),
}

/// The special register of that name.
pub(crate) fn special(name: &str) -> Option<SpecialName> {
    let vector: fn(u8) -> Special = match name {
        "%tid" => Special::Tid,
        "%ntid" => Special::Ntid,
        "%ctaid" => Special::Ctaid,
        "%nctaid" => Special::Nctaid,
        _ => {
            if let Some(&(_, special)) = SPECIALS.iter().find(|(n, _)| *n == name) {
                return Some(SpecialName::Scalar(special));
            }
            let number = |prefix: &str, limit: u8| {
                let digits = name.strip_prefix(prefix)?.trim_end_matches("_64");
                digits.parse::<u8>().ok().filter(|&n| n < limit && !digits.starts_with('+'))
            };
            return number("%envreg", 32)
                .map(Special::EnvReg)
                .or_else(|| number("%pm", 8).map(Special::Pm))
                .map(SpecialName::Scalar);
        }
    };
    Some(SpecialName::Vector(vector))
}

/// Names of special registers, for suggestions.
pub(crate) fn special_names() -> impl Iterator<Item = &'static str> {
    SPECIALS.iter().map(|(name, _)| *name).chain(["%tid", "%ntid", "%ctaid", "%nctaid"])
}
