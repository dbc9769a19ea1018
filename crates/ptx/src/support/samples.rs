//! Instructions made from the table: every row with every one of its words, for tests of whatever takes the table at its
//! word (a decoder must accept them all).

use std::collections::BTreeSet;

use super::forms::{FORMS, GROUPS};
use crate::ir::Type;
use crate::words;

/// Complete PTX files, each with a kernel `k` that holds one instruction; with its text. All types of a row are combined
/// with each other; of the other modifiers one at a time departs from the first choice.
pub fn samples() -> Vec<(String, String)> {
    let mut texts = BTreeSet::new();
    for (opcode, modifiers, operands) in FORMS {
        let groups: Vec<Vec<&str>> = modifiers.split_whitespace().map(alternatives).collect();
        let is_type = |group: &Vec<&str>| group.last().is_some_and(|word| words::type_named(word).is_some());
        let first: Vec<&str> = groups.iter().map(|group| group[0]).collect();
        let mut choices = vec![first.clone()];
        for (at, _) in groups.iter().enumerate().filter(|(_, group)| is_type(group)) {
            choices = choices.iter().flat_map(|choice| each(choice, &groups[at], at)).collect();
        }
        for (at, _) in groups.iter().enumerate().filter(|(_, group)| !is_type(group)) {
            choices.extend(each(&first, &groups[at], at));
        }
        for choice in choices {
            let dotted: String = choice.iter().filter(|w| !w.is_empty()).map(|word| format!(".{word}")).collect();
            texts.insert(format!("{opcode}{dotted} {};", operand_list(opcode, &choice, operands)));
        }
    }
    texts.into_iter().map(|text| (file(&text), text)).map(|(file, text)| (text, file)).collect()
}

/// The words of a group; an optional one may be absent.
fn alternatives(group: &str) -> Vec<&str> {
    let (kind, names) = group.split_at(1);
    let names = GROUPS.iter().find(|(short, _)| *short == names).map_or(names, |(_, long)| long);
    let absent = (kind == "?").then_some("");
    absent.into_iter().chain(names.split('/')).collect()
}

/// The choice with each of the words in place `at`.
fn each<'t>(choice: &[&'t str], words: &[&'t str], at: usize) -> Vec<Vec<&'t str>> {
    let with = |word: &&'t str| choice.iter().enumerate().map(|(i, old)| if i == at { *word } else { *old }).collect();
    words.iter().map(with).collect()
}

fn operand_list(opcode: &str, choice: &[&str], operands: &str) -> String {
    let types: Vec<Type> = choice.iter().filter_map(|word| words::type_named(word)).collect();
    let ty = |place: usize| types.get(place).copied().unwrap_or(Type::B32);
    let width = choice.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    let has = |word: &str| choice.contains(&word);
    let mut list = Vec::new();
    for (i, want) in operands.split_whitespace().enumerate() {
        let value = |ty: Type| register(ty, i + 1);
        list.push(match want {
            "dp" | "dp|dp" | "sp" => format!("%p{}", i + 1),
            "dv" | "sv" if width > 1 => {
                let parts: Vec<String> = (1..=width).map(|n| register(ty(0), n)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            "sa" => register(types.first().copied().unwrap_or(Type::B64), i + 1),
            "a" if has("shared") => "[shared]".to_owned(),
            "a" if has("const") => "[constant]".to_owned(),
            "a" if has("local") => "[local]".to_owned(),
            "a" if has("param") && opcode == "ld" => "[parameter]".to_owned(),
            "a" if has("param") => "[argument]".to_owned(),
            "a" => "[%rd8]".to_owned(),
            "x" => {
                let n = if has("1d") { 1 } else { 4 };
                let mut coords: Vec<String> = (1..=n).map(|n| register(ty(1), n)).collect();
                if has("a1d") || has("a2d") {
                    coords[0] = "%r1".to_owned();
                }
                format!("[texture, {{{}}}]", coords.join(", "))
            }
            "i" => "0x96".to_owned(),
            "l" => "label".to_owned(),
            "t" => "targets".to_owned(),
            _ => match want[1..].trim_end_matches("|dp").trim_end_matches('~') {
                "1" => value(ty(1)),
                "2" => value(ty(2)),
                "32" => value(Type::B32),
                "w" if ty(0).bytes() == 2 => value(Type::B32),
                "w" => value(Type::B64),
                _ => value(ty(0)),
            },
        });
    }
    list.join(", ")
}

/// A register that holds a value of that type.
fn register(ty: Type, number: usize) -> String {
    let bank = match (ty, ty.bytes()) {
        (Type::F32, _) => "%f",
        (Type::F64, _) => "%fd",
        (Type::Pred, _) => "%p",
        (_, 8) => "%rd",
        (_, 4) => "%r",
        _ => "%rs",
    };
    format!("{bank}{number}")
}

fn file(instruction: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref texture;\n.const .align 16 .b8 constant[32];\n\
         .shared .align 16 .b8 shared[32];\n.visible .entry k(.param .align 16 .b8 parameter[32])\n{{\n\
         .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n\
         .local .align 16 .b8 local[32]; .param .align 16 .b8 argument[32];\n\
         label: targets: .branchtargets label, label;\n\t{instruction}\n\tret;\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_execute() {
        let all = samples();
        assert!(all.len() > 1000, "{}", all.len());
        for (text, file) in all {
            let m = crate::parse("sample.ptx", &file).unwrap_or_else(|e| panic!("{text}: {e}"));
            let report = crate::support::kernel_report(&m, m.kernel("k").unwrap());
            assert!(report.is_empty(), "{text}: {report:?}");
        }
    }
}
