//! The finite state machine of Fig. 9, its transitions T1–T10 by both columns of Table 1, for 32 lanes at once.
//!
//! The picture is not in the text; its states are read off Table 1: T1 On→On, T2 On→VS0.5, T3 VS0.5→On, T4 VS0.5 stays,
//! T5 VS0.5→VS0.3, T6 VS0.5→PG, T7 VS0.3→On, T8 VS0.3 stays, T9 PG→On, T10 PG stays.

use super::modes::Modes;
use crate::policy_choices;

/// What is optimized (§4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Energy: the confidence counter goes up and down by one.
    Power,
    /// Speed: the confidence counter is reset when a lane was gated in vain.
    Performance,
}

policy_choices! {
    /// When the peek-ahead window wakes lanes up (T3, T7, T9).
    Wake {
        /// Never: a lane sleeps until it is wanted (second column of Table 1).
        Demand = "demand",
        /// In the cycle before it is wanted, from any mode: by Activity_ahead\[1\].
        Next = "next",
        /// As many cycles before as waking up from its mode takes (third column of Table 1).
        Mode = "mode",
    }
}

/// What is known of lanes in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Activity_cur: lanes that work, or are wanted.
    pub active: u32,
    /// Length_idle: lanes that have been idle for four cycles.
    pub long: u32,
    /// Counter_mode has reached its threshold.
    pub switch: u32,
    /// Counter_conf has reached its threshold.
    pub confident: u32,
    /// Activity_ahead: lanes that will work in one, two and three cycles; `None`: the peek-ahead window gives no
    /// information.
    pub ahead: Option<[u32; 3]>,
}

/// Lanes that make each transition: T1 is the first.
pub type Transitions = [u32; 10];

/// T1 and T2: of lanes that are on, those that stay and those that fall asleep. Both columns are the same.
#[inline]
pub fn of_on(on: u32, seen: &Seen) -> (u32, u32) {
    (on & seen.active, on & !seen.active)
}

/// T3, T7, T9: of lanes in each mode, those that wake up.
#[inline]
pub fn waking(modes: Modes, seen: &Seen, wake: Wake) -> Modes {
    match (wake, seen.ahead) {
        (Wake::Next, Some([one, ..])) => modes.among(one),
        (Wake::Mode, Some([one, two, three])) => modes.among(one | two & !modes.vs05() | three & modes.pg()),
        _ => modes.among(seen.active),
    }
}

/// T4, T5, T6: of lanes in VS0.5 that do not wake up, those that stay, those that go on to VS0.3 and to PG.
#[inline]
pub fn of_vs05(lanes: u32, seen: &Seen) -> (u32, u32, u32) {
    let deeper = lanes
        & match seen.ahead {
            Some([one, two, three]) => !(one | two | three),
            None => !seen.active & seen.long & seen.switch,
        };
    (lanes & !deeper, deeper & !seen.confident, deeper & seen.confident)
}

