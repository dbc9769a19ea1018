//! Voltage and frequency levels (P-states) of a clock domain.

use serde::{Deserialize, Serialize};

/// One V/f level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VfLevel {
    /// Clock, MHz.
    pub mhz: f64,
    /// Voltage relative to nominal.
    pub volts: f64,
}

/// Lowest and highest legal clock and relative voltage of a level.
pub(super) const MHZ: (f64, f64) = (10.0, 10_000.0);
pub(super) const VOLTS: (f64, f64) = (0.3, 1.5);

/// Why a list of levels is refused, if it is.
pub(super) fn fault(levels: &[VfLevel]) -> Option<String> {
    if levels.is_empty() {
        return Some("the list is empty".to_owned());
    }
    for level in levels {
        if !(MHZ.0..=MHZ.1).contains(&level.mhz) {
            return Some(format!("{} MHz is outside {} to {}", level.mhz, MHZ.0, MHZ.1));
        }
        if !(VOLTS.0..=VOLTS.1).contains(&level.volts) {
            return Some(format!("{} of nominal voltage is outside {} to {}", level.volts, VOLTS.0, VOLTS.1));
        }
    }
    for pair in levels.windows(2) {
        if pair[1].mhz <= pair[0].mhz {
            return Some(format!("{} MHz does not come after {} MHz in ascending order", pair[1].mhz, pair[0].mhz));
        }
        if pair[1].volts < pair[0].volts {
            return Some(format!("{} MHz has a lower voltage than {} MHz", pair[1].mhz, pair[0].mhz));
        }
    }
    None
}

/// Relative voltage at a clock: a straight line between two levels, the end's own voltage beyond the ends.
pub(super) fn volts_at(levels: &[VfLevel], mhz: f64) -> f64 {
    let above = levels.partition_point(|level| level.mhz < mhz);
    match (above.checked_sub(1).and_then(|below| levels.get(below)), levels.get(above)) {
        (Some(low), Some(high)) => low.volts + (high.volts - low.volts) * (mhz - low.mhz) / (high.mhz - low.mhz),
        (Some(only), None) | (None, Some(only)) => only.volts,
        (None, None) => 1.0,
    }
}
