//! What hook objects are told beside the questions they answer: their own events, the end of cycles, what stands in the
//! operand collectors; which unit an instruction goes to; what they report.

mod common;

use common::policies::AlwaysOn;
use common::{Program, find, gtx480, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::activity::LaneResidency;
use warpwatt_machine::hooks::*;
use warpwatt_machine::kernel::Port;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Control, Gpu, Options};

const PERIOD: u64 = 300;

/// At the start of every phase: how many warps of each type are buffered, and what has issued.
#[derive(Debug)]
struct Phases {
    next: u64,
    seen: Vec<(u64, u32, u32, u64)>,
    log: Log,
}

type Log = Arc<Mutex<Vec<Vec<(u64, u32, u32, u64)>>>>;

impl Hook for Phases {
    fn next_event(&self, _: u64) -> u64 {
        self.next
    }
    fn act(&mut self, state: &SmState<'_>) {
        assert!(state.now >= self.next, "too early");
        assert_ne!(state.warps.resident, 0);
        assert_eq!(state.int() & state.fp(), 0);
        assert_eq!(state.int() | state.fp(), state.buffered(Port::Sp));
        let issued = state.issued.iter().sum();
        self.seen.push((state.now, state.int().count_ones(), state.fp().count_ones(), issued));
        self.next = state.now + PERIOD;
    }
    fn report(&self, now: u64, report: &mut Report) {
        assert!(self.seen.iter().all(|s| s.0 < now));
        report.add("phases", self.seen.len() as u64);
        report.add_histogram("int", &self.seen.iter().map(|s| s.1.into()).collect::<Vec<_>>());
        self.log.lock().unwrap().push(self.seen.clone());
    }
}

impl ObserverHook for Phases {
    fn event(&mut self, _: u64, _: Event) {}
}

#[derive(Debug, Default)]
struct PhasesPolicy(Log);

impl Policy for PhasesPolicy {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        let phases = Phases { next: PERIOD, seen: Vec::new(), log: self.0.clone() };
        SmHooks { observers: vec![Box::new(phases)], ..SmHooks::default() }
    }
}

#[test]
fn an_object_acts_at_its_own_events() {
    let program = find("mm");
    let (_, plain, _) = program.run(&gtx480(), threads(1), None);
    let mut logs = Vec::new();
    for options in [threads(1), threads(2), Options { no_skip: true, ..threads(1) }] {
        let policy = PhasesPolicy::default();
        let (_, stats, mut gpu) = program.run(&gtx480(), options, Some(&policy));
        assert_eq!(record(&stats), record(&plain), "watching changes nothing");
        let report = gpu.report();
        let log = policy.0.lock().unwrap().clone();
        assert_eq!(log.len(), 15);
        assert_eq!(report.count("phases"), log.iter().map(|l| l.len() as u64).sum::<u64>());
        assert!(report.count("phases") > 15 && report.count("nothing") == 0);
        assert!(report.histogram("int").iter().sum::<u64>() > 0 && report.histogram("nothing").is_empty());
        logs.push(log);
    }
    // While warps are resident a phase begins in the very cycle that was named.
    let busy = logs[0].iter().find(|l| l.len() > 2).unwrap();
    assert!(busy.windows(2).all(|w| w[1].0 == w[0].0 + PERIOD && w[1].3 > w[0].3), "{busy:?}");
    assert!(logs.iter().flatten().flatten().any(|s| s.2 > 0));
    assert!(logs.iter().all(|l| *l == logs[0]), "neither threads nor skipping change what is seen");
}

/// Lanes that are always on; checks what is shown against what is asked.
#[derive(Debug)]
struct Watching {
    on: AlwaysOn,
    ahead: Option<(u64, Vec<Ahead>)>,
    /// Starts of SP instructions in this cycle.
    started: (u64, usize),
    checked: u64,
    /// Units before this one take twenty cycles to wake up, always.
    slow_units: usize,
    starts: [u64; 2],
}

impl Hook for Watching {
    fn report(&self, _: u64, report: &mut Report) {
        report.add("checked", self.checked);
        report.add("first", self.starts[0]);
        report.add("second", self.starts[1]);
    }
}

