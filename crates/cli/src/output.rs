//! Standard output and standard error: colours where they are wanted, and no panic where nobody reads.

use owo_colors::{OwoColorize, Stream, Style};
use std::io::{ErrorKind, Write};
use warpwatt_lab::problem::Problem;

/// Writes to standard output. A reader that has gone away (`warpwatt show gtx480 | head`) is no error.
pub fn print(text: &str) -> Result<(), Problem> {
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
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Draws a problem on standard error.
pub fn draw(problem: Problem) {
    note(format!("{:?}", miette::Report::new(problem)).trim_end());
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
