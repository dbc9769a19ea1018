//! The device heap: first fit over a sorted list of blocks, so that addresses depend on the order of calls only.

use serde::{Deserialize, Serialize};

/// Alignment of blocks, as CUDA's device `malloc` promises.
const ALIGN: u64 = 16;

/// Live blocks, by offset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Heap {
    size: u64,
    reserved: bool,
    /// (offset, size), in order, not overlapping.
    live: Vec<(u64, u64)>,
}

impl Heap {
    pub(super) fn new(size: u64) -> Heap {
        Heap { size, reserved: false, live: Vec::new() }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn reserved(&self) -> bool {
        self.reserved
    }

    pub(super) fn reserve(&mut self, size: u64) {
        self.size = size;
        self.reserved = true;
    }

    /// The lowest gap that is large enough. A request for no bytes takes the smallest block, as C allows.
    pub(super) fn malloc(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGN)?;
        let mut start = 0;
        let mut at = 0;
        while let Some(&(offset, size)) = self.live.get(at) {
            if offset - start >= bytes {
                break;
            }
            start = offset + size;
            at += 1;
        }
        if bytes > self.size.saturating_sub(start) {
            return None;
        }
        self.live.insert(at, (start, bytes));
        Some(start)
    }

    pub(super) fn free(&mut self, offset: u64) -> bool {
        match self.live.binary_search_by_key(&offset, |b| b.0) {
            Ok(at) => {
                self.live.remove(at);
                true
            }
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_gap_that_fits_is_taken() {
        let mut heap = Heap::new(128);
        assert_eq!(heap.malloc(20), Some(0));
        assert_eq!(heap.malloc(16), Some(32));
        assert_eq!(heap.malloc(64), Some(48));
        assert_eq!(heap.malloc(32), None);
        assert!(heap.free(0));
        assert!(!heap.free(0));
        assert_eq!(heap.malloc(48), None);
        assert_eq!(heap.malloc(1), Some(0));
        assert_eq!(heap.malloc(16), Some(16));
        assert_eq!(heap.malloc(16), Some(112));
    }

    #[test]
    fn sizes_near_the_end_of_the_number_range_fail_quietly() {
        assert_eq!(Heap::new(128).malloc(u64::MAX), None);
    }
}
