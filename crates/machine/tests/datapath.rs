//! Components of the pipeline that are tuned down: half of the peak throughput, and nothing lost.

mod common;

use common::{PROGRAMS, kernel, preset, record, threads};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use warpwatt_machine::activity::{COMPONENT_NAMES, COMPONENTS};
use warpwatt_machine::hooks::*;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::device::{Arg, Device};
use warpwatt_simt::functional::FunctionalDevice;

/// Most that an SM decoded, issued for SPs, took into SFUs, issued for LDST and let into EX_LDST in one interval.
type Peak = Arc<Mutex<[u64; 5]>>;

const INTERVAL: u64 = 256;

/// Some components at half their width from the beginning.
#[derive(Clone, Debug)]
struct Fixed {
    down: Vec<usize>,
    peak: Peak,
}

impl Hook for Fixed {}

impl Fixed {
    fn on(&self, groups: &[u32; COMPONENTS]) -> [u32; COMPONENTS] {
        std::array::from_fn(|c| if self.down.contains(&c) { groups[c].div_ceil(2) } else { groups[c] })
    }
}

impl DatapathHook for Fixed {
    fn interval(&self) -> u64 {
        INTERVAL
    }
    fn initial(&self, groups: &[u32; COMPONENTS]) -> [u32; COMPONENTS] {
        self.on(groups)
    }
    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS] {
        assert_eq!(query.on, self.on(&query.groups));
        if query.cycles == INTERVAL {
            // What issues into the SFUs' collectors is more than what they take: eight cycles an instruction.
            let ([sp, _, mem], sfu) = (query.issued, query.busy[12] / 8);
            let seen = [query.decoded.iter().sum(), sp, sfu, mem, query.entered];
            self.peak.lock().unwrap().iter_mut().zip(seen).for_each(|(peak, seen)| *peak = seen.max(*peak));
        }
        self.on(&query.groups)
    }
}

impl Policy for Fixed {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { datapath: Some(Box::new(self.clone())), ..SmHooks::default() }
    }
}

