//! Rows of the table made ready for comparison: modifiers as bit sets, operands as wishes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::forms::{FORMS, GROUPS};
use crate::ir::*;
use crate::parse::modifiers;
use crate::words;

/// A form that executes.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Groups of modifiers: exactly one of each, or at most one.
    groups: Vec<(u128, bool)>,
    /// All modifiers that may stand.
    allowed: u128,
    /// Types by place, as sets.
    types: Vec<u32>,
    /// Operands in order.
    pub operands: Vec<Want>,
}

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    Dest(Size),
    /// A destination or `_`.
    DestOrSink(Size),
    Source(Size),
    DestPred,
    SourcePred,
    /// One destination or two (`p|q`), of which the second is a predicate.
    Dual(Dest),
    DestVector,
    SourceVector,
    Mov,
    AddressValue,
    Address,
    Texture,
    Literal,
    Label,
    BranchTargets,
}

/// First half of a dual destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dest {
    Pred,
    Value(Size),
}

/// Size of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// That of the type in this place.
    Type(u8),
    /// Twice that of the first type.
    Wide,
    /// 32 bits.
    Word,
    /// At least that of the type in this place.
    AtLeast(u8),
}

/// The rows of each opcode.
static ROWS: LazyLock<BTreeMap<Opcode, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<Opcode, Vec<Row>> = BTreeMap::new();
    for (name, modifiers, operands) in FORMS {
        // A row that cannot be read counts for nothing; a test reads them all.
        if let Some(opcode) = words::opcode(name)
            && let Some(row) = read(opcode, modifiers, operands)
        {
            rows.entry(opcode).or_default().push(row);
        }
    }
    rows
});

/// The rows of an opcode.
pub(super) fn rows(opcode: Opcode) -> &'static [Row] {
    ROWS.get(&opcode).map_or(&[], Vec::as_slice)
}

fn read(opcode: Opcode, modifiers: &str, operands: &str) -> Option<Row> {
    let mut row = Row::default();
    for group in modifiers.split_whitespace() {
        let (required, names) = match group.split_at(1) {
            (".", names) => (true, names),
            ("?", names) => (false, names),
            _ => return None,
        };
        let names = GROUPS.iter().find(|(short, _)| *short == names).map_or(names, |(_, long)| long);
        let (mut mask, mut types) = (0u128, 0u32);
        for name in names.split('/') {
            let mods = modifiers::of_words(opcode, name.split('.'))?;
            mask |= bits(&mods);
            types |= mods.types[0].map_or(0, type_bit);
        }
        match (types, mask) {
            (0, 0) => {}
            (0, _) => row.groups.push((mask, required)),
            (_, 0) => row.types.push(types),
            _ => return None,
        }
        row.allowed |= mask;
    }
    for word in operands.split_whitespace() {
        let want = match word {
            "dp" => Want::DestPred,
            "sp" => Want::SourcePred,
            "dv" => Want::DestVector,
            "sv" => Want::SourceVector,
            "sa" => Want::AddressValue,
            "d_" => Want::DestOrSink(Size::Type(0)),
            "m" => Want::Mov,
            "a" => Want::Address,
            "x" => Want::Texture,
            "i" => Want::Literal,
            "l" => Want::Label,
            "t" => Want::BranchTargets,
            "dp|dp" => Want::Dual(Dest::Pred),
            _ => match word.split_at(1) {
                ("d", rest) => match rest.strip_suffix("|dp") {
                    Some(rest) => Want::Dual(Dest::Value(size(rest)?)),
                    None => Want::Dest(size(rest)?),
                },
                ("s", rest) => Want::Source(size(rest)?),
                _ => return None,
            },
        };
        row.operands.push(want);
    }
    if row.operands.iter().any(|want| matches!(want, Want::Dual(_))) {
        row.allowed |= DUAL;
    }
    Some(row)
}

