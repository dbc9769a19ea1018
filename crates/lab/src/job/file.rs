//! The launch description as the user writes it (TOML). Its JSON schema comes from these declarations.

use schemars::JsonSchema;
use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A launch description: PTX, buffers, what to launch, and what should come out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobFile {
    /// Name shown in results; the file's name if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The GPU to run on, unless the command line names one: a preset, or a GPU file relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The policies to run under, joined by `+`, unless the command line names some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Parameters of the GPU and of the policies, as for `--set`, which comes on top.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    #[serde(deserialize_with = "settings")]
    pub set: toml::Table,
    /// The PTX file, or several, relative to this file. Of two kernels with one name the later file's wins.
    pub ptx: OneOrMany<String>,
    /// Device memory to reserve and fill before the first step, in this order.
    pub buffer: Vec<BufferSpec>,
    /// Texture references to bind.
    pub texture: Vec<TextureSpec>,
    /// What the host does, in order.
    pub step: Vec<StepSpec>,
    /// What should have come out at the end.
    pub expect: Vec<ExpectSpec>,
}

/// A table, and no date, which the reader's own table type would take for one.
fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<toml::Table, D::Error> {
    match toml::Value::deserialize(deserializer)? {
        toml::Value::Table(table) => Ok(table),
        other => {
            Err(de::Error::invalid_type(de::Unexpected::Other(other.type_str()), &"a table such as { core_mhz = 600 }"))
        }
    }
}

/// One value, or a list of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

impl<T> OneOrMany<T> {
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(value) => std::slice::from_ref(value),
            OneOrMany::Many(values) => values,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    /// By hand rather than untagged, so that a mistake in a value is reported as what it is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("one value or a list of values")
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

/// Type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ElementType {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F32,
    F64,
}

/// What a buffer holds before the first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// Zeros.
    #[default]
    Zero,
    /// `start`, `start + step`, `start + 2 step`, …
    Iota,
    /// `value` everywhere.
    Constant,
    /// Uniform random numbers: from `low` up to but without `high` for floats, both ends included for integers.
    Uniform,
    /// Normal random numbers with `mean` and `deviation`, rounded for integers.
    Normal,
    /// The numbers in `values`.
    Values,
    /// The NumPy file `file`; its element type and count must be the buffer's.
    Npy,
    /// The bytes of `file`, little endian.
    Raw,
}

/// A buffer in device memory.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Its name in `args`, `texture`, `expect` and steps.
    pub name: String,
    /// Element type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementType>,
    /// Number of elements, or a list of dimensions. May be left out with `values` and `npy`, whose length then counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<OneOrMany<u64>>")]
    pub shape: Option<OneOrMany<i64>>,
    /// Initial contents.
    #[serde(default)]
    pub init: Init,
    /// `uniform`: lower end (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Number>,
    /// `uniform`: upper end (default 1 for floats, 100 for integers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Number>,
    /// `normal`: mean (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// `normal`: standard deviation (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// `uniform`, `normal`: seed (default 1). The same seed gives the same numbers on every machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// `iota`: first value (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Number>,
    /// `iota`: difference (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Number>,
    /// `constant`: the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// `values`: the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Number>>,
    /// `npy`, `raw`: the file, relative to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The module variable (`.global` or `.const`) that this buffer is, instead of memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

/// A number as written: whole numbers keep all their bits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number")]
#[allow(missing_docs)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The whole number that it is, if it is one.
    pub fn whole(self) -> Option<i128> {
        match self {
            Number::Int(value) => Some(value.into()),
            Number::Float(value) => (value.fract() == 0.0 && value.is_finite()).then_some(value as i128),
        }
    }
}

impl FromStr for Number {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Number, Self::Err> {
        text.parse().map(Number::Int).or_else(|_| text.parse().map(Number::Float))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => value.fmt(f),
            Number::Float(value) => value.fmt(f),
        }
    }
}

/// A texture reference bound to a buffer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureSpec {
    /// The `.texref` in the PTX.
    pub name: String,
    /// The buffer that holds the texels, row by row without gaps.
    pub buffer: String,
    /// Width, or width and height, or width, height and depth, in texels.
    #[schemars(with = "OneOrMany<u32>")]
    pub size: OneOrMany<i64>,
    /// Channels per texel: 1, 2 or 4.
    #[serde(default = "one")]
    pub channels: u8,
    /// Linear filtering instead of the nearest texel.
    #[serde(default)]
    pub linear: bool,
    /// Coordinates run from 0 to 1.
    #[serde(default)]
    pub normalized: bool,
    /// Coordinates wrap around instead of being clamped (normalized coordinates only).
    #[serde(default)]
    pub wrap: bool,
    /// Integer texels are read as floats in [0, 1] or [−1, 1].
    #[serde(default)]
    pub read_normalized: bool,
}

