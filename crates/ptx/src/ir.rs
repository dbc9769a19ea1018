//! The resolved module: what [`parse`](crate::parse) makes of a PTX file.
//!
//! Every name is resolved to an index; every instruction carries the span of its text. Modifiers are kept in one
//! struct of optional fields, whatever order the file wrote them in.

mod modifiers;
mod opcode;

pub use modifiers::*;
pub use opcode::Opcode;

/// A half-open byte range in the module's source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub u32);

/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A variable: of the module, of the enclosing body, or one of the enclosing function's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VarRef {
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Body::variables`].
    Body(u32),
    /// Index into [`Function::params`].
    Param(u32),
    /// Index into [`Function::returns`].
    Return(u32),
}

/// A fundamental type. `.bN` types are untyped bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    /// Packed integers, parsed only (tier 2).
    U16x2,
    S16x2,
    /// Opaque handles.
    TexRef,
    SamplerRef,
    SurfRef,
}

impl Type {
    /// Size in bytes; a predicate counts as one, an opaque handle as eight.
    pub fn bytes(self) -> u32 {
        use Type::*;
        match self {
            Pred | B8 | U8 | S8 => 1,
            B16 | U16 | S16 | F16 | Bf16 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 | U16x2 | S16x2 => 4,
            B64 | U64 | S64 | F64 | TexRef | SamplerRef | SurfRef => 8,
            B128 => 16,
        }
    }

    /// A signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2)
    }

    /// A floating-point type.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F64)
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Reg,
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
    Tex,
}

impl Space {
    /// PTX's name, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            Space::Reg => "reg",
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
            Space::Tex => "tex",
        }
    }
}

/// A parsed PTX file.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file's name as given by the caller, for messages.
    pub name: String,
    /// The whole text.
    pub source: std::sync::Arc<str>,
    /// `.version major.minor`.
    pub version: (u8, u8),
    /// `.target` with its options, as written (`sm_20`, `map_f64_to_f32`, `texmode_independent`, `debug`, …).
    pub target: Vec<String>,
    /// 32 or 64; where the directive is missing, judged from the pointers that the file uses.
    pub address_size: u8,
    /// Module-scope variables: `.global`, `.const`, `.shared`, `.local`, opaque references.
    pub variables: Vec<Variable>,
    /// Entries and functions, definitions and prototypes (a prototype whose definition follows is merged with it).
    pub functions: Vec<Function>,
    /// `.file` table: index, path.
    pub files: Vec<(u32, String)>,
}

impl Module {
    /// The function of that index.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<FuncId> {
        let found = self.functions.iter().position(|f| f.entry && f.name == name)?;
        Some(FuncId(found as u32))
    }

    /// The source text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The variable that `reference` names within `function`.
    pub fn variable<'m>(&'m self, function: &'m Function, reference: VarRef) -> Option<&'m Variable> {
        match reference {
            VarRef::Module(i) => self.variables.get(i as usize),
            VarRef::Body(i) => function.body.as_ref()?.variables.get(i as usize),
            VarRef::Param(i) => function.params.get(i as usize),
            VarRef::Return(i) => function.returns.get(i as usize),
        }
    }
}

/// `.visible`, `.extern`, `.weak`, `.common`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    #[default]
    Local,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A declared variable, parameter or return value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// State space ([`Space::Reg`] for register parameters of old-style functions, [`Space::Tex`] for `.tex`).
    pub space: Space,
    /// Linkage.
    pub linkage: Linkage,
    /// Element type.
    pub ty: Type,
    /// Vector elements: 1, 2 or 4.
    pub vector: u8,
    /// Array dimensions, outermost first; empty for a scalar. A first dimension written `[]` is 0 unless an initialiser
    /// gives its length.
    pub dims: Vec<u64>,
    /// Alignment in bytes (given, or natural).
    pub align: u32,
    /// Size in bytes; 0 for `.extern .shared x[]` (dynamic shared memory).
    pub size: u64,
    /// Initial contents, in order; what is not covered is zero.
    pub init: Vec<Init>,
    /// For `.reg` parameters: the register that holds it.
    pub reg: Option<RegId>,
    /// The declaration.
    pub span: Span,
}

/// One initialiser item.
#[derive(Clone, Debug, PartialEq)]
pub struct Init {
    /// Byte offset in the variable.
    pub offset: u64,
    /// The value.
    pub value: InitValue,
}

/// Value of an initialiser item.
#[derive(Clone, Debug, PartialEq)]
pub enum InitValue {
    /// The low `size` bytes, little endian.
    Bits {
        /// Value.
        bits: u64,
        /// Bytes.
        size: u8,
    },
    /// The address of a module variable plus an offset (`generic` = written `generic(sym)`).
    Variable {
        /// Index into [`Module::variables`].
        variable: u32,
        /// Added offset in bytes.
        addend: i64,
        /// Whether the generic address is meant.
        generic: bool,
        /// Bytes.
        size: u8,
        /// First byte of the address that is meant: 0, unless a mask such as `0xFF00(sym)` cuts out a higher one.
        byte: u8,
    },
    /// The address of a function (for indirect calls).
    Function {
        /// Which.
        function: FuncId,
        /// Bytes.
        size: u8,
    },
}

/// An `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// `.entry` (a kernel) rather than `.func`.
    pub entry: bool,
    /// Linkage.
    pub linkage: Linkage,
    /// Parameters in order.
    pub params: Vec<Variable>,
    /// Return values in order (`.func` only).
    pub returns: Vec<Variable>,
    /// `.maxntid`, product of its dimensions.
    pub maxntid: Option<u32>,
    /// `.reqntid`.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`.
    pub maxnreg: Option<u32>,
    /// The body; `None` for a prototype or `.extern`.
    pub body: Option<Body>,
    /// The name's place.
    pub span: Span,
}

