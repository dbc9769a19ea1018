//! The memory side: everything between the SMs' network ports and the DRAM pins.
//!
//! ```text
//! SM ──wire──▶ request crossbar ──▶ L2 slice: ROP line ▶ queue ▶ tags ▶ MSHRs ──▶ DRAM line ▶ FR-FCFS ▶ banks
//! SM ◀──wire── reply crossbar   ◀── reply queue ◀──────────────────────────── fills ◀────────────────────┘
//! ```
//!
//! It meets the SMs through messages only, one window at a time ([`MemorySide::run`]). Inside it has three clocks (crossbar,
//! L2, DRAM command) that may change in mid-run. What crosses from one domain to another carries the time at which it is
//! there, computed with the clock of the moment it left, and is seen at the first tick of the other domain from then on.
//! At one instant DRAM comes first, then the L2 slices, then the reply and the request crossbar: replies pass all of
//! them without a synchronization cycle, and a request that crosses at an instant is at the slice for the L2's next tick.
//! An unloaded L2 hit takes 2 × NoC latency + max(ROP latency, 1) cycles from SM to SM when the clocks are equal; there is
//! no other constant.
//!
//! Ticks in which nothing can happen are skipped: each slice and channel says when it next has something to do. With
//! skipping off every tick of every part is made, and the results are the same.
//!
//! Sources: Fermi as in the configurations of the papers (GPGPU-Sim manual, "Interconnect" and "Memory partition");
//! for the parts see their modules. Left out: DRAM refresh, data (only tags and times live here; atomics execute through
//! [`AtomicMemory`]), and routing delay that differs between ports.

mod address;
mod crossbar;
mod domains;
mod dram;
mod layout;
mod packet;
mod slice;
mod ticker;
mod timing;

pub use packet::{AtomicMemory, NoMemory};
pub use slice::{L2Use, Tally};

use crate::activity::MEM_EVENTS;
use crate::message::{Femtoseconds, Inbox, Outbox, RequestKind};
use crate::ring::Ring;
use crate::spec::Spec;
use crate::stats::Counters;
use crossbar::Switch;
use dram::Channel;
use layout::Layout;
use packet::{Atomics, Packet};
use serde::{Deserialize, Serialize};
use slice::Slice;
use ticker::Ticker;

/// A set of crossbar ports of one side.
type Ports = u128;

/// At most so many SMs, and so many L2 slices.
pub const MAX_PORTS: u32 = Ports::BITS;

/// Addresses of a program lie below 2 to this power: host buffers grow upwards from 3 GiB.
const SPACE_SHIFT: u32 = 44;

const NEVER: Femtoseconds = Femtoseconds::MAX;

/// A clock of the memory side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Domain {
    /// Crossbar.
    Noc,
    /// L2 slices.
    L2,
    /// DRAM commands.
    Dram,
}

/// Everything that changes: what a checkpoint saves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemoryState {
    noc: Ticker,
    l2: Ticker,
    dram: Ticker,
    /// Per SM: requests on the wire and in the crossbar's input buffer, in order.
    wires: Vec<Ring<Packet>>,
    /// SMs whose first request is still on the wire.
    travelling: Ports,
    requests: Switch,
    replies: Switch,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    /// When a slice, or a channel, next has something to do.
    slice_wakes: Vec<Femtoseconds>,
    channel_wakes: Vec<Femtoseconds>,
    /// Time of the last message to each SM: a wire keeps its order when its clock gets faster.
    last_message: Vec<Femtoseconds>,
    atomics: Atomics,
    tally: Tally,
    /// Not in a snapshot: only a mix, which has none, asks for it.
    #[serde(skip)]
    per_sm: Vec<L2Use>,
    /// DRAM ticks that have been counted.
    dram_counted: u64,
}

/// The memory side of a GPU.
#[derive(Clone, Debug)]
pub struct MemorySide {
    layout: Layout,
    state: MemoryState,
    skip: bool,
    /// High address bits of each SM's requests.
    spaces: Vec<u64>,
}