fn one() -> u8 {
    1
}

/// One thing that the host does. A step has exactly one of `launch`, `do`, `reset`, `copy`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StepSpec {
    /// Launches this kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<String>,
    /// `launch`: CTAs in x, or in x and y, or in x, y and z.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub grid: Option<OneOrMany<i64>>,
    /// `launch`: threads of a CTA, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub block: Option<OneOrMany<i64>>,
    /// `launch`: bytes of dynamic shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u32>,
    /// `launch`: the kernel's arguments in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<ArgSpec>,
    /// `launch`, `do`: how many times (default 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub repeat: Option<i64>,
    /// `launch`, `do`: repeats until the first element of this buffer is zero after a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_zero: Option<String>,
    /// `until_zero`: the run fails after so many rounds (default 100,000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_rounds: Option<i64>,
    /// Steps of a loop's body.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<StepSpec>,
    /// Writes a buffer's initial contents again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<String>,
    /// Copies a buffer to another one of the same size: `[from, to]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<[String; 2]>,
}

/// A kernel argument: a buffer's name, a number (of the parameter's declared type), or a table that says more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ArgSpec {
    /// The address of the buffer of this name.
    Buffer(String),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A table with exactly one of the keys `u8` … `f64`, `buffer`, `rounds_from`, `alternate`, `fields`, `bytes`.
    Table(Box<ArgTable>),
}

/// An argument that says more than a name or a number.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct ArgTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u8: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s8: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u16: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s16: Option<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u32: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s32: Option<i32>,
    /// Up to 2⁶³ − 1 (TOML's largest whole number); a negative `s64` gives the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub u64: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s64: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f32: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f64: Option<f64>,
    /// A buffer's address plus `offset_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Added to the address of `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// This number plus `by` times the number of finished rounds of the innermost loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_from: Option<i64>,
    /// See `rounds_from` (default 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<i64>,
    /// Buffers taken in turn, round by round of the innermost loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternate: Option<Vec<String>>,
    /// A structure by value: its fields, each naturally aligned (tables of `u8` … `f64` and buffers' names).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<ArgSpec>>,
    /// A structure by value, as hexadecimal bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

impl<'de> Deserialize<'de> for ArgSpec {
    /// By hand rather than untagged, so that a mistake inside a table is reported as what it is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = ArgSpec;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a buffer's name, a number, or a table such as { u32 = 5 }")
            }
            fn visit_str<E>(self, value: &str) -> Result<ArgSpec, E> {
                Ok(ArgSpec::Buffer(value.to_owned()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<ArgSpec, E> {
                Ok(ArgSpec::Int(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<ArgSpec, E> {
                i64::try_from(value).map(ArgSpec::Int).map_err(|_| E::custom("number too large"))
            }
            fn visit_f64<E>(self, value: f64) -> Result<ArgSpec, E> {
                Ok(ArgSpec::Float(value))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<ArgSpec, A::Error> {
                match ArgTable::deserialize(de::value::MapAccessDeserializer::new(map)) {
                    Ok(table) => Ok(ArgSpec::Table(Box::new(table))),
                    // A date, as the TOML reader shows it.
                    Err(e) if e.to_string().contains("`$__toml_private_datetime`") => {
                        Err(de::Error::invalid_type(de::Unexpected::Other("date or time"), &self))
                    }
                    Err(e) => Err(e),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Contents that a buffer should have at the end. Has exactly one of `npy`, `raw`, `values`, `fnv1a`, `sum`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// The buffer.
    pub buffer: String,
    /// The elements meant, `[first, end]`: `first` and up to but without `end`. All of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[u64; 2]>")]
    pub range: Option<[i64; 2]>,
    /// A NumPy file with the expected elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub npy: Option<String>,
    /// A file with the expected bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The expected elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Number>>,
    /// 64-bit FNV-1a of the bytes, 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fnv1a: Option<String>,
    /// Sum of the elements: exact for integers, in double precision for floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<Number>,
    /// Allowed difference relative to the expected value (default 0: the same bytes). With `npy`, `raw`, `values`, `sum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// Allowed absolute difference (default 0). Either of the two suffices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<f64>,
}
