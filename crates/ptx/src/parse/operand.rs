//! Operands (PTX ISA manual, "Instruction Operands").

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::body::{BodyParser, Resolved};
use crate::parse::cursor::Parse;
use crate::parse::expression;

/// One operand, as every instruction but `call` and the branches' targets has it.
pub(crate) fn parse(p: &mut BodyParser<'_, '_>, mods: &mut Modifiers) -> Parse<Operand> {
    match p.cur.kind() {
        Kind::LBracket => bracketed(p),
        Kind::LBrace => vector(p, mods),
        _ => value(p, mods),
    }
}

/// `{a, b, …}` of up to 256 values.
fn vector(p: &mut BodyParser<'_, '_>, mods: &mut Modifiers) -> Parse<Operand> {
    let open = p.cur.bump();
    let mut list = Vec::new();
    while p.cur.kind() != Kind::RBrace {
        if !list.is_empty() {
            p.cur.require(Kind::Comma, "`,` or `}`")?;
        }
        if list.len() == 256 {
            return Err(Fault::new(open.span(), "a vector of more than 256 values"));
        }
        list.push(value(p, mods)?);
    }
    let close = p.cur.bump();
    if list.is_empty() {
        let span = Span { start: open.start, end: close.end };
        return Err(Fault::new(span, "an empty vector").help("expected 1, 2, 4 or 8 values between the braces"));
    }
    Ok(Operand::Vector(list.into()))
}

/// A register, number, special register, symbol, `!p` or `_`.
fn value(p: &mut BodyParser<'_, '_>, mods: &mut Modifiers) -> Parse<Operand> {
    match p.cur.kind() {
        Kind::Ident if p.cur.word() == "_" => {
            p.cur.bump();
            Ok(Operand::Sink)
        }
        Kind::Ident => named(p, mods),
        Kind::Not if !expression::begins(&p.cur) => {
            p.cur.bump();
            let token = p.cur.require(Kind::Ident, "a predicate register")?;
            let name = p.cur.slice(token);
            match p.resolve(name) {
                Some(Resolved::Reg(reg)) if p.body.registers[reg.0 as usize].ty == Type::Pred => {
                    Ok(Operand::NotReg(reg))
                }
                Some(_) => Err(Fault::new(token.span(), format!("`{name}` is no predicate and cannot be negated"))),
                None => Err(p.unknown(name, token.span())),
            }
        }
        _ => number(p),
    }
}

/// An integer expression, or a floating-point literal with its sign.
fn number(p: &mut BodyParser<'_, '_>) -> Parse<Operand> {
    if expression::begins(&p.cur) {
        return expression::expression(&mut p.cur, "a number").map(Operand::Int);
    }
    let mut negative = false;
    loop {
        match p.cur.kind() {
            Kind::Minus => negative = !negative,
            Kind::Plus => {}
            _ => break,
        }
        p.cur.bump();
    }
    let text = p.cur.word();
    let sign64 = u64::from(negative) << 63;
    let found = match p.cur.kind() {
        Kind::F32 => Operand::F32(u32::from_str_radix(&text[2..], 16).unwrap_or(0) ^ (u32::from(negative) << 31)),
        Kind::F64 => Operand::F64(u64::from_str_radix(&text[2..], 16).unwrap_or(0) ^ sign64),
        Kind::Decimal => Operand::F64(text.parse::<f64>().unwrap_or(0.0).to_bits() ^ sign64),
        _ => return Err(p.cur.unexpected("an operand")),
    };
    p.cur.bump();
    Ok(found)
}

/// Component of a vector: `.x` or `.r` and so on.
fn component(word: &str) -> Option<u8> {
    Some(match word {
        "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => return None,
    })
}

