//! Several applications at once: right results, the same for any number of threads; one application alone is a plain run;
//! partitions hold; how mixes end badly.

mod common;

use common::{Program, find, gtx480, kernel, threads};
use std::sync::Mutex;
use warpwatt_machine::Options;
use warpwatt_machine::gpu::mix::{Application, HostProgram, MixError, MixStats, Rest, run};
use warpwatt_machine::hooks::Nominal;
use warpwatt_machine::stats::Counters;
use warpwatt_simt::device::Arg;

type Outputs = Vec<Mutex<Vec<Vec<u8>>>>;

/// Runs programs on SMs; gives all their outputs, run by run.
fn mix(options: Options, rest: Rest, parts: &[(Program, std::ops::Range<u32>)]) -> (Vec<Vec<Vec<u8>>>, MixStats) {
    let outputs: Outputs = parts.iter().map(|_| Mutex::default()).collect();
    let applications = parts.iter().zip(&outputs).map(|((program, sms), out)| {
        let program = *program;
        let host: HostProgram<'_> = Box::new(move |device, _| {
            let bytes = program.drive(device)?;
            out.lock().unwrap().push(bytes);
            Ok(())
        });
        Application { name: program.kernel.to_owned(), sms: sms.clone().collect(), program: host }
    });
    let stats = run(gtx480(), options, &Nominal, applications.collect(), rest, None).unwrap();
    (outputs.into_iter().map(|o| o.into_inner().unwrap()).collect(), stats)
}

/// Everything that may not depend on the host.
fn record(stats: &MixStats) -> String {
    let mut applications = stats.applications.clone();
    for launch in applications.iter_mut().flat_map(|app| &mut app.launches) {
        launch.stepped_sm_cycles = 0;
    }
    format!("{applications:#?}\n{:?}\n{:?}\n{}", stats.samples, stats.memory, stats.cycles)
}

/// Programs of different kinds beside each other: atomics, barriers, local memory, several launches.
fn mixes() -> Vec<Vec<(Program, std::ops::Range<u32>)>> {
    vec![
        vec![(find("mm"), 0..8), (find("counters"), 8..15)],
        vec![(find("sums"), 0..5), (find("locals"), 5..10), (find("chase"), 10..15)],
        vec![(find("tickets"), 0..1), (find("sums"), 1..15)],
        // The same program on the same addresses, twice.
        vec![(find("counters"), 0..7), (find("counters"), 7..15)],
    ]
}

#[test]
fn results_are_right_and_the_same_for_any_threads_with_skipping_on_and_off() {
    for rest in [Rest::Again, Rest::Idle] {
        for parts in mixes() {
            let (_, first) = mix(threads(1), rest, &parts);
            let expected = record(&first);
            for (n, no_skip) in [(1, true), (2, false), (3, false), (2, true)] {
                let (outputs, stats) = mix(Options { no_skip, ..threads(n) }, rest, &parts);
                for ((program, _), outputs) in parts.iter().zip(&outputs) {
                    assert!(!outputs.is_empty());
                    let right = program.expected();
                    assert!(
                        !program.ordered || outputs.iter().all(|o| *o == right),
                        "{}: wrong result with {n} threads, no_skip {no_skip}",
                        program.kernel
                    );
                }
                assert!(record(&stats) == expected, "{n} threads, no_skip {no_skip}");
            }
        }
    }
}

#[test]
fn one_application_on_all_sms_is_a_plain_run() {
    for kernel in ["mm", "counters", "sums", "tickets", "locals"] {
        let program = find(kernel);
        let (output, plain, _) = program.run(&gtx480(), threads(1), None);
        let (outputs, stats) = mix(threads(2), Rest::Again, &[(program, 0..15)]);
        assert_eq!(outputs, [vec![output]]);
        let [app] = &stats.applications[..] else { panic!() };
        assert_eq!((app.runs, app.first, app.launches.len()), (1, plain.launches.len(), plain.launches.len()));
        assert_eq!(app.idle_slots, 0);
        let mut memory = stats.memory.clone();
        // These two are in both.
        (memory.l2_accesses, memory.l2_misses) = (0, 0);
        let mut total = Counters::default();
        for (mine, plain) in app.launches.iter().zip(&plain.launches) {
            assert_eq!((mine.cycles, mine.start, mine.end), (plain.cycles, plain.start, plain.end), "{kernel}");
            assert_eq!(mine.slots, plain.slots, "{kernel}");
            assert_eq!(mine.counters.l2_accesses, plain.counters.l2_accesses, "{kernel}");
            total.add(&mine.counters);
        }
        total.add(&memory);
        let mut whole = Counters::default();
        plain.launches.iter().for_each(|launch| whole.add(&launch.counters));
        assert_eq!(total, whole, "{kernel}");
        assert_eq!(format!("{:?}", stats.samples), format!("{:?}", plain.samples), "{kernel}");
    }
}

