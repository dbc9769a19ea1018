//! The functional simulator: what kernels compute, without time.
//!
//! Warps of a CTA run in turn, each until it waits, ends, or has had its quantum; a CTA that has had its quantum makes way
//! for the next one, and further CTAs become resident beside it, up to what a large GPU holds. So warps and resident CTAs
//! that wait for each other in memory make progress, while ordinary kernels run one CTA after the other, which caches
//! like. `%clock` counts warp instructions, `%globaltimer` the same in nanoseconds.

use crate::cta::Cta;
use crate::device::DeviceError;
use crate::effect::{Effect, EffectKind};
use crate::exec::{Env, Printed, step_inline};
use crate::fault::{Fault, FaultKind};
use crate::host::{Executor, Host};
use crate::launch::Launch;
use crate::memory::{Direct, GlobalMemory};
use crate::program::Program;
use crate::warp::Warp;

/// Warp instructions that a warp executes in a row at most.
const WARP_QUANTUM: u64 = 4096;
/// Warp instructions of a CTA before the next one's turn.
const CTA_QUANTUM: u64 = 1 << 17;
/// CTAs resident at once, as on a GPU with 15 SMs of 8 CTAs each.
const RESIDENT: usize = 120;

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warp instructions, those with no lane left by the guard included.
    pub warp_instructions: u64,
    /// Thread instructions: lanes whose guard holds.
    pub thread_instructions: u64,
}

/// A device without time.
#[derive(Debug)]
pub struct FunctionalDevice {
    host: Host,
    limit: u64,
    counts: Counts,
    fault: Option<Fault>,
    printed: Vec<Printed>,
    slots: Vec<Slot>,
}

impl Default for FunctionalDevice {
    fn default() -> Self {
        FunctionalDevice::new(GlobalMemory::default())
    }
}

