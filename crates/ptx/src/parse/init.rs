//! Initialisers of variables (PTX ISA manual, "Initializers"): numbers, nested lists, addresses of symbols.

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::cursor::{Cursor, Parse};
use crate::parse::module::{ModuleName, ModuleNames};
use crate::parse::{decl, expression};

/// Reads what stands after `=` into the variable.
pub(crate) fn initialiser<'a>(cur: &mut Cursor<'a>, variable: &mut Variable, names: &ModuleNames<'a>) -> Parse<()> {
    let opaque = matches!(variable.ty, Type::TexRef | Type::SamplerRef | Type::SurfRef);
    if opaque && cur.kind() == Kind::LBrace {
        // Sampler settings: `{ addr_mode_0 = wrap, filter_mode = linear }`; the host's binding decides.
        return if cur.skip_group(Kind::LBrace, Kind::RBrace) { Ok(()) } else { Err(cur.unexpected("`}`")) };
    }
    if !matches!(variable.space, Space::Global | Space::Const) {
        let message = format!("an initial value of a variable in .{}", variable.space.name());
        return Err(Fault::new(cur.span(), message).help("variables in .global and .const have initial values"));
    }
    if matches!(variable.ty, Type::Pred | Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::Tf32) {
        let message = format!("an initial value of a variable of type .{}", variable.ty.name());
        return Err(Fault::new(cur.span(), message).help("declare it as .b16 or .b32, with the value's bits"));
    }
    let element = u64::from(variable.ty.bytes());
    // Strides from the outermost list inwards; a vector is one more dimension.
    let mut lengths = variable.dims.clone();
    if variable.vector > 1 {
        lengths.push(u64::from(variable.vector));
    }
    let mut strides = vec![element; lengths.len()];
    for i in (1..lengths.len()).rev() {
        strides[i - 1] = strides[i] * lengths[i];
    }
    let mut list =
        List { cur, names, ty: variable.ty, element, lengths: &lengths, strides: &strides, items: Vec::new() };
    if lengths.is_empty() {
        let braced = list.cur.eat(Kind::LBrace);
        let value = list.value()?;
        list.items.push(Init { offset: 0, value });
        if braced {
            list.cur.require(Kind::RBrace, "`}`")?;
        }
    } else {
        let covered = list.level(0, 0)?;
        let items = list.items;
        if variable.dims.first() == Some(&0) {
            decl::close_dimension(variable, covered.div_ceil(strides[0]));
        }
        variable.init = items;
        return Ok(());
    }
    variable.init = list.items;
    Ok(())
}

struct List<'c, 'a, 'n> {
    cur: &'c mut Cursor<'a>,
    names: &'n ModuleNames<'a>,
    ty: Type,
    element: u64,
    lengths: &'n [u64],
    strides: &'n [u64],
    items: Vec<Init>,
}