#[test]
fn partitions_hold_and_slots_add_up() {
    for rest in [Rest::Again, Rest::Idle] {
        for parts in mixes() {
            let (_, stats) = mix(threads(1), rest, &parts);
            let mut l2 = (0, 0);
            for (app, (program, sms)) in stats.applications.iter().zip(&parts) {
                assert!(app.runs >= 1 && (rest == Rest::Again || app.runs == 1));
                let cycles: u64 = stats
                    .samples
                    .iter()
                    .flat_map(|s| &s.sms[sms.start as usize..sms.end as usize])
                    .map(|sm| sm.cycles)
                    .sum();
                let slots: u64 = app.launches.iter().flat_map(|l| &l.slots).sum::<u64>() + app.idle_slots;
                assert_eq!(slots, 2 * cycles, "{}", program.kernel);
                // All of its CTAs ran on its own SMs: their own counters are summed.
                let ctas: u64 = app.first_run().iter().map(|l| l.counters.ctas).sum();
                assert_eq!(ctas, u64::from(program.grid[0] * program.grid[1] * program.launches), "{}", program.kernel);
                app.launches.iter().for_each(|l| {
                    l2 = (l2.0 + l.counters.l2_accesses, l2.1 + l.counters.l2_misses);
                });
            }
            assert_eq!(l2, (stats.memory.l2_accesses, stats.memory.l2_misses));
        }
    }
}

#[test]
fn who_ends_first_is_begun_anew_or_leaves_its_sms_idle() {
    let parts = [(find("diverge"), 0..8), (find("chase"), 8..15)];
    let (_, again) = mix(threads(1), Rest::Again, &parts);
    let (_, idle) = mix(threads(1), Rest::Idle, &parts);
    let runs = |s: &MixStats| -> Vec<u32> { s.applications.iter().map(|a| a.runs).collect() };
    assert!(runs(&again)[0].max(runs(&again)[1]) > 1, "{:?}", runs(&again));
    assert_eq!(runs(&idle), [1, 1]);
    assert!(idle.applications.iter().any(|a| a.idle_slots > 0));
}

/// A mix of `k` with this body on SM 0 and a good kernel beside it.
fn failure(body: &str, options: Options, rest: Rest) -> MixError {
    let ptx = kernel("", body);
    let bad: HostProgram<'_> = Box::new(|device, _| {
        device.load_module("bad.ptx", &ptx)?;
        let a = device.alloc(4096)?;
        device.launch("k", [1, 1, 1], [64, 1, 1], 0, &[Arg::Ptr(a), Arg::Ptr(a), Arg::U64(0)])
    });
    let good: HostProgram<'_> = Box::new(|device, _| find("sums").drive(device).map(|_| ()));
    let applications = vec![
        Application { name: "good".into(), sms: (1..15).collect(), program: good },
        Application { name: "bad".into(), sms: vec![0], program: bad },
    ];
    run(gtx480(), options, &Nominal, applications, rest, None).unwrap_err()
}

/// Warp 1 leaves for a barrier that warp 0 never comes to.
const STUCK: &str = "    setp.eq.u32 %p0, %w, 0;
    @%p0 bra L0;
    bar.sync 1, 64;
    bra L1;
L0: bar.sync 2, 64;
L1: ";

#[test]
fn a_deadlock_beside_a_busy_application_is_found_and_named() {
    for rest in [Rest::Again, Rest::Idle] {
        let mut messages = Vec::new();
        for (n, no_skip) in [(1, false), (2, false), (1, true)] {
            let error = failure(STUCK, Options { no_skip, ..threads(n) }, rest);
            assert!(matches!(&error, MixError::Deadlock { name, .. } if name == "bad"), "{error}");
            assert!(error.to_string().contains("waits at a barrier"), "{error}");
            messages.push(error.to_string());
        }
        messages.dedup();
        assert_eq!(messages.len(), 1);
    }
}

#[test]
fn a_fault_names_its_application() {
    let error = failure("    ld.global.u32 %r0, [%a+1048576];\n", threads(2), Rest::Again);
    let MixError::Fault { name, kernel, line, .. } = &error else { panic!("{error}") };
    assert_eq!((name.as_str(), kernel.as_str()), ("bad", "k"));
    assert!(*line > 0);
}

#[test]
fn a_host_program_that_gives_up_and_a_limit_name_who_did_not_end() {
    let error = failure("    bra L0;\nL0: bra L0;\n", Options { max_cycles: Some(3000), ..threads(1) }, Rest::Idle);
    let MixError::CycleLimit { cycles: 3000, names } = &error else { panic!("{error}") };
    assert!(names.contains(&"bad".to_owned()));
    let wrong: HostProgram<'_> = Box::new(|device, _| device.launch("none", [1; 3], [32, 1, 1], 0, &[]));
    let applications = vec![Application { name: "wrong".into(), sms: vec![3], program: wrong }];
    let error = run(gtx480(), threads(1), &Nominal, applications, Rest::Again, None).unwrap_err();
    assert!(matches!(&error, MixError::Host { name, .. } if name == "wrong"), "{error}");
}

#[test]
fn sms_that_do_not_exist_or_belong_to_two_are_refused() {
    let partitions: [(&[&[u32]], &str); 4] = [
        (&[], "needs an application"),
        (&[&[0], &[]], "app 1 has no SM"),
        (&[&[0, 15]], "SM 15"),
        (&[&[0, 1], &[2, 1]], "SM 1 is given to both app 0 and app 1"),
    ];
    for (partition, words) in partitions {
        let applications = partition.iter().enumerate().map(|(i, sms)| {
            let program: HostProgram<'_> = Box::new(|_, _| Ok(()));
            Application { name: format!("app {i}"), sms: sms.to_vec(), program }
        });
        let error = run(gtx480(), threads(1), &Nominal, applications.collect(), Rest::Again, None).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
