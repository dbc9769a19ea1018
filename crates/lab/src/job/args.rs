//! Kernel arguments: from what the user wrote and the parameter's declaration to a value at each launch.

use super::expect::Value;
use super::file::{ArgSpec, ArgTable, ElementType, Number};
use super::{Buffer, data};
use crate::problem::{Outcome, Problem};
use warpwatt_ptx::ir::{Type, Variable};
use warpwatt_simt::device::Arg;

/// An argument, resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The same bytes at every launch.
    Bytes(Vec<u8>),
    /// A buffer's address.
    Buffer {
        /// Which.
        index: usize,
        /// Bytes added.
        offset: u64,
        /// Bytes of a pointer.
        width: usize,
    },
    /// A number that grows with the finished rounds of the innermost loop.
    Rounds {
        /// In the first round.
        from: i64,
        /// Added in each further one.
        by: i64,
        /// Bytes.
        width: usize,
    },
    /// Buffers in turn, round by round.
    Alternate(Vec<Argument>),
    /// A structure: fields at offsets, and its size.
    Fields(Vec<(usize, Argument)>, usize),
}

impl Argument {
    /// The argument's bytes in a round, given the buffers' addresses.
    pub fn bytes(&self, round: u64, addresses: &[u64]) -> Vec<u8> {
        match self {
            Argument::Bytes(bytes) => bytes.clone(),
            Argument::Buffer { index, offset, width } => {
                let address = addresses.get(*index).copied().unwrap_or(0).wrapping_add(*offset);
                address.to_le_bytes()[..*width].to_vec()
            }
            Argument::Rounds { from, by, width } => {
                from.wrapping_add(by.wrapping_mul(round as i64)).to_le_bytes()[..*width].to_vec()
            }
            Argument::Alternate(choices) => choices[(round % choices.len() as u64) as usize].bytes(round, addresses),
            Argument::Fields(fields, size) => {
                let mut out = vec![0; *size];
                for (offset, field) in fields {
                    let bytes = field.bytes(round, addresses);
                    out[*offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
                out
            }
        }
    }

    /// The argument as the device wants it.
    pub fn value(&self, round: u64, addresses: &[u64]) -> Arg {
        let bytes = self.bytes(round, addresses);
        match (self, bytes.len()) {
            (Argument::Fields(..), _) => Arg::Bytes(bytes),
            (_, 1) => Arg::U8(bytes[0]),
            (_, 2) => Arg::U16(u16::from_le_bytes([bytes[0], bytes[1]])),
            (_, 4) => Arg::U32(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            (_, 8) => Arg::U64(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))),
            _ => Arg::Bytes(bytes),
        }
    }

    fn width(&self) -> usize {
        match self {
            Argument::Bytes(bytes) => bytes.len(),
            Argument::Buffer { width, .. } | Argument::Rounds { width, .. } => *width,
            Argument::Alternate(choices) => choices.first().map_or(0, Argument::width),
            Argument::Fields(_, size) => *size,
        }
    }
}

/// Resolves an argument for a parameter. `pointer` is the module's pointer size in bytes.
pub fn resolve(spec: &ArgSpec, parameter: &Variable, pointer: usize, buffers: &[Buffer]) -> Outcome<Argument> {
    mismatch(spec, parameter)?;
    let argument = match spec {
        ArgSpec::Table(table) => table_argument(table, Some(parameter), pointer, buffers)?,
        ArgSpec::Buffer(name) => buffer_argument(name, 0, pointer, buffers)?,
        ArgSpec::Int(value) => plain(parameter, |out, ty| ty.push_int(out, i128::from(*value)), &value.to_string())?,
        ArgSpec::Float(value) => plain(parameter, |out, ty| ty.push(out, *value), &value.to_string())?,
    };
    if argument.width() as u64 != parameter.size {
        let (given, wanted) = (argument.width(), parameter.size);
        let message = format!("parameter `{}` has {wanted} bytes, but the argument has {given}", parameter.name);
        return Err(Problem::input("job::arg-size", message).help(describe(parameter)));
    }
    Ok(argument)
}

/// Refuses what cannot be meant: a float for an integer parameter or the other way round, an address for a float. Signs
/// do not matter, since compilers declare `int` parameters as `.u32` too, and `.b32` takes anything of its size.
fn mismatch(spec: &ArgSpec, parameter: &Variable) -> Outcome<()> {
    let untyped = matches!(parameter.ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    let scalar = parameter.dims.is_empty() && parameter.vector <= 1 && !untyped;
    let Some(declared) = element_type(parameter.ty).filter(|_| scalar) else { return Ok(()) };
    let (given, float) = match spec {
        ArgSpec::Buffer(name) => (format!("the address of buffer `{name}`"), false),
        ArgSpec::Table(table) => match (table.scalar(), &table.buffer, &table.alternate) {
            (Some(ty), ..) => (format!("of type {}", ty.name()), ty.is_float()),
            (None, Some(name), _) => (format!("the address of buffer `{name}`"), false),
            (None, None, Some(_)) => ("the address of a buffer".to_owned(), false),
            _ => return Ok(()),
        },
        ArgSpec::Int(_) | ArgSpec::Float(_) => return Ok(()),
    };
    if float == declared.is_float() {
        return Ok(());
    }
    let message = format!("parameter `{}` is a .{}, but the argument is {given}", parameter.name, declared.name());
    Err(Problem::input("job::arg-kind", message).help(describe(parameter)))
}

impl ArgTable {
    /// The type of the number that it gives, if it is one.
    fn scalar(&self) -> Option<ElementType> {
        use ElementType::*;
        let given = [
            (U8, self.u8.is_some()),
            (S8, self.s8.is_some()),
            (U16, self.u16.is_some()),
            (S16, self.s16.is_some()),
            (U32, self.u32.is_some()),
            (S32, self.s32.is_some()),
            (U64, self.u64.is_some()),
            (S64, self.s64.is_some()),
            (F32, self.f32.is_some()),
            (F64, self.f64.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(ty, _)| ty)
    }
}

/// A plain number takes the type that the parameter declares.
fn plain(
    parameter: &Variable,
    push: impl Fn(&mut Vec<u8>, ElementType) -> Option<()>,
    shown: &str,
) -> Outcome<Argument> {
    let scalar = parameter.dims.is_empty() && parameter.vector <= 1;
    let Some(ty) = element_type(parameter.ty).filter(|_| scalar) else {
        let message = format!("parameter `{}` cannot take a plain number", parameter.name);
        return Err(Problem::input("job::arg-kind", message).help(describe(parameter)));
    };
    let mut out = Vec::new();
    let unsigned = match ty {
        ElementType::U8 => Some(ElementType::S8),
        ElementType::U16 => Some(ElementType::S16),
        ElementType::U32 => Some(ElementType::S32),
        ElementType::U64 => Some(ElementType::S64),
        _ => None,
    };
    // Compilers declare `int` parameters as `.u32` too, so a negative number is fine where it fits the signed twin.
    if push(&mut out, ty).is_some() || unsigned.is_some_and(|twin| push(&mut out, twin).is_some()) {
        return Ok(Argument::Bytes(out));
    }
    let message = format!("{shown} does not fit parameter `{}` of type .{}", parameter.name, ty.name());
    Err(Problem::input("job::arg-misfit", message))
}

fn element_type(ty: Type) -> Option<ElementType> {
    Some(match ty {
        Type::B8 | Type::U8 => ElementType::U8,
        Type::S8 => ElementType::S8,
        Type::B16 | Type::U16 => ElementType::U16,
        Type::S16 => ElementType::S16,
        Type::B32 | Type::U32 => ElementType::U32,
        Type::S32 => ElementType::S32,
        Type::B64 | Type::U64 => ElementType::U64,
        Type::S64 => ElementType::S64,
        Type::F32 => ElementType::F32,
        Type::F64 => ElementType::F64,
        _ => return None,
    })
}

/// What a parameter wants, in words.
pub fn describe(parameter: &Variable) -> String {
    let (name, size) = (&parameter.name, parameter.size);
    match element_type(parameter.ty).filter(|_| parameter.dims.is_empty()) {
        Some(ElementType::U64) => format!("`{name}` is 64 bits: a buffer's name, or a whole number"),
        Some(ty) => format!("`{name}` is a .{}: a number, or {{ {} = … }}", ty.name(), ty.name()),
        None => format!("`{name}` is a structure of {size} bytes: {{ fields = […] }} or {{ bytes = \"…\" }}"),
    }
}

fn buffer_argument(name: &str, offset: u64, pointer: usize, buffers: &[Buffer]) -> Outcome<Argument> {
    let index = find_buffer(name, buffers)?;
    if offset > buffers[index].contents.bytes.len() as u64 {
        return Err(Problem::input("job::arg-offset", format!("offset {offset} lies beyond buffer `{name}`")));
    }
    Ok(Argument::Buffer { index, offset, width: pointer })
}

/// A buffer's index by its name.
pub fn find_buffer(name: &str, buffers: &[Buffer]) -> Outcome<usize> {
    let known = buffers.iter().map(|b| b.name.as_str());
    buffers
        .iter()
        .position(|b| b.name == name)
        .ok_or_else(|| Problem::unknown("job::unknown-buffer", "buffer", name, known))
}

fn table_argument(
    table: &ArgTable,
    parameter: Option<&Variable>,
    pointer: usize,
    buffers: &[Buffer],
) -> Outcome<Argument> {
    let mut found = Vec::new();
    if let Some(value) = table.f32.filter(|v| v.is_finite() && (*v as f32).is_infinite()) {
        let message = format!("{value} does not fit an f32: the largest is {}", f32::MAX);
        return Err(Problem::input("job::arg-misfit", message));
    }
    let scalars = [
        table.u8.map(|v| v.to_le_bytes().to_vec()),
        table.s8.map(|v| v.to_le_bytes().to_vec()),
        table.u16.map(|v| v.to_le_bytes().to_vec()),
        table.s16.map(|v| v.to_le_bytes().to_vec()),
        table.u32.map(|v| v.to_le_bytes().to_vec()),
        table.s32.map(|v| v.to_le_bytes().to_vec()),
        table.u64.map(|v| v.to_le_bytes().to_vec()),
        table.s64.map(|v| v.to_le_bytes().to_vec()),
        table.f32.map(|v| (v as f32).to_le_bytes().to_vec()),
        table.f64.map(|v| v.to_le_bytes().to_vec()),
    ];
    found.extend(scalars.into_iter().flatten().map(Argument::Bytes));
    if let Some(name) = &table.buffer {
        found.push(buffer_argument(name, table.offset_bytes.unwrap_or(0), pointer, buffers)?);
    } else if table.offset_bytes.is_some() {
        return Err(Problem::input("job::arg-stray-key", "`offset_bytes` goes with `buffer`"));
    }
    if let Some(from) = table.rounds_from {
        let width = parameter.map_or(4, |p| p.size as usize);
        let integer = parameter.is_none_or(|p| element_type(p.ty).is_some_and(|t| !t.is_float()));
        if !integer || !matches!(width, 1 | 2 | 4 | 8) {
            return Err(Problem::input("job::arg-rounds", "`rounds_from` needs a parameter of an integer type"));
        }
        found.push(Argument::Rounds { from, by: table.by.unwrap_or(1), width });
    } else if table.by.is_some() {
        return Err(Problem::input("job::arg-stray-key", "`by` goes with `rounds_from`"));
    }
    if let Some(names) = &table.alternate {
        if names.is_empty() {
            return Err(Problem::input("job::arg-alternate", "`alternate` needs at least one buffer"));
        }
        let choices: Outcome<Vec<_>> = names.iter().map(|n| buffer_argument(n, 0, pointer, buffers)).collect();
        found.push(Argument::Alternate(choices?));
    }
    if let Some(fields) = &table.fields {
        found.push(structure(fields, pointer, buffers)?);
    }
    if let Some(text) = &table.bytes {
        let bytes = hex(text).ok_or_else(|| Problem::input("job::arg-hex", "`bytes` must be hexadecimal digits"))?;
        let size = bytes.len();
        found.push(Argument::Fields(vec![(0, Argument::Bytes(bytes))], size));
    }
    match (found.pop(), found.is_empty()) {
        (Some(argument), true) => Ok(argument),
        (None, _) => {
            let help = "one of u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 buffer rounds_from alternate fields bytes";
            Err(Problem::input("job::arg-empty", "this argument says nothing").help(help))
        }
        _ => Err(Problem::input("job::arg-ambiguous", "this argument says more than one thing")),
    }
}

/// Lays out a structure as C does: each field naturally aligned, the whole padded to its widest field.
fn structure(fields: &[ArgSpec], pointer: usize, buffers: &[Buffer]) -> Outcome<Argument> {
    let (mut placed, mut end, mut widest) = (Vec::new(), 0usize, 1usize);
    for field in fields {
        let argument = match field {
            ArgSpec::Table(table) => table_argument(table, None, pointer, buffers)?,
            ArgSpec::Buffer(name) => buffer_argument(name, 0, pointer, buffers)?,
            ArgSpec::Int(_) | ArgSpec::Float(_) => {
                let problem = Problem::input("job::arg-field", "a field of a structure needs its type");
                return Err(problem.help("write { u32 = 5 } or { f32 = 1.0 }"));
            }
        };
        let width = argument.width();
        let align =
            if matches!(argument, Argument::Fields(..)) { 8.min(width.max(1).next_power_of_two()) } else { width };
        let at = end.next_multiple_of(align.max(1));
        placed.push((at, argument));
        (end, widest) = (at + width, widest.max(align));
    }
    Ok(Argument::Fields(placed, end.next_multiple_of(widest)))
}

/// Bytes of a hexadecimal text; spaces and underscores are skipped.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().filter(|c| !c.is_whitespace() && *c != '_').map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// A short name for a buffer's contents, for results: element count, sum, checksum.
pub fn summary(contents: &data::Contents, bytes: &[u8]) -> (Number, u64) {
    let sum = data::sum(contents.element, bytes);
    let whole = if let Value::Whole(sum) = sum { i64::try_from(sum).ok() } else { None };
    (whole.map_or(Number::Float(sum.to_f64()), Number::Int), data::fnv1a(bytes))
}
