//! What all pages have around them: one file that needs no network and no script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// A whole page. `own`: style that only this page needs.
pub(crate) fn document(title: &str, subtitle: &str, own: &str, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "warpwatt: " (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) (PreEscaped(own)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.sub { (subtitle) }
                }
                main { (main) }
            }
        }
    };
    page.into_string()
}
