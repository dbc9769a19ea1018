//! One tick of each clock domain: DRAM channels, L2 slices, crossbar; and the wires to the SMs.

use super::crossbar::Head;
use super::layout::Layout;
use super::packet::{Answer, AtomicMemory, Atomics};
use super::slice::{Burst, Fill, Slice, Surroundings};
use super::timing::Command;
use super::{MemoryState, NEVER, Ports, bit, ones};
use crate::activity::MemEvent;
use crate::message::{Femtoseconds, Inbox, Reply, ReplyKind, Traffic};

impl MemoryState {
    /// One DRAM command clock of all channels.
    pub(super) fn dram_cycle<const SKIP: bool>(&mut self, layout: &Layout, now: Femtoseconds) {
        let subs = layout.sub_partitions as usize;
        for (number, channel) in self.channels.iter_mut().enumerate() {
            if SKIP && self.channel_wakes[number] > now {
                continue;
            }
            let slices = &mut self.slices[number * subs..][..subs];
            let turn = channel.turn;
            for i in 0..subs {
                let sub = (turn + i) & (subs - 1);
                let slice = &mut slices[sub];
                let Some(access) = slice.to_dram.front().filter(|access| access.ready <= now) else { continue };
                if !channel.has_room() {
                    break;
                }
                let at = layout.map.coordinates(access.local, sub as u32);
                channel.admit(at, *access);
                channel.turn = sub + 1;
                slice.to_dram.pop();
                if slice.blocked {
                    slice.blocked = false;
                    self.slice_wakes[number * subs + sub] = now;
                }
            }
            let arrivals = slices.iter().filter_map(|slice| slice.to_dram.front());
            let arrival = arrivals.map(|access| access.ready).min().unwrap_or(NEVER);
            let returning: usize = slices.iter().map(|slice| slice.from_dram.len()).sum();
            let parts = layout.burst_parts as usize;
            let reads = returning + parts <= layout.return_depth.max(parts);
            let (issued, next) = channel.tick(&layout.timing, self.dram.cycle(), reads);
            let mut wake = if next == u64::MAX { NEVER } else { self.dram.time_of(next) };
            // A full queue takes in the next access after a column command, which is this channel's own event.
            if channel.has_room() {
                wake = wake.min(arrival);
            }
            if !reads {
                wake = now;
            }
            self.channel_wakes[number] = wake;
            let Some(issued) = issued else { continue };
            match (issued.command, issued.access) {
                (Command::Activate, _) => {
                    self.tally.counters.dram_activations += 1;
                    self.tally.event(MemEvent::Activate, 1);
                }
                (_, Some(access)) => {
                    let tally = &mut self.tally;
                    let sectors = u64::from(access.burst.parts.count_ones());
                    tally.counters.dram_row_hits += u64::from(!access.opened);
                    tally.counters.dram_busy_clocks += layout.timing.burst;
                    if access.burst.write {
                        tally.counters.dram_writes += sectors;
                        tally.event(MemEvent::DramWrite32, sectors);
                    } else {
                        tally.counters.dram_reads += sectors;
                        tally.event(MemEvent::DramRead32, sectors);
                        // The sub-partition is the low bits of the bank.
                        let sub = issued.bank as usize & (subs - 1);
                        let ready = now + layout.timing.read_latency * self.dram.period();
                        let slice = &mut slices[sub];
                        fill(slice, &access.burst, ready);
                        let wake = &mut self.slice_wakes[number * subs + sub];
                        *wake = (*wake).min(ready);
                    }
                }
                _ => {}
            }
        }
    }

    /// One L2 cycle of all slices.
    pub(super) fn l2_cycle<M: AtomicMemory, const SKIP: bool>(
        &mut self,
        layout: &Layout,
        now: Femtoseconds,
        memory: &mut M,
    ) {
        let mut surroundings = Surroundings {
            now,
            period: self.l2.period(),
            layout,
            atomics: &mut self.atomics,
            tally: &mut self.tally,
            per_sm: &mut self.per_sm,
            memory,
        };
        // Which slices have something to do cannot be foreseen, how many can.
        let due = self.slice_wakes.iter().rev().fold(0, |due, &wake| due << 1 | Ports::from(!SKIP || wake <= now));
        for number in ones(due) {
            let number = number as usize;
            let slice = &mut self.slices[number];
            self.slice_wakes[number] = slice.cycle(&mut surroundings);
            if let Some(access) = slice.to_dram.front() {
                let wake = &mut self.channel_wakes[number / layout.sub_partitions as usize];
                *wake = (*wake).min(access.ready);
            }
            if let Some(answer) = slice.replies.front() {
                if !self.replies.has_head(number as u32) {
                    self.replies.offer(number as u32, head_of(layout, answer));
                }
            }
        }
    }

