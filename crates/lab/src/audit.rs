//! Checks of a run's counts against each other, beside the power model's own. A failure means a mistake in the
//! simulator, and ends the run as such.

use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Ending, RunStats, Slot};

/// Every scheduler has one issue slot in every core cycle of its SM, and each slot one cause; what issued are the warp
/// instructions. Slots, cycles and instructions are each counted on their own.
pub fn slots(spec: &Spec, run: &RunStats) -> Result<(), String> {
    for (number, launch) in run.launches.iter().enumerate() {
        let what = format!("launch {number} ({})", launch.kernel);
        let samples = run.samples.iter().filter(|s| s.launch as usize == number);
        let cycles: u64 = samples.flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
        let found: u64 = launch.slots.iter().sum();
        let expected = cycles * u64::from(spec.schedulers);
        if found != expected {
            return Err(format!("{what} has {found} issue slots, not SM-cycles × schedulers = {expected}"));
        }
        // SMs run on until the news of the last CTA's end has crossed the chip; the launch ends with that CTA.
        // A fault stops SMs where they are.
        let whole = run.ending == Ending::Completed || number + 1 < run.launches.len();
        if whole && launch.cycles * u64::from(spec.sms) > cycles {
            return Err(format!("{what} has {} cycles on {} SMs, but {cycles} SM-cycles", launch.cycles, spec.sms));
        }
        let issued = launch.slots.get(Slot::Issued as usize).copied().unwrap_or(0);
        let counted = launch.counters.warp_instructions;
        // The instruction that faults issues, but is not executed: at most one on each SM before the run ends.
        let unexecuted = if whole { 0 } else { u64::from(spec.sms) };
        if issued < counted || issued - counted > unexecuted {
            return Err(format!("{what} has {issued} slots that issued, but {counted} warp instructions"));
        }
        let threads = launch.counters.thread_instructions;
        if threads > counted.saturating_mul(32) {
            return Err(format!("{what} has {threads} thread instructions in {counted} warp instructions"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_machine::activity::{SM_EVENTS, Sample, SmActivity};
    use warpwatt_machine::stats::{Counters, LaunchStats, SLOTS};

    /// One SM with two schedulers and 10 cycles, of which 7 slots issued.
    fn run() -> (Spec, RunStats) {
        let mut slots = vec![0; SLOTS];
        (slots[Slot::Issued as usize], slots[Slot::Memory as usize]) = (7, 13);
        let launch = LaunchStats {
            kernel: "k".into(),
            grid: [1; 3],
            block: [32, 1, 1],
            registers_per_thread: 8,
            shared_bytes: 0,
            ctas_per_sm: 8,
            occupancy_limit: String::new(),
            cycles: 9,
            stepped_sm_cycles: 10,
            start: 0,
            end: 9,
            slots,
            counters: Counters { warp_instructions: 7, thread_instructions: 200, ..Counters::default() },
        };
        let sm = SmActivity { events: vec![0; SM_EVENTS], cycles: 10, ..SmActivity::default() };
        let sample = Sample {
            start: 0,
            end: 10,
            launch: 0,
            core_mhz: 700.0,
            core_volts: 1.0,
            noc_mhz: 700.0,
            dram_mhz: 924.0,
            mem_volts: 1.0,
            sms: vec![sm],
            mem: Vec::new(),
            transitions: 0,
        };
        let spec = Spec { sms: 1, schedulers: 2, ..Spec::default() };
        let stats = RunStats {
            ending: Ending::Completed,
            launches: vec![launch],
            samples: vec![sample],
            decisions: Vec::new(),
            printed: Vec::new(),
        };
        (spec, stats)
    }

    #[test]
    fn what_adds_up_passes() {
        let (spec, run) = run();
        assert_eq!(slots(&spec, &run), Ok(()));
    }

    #[test]
    fn each_planted_miscount_is_found() {
        let plant: [(fn(&mut RunStats), &str); 5] = [
            (|r| r.launches[0].slots[Slot::Memory as usize] += 1, "21 issue slots"),
            (|r| r.samples[0].sms[0].cycles += 1, "20 issue slots"),
            (|r| r.launches[0].cycles = 11, "11 cycles on 1 SMs"),
            (|r| r.launches[0].counters.warp_instructions = 8, "8 warp instructions"),
            (|r| r.launches[0].counters.thread_instructions = 225, "225 thread instructions"),
        ];
        for (miscount, words) in plant {
            let (spec, mut run) = run();
            miscount(&mut run);
            let message = slots(&spec, &run).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }
}
