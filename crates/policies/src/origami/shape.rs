//! Masks of lanes: folding and shifting within clusters of four (§3.1, §3.2, §3.4, Fig. 7–9).

/// Lanes of a cluster that stay on when warps are folded, in every cluster.
pub const LOWER: u32 = 0x3333_3333;

/// The other half of every cluster.
pub const UPPER: u32 = !LOWER;

/// Lane shifting: the active threads of each cluster move to its lowest lanes.
#[inline]
pub fn shift(lanes: u32) -> u32 {
    // Threads of each cluster, counted in its four bits; then as many ones.
    let pairs = (lanes & 0x5555_5555) + (lanes >> 1 & 0x5555_5555);
    let count = (pairs & LOWER) + (pairs >> 2 & LOWER);
    let at_least = |n: u32| {
        let bit = 0x1111_1111;
        let (one, two, four) = (count & bit, count >> 1 & bit, count >> 2 & bit);
        match n {
            1 => one | two | four,
            2 => two | four,
            3 => one & two | four,
            _ => four,
        }
    };
    at_least(1) | at_least(2) << 1 | at_least(3) << 2 | at_least(4) << 3
}

/// The threads of the two sub-warps, on their own lanes: each cluster's first two, and its last two (Fig. 8, Fig. 9).
#[inline]
pub fn halves(lanes: u32) -> (u32, u32) {
    (lanes & LOWER, lanes & UPPER)
}