fn drive(d: &mut dyn Device, text: &str, ctas: u32, block: u32, n: u64) -> Vec<u8> {
    d.load_module("test.ptx", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let words = (ctas * block) as usize;
    let data: Vec<u8> = (0..words as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let (a, b) = (d.alloc(data.len() as u64).unwrap(), d.alloc(data.len() as u64).unwrap());
    d.write(a, &data).unwrap();
    d.launch("k", [ctas, 1, 1], [block, 1, 1], 0, &[Arg::Ptr(a), Arg::Ptr(b), Arg::U64(n)]).unwrap();
    let mut bytes = vec![0; data.len()];
    d.read(b, &mut bytes).unwrap();
    bytes
}

/// The same instructions again and again, on independent registers.
fn stream(instruction: impl Fn(usize) -> String) -> String {
    let body: String = (0..96).map(|i| instruction(i % 24 + 8) + "\n").collect();
    kernel(
        ".shared .align 4 .b8 s[4096];",
        &format!(
            "    mov.u32 %r1, 0; mov.u32 %r2, s;\nL:\n{body}    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 12; @%p1 bra L;"
        ),
    )
}

/// Instructions per interval at the peak; `at`: index into [`Peak`].
fn peak(spec: &Spec, text: &str, down: &[usize], at: usize) -> u64 {
    let policy = Fixed { down: down.to_vec(), peak: Peak::default() };
    let mut gpu = Gpu::with_policy(spec.clone(), threads(1), &policy).unwrap();
    drive(&mut gpu, text, spec.sms * 2, 768, 0);
    let peak = *policy.peak.lock().unwrap();
    peak[at]
}

#[test]
fn a_component_that_is_tuned_down_has_exactly_half_of_its_peak_throughput() {
    // Banks enough that no operand waits, and two SPs, which the front end can always fill.
    let two = |more: &[(&str, &str)]| {
        preset("kepler-big", &[&[("sms", "1"), ("register_banks", "64"), ("sp_units", "2")], more].concat())
    };
    let big = two(&[]);
    let wide = |more: &[(&str, &str)]| {
        let all =
            [("sms", "1"), ("sp_units", "8"), ("collectors_sp", "24"), ("collectors_sfu", "8"), ("result_buses", "8")];
        preset("kepler-big", &[&all[..], more].concat())
    };
    // Six collectors have two ports; of twice as many half would still do for both SPs.
    let few = two(&[("collectors_sp", "6")]);
    // So would half of twelve with six to a port.
    let ports = two(&[("sp_collectors_per_port", "6")]);
    // More behind the front end than its 4 instructions a cycle.
    let (front, fetch) = (wide(&[("fetch_units", "4")]), wide(&[("schedulers", "8")]));
    let add = stream(|r| format!("    add.u32 %r{r}, %r{r}, 1;"));
    let sine = stream(|r| format!("    sin.approx.f32 %f{r}, %f{r};"));
    let shared = stream(|r| format!("    ld.shared.u32 %r{r}, [%r2];"));
    let cases = [
        ("IFID", &fetch, &add, 0, 4),
        ("SCH", &front, &add, 1, 4),
        ("IDOC_SP", &big, &add, 1, 2),
        ("OC_SP", &few, &add, 1, 2),
        ("OC_SP", &ports, &add, 1, 2),
        ("OCEX_SP", &big, &add, 1, 2),
        ("EX_SP", &big, &add, 1, 2),
        ("IDOC_LDST", &big, &shared, 3, 2),
        ("OC_LDST", &big, &shared, 4, 2),
        ("OCEX_LDST", &big, &shared, 4, 2),
        ("EX_LDST", &big, &shared, 4, 2),
    ];
    for (name, spec, text, at, width) in cases {
        let component = COMPONENT_NAMES.iter().position(|c| *c == name).unwrap();
        let (full, half) = (peak(spec, text, &[], at), peak(spec, text, &[component], at));
        // At full width warps that loop leave a few cycles unused; half of it they fill. An instruction more or less may
        // fall into an interval.
        let most = width * INTERVAL;
        assert!((most * 95 / 100..=most + 2).contains(&full), "{name}: {full} of {most}");
        assert!(half.abs_diff(width * INTERVAL / 2) <= 2, "{name}: {half} of {}", width * INTERVAL / 2);
    }
    // Half of the big core's SP collectors are a small core's, three to a port: two instructions a cycle (§2.1).
    let (full, half) = (peak(&big, &add, &[], 1), peak(&big, &add, &[5], 1));
    assert!(half * 100 >= full * 95, "{half} of {full}");
    // An SFU takes an instruction every eight cycles.
    let (full, half) = (peak(&big, &sine, &[], 2), peak(&big, &sine, &[12], 2));
    assert!(full.abs_diff(2 * INTERVAL / 8) <= 1 && half.abs_diff(INTERVAL / 8) <= 1, "EX_SFU: {full}, {half}");
}

#[test]
fn the_register_file_reads_half_as_much_when_all_collectors_are_tuned_down() {
    // Four banks, two of them read for an instruction and one written: 4/3 instructions a cycle; with two reads a cycle, 1.
    let all =
        [("sms", "1"), ("sp_units", "4"), ("register_banks", "4"), ("collectors_sp", "32"), ("result_buses", "4")];
    let spec = preset("kepler-big", &all);
    let text = stream(|r| format!("    mad.lo.u32 %r{r}, %r{r}, %r{}, %r{};", (r + 1) % 24 + 8, (r + 2) % 24 + 8));
    let time = |down: &[usize]| peak(&spec, &text, down, 1) as f64;
    let (full, sp, all) = (time(&[]), time(&[5]), time(&[5, 6, 7]));
    // The collectors of the SPs alone leave the banks as they are; an interval may begin with a burst.
    assert!(full > 1.2 * INTERVAL as f64 && sp > 1.15 * INTERVAL as f64, "{full} {sp} {all}");
    assert!((0.9..1.06).contains(&(all / INTERVAL as f64)), "{full} {sp} {all}");
}

/// Groups at random in random intervals.
#[derive(Clone, Debug)]
struct Random {
    seed: u64,
    interval: u64,
    delays: GatingDelays,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }
}

impl Hook for Random {}

impl DatapathHook for Random {
    fn interval(&self) -> u64 {
        1 + (self.seed >> 20) % self.interval
    }
    fn delays(&self) -> GatingDelays {
        self.delays
    }
    fn decide(&mut self, query: &DatapathQuery) -> [u32; COMPONENTS] {
        query.groups.map(|groups| 1 + (self.next() >> 33) as u32 % groups)
    }
}

impl Policy for Random {
    fn sm(&self, _: &Spec, sm: u32) -> SmHooks {
        let own = Random { seed: self.seed.wrapping_add(u64::from(sm) << 32) | 1, ..self.clone() };
        SmHooks { datapath: Some(Box::new(own)), ..SmHooks::default() }
    }
}

/// Straight lines, loops, divergent branches, shared and global memory, SFU instructions, barriers between.
fn steps() -> impl Strategy<Value = String> {
    let r = || 8..16usize;
    let alu = (r(), r(), r(), 0..5usize).prop_map(|(d, a, b, op)| {
        let op = ["add.u32", "xor.b32", "mul.lo.u32", "min.s32", "sub.u32"][op];
        format!("    {op} %r{d}, %r{a}, %r{b};\n")
    });
    let sfu = (r(), r()).prop_map(|(d, a)| {
        format!("    and.b32 %r40, %r{a}, 1023; cvt.rn.f32.u32 %f1, %r40; sqrt.approx.f32 %f2, %f1; cvt.rzi.u32.f32 %r{d}, %f2;\n")
    });
    // Each thread has its own word of shared memory and of the output.
    let shared = (r(), r()).prop_map(|(d, a)| format!("    st.shared.u32 [%r7], %r{a}; ld.shared.u32 %r{d}, [%r7];\n"));
    let global =
        (r(), r()).prop_map(|(d, a)| format!("    st.global.u32 [%rd2], %r{a}; ld.global.u32 %r{d}, [%rd2];\n"));
    let input = r().prop_map(|d| format!("    ld.global.u32 %r{d}, [%rd1];\n"));
    let leaf = prop_oneof![4 => alu, 1 => sfu, 1 => shared, 1 => global, 1 => input];
    prop::collection::vec((leaf, 0..8u32), 8..60).prop_map(|steps| {
        let body = steps.iter().enumerate().map(|(i, (step, branch))| match branch {
            0 => {
                format!("    and.b32 %r41, %t, {}; setp.ne.u32 %p2, %r41, 0; @%p2 bra J{i};\n{step}J{i}:\n", i % 7 + 1)
            }
            1 => format!("{step}    bar.sync 0;\n"),
            _ => step.clone(),
        });
        body.collect()
    })
}

fn random_kernel(body: &str) -> String {
    let start = "    mul.wide.u32 %rd3, %g, 4; add.u64 %rd1, %a, %rd3; add.u64 %rd2, %b, %rd3;
    ld.global.u32 %r8, [%rd1]; mov.u32 %r9, %t; mov.u32 %r10, %g; mov.u32 %r11, %cta; mov.u32 %r12, 77;
    mov.u32 %r13, 3; mov.u32 %r14, %w; mov.u32 %r15, 123456; mov.u32 %r6, s; shl.b32 %r5, %t, 2; add.u32 %r7, %r6, %r5;
    mov.u32 %r1, 0;\nL:\n";
    let end = "    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L;
    xor.b32 %r8, %r8, %r9; xor.b32 %r10, %r10, %r11; add.u32 %r8, %r8, %r12; xor.b32 %r8, %r8, %r10;
    st.global.u32 [%rd2], %r8;";
    kernel(".shared .align 4 .b8 s[4096];", &format!("{start}{body}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_under_any_schedule(
        body in steps(),
        seed in 1u64..u64::MAX,
        interval in 1u64..400,
        break_even in 0u64..60,
        wake_up in 0u64..30,
    ) {
        let text = random_kernel(&body);
        let spec = preset("kepler-big", &[("sms", "2")]);
        let policy = Random { seed, interval, delays: GatingDelays { break_even, wake_up } };
        let expected = drive(&mut FunctionalDevice::default(), &text, 7, 192, 0);
        let mut records = Vec::new();
        for (n, no_skip) in [(1, false), (2, true)] {
            let mut gpu = Gpu::with_policy(spec.clone(), Options { no_skip, ..threads(n) }, &policy).unwrap();
            prop_assert!(drive(&mut gpu, &text, 7, 192, 0) == expected, "results differ");
            let stats = gpu.stats();
            let groups = spec.component_groups();
            for sm in stats.samples.iter().flat_map(|s| &s.sms) {
                for c in 0..COMPONENTS {
                    let all = sm.component_on[c] + sm.component_gated[c] + sm.component_clock_gated[c];
                    prop_assert_eq!(all, u64::from(groups[c]) * sm.cycles);
                }
                for lanes in [&sm.int, &sm.fp] {
                    prop_assert_eq!(lanes.cycles.iter().sum::<u64>(), u64::from(spec.lanes().0) * sm.cycles);
                }
            }
            records.push(record(&stats));
        }
        prop_assert!(records[0] == records[1], "skipping or threads matter");
    }
}

#[test]
fn all_programs_end_right_under_random_schedules() {
    let spec = preset("kepler-big", &[]);
    for seed in [3, 1 << 40, 987_654_321_987] {
        let policy = Random { seed, interval: 90, delays: GatingDelays { break_even: 19, wake_up: 9 } };
        for program in PROGRAMS.iter().filter(|p| p.ordered) {
            let (output, ..) = program.run(&spec, threads(1), Some(&policy));
            assert!(output == program.expected(), "{} with seed {seed}", program.kernel);
        }
    }
}
