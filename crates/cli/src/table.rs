//! Plain aligned tables, and numbers as people read them.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

/// Cells wider than this are wrapped.
const WIDEST: u16 = 80;

/// A table without lines; columns beyond the first `text` ones are aligned to the right.
pub fn table(header: &[&str], rows: &[Vec<String>], text: usize) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let cell = |(column, content): (usize, String)| {
        let right = column >= text;
        Cell::new(content).set_alignment(if right { CellAlignment::Right } else { CellAlignment::Left })
    };
    let headed = header.iter().any(|h| !h.is_empty());
    if headed {
        let names = header.iter().map(|h| (*h).to_owned()).enumerate();
        table.set_header(Row::from(names.map(cell).collect::<Vec<_>>()));
    }
    for row in rows {
        table.add_row(Row::from(row.iter().cloned().enumerate().map(cell).collect::<Vec<_>>()));
    }
    table.column_iter_mut().for_each(|column| {
        column.set_padding((1, 1)).set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(WIDEST)));
    });
    // Colours come last: a cell with one would be thought wider than it is.
    let line = |(at, line): (usize, String)| match line.trim_end() {
        names if headed && at == 0 => crate::output::faint(names) + "\n",
        line => line.to_owned() + "\n",
    };
    table.lines().enumerate().map(line).collect()
}

/// Digits in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three or four significant digits with an SI prefix: `1.234 ms`.
pub fn si(value: f64, unit: &str) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("0 {unit}");
    }
    const PREFIXES: [(f64, &str); 9] = [
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
    ];
    let magnitude = value.abs();
    let (scale, prefix) = PREFIXES.into_iter().find(|(s, _)| magnitude >= *s * 0.9995).unwrap_or((1e-12, "p"));
    let scaled = value / scale;
    let digits = if scaled.abs() >= 99.95 {
        1
    } else if scaled.abs() >= 9.995 {
        2
    } else {
        3
    };
    format!("{scaled:.digits$} {prefix}{unit}")
}

/// A share as a percentage, or `n/a`.
pub fn percent(share: Option<f64>) -> String {
    share.map_or("n/a".to_owned(), |s| format!("{:.1} %", 100.0 * s))
}

/// A number with some decimals, or `n/a`.
pub fn decimal(value: Option<f64>, digits: usize) -> String {
    value.map_or("n/a".to_owned(), |v| format!("{v:.digits$}"))
}

/// Shares in tenths of a percent that add up to exactly 1000 (largest remainders are rounded up), if there is a whole.
pub fn tenths_of_percent(parts: &[u64]) -> Vec<u64> {
    let whole: u128 = parts.iter().map(|p| u128::from(*p)).sum();
    if whole == 0 {
        return vec![0; parts.len()];
    }
    let scaled: Vec<u128> = parts.iter().map(|p| u128::from(*p) * 1000).collect();
    let mut tenths: Vec<u64> = scaled.iter().map(|s| (s / whole) as u64).collect();
    let missing = 1000 - tenths.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(scaled[*i] % whole));
    order.iter().take(missing as usize).for_each(|i| tenths[*i] += 1);
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_in_colour_stands_over_its_columns() {
        let rows = [vec!["saxpy".to_owned(), "1".to_owned()]];
        let coloured = owo_colors::with_override(true, || table(&["kernel", "launches"], &rows, 1));
        assert_eq!(coloured, "\u{1b}[2m kernel  launches\u{1b}[0m\n saxpy          1\n");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            ["0", "999", "1,000", "12,345,678"],
            [0, 999, 1000, 12_345_678].map(grouped).each_ref().map(|s| &**s)
        );
    }

    #[test]
    fn prefixes_are_chosen_by_size() {
        assert_eq!(si(1.2345e-4, "s"), "123.5 µs");
        assert_eq!(si(0.999_9, "W"), "1.000 W");
        assert_eq!(si(42.0, "W"), "42.00 W");
        assert_eq!(si(0.0, "J"), "0 J");
        assert_eq!(si(1.5e6, "cycles/s"), "1.500 Mcycles/s");
    }

    #[test]
    fn percentages_add_up() {
        for parts in [vec![1, 1, 1], vec![0, 7, 5, 3, 2, 999_999], vec![1; 7]] {
            assert_eq!(tenths_of_percent(&parts).iter().sum::<u64>(), 1000);
        }
        assert_eq!(tenths_of_percent(&[0, 0]), [0, 0]);
    }
}
