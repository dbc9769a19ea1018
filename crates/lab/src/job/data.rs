//! A buffer's contents: made from a description, read from a file, compared with what was expected.

use super::expect::Value;
use super::file::{BufferSpec, ElementType, Init, Number};
use super::random::Random;
use crate::problem::{Outcome, Problem};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use warpwatt_simt::memory::DEVICE_BYTES;

/// Buffers larger than the simulated memory are refused rather than tried.
pub const MAX_BUFFER_BYTES: u64 = DEVICE_BYTES;

impl ElementType {
    /// All types, with their names.
    pub const ALL: [(ElementType, &'static str); 10] = [
        (ElementType::U8, "u8"),
        (ElementType::S8, "s8"),
        (ElementType::U16, "u16"),
        (ElementType::S16, "s16"),
        (ElementType::U32, "u32"),
        (ElementType::S32, "s32"),
        (ElementType::U64, "u64"),
        (ElementType::S64, "s64"),
        (ElementType::F32, "f32"),
        (ElementType::F64, "f64"),
    ];

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        use ElementType::*;
        match self {
            U8 | S8 => 1,
            U16 | S16 => 2,
            U32 | S32 | F32 => 4,
            U64 | S64 | F64 => 8,
        }
    }

    /// A floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, ElementType::F32 | ElementType::F64)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(t, _)| *t == self).map_or("?", |(_, name)| name)
    }

    /// The type of a name; `i32` is accepted for `s32`.
    pub fn by_name(name: &str) -> Option<ElementType> {
        let signed = name.strip_prefix('i').map(|digits| format!("s{digits}"));
        let name = signed.as_deref().unwrap_or(name);
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(t, _)| *t)
    }

    /// Smallest and largest whole number, for integer types.
    fn range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self.name().as_bytes()[0] {
            b'u' => Some((0, (1i128 << bits) - 1)),
            b's' => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
            _ => None,
        }
    }

    /// Appends a whole number; `None` if it does not fit the type.
    pub fn push_int(self, out: &mut Vec<u8>, value: i128) -> Option<()> {
        match (self.range(), self) {
            (Some((low, high)), _) if value < low || value > high => return None,
            (Some(_), _) => out.extend_from_slice(&value.to_le_bytes()[..self.bytes()]),
            (None, ElementType::F32) => out.extend_from_slice(&(value as f32).to_le_bytes()),
            (None, _) => out.extend_from_slice(&(value as f64).to_le_bytes()),
        }
        Some(())
    }

    /// Appends a number; `None` if it does not fit the type (a fraction in an integer, a float beyond the largest one).
    pub fn push(self, out: &mut Vec<u8>, value: f64) -> Option<()> {
        match self {
            ElementType::F32 if value.is_finite() && (value as f32).is_infinite() => return None,
            ElementType::F32 => out.extend_from_slice(&(value as f32).to_le_bytes()),
            ElementType::F64 => out.extend_from_slice(&value.to_le_bytes()),
            _ if value.fract() != 0.0 || !value.is_finite() => return None,
            _ => return self.push_int(out, value as i128),
        }
        Some(())
    }

    /// Appends a number as written; `None` if it does not fit the type.
    pub fn push_number(self, out: &mut Vec<u8>, value: Number) -> Option<()> {
        match value {
            Number::Int(value) => self.push_int(out, i128::from(value)),
            Number::Float(value) => self.push(out, value),
        }
    }

    /// An element's value.
    pub fn value(self, bytes: &[u8]) -> Value {
        let mut raw = [0u8; 8];
        raw[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        let bits = u64::from_le_bytes(raw);
        match self {
            ElementType::F32 => Value::Real(f32::from_bits(bits as u32).into()),
            ElementType::F64 => Value::Real(f64::from_bits(bits)),
            ElementType::S8 => Value::Whole((bits as i8).into()),
            ElementType::S16 => Value::Whole((bits as i16).into()),
            ElementType::S32 => Value::Whole((bits as i32).into()),
            ElementType::S64 => Value::Whole((bits as i64).into()),
            _ => Value::Whole(bits.into()),
        }
    }
}

