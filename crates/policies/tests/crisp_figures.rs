//! The worked examples of the CRISP paper, event by event.

use warpwatt_machine::hooks::CycleKind::{self, Compute, LoadStall, StoreStall};
use warpwatt_machine::hooks::{CYCLE_KINDS, Event, L1Cache, ObserverHook, Outstanding};
use warpwatt_policies::crisp::StoreWait;
use warpwatt_policies::crisp::model::{Crisp, CrispL, Crit, Lead, Miss, Model, Stall};
use warpwatt_policies::crisp::observer::{Observer, Span, Totals};
use warpwatt_policies::crisp::predict::{Form, Times};

/// A timeline: loads by name, with the cycle in which they miss and their latency; the kind of each cycle.
struct Timeline {
    loads: &'static [(char, u64, u64)],
    load_stalls: &'static [u64],
    store_stalls: &'static [u64],
    cycles: u64,
}

/// Fig. 1, a CPU: A stands alone, B and C overlap; the core stalls in cycles 1–7 and 15–25.
const FIG_1: Timeline = Timeline {
    loads: &[('A', 0, 8), ('B', 12, 7), ('C', 14, 12)],
    load_stalls: &[1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25],
    store_stalls: &[],
    cycles: 33,
};

/// Fig. 6, an SM.
const FIG_6: Timeline = Timeline {
    loads: &[('A', 0, 8), ('B', 12, 5), ('C', 14, 12), ('D', 23, 5)],
    load_stalls: &[7, 24, 25, 27],
    store_stalls: &[29],
    cycles: 31,
};

/// MISS's fixed latency in both figures, cycles.
const LATENCY: u64 = 8;

/// So many cycles of one kind.
fn passed(kind: CycleKind, cycles: u64) -> Event {
    let mut all = [0; CYCLE_KINDS];
    all[kind as usize] = cycles;
    Event::Cycles(all)
}

impl Timeline {
    fn kind(&self, cycle: u64) -> CycleKind {
        match cycle {
            c if self.load_stalls.contains(&c) => LoadStall,
            c if self.store_stalls.contains(&c) => StoreStall,
            _ => Compute,
        }
    }

    /// The counters after the cycles of a range.
    fn play<M: Model>(&self, observer: &mut Observer<M>, cycles: std::ops::Range<u64>) -> Totals {
        for now in cycles {
            for (i, &(_, start, latency)) in self.loads.iter().enumerate() {
                let load = Outstanding { cache: L1Cache::Data, entry: i as u16 };
                if now == start + latency {
                    observer.event(now, Event::Answered(load));
                }
                if now == start {
                    observer.event(now, Event::Requested(load));
                }
            }
            observer.event(now, passed(self.kind(now), 1));
        }
        observer.take()
    }

    fn totals<M: Model>(&self) -> Totals {
        self.play(&mut observer::<M>(), 0..self.cycles)
    }

    fn memory<M: Model>(&self) -> u64 {
        self.totals::<M>().memory
    }

    fn at_half<M: Model>(&self) -> f64 {
        self.totals::<M>().times().predict(M::FORM, 2.0)
    }
}

fn observer<M: Model>() -> Observer<M> {
    let mut observer = Observer::new(Span::Interval, StoreWait::Stall, LATENCY);
    observer.event(0, Event::Period(1));
    observer
}

#[test]
fn figure_1_memory_time() {
    assert_eq!(FIG_1.memory::<Lead>(), 15);
    assert_eq!(FIG_1.memory::<Miss>(), 16);
    assert_eq!(FIG_1.memory::<Crit>(), 20);
    assert_eq!(FIG_1.memory::<Stall>(), 18);
}

#[test]
fn figure_1_predictions_at_half_the_clock() {
    // Memory time and twice the rest of 33 cycles; the true time is 46, and CRIT is the nearest of the four.
    let predicted =
        [FIG_1.at_half::<Lead>(), FIG_1.at_half::<Miss>(), FIG_1.at_half::<Crit>(), FIG_1.at_half::<Stall>()];
    assert_eq!(predicted, [51.0, 50.0, 46.0, 48.0]);
}

#[test]
fn figure_1_true_time_at_half_the_clock() {
    // Compute cycles take two; a load comes back so long after it went out; what a stall waited for has to be there.
    let waits_for = |cycle: u64| match cycle {
        8 => Some((0, 8)),
        26 => Some((14, 12)),
        _ => None,
    };
    let mut time = 0;
    let mut started = [0; 33];
    for cycle in (0..33).filter(|c| FIG_1.kind(*c) == Compute) {
        if let Some((load, latency)) = waits_for(cycle) {
            time = time.max(started[load as usize] + latency);
        }
        started[cycle as usize] = time;
        time += 2;
    }
    assert_eq!(time, 46);
}

#[test]
fn figure_6_memory_time() {
    assert_eq!(FIG_6.memory::<Lead>(), 18);
    assert_eq!(FIG_6.memory::<Miss>(), 24);
    assert_eq!(FIG_6.memory::<Crit>(), 20);
    assert_eq!(FIG_6.memory::<Stall>(), 4);
    assert_eq!(FIG_6.memory::<CrispL>(), 8 + 16);
}

