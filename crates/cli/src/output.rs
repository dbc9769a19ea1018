//! Standard output and standard error: colours where they are wanted, and no panic where nobody reads.

use owo_colors::{OwoColorize, Stream, Style};
use std::io::{ErrorKind, Write};
use warpwatt_lab::problem::Problem;

/// Writes text for people to standard output.
pub fn print(text: &str) -> Result<(), Problem> {
    data(&visible(text, coloured()))
}

/// Writes to standard output as it is. A reader that has gone away (`warpwatt show gtx480 | head`) is no error.
pub fn data(text: &str) -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Problem::run("file::unwritable", format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error, if somebody reads it.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(text, coloured()));
}

/// Draws a problem on standard error.
pub fn draw(problem: Problem) {
    let drawn = |problem| format!("{:?}", miette::Report::new(problem));
    let coloured = drawn(Problem::input("", "")).contains(ESCAPE);
    let all: Vec<String> = problem.apart().into_iter().map(|p| drawn(p).trim_end().to_owned()).collect();
    let _ = writeln!(std::io::stderr(), "{}", visible(&all.join("\n\n"), coloured));
}

const ESCAPE: char = '\u{1b}';

/// Text in which control characters are spelt out (`\u{1b}`): names and lines of users' files go no other way to a
/// terminal. Line breaks and tabs stay; colours do where we write them ourselves.
pub fn visible(text: &str, coloured: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = colour(rest).filter(|_| coloured).unwrap_or(first.len_utf8());
        let (piece, after) = rest.split_at(length);
        match first {
            '\n' | '\t' => out.push(first),
            '\r' if after.starts_with('\n') => {}
            _ if first.is_control() && length == first.len_utf8() => out.extend(first.escape_unicode()),
            _ => out.push_str(piece),
        }
        rest = after;
    }
    out
}

/// The length of a change of colour that a text begins with.
fn colour(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(end + 3)
}

/// Whether [`styled`] writes colours.
fn coloured() -> bool {
    heading("").contains(ESCAPE)
}

/// Text in a style, where standard output shows colours.
pub fn styled(text: &str, style: Style) -> String {
    text.if_supports_color(Stream::Stdout, |t| t.style(style)).to_string()
}

/// A heading.
pub fn heading(text: &str) -> String {
    styled(text, Style::new().bold())
}

/// Text that matters less.
pub fn faint(text: &str) -> String {
    styled(text, Style::new().dimmed())
}

/// Good news.
pub fn good(text: &str) -> String {
    styled(text, Style::new().green())
}

/// Bad news.
pub fn bad(text: &str) -> String {
    styled(text, Style::new().red().bold())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelt_out() {
        let text = "a\u{1b}]0;b\u{7}\r\n\tc\rd\u{9b}2J\u{7f} µ";
        assert_eq!(visible(text, true), "a\\u{1b}]0;b\\u{7}\n\tc\\u{d}d\\u{9b}2J\\u{7f} µ");
        let colours = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2Jx";
        assert_eq!(visible(colours, true), "\u{1b}[1;31mred\u{1b}[0m \\u{1b}[2Jx");
        assert_eq!(visible(colours, false), "\\u{1b}[1;31mred\\u{1b}[0m \\u{1b}[2Jx");
        assert_eq!(visible("\u{1b}", true), "\\u{1b}");
    }
}
