//! State that the objects of one policy in one SM share.
//!
//! Hook objects are boxed one by one and must be `Send`, but an SM is simulated by one thread at a time, and the threads
//! meet at window boundaries: a relaxed atomic is a plain load or store, and all that is needed.
//! One of the objects keeps a shared word in checkpoints ([`Hook::save`](warpwatt_machine::hooks::Hook::save)).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word that several objects of an SM read and write.
#[derive(Clone, Debug, Default)]
pub struct Word(Arc<AtomicU64>);

impl Word {
    /// A word with a value.
    pub fn new(value: u64) -> Word {
        Word(Arc::new(AtomicU64::new(value)))
    }

    /// Its value.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Gives it a value.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}
