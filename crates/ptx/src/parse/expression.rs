//! Constant expressions of integers (PTX ISA manual, "Constant Expressions"): C's operators and precedence, in 64 bits.

use crate::error::Fault;
use crate::lex::Kind;
use crate::parse::cursor::{Cursor, Parse};

/// A value of type `.s64` or `.u64`.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Value {
        Value { bits, unsigned: false }
    }

    fn unsigned(bits: i64) -> Value {
        Value { bits, unsigned: true }
    }
}

/// Whether an integer expression begins here: behind any signs stands an integer or a parenthesis.
pub(crate) fn begins(cur: &Cursor<'_>) -> bool {
    let sign = |kind| matches!(kind, Kind::Plus | Kind::Minus | Kind::Tilde | Kind::Not);
    let first = (0..).map(|n| cur.ahead(n).kind).find(|&kind| !sign(kind));
    matches!(first, Some(Kind::Int | Kind::LParen))
}

/// A whole expression.
pub(crate) fn expression(cur: &mut Cursor<'_>, what: &str) -> Parse<i64> {
    Reader { cur, what, depth: 0 }.conditional().map(|value| value.bits)
}

/// What is added to an address: `+4*2`, `-4`, `+-4`, or nothing.
pub(crate) fn offset(cur: &mut Cursor<'_>, what: &str) -> Parse<i64> {
    let mut sum = 0i64;
    while matches!(cur.kind(), Kind::Plus | Kind::Minus) {
        let minus = cur.bump().kind == Kind::Minus;
        let term = Reader { cur: &mut *cur, what, depth: 0 }.binary(PRODUCT)?.bits;
        sum = if minus { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
    }
    Ok(sum)
}

/// Precedence of `*`, `/` and `%`.
const PRODUCT: u8 = 10;

/// Precedence of a binary operator; 0 if it is none.
fn precedence(kind: Kind, text: &str) -> u8 {
    match kind {
        Kind::OrOr => 1,
        Kind::AndAnd => 2,
        Kind::Bar => 3,
        Kind::Caret => 4,
        Kind::Amp => 5,
        Kind::EqualEqual | Kind::NotEqual => 6,
        Kind::Less | Kind::Greater | Kind::LessEqual | Kind::GreaterEqual => 7,
        Kind::Shl | Kind::Shr => 8,
        Kind::Plus | Kind::Minus => 9,
        Kind::Star | Kind::Slash => PRODUCT,
        // A lone `%` is cut like a name.
        Kind::Ident if text == "%" => PRODUCT,
        _ => 0,
    }
}

/// Deeper nesting than anyone writes would exhaust the host's stack.
const MAX_DEPTH: u32 = 64;

struct Reader<'c, 'a> {
    cur: &'c mut Cursor<'a>,
    what: &'c str,
    depth: u32,
}

impl Reader<'_, '_> {
    fn nested(&mut self, read: fn(&mut Self) -> Parse<Value>) -> Parse<Value> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(self.cur.span(), "this expression is nested too deeply"));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn conditional(&mut self) -> Parse<Value> {
        let condition = self.binary(1)?;
        if !self.cur.eat(Kind::Question) {
            return Ok(condition);
        }
        let yes = self.nested(Self::conditional)?;
        self.cur.require(Kind::Colon, "`:`")?;
        let no = self.nested(Self::conditional)?;
        let unsigned = yes.unsigned || no.unsigned;
        Ok(Value { unsigned, ..if condition.bits != 0 { yes } else { no } })
    }

    /// Operators of at least the precedence `least`, from left to right.
    fn binary(&mut self, least: u8) -> Parse<Value> {
        let mut left = self.unary()?;
        loop {
            let own = precedence(self.cur.kind(), self.cur.word());
            if own == 0 || own < least {
                return Ok(left);
            }
            let operator = self.cur.bump();
            let right = self.binary(own + 1)?;
            left = apply(operator.kind, left, right)
                .ok_or_else(|| Fault::new(operator.span(), "a division by zero in a constant expression"))?;
        }
    }

    fn unary(&mut self) -> Parse<Value> {
        let token = self.cur.token();
        Ok(match token.kind {
            Kind::Plus => {
                self.cur.bump();
                self.nested(Self::unary)?
            }
            Kind::Minus => {
                self.cur.bump();
                let value = self.nested(Self::unary)?;
                Value { bits: value.bits.wrapping_neg(), ..value }
            }
            Kind::Tilde => {
                self.cur.bump();
                Value::unsigned(!self.nested(Self::unary)?.bits)
            }
            Kind::Not => {
                self.cur.bump();
                Value::signed((self.nested(Self::unary)?.bits == 0).into())
            }
            Kind::LParen => {
                self.cur.bump();
                let value = self.nested(Self::conditional)?;
                self.cur.require(Kind::RParen, "`)`")?;
                value
            }
            _ => {
                let bits = self.cur.unsigned(self.what)? as i64;
                // Beyond the signed numbers, and with `U`, literals are unsigned.
                Value { bits, unsigned: bits < 0 || self.cur.slice(token).ends_with('U') }
            }
        })
    }
}

fn apply(operator: Kind, a: Value, b: Value) -> Option<Value> {
    let unsigned = a.unsigned || b.unsigned;
    let (x, y) = (a.bits, b.bits);
    let less = |x: i64, y: i64| if unsigned { (x as u64) < y as u64 } else { x < y };
    let truth = |holds: bool| Value::signed(holds.into());
    let same = |bits| Value { bits, unsigned };
    let shift = u32::try_from(y as u64).unwrap_or(u32::MAX);
    Some(match operator {
        Kind::OrOr => truth(x != 0 || y != 0),
        Kind::AndAnd => truth(x != 0 && y != 0),
        Kind::Bar => Value::unsigned(x | y),
        Kind::Caret => Value::unsigned(x ^ y),
        Kind::Amp => Value::unsigned(x & y),
        Kind::EqualEqual => truth(x == y),
        Kind::NotEqual => truth(x != y),
        Kind::Less => truth(less(x, y)),
        Kind::Greater => truth(less(y, x)),
        Kind::LessEqual => truth(!less(y, x)),
        Kind::GreaterEqual => truth(!less(x, y)),
        Kind::Shl => Value { bits: x.unbounded_shl(shift), ..a },
        Kind::Shr if a.unsigned => Value { bits: (x as u64).unbounded_shr(shift) as i64, ..a },
        Kind::Shr => Value { bits: x.unbounded_shr(shift), ..a },
        Kind::Plus => same(x.wrapping_add(y)),
        Kind::Minus => same(x.wrapping_sub(y)),
        Kind::Star => same(x.wrapping_mul(y)),
        Kind::Slash if unsigned => same((x as u64).checked_div(y as u64)? as i64),
        Kind::Slash if y != 0 => same(x.wrapping_div(y)),
        Kind::Ident if unsigned => same((x as u64).checked_rem(y as u64)? as i64),
        Kind::Ident if y != 0 => same(x.wrapping_rem(y)),
        _ => return None,
    })
}