/// The sum of elements: of integers exactly, of floats in double precision and in order.
pub fn sum(element: ElementType, bytes: &[u8]) -> Value {
    let values = bytes.chunks_exact(element.bytes()).map(|c| element.value(c));
    match element.is_float() {
        true => Value::Real(values.map(Value::to_f64).sum()),
        false => Value::Whole(values.map(|v| if let Value::Whole(v) = v { v } else { 0 }).sum()),
    }
}

/// Reads a file with data: an ordinary one of at most [`MAX_BUFFER_BYTES`].
pub fn read_data(path: &Path) -> Outcome<Vec<u8>> {
    let unreadable = |e: std::io::Error| Problem::unreadable(path, &e);
    let shown = path.display();
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(Problem::input("file::not-regular", format!("`{shown}` is not an ordinary file")));
    }
    read_at_most(MAX_BUFFER_BYTES, path)
}

/// Reads a file of at most so many bytes, or what a pipe gives. It may grow meanwhile: what is read is limited, not only
/// what the file says of itself.
pub fn read_at_most(most: u64, path: &Path) -> Outcome<Vec<u8>> {
    let unreadable = |e: std::io::Error| Problem::unreadable(path, &e);
    let file = File::open(path).map_err(unreadable)?;
    let said = file.metadata().map_err(unreadable)?.len();
    let mut bytes = Vec::new();
    if said <= most {
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    let size = said.max(bytes.len() as u64);
    if size > most {
        let limit = if most >> 30 > 0 { format!("{} GiB", most >> 30) } else { format!("{} MiB", most >> 20) };
        let message = format!("`{}` has {size} bytes; at most {limit} are read", path.display());
        return Err(Problem::input("file::too-large", message));
    }
    Ok(bytes)
}

/// A buffer's description made into bytes: elements' type, count, contents.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Element type.
    pub element: ElementType,
    /// Number of elements.
    pub count: u64,
    /// Little-endian bytes.
    pub bytes: Vec<u8>,
}

/// Makes a buffer's initial contents. `folder` is where relative file names start. The problem's second part is the
/// key that is at fault.
pub fn contents(spec: &BufferSpec, folder: &Path) -> Result<Contents, (Problem, &'static str)> {
    stray_keys(spec)?;
    let shape = match spec.shape.as_ref().map(|s| s.as_slice()) {
        Some([]) => return Err((Problem::input("job::empty-shape", "a shape needs at least one dimension"), "shape")),
        Some(dims) => {
            if let Some(negative) = dims.iter().find(|d| **d < 0) {
                let message = format!("a shape's dimension of {negative} is not in 1 to {}", MAX_BUFFER_BYTES);
                return Err((Problem::input("job::dimension-range", message), "shape"));
            }
            Some(dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.unsigned_abs())).unwrap_or(u64::MAX))
        }
        None => None,
    };
    if shape == Some(0) {
        return Err((Problem::input("job::empty-buffer", format!("buffer `{}` has no elements", spec.name)), "shape"));
    }
    if spec.init == Init::Npy {
        return npy(spec, shape, folder).map_err(|p| (p, "file"));
    }
    let Some(element) = spec.element else {
        let problem = Problem::input("job::no-type", format!("buffer `{}` has no type", spec.name));
        return Err((problem.help("add `type = \"f32\"` or another of u8 s8 u16 s16 u32 s32 u64 s64 f32 f64"), "name"));
    };
    let count = match (shape, spec.init, &spec.values) {
        (Some(count), _, _) => count,
        (None, Init::Values, Some(values)) => values.len() as u64,
        _ => {
            let problem = Problem::input("job::no-shape", format!("buffer `{}` has no shape", spec.name));
            return Err((problem.help("add `shape = 1024` or `shape = [32, 32]`"), "name"));
        }
    };
    let total = count.checked_mul(element.bytes() as u64).filter(|t| *t <= MAX_BUFFER_BYTES);
    let Some(total) = total else {
        let message = format!("buffer `{}` is larger than {} GiB", spec.name, MAX_BUFFER_BYTES >> 30);
        return Err((Problem::input("job::buffer-too-large", message), "shape"));
    };
    let bytes = fill(spec, element, count, total, folder)?;
    Ok(Contents { element, count, bytes })
}

