//! Runs one instruction by its name.

use warpwatt_ptx::ir::{Instruction, Register, Type};
use warpwatt_ptx::parse;
use warpwatt_simt::alu::{AluOp, Dest, Inputs, Level, Output, Row, Window, ZERO, broadcast, lanes64, select};

/// Anything that fits a register.
pub trait Bits: Copy {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty, |$x:ident| $bits:expr;)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
        }
    )*};
}

bits! {
    bool, |x| x as u64;
    u8, |x| x as u64;
    i8, |x| x as u8 as u64;
    u16, |x| x as u64;
    i16, |x| x as u16 as u64;
    u32, |x| x as u64;
    i32, |x| x as u32 as u64;
    u64, |x| x;
    i64, |x| x as u64;
    f32, |x| x.to_bits() as u64;
    f64, |x| x.to_bits();
}

/// An instruction, compiled both ways.
pub struct Op {
    name: String,
    portable: AluOp,
    wide: AluOp,
}

fn parsed(text: &str) -> (Instruction, Vec<Register>) {
    let text = format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.entry k() {{ .reg .pred %p<8>; .reg .b16 %s<8>; \
         .reg .b32 %r<8>; .reg .b64 %d<8>; {text}; ret; }}"
    );
    let module = parse("test", &text).unwrap_or_else(|e| panic!("{text}: {:?}", e.errors));
    let body = module.functions[0].body.clone().expect("a body");
    (body.instructions[0].clone(), body.registers)
}

fn register(ty: Type, number: usize) -> String {
    match ty {
        Type::Pred => format!("%p{number}"),
        ty => format!("%{}{number}", ["s", "r", "d"][(ty.bytes().max(2).ilog2() - 1) as usize]),
    }
}

/// The types of destination and `count` sources of a form.
fn operand_types(form: &str, count: usize) -> Vec<Type> {
    // A parse with operands of no importance gives the type modifiers.
    let mods = parsed(&format!("{form} %r0, %r1")).0.mods;
    let t0 = mods.types[0].unwrap_or(Type::B32);
    let t1 = mods.types[1].unwrap_or(t0);
    let opcode = form.split('.').next().unwrap_or("");
    let word = |w: &str| form.split('.').any(|part| part == w);
    let double = match t0.bytes() {
        2 => Type::B32,
        _ => Type::B64,
    };
    let mut types = match opcode {
        "popc" | "clz" | "bfind" => vec![Type::B32, t0],
        "shl" | "shr" => vec![t0, t0, Type::B32],
        "bfe" => vec![t0, t0, Type::B32, Type::B32],
        "bfi" => vec![t0, t0, t0, Type::B32, Type::B32],
        "dp4a" | "dp2a" | "vabsdiff4" | "shf" | "prmt" => vec![Type::B32; 4],
        "setp" => vec![Type::Pred, t0, t0],
        "testp" => vec![Type::Pred, t0],
        "set" => vec![t0, t1, t1],
        "selp" => vec![t0, t0, t0, Type::Pred],
        "slct" => vec![t0, t0, t0, t1],
        "cvt" => vec![t0, t1, t1],
        _ if word("wide") => vec![double, t0, t0, double],
        _ => vec![t0; count + 1],
    };
    if matches!(opcode, "setp" | "set") && count == 3 {
        types.push(Type::Pred);
    }
    types.truncate(count + 1);
    types
}

/// The instruction `text`, which may leave out its operands if there are `count` sources.
pub fn try_op(text: &str, count: usize) -> Option<Op> {
    let full = if text.contains('%') {
        text.to_string()
    } else {
        let types = operand_types(text, count);
        let operands: Vec<String> = types.iter().enumerate().map(|(i, &ty)| register(ty, i)).collect();
        format!("{text} {}", operands.join(", "))
    };
    let (instruction, registers) = parsed(&full);
    let portable = select(&instruction, &registers, Level::portable())?;
    let wide = select(&instruction, &registers, Level::detect())?;
    assert_eq!(portable.shape(), wide.shape(), "{full}");
    Some(Op { name: full, portable, wide })
}

pub fn op(text: &str, count: usize) -> Op {
    try_op(text, count).unwrap_or_else(|| panic!("{text} is not supported"))
}

