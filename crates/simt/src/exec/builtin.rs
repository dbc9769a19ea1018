//! The functions that a device provides: `vprintf`, `__assertfail`, `malloc`, `free`.
//!
//! Their parameters are those of the CUDA programming guide ("Formatted Output", "Assertion", "Dynamic Global Memory
//! Allocation and Operations").

use super::format::{self, Arguments};
use super::memory::local_size;
use super::{Env, Outcome, Printed, problem};
use crate::alu::Row;
use crate::cta::Cta;
use crate::effect::{AtomicDest, Effect, EffectKind};
use crate::fault::FaultKind;
use crate::memory::{GlobalAccess, lanes_of};
use crate::program::Program;
use crate::program::op::{Argument, Builtin, Call, Slot};
use crate::space::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW};
use crate::warp::Warp;

/// Longest string that is read from device memory.
const LONGEST: usize = 64 << 10;

/// Memory as one lane's generic addresses see it.
struct LaneMemory<'a, M> {
    warp: &'a Warp,
    local_size: u64,
    shared: &'a [u8],
    memory: &'a M,
    lane: usize,
}

impl<M: GlobalAccess> LaneMemory<'_, M> {
    /// Reads bytes; `None` if some are in no memory.
    fn read<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut out = [0; N];
        let offset = address.wrapping_sub(SHARED_WINDOW);
        match offset / WINDOW {
            0 => {
                let at = (address - SHARED_WINDOW) as usize;
                out.copy_from_slice(self.shared.get(at..at + N)?);
            }
            1 => {
                let at = address - LOCAL_WINDOW;
                if at + N as u64 > self.local_size {
                    return None;
                }
                for (n, byte) in out.iter_mut().enumerate() {
                    let at = at as usize + n;
                    *byte = self.warp.local.get(at / 4)?.0[self.lane].to_le_bytes()[at % 4];
                }
            }
            2 => {
                let _ = PARAM_WINDOW;
                return None;
            }
            _ => {
                if !self.memory.read(address, &mut out) {
                    return None;
                }
            }
        }
        Some(out)
    }

    /// A string of at most so many bytes; it need not end if there are as many.
    fn string(&self, address: u64, most: usize) -> Result<Vec<u8>, &'static str> {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            match self.read::<1>(address.wrapping_add(bytes.len() as u64)) {
                None => return Err("a string is not in memory"),
                Some([0]) => break,
                Some(_) if bytes.len() == LONGEST => return Err("a string is longer than 65,536 bytes"),
                Some([byte]) => bytes.push(byte),
            }
        }
        Ok(bytes)
    }
}

/// The argument buffer of `vprintf`: values in order, each at its natural alignment.
struct Buffer<'a, 'b, M> {
    memory: &'a LaneMemory<'b, M>,
    next: u64,
}

impl<M: GlobalAccess> Arguments for Buffer<'_, '_, M> {
    fn word(&mut self) -> Option<u32> {
        let at = self.next.checked_next_multiple_of(4)?;
        self.next = at.checked_add(4)?;
        self.memory.read(at).map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        let at = self.next.checked_next_multiple_of(8)?;
        self.next = at.checked_add(8)?;
        self.memory.read(at).map(u64::from_le_bytes)
    }

    fn string(&mut self, most: usize) -> Result<Vec<u8>, &'static str> {
        match self.long().ok_or(format::MISSING)? {
            0 => Ok("(null)".bytes().take(most).collect()),
            address => self.memory.string(address, most),
        }
    }
}

/// Value of an argument, per lane.
fn argument(warp: &Warp, program: &Program, call: &Call, index: usize) -> [u64; 32] {
    match call.arguments.get(index) {
        Some(Argument::Row { src, wide }) => {
            let regs = warp.registers(program);
            std::array::from_fn(|lane| regs.lane(*src, *wide, lane))
        }
        Some(Argument::Local { offset, bytes }) => {
            let at = ((warp.frame.local + offset) / 4) as usize;
            let word = |n: usize| warp.local.get(at + n).copied().unwrap_or(Row::ZERO).0;
            let (low, high) = (word(0), if *bytes > 4 { word(1) } else { [0; 32] });
            std::array::from_fn(|lane| low[lane] as u64 | (high[lane] as u64) << 32)
        }
        _ => [0; 32],
    }
}

