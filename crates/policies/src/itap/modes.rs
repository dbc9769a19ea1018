//! The static power reduction modes of Table 4, and equation 1.

use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::LaneState;

/// A static power reduction mode, from the shallowest to the deepest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// Supply at 0.5 V.
    Vs05,
    /// Supply at 0.3 V.
    Vs03,
    /// Power-gated.
    Pg,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::Vs05, Mode::Vs03, Mode::Pg];

    /// Share of the static power that is left (Table 4).
    pub const fn power(self) -> f64 {
        match self {
            Mode::Vs05 => 0.50,
            Mode::Vs03 => 0.27,
            Mode::Pg => 0.0,
        }
    }

    /// Energy to wake up, in cycles of a lane's static energy (Table 4).
    pub const fn wake_energy(self) -> f64 {
        match self {
            Mode::Vs05 => 0.4,
            Mode::Vs03 => 1.2,
            Mode::Pg => 13.0,
        }
    }

    /// Cycles to wake up (Table 4).
    pub const fn wake_up(self) -> u64 {
        match self {
            Mode::Vs05 => 1,
            Mode::Vs03 => 2,
            Mode::Pg => 3,
        }
    }

    /// The machine's name of it.
    pub const fn state(self) -> LaneState {
        match self {
            Mode::Vs05 => LaneState::Vs05,
            Mode::Vs03 => LaneState::Vs03,
            Mode::Pg => LaneState::Gated,
        }
    }

    /// Equation 1: energy of an idle period spent in this mode, in cycles of a lane's static energy.
    pub fn energy(self, idle: u64) -> f64 {
        idle as f64 * self.power() + self.wake_energy()
    }

    /// The shortest idle period in which it saves anything.
    pub fn break_even(self) -> u64 {
        (self.wake_energy() / (1.0 - self.power())) as u64 + 1
    }
}

/// The mode with the least energy over an idle period; `None`: stay on. The shallower of two equals.
pub fn best(idle: u64) -> Option<Mode> {
    let mut best = (None, idle as f64);
    for mode in Mode::ALL {
        if mode.energy(idle) < best.1 {
            best = (Some(mode), mode.energy(idle));
        }
    }
    best.0
}

/// Lanes by mode; a lane that is in none is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modes {
    /// Lanes in VS0.5.
    pub vs05: u32,
    /// Lanes in VS0.3.
    pub vs03: u32,
    /// Power-gated lanes.
    pub pg: u32,
}

impl Modes {
    /// Lanes in any mode.
    #[inline]
    pub fn all(self) -> u32 {
        self.vs05 | self.vs03 | self.pg
    }

    /// These lanes only.
    #[inline]
    pub fn among(self, lanes: u32) -> Modes {
        Modes { vs05: self.vs05 & lanes, vs03: self.vs03 & lanes, pg: self.pg & lanes }
    }

    /// With the lanes of another one, which this one must not hold.
    #[inline]
    pub fn with(self, other: Modes) -> Modes {
        Modes { vs05: self.vs05 | other.vs05, vs03: self.vs03 | other.vs03, pg: self.pg | other.pg }
    }

    /// Lanes of another one in its mode, or in their own if that is deeper.
    #[inline]
    pub fn deepened(self, other: Modes) -> Modes {
        let pg = self.pg | other.pg;
        let vs03 = (self.vs03 | other.vs03) & !pg;
        Modes { vs05: (self.vs05 | other.vs05) & !(pg | vs03), vs03, pg }
    }

    /// Lanes of each mode.
    #[inline]
    pub fn each(self) -> [(Mode, u32); 3] {
        [(Mode::Vs05, self.vs05), (Mode::Vs03, self.vs03), (Mode::Pg, self.pg)]
    }

    /// Lanes that are not in the same mode in another one.
    #[inline]
    pub fn apart(self, other: Modes) -> u32 {
        (self.vs05 ^ other.vs05) | (self.vs03 ^ other.vs03) | (self.pg ^ other.pg)
    }

    /// The deepest mode of some lanes.
    #[inline]
    pub fn deepest(self, lanes: u32) -> Option<Mode> {
        self.each().into_iter().rev().find(|(_, of)| of & lanes != 0).map(|(mode, _)| mode)
    }