/// Results of 32 lanes.
pub struct Results {
    /// Register values, or `p` and `q` in two bits.
    pub lanes: [u64; 32],
    pub carry: u32,
}

impl Op {
    pub fn shape(&self) -> &warpwatt_simt::alu::Shape {
        self.portable.shape()
    }

    /// Executes both ways, on 32 values per source, and wants the same bits.
    pub fn lanes(&self, sources: &[[u64; 32]], carry: u32) -> Results {
        let a = self.execute(&self.portable, sources, carry);
        let b = self.execute(&self.wide, sources, carry);
        assert_eq!(a.lanes, b.lanes, "{}: baseline and vector code differ on {sources:x?}", self.name);
        assert_eq!(a.carry, b.carry, "{}", self.name);
        a
    }

    fn execute(&self, op: &AluOp, sources: &[[u64; 32]], carry: u32) -> Results {
        let types: Vec<Type> = op.shape().sources.iter().flatten().copied().collect();
        assert_eq!(types.len(), sources.len(), "{}: wrong number of sources", self.name);
        let mut windows: Vec<Window> = Vec::new();
        let mut preds = Vec::new();
        for (&ty, values) in types.iter().zip(sources) {
            if ty == Type::Pred {
                preds.push((0..32).fold(0, |mask, i| mask | (values[i] as u32 & 1) << i));
                continue;
            }
            let wide = self.is_wide_source(windows.len());
            assert_eq!(wide, ty.bytes() == 8, "{}: the shape's width of source {}", self.name, windows.len());
            if wide {
                windows.push(bytemuck::cast(*values));
            } else {
                windows.push([Row(values.map(|v| v as u32)), Row([0xdead_beef; 32])]);
            }
        }
        let rows = std::array::from_fn(|i| windows.get(i).unwrap_or(&ZERO));
        let preds = std::array::from_fn(|i| preds.get(i).copied().unwrap_or(0));
        let mut output = Output::EMPTY;
        op.execute(&Inputs { rows, preds, carry }, &mut output);
        let lanes = std::array::from_fn(|i| match op.shape().dest {
            Dest::Row32 => output.window[0].0[i] as u64,
            Dest::Row64 => lanes64(&output.window)[i],
            Dest::Pred => (output.preds[0] >> i & 1 | (output.preds[1] >> i & 1) << 1) as u64,
        });
        Results { lanes, carry: output.carry }
    }

    /// Whether register source `index` (predicates not counted) is a 64-bit register, by its name.
    fn is_wide_source(&self, index: usize) -> bool {
        let registers: Vec<&str> = self.name.split('%').skip(1).collect();
        let dests = self.name.split(',').next().map_or(0, |first| first.matches('%').count());
        let sources: Vec<&&str> = registers[dests..].iter().filter(|r| !r.starts_with('p')).collect();
        sources[index].starts_with('d')
    }

    /// Executes with the same values in all lanes.
    pub fn all(&self, sources: &[u64]) -> u64 {
        let sources: Vec<[u64; 32]> = sources.iter().map(|&v| [v; 32]).collect();
        let lanes = self.lanes(&sources, 0).lanes;
        assert!(lanes.iter().all(|&lane| lane == lanes[0]), "{}: lanes differ", self.name);
        lanes[0]
    }
}

/// The result of `form` on one tuple of sources.
pub fn run(form: &str, sources: &[u64]) -> u64 {
    op(form, sources.len()).all(sources)
}

/// A literal's window, as an executor makes it.
pub fn literal(ty: Type, bits: u64) -> Window {
    broadcast(ty, bits)
}

/// `name: "form" { [sources] => result, … }`: one test per form.
macro_rules! cases {
    ($($(#[$doc:meta])* $name:ident: $form:literal { $([$($arg:expr),*] => $want:expr,)* })*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            use $crate::harness::{Bits, run};
            $({
                let sources = [$(Bits::bits($arg)),*];
                let (got, want) = (run($form, &sources), Bits::bits($want));
                assert_eq!(got, want, "{} on {sources:#x?} = {}: got {got:#x}, want {want:#x}", $form, stringify!($want));
            })*
        }
    )*};
}
pub(crate) use cases;