/// A virtual register.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Its name with number (`%r12`); unique within its scope only.
    pub name: String,
    /// Declared type.
    pub ty: Type,
    /// 1, or 2 / 4 for `.reg .v4 .f32`.
    pub vector: u8,
}

/// A function's body, its nested scopes flattened (names already resolved).
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// All registers that instructions mention (ranges are materialised on first mention).
    pub registers: Vec<Register>,
    /// `.shared`, `.local`, `.param`, `.const`, `.global` variables declared in the body.
    pub variables: Vec<Variable>,
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// `.branchtargets` lists: instruction indices (== `instructions.len()` means the function's end).
    pub branch_targets: Vec<Vec<u32>>,
    /// `.calltargets` lists.
    pub call_targets: Vec<Vec<FuncId>>,
    /// `.callprototype` declarations.
    pub prototypes: Vec<Prototype>,
}

/// A `.callprototype`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Parameters.
    pub params: Vec<Variable>,
    /// Return values.
    pub returns: Vec<Variable>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Opcode.
    pub opcode: Opcode,
    /// Modifiers.
    pub mods: Modifiers,
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// Operands as written, destination(s) first. `p|q` is two operands: `p` then `q` (see [`Modifiers::dual`]).
    pub operands: Box<[Operand]>,
    /// The instruction's text, guard to semicolon.
    pub span: Span,
    /// Source line from `.loc` (file index, line), if any.
    pub loc: Option<(u32, u32)>,
}

/// A guard predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: RegId,
    /// `@!p`.
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// A negated predicate operand `!p`.
    NotReg(RegId),
    /// One element of a vector register: `%v.x` = 0 … `%v.w` = 3.
    RegElement(RegId, u8),
    /// An integer literal, sign-extended or as is, to 64 bits.
    Int(i64),
    /// A floating literal: `0d…` or decimal as f64 bits; `0f…` as f32 bits.
    F64(u64),
    /// An f32 literal's bits.
    F32(u32),
    /// `{a, b, …}`.
    Vector(Box<[Operand]>),
    /// `_`.
    Sink,
    /// A special register.
    Special(Special),
    /// The address of a variable plus an offset in bytes (`x`, `x+4`), as a value.
    Variable(VarRef, i64),
    /// A function: call target, or its address as a value.
    Function(FuncId),
    /// `[base+offset]`.
    Address(AddressBase, i64),
    /// `[tex, {coordinates}]` or `[tex, sampler, {coordinates}]`.
    Texture {
        /// The texture reference.
        texture: TextureBase,
        /// The sampler (independent mode).
        sampler: Option<TextureBase>,
        /// Coordinates.
        coords: Box<[Operand]>,
    },
    /// A branch target: instruction index in this body (== length means the end).
    Label(u32),
    /// Index into [`Body::branch_targets`].
    BranchTargets(u32),
    /// Index into [`Body::prototypes`].
    Prototype(u32),
    /// Index into [`Body::call_targets`].
    CallTargets(u32),
    /// Parenthesised call arguments or return values: `call (r), f, (a, b)`.
    Params(Box<[Operand]>),
}

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register.
    Reg(RegId),
    /// A variable.
    Variable(VarRef),
    /// An immediate address (the offset holds it).
    Absolute,
}

/// Texture operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureBase {
    /// A named reference.
    Variable(VarRef),
    /// A handle in a register.
    Reg(RegId),
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    /// Component 0, 1, 2 = x, y, z.
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    WarpSize,
    EnvReg(u8),
    /// `%pm0` … and other performance counters: parsed, refused.
    Pm(u8),
}