    /// Table 2: within a group all sleeping lanes take the shallowest mode that one of them has selected. `widen` gives
    /// all lanes of the groups that have one among its argument.
    #[inline]
    pub fn united(self, widen: impl Fn(u32) -> u32) -> Modes {
        let vs05 = self.all() & widen(self.vs05);
        let rest = self.all() & !vs05;
        let vs03 = rest & widen(self.vs03 & rest);
        Modes { vs05, vs03, pg: rest & !vs03 }
    }
}

/// How many lanes each of four masks has. No branches, and two at a time: the host may have no instruction for it.
#[inline(always)]
pub fn numbers([a, b, c, d]: [u32; 4]) -> [u64; 4] {
    let two = |low: u32, high: u32| {
        let ones = u64::from(low) | u64::from(high) << 32;
        let pairs = ones - (ones >> 1 & 0x5555_5555_5555_5555);
        let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let eights = (fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        // The last byte of each half becomes the sum of its bytes.
        let sums = eights.wrapping_mul(0x0101_0101);
        [sums >> 24 & 0xff, sums >> 56]
    };
    let ([a, b], [c, d]) = (two(a, b), two(c, d));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Occupancy, Scope, Setup};

    #[test]
    fn lanes_are_counted() {
        assert_eq!(numbers([0, u32::MAX, 0xf000_0001, 0x7fff_fffe]), [0, 32, 5, 30]);
        assert_eq!(numbers([u32::MAX, 0, 0x8421_8421, 0xffff]), [32, 0, 8, 16]);
    }

    #[test]
    fn table_4_follows_from_equation_1() {
        assert_eq!(Mode::ALL.map(Mode::break_even), [1, 2, 14]);
        assert_eq!(best(0), None);
        for (idle, mode) in
            [(1, Mode::Vs05), (3, Mode::Vs05), (4, Mode::Vs03), (43, Mode::Vs03), (44, Mode::Pg), (1 << 40, Mode::Pg)]
        {
            assert_eq!(best(idle), Some(mode), "{idle}");
        }
        let overtakes = (1..).find(|&idle| Mode::Pg.energy(idle) < Mode::Vs05.energy(idle));
        assert_eq!(overtakes, Some(26));
        for mode in Mode::ALL {
            let saves = |idle: u64| mode.energy(idle) < idle as f64;
            assert!(saves(mode.break_even()) && !saves(mode.break_even() - 1), "{mode:?}");
        }
    }

    #[test]
    fn table_4_is_what_power_is_computed_with() {
        let energy = warpwatt_power::GatingEnergy::ITAP;
        let own = Mode::ALL.map(Mode::wake_energy);
        assert_eq!((own, energy.gate), ([energy.wake_vs05, energy.wake_vs03, energy.wake], 0.0));
    }

    #[test]
    fn table_2_unites_the_modes_of_a_group() {
        let united = |granularity, vs05, vs03, pg| {
            let setup = Setup { scope: Scope::Lane, granularity, occupancy: Occupancy::Issue, sfu: false };
            let modes = Modes { vs05, vs03, pg }.united(|lanes| setup.widen(lanes));
            (modes.vs05, modes.vs03, modes.pg)
        };
        // Any lane in VS0.5; none in VS0.5 and one in VS0.3; all power-gated. Lanes that are on stay so.
        assert_eq!(united(32, 0b1, 0b10, 0b1100), (0b1111, 0, 0));
        assert_eq!(united(32, 0, 0b10, 0b1100), (0, 0b1110, 0));
        assert_eq!(united(32, 0, 0, 0b1100), (0, 0, 0b1100));
        assert_eq!(united(32, 0, 0, 0), (0, 0, 0));
        // Groups of four: VS0.5 wins in the first, VS0.3 in the second, the others are all power-gated.
        assert_eq!(united(4, 0x1, 0x20, 0xf_0f4c), (0xd, 0x60, 0xf_0f00));
        for granularity in [2, 8, 16] {
            let group = (1 << granularity) - 1;
            assert_eq!(united(granularity, 1, 0, !1), (group, 0, !group));
            assert_eq!(united(granularity, 0, 2, !2), (0, group, !group));
        }
    }

    #[test]
    fn single_lanes_keep_their_own_mode() {
        let setup = Setup { scope: Scope::Lane, granularity: 1, occupancy: Occupancy::Issue, sfu: false };
        let modes = Modes { vs05: 0xf, vs03: 0xf0, pg: 0xff00 };
        assert_eq!(modes.united(|lanes| setup.widen(lanes)), modes);
    }
}
