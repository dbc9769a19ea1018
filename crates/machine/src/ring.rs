//! A queue in a buffer of fixed size.

use serde::{Deserialize, Serialize};

/// First in, first out. The buffer is as large as the queue's flow control lets it get, so it never grows in a run
/// whose users keep to their credits; a user who doesn't costs an allocation, not a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring<T> {
    buffer: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty queue with room for `capacity` items.
    pub fn new(capacity: usize) -> Self {
        Ring { buffer: vec![T::default(); capacity.max(1).next_power_of_two()], head: 0, len: 0 }
    }

    /// Items held.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an item at the end.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.len == self.buffer.len() {
            self.grow();
        }
        let mask = self.buffer.len() - 1;
        self.buffer[(self.head + self.len) & mask] = item;
        self.len += 1;
    }

    /// The oldest item.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.buffer.get(self.head) }
    }

    /// The oldest item.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.len == 0 { None } else { self.buffer.get_mut(self.head) }
    }

    /// The youngest item.
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let last = self.len.checked_sub(1)?;
        let mask = self.buffer.len() - 1;
        self.buffer.get_mut((self.head + last) & mask)
    }

    /// Takes the oldest item.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let item = self.buffer[self.head];
        self.len -= 1;
        // An empty queue begins anew, so that a short one stays in a few lines of the host's cache.
        self.head = if self.len == 0 { 0 } else { (self.head + 1) & (self.buffer.len() - 1) };
        Some(item)
    }

    #[cold]
    fn grow(&mut self) {
        self.buffer.rotate_left(self.head);
        self.head = 0;
        self.buffer.resize(self.buffer.len() * 2, T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_around_the_end_of_the_buffer_and_when_it_grows() {
        let mut ring = Ring::new(3);
        let mut next = 0u32;
        let mut expected = 0;
        for round in 0..20 {
            for _ in 0..=round % 7 {
                ring.push(next);
                next += 1;
            }
            for _ in 0..round % 5 {
                if let Some(x) = ring.pop() {
                    assert_eq!(x, expected);
                    expected += 1;
                }
            }
            assert_eq!(ring.len() as u32, next - expected);
            assert_eq!(ring.front().copied(), (!ring.is_empty()).then_some(expected));
        }
        while let Some(x) = ring.pop() {
            assert_eq!(x, expected);
            expected += 1;
        }
        assert_eq!(expected, next);
    }
}
