//! Text to tokens (PTX ISA manual, "Syntax": identifiers, constants, comments).
//!
//! The whole file is cut into a flat array first, so that the parser can look ahead and come back to a function's body
//! once all module-level names are known. Dotted words (`.global`, `.L1::no_allocate`) are one token each. Comments,
//! preprocessor lines, `@@DWARF` lines of the first compilers, a byte-order mark and NUL bytes are blanks.

use logos::Logos;

use crate::ir::Span;

/// Kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0B\x0C\x00]+")]
#[logos(skip("\u{feff}"))]
#[logos(skip(r"(//|#|@@DWARF)[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(crate) enum Kind {
    /// `name`, `%r1`, `$L_2`, `_`.
    #[regex(r"[A-Za-z_$%][A-Za-z0-9_$]*")]
    Ident,
    /// `.word`, `.2d`, `.L1::evict_last`.
    #[regex(r"\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*")]
    Dot,
    /// `12`, `0x1F`, `0b101`, `017`, each with an optional `U`.
    #[regex(r"[0-9]+U?", priority = 6)]
    #[regex(r"0[xX][0-9a-fA-F]+U?", priority = 6)]
    #[regex(r"0[bB][01]+U?", priority = 6)]
    Int,
    /// `1.5`, `2e-3`, `.5`.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?", priority = 5)]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+", priority = 5)]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?", priority = 20)]
    Decimal,
    /// `0f3F800000`.
    #[regex(r"0[fF][0-9a-fA-F]{8}", priority = 8)]
    F32,
    /// `0d3FF0000000000000`.
    #[regex(r"0[dD][0-9a-fA-F]{16}", priority = 8)]
    F64,
    /// Something that begins like a number and is none.
    #[regex(r"[0-9][0-9A-Za-z_$]*", priority = 1)]
    BadNumber,
    /// `"text"`.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("=")]
    Equal,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("&")]
    Amp,
    #[token("^")]
    Caret,
    #[token("?")]
    Question,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    /// A character that starts no token.
    Junk,
    /// The end of the text.
    End,
}

/// A token: its kind and place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

impl Token {
    pub(crate) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// Cuts a text (of less than 4 GiB, the caller's duty) into tokens; the last one is [`Kind::End`].
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut lexer = Kind::lexer(text);
    while let Some(kind) = lexer.next() {
        let span = lexer.span();
        let kind = kind.unwrap_or(Kind::Junk);
        tokens.push(Token { kind, start: span.start as u32, end: span.end as u32 });
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: Kind::End, start: end, end });
    tokens
}
