//! The issue stage: each scheduler picks a warp, which executes its instruction functionally and sends it down the
//! pipeline; and the account of every issue slot.

use crate::hooks::{Event, IssueQuery, OrderQuery, Shape};
use crate::kernel::{Kernel, Port};
use crate::message::Femtoseconds;
use crate::seldom::seldom;
use crate::sm::Sm;
use crate::sm::collector::Flight;
use crate::sm::exchange::{Exchange, HeapCall};
use crate::stats::Slot;
use std::sync::Arc;
use warpwatt_simt::effect::{Effect, EffectKind};
use warpwatt_simt::exec::{self, Env};
use warpwatt_simt::memory::{GlobalMemory, WindowView};

impl Sm {
    /// Warps whose port has no room.
    #[inline(always)]
    fn blocked(&self) -> u64 {
        let mut blocked = 0;
        for port in [Port::Sp, Port::Sfu, Port::Mem] {
            if !self.collector.free(port) || (port == Port::Mem && !self.ldst.can_issue()) {
                blocked |= self.warps.port[port as usize];
            }
        }
        blocked
    }

    /// One issue cycle of all schedulers.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        time: Femtoseconds,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) {
        if self.warps.wrong_path != 0 {
            self.drop_wrong_paths();
        }
        let mut all_ready = self.warps.ready();
        for i in 0..self.schedulers {
            let pool = self.pools[i];
            let ready = all_ready & pool;
            let choice = if ready != 0 && !self.halted && self.stalled_until <= self.now {
                self.pick(i, ready, pool)
            } else {
                None
            };
            let slot = match choice {
                Some(w) => {
                    if self.issue_warp(w, time, kernel, x, memory, effect) {
                        all_ready = self.warps.ready();
                    }
                    Slot::Issued
                }
                None => self.idle_cause(pool, ready),
            };
            self.counts.slots[slot as usize] += 1;
            if self.slots_heard {
                seldom();
                self.hooks.observe(self.now, Event::Slot(slot, 1));
            }
        }
    }

    /// Asks the policy's order, or the built-in scheduler.
    #[inline(always)]
    fn pick(&mut self, i: usize, ready: u64, pool: u64) -> Option<usize> {
        let available = ready & !self.blocked();
        let Some(order) = &mut self.hooks.order else {
            return self.orders[i].pick(available, pool, &self.warps);
        };
        seldom();
        let alu = self.warps.buffered & !self.warps.paused & self.warps.port[Port::Sp as usize];
        let query = OrderQuery {
            now: self.now,
            scheduler: i,
            ready,
            available,
            pool,
            int: alu & !self.warps.fp,
            fp: alu & self.warps.fp,
            warps: &self.warps,
            threads: &self.threads,
        };
        order.pick(&query).filter(|&w| available >> w & 1 != 0)
    }

    /// Buffers with instructions of a path not taken are emptied; fetching goes on at the right place.
    fn drop_wrong_paths(&mut self) {
        let mut wrong = std::mem::take(&mut self.warps.wrong_path);
        while wrong != 0 {
            let w = wrong.trailing_zeros() as usize;
            wrong &= wrong - 1;
            self.warps.drop_buffer(w);
            self.warps.of[w].fetch_pc = self.threads[w].pc();
        }
    }

    /// Why a scheduler with these warps issues nothing: the first cause, in [`Slot`]'s order, that any of them has.
    #[inline(always)]
    pub(super) fn idle_cause(&self, own: u64, ready: u64) -> Slot {
        let w = &self.warps;
        let resident = w.resident & own;
        if resident == 0 {
            return Slot::Empty;
        }
        if ready != 0 {
            let alu = w.port[Port::Sp as usize] | w.port[Port::Sfu as usize];
            let blocked = ready & self.blocked();
            return if blocked & alu != 0 {
                Slot::Structural
            } else if blocked != 0 {
                Slot::MemoryPort
            } else {
                Slot::Policy
            };
        }
        let running = resident & !w.finished;
        let alive = running & !w.paused;
        let ordered = w.on_atomic | w.on_fence | w.asleep;
        let free = alive & !(ordered | w.at_barrier);
        if free & w.buffered & !(w.clear | w.on_memory | w.wrong_path) != 0 {
            Slot::Arithmetic
        } else if free & (!w.buffered | w.wrong_path) != 0 {
            Slot::Fetch
        } else if free & w.on_memory != 0 {
            Slot::Memory
        } else if alive & ordered != 0 {
            Slot::Fence
        } else if alive & w.at_barrier != 0 {
            Slot::Barrier
        } else if alive == 0 && running != 0 {
            Slot::Policy // all that is left is paused
        } else if alive == 0 {
            Slot::Drain
        } else {
            Slot::Other
        }
    }

    /// Executes the next instruction of a warp and sends it down the pipeline. Whether other warps may have become ready.
    #[inline(always)]
    fn issue_warp(
        &mut self,
        w: usize,
        time: Femtoseconds,
        kernel: &Arc<Kernel>,
        x: &mut Exchange,
        memory: &GlobalMemory,
        effect: &mut Effect,
    ) -> bool {
        let pc = self.warps.of[w].head;
        let op = &kernel.ops[pc as usize];
        let index = self.warps.of[w].cta as usize;
        let printed = self.printed.len();
        let mut env = Env {
            launch: &kernel.launch,
            memory: WindowView::new(memory, &mut x.log),
            sm: self.id,
            sms: self.sms,
            warp_slot: w as u32,
            warp_slots: self.threads.len() as u32,
            cycle: self.now,
            nanoseconds: time / 1_000_000,
            print: &mut self.printed,
        };
        let result = exec::step(&mut self.threads[w], &mut self.slots[index].cta, &mut env, effect);
        if self.printed.len() > printed {
            seldom();
            x.printed.extend(self.printed.drain(..).map(|text| (time, text)));
        }
        if let Err(fault) = result {
            seldom();
            self.halted = true;
            x.fault = Some((time, fault));
            return false;
        }
        let lanes = effect.executed;
        let query = IssueQuery { now: self.now, warp: w, lanes, fp: op.fp };
        let mut masks = Shape::Whole.masks(lanes);
        if op.port == Port::Sp
            && let Some(hook) = &mut self.hooks.issue
        {
            seldom();
            masks = hook.shape(&query).masks(lanes);
        }
        if op.port == Port::Sp
            && let Some(hook) = &mut self.hooks.lanes
        {
            seldom();
            hook.issued(&query, masks);
        }
        self.issued[op.port as usize] += 1;
        self.counts.issue(pc, lanes.count_ones() as u64);

        let bit = 1u64 << w;
        self.warps.reserve(w, pc, op, kernel);
        let state = &mut self.warps.of[w];
        state.in_flight += 1;
        let mut list = 0;
        if op.port == Port::Mem {
            let first_slot = self.id as u64 * self.threads.len() as u64;
            let (slot, load, atomics) = self.ldst.issue(effect, w as u8, first_slot);
            list = slot;
            state.loads += load as u16;
            match effect.kind {
                EffectKind::Store => state.stores += self.ldst.transactions(slot),
                EffectKind::Atomic if atomics > 0 => {
                    state.atomics += atomics;
                    self.warps.on_atomic |= bit;
                }
                EffectKind::Fence => {
                    self.warps.on_fence |= bit;
                    self.warps.check_fence(w);
                }
                _ => {}
            }
        }
        self.collector.enter(op.port, Flight::new(pc, w, masks.0, masks.1, list));
        let special =
            !matches!(effect.kind, EffectKind::Alu | EffectKind::Load | EffectKind::Store | EffectKind::Branch);
        if special {
            self.after_issue(w, time, x, effect);
        }
        self.warps.advance(w, self.threads[w].pc(), self.threads[w].done(), kernel);
        if self.warps.finished & bit != 0 {
            self.ending |= bit;
        }
        special
    }

    /// Waits and wake-ups that an instruction causes.
    fn after_issue(&mut self, w: usize, time: Femtoseconds, x: &mut Exchange, effect: &Effect) {
        let bit = 1u64 << w;
        match effect.kind {
            EffectKind::Barrier => {
                self.counts.counters.barrier_waits += 1;
                if effect.waits {
                    self.warps.at_barrier |= bit;
                }
            }
            EffectKind::Sleep(nanoseconds) => {
                let cycles = (nanoseconds as u64 * 1_000_000).div_ceil(self.clock.period());
                self.warps.of[w].wake = self.now + cycles.max(1);
                self.warps.asleep |= bit;
            }
            EffectKind::Heap => {
                let a = &effect.atomic;
                x.heap.push(HeapCall {
                    time,
                    warp: w as u8,
                    pc: effect.pc,
                    malloc: a.malloc,
                    lanes: a.lanes,
                    operands: a.operand,
                    dest: a.dest,
                });
                self.warps.of[w].atomics += 1;
                self.warps.on_atomic |= bit;
            }
            _ => {}
        }
        if effect.released != 0 {
            let first = w as u32 - self.threads[w].warp_in_cta();
            self.warps.at_barrier &= !(effect.released << first);
        }
    }
}