fn fill(
    spec: &BufferSpec,
    element: ElementType,
    count: u64,
    total: u64,
    folder: &Path,
) -> Result<Vec<u8>, (Problem, &'static str)> {
    let misfit = |key: &'static str, what: String| {
        let message = format!("{what} does not fit the type {} of buffer `{}`", element.name(), spec.name);
        (Problem::input("job::value-misfit", message), key)
    };
    let finite = |key: &'static str, value: f64| match value.is_finite() {
        true => Ok(value),
        false => Err((Problem::input("job::not-finite", format!("`{key}` must be a finite number")), key)),
    };
    let mut out = Vec::new();
    out.try_reserve_exact(total as usize).map_err(|_| {
        let message = format!("this computer has no room for the {total} bytes of buffer `{}`", spec.name);
        (Problem::run("job::no-room", message), "shape")
    })?;
    let mut random = Random::new(spec.seed.unwrap_or(1));
    match spec.init {
        Init::Zero => out.resize(total as usize, 0),
        Init::Npy => {}
        Init::Constant => {
            let Some(value) = spec.value else { return Err(missing(spec, "constant", "value")) };
            element.push_number(&mut out, value).ok_or_else(|| misfit("value", value.to_string()))?;
            out = out.repeat(count as usize);
        }
        Init::Iota => {
            let (start, step) = (spec.start.unwrap_or(Number::Int(0)), spec.step.unwrap_or(Number::Int(1)));
            let whole = Option::zip(start.whole(), step.whole()).filter(|_| !element.is_float());
            let (start, step) = (finite("start", start.to_f64())?, finite("step", step.to_f64())?);
            for i in 0..count {
                if let Some((start, step)) = whole {
                    let value = start.saturating_add(step.saturating_mul(i.into()));
                    element
                        .push_int(&mut out, value)
                        .ok_or_else(|| misfit("init", format!("element {i}, {value},")))?;
                    continue;
                }
                let value = start + step * i as f64;
                element.push(&mut out, value).ok_or_else(|| misfit("init", format!("element {i}, {value},")))?;
            }
        }
        Init::Uniform => {
            let least = spec.low.unwrap_or(Number::Int(0));
            let most = spec.high.unwrap_or(Number::Int(if element.is_float() { 1 } else { 100 }));
            let (low, high) = (finite("low", least.to_f64())?, finite("high", most.to_f64())?);
            if low > high || Option::zip(least.whole(), most.whole()).is_some_and(|(low, high)| low > high) {
                return Err((Problem::input("job::empty-range", format!("low {least} is above high {most}")), "low"));
            }
            if element.is_float() {
                let mut probe = Vec::new();
                element.push(&mut probe, low).ok_or_else(|| misfit("low", low.to_string()))?;
                element.push(&mut probe, high).ok_or_else(|| misfit("high", high.to_string()))?;
                let (single, width) = (element == ElementType::F32, high - low);
                if !width.is_finite() {
                    let message = format!("from low {low} to high {high} is too far: the difference is not finite");
                    return Err((Problem::input("job::not-finite", message), "high"));
                }
                for _ in 0..count {
                    let unit = if single { random.unit24() } else { random.unit53() };
                    element.push(&mut out, low + width * unit);
                }
            } else {
                let end = |key: &'static str, end: Number| {
                    let fits = |value: &i128| element.push_int(&mut Vec::new(), *value).is_some();
                    end.whole().filter(fits).ok_or_else(|| misfit(key, end.to_string()))
                };
                let (low, high) = (end("low", least)?, end("high", most)?);
                let last = (high - low) as u64;
                (0..count).for_each(|_| {
                    element.push_int(&mut out, low + i128::from(random.up_to(last)));
                });
            }
        }
        Init::Normal => {
            let mean = finite("mean", spec.mean.unwrap_or(0.0))?;
            let deviation = finite("deviation", spec.deviation.unwrap_or(1.0))?;
            if deviation < 0.0 {
                return Err((Problem::input("job::negative-deviation", "a deviation cannot be negative"), "deviation"));
            }
            for _ in 0..count {
                let value = mean + deviation * random.normal();
                let value = if element.is_float() { value } else { value.round() };
                element.push(&mut out, value).ok_or_else(|| misfit("init", format!("the random number {value}")))?;
            }
        }
        Init::Values => {
            let Some(values) = &spec.values else { return Err(missing(spec, "values", "values")) };
            if values.len() as u64 != count {
                let message = format!("buffer `{}` has {count} elements, but {} values", spec.name, values.len());
                return Err((Problem::input("job::value-count", message), "values"));
            }
            for (i, value) in values.iter().enumerate() {
                let what = || misfit("values", format!("value {} ({value})", i + 1));
                element.push_number(&mut out, *value).ok_or_else(what)?;
            }
        }
        Init::Raw => {
            let Some(file) = &spec.file else { return Err(missing(spec, "raw", "file")) };
            let path = folder.join(file);
            out = read_data(&path).map_err(|p| (p, "file"))?;
            if out.len() as u64 != total {
                let message = format!("`{file}` has {} bytes, but buffer `{}` has {total}", out.len(), spec.name);
                return Err((Problem::input("job::raw-size", message), "file"));
            }
        }
    }
    Ok(out)
}