impl MemorySide {
    /// An idle memory side with empty caches at time 0. The `Spec` has passed its checks.
    pub fn new(spec: &Spec) -> Self {
        let layout = Layout::new(spec);
        let (sms, slices) = (layout.sms, layout.slices);
        let state = MemoryState {
            noc: Ticker::new(spec.noc_mhz),
            l2: Ticker::new(spec.l2_mhz),
            dram: Ticker::new(spec.dram_mhz),
            wires: (0..sms).map(|_| Ring::new(layout.noc_buffer)).collect(),
            travelling: 0,
            requests: Switch::new(sms, slices),
            replies: Switch::new(slices, sms),
            slices: (0..slices).map(|_| Slice::new(&spec.l2, &layout)).collect(),
            channels: (0..layout.channels).map(|_| Channel::new(&layout.timing, spec.dram_queue)).collect(),
            slice_wakes: vec![NEVER; slices as usize],
            channel_wakes: vec![NEVER; layout.channels as usize],
            last_message: vec![0; sms as usize],
            atomics: Atomics::new(sms * 64),
            tally: Tally::default(),
            per_sm: vec![L2Use::default(); sms as usize],
            dram_counted: 0,
        };
        MemorySide { spaces: vec![0; sms as usize], layout, state, skip: true }
    }

    /// Jump over ticks in which nothing can happen (the default), or make every tick.
    pub fn set_skip(&mut self, skip: bool) {
        self.skip = skip;
    }

    /// What a checkpoint saves.
    pub fn state(&self) -> &MemoryState {
        &self.state
    }

    /// Goes on from a saved state of the same `Spec`.
    pub fn restore(&mut self, state: MemoryState) {
        self.state = state;
        self.state.per_sm = vec![L2Use::default(); self.spaces.len()];
    }

    /// From now on an SM's addresses belong to this address space (0 at first): equal addresses of different spaces are
    /// different places of the L2 and of DRAM.
    pub fn set_space(&mut self, sm: usize, space: u64) {
        if let Some(bits) = self.spaces.get_mut(sm) {
            *bits = space << SPACE_SHIFT;
        }
    }

    /// Takes an SM's use of the L2 since the last call.
    pub fn take_use(&mut self, sm: usize) -> L2Use {
        self.state.per_sm.get_mut(sm).map_or(L2Use::default(), std::mem::take)
    }

    /// Counts since the last [`Self::take_tally`].
    pub fn tally(&self) -> &Tally {
        &self.state.tally
    }

    /// Takes the counts and starts from zero.
    pub fn take_tally(&mut self) -> (Counters, [u64; MEM_EVENTS]) {
        let Tally { counters, events } = std::mem::take(&mut self.state.tally);
        (counters, events)
    }

    /// Changes a clock at a time that all runs have reached. Work under way goes on.
    pub fn set_clock(&mut self, domain: Domain, mhz: f64, at: Femtoseconds) {
        let state = &mut self.state;
        match domain {
            Domain::Noc => state.noc.set_mhz(mhz, at),
            Domain::L2 => state.l2.set_mhz(mhz, at),
            Domain::Dram => {
                state.dram.set_mhz(mhz, at);
                // What a channel waits for is so many of its clocks away: let it look again.
                for wake in state.channel_wakes.iter_mut().filter(|wake| **wake != NEVER) {
                    *wake = at;
                }
            }
        }
    }

    /// When something happens next: `u64::MAX` if nothing is under way anywhere.
    pub fn next_event(&self) -> Femtoseconds {
        let state = &self.state;
        state.dram_tick().min(state.l2_tick()).min(state.noc_tick())
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.next_event() == NEVER
    }

    /// Takes the requests and atomics out of the outboxes, one per SM; their times may lie in the next span or later ones.
    pub fn take_requests(&mut self, outboxes: &mut [Outbox]) {
        self.state.take_requests(&self.layout, &self.spaces, outboxes);
    }

    /// Some atomic has been taken and not been answered.
    pub fn has_atomics(&self) -> bool {
        !self.state.atomics.is_empty()
    }

