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

/// Lanes by mode; a lane that is in none is on. Each has its mode's number in two bits, the lower bits of all lanes in one
/// half of the word, the upper ones in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modes(u64);

/// A mask in both halves.
#[inline]
const fn both(lanes: u32) -> u64 {
    (lanes as u64) << 32 | lanes as u64
}

impl Modes {
    /// Lanes in each mode.
    #[inline]
    pub const fn new(vs05: u32, vs03: u32, pg: u32) -> Modes {
        Modes::of(vs05 | pg, vs03 | pg)
    }

    /// All of some lanes in a mode.
    #[inline]
    pub fn all_in(mode: Mode, lanes: u32) -> Modes {
        let number = mode as u64 + 1;
        Modes((number & 1 | (number & 2) << 31) * u64::from(lanes))
    }

    #[inline]
    const fn of(low: u32, high: u32) -> Modes {
        Modes(low as u64 | (high as u64) << 32)
    }

    #[inline]
    fn low(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Lanes in VS0.5.
    #[inline]
    pub fn vs05(self) -> u32 {
        self.low() & !self.high()
    }

    /// Lanes in VS0.3.
    #[inline]
    pub fn vs03(self) -> u32 {
        self.high() & !self.low()
    }

    /// Power-gated lanes.
    #[inline]
    pub fn pg(self) -> u32 {
        self.low() & self.high()
    }

    /// Lanes in any mode.
    #[inline]
    pub fn all(self) -> u32 {
        self.low() | self.high()
    }

    /// All lanes are on.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// These lanes only.
    #[inline]
    pub fn among(self, lanes: u32) -> Modes {
        Modes(self.0 & both(lanes))
    }

    /// With the lanes of another one, which this one must not hold.
    #[inline]
    pub fn with(self, other: Modes) -> Modes {
        Modes(self.0 | other.0)
    }

    /// With lanes that go on to deeper modes from VS0.5.
    #[inline]
    pub fn gone_on(self, to_vs03: u32, to_pg: u32) -> Modes {
        Modes(self.0 ^ both(to_vs03) ^ u64::from(to_pg) << 32)
    }

    /// Lanes of another one in its mode, or in their own if that is deeper.
    #[inline]
    pub fn deepened(self, other: Modes) -> Modes {
        let (pg, high) = (self.pg() | other.pg(), self.high() | other.high());
        let low = (self.low() | other.low()) & !high | pg;
        Modes::of(low, high)
    }

    /// Modes of lanes, one after the other, and which lanes each has.
    #[inline]
    pub fn each(self) -> impl Iterator<Item = (Mode, u32)> {
        let mut rest = self.all();
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            // That of the first lane: most often all have the same.
            let first = rest & rest.wrapping_neg();
            let (low, high) = (self.low() & first != 0, self.high() & first != 0);
            let alike = |bit: bool, of: u32| if bit { of } else { !of };
            let lanes = rest & alike(low, self.low()) & alike(high, self.high());
            rest ^= lanes;
            Some((Mode::ALL[(low as usize | (high as usize) << 1) - 1], lanes))
        })
    }

    /// Lanes that are not in the same mode in another one.
    #[inline]
    pub fn apart(self, other: Modes) -> u32 {
        Modes(self.0 ^ other.0).all()
    }

    /// The deepest mode of some lanes.
    #[inline]
    pub fn deepest(self, lanes: u32) -> Option<Mode> {
        let of = |mode: u32| mode & lanes != 0;
        if of(self.pg()) {
            Some(Mode::Pg)
        } else if of(self.vs03()) {
            Some(Mode::Vs03)
        } else {
            of(self.vs05()).then_some(Mode::Vs05)
        }
    }

    /// Table 2: within a group all sleeping lanes take the shallowest mode that one of them has selected. `widen` gives
    /// all lanes of the groups that have one among its argument.
    #[inline]
    pub fn united(self, widen: impl Fn(u32) -> u32) -> Modes {
        let all = self.all();
        let vs05 = all & widen(self.vs05());
        let vs03 = all & !vs05 & widen(self.vs03());
        Modes::of(all & !vs03, all & !vs05)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Occupancy, Scope, Setup};

    #[test]
    fn each_lane_is_in_one_mode() {
        let modes = Modes::new(0x0f, 0x30, 0x8000_00c0);
        assert_eq!((modes.vs05(), modes.vs03(), modes.pg(), modes.all()), (0x0f, 0x30, 0x8000_00c0, 0x8000_00ff));
        let each = |modes: Modes| modes.each().collect::<Vec<_>>();
        assert_eq!(each(modes), [(Mode::Vs05, 0x0f), (Mode::Vs03, 0x30), (Mode::Pg, 0x8000_00c0)]);
        assert_eq!(each(Modes::new(2, 4, 1)), [(Mode::Pg, 1), (Mode::Vs05, 2), (Mode::Vs03, 4)]);
        assert_eq!(each(modes.among(0x8000_0010)), [(Mode::Vs03, 0x10), (Mode::Pg, 0x8000_0000)]);
        assert_eq!(each(Modes::default()), []);
        Mode::ALL.iter().for_each(|&mode| assert_eq!(each(Modes::all_in(mode, 0x8000_0001)), [(mode, 0x8000_0001)]));
        assert_eq!(
            [0x1f, 0xf, 0x100, u32::MAX].map(|lanes| modes.deepest(lanes)),
            [Some(Mode::Vs03), Some(Mode::Vs05), None, Some(Mode::Pg)]
        );
        assert_eq!(modes.gone_on(0x1, 0xc), Modes::new(0x2, 0x31, 0x8000_00cc));
        assert_eq!(modes.with(Modes::new(0x100, 0, 0x200)), Modes::new(0x10f, 0x30, 0x8000_02c0));
        assert_eq!(modes.apart(Modes::new(0x0e, 0x31, 0x8000_0080)), 0x41);
        // The deeper of two in each lane.
        let (a, b) = (Modes::new(0x00f0, 0x0f00, 0xf000), Modes::new(0x2222, 0x4444, 0x8888));
        assert_eq!(a.deepened(b), Modes::new(0x0032, 0x0744, 0xf888));
        assert_eq!(b.deepened(a), a.deepened(b));
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
            let modes = Modes::new(vs05, vs03, pg).united(|lanes| setup.widen(lanes));
            (modes.vs05(), modes.vs03(), modes.pg())
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
        let modes = Modes::new(0xf, 0xf0, 0xff00);
        assert_eq!(modes.united(|lanes| setup.widen(lanes)), modes);
    }
}