/// Puts a result where the call wants it.
fn give(warp: &mut Warp, call: &Call, values: &[u64; 32], lanes: u32) {
    match call.returns.first() {
        Some(Slot::Row { row, wide }) => warp.set_lanes(*row, *wide, values, lanes),
        Some(Slot::Local { offset, bytes }) => {
            let at = ((warp.frame.local + offset) / 4) as usize;
            for n in 0..(*bytes as usize).div_ceil(4).min(2) {
                warp.local[at + n].merge(&Row(values.map(|v| (v >> (32 * n)) as u32)), lanes);
            }
        }
        _ => {}
    }
}

pub(super) fn call<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    (builtin, call): (Builtin, &Call),
    lanes: u32,
) -> Outcome {
    let arguments: [[u64; 32]; 4] = std::array::from_fn(|n| argument(warp, program, call, n));
    let local_size = local_size(program, warp);
    let view = |lane: usize, memory| LaneMemory { warp, local_size, shared: &cta.shared, memory, lane };
    match builtin {
        Builtin::Print => {
            let mut results = [0; 32];
            for lane in lanes_of(lanes) {
                let memory = view(lane, &env.memory);
                let fault = |text: &str| problem(lane as u32, FaultKind::Print { problem: text.to_string() });
                if arguments[0][lane] == 0 {
                    // Without a format there is no output, and the result is −1.
                    results[lane] = u64::from(u32::MAX);
                    continue;
                }
                let format = match memory.string(arguments[0][lane], usize::MAX) {
                    Ok(format) => format,
                    Err(text) => return fault(&format!("the format: {text}")),
                };
                let mut buffer = Buffer { memory: &memory, next: arguments[1][lane] };
                match format::format(&format, &mut buffer) {
                    Ok((bytes, count)) => {
                        results[lane] = count as u64;
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        // At once: what lanes before a fault have printed stays.
                        env.print.push(Printed { cta: cta.id, thread: warp.warp_in_cta() * 32 + lane as u32, text });
                    }
                    Err(text) => return fault(text),
                }
            }
            give(warp, call, &results, lanes);
        }
        Builtin::AssertFail => {
            // Message, file, line, function.
            let lane = lanes.trailing_zeros();
            let at = lane as usize & 31;
            let memory = view(at, &env.memory);
            let text = |n: usize| match memory.string(arguments[n][at], usize::MAX) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(_) => "(unreadable)".to_string(),
            };
            let (message, file, function) = (text(0), text(1), text(3));
            return problem(lane, FaultKind::Assertion { message, file, line: arguments[2][at] as u32, function });
        }
        Builtin::Malloc if !M::DEFERRED_ATOMICS => {
            let mut results = [0; 32];
            for lane in lanes_of(lanes) {
                results[lane] = env.memory.malloc(arguments[0][lane]);
            }
            give(warp, call, &results, lanes);
        }
        Builtin::Free if !M::DEFERRED_ATOMICS => {
            for lane in lanes_of(lanes) {
                let address = arguments[0][lane];
                if !env.memory.free(address) {
                    return problem(lane as u32, FaultKind::InvalidFree { address });
                }
            }
        }
        Builtin::Malloc | Builtin::Free => {
            effect.kind = EffectKind::Heap;
            let operands = &mut effect.atomic;
            operands.malloc = builtin == Builtin::Malloc;
            operands.operand = arguments[0];
            operands.lanes = lanes;
            operands.dest = match call.returns.first() {
                Some(Slot::Local { offset, .. }) => AtomicDest::Local(warp.frame.local + offset),
                Some(Slot::Row { row, wide: true }) => AtomicDest::Wide(warp.frame.row + row),
                Some(Slot::Row { row, wide: false }) => AtomicDest::Row(warp.frame.row + row),
                _ => AtomicDest::None,
            };
        }
    }
    Ok(())
}