    /// Runs the time from `from` (where the last run ended) to `to`, exclusive. Appends replies to the inboxes in order of
    /// time; if the span is at most the NoC latency long, none arrives before `to`. A span in which nothing happens may be
    /// as long as one likes and costs nothing.
    pub fn run<M: AtomicMemory>(
        &mut self,
        from: Femtoseconds,
        to: Femtoseconds,
        inboxes: &mut [Inbox],
        memory: &mut M,
    ) {
        let MemorySide { layout, state, skip, .. } = self;
        if *skip {
            state.work::<M, true>(layout, to, inboxes, memory);
        } else {
            state.work::<M, false>(layout, to, inboxes, memory);
        }
        let to = to.max(from);
        state.noc.skip_to(to);
        state.l2.skip_to(to);
        state.dram.skip_to(to);
        let clocks = state.dram.cycle() - std::mem::replace(&mut state.dram_counted, state.dram.cycle());
        state.tally.counters.dram_clocks += clocks * state.channels.len() as u64;
    }
}

impl MemoryState {
    fn take_requests(&mut self, layout: &Layout, spaces: &[u64], outboxes: &mut [Outbox]) {
        for ((sm, outbox), space) in outboxes.iter_mut().enumerate().zip(spaces) {
            for request in &outbox.requests {
                let home = layout.map.home(request.line | space);
                let atomic = match request.kind {
                    RequestKind::Atomic => match outbox.atomics.get(request.atomic as usize) {
                        Some(payload) => self.atomics.keep(payload),
                        None => self.atomics.keep(&packet::NO_PAYLOAD),
                    },
                    _ => 0,
                };
                let mut packet = Packet::new(request, home.slice, home.local, atomic);
                packet.sm = sm as u8;
                let wire = &mut self.wires[sm];
                if wire.is_empty() {
                    self.travelling |= bit(sm as u32);
                }
                wire.push(packet);
            }
            outbox.requests.clear();
            outbox.atomics.clear();
        }
    }

    /// Next tick of the DRAM domain that has something to do.
    fn dram_tick(&self) -> Femtoseconds {
        self.dram.tick_from(soonest(&self.channel_wakes))
    }

    /// Next tick of the L2 domain that has something to do.
    fn l2_tick(&self) -> Femtoseconds {
        self.l2.tick_from(soonest(&self.slice_wakes))
    }

    /// Next tick of the crossbar that has something to do.
    fn noc_tick(&self) -> Femtoseconds {
        if !self.requests.is_idle() || !self.replies.is_idle() {
            return self.noc.next();
        }
        let arrivals = ones(self.travelling).filter_map(|sm| self.wires[sm as usize].front());
        self.noc.tick_from(arrivals.map(|packet| packet.ready).min().unwrap_or(NEVER))
    }

    /// All ticks before `to`.
    fn work<M: AtomicMemory, const SKIP: bool>(
        &mut self,
        layout: &Layout,
        to: Femtoseconds,
        inboxes: &mut [Inbox],
        memory: &mut M,
    ) {
        loop {
            let now = if SKIP {
                self.dram_tick().min(self.l2_tick()).min(self.noc_tick())
            } else {
                self.dram.next().min(self.l2.next()).min(self.noc.next())
            };
            if now >= to {
                return;
            }
            self.dram.skip_to(now);
            if self.dram.next() == now {
                self.dram_cycle::<SKIP>(layout, now);
                self.dram.advance();
            }
            self.l2.skip_to(now);
            if self.l2.next() == now {
                self.l2_cycle::<M, SKIP>(layout, now, memory);
                self.l2.advance();
            }
            self.noc.skip_to(now);
            if self.noc.next() == now {
                self.noc_cycle(layout, now, inboxes);
                self.noc.advance();
            }
        }
    }
}

/// Earliest of some times.
fn soonest(times: &[Femtoseconds]) -> Femtoseconds {
    times.iter().fold(NEVER, |a, &b| a.min(b))
}

/// The mask of one port. A shift of two words by a variable number is a dozen instructions.
#[inline(always)]
fn bit(port: u32) -> Ports {
    let half = 1u64 << (port % 64);
    if port < 64 { Ports::from(half) } else { Ports::from(half) << 64 }
}

/// Positions of the ones of a mask, lowest first.
fn ones(mut mask: Ports) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests;
