//! What is switched together: parameters that every policy on lanes has, with its own defaults.

use crate::policy_choices;
use warpwatt_machine::simd::Simd;

policy_choices! {
    /// Whether the INT and the FP pipeline of a lane are switched apart.
    Scope {
        /// The whole SIMD lane, both pipelines together (ITAP §7).
        Lane = "lane",
        /// INT and FP pipelines apart (Origami §4.1).
        Type = "type",
    }
}

policy_choices! {
    /// How long a lane works on an instruction.
    Occupancy {
        /// The initiation interval: while the instruction enters.
        Issue = "issue",
        /// Until its result leaves.
        Pipeline = "pipeline",
    }
}

policy_choices! {
    /// When an instruction demands its lanes.
    Demand {
        /// When it issues: lanes wake up while its operands are collected.
        Issue = "issue",
        /// When it stands in front of the unit (OCEX register).
        Unit = "unit",
    }
}

/// What is switched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// INT and FP together or apart.
    pub scope: Scope,
    /// Adjacent lanes that are switched together: 1, 2, 4, 8, 16 or 32.
    pub granularity: u32,
    /// How long a lane works on an instruction.
    pub occupancy: Occupancy,
    /// SFU lanes are switched too.
    pub sfu: bool,
}

impl Setup {
    /// The same on SPs of this width: a group is no larger than its SP.
    pub fn on(self, simd: Simd) -> Setup {
        Setup { granularity: self.granularity.min(simd.width()), ..self }
    }

    /// All lanes of the groups that have a lane in `lanes`.
    #[inline]
    pub fn widen(&self, lanes: u32) -> u32 {
        let g = self.granularity;
        if g == u32::BITS {
            return if lanes != 0 { u32::MAX } else { 0 };
        }
        // Most often all are wanted.
        if g == 1 || lanes == u32::MAX {
            return lanes;
        }
        let mut any = lanes;
        let mut step = 1;
        while step < g {
            any |= any >> step;
            step <<= 1;
        }
        // The lowest lane of each group, if any of the group's is wanted; then all of it.
        (any & LOWEST[g.trailing_zeros() as usize % LOWEST.len()]).wrapping_mul(u32::MAX >> (u32::BITS - g))
    }
}

/// The lowest lanes of groups of 1, 2, 4, 8, 16, 32.
const LOWEST: [u32; 6] = [u32::MAX, 0x5555_5555, 0x1111_1111, 0x0101_0101, 0x0001_0001, 1];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_wanted_whole() {
        let widen = |granularity, lanes| {
            Setup { scope: Scope::Type, granularity, occupancy: Occupancy::Issue, sfu: false }.widen(lanes)
        };
        let lanes = 0b1000_0000_0001_0000_0010;
        assert_eq!(widen(1, lanes), lanes);
        assert_eq!(widen(2, lanes), 0b1100_0000_0011_0000_0011);
        assert_eq!(widen(4, lanes), 0b1111_0000_1111_0000_1111);
        assert_eq!(widen(8, lanes), 0xff_ffff);
        assert_eq!(widen(16, 1 << 31), 0xffff_0000);
        assert_eq!(widen(16, 1 << 3), 0xffff);
        assert_eq!(widen(32, 1 << 7), u32::MAX);
        assert_eq!(widen(32, 0), 0);
    }
}