fn missing(spec: &BufferSpec, init: &str, key: &'static str) -> (Problem, &'static str) {
    let message = format!("buffer `{}` with init = \"{init}\" needs `{key}`", spec.name);
    (Problem::input("job::missing-key", message), "init")
}

/// A key that the chosen `init` does not use is a mistake.
fn stray_keys(spec: &BufferSpec) -> Result<(), (Problem, &'static str)> {
    use Init::*;
    let keys: [(&'static str, bool, &[Init]); 10] = [
        ("low", spec.low.is_some(), &[Uniform]),
        ("high", spec.high.is_some(), &[Uniform]),
        ("mean", spec.mean.is_some(), &[Normal]),
        ("deviation", spec.deviation.is_some(), &[Normal]),
        ("seed", spec.seed.is_some(), &[Uniform, Normal]),
        ("start", spec.start.is_some(), &[Iota]),
        ("step", spec.step.is_some(), &[Iota]),
        ("value", spec.value.is_some(), &[Constant]),
        ("values", spec.values.is_some(), &[Values]),
        ("file", spec.file.is_some(), &[Npy, Raw]),
    ];
    for (key, given, inits) in keys {
        if given && !inits.contains(&spec.init) {
            let names: Vec<String> = inits.iter().map(|i| format!("{i:?}").to_lowercase()).collect();
            let message = format!("buffer `{}`: `{key}` goes with init = \"{}\"", spec.name, names.join("\" or \""));
            return Err((Problem::input("job::stray-key", message).help("set `init`, or drop the key"), key));
        }
    }
    Ok(())
}

fn npy(spec: &BufferSpec, shape: Option<u64>, folder: &Path) -> Outcome<Contents> {
    let Some(file) = &spec.file else { return Err(missing(spec, "npy", "file").0) };
    let path = folder.join(file);
    let found = read_npy(&path)?;
    if let Some(element) = spec.element.filter(|e| *e != found.element) {
        let (found, wanted) = (found.element.name(), element.name());
        let message = format!("`{file}` holds {found}, but buffer `{}` is {wanted}", spec.name);
        return Err(Problem::input("job::npy-type", message));
    }
    if let Some(count) = shape.filter(|c| *c != found.count) {
        let message = format!("`{file}` has {} elements, but buffer `{}` has {count}", found.count, spec.name);
        return Err(Problem::input("job::npy-size", message));
    }
    Ok(found)
}

/// Reads a NumPy file of one of the element types, little endian, C order.
pub fn read_npy(path: &Path) -> Outcome<Contents> {
    let shown = path.display();
    let bad = |why: String| Problem::input("job::npy", format!("`{shown}` cannot be used: {why}"));
    let file = read_data(path)?;
    let mut rest = &file[..];
    let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => bad("it ends within its header".to_owned()),
        _ => bad(e.to_string()),
    })?;
    let npyz::DType::Plain(kind) = header.dtype() else { return Err(bad("it holds records".to_owned())) };
    let descr = kind.to_string();
    let (order, name) = descr.split_at(descr.len().min(1));
    let element = match name {
        "u1" | "b1" => ElementType::U8,
        "i1" => ElementType::S8,
        "u2" => ElementType::U16,
        "i2" => ElementType::S16,
        "u4" => ElementType::U32,
        "i4" => ElementType::S32,
        "u8" => ElementType::U64,
        "i8" => ElementType::S64,
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        _ => return Err(bad(format!("its elements are `{descr}`"))),
    };
    if order == ">" {
        return Err(bad("it is big endian".to_owned()));
    }
    if header.shape().len() > 1 && header.order() == npyz::Order::Fortran {
        return Err(bad("it is in Fortran order".to_owned()));
    }
    let count = header.shape().iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
    let total = count.saturating_mul(element.bytes() as u64);
    if rest.len() as u64 != total {
        let cut = if (rest.len() as u64) < total { "the file is cut short: " } else { "" };
        return Err(bad(format!("{cut}its header says {total} bytes of data, it has {}", rest.len())));
    }
    Ok(Contents { element, count, bytes: rest.to_vec() })
}

