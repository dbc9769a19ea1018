//! C's `printf` formats, as CUDA's device `printf` knows them (programming guide, "Format Specifiers"): flags, width,
//! precision, length; `%d i u o x X c s p f F e E g G a A %`. `*` takes width or precision from the arguments. Text is bytes, and
//! widths count them: one `%c` may be a piece of a character.

use std::iter::{Copied, Peekable};
use std::slice::Iter;

/// Arguments in order.
pub(super) trait Arguments {
    /// The next 32-bit value.
    fn word(&mut self) -> Option<u32>;
    /// The next 64-bit value.
    fn long(&mut self) -> Option<u64>;
    /// The next string, or as many of its bytes.
    fn string(&mut self, most: usize) -> Result<Vec<u8>, &'static str>;
}

/// What is wrong with an argument that cannot be read.
pub(super) const MISSING: &str = "an argument is not in memory";

/// Widths, and precisions of numbers, beyond this are cut.
const WIDEST: usize = 4096;

#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    /// Pads `prefix` + `digits`; numbers may be filled with zeros between the two.
    fn pad(&self, out: &mut Vec<u8>, prefix: &str, digits: impl AsRef<[u8]>, zeros: bool) {
        let (prefix, digits) = (prefix.as_bytes(), digits.as_ref());
        let fill = self.width.saturating_sub(prefix.len() + digits.len());
        let fill = |with: u8| std::iter::repeat_n(with, fill);
        if self.left {
            out.extend([prefix, digits].concat().into_iter().chain(fill(b' ')));
        } else if self.zero && zeros {
            out.extend_from_slice(prefix);
            out.extend(fill(b'0').chain(digits.iter().copied()));
        } else {
            out.extend(fill(b' '));
            out.extend([prefix, digits].concat());
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, out: &mut Vec<u8>, prefix: &str, mut digits: String) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            while digits.len() < precision {
                digits.insert(0, '0');
            }
        }
        self.pad(out, prefix, digits, self.precision.is_none());
    }
}

/// Digits with a point, also if nothing follows it, if the alternate form is wanted.
fn decimal(value: f64, precision: usize, alternate: bool) -> String {
    format!("{value:.precision$}{}", if alternate && precision == 0 { "." } else { "" })
}

