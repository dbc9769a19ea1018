//! Modifiers: read in any order into the fields of [`Modifiers`].

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::cursor::{Cursor, Parse};
use crate::words::{self, Word};

/// Reads all dotted words behind an opcode.
pub(crate) fn parse(cur: &mut Cursor<'_>, opcode: Opcode) -> Parse<Modifiers> {
    let mut mods = Modifiers { vector: 1, ..Modifiers::default() };
    while cur.kind() == Kind::Dot {
        let word = cur.dotted();
        let Some(meaning) = words::modifier(word) else {
            return Err(Fault::new(cur.span(), format!("unknown modifier `.{word}`"))
                .help(format!("expected a type or another modifier of `{}`", opcode.name()))
                .suggest_dotted(word, words::modifier_names()));
        };
        if !apply(&mut mods, opcode, meaning, word) {
            return Err(Fault::new(cur.span(), format!("`.{word}` contradicts a modifier before it"))
                .help("each kind of modifier may stand once"));
        }
        cur.bump();
        // `ld.const[3].u32` of the first versions: the bank is always 0 in what compilers write.
        if meaning == Word::Space(Space::Const) && cur.kind() == Kind::LBracket {
            cur.bump();
            cur.unsigned("a constant bank number")?;
            cur.require(Kind::RBracket, "`]`")?;
        }
    }
    Ok(mods)
}

/// The modifiers that these words make on an opcode; `None` if a word is unknown or contradicts another.
pub(crate) fn of_words<'w>(opcode: Opcode, list: impl Iterator<Item = &'w str>) -> Option<Modifiers> {
    let mut mods = Modifiers { vector: 1, ..Modifiers::default() };
    for word in list {
        let meaning = words::modifier(word)?;
        apply(&mut mods, opcode, meaning, word).then_some(())?;
    }
    Some(mods)
}

/// Sets a field that must be empty, or hold the same already.
fn set<T: PartialEq>(slot: &mut Option<T>, value: T) -> bool {
    let free = slot.as_ref().is_none_or(|old| *old == value);
    *slot = Some(value);
    free
}

/// Sets a field whose default means absent.
fn set_default<T: PartialEq + Default>(slot: &mut T, value: T) -> bool {
    let free = *slot == T::default() || *slot == value;
    *slot = value;
    free
}

fn flag(slot: &mut bool) -> bool {
    *slot = true;
    true
}

/// Puts a word where it belongs on this opcode; `false` if the place is taken by another. Words that this opcode has no
/// use for are kept as text, and [`support`](crate::support) refuses them.
fn apply(mods: &mut Modifiers, opcode: Opcode, meaning: Word, word: &str) -> bool {
    use Opcode::*;
    let compares = matches!(opcode, Set | Setp);
    // `vabsdiff4 … .add` accumulates: an operation on the third source.
    let atomic = matches!(opcode, Atom | Red | Redux | Vabsdiff4);
    let barrier = opcode == Bar;
    match meaning {
        Word::Type(ty) => {
            if let Some(slot) = mods.types.iter_mut().find(|slot| slot.is_none()) {
                *slot = Some(ty);
                return true;
            }
        }
        // Only copies name two spaces: the second is kept as text.
        Word::Space(space) if mods.space.is_none() || opcode != Cp => return set(&mut mods.space, space),
        Word::To if opcode == Cvta => return flag(&mut mods.to),
        Word::Vector(n) if mods.vector == 1 || mods.vector == n => {
            mods.vector = n;
            return true;
        }
        Word::Vector(_) => return false,
        Word::Cmp(cmp) if compares => return set(&mut mods.cmp, cmp),
        Word::Logic(logic, _) if compares || barrier || opcode == Lop3 => return set(&mut mods.bool_op, logic),
        Word::Logic(_, atom) | Word::Atom(atom) if atomic => return set(&mut mods.atom, atom),
        Word::Round(rounding) => return set(&mut mods.rounding, rounding),
        Word::Ftz => return flag(&mut mods.ftz),
        Word::Sat => return flag(&mut mods.sat),
        Word::Approx => return flag(&mut mods.approx),
        Word::Full => return flag(&mut mods.full),
        Word::NanFlag => return flag(&mut mods.nan),
        Word::Xorsign => return flag(&mut mods.xorsign_abs),
        Word::Other if word == "abs" && mods.xorsign_abs => return true,
        Word::Relu => return flag(&mut mods.relu),
        Word::Part(MulPart::Lo) if compares => return set(&mut mods.cmp, Cmp::Lo),
        Word::Part(MulPart::Hi) if compares => return set(&mut mods.cmp, Cmp::Hi),
        Word::Part(part) => return set(&mut mods.part, part),
        Word::Cc => return flag(&mut mods.cc),
        Word::Uni if opcode == Vote => return set(&mut mods.vote, VoteMode::Uni),
        Word::Uni => return flag(&mut mods.uni),
        Word::Sync if barrier => {
            let mode = if mods.bar == Some(BarMode::WarpSync) { BarMode::WarpSync } else { BarMode::Sync };
            return set(&mut mods.bar, mode);
        }
        Word::Sync => return flag(&mut mods.sync),
        Word::Aligned => return flag(&mut mods.aligned),
        Word::Vote(mode) if matches!(opcode, Vote | Match) => return set(&mut mods.vote, mode),
        Word::Shfl(mode) if opcode == Shfl => return set(&mut mods.shfl, mode),
        Word::Shfl(ShflMode::Idx) if opcode == Brx => return true,
        Word::Arrive if barrier => return set(&mut mods.bar, BarMode::Arrive),
        Word::Red if barrier => return set(&mut mods.bar, BarMode::Red),
        Word::Warp if barrier => return set(&mut mods.bar, BarMode::WarpSync),
        Word::Popc if barrier && matches!(mods.bar, Some(BarMode::Red | BarMode::RedPopc)) => {
            mods.bar = Some(BarMode::RedPopc);
            return true;
        }
        // `barrier.cta.sync` is `barrier.sync`.
        Word::Scope(Scope::Cta) if barrier => return true,
        Word::Cache(cache) => return set_default(&mut mods.cache, cache),
        Word::Order(order) => return set_default(&mut mods.order, order),
        Word::Scope(scope) => return set(&mut mods.scope, scope),
        Word::Nc => return flag(&mut mods.nc),
        Word::Noftz => return flag(&mut mods.noftz),
        Word::ShfRight(right) if opcode == Shf => return set(&mut mods.shf_right, right),
        Word::Wrap(wrap) if matches!(opcode, Shf | Bmsk | Szext) => return set(&mut mods.wrap, wrap),
        Word::ShiftAmt => return flag(&mut mods.shiftamt),
        Word::Prmt(mode) if opcode == Prmt => return set(&mut mods.prmt, mode),
        Word::Testp(test) if opcode == Testp => return set(&mut mods.testp, test),
        Word::Geom(geom) if matches!(opcode, Tex | Tld4 | Suld | Sust | Sured) => return set(&mut mods.geom, geom),
        Word::Hint if matches!(opcode, Ld | Ldu | St | Prefetch) => return true,
        _ => {}
    }
    mods.other.push(word.to_owned());
    true
}
