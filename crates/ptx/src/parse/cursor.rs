//! A reading position in the token array.

use crate::error::Fault;
use crate::ir::Span;
use crate::lex::{Kind, Token};

/// Result of a parsing step.
pub(crate) type Parse<T> = Result<T, Box<Fault>>;

/// Reads tokens; never moves past the final [`Kind::End`].
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn token(&self) -> Token {
        self.ahead(0)
    }

    pub(crate) fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.position + n).min(self.tokens.len() - 1)]
    }

    pub(crate) fn kind(&self) -> Kind {
        self.token().kind
    }

    pub(crate) fn span(&self) -> Span {
        self.token().span()
    }

    /// The end of the token before this one.
    pub(crate) fn last_end(&self) -> u32 {
        self.position.checked_sub(1).map_or(0, |i| self.tokens[i].end)
    }

    pub(crate) fn slice(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The text of the current token.
    pub(crate) fn word(&self) -> &'a str {
        self.slice(self.token())
    }

    /// The current dotted word without its dot; empty if it is none.
    pub(crate) fn dotted(&self) -> &'a str {
        if self.kind() == Kind::Dot { &self.word()[1..] } else { "" }
    }

    pub(crate) fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.position += 1;
        }
        token
    }

    /// Takes the current token if it is of that kind.
    pub(crate) fn eat(&mut self, kind: Kind) -> bool {
        let hit = self.kind() == kind;
        if hit {
            self.bump();
        }
        hit
    }

    pub(crate) fn eat_dot(&mut self, word: &str) -> bool {
        let hit = self.kind() == Kind::Dot && self.dotted() == word;
        if hit {
            self.bump();
        }
        hit
    }

    /// Takes a token of that kind, or says what was expected.
    pub(crate) fn require(&mut self, kind: Kind, what: &str) -> Parse<Token> {
        if self.kind() == kind { Ok(self.bump()) } else { Err(self.unexpected(what)) }
    }

    /// "expected … but found …" at the current token.
    pub(crate) fn unexpected(&self, what: &str) -> Box<Fault> {
        let rest = self.text.as_bytes().get(self.token().start as usize..).unwrap_or_default();
        let unclosed = match rest {
            [b'/', b'*', ..] => Some("comment"),
            [b'"', ..] if self.kind() == Kind::Junk => Some("string"),
            _ => None,
        };
        if let Some(what) = unclosed {
            let span = Span { end: self.token().start + 1, ..self.span() };
            return Fault::new(span, format!("this {what} is never closed"));
        }
        let found = match self.kind() {
            Kind::End => "the file ends".to_owned(),
            Kind::BadNumber => format!("`{}` is no number", shorten(self.word())),
            _ => format!("found `{}`", shorten(self.word())),
        };
        let fault = Fault::new(self.span(), format!("expected {what}, but {found}"));
        match self.kind() {
            Kind::BadNumber => fault.help(
                "numbers are written 12, 0x1F, 0b101, 1.5, 0f3F800000 (eight digits) or 0d3FF0000000000000 (sixteen)",
            ),
            Kind::Junk => fault.help("this character begins no PTX word"),
            _ => fault,
        }
    }

    /// An unsigned integer literal.
    pub(crate) fn unsigned(&mut self, what: &str) -> Parse<u64> {
        let token = self.require(Kind::Int, what)?;
        integer(self.slice(token)).ok_or_else(|| {
            Fault::new(token.span(), "this integer does not fit in 64 bits").help("the largest is 2^64 - 1")
        })
    }

    pub(crate) fn unsigned32(&mut self, what: &str) -> Parse<u32> {
        let span = self.span();
        let value = self.unsigned(what)?;
        u32::try_from(value).map_err(|_| Fault::new(span, format!("{value} is too large for {what}")))
    }

    /// Skips a bracketed group whose opening token is current; stops at the end of the text.
    pub(crate) fn skip_group(&mut self, open: Kind, close: Kind) -> bool {
        let mut depth = 0usize;
        loop {
            let kind = self.kind();
            if kind == Kind::End {
                return false;
            }
            self.bump();
            if kind == open {
                depth += 1;
            } else if kind == close {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
            }
        }
    }
}

/// Value of an integer literal: decimal, `0x`, `0b`, or octal with a leading zero.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&text[2..], 16).ok(),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&text[2..], 2).ok(),
        [b'0', _, ..] => u64::from_str_radix(text, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// At most 40 characters of a text, those that print, for a message.
pub(crate) fn shorten(text: &str) -> String {
    if text.contains(char::is_control) {
        return shorten(&text.escape_default().to_string());
    }
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(37).chain("...".chars()).collect() }
}
