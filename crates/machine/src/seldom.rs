//! A hint for the layout of hot loops.

/// Says that a branch is seldom taken: its code is then placed out of the way, and what is left fits the host's
/// instruction cache better.
#[cold]
#[inline(always)]
pub(crate) fn seldom() {}