/// 64-bit FNV-1a.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(14695981039346656037, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(1099511628211))
}

#[cfg(test)]
mod tests {
    use super::super::file::OneOrMany;
    use super::*;

    fn spec(init: Init, element: ElementType, count: i64) -> BufferSpec {
        let shape = Some(OneOrMany::One(count));
        BufferSpec { name: "a".into(), element: Some(element), shape, init, ..Default::default() }
    }

    fn values(spec: &BufferSpec) -> Vec<f64> {
        let made = contents(spec, Path::new(".")).unwrap();
        made.bytes.chunks(made.element.bytes()).map(|c| made.element.value(c).to_f64()).collect()
    }

    #[test]
    fn iota_counts() {
        let spec = BufferSpec {
            start: Some(Number::Float(3.0)),
            step: Some(Number::Float(-2.0)),
            ..spec(Init::Iota, ElementType::S16, 4)
        };
        assert_eq!(values(&spec), [3.0, 1.0, -1.0, -3.0]);
    }

    #[test]
    fn whole_numbers_of_64_bits_are_exact() {
        let odd: i64 = (1 << 53) + 1;
        let made = |init| {
            let value = Some(Number::Int(odd));
            let spec = BufferSpec { value, start: value, low: value, high: value, ..spec(init, ElementType::U64, 2) };
            let made = fill(&spec, ElementType::U64, 2, 16, Path::new(".")).unwrap();
            let words = made.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()) - odd as u64);
            words.collect::<Vec<_>>()
        };
        assert_eq!(made(Init::Constant), [0, 0]);
        assert_eq!(made(Init::Iota), [0, 1]);
        assert_eq!(made(Init::Uniform), [0, 0]);
    }

    #[test]
    fn uniform_integers_include_both_ends() {
        let spec = BufferSpec {
            low: Some(Number::Float(-1.0)),
            high: Some(Number::Float(1.0)),
            ..spec(Init::Uniform, ElementType::S8, 1000)
        };
        let values = values(&spec);
        assert!([-1.0, 0.0, 1.0].iter().all(|v| values.contains(v)) && values.iter().all(|v| v.abs() <= 1.0));
    }

    #[test]
    fn uniform_floats_stay_below_the_upper_end() {
        assert!(values(&spec(Init::Uniform, ElementType::F32, 10_000)).iter().all(|v| (0.0..1.0).contains(v)));
    }

    #[test]
    fn a_negative_number_does_not_fit_unsigned() {
        let spec = BufferSpec { start: Some(Number::Float(-1.0)), ..spec(Init::Iota, ElementType::U32, 2) };
        assert_eq!(contents(&spec, Path::new(".")).unwrap_err().0.code(), "job::value-misfit");
    }

    #[test]
    fn whole_values_keep_all_bits() {
        let values = Some(vec![Number::Int(i64::MAX - 1)]);
        let spec = BufferSpec { values, ..spec(Init::Values, ElementType::S64, 1) };
        assert_eq!(contents(&spec, Path::new(".")).unwrap().bytes, (i64::MAX - 1).to_le_bytes());
    }

    #[test]
    fn a_numpy_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        (0..6).for_each(|i| bytes.extend_from_slice(&(i as f32).to_le_bytes()));
        std::fs::write(folder.path().join("a.npy"), &bytes).unwrap();
        let found = read_npy(&folder.path().join("a.npy")).unwrap();
        assert_eq!((found.element, found.count), (ElementType::F32, 6));
        for (length, words) in
            [(9, "within its header"), (60, "within its header"), (151, "is cut short: its header says 24")]
        {
            std::fs::write(folder.path().join("b.npy"), &bytes[..length]).unwrap();
            let problem = read_npy(&folder.path().join("b.npy")).unwrap_err();
            assert_eq!(problem.code(), "job::npy");
            assert!(problem.to_string().contains(words), "{length} bytes: {problem}");
        }
    }

    #[test]
    fn only_ordinary_files_of_bearable_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_data(folder.path()).unwrap_err().code(), "file::not-regular");
        #[cfg(unix)]
        assert_eq!(read_data(Path::new("/dev/zero")).unwrap_err().code(), "file::not-regular");
        // A hole, not bytes.
        let path = folder.path().join("huge.bin");
        File::create(&path).unwrap().set_len(MAX_BUFFER_BYTES + 1).unwrap();
        let problem = read_data(&path).unwrap_err();
        assert_eq!(problem.code(), "file::too-large");
        assert!(problem.to_string().contains("4294967297 bytes; at most 4 GiB"), "{problem}");
    }

    #[test]
    fn floats_beyond_the_largest_one_do_not_fit() {
        let refused = |spec: BufferSpec| contents(&spec, Path::new(".")).unwrap_err().0.code();
        let wide = |element, low, high| BufferSpec {
            low: Some(Number::Float(low)),
            high: Some(Number::Float(high)),
            ..spec(Init::Uniform, element, 4)
        };
        assert_eq!(refused(wide(ElementType::F32, 0.0, 1e300)), "job::value-misfit");
        assert_eq!(refused(wide(ElementType::F64, -1e308, 1e308)), "job::not-finite");
        let constant = BufferSpec { value: Some(Number::Float(-1e39)), ..spec(Init::Constant, ElementType::F32, 4) };
        assert_eq!(refused(constant), "job::value-misfit");
    }

    #[test]
    fn fnv1a_is_the_standard_one() {
        assert_eq!(fnv1a(b""), 0xcbf29ce484222325);
        assert_eq!(fnv1a(b"a"), 0xaf63dc4c8601ec8c);
    }
}
