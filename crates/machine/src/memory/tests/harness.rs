//! SMs as a test wants them: they send what is queued as their credits allow, one packet at a time.

use super::super::*;
use crate::clock::period_of;
use crate::message::{AtomicLane, AtomicPayload, AtomicResult, Reply, ReplyKind, Request, Traffic};
use crate::spec::Configuration;
use std::collections::{BTreeMap, VecDeque};
use warpwatt_simt::effect::{AtomicOp, AtomicType};

/// The preset that the tests use.
pub fn gtx480() -> Spec {
    Configuration::preset("gtx480").and_then(|gpu| gpu.finish()).unwrap()
}

/// Memory that adds, and keeps the order.
#[derive(Default)]
pub struct Adder {
    pub words: BTreeMap<u64, u64>,
}

impl AtomicMemory for Adder {
    fn atomic(&mut self, _: u8, payload: &AtomicPayload) -> AtomicResult {
        let mut result = AtomicResult { count: payload.count, lanes: [0; 8], old: [0; 8] };
        for i in 0..usize::from(payload.count) {
            let lane = payload.lanes[i];
            let word = self.words.entry(lane.address).or_default();
            result.lanes[i] = lane.lane;
            result.old[i] = *word;
            *word += lane.operand;
        }
        result
    }
}

/// A request to be sent not before a time.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub not_before: Femtoseconds,
    pub sm: usize,
    pub kind: RequestKind,
    pub line: u64,
    pub sectors: u8,
    pub tag: u32,
}

/// A reply with its receiver and, for an atomic, the old value of its first lane.
pub type Got = (usize, Reply, u64);

pub struct Harness {
    pub memory: MemorySide,
    pub adder: Adder,
    pub now: Femtoseconds,
    pub window: Femtoseconds,
    pub got: Vec<Got>,
    pub flits_sent: u64,
    pub flits_back: u64,
    noc_period: Femtoseconds,
    noc_latency: u64,
    flit_bytes: u32,
    wishes: Vec<VecDeque<Wish>>,
    credits: Vec<u32>,
    free_at: Vec<Femtoseconds>,
    outboxes: Vec<Outbox>,
    inboxes: Vec<Inbox>,
    arrivals: Vec<VecDeque<Reply>>,
}

impl Harness {
    pub fn new(spec: &Spec) -> Self {
        let sms = spec.sms as usize;
        Harness {
            memory: MemorySide::new(spec),
            adder: Adder::default(),
            now: 0,
            window: period_of(spec.noc_max_mhz) * u64::from(spec.noc_latency_cycles),
            got: Vec::new(),
            flits_sent: 0,
            flits_back: 0,
            noc_period: period_of(spec.noc_mhz),
            noc_latency: spec.noc_latency_cycles.into(),
            flit_bytes: spec.noc_flit_bytes,
            wishes: vec![VecDeque::new(); sms],
            credits: vec![spec.noc_buffer_flits; sms],
            free_at: vec![0; sms],
            outboxes: vec![Outbox::default(); sms],
            inboxes: vec![Inbox::default(); sms],
            arrivals: vec![VecDeque::new(); sms],
        }
    }

    pub fn wish(&mut self, wish: Wish) {
        self.wishes[wish.sm].push_back(wish);
    }

    pub fn read(&mut self, sm: usize, line: u64, sectors: u8, tag: u32) {
        self.wish(Wish { not_before: self.now, sm, kind: RequestKind::Read, line, sectors, tag });
    }

    pub fn wishes_left(&self, sm: usize) -> usize {
        self.wishes[sm].len()
    }

    fn flits(&self, wish: &Wish) -> u32 {
        let bytes = match wish.kind {
            RequestKind::Read => 8,
            _ => 8 + 32 * wish.sectors.count_ones(),
        };
        bytes.div_ceil(self.flit_bytes)
    }

    /// One window of the SMs: they take credits that have arrived and send.
    fn send(&mut self) {
        let end = self.now + self.window;
        for sm in 0..self.wishes.len() {
            while let Some(&wish) = self.wishes[sm].front() {
                let flits = self.flits(&wish);
                let mut time = wish.not_before.max(self.free_at[sm]).max(self.now);
                // Wait for credits, in the order of their arrival.
                while self.credits[sm] < flits {
                    match self.arrivals[sm].front() {
                        Some(credit) if credit.time < end => {
                            time = time.max(credit.time);
                            self.credits[sm] += credit.tag;
                            self.arrivals[sm].pop_front();
                        }
                        _ => break,
                    }
                }
                if self.credits[sm] < flits || time >= end {
                    break;
                }
                self.credits[sm] -= flits;
                self.flits_sent += u64::from(flits);
                self.free_at[sm] = time + u64::from(flits) * self.noc_period;
                self.wishes[sm].pop_front();
                let outbox = &mut self.outboxes[sm];
                let mut atomic = 0;
                if wish.kind == RequestKind::Atomic {
                    atomic = outbox.atomics.len() as u32;
                    let address = wish.line + u64::from(wish.sectors.trailing_zeros()) * 32;
                    let mut lanes = [AtomicLane::default(); 8];
                    lanes[0] = AtomicLane { lane: (wish.tag % 32) as u8, address, operand: 1, swap: 0 };
                    outbox.atomics.push(AtomicPayload { op: AtomicOp::Add, ty: AtomicType::U64, count: 1, lanes });
                }
                outbox.requests.push(Request {
                    time: time + self.noc_latency * self.noc_period,
                    sm: sm as u16,
                    kind: wish.kind,
                    traffic: Traffic::Data,
                    sectors: wish.sectors,
                    flits: flits as u8,
                    tag: wish.tag,
                    line: wish.line,
                    atomic,
                });
            }
        }
    }

    /// One window: SMs, then the memory side.
    pub fn step(&mut self) {
        self.send();
        let (from, to) = (self.now, self.now + self.window);
        self.memory.take_requests(&mut self.outboxes);
        self.memory.run(from, to, &mut self.inboxes, &mut self.adder);
        self.now = to;
        for (sm, inbox) in self.inboxes.iter_mut().enumerate() {
            let mut last = self.arrivals[sm].back().map_or(0, |reply| reply.time);
            for reply in &inbox.replies {
                assert!(
                    reply.time >= to && reply.time >= last,
                    "messages come in order and not before the window's end"
                );
                last = reply.time;
                if reply.kind == ReplyKind::Credit {
                    self.flits_back += u64::from(reply.tag);
                    self.arrivals[sm].push_back(*reply);
                } else {
                    let old =
                        if reply.kind == ReplyKind::Atomic { inbox.atomics[reply.atomic as usize].old[0] } else { 0 };
                    self.got.push((sm, *reply, old));
                }
            }
            inbox.replies.clear();
            inbox.atomics.clear();
        }
        // Credits that have come by now are the SMs'.
        for sm in 0..self.arrivals.len() {
            while self.arrivals[sm].front().is_some_and(|credit| credit.time < self.now) {
                let credit = self.arrivals[sm].pop_front().unwrap();
                self.credits[sm] += credit.tag;
            }
        }
    }

    /// Windows until every wish is sent and nothing is under way.
    pub fn finish(&mut self) {
        while !self.memory.is_idle() || self.wishes.iter().any(|w| !w.is_empty()) {
            self.step();
            assert!(self.now < 1 << 50, "livelock");
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.memory.tally().counters
    }
}