impl LanesHook for Watching {
    fn ready(&mut self, query: &StartQuery) -> u64 {
        query.now + if query.port == Port::Sp && query.unit < self.slow_units { 20 } else { 0 }
    }
    fn start(&mut self, query: &StartQuery) -> u64 {
        assert!(query.latency >= query.busy);
        if query.port != Port::Sp {
            return query.now;
        }
        if self.started.0 != query.now {
            self.started = (query.now, 0);
        }
        let nth = self.started.1;
        self.started.1 += 1;
        self.starts[query.unit] += 1;
        if let Some((seen, ahead)) = &self.ahead {
            assert_eq!(seen + 1, query.now, "the end of the cycle before was shown");
            assert!(nth < ahead.len() && ahead.len() <= AHEAD);
            assert_eq!((ahead[nth].lanes, ahead[nth].fp, ahead[nth].busy), (query.lanes, query.fp, query.busy));
            self.checked += 1;
        }
        query.now
    }
    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        self.on.take(now, int, fp, sfu);
    }
    fn watches(&self) -> Watches {
        Watches::All
    }
    fn watch(&mut self, state: &SmState<'_>) {
        let mut ahead = Vec::new();
        state.ahead(|op| {
            ahead.push(op);
            true
        });
        assert_eq!(state.any_ahead(), !ahead.is_empty());
        self.ahead = Some((state.now, ahead));
    }
}

#[derive(Debug)]
struct WatchingPolicy {
    slow_units: usize,
}

impl Policy for WatchingPolicy {
    fn sm(&self, spec: &Spec, _: u32) -> SmHooks {
        let lanes = Watching {
            on: AlwaysOn::of(spec),
            ahead: None,
            started: (0, 0),
            checked: 0,
            slow_units: self.slow_units,
            starts: [0; 2],
        };
        SmHooks { lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}

#[test]
fn what_the_collectors_show_is_what_starts_next() {
    for kernel in ["mm", "diverge", "compute"] {
        for no_skip in [false, true] {
            let options = Options { no_skip, ..threads(1) };
            let (_, stats, mut gpu) =
                find(kernel).run(&gtx480(), options.clone(), Some(&WatchingPolicy { slow_units: 0 }));
            let (_, plain, _) = find(kernel).run(&gtx480(), options, None);
            let report = gpu.report();
            assert!(report.count("checked") > 100);
            let mut seen = stats.clone();
            for (a, b) in seen.samples.iter_mut().zip(&plain.samples) {
                for (a, b) in a.sms.iter_mut().zip(&b.sms) {
                    (a.int, a.fp, a.sfu) = (b.int.clone(), b.fp.clone(), b.sfu.clone());
                }
            }
            assert_eq!(record(&seen), record(&plain));
        }
    }
}

#[test]
fn an_instruction_goes_to_the_unit_that_is_awake() {
    let program = find("compute");
    let share = |slow_units| {
        let (_, _, mut gpu) = program.run(&gtx480(), threads(1), Some(&WatchingPolicy { slow_units }));
        let report = gpu.report();
        (report.count("first"), report.count("second"))
    };
    let (first, second) = share(0);
    assert!(first > second, "{first} {second}");
    // While the second is free it is preferred; the first is asked only when the second is busy.
    let (slow, awake) = share(1);
    assert!(awake > slow, "{slow} {awake}");
    assert_eq!(first + second, slow + awake);
}

#[test]
fn reports_survive_a_checkpoint_of_objects_that_save_themselves() {
    #[derive(Clone, Debug, Default)]
    struct Misses(u64);
    impl Hook for Misses {
        fn save(&self) -> Vec<u8> {
            self.0.to_le_bytes().to_vec()
        }
        fn load(&mut self, state: &[u8]) -> Result<(), String> {
            self.0 = u64::from_le_bytes(state.try_into().map_err(|_| "short")?);
            Ok(())
        }
        fn report(&self, _: u64, report: &mut Report) {
            report.add("misses", self.0);
        }
    }
    impl ObserverHook for Misses {
        fn event(&mut self, _: u64, event: Event) {
            self.0 += matches!(event, Event::Miss { .. }) as u64;
        }
    }
    impl Policy for Misses {
        fn sm(&self, _: &Spec, _: u32) -> SmHooks {
            SmHooks { observers: vec![Box::new(Misses(0))], ..SmHooks::default() }
        }
    }
    let program = Program { n: 12, ..find("sums") };
    let (_, _, mut whole) = program.run(&gtx480(), threads(1), Some(&Misses::default()));
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = kept.clone();
    let mut gpu = Gpu::with_policy(gtx480(), threads(1), &Misses::default()).unwrap();
    gpu.set_observer(Box::new(|_| Control::Checkpoint));
    gpu.set_checkpoint(Box::new(move |bytes| {
        keep.lock().unwrap().push(bytes);
        Ok(())
    }));
    program.drive(&mut gpu).unwrap();
    let states = kept.lock().unwrap();
    let restored = |policy: &dyn Policy| Gpu::restore_with_policy(gtx480(), threads(1), policy, states.last().unwrap());
    let mut gpu = restored(&Misses::default()).unwrap();
    program.drive(&mut gpu).unwrap();
    assert_eq!(gpu.report(), whole.report());
    assert!(whole.report().count("misses") > 0);
    // What is restored must be what was saved.
    assert!(restored(&Nominal).is_err());
}
