//! Names inside a body: registers, variables, labels, in nested scopes.

use rustc_hash::FxHashMap;

use crate::ir::*;

/// What a name in a body stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    Reg(RegId),
    Variable(VarRef),
}

/// What a label stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Label {
    Instruction(u32),
    BranchTargets(u32),
    CallTargets(u32),
    Prototype(u32),
}

/// `.reg .b32 %r<10>`: its registers are made when first mentioned.
struct Range {
    count: u32,
    ty: Type,
    vector: u8,
    /// Those with low numbers, by number; [`UNMADE`] where not mentioned yet.
    made: Vec<RegId>,
    /// The others, so that `%r<4000000000>` costs nothing.
    made_high: FxHashMap<u32, RegId>,
    /// The range of the same prefix in an outer scope, whose higher numbers stay visible.
    outer: Option<(u32, usize)>,
}

const UNMADE: RegId = RegId(u32::MAX);

/// Numbers below this are looked up by index.
const LOW: u32 = 1 << 16;

impl Range {
    /// The place of the register of that number.
    fn slot(&mut self, number: u32) -> &mut RegId {
        if number >= LOW {
            return self.made_high.entry(number).or_insert(UNMADE);
        }
        let number = number as usize;
        if number >= self.made.len() {
            self.made.resize(number + 1, UNMADE);
        }
        &mut self.made[number]
    }
}

/// A declaration that a scope's end takes back: the name, and what it stood for before.
enum Undo<'a> {
    Single(&'a str, Option<(u32, Name)>),
    Range(&'a str, Option<(u32, usize)>),
}

/// The names that are visible at a place in a body.
#[derive(Default)]
pub(crate) struct Scopes<'a> {
    depth: u32,
    singles: FxHashMap<&'a str, (u32, Name)>,
    ranges: FxHashMap<&'a str, (u32, usize)>,
    all_ranges: Vec<Range>,
    undo: Vec<Undo<'a>>,
    marks: Vec<usize>,
}

impl<'a> Scopes<'a> {
    pub(crate) fn enter(&mut self) {
        self.depth += 1;
        self.marks.push(self.undo.len());
    }

    pub(crate) fn leave(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Single(name, Some(before)) => drop(self.singles.insert(name, before)),
                Undo::Single(name, None) => drop(self.singles.remove(name)),
                Undo::Range(name, Some(before)) => drop(self.ranges.insert(name, before)),
                Undo::Range(name, None) => drop(self.ranges.remove(name)),
            }
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Declares a name; `false` if this scope has it already.
    pub(crate) fn declare(&mut self, name: &'a str, what: Name) -> bool {
        let before = self.singles.insert(name, (self.depth, what));
        self.undo.push(Undo::Single(name, before));
        before.is_none_or(|(depth, _)| depth < self.depth)
    }

    /// Declares `prefix<count>`; `false` if this scope has it already.
    pub(crate) fn declare_range(&mut self, prefix: &'a str, count: u32, ty: Type, vector: u8) -> bool {
        let before = self.ranges.insert(prefix, (self.depth, self.all_ranges.len()));
        self.all_ranges.push(Range {
            count,
            ty,
            vector,
            made: Vec::new(),
            made_high: FxHashMap::default(),
            outer: before,
        });
        self.undo.push(Undo::Range(prefix, before));
        before.is_none_or(|(depth, _)| depth < self.depth)
    }

    /// What a name stands for; the innermost declaration wins.
    pub(crate) fn find(&mut self, name: &'a str, registers: &mut Vec<Register>) -> Option<Name> {
        let single = self.singles.get(name).copied();
        let mut range: Option<(u32, usize, u32)> = None;
        for (prefix, number) in splits(name) {
            let mut at = self.ranges.get(prefix).copied();
            while let Some((_, index)) = at
                && number >= self.all_ranges[index].count
            {
                at = self.all_ranges[index].outer;
            }
            if let Some((depth, index)) = at
                && range.is_none_or(|(best, ..)| depth > best)
            {
                range = Some((depth, index, number));
            }
        }
        match (single, range) {
            (Some((at, found)), Some((depth, ..))) if at >= depth => Some(found),
            (Some((_, found)), None) => Some(found),
            (_, Some((_, index, number))) => {
                let range = &mut self.all_ranges[index];
                let (ty, vector) = (range.ty, range.vector);
                let slot = range.slot(number);
                if *slot == UNMADE {
                    *slot = RegId(registers.len() as u32);
                    registers.push(Register { name: name.to_owned(), ty, vector });
                }
                let id = *slot;
                Some(Name::Reg(id))
            }
            (None, None) => None,
        }
    }

    /// Prefix and count of the range that the name is numbered beyond.
    pub(crate) fn beyond_range(&self, name: &str) -> Option<(&'a str, u32)> {
        splits(name).find_map(|(prefix, _)| {
            let (&prefix, &(_, index)) = self.ranges.get_key_value(prefix)?;
            Some((prefix, self.all_ranges[index].count))
        })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.singles.keys().copied()
    }
}

/// `%r12` → (`%r`, 12), (`%r1`, 2): the ways to read a name as a member of a range, longest number first. Numbers with
/// leading zeros are no members.
fn splits(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(10);
    (1..=digits).rev().filter_map(move |n| {
        let (prefix, number) = name.split_at(name.len() - n);
        if n > 1 && number.starts_with('0') { None } else { Some((prefix, number.parse().ok()?)) }
    })
}
