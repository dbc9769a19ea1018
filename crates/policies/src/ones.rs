//! Masks of warps and pipes, bit by bit.

use std::hint::select_unpredictable;

/// The set bits of a mask, from the lowest on.
#[inline]
pub(crate) fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

/// The first of some masks that is not empty, if one is. Without branches: which it is cannot be foreseen.
#[inline]
pub(crate) fn first_of(masks: [u64; 3]) -> u64 {
    masks.into_iter().rev().fold(0, |rest, mask| select_unpredictable(mask != 0, mask, rest))
}

/// Those of some warps for which something holds. Without branches: for which cannot be foreseen.
#[inline]
pub(crate) fn those(warps: u64, holds: impl Fn(usize) -> bool) -> u64 {
    ones(warps).fold(0, |those, w| those | (holds(w) as u64) << w)
}