#[test]
fn figure_6_by_the_hardware() {
    let totals = FIG_6.totals::<Crisp>();
    assert_eq!(totals, Totals { cycles: 31, memory: 21, load_stall: 4, store_stall: 1 });
    let times = totals.times();
    assert_eq!((times.overlapped(), times.exposed()), (17.0, 9.0));
    // max(21, 2 × 17) + max(9 + 1, 2 × 9)
    assert_eq!(times.predict(Form::StalledPath, 2.0), 52.0);
}

#[test]
fn figure_6_by_the_arithmetic_of_section_3_4() {
    // Load critical path 20, of it 17 computation; 10 + 1 for the rest: cycle 27 is in both.
    let times = Times { all: 31.0, memory: 20.0, load_stall: 3.0, store_stall: 1.0 };
    assert_eq!((times.overlapped(), times.exposed()), (17.0, 10.0));
    assert_eq!(times.predict(Form::StalledPath, 2.0), 54.0);
}

#[test]
fn figure_6_predictions_at_half_the_clock() {
    // STALL predicts too much, the others too little of 54 (§3.4).
    assert_eq!(FIG_6.at_half::<Stall>(), 58.0);
    let others = [FIG_6.at_half::<Lead>(), FIG_6.at_half::<Miss>(), FIG_6.at_half::<Crit>(), FIG_6.at_half::<CrispL>()];
    assert_eq!(others, [44.0, 38.0, 42.0, 52.0]);
}

#[test]
fn at_the_same_clock_every_model_predicts_the_time_itself() {
    let same = |t: Totals, form| assert_eq!(t.times().predict(form, 1.0), t.cycles as f64);
    same(FIG_6.totals::<Crisp>(), Form::StalledPath);
    same(FIG_6.totals::<CrispL>(), Form::StalledPath);
    same(FIG_6.totals::<Crit>(), Form::Linear);
}

#[test]
fn towards_a_higher_clock_only_exposed_computation_scales() {
    // §5.2: T_Memory + T_CSP^Stall + T_CSP^Comp × f_c / f.
    let times = FIG_6.totals::<Crisp>().times();
    assert_eq!(times.predict(Form::StalledPath, 0.5), 21.0 + 1.0 + 4.5);
    // `upwards=stalls`: the 17 cycles under the path scale as well.
    assert_eq!(times.predict_stalls_alone(0.5), 4.0 + 1.0 + 26.0 / 2.0);
}

#[test]
fn an_interval_that_ends_within_loads_stamps_them_anew() {
    // Cut before cycle 16: B has been out for 4 cycles after A's 8, C for 2; what is left counts from the cut on.
    let mut o = observer::<Crit>();
    let (first, second) = (FIG_6.play(&mut o, 0..16), FIG_6.play(&mut o, 16..31));
    assert_eq!((first.cycles, first.memory), (16, 8 + 4));
    assert_eq!((second.cycles, second.memory), (15, 10));
    // Adjusted: cycle 7 was under A; the stalls in 24 and 25 are under C, which is the longest, that in 27 is not.
    let mut o = observer::<Crisp>();
    let (first, second) = (FIG_6.play(&mut o, 0..16), FIG_6.play(&mut o, 16..31));
    assert_eq!((first.memory, first.load_stall), (12, 1));
    assert_eq!((second.memory, second.load_stall, second.store_stall), (11, 3, 1));
    let mut o = observer::<Lead>();
    let (first, second) = (FIG_6.play(&mut o, 0..16), FIG_6.play(&mut o, 16..31));
    assert_eq!((first.memory, second.memory), (8 + 4, 1 + 5));
    let mut o = observer::<Miss>();
    let (first, second) = (FIG_6.play(&mut o, 0..16), FIG_6.play(&mut o, 16..31));
    assert_eq!((first.memory, second.memory), (8 + 4, 4 + 8));
}

#[test]
fn halted_and_empty_cycles_are_not_time() {
    let mut o = observer::<Crit>();
    let load = Outstanding { cache: L1Cache::None, entry: 3 };
    for event in [
        passed(CycleKind::Empty, 7),
        Event::Requested(load),
        Event::Requested(load),
        passed(LoadStall, 10),
        passed(CycleKind::Halted, 100),
        Event::Answered(load),
        passed(LoadStall, 5),
        Event::Answered(load),
        passed(CycleKind::StoreWait, 2),
    ] {
        o.event(0, event);
    }
    // Two requests of one instruction are one load until the second is answered.
    assert_eq!(o.take(), Totals { cycles: 17, memory: 15, load_stall: 15, store_stall: 2 });
}

#[test]
fn a_stall_beside_an_arithmetic_hazard_is_crisps_alone() {
    let cycles = [passed(LoadStall, 4), passed(CycleKind::MixedStall, 6), passed(Compute, 10)];
    let (mut crisp, mut stall) = (observer::<Crisp>(), observer::<Stall>());
    for event in cycles {
        crisp.event(0, event);
        stall.event(0, event);
    }
    assert_eq!(crisp.take(), Totals { cycles: 20, memory: 10, load_stall: 10, store_stall: 0 });
    assert_eq!(stall.take().memory, 4);
}

#[test]
fn instruction_misses_are_none_of_miss() {
    let mut o = observer::<Miss>();
    for (cache, cycles) in [(L1Cache::Instruction, 20), (L1Cache::Data, 20)] {
        o.event(0, Event::Requested(Outstanding { cache, entry: 0 }));
        o.event(0, passed(LoadStall, cycles));
    }
    assert_eq!(o.take().memory, LATENCY);
}