fn size(word: &str) -> Option<Size> {
    Some(match word {
        "" => Size::Type(0),
        "1" => Size::Type(1),
        "2" => Size::Type(2),
        "w" => Size::Wide,
        "32" => Size::Word,
        "~" => Size::AtLeast(0),
        "1~" => Size::AtLeast(1),
        _ => return None,
    })
}

impl Row {
    /// Whether these modifiers are this row's.
    pub(super) fn fits(&self, mods: &Modifiers, bits: u128) -> bool {
        let given = mods.types.iter().flatten();
        bits & !self.allowed == 0
            && given.clone().count() == self.types.len()
            && given.zip(&self.types).all(|(&ty, &set)| set & type_bit(ty) != 0)
            && self.groups.iter().all(|&(mask, required)| match (bits & mask).count_ones() {
                0 => !required,
                1 => true,
                _ => false,
            })
    }
}

const fn type_bit(ty: Type) -> u32 {
    1 << ty as u32
}

const DUAL: u128 = 1;

/// All modifiers but the types as a set of bits.
pub(super) fn bits(mods: &Modifiers) -> u128 {
    fn index<T: Copy>(value: Option<T>, number: fn(T) -> u32) -> u32 {
        value.map_or(0, |v| number(v) + 1)
    }
    // For each field: 0 when absent, else which of its values; and how many values it has.
    let fields = [
        (u32::from(mods.dual), 1),
        (index(mods.space, |v| v as u32), 8),
        (u32::from(mods.to), 1),
        (mods.vector.max(1).trailing_zeros(), 3),
        (index(mods.cmp, |v| v as u32), 18),
        (index(mods.bool_op, |v| v as u32), 3),
        (index(mods.rounding, |v| v as u32), 9),
        (u32::from(mods.ftz), 1),
        (u32::from(mods.sat), 1),
        (u32::from(mods.approx), 1),
        (u32::from(mods.full), 1),
        (u32::from(mods.nan), 1),
        (u32::from(mods.xorsign_abs), 1),
        (u32::from(mods.relu), 1),
        (index(mods.part, |v| v as u32), 3),
        (u32::from(mods.cc), 1),
        (u32::from(mods.uni), 1),
        (u32::from(mods.sync), 1),
        (u32::from(mods.aligned), 1),
        (index(mods.atom, |v| v as u32), 10),
        (index(mods.vote, |v| v as u32), 4),
        (index(mods.shfl, |v| v as u32), 4),
        (index(mods.bar, |v| v as u32), 5),
        (mods.cache as u32, 7),
        (mods.order as u32, 6),
        (index(mods.scope, |v| v as u32), 4),
        (u32::from(mods.nc), 1),
        (u32::from(mods.noftz), 1),
        (index(mods.shf_right, u32::from), 2),
        (index(mods.wrap, u32::from), 2),
        (u32::from(mods.shiftamt), 1),
        (index(mods.prmt, |v| v as u32), 6),
        (index(mods.testp, |v| v as u32), 6),
        (index(mods.geom, |v| v as u32), 9),
    ];
    let (mut set, mut base) = (0u128, 0);
    for (value, count) in fields {
        if value > 0 {
            set |= 1 << (base + value - 1);
        }
        base += count;
    }
    debug_assert!(base <= 128);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        for (name, modifiers, operands) in FORMS {
            let opcode = words::opcode(name).unwrap_or_else(|| panic!("{name}"));
            assert!(read(opcode, modifiers, operands).is_some(), "{name} {modifiers} {operands}");
        }
    }

    #[test]
    fn no_modifier_of_a_row_is_kept_as_text() {
        for (name, groups, _) in FORMS {
            let opcode = words::opcode(name).unwrap();
            for group in groups.split_whitespace() {
                let names = GROUPS.iter().find(|(s, _)| *s == &group[1..]).map_or(&group[1..], |(_, l)| l);
                for name in names.split('/') {
                    let mods = modifiers::of_words(opcode, name.split('.')).unwrap();
                    assert!(mods.other.is_empty(), "{opcode:?} {name}");
                }
            }
        }
    }
}