fn named(p: &mut BodyParser<'_, '_>, mods: &mut Modifiers) -> Parse<Operand> {
    let token = p.cur.bump();
    let name = p.cur.slice(token);
    let Some(resolved) = p.resolve(name) else {
        return Err(p.unknown(name, token.span()));
    };
    match resolved {
        Resolved::Reg(reg) => {
            if p.cur.kind() != Kind::Dot {
                return Ok(Operand::Reg(reg));
            }
            let word = p.cur.dotted();
            if let Some(element) = component(word) {
                let width = p.body.registers[reg.0 as usize].vector;
                if width == 1 || element >= width {
                    return Err(Fault::new(p.cur.span(), format!("`{name}` has no component `.{word}`"))
                        .help(format!("it is declared with {width} component(s)")));
                }
                p.cur.bump();
                return Ok(Operand::RegElement(reg, element));
            }
            if word.starts_with(['b', 'h']) && word[1..].bytes().all(|b| b.is_ascii_digit()) && word.len() > 1 {
                // Byte and half selectors of the video instructions, none of which executes with them.
                mods.other.push(word.to_owned());
                p.cur.bump();
                return Ok(Operand::Reg(reg));
            }
            Err(p.cur.unexpected("`,`, `;` or a component such as `.x`"))
        }
        Resolved::Variable(reference) => Ok(Operand::Variable(reference, expression::offset(&mut p.cur, OFFSET)?)),
        Resolved::Function(function) => Ok(Operand::Function(function)),
        Resolved::Special(special) => Ok(Operand::Special(special)),
        Resolved::SpecialVector(make) => match component(p.cur.dotted()) {
            // The fourth component of all of them reads zero (manual, "Special Registers").
            Some(3) => {
                p.cur.bump();
                Ok(Operand::Int(0))
            }
            Some(element) => {
                p.cur.bump();
                Ok(Operand::Special(make(element)))
            }
            None => Err(Fault::new(token.span(), format!("`{name}` needs a component"))
                .help(format!("expected `{name}.x`, `{name}.y` or `{name}.z`"))),
        },
    }
}

const OFFSET: &str = "an offset in bytes";

/// `[address]`, `[texture, {coordinates}]`, `[texture, sampler, {coordinates}]`.
fn bracketed(p: &mut BodyParser<'_, '_>) -> Parse<Operand> {
    p.cur.bump();
    let (base, addend) = address(p)?;
    if p.cur.eat(Kind::RBracket) {
        return Ok(Operand::Address(base, addend));
    }
    if p.cur.kind() != Kind::Comma {
        return Err(p.cur.unexpected("`]`"));
    }
    p.cur.bump();
    let texture = texture_base(p, base)?;
    let mut sampler = None;
    if p.cur.kind() != Kind::LBrace && p.cur.ahead(1).kind == Kind::Comma {
        let (base, _) = address(p)?;
        sampler = Some(texture_base(p, base)?);
        p.cur.bump();
    }
    let mut unused = Modifiers::default();
    let coords = match parse(p, &mut unused)? {
        Operand::Vector(list) => list,
        one => Box::from([one]),
    };
    p.cur.require(Kind::RBracket, "`]`")?;
    Ok(Operand::Texture { texture, sampler, coords })
}

fn texture_base(p: &BodyParser<'_, '_>, base: AddressBase) -> Parse<TextureBase> {
    match base {
        AddressBase::Variable(reference) => Ok(TextureBase::Variable(reference)),
        AddressBase::Reg(reg) => Ok(TextureBase::Reg(reg)),
        AddressBase::Absolute => Err(p.cur.unexpected("`]` behind a number")),
    }
}

fn address(p: &mut BodyParser<'_, '_>) -> Parse<(AddressBase, i64)> {
    let token = p.cur.token();
    if token.kind != Kind::Ident {
        let what = "an address: a register, a variable or a number";
        return Ok((AddressBase::Absolute, expression::expression(&mut p.cur, what)?));
    }
    p.cur.bump();
    let name = p.cur.slice(token);
    let base = match p.resolve(name) {
        Some(Resolved::Reg(reg)) => AddressBase::Reg(reg),
        Some(Resolved::Variable(reference)) => AddressBase::Variable(reference),
        Some(_) => {
            return Err(Fault::new(token.span(), format!("`{name}` is no address"))
                .help("expected a register, a variable or a number between the brackets"));
        }
        None => return Err(p.unknown(name, token.span())),
    };
    Ok((base, expression::offset(&mut p.cur, OFFSET)?))
}