impl List<'_, '_, '_> {
    /// One braced list at nesting depth `depth`, which starts at byte `base`; gives the bytes that it covers.
    fn level(&mut self, depth: usize, base: u64) -> Parse<u64> {
        let open = self.cur.require(Kind::LBrace, "`{`")?;
        let (length, stride) = (self.lengths[depth], self.strides[depth]);
        let room = if length == 0 { u64::MAX } else { length * stride };
        let mut offset = 0u64;
        while self.cur.kind() != Kind::RBrace {
            let span = self.cur.span();
            let step = if self.cur.kind() == Kind::LBrace {
                if depth + 1 == self.lengths.len() {
                    return Err(Fault::new(span, "this list is nested deeper than the array has dimensions"));
                }
                offset = offset.div_ceil(stride) * stride;
                self.level(depth + 1, base + offset)?;
                stride
            } else {
                let value = self.value()?;
                self.items.push(Init { offset: base + offset, value });
                self.element
            };
            offset += step;
            if offset > room {
                return Err(Fault::new(span, format!("more initial values than the {length} that fit here")));
            }
            if !self.cur.eat(Kind::Comma) && self.cur.kind() != Kind::RBrace {
                let fault = self.cur.unexpected("`,` or `}`");
                return Err(if self.cur.kind() == Kind::End {
                    Fault::new(open.span(), "this list is never closed")
                } else {
                    fault
                });
            }
        }
        self.cur.bump();
        Ok(offset)
    }

    fn value(&mut self) -> Parse<InitValue> {
        let size = self.element as u8;
        if self.cur.kind() == Kind::Int && self.cur.ahead(1).kind == Kind::LParen {
            let span = self.cur.span();
            let mask = self.cur.unsigned("a mask")?;
            return self.masked(mask, span);
        }
        if expression::begins(self.cur) {
            let value = expression::expression(self.cur, "an initial value")?;
            let bits = if self.ty.is_float() { self.float_bits(value as f64) } else { value as u64 };
            return Ok(InitValue::Bits { bits, size });
        }
        let negative = {
            let mut negative = false;
            while matches!(self.cur.kind(), Kind::Minus | Kind::Plus) {
                negative ^= self.cur.bump().kind == Kind::Minus;
            }
            negative
        };
        let token = self.cur.token();
        let text = self.cur.slice(token);
        let bits = match token.kind {
            Kind::Ident if !negative => return self.symbol(None, size),
            Kind::F32 => {
                self.cur.bump();
                let bits = u32::from_str_radix(&text[2..], 16).unwrap_or(0) ^ (u32::from(negative) << 31);
                if self.ty == Type::F64 { f64::from(f32::from_bits(bits)).to_bits() } else { u64::from(bits) }
            }
            Kind::F64 => {
                self.cur.bump();
                let bits = u64::from_str_radix(&text[2..], 16).unwrap_or(0) ^ (u64::from(negative) << 63);
                if self.ty == Type::F32 { self.float_bits(f64::from_bits(bits)) } else { bits }
            }
            Kind::Decimal => {
                self.cur.bump();
                let value: f64 = text.parse().unwrap_or(0.0);
                let value = if negative { -value } else { value };
                if self.ty.is_float() { self.float_bits(value) } else { value.to_bits() }
            }
            _ => return Err(self.cur.unexpected("an initial value")),
        };
        Ok(InitValue::Bits { bits, size })
    }

    fn float_bits(&self, value: f64) -> u64 {
        if self.ty == Type::F64 { value.to_bits() } else { u64::from((value as f32).to_bits()) }
    }

    /// `0xFF00(sym)`: one byte (or a few) of an address, or of a number.
    fn masked(&mut self, mask: u64, span: Span) -> Parse<InitValue> {
        let wanted = if self.element == 8 { u64::MAX } else { (1 << (8 * self.element)) - 1 };
        let shift = mask.trailing_zeros();
        if mask == 0 || mask >> shift != wanted || shift % 8 != 0 {
            return Err(Fault::new(span, format!("the mask {mask:#x} does not cut out {} whole bytes", self.element))
                .help("a mask is 0xFF, 0xFF00, … for a one-byte element"));
        }
        self.cur.require(Kind::LParen, "`(`")?;
        let size = self.element as u8;
        let value = if expression::begins(self.cur) {
            let value = expression::expression(self.cur, "an address or a number")? as u64;
            InitValue::Bits { bits: (value & mask) >> shift, size }
        } else {
            self.symbol(Some((shift / 8) as u8), size)?
        };
        self.cur.require(Kind::RParen, "`)`")?;
        Ok(value)
    }

    /// `sym`, `sym+4`, `generic(sym)+4`; `mask` is the first byte that a mask cuts out.
    fn symbol(&mut self, mask: Option<u8>, size: u8) -> Parse<InitValue> {
        let mut token = self.cur.require(Kind::Ident, "a variable or function")?;
        let generic = self.cur.slice(token) == "generic" && self.cur.kind() == Kind::LParen;
        if generic {
            self.cur.bump();
            token = self.cur.require(Kind::Ident, "a variable")?;
            self.cur.require(Kind::RParen, "`)`")?;
        }
        let addend = expression::offset(self.cur, "an offset")?;
        let (name, byte) = (self.cur.slice(token), mask.unwrap_or(0));
        if self.ty.is_float() || (mask.is_none() && size < 4) {
            return Err(Fault::new(
                token.span(),
                format!("an address does not fit into an element of type .{}", self.ty.name()),
            ));
        }
        match self.names.get(name) {
            Some(ModuleName::Variable(variable)) => Ok(InitValue::Variable { variable, addend, generic, size, byte }),
            Some(ModuleName::Function(function)) if addend == 0 && mask.is_none() => {
                Ok(InitValue::Function { function, size })
            }
            Some(ModuleName::Function(_)) => {
                Err(Fault::new(token.span(), "a part of a function's address, or an offset to it"))
            }
            None => Err(Fault::new(token.span(), format!("`{name}` is not declared in this module"))
                .suggest(name, self.names.names())),
        }
    }
}
