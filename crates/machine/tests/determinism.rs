//! The same bytes whatever the number of threads, with skipping on and off, with and without samples, run after run.

mod common;

use common::{PROGRAMS, Program, gtx480, record, threads};
use warpwatt_machine::Options;

#[test]
fn threads_skipping_and_repetition_do_not_matter() {
    let spec = gtx480();
    for program in PROGRAMS {
        let (output, stats, _) = program.run(&spec, threads(1), None);
        if program.ordered {
            assert!(output == program.expected(), "{}: wrong result", program.kernel);
        }
        let expected = record(&stats);
        for (n, no_skip, times) in
            [(1, false, 1), (2, false, 2), (3, false, 1), (1, true, 2), (2, true, 1), (3, true, 1)]
        {
            for _ in 0..times {
                let (again, stats, _) = program.run(&spec, Options { no_skip, ..threads(n) }, None);
                assert!(again == output, "{}: output with {n} threads, no_skip {no_skip}", program.kernel);
                let record = record(&stats);
                assert!(
                    record == expected,
                    "{}: {n} threads, no_skip {no_skip}:\n{expected}\n{record}",
                    program.kernel
                );
            }
        }
    }
}

#[test]
fn with_skipping_off_every_cycle_is_stepped() {
    let spec = gtx480();
    for program in PROGRAMS {
        let (_, stats, _) = program.run(&spec, Options { no_skip: true, ..threads(1) }, None);
        let (_, skipped, _) = program.run(&spec, threads(1), None);
        for (i, launch) in stats.launches.iter().enumerate() {
            // SM-cycles as the activity samples count them: the launch, and the rest of its last window.
            let samples = stats.samples.iter().filter(|s| s.launch == i as u32);
            let cycles: u64 = samples.flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
            assert_eq!(launch.stepped_sm_cycles, cycles, "{}", program.kernel);
            assert!(cycles >= launch.cycles * u64::from(spec.sms), "{}", program.kernel);
            assert!(skipped.launches[i].stepped_sm_cycles < cycles, "{}: nothing was skipped", program.kernel);
        }
    }
}

#[test]
fn samples_add_up_to_the_run_without_samples() {
    let spec = gtx480();
    for program in PROGRAMS {
        let (output, plain, _) = program.run(&spec, threads(1), None);
        for (sample_cycles, no_skip, n) in [(333, false, 1), (333, true, 2), (1000, false, 3)] {
            let options = Options { sample_cycles: Some(sample_cycles), no_skip, ..threads(n) };
            let (again, mut stats, _) = program.run(&spec, options, None);
            assert!(again == output);
            assert!(stats.samples.len() > plain.samples.len(), "{}", program.kernel);
            for pair in stats.samples.windows(2) {
                assert_eq!(pair[0].end, pair[1].start, "{}: samples are not end to end", program.kernel);
            }
            for whole in &plain.samples {
                let parts: Vec<_> = stats.samples.iter().filter(|s| s.launch == whole.launch).collect();
                for (i, sm) in whole.sms.iter().enumerate() {
                    let sum = |f: &dyn Fn(&warpwatt_machine::activity::SmActivity) -> u64| -> u64 {
                        parts.iter().map(|p| f(&p.sms[i])).sum()
                    };
                    assert_eq!(sum(&|a| a.cycles), sm.cycles);
                    assert_eq!(sum(&|a| a.int.cycles[0]), sm.int.cycles[0]);
                    for e in 0..sm.events.len() {
                        assert_eq!(sum(&|a| a.events[e]), sm.events[e], "{}: event {e}", program.kernel);
                    }
                    for c in 0..sm.component_busy.len() {
                        assert_eq!(sum(&|a| a.component_busy[c]), sm.component_busy[c]);
                        assert_eq!(sum(&|a| a.component_on[c]), sm.component_on[c]);
                    }
                }
                for (e, &count) in whole.mem.iter().enumerate() {
                    assert_eq!(parts.iter().map(|p| p.mem[e]).sum::<u64>(), count, "{}: mem {e}", program.kernel);
                }
            }
            stats.samples = plain.samples.clone();
            assert_eq!(record(&stats), record(&plain), "{}", program.kernel);
        }
    }
}

#[test]
fn samples_are_cut_at_their_cycle_exactly() {
    let spec = gtx480();
    let program: Program = common::find("sums");
    let options = Options { sample_cycles: Some(250), ..threads(2) };
    let (_, stats, _) = program.run(&spec, options, None);
    let inner: Vec<_> = stats.samples.windows(2).filter(|p| p[0].launch == p[1].launch).collect();
    assert!(inner.len() > 3);
    let period = 1_428_571;
    for pair in inner {
        assert_eq!(pair[0].end, pair[0].end / (250 * period) * (250 * period));
    }
}