/// Exponent form with at least two exponent digits.
fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn trim(text: String) -> String {
    let (mantissa, tail) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    if !mantissa.contains('.') {
        return text;
    }
    format!("{}{tail}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

/// Hexadecimal form, normalized as glibc writes it, without `0x`.
fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    let bits = value.to_bits();
    let mut exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mut mantissa = bits & ((1 << 52) - 1);
    let mut lead = 1u64;
    if exponent == -1023 {
        lead = 0;
        exponent = if mantissa == 0 { 0 } else { -1022 };
    }
    let digits = match precision {
        None => format!("{mantissa:013x}").trim_end_matches('0').to_string(),
        Some(p) if p >= 13 => format!("{mantissa:013x}{}", "0".repeat(p - 13)),
        Some(p) => {
            // Round half to even at digit p.
            let cut = 4 * (13 - p as u32);
            let all = lead << 52 | mantissa;
            let (kept, rest, half) = (all >> cut, all & ((1 << cut) - 1), 1u64 << (cut - 1));
            let kept = kept + (rest > half || (rest == half && kept & 1 == 1)) as u64;
            lead = kept >> (4 * p);
            mantissa = kept & ((1u64 << (4 * p)) - 1);
            if p == 0 { String::new() } else { format!("{mantissa:0p$x}") }
        }
    };
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    format!("{lead}{point}{digits}p{exponent:+}")
}

fn float(spec: &Spec, out: &mut Vec<u8>, value: f64, conversion: u8) {
    let negative = value.is_sign_negative() && !value.is_nan();
    let magnitude = value.abs();
    let upper = conversion.is_ascii_uppercase();
    let mut digits = if value.is_nan() {
        "nan".to_string()
    } else if value.is_infinite() {
        "inf".to_string()
    } else {
        let precision = spec.precision.unwrap_or(6);
        match conversion.to_ascii_lowercase() {
            b'f' => decimal(magnitude, precision, spec.alternate),
            b'e' => exponent(magnitude, precision, spec.alternate),
            b'a' => hexadecimal(magnitude, spec.precision, spec.alternate),
            _ => {
                let precision = precision.max(1);
                let scientific = exponent(magnitude, precision - 1, spec.alternate);
                let x: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
                let text = if x < -4 || x >= precision as i32 {
                    scientific
                } else {
                    let decimals = (precision as i32 - 1 - x).max(0) as usize;
                    decimal(magnitude, decimals, spec.alternate)
                };
                if spec.alternate { text } else { trim(text) }
            }
        }
    };
    if upper {
        digits.make_ascii_uppercase();
    }
    let hexadecimal = conversion.eq_ignore_ascii_case(&b'a') && value.is_finite();
    let base = match (hexadecimal, upper) {
        (true, false) => "0x",
        (true, true) => "0X",
        _ => "",
    };
    spec.pad(out, &format!("{}{base}", spec.sign(negative)), digits, value.is_finite());
}

/// Formats; gives the text and the number of arguments consumed (what `vprintf` returns). The error says what is wrong.
pub(super) fn format(template: &[u8], arguments: &mut impl Arguments) -> Result<(Vec<u8>, u32), &'static str> {
    let mut out = Vec::new();
    let mut count = 0;
    let mut bytes = template.iter().copied().peekable();
    while let Some(c) = bytes.next() {
        if c != b'%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = bytes.next_if(|c| b"-+ #0".contains(c)) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                _ => spec.zero = true,
            }
        }
        let mut number = |bytes: &mut Peekable<Copied<Iter<'_, u8>>>, count: &mut u32| {
            if bytes.next_if_eq(&b'*').is_some() {
                *count += 1;
                return arguments.word().map(|v| v as i32).ok_or(MISSING);
            }
            let mut value = 0i32;
            while let Some(d) = bytes.next_if(u8::is_ascii_digit) {
                value = value.saturating_mul(10).saturating_add(i32::from(d - b'0'));
            }
            Ok(value)
        };
        let width = number(&mut bytes, &mut count)?;
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(WIDEST);
        if bytes.next_if_eq(&b'.').is_some() {
            let precision = number(&mut bytes, &mut count)?;
            spec.precision = usize::try_from(precision).ok();
        }
        let mut length = String::new();
        while let Some(l) = bytes.next_if(|c| b"hljztL".contains(c)) {
            length.push(l.into());
        }
        let Some(conversion) = bytes.next() else { return Err("the format ends inside a conversion") };
        if conversion == b'%' {
            out.push(b'%');
            continue;
        }
        count += 1;
        if conversion != b's' {
            spec.precision = spec.precision.map(|p| p.min(WIDEST));
        }
        let wide = matches!(length.as_str(), "l" | "ll" | "j" | "z" | "t");
        let mut unsigned = || -> Option<u64> {
            Some(match length.as_str() {
                "hh" => arguments.word()? as u8 as u64,
                "h" => arguments.word()? as u16 as u64,
                _ if wide => arguments.long()?,
                _ => arguments.word()? as u64,
            })
        };
        match conversion {
            b'd' | b'i' => {
                let raw = unsigned().ok_or(MISSING)?;
                let value = match length.as_str() {
                    "hh" => raw as i8 as i64,
                    "h" => raw as i16 as i64,
                    _ if wide => raw as i64,
                    _ => raw as i32 as i64,
                };
                spec.integer(&mut out, spec.sign(value < 0), value.unsigned_abs().to_string());
            }
            b'u' => spec.integer(&mut out, "", unsigned().ok_or(MISSING)?.to_string()),
            b'o' => {
                let digits = format!("{:o}", unsigned().ok_or(MISSING)?);
                // The alternate form has a 0 in front, unless there is one.
                let zero = digits == "0" && spec.precision != Some(0) || spec.precision > Some(digits.len());
                spec.integer(&mut out, if spec.alternate && !zero { "0" } else { "" }, digits);
            }
            b'x' | b'X' => {
                let value = unsigned().ok_or(MISSING)?;
                let (prefix, digits) =
                    if conversion == b'x' { ("0x", format!("{value:x}")) } else { ("0X", format!("{value:X}")) };
                spec.integer(&mut out, if spec.alternate && value != 0 { prefix } else { "" }, digits);
            }
            b'p' => {
                let text = format!("{:x}", arguments.long().ok_or(MISSING)?);
                spec.pad(&mut out, "0x", text, false);
            }
            b'c' => spec.pad(&mut out, "", [arguments.word().ok_or(MISSING)? as u8], false),
            b's' => {
                let text = arguments.string(spec.precision.unwrap_or(usize::MAX))?;
                spec.pad(&mut out, "", text, false);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(arguments.long().ok_or(MISSING)?);
                float(&spec, &mut out, value, conversion);
            }
            _ => return Err("an unknown conversion"),
        }
    }
    Ok((out, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Value {
        Word(u32),
        Long(u64),
        Text(&'static str),
    }

    struct List(std::vec::IntoIter<Value>);

    impl Arguments for List {
        fn word(&mut self) -> Option<u32> {
            match self.0.next()? {
                Value::Word(v) => Some(v),
                _ => None,
            }
        }
        fn long(&mut self) -> Option<u64> {
            match self.0.next()? {
                Value::Long(v) => Some(v),
                _ => None,
            }
        }
        fn string(&mut self, most: usize) -> Result<Vec<u8>, &'static str> {
            match self.0.next() {
                Some(Value::Text(v)) => Ok(v.bytes().take(most).collect()),
                _ => Err(MISSING),
            }
        }
    }

    fn print(template: &str, values: Vec<Value>) -> String {
        let printed = format(template.as_bytes(), &mut List(values.into_iter()));
        printed.map_or_else(|e| format!("error: {e}"), |(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn number(template: &str, value: f64) -> String {
        print(template, vec![Value::Long(value.to_bits())])
    }

    #[test]
    fn integers() {
        let w = |t: &str, v: i32| print(t, vec![Value::Word(v as u32)]);
        assert_eq!(w("%d", -5), "-5");
        assert_eq!(w("[%5d]", 42), "[   42]");
        assert_eq!(w("[%-5d]", 42), "[42   ]");
        assert_eq!(w("[%05d]", -42), "[-0042]");
        assert_eq!(w("%+d", 3), "+3");
        assert_eq!(w("%.3d", 7), "007");
        assert_eq!(w("%u", -1), "4294967295");
        assert_eq!(w("%#x", 255), "0xff");
        assert_eq!(w("%X", 255), "FF");
        assert_eq!(w("%#o", 8), "010");
        assert_eq!(w("%hhd", 255), "-1");
        assert_eq!(w("%c", 'A' as i32), "A");
        assert_eq!(print("%lld", vec![Value::Long(-3i64 as u64)]), "-3");
        assert_eq!(print("%lu", vec![Value::Long(u64::MAX)]), "18446744073709551615");
        assert_eq!(print("%p", vec![Value::Long(0xc000_0000)]), "0xc0000000");
    }

    #[test]
    fn alternate_forms() {
        let w = |t: &str, v: i32| print(t, vec![Value::Word(v as u32)]);
        for (t, v, expected) in [("%#.3o", 8, "010"), ("%#.2o", 8, "010"), ("%#.0o", 0, "0"), ("%#o", 0, "0")] {
            assert_eq!(w(t, v), expected, "{t}");
        }
        for (t, v, expected) in [
            ("%020a", 1.0, "0x000000000000001p+0"),
            ("%#a", 1.0, "0x1.p+0"),
            ("%#.0A", -1.0, "-0X1.P+0"),
            ("%#.0f", 1.0, "1."),
            ("%#g", 123456.789, "123457."),
            ("%#.1g", 1e-5, "1.e-05"),
        ] {
            assert_eq!(number(t, v), expected, "{t}");
        }
        let long = print("%.6000s", vec![Value::Text("abc")]);
        assert_eq!(long, "abc");
    }

    #[test]
    fn floats() {
        assert_eq!(number("%f", 1.5), "1.500000");
        assert_eq!(number("%.2f", -0.125), "-0.12");
        assert_eq!(number("%e", 12345.678), "1.234568e+04");
        assert_eq!(number("%g", 0.0001), "0.0001");
        assert_eq!(number("%g", 0.00001), "1e-05");
        assert_eq!(number("%g", 1e6), "1e+06");
        assert_eq!(number("%g", 100000.0), "100000");
        assert_eq!(number("%#g", 1.0), "1.00000");
        assert_eq!(number("%G", 1e-10), "1E-10");
        assert_eq!(number("%f", f64::NAN), "nan");
        assert_eq!(number("[%05f]", f64::NEG_INFINITY), "[ -inf]");
        assert_eq!(number("%a", 1.0), "0x1p+0");
        assert_eq!(number("%.1a", 1.96875), "0x2.0p+0");
        assert_eq!(number("%a", 0.15625), "0x1.4p-3");
    }

    #[test]
    fn strings_stars_and_percents() {
        assert_eq!(print("%s %%\n", vec![Value::Text("abc")]), "abc %\n");
        assert_eq!(print("[%.2s]", vec![Value::Text("abc")]), "[ab]");
        assert_eq!(print("[%*d]", vec![Value::Word(4), Value::Word(1)]), "[   1]");
        assert_eq!(print("[%-*d]", vec![Value::Word(4), Value::Word(1)]), "[1   ]");
        assert_eq!(
            format(b"%d %d", &mut List(vec![Value::Word(1), Value::Word(2)].into_iter())),
            Ok(("1 2".into(), 2))
        );
    }

    #[test]
    fn characters_are_bytes() {
        let word = Value::Word;
        assert_eq!(print("%c%c", vec![word(0xC3), word(0xA9)]), "é");
        assert_eq!(print("%c|%3c", vec![word(0xE9), word('x' as u32)]), "\u{fffd}|  x");
        assert_eq!(print("é %s[%3s]", vec![Value::Text("µ"), Value::Text("µ")]), "é µ[ µ]");
        assert_eq!(format(b"%c", &mut List(vec![word(0x1E9)].into_iter())), Ok((vec![0xE9], 1)));
    }

    #[test]
    fn bad_formats_are_errors() {
        assert_eq!(print("%", vec![]), "error: the format ends inside a conversion");
        assert_eq!(print("%y", vec![]), "error: an unknown conversion");
        assert_eq!(print("%d", vec![]), "error: an argument is not in memory");
    }
}