impl FunctionalDevice {
    /// A device with this memory.
    pub fn new(memory: GlobalMemory) -> FunctionalDevice {
        let mut host = Host::new(None);
        host.memory = memory;
        FunctionalDevice {
            host,
            limit: u64::MAX,
            counts: Counts::default(),
            fault: None,
            printed: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Ends a launch with a fault once the device has executed this many warp instructions in all.
    pub fn limit_warp_instructions(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// What all launches so far executed.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The fault that ended the last launch, if one did.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// What kernels have printed, in order of execution.
    pub fn printed(&self) -> &[Printed] {
        &self.printed
    }

    /// Runs a launch to its end.
    pub fn run(&mut self, launch: &Launch) -> Result<(), Box<Fault>> {
        let memory = Direct::new(&mut self.host.memory);
        let mut runner = Runner {
            env: Env::new(launch, memory, &mut self.printed),
            counts: self.counts,
            limit: self.limit,
            effect: Effect::default(),
        };
        let result = runner.grid(launch, &mut self.slots);
        self.counts = runner.counts;
        result
    }
}

impl Executor for FunctionalDevice {
    fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    fn execute(&mut self, launch: Launch) -> Result<(), DeviceError> {
        self.fault = None;
        self.run(&launch).map_err(|fault| {
            let text = fault.to_string();
            self.fault = Some(*fault);
            DeviceError::Failed(text)
        })
    }
}

/// A resident CTA.
#[derive(Debug, Default)]
struct Slot {
    cta: Cta,
    warps: Vec<Warp>,
    /// Warps that wait at a barrier.
    waiting: u64,
}

impl Slot {
    fn reset(&mut self, launch: &Launch, id: u64) {
        self.cta.reset(launch, id);
        self.waiting = 0;
        self.warps.resize_with(launch.warps_per_cta() as usize, Warp::new);
        for (n, warp) in self.warps.iter_mut().enumerate() {
            warp.reset(launch, id, n as u32);
        }
    }
}

struct Runner<'a> {
    env: Env<'a, Direct<'a>>,
    counts: Counts,
    limit: u64,
    effect: Effect,
}

impl Runner<'_> {
    fn grid(&mut self, launch: &Launch, slots: &mut Vec<Slot>) -> Result<(), Box<Fault>> {
        let ctas = launch.ctas();
        let (mut next, mut resident, mut turn) = (0, 0, 0);
        loop {
            if turn == resident {
                // All residents have had their turn: one more, or the first again.
                if next < ctas && resident < RESIDENT {
                    if resident == slots.len() {
                        slots.push(Slot::default());
                    }
                    slots[resident].reset(launch, next);
                    next += 1;
                    resident += 1;
                } else if resident == 0 {
                    return Ok(());
                } else {
                    turn = 0;
                }
            }
            self.cta(launch, &mut slots[turn])?;
            if !slots[turn].cta.done() {
                turn += 1;
            } else if next < ctas {
                slots[turn].reset(launch, next);
                next += 1;
            } else {
                resident -= 1;
                slots.swap(turn, resident);
            }
        }
    }

    /// Runs the warps of a CTA until it ends or has had its quantum.
    fn cta(&mut self, launch: &Launch, slot: &mut Slot) -> Result<(), Box<Fault>> {
        let end = self.counts.warp_instructions.saturating_add(CTA_QUANTUM);
        while !slot.cta.done() && self.counts.warp_instructions < end {
            let ready = slot.cta.live() & !slot.waiting;
            if ready == 0 {
                return Err(deadlock(launch, slot));
            }
            for n in 0..slot.warps.len() {
                // Barriers may have released a warp meanwhile.
                if (slot.cta.live() & !slot.waiting) >> n & 1 != 0 {
                    self.env.warp_slot = n as u32;
                    self.warp(launch, slot, n)?;
                }
            }
        }
        Ok(())
    }

    fn warp(&mut self, launch: &Launch, slot: &mut Slot, n: usize) -> Result<(), Box<Fault>> {
        let budget = WARP_QUANTUM.min(self.limit.saturating_sub(self.counts.warp_instructions));
        let warp = &mut slot.warps[n];
        if budget == 0 {
            return Err(limit_reached(launch, warp, &slot.cta, self.limit));
        }
        self.many(&launch.program, warp, &mut slot.cta, budget)?;
        let effect = &self.effect;
        slot.waiting |= (effect.waits as u64) << n;
        slot.waiting &= !effect.released;
        Ok(())
    }

    #[inline(always)]
    fn many_inline(&mut self, warp: &mut Warp, cta: &mut Cta, budget: u64) -> Result<(), Box<Fault>> {
        let Runner { env, counts, effect, .. } = self;
        for _ in 0..budget {
            env.cycle = counts.warp_instructions;
            env.nanoseconds = counts.warp_instructions;
            let result = step_inline(warp, cta, env, effect);
            counts.warp_instructions += 1;
            counts.thread_instructions += effect.executed.count_ones() as u64;
            result?;
            if effect.waits || effect.finished || effect.released != 0 || matches!(effect.kind, EffectKind::Sleep(_)) {
                break;
            }
        }
        Ok(())
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    unsafe fn many_wide(&mut self, warp: &mut Warp, cta: &mut Cta, budget: u64) -> Result<(), Box<Fault>> {
        self.many_inline(warp, cta, budget)
    }

    /// Executes up to `budget` instructions of a warp, fewer if it waits, ends, sleeps or releases others.
    fn many(&mut self, program: &Program, warp: &mut Warp, cta: &mut Cta, budget: u64) -> Result<(), Box<Fault>> {
        #[cfg(target_arch = "x86_64")]
        if program.level.is_wide() {
            // SAFETY: such a level comes from `Level::detect` alone, which has found the processor's features.
            return unsafe { self.many_wide(warp, cta, budget) };
        }
        let _ = program;
        self.many_inline(warp, cta, budget)
    }
}

/// A fault of a warp at its next instruction.
fn fault_of(launch: &Launch, warp: &Warp, cta: &Cta, kind: FaultKind) -> Box<Fault> {
    Fault::new(kind, launch, warp, cta, warp.pc(), warp.active().trailing_zeros() & 31)
}

#[cold]
fn deadlock(launch: &Launch, slot: &Slot) -> Box<Fault> {
    let kind = FaultKind::BarrierDeadlock { waiting: slot.cta.explain() };
    let first = slot.waiting.trailing_zeros() as usize;
    let mut fault = fault_of(launch, &slot.warps[first % slot.warps.len().max(1)], &slot.cta, kind);
    // The barrier is the instruction before.
    fault.pc = fault.pc.saturating_sub(1);
    fault.line = launch.program.text_line(fault.pc);
    fault
}

#[cold]
fn limit_reached(launch: &Launch, warp: &Warp, cta: &Cta, limit: u64) -> Box<Fault> {
    fault_of(launch, warp, cta, FaultKind::InstructionLimit { limit })
}
