//! Speed of the memory side under full load: streaming reads, random reads, atomics, a mix with writes, and idle windows.
//!
//! Each SM offers a packet whenever it has credits. One iteration simulates 1000 windows of 8 crossbar cycles; the
//! throughput that is printed counts crossbar cycles, and the counts of L2 accesses per cycle are printed first.

use divan::{Bencher, counter::ItemsCount};
use warpwatt_machine::memory::{AtomicMemory, MemorySide};
use warpwatt_machine::message::{
    AtomicLane, AtomicPayload, AtomicResult, Femtoseconds, Inbox, Outbox, ReplyKind, Request, RequestKind, Traffic,
};
use warpwatt_machine::spec::{Configuration, Spec};
use warpwatt_simt::effect::{AtomicOp, AtomicType};

const WINDOWS: u64 = 1000;

/// Memory that forgets.
struct Nothing;

impl AtomicMemory for Nothing {
    fn atomic(&mut self, _: u8, payload: &AtomicPayload) -> AtomicResult {
        AtomicResult { count: payload.count, lanes: [0; 8], old: [0; 8] }
    }
}

#[derive(Clone, Copy)]
enum Load {
    /// Reads of consecutive lines that miss.
    Stream,
    /// Reads of consecutive lines that hit.
    Resident,
    /// Reads of single sectors anywhere.
    Random,
    /// Half reads, half writes of lines anywhere.
    Mixed,
    /// Atomics on a small table.
    Atomics,
    /// Nothing.
    Idle,
}

struct Bench {
    memory: MemorySide,
    load: Load,
    now: Femtoseconds,
    period: Femtoseconds,
    latency: u64,
    credits: Vec<u32>,
    outboxes: Vec<Outbox>,
    inboxes: Vec<Inbox>,
    sent: u64,
    random: u64,
    requests: u64,
}

impl Bench {
    fn new(load: Load) -> Self {
        let spec: Spec = Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).expect("the preset is sound");
        let sms = spec.sms as usize;
        Bench {
            memory: MemorySide::new(&spec),
            load,
            now: 0,
            period: warpwatt_machine::clock::period_of(spec.noc_mhz),
            latency: spec.noc_latency_cycles.into(),
            credits: vec![spec.noc_buffer_flits; sms],
            outboxes: vec![Outbox::default(); sms],
            inboxes: vec![Inbox::default(); sms],
            sent: 0,
            random: 1,
            requests: 0,
        }
    }

    fn request(&mut self, sm: usize) -> (RequestKind, u64, u8, u32) {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = self.random >> 33;
        self.sent += 1;
        match self.load {
            Load::Stream => (RequestKind::Read, self.sent * 128, 0xf, 1),
            Load::Resident => (RequestKind::Read, self.sent % 4096 * 128, 0xf, 1),
            Load::Random => (RequestKind::Read, (random & 0xf_ffff) * 128, 1 << (sm & 3), 1),
            Load::Mixed if random & 1 == 0 => (RequestKind::Write, (random & 0xf_ffff) * 128, 0xf, 4),
            Load::Mixed => (RequestKind::Read, (random & 0xf_ffff) * 128, 0xf, 1),
            Load::Atomics => (RequestKind::Atomic, (random & 0xff) * 128, 1, 1),
            Load::Idle => (RequestKind::Read, 0, 1, u32::MAX),
        }
    }

    fn window(&mut self) {
        for sm in 0..self.outboxes.len() {
            let mut cycle = 0;
            while cycle < self.latency && self.credits[sm] >= 4 {
                let (kind, line, sectors, flits) = self.request(sm);
                if flits > self.credits[sm] {
                    break;
                }
                self.credits[sm] -= flits;
                cycle += u64::from(flits);
                let outbox = &mut self.outboxes[sm];
                if kind == RequestKind::Atomic {
                    let lanes = [AtomicLane { lane: 0, address: line, operand: 1, swap: 0 }; 8];
                    outbox.atomics.push(AtomicPayload { op: AtomicOp::Add, ty: AtomicType::U32, count: 8, lanes });
                }
                outbox.requests.push(Request {
                    time: self.now + (cycle + self.latency) * self.period,
                    sm: sm as u16,
                    kind,
                    traffic: Traffic::Data,
                    sectors,
                    flits: flits as u8,
                    tag: 0,
                    line,
                    atomic: outbox.atomics.len().saturating_sub(1) as u32,
                });
                self.requests += 1;
            }
        }
        let to = self.now + self.latency * self.period;
        self.memory.take_requests(&mut self.outboxes);
        self.memory.run(self.now, to, &mut self.inboxes, &mut Nothing);
        self.now = to;
        for (inbox, credits) in self.inboxes.iter_mut().zip(&mut self.credits) {
            let back = inbox.replies.iter().filter(|reply| reply.kind == ReplyKind::Credit);
            *credits += back.map(|reply| reply.tag).sum::<u32>();
            inbox.replies.clear();
            inbox.atomics.clear();
        }
    }

    fn windows(&mut self) {
        (0..WINDOWS).for_each(|_| self.window());
    }
}

fn bench(bencher: Bencher, name: &str, load: Load) {
    let mut bench = Bench::new(load);
    bench.windows();
    bench.memory.take_tally();
    bench.requests = 0;
    let start = std::time::Instant::now();
    bench.windows();
    let elapsed = start.elapsed().as_nanos() as f64;
    let (counters, _) = bench.memory.take_tally();
    let cycles = (WINDOWS * bench.latency) as f64;
    println!(
        "{name}: {:.0} ns/cycle, {:.0} ns/request, {:.0} ns/L2 access; {:.2} L2 accesses/cycle, {:.0} % missed, DRAM bus {:.0} % busy",
        elapsed / cycles,
        elapsed / bench.requests.max(1) as f64,
        elapsed / counters.l2_accesses.max(1) as f64,
        counters.l2_accesses as f64 / cycles,
        100.0 * counters.l2_misses as f64 / counters.l2_accesses.max(1) as f64,
        100.0 * counters.dram_busy_clocks as f64 / counters.dram_clocks.max(1) as f64,
    );
    bencher.counter(ItemsCount::new(WINDOWS * bench.latency)).bench_local(|| bench.windows());
}

#[divan::bench]
fn stream(bencher: Bencher) {
    bench(bencher, "stream", Load::Stream);
}

#[divan::bench]
fn resident(bencher: Bencher) {
    bench(bencher, "resident", Load::Resident);
}

#[divan::bench]
fn random(bencher: Bencher) {
    bench(bencher, "random", Load::Random);
}

#[divan::bench]
fn mixed(bencher: Bencher) {
    bench(bencher, "mixed", Load::Mixed);
}

#[divan::bench]
fn atomics(bencher: Bencher) {
    bench(bencher, "atomics", Load::Atomics);
}

#[divan::bench]
fn idle(bencher: Bencher) {
    bench(bencher, "idle", Load::Idle);
}

fn main() {
    divan::main();
}
