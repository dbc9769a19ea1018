//! Instructions: guard, opcode, modifiers, operands.

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::body::{BodyParser, Mention, Resolved};
use crate::parse::cursor::{Parse, shorten};
use crate::parse::{modifiers, operand};
use crate::words;

/// Reads one instruction, guard to semicolon.
pub(crate) fn parse(p: &mut BodyParser<'_, '_>) -> Parse<()> {
    let start = p.cur.token().start;
    let guard = guard(p)?;
    let token = p.cur.require(Kind::Ident, "an instruction")?;
    let name = p.cur.slice(token);
    let Some(opcode) = words::opcode(name) else {
        return Err(Fault::new(token.span(), format!("unknown instruction `{}`", shorten(name)))
            .help("expected an opcode of the PTX manual, a label with `:`, or a declaration")
            .suggest(name, words::opcode_names()));
    };
    let mut mods = modifiers::parse(&mut p.cur, opcode)?;
    // `bar.sync` is `barrier.sync.aligned`; so are its other modes, but not `bar.warp.sync`.
    mods.aligned |= name == "bar" && mods.bar != Some(BarMode::WarpSync);
    // Filled again and again, then copied to an allocation of the right size.
    let mut operands = std::mem::take(&mut p.scratch);
    operands.clear();
    let mentions = p.mentions();
    let read = match opcode {
        Opcode::Call => call(p, &mut operands),
        _ => list(p, opcode, &mut mods, &mut operands),
    };
    let read = read.and_then(|()| semicolon(p));
    let list: Box<[Operand]> = operands.drain(..).collect();
    p.scratch = operands;
    if let Err(fault) = read {
        // The operands that wait for labels go with the instruction.
        p.forget_mentions(mentions);
        return Err(fault);
    }
    let span = Span { start, end: p.cur.last_end() };
    let instruction = Instruction { opcode, mods, guard, operands: list, span, loc: p.loc };
    p.body.instructions.push(instruction);
    Ok(())
}

/// The `;` at the end. Where it was forgotten, the line of the instruction is the place, not that of the next one.
fn semicolon(p: &mut BodyParser<'_, '_>) -> Parse<()> {
    if p.cur.kind() != Kind::Semi && p.at_line_start() && p.cur.position > 0 {
        let last = p.cur.tokens[p.cur.position - 1];
        return Err(Fault::new(last.span(), "`;` is missing at the end of this instruction"));
    }
    p.cur.require(Kind::Semi, "`,` or `;`").map(|_| ())
}

fn guard(p: &mut BodyParser<'_, '_>) -> Parse<Option<Guard>> {
    if !p.cur.eat(Kind::At) {
        return Ok(None);
    }
    let negated = p.cur.eat(Kind::Not);
    let token = p.cur.require(Kind::Ident, "a predicate register")?;
    let name = p.cur.slice(token);
    match p.resolve(name) {
        Some(Resolved::Reg(reg)) if p.body.registers[reg.0 as usize].ty == Type::Pred => {
            Ok(Some(Guard { reg, negated }))
        }
        Some(_) => Err(Fault::new(token.span(), format!("the guard `{name}` is no predicate"))
            .help("expected a register declared as `.pred`")),
        None => Err(p.unknown(name, token.span())),
    }
}

/// Comma-separated operands, the first perhaps dual (`p|q`).
fn list(p: &mut BodyParser<'_, '_>, opcode: Opcode, mods: &mut Modifiers, operands: &mut Vec<Operand>) -> Parse<()> {
    if p.cur.kind() == Kind::Semi && opcode == Opcode::Bra {
        return Err(p.cur.unexpected("a label to branch to"));
    }
    if p.cur.kind() == Kind::Semi || next_statement(p) {
        return Ok(());
    }
    loop {
        if let Some(label) = label_operand(p, opcode, operands.len()) {
            operands.push(label);
        } else {
            operands.push(operand::parse(p, mods)?);
            if operands.len() == 1 && p.cur.eat(Kind::Bar) {
                operands.push(operand::parse(p, mods)?);
                mods.dual = true;
            }
        }
        if !p.cur.eat(Kind::Comma) {
            return Ok(());
        }
    }
}

/// Whether a new statement begins on a new line: then the instruction before has no operands, and lacks its `;`.
fn next_statement(p: &mut BodyParser<'_, '_>) -> bool {
    p.at_line_start()
        && match p.cur.kind() {
            Kind::At | Kind::Dot | Kind::RBrace | Kind::End => true,
            Kind::Ident => words::opcode(p.cur.word()).is_some() && p.resolve(p.cur.word()).is_none(),
            _ => false,
        }
}

/// The target of `bra`, or the list of `brx.idx`.
fn label_operand(p: &mut BodyParser<'_, '_>, opcode: Opcode, index: usize) -> Option<Operand> {
    let wanted = matches!((opcode, index), (Opcode::Bra, 0) | (Opcode::Brx, 1));
    (wanted && p.cur.kind() == Kind::Ident).then(|| mention(p, index))
}

/// Notes the current name as a label in operand `index` of the instruction being read; a place holder until its scope
/// ends.
fn mention(p: &mut BodyParser<'_, '_>, index: usize) -> Operand {
    let token = p.cur.bump();
    let instruction = p.body.instructions.len() as u32;
    p.mention(p.cur.slice(token), token.span(), Mention::Operand(instruction, index as u32));
    Operand::Label(0)
}

/// `call (returns), target, (arguments), prototype;` where all but the target may be absent.
fn call(p: &mut BodyParser<'_, '_>, operands: &mut Vec<Operand>) -> Parse<()> {
    if p.cur.kind() == Kind::LParen {
        operands.push(params(p)?);
        p.cur.require(Kind::Comma, "`,` behind the return values")?;
    }
    let token = p.cur.require(Kind::Ident, "a function or a register that holds its address")?;
    let name = p.cur.slice(token);
    operands.push(match p.resolve(name) {
        Some(Resolved::Function(function)) => Operand::Function(function),
        Some(Resolved::Reg(reg)) => Operand::Reg(reg),
        Some(_) => {
            return Err(Fault::new(token.span(), format!("`{name}` is no function"))
                .help("a call goes to a function or through a register"));
        }
        None => return Err(p.unknown(name, token.span())),
    });
    if p.cur.eat(Kind::Comma) {
        if p.cur.kind() == Kind::LParen {
            operands.push(params(p)?);
            if !p.cur.eat(Kind::Comma) {
                return Ok(());
            }
        }
        if p.cur.kind() != Kind::Ident {
            return Err(p.cur.unexpected("call arguments in parentheses, or a prototype's label"));
        }
        // A function's name may serve as the prototype; else it is a label.
        if let Some(Resolved::Function(function)) = p.resolve(p.cur.word()) {
            p.cur.bump();
            operands.push(Operand::Function(function));
        } else {
            let index = operands.len();
            let label = mention(p, index);
            operands.push(label);
        }
    }
    Ok(())
}

/// A parenthesised list of values.
fn params(p: &mut BodyParser<'_, '_>) -> Parse<Operand> {
    p.cur.bump();
    let mut list = Vec::new();
    let mut mods = Modifiers::default();
    while p.cur.kind() != Kind::RParen {
        if !list.is_empty() {
            p.cur.require(Kind::Comma, "`,` or `)`")?;
        }
        list.push(operand::parse(p, &mut mods)?);
    }
    p.cur.bump();
    Ok(Operand::Params(list.into()))
}
