//! Checks of a run's counts against each other, beside the power model's own. A failure means a mistake in the
//! simulator, and ends the run as such.

use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{RunStats, Slot};

/// Every scheduler has one issue slot in every core cycle, and each slot one cause; what issued are the warp
/// instructions, each counted on its own.
pub fn slots(spec: &Spec, run: &RunStats) -> Result<(), String> {
    for (number, launch) in run.launches.iter().enumerate() {
        let what = format!("launch {number} ({})", launch.kernel);
        let found: u64 = launch.slots.iter().sum();
        let expected = launch.cycles * u64::from(spec.sms) * u64::from(spec.schedulers);
        if found != expected {
            return Err(format!("{what} has {found} issue slots, not SMs × schedulers × cycles = {expected}"));
        }
        let issued = launch.slots.get(Slot::Issued as usize).copied().unwrap_or(0);
        if issued != launch.counters.warp_instructions {
            let counted = launch.counters.warp_instructions;
            return Err(format!("{what} has {issued} slots that issued, but {counted} warp instructions"));
        }
        if launch.counters.thread_instructions > 32 * launch.counters.warp_instructions {
            return Err(format!("{what} has more than 32 thread instructions a warp instruction"));
        }
    }
    Ok(())
}
