//! Executing one warp instruction.

use crate::cta::Cta;
use crate::effect::Effect;
use crate::fault::{Fault, FaultKind};
use crate::launch::Launch;
use crate::memory::GlobalAccess;
use crate::warp::Warp;

/// A text printed by `vprintf`: one record per lane and call, in order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Printed {
    /// Linear CTA index.
    pub cta: u64,
    /// Linear thread index in the CTA.
    pub thread: u32,
    /// The formatted text.
    pub text: String,
}

/// What surrounds a warp: memory, where it runs, what time it is.
#[derive(Debug)]
pub struct Env<'a, M> {
    /// The launch that the warp belongs to.
    pub launch: &'a Launch,
    /// Global memory.
    pub memory: M,
    /// `%smid`.
    pub sm: u32,
    /// `%nsmid`.
    pub sms: u32,
    /// `%warpid`: the warp's slot in the SM.
    pub warp_slot: u32,
    /// `%nwarpid`: slots of an SM.
    pub warp_slots: u32,
    /// `%clock64`.
    pub cycle: u64,
    /// `%globaltimer`.
    pub nanoseconds: u64,
    /// Receives printed text; only `vprintf` allocates here.
    pub print: &'a mut Vec<Printed>,
}

impl<'a, M: GlobalAccess> Env<'a, M> {
    /// An environment at time zero on SM 0 of one.
    pub fn new(launch: &'a Launch, memory: M, print: &'a mut Vec<Printed>) -> Env<'a, M> {
        Env { launch, memory, sm: 0, sms: 1, warp_slot: 0, warp_slots: 48, cycle: 0, nanoseconds: 0, print }
    }
}

/// Executes the next instruction of a warp that is not done: changes registers, memory, the CTA's barriers, advances the
/// pc, and describes what happened in `effect`. Does not allocate, except to print, to fault, and for recursion deeper
/// than before. A warp that the effect says must wait at a barrier must not be stepped until it is released.
pub fn step<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
) -> Result<(), Box<Fault>> {
    let _ = effect;
    Err(Box::new(Fault {
        kind: FaultKind::Internal { problem: "no executor".to_string() },
        kernel: env.launch.program.kernel.clone(),
        function: env.launch.program.function_of(warp.pc()).to_string(),
        pc: warp.pc(),
        line: env.launch.program.text_line(warp.pc()),
        cta: cta.index,
        thread: warp.thread(env.launch, 0),
    }))
}
