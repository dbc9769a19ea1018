//! Declarations of variables and parameters (PTX ISA manual, "State Spaces, Types, and Variables").

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::cursor::{Cursor, Parse};
use crate::parse::expression;
use crate::words;

/// The attributes before the names of a declaration.
#[derive(Clone, Copy)]
pub(crate) struct Attributes {
    pub ty: Type,
    pub vector: u8,
    pub align: Option<u32>,
}

/// State spaces that a variable may be declared in.
pub(crate) fn space_named(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" => Space::Param,
        "tex" => Space::Tex,
        "reg" => Space::Reg,
        _ => return None,
    })
}

/// Linkage words.
pub(crate) fn linkage_named(word: &str) -> Option<Linkage> {
    Some(match word {
        "visible" => Linkage::Visible,
        "extern" => Linkage::Extern,
        "weak" => Linkage::Weak,
        "common" => Linkage::Common,
        _ => return None,
    })
}

/// `.align N`, the type, `.v2`/`.v4`, `.ptr .space .align N`, `.attribute(…)`, a constant bank `[n]`, in any order.
pub(crate) fn attributes(cur: &mut Cursor<'_>) -> Parse<Attributes> {
    let (mut ty, mut vector, mut align, mut pointer) = (None, 1, None, false);
    loop {
        let token = cur.token();
        match cur.kind() {
            Kind::Dot => {}
            Kind::LBracket => {
                cur.bump();
                cur.unsigned("a constant bank number")?;
                cur.require(Kind::RBracket, "`]`")?;
                continue;
            }
            _ => break,
        }
        match cur.dotted() {
            "align" => {
                cur.bump();
                let span = cur.span();
                let value = cur.unsigned32("an alignment in bytes")?;
                if !value.is_power_of_two() {
                    return Err(
                        Fault::new(span, format!("an alignment of {value} bytes")).help("alignments are powers of two")
                    );
                }
                // After `.ptr` it is the alignment of what the pointer points to.
                if !pointer {
                    align = Some(value);
                }
            }
            "ptr" => {
                cur.bump();
                pointer = true;
            }
            "global" | "shared" | "local" | "const" | "generic" if pointer => {
                cur.bump();
            }
            "attribute" => {
                cur.bump();
                if cur.kind() != Kind::LParen || !cur.skip_group(Kind::LParen, Kind::RParen) {
                    return Err(cur.unexpected("`(` and an attribute"));
                }
            }
            "v2" => {
                cur.bump();
                vector = 2;
            }
            "v4" => {
                cur.bump();
                vector = 4;
            }
            word => {
                let Some(found) = words::type_named(word) else {
                    return Err(Fault::new(token.span(), format!("expected a type, but found `.{word}`"))
                        .suggest_dotted(word, words::TYPES.iter().map(|(name, _)| *name)));
                };
                if let Some(first) = ty {
                    let first: Type = first;
                    return Err(Fault::new(token.span(), format!("a second type `.{word}` after `.{}`", first.name()))
                        .help("a declaration has one type"));
                }
                cur.bump();
                ty = Some(found);
            }
        }
    }
    let ty = ty.ok_or_else(|| cur.unexpected("a type such as `.b32`"))?;
    if vector > 1 && ty.bytes() * u32::from(vector) > 16 {
        let message = format!("a vector of {vector} × .{} is longer than 128 bits", ty.name());
        return Err(Fault::new(cur.span(), message).help("vectors are at most 128 bits long"));
    }
    Ok(Attributes { ty, vector, align })
}

/// One name with its dimensions; the initialiser is not part of it.
pub(crate) fn named(
    cur: &mut Cursor<'_>,
    space: Space,
    linkage: Linkage,
    at: Attributes,
    start: u32,
) -> Parse<Variable> {
    let name = cur.require(Kind::Ident, "the variable's name")?;
    let mut dims = Vec::new();
    while cur.kind() == Kind::LBracket {
        let open = cur.bump();
        let length = match cur.kind() {
            Kind::RBracket => 0,
            Kind::LParen | Kind::Int => expression::expression(cur, "an array length")? as u64,
            _ => return Err(cur.unexpected("an array length")),
        };
        cur.require(Kind::RBracket, "`]`")?;
        if length == 0 && !dims.is_empty() {
            return Err(Fault::new(open.span(), "only the first dimension may be left open"));
        }
        if dims.len() == 8 {
            return Err(Fault::new(open.span(), "an array of more than 8 dimensions"));
        }
        dims.push(length);
    }
    let element = u64::from(at.ty.bytes()) * u64::from(at.vector);
    let span = Span { start, end: cur.last_end() };
    let size = array_bytes(element, &dims)
        .ok_or_else(|| Fault::new(span, "the array is too large").help("at most 2^40 bytes"))?;
    Ok(Variable {
        name: cur.slice(name).to_owned(),
        space,
        linkage,
        ty: at.ty,
        vector: at.vector,
        dims,
        align: at.align.unwrap_or(element as u32),
        size,
        init: Vec::new(),
        reg: None,
        span,
    })
}

/// Bytes of an array, if those of one row of it (should the first dimension be open) are at most 2^40.
fn array_bytes(element: u64, dims: &[u64]) -> Option<u64> {
    let row =
        dims.iter().try_fold(element, |bytes, &n| bytes.checked_mul(n.max(1))).filter(|&bytes| bytes <= 1 << 40)?;
    Some(if dims.first() == Some(&0) { 0 } else { row })
}

/// Sets the length of a first dimension left open, once the initialiser is known.
pub(crate) fn close_dimension(variable: &mut Variable, length: u64) {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    if let Some(first) = variable.dims.first_mut() {
        *first = length;
    }
    variable.size = array_bytes(element, &variable.dims).unwrap_or(variable.size);
}

/// A parenthesised parameter list, its `(` being the current token.
pub(crate) fn parameters(cur: &mut Cursor<'_>) -> Parse<Vec<Variable>> {
    cur.require(Kind::LParen, "`(`")?;
    let mut list: Vec<Variable> = Vec::new();
    while cur.kind() != Kind::RParen {
        if !list.is_empty() {
            cur.require(Kind::Comma, "`,` or `)`")?;
        }
        let start = cur.token().start;
        let space = match cur.dotted() {
            "param" => Space::Param,
            "reg" => Space::Reg,
            _ => return Err(cur.unexpected("`.param` or `.reg`")),
        };
        cur.bump();
        let attributes = attributes(cur)?;
        let variable = named(cur, space, Linkage::Local, attributes, start)?;
        if variable.name != "_"
            && let Some(first) = list.iter().find(|v| v.name == variable.name)
        {
            return Err(Fault::new(variable.span, format!("a second parameter named `{}`", first.name)));
        }
        list.push(variable);
    }
    cur.bump();
    Ok(list)
}
