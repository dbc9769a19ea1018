//! The memory side allocates nothing in its loop: a counting allocator watches windows under full load.

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use warpwatt_machine::memory::{AtomicMemory, MemorySide};
use warpwatt_machine::message::{
    AtomicLane, AtomicPayload, AtomicResult, Inbox, Outbox, ReplyKind, Request, RequestKind, Traffic,
};
use warpwatt_machine::spec::Spec;
use warpwatt_simt::effect::{AtomicOp, AtomicType};

struct Nothing;

impl AtomicMemory for Nothing {
    fn atomic(&mut self, _: u8, payload: &AtomicPayload) -> AtomicResult {
        AtomicResult { count: payload.count, lanes: [0; 8], old: [0; 8] }
    }
}

/// The only test of this file: another one would allocate on its own thread.
#[test]
fn windows_under_load_allocate_nothing() {
    let spec = Spec::preset("gtx480").unwrap();
    let period = warpwatt_machine::clock::period_of(spec.noc_mhz);
    let window = period * u64::from(spec.noc_latency_cycles);
    let mut memory = MemorySide::new(&spec);
    // The boxes belong to the caller and keep their room; they are made large enough for a window.
    let mut outboxes: Vec<Outbox> =
        (0..spec.sms).map(|_| Outbox { requests: Vec::with_capacity(64), atomics: Vec::with_capacity(64) }).collect();
    let mut inboxes: Vec<Inbox> =
        (0..spec.sms).map(|_| Inbox { replies: Vec::with_capacity(64), atomics: Vec::with_capacity(64) }).collect();
    let mut credits = vec![spec.noc_buffer_flits; spec.sms as usize];
    let (mut random, mut replies) = (1u64, 0);
    let mut before = 0;
    for n in 0..4000 {
        // Places for atomics are made as they are first needed.
        if n == 1000 {
            before = allocations();
        }
        let now = n * window;
        for (sm, outbox) in outboxes.iter_mut().enumerate() {
            for cycle in 0..8 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (kind, sectors, flits) = match random >> 61 {
                    0 => (RequestKind::Atomic, 1, 1),
                    1..=3 => (RequestKind::Write, 0xf, 4),
                    _ => (RequestKind::Read, 0xf, 1),
                };
                if credits[sm] < flits {
                    break;
                }
                credits[sm] -= flits;
                let line = (random >> 40 & 0xffff) * 128;
                if kind == RequestKind::Atomic {
                    let lanes = [AtomicLane { lane: 0, address: line, operand: 1, swap: 0 }; 8];
                    outbox.atomics.push(AtomicPayload { op: AtomicOp::Add, ty: AtomicType::U32, count: 8, lanes });
                }
                outbox.requests.push(Request {
                    time: now + window + cycle * period,
                    sm: sm as u16,
                    kind,
                    traffic: Traffic::Data,
                    sectors,
                    flits: flits as u8,
                    tag: 0,
                    line,
                    atomic: outbox.atomics.len().saturating_sub(1) as u32,
                });
            }
        }
        memory.take_requests(&mut outboxes);
        memory.run(now, now + window, &mut inboxes, &mut Nothing);
        for (inbox, credits) in inboxes.iter_mut().zip(&mut credits) {
            let back = inbox.replies.iter().filter(|reply| reply.kind == ReplyKind::Credit);
            *credits += back.map(|reply| reply.tag).sum::<u32>();
            replies += inbox.replies.len();
            inbox.replies.clear();
            inbox.atomics.clear();
        }
    }
    assert_eq!(allocations() - before, 0);
    assert!(replies > 50_000, "the machine was busy: {replies} replies");
}
