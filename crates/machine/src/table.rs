//! A table of fixed size inside its owner: no pointer to follow, and no index out of bounds to check for.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// `N` entries, a power of two. An index is taken modulo `N`: masks of a word give no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table<T, const N: usize>([T; N]);

impl<T: Copy + Default, const N: usize> Default for Table<T, N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two()) };
        Table([T::default(); N])
    }
}

impl<T, const N: usize> Table<T, N> {
    /// Each entry from its index.
    pub fn from_fn(f: impl FnMut(usize) -> T) -> Self {
        const { assert!(N.is_power_of_two()) };
        Table(std::array::from_fn(f))
    }
}

impl<T, const N: usize> Index<usize> for Table<T, N> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.0[i % N]
    }
}

impl<T, const N: usize> IndexMut<usize> for Table<T, N> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.0[i % N]
    }
}

impl<T, const N: usize> Deref for Table<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Table<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Serialize, const N: usize> Serialize for Table<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Table<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::deserialize(deserializer)?;
        let count = entries.len();
        let entries = entries.try_into().map_err(|_| D::Error::custom(format!("{count} entries where {N} belong")))?;
        Ok(Table(entries))
    }
}