/// All transitions of a cycle, for lanes that are each switched on its own.
pub fn transitions(modes: Modes, seen: &Seen, wake: Wake) -> Transitions {
    let (t1, t2) = of_on(!modes.all(), seen);
    let wake = waking(modes, seen, wake);
    let stay = modes.among(!wake.all());
    let (t4, t5, t6) = of_vs05(stay.vs05(), seen);
    [t1, t2, wake.vs05(), t4, t5, t6, wake.vs03(), stay.vs03(), wake.pg(), stay.pg()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Modes = Modes::new(0, 0, 0);
    const VS05: Modes = Modes::new(1, 0, 0);
    const VS03: Modes = Modes::new(0, 1, 0);
    const PG: Modes = Modes::new(0, 0, 1);
    const IDLE: Seen = Seen { active: 0, long: 0, switch: 0, confident: 0, ahead: None };
    const ACTIVE: Seen = Seen { active: 1, ..IDLE };

    /// The transition that lane 0 makes: exactly one.
    fn made(modes: Modes, seen: Seen, wake: Wake) -> usize {
        let fired = transitions(modes, &seen, wake).map(|lanes| lanes & 1);
        assert_eq!(fired.iter().sum::<u32>(), 1, "{modes:?} {seen:?} {fired:?}");
        1 + fired.iter().position(|&f| f == 1).unwrap()
    }

    /// Without peek-ahead nobody wakes up early.
    fn plain(modes: Modes, seen: Seen) -> usize {
        assert_eq!(made(modes, seen, Wake::Demand), made(modes, seen, Wake::Mode));
        assert_eq!(made(modes, seen, Wake::Demand), made(modes, seen, Wake::Next));
        made(modes, seen, Wake::Demand)
    }

    /// With peek-ahead, by the third column of Table 1 throughout.
    fn peek(modes: Modes, ahead: [u32; 3], confident: u32) -> usize {
        let decided = made(modes, Seen { ahead: Some(ahead), confident, ..IDLE }, Wake::Mode);
        // Length and mode counter have no part in it.
        let other = Seen { ahead: Some(ahead), confident, long: 1, switch: 1, active: 0 };
        assert_eq!(made(modes, other, Wake::Mode), decided);
        decided
    }

    /// All windows.
    fn windows() -> impl Iterator<Item = [u32; 3]> {
        (0..8u32).map(|bits| [bits & 1, bits >> 1 & 1, bits >> 2])
    }

    #[test]
    fn t1_on_while_active() {
        assert_eq!(plain(ON, ACTIVE), 1);
        windows().for_each(|a| assert_eq!(made(ON, Seen { ahead: Some(a), ..ACTIVE }, Wake::Mode), 1));
    }

    #[test]
    fn t2_vs05_as_soon_as_idle() {
        assert_eq!(plain(ON, IDLE), 2);
        windows().for_each(|a| assert_eq!(peek(ON, a, 0), 2));
    }

    #[test]
    fn t3_vs05_to_on() {
        assert_eq!(plain(VS05, ACTIVE), 3);
        assert_eq!(plain(VS05, Seen { long: 1, switch: 1, confident: 1, ..ACTIVE }), 3);
        windows().filter(|a| a[0] == 1).for_each(|a| assert_eq!(peek(VS05, a, a[1]), 3));
    }

    #[test]
    fn t4_vs05_stays() {
        assert_eq!(plain(VS05, IDLE), 4);
        assert_eq!(plain(VS05, Seen { long: 1, ..IDLE }), 4);
        assert_eq!(plain(VS05, Seen { switch: 1, confident: 1, ..IDLE }), 4);
        for ahead in [[0, 1, 0], [0, 0, 1], [0, 1, 1]] {
            assert_eq!(peek(VS05, ahead, 0), 4);
            assert_eq!(peek(VS05, ahead, 1), 4);
        }
    }

    #[test]
    fn t5_vs05_to_vs03() {
        assert_eq!(plain(VS05, Seen { long: 1, switch: 1, ..IDLE }), 5);
        assert_eq!(peek(VS05, [0; 3], 0), 5);
    }

    #[test]
    fn t6_vs05_to_pg() {
        assert_eq!(plain(VS05, Seen { long: 1, switch: 1, confident: 1, ..IDLE }), 6);
        assert_eq!(peek(VS05, [0; 3], 1), 6);
    }

    #[test]
    fn t7_vs03_to_on() {
        assert_eq!(plain(VS03, ACTIVE), 7);
        windows().filter(|a| a[0] | a[1] == 1).for_each(|a| assert_eq!(peek(VS03, a, 0), 7));
    }

    #[test]
    fn t8_vs03_stays() {
        assert_eq!(plain(VS03, Seen { long: 1, switch: 1, confident: 1, ..IDLE }), 8);
        windows().filter(|a| a[0] | a[1] == 0).for_each(|a| assert_eq!(peek(VS03, a, 1), 8));
    }

    #[test]
    fn t9_pg_to_on() {
        assert_eq!(plain(PG, ACTIVE), 9);
        windows().filter(|a| *a != [0; 3]).for_each(|a| assert_eq!(peek(PG, a, 1), 9));
    }

    #[test]
    fn t10_pg_stays() {
        assert_eq!(plain(PG, Seen { long: 1, switch: 1, ..IDLE }), 10);
        assert_eq!(peek(PG, [0; 3], 0), 10);
    }

    #[test]
    fn with_wake_up_on_demand_only_t4_to_t6_look_ahead() {
        for ahead in windows() {
            let idle = Seen { ahead: Some(ahead), ..IDLE };
            let active = Seen { ahead: Some(ahead), ..ACTIVE };
            assert_eq!((made(ON, idle, Wake::Demand), made(ON, active, Wake::Demand)), (2, 1));
            assert_eq!(made(VS05, active, Wake::Demand), 3);
            assert_eq!((made(VS03, idle, Wake::Demand), made(VS03, active, Wake::Demand)), (8, 7));
            assert_eq!((made(PG, idle, Wake::Demand), made(PG, active, Wake::Demand)), (10, 9));
            assert_eq!(made(VS05, idle, Wake::Demand), if ahead == [0; 3] { 5 } else { 4 });
        }
    }
    #[test]
    fn one_cycle_ahead_it_is_the_next_cycle_that_wakes_every_mode() {
        for ahead in windows() {
            for (modes, wakes, stays) in [(VS05, 3, 4), (VS03, 7, 8), (PG, 9, 10)] {
                let found = made(modes, Seen { ahead: Some(ahead), ..IDLE }, Wake::Next);
                let idle = if modes == VS05 && ahead == [0; 3] { 5 } else { stays };
                assert_eq!(found, if ahead[0] == 1 { wakes } else { idle }, "{modes:?} {ahead:?}");
            }
        }
    }
}