    /// One cycle of both networks.
    pub(super) fn noc_cycle(&mut self, layout: &Layout, now: Femtoseconds, inboxes: &mut [Inbox]) {
        for sm in ones(self.travelling) {
            if let Some(packet) = self.wires[sm as usize].front().filter(|packet| packet.ready <= now) {
                self.requests.offer(sm, Head { output: packet.slice.into(), flits: packet.flits });
                self.travelling &= !bit(sm);
            }
        }
        let arrival = now + layout.noc_latency * self.noc.period();
        let mut out = Outgoing { last: &mut self.last_message, inboxes, arrival };

        let mut context = (&mut self.slices, &mut self.slice_wakes, &mut self.atomics, &mut out);
        let flits = self.replies.cycle(
            &mut context,
            |_, _| true,
            |(slices, wakes, atomics, out), number, sm| {
                let slice = &mut slices[number as usize];
                if slice.waits_for_replies() {
                    slice.blocked = false;
                    wakes[number as usize] = now;
                }
                let answer = slice.replies.pop()?;
                out.answer(sm as usize, &answer, atomics);
                slice.replies.front().map(|answer| head_of(layout, answer))
            },
        );
        self.tally.counters.flits_to_sm += flits;
        self.tally.event(MemEvent::Flit, flits);

        let period = self.l2.period();
        let mut context = (&mut self.slices, &mut self.slice_wakes, &mut self.wires, &mut self.travelling, &mut out);
        let flits = self.requests.cycle(
            &mut context,
            |(slices, ..), number| slices[number as usize].has_room(layout),
            |(slices, wakes, wires, travelling, out), sm, number| {
                let wire = &mut wires[sm as usize];
                let mut packet = wire.pop()?;
                packet.ready = now + layout.rop_latency * period;
                out.credit(sm as usize, packet.flits);
                let slice = &mut slices[number as usize];
                let wake = &mut wakes[number as usize];
                if !slice.blocked {
                    *wake = (*wake).min(packet.ready);
                }
                slice.input.push(packet);
                let next = wire.front()?;
                if next.ready > now {
                    **travelling |= bit(sm);
                    return None;
                }
                Some(Head { output: next.slice.into(), flits: next.flits })
            },
        );
        self.tally.counters.flits_to_memory += flits;
        self.tally.event(MemEvent::Flit, flits);
    }
}

/// Hands the sectors of a read to the slice.
fn fill(slice: &mut Slice, burst: &Burst, ready: Femtoseconds) {
    for part in ones(burst.parts.into()) {
        slice.from_dram.push(Fill { ready, entry: burst.entries[part as usize] });
    }
}

fn head_of(layout: &Layout, answer: &Answer) -> Head {
    Head { output: answer.sm.into(), flits: layout.reply_flits(answer.kind) }
}

/// The wires to the SMs.
struct Outgoing<'a> {
    last: &'a mut [Femtoseconds],
    inboxes: &'a mut [Inbox],
    arrival: Femtoseconds,
}

impl Outgoing<'_> {
    fn send(&mut self, sm: usize, reply: Reply) {
        let last = &mut self.last[sm];
        *last = self.arrival.max(*last);
        if let Some(inbox) = self.inboxes.get_mut(sm) {
            inbox.replies.push(Reply { time: *last, ..reply });
        }
    }

    fn answer(&mut self, sm: usize, answer: &Answer, atomics: &mut Atomics) {
        let Answer { line, tag, kind, traffic, sectors, .. } = *answer;
        let mut atomic = 0;
        if kind == ReplyKind::Atomic {
            let result = atomics.take(answer.atomic);
            if let Some(inbox) = self.inboxes.get_mut(sm) {
                atomic = inbox.atomics.len() as u32;
                inbox.atomics.push(result);
            }
        }
        self.send(sm, Reply { time: 0, kind, traffic, sectors, tag, line, atomic });
    }

    fn credit(&mut self, sm: usize, flits: u8) {
        let credit = Reply {
            time: 0,
            kind: ReplyKind::Credit,
            traffic: Traffic::Data,
            sectors: 0,
            tag: flits.into(),
            line: 0,
            atomic: 0,
        };
        self.send(sm, credit);
    }
}
