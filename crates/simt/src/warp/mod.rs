//! A warp: registers, SIMT stack, call frames, local memory.
//!
//! Registers are rows of 32 lanes ([`crate::alu`]); a call frame is a range of rows, so calls and recursion stack them.
//! Local memory is interleaved by 32-bit words, like a register file: word `w` of all lanes is one row. Both begin as
//! zeros. Frames of called functions begin with whatever lay there, as uninitialised registers do on hardware.

mod stack;

pub(crate) use stack::Stack;

use serde::{Deserialize, Serialize};
use warpwatt_ptx::ir::Special;

use crate::alu::{Row, Window};
use crate::device::Dim3;
use crate::effect::AtomicDest;
use crate::launch::Launch;
use crate::program::{NO_PC, Program};
use crate::space::{MAX_LOCAL_BYTES, WINDOW};

/// A call frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// Index in [`Program::functions`].
    pub(crate) function: u32,
    /// First row of its registers.
    pub(crate) row: u32,
    /// First of its predicates.
    pub(crate) pred: u32,
    /// First byte of its local memory.
    pub(crate) local: u32,
    /// The call instruction that made it.
    pub(crate) call: u32,
}

/// Where the result of a barrier reduction goes once the warp is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingReduction {
    pub(crate) lanes: u32,
    pub(crate) dest: ReductionDest,
}

/// Destination of a barrier reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReductionDest {
    /// A row of the file (`popc`).
    Row(u32),
    /// A predicate of the file (`and`, `or`).
    Pred(u32),
}

/// A warp's state. Reused for another CTA by [`Warp::reset`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))] // what every instruction looks at is in two lines of the host's cache
pub struct Warp {
    pub(crate) stack: Stack,
    /// Rows of special registers, then the frames' registers, then a spare window.
    #[serde(with = "rows")]
    pub(crate) rows: Vec<Row>,
    pub(crate) preds: Vec<u32>,
    pub(crate) frame: Frame,
    pub(crate) carry: u32,
    pub(crate) reduction: Option<PendingReduction>,
    pub(crate) frames: Vec<Frame>,
    #[serde(with = "rows")]
    pub(crate) local: Vec<Row>,
    warp_in_cta: u32,
}

impl Default for Warp {
    fn default() -> Self {
        Warp::new()
    }
}

impl Warp {
    /// A place for warps.
    pub fn new() -> Warp {
        Warp {
            stack: Stack::new(),
            rows: Vec::new(),
            preds: Vec::new(),
            local: Vec::new(),
            frames: Vec::new(),
            frame: Frame::default(),
            carry: 0,
            reduction: None,
            warp_in_cta: 0,
        }
    }

    /// Begins warp `warp_in_cta` of CTA `cta` at the kernel's first instruction. Allocates only if the program needs
    /// more room than earlier ones.
    pub fn reset(&mut self, launch: &Launch, cta: u64, warp_in_cta: u32) {
        let program = &*launch.program;
        self.warp_in_cta = warp_in_cta;
        self.carry = 0;
        self.reduction = None;
        self.frame = Frame { row: program.special_rows, call: NO_PC, ..Frame::default() };
        self.frames.clear();
        self.frames.push(self.frame);
        clear(&mut self.rows, file_rows(program.special_rows + program.rows));
        clear(&mut self.local, program.local_bytes.div_ceil(4) as usize);
        self.preds.clear();
        self.preds.resize(program.preds as usize, 0);
        let threads = launch.threads_per_cta().saturating_sub(warp_in_cta * 32).min(32);
        let lanes = if threads == 32 { u32::MAX } else { (1 << threads) - 1 };
        self.stack.reset(program.functions[0].entry, lanes);
        if lanes == 0 {
            self.stack.exit(0);
        }
        self.fill_specials(launch, cta);
    }

    /// Writes the special registers that never change.
    fn fill_specials(&mut self, launch: &Launch, cta: u64) {
        let index = launch.cta_index(cta);
        for s in &launch.program.specials {
            let first = self.warp_in_cta * 32;
            let uniform = |v: u64| [v; 32];
            let by_lane = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32) as u64);
            let values: [u64; 32] = match s.special {
                Special::Tid(c) => by_lane(&|lane| component(launch.thread_index(first + lane), c)),
                Special::Ntid(c) => uniform(component(launch.block, c) as u64),
                Special::Ctaid(c) => uniform(component(index, c) as u64),
                Special::Nctaid(c) => uniform(component(launch.grid, c) as u64),
                Special::LaneId => by_lane(&|lane| lane),
                Special::LaneMaskEq => by_lane(&|lane| 1 << lane),
                Special::LaneMaskLe => by_lane(&|lane| u32::MAX >> (31 - lane)),
                Special::LaneMaskLt => by_lane(&|lane| (1 << lane) - 1),
                Special::LaneMaskGe => by_lane(&|lane| u32::MAX << lane),
                Special::LaneMaskGt => by_lane(&|lane| (u32::MAX << lane) << 1),
                Special::GridId => uniform(launch.grid_id),
                Special::DynamicSmemSize => uniform(launch.dynamic_shared as u64),
                Special::TotalSmemSize => uniform(launch.shared_bytes() as u64),
                Special::WarpSize => uniform(32),
                Special::EnvReg(_) | Special::Pm(_) => uniform(0),
                // Written each time that they are read.
                Special::WarpId
                | Special::NWarpId
                | Special::SmId
                | Special::NSmId
                | Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::GlobalTimer
                | Special::GlobalTimerLo
                | Special::GlobalTimerHi => continue,
            };
            self.write_special(s.row, s.wide, values);
        }
    }

    #[inline]
    pub(crate) fn write_special(&mut self, row: u32, wide: bool, values: [u64; 32]) {
        let row = row as usize;
        if wide {
            let rows: Window = bytemuck::cast(values);
            self.rows[row..row + 2].copy_from_slice(&rows);
        } else {
            self.rows[row] = Row(values.map(|v| v as u32));
        }
    }

    /// Index of the next instruction; [`NO_PC`] when done.
    #[inline(always)]
    pub fn pc(&self) -> u32 {
        self.stack.top.pc
    }

    /// Lanes that execute the next instruction (before its guard).
    #[inline(always)]
    pub fn active(&self) -> u32 {
        self.stack.top.lanes
    }

    /// Lanes that have not exited but are elsewhere than the next instruction.
    pub(crate) fn diverged(&self) -> u32 {
        self.live() & !self.active()
    }

    /// All lanes have exited.
    #[inline(always)]
    pub fn done(&self) -> bool {
        self.stack.top.lanes == 0
    }

    /// Lanes that have not exited.
    pub fn live(&self) -> u32 {
        self.stack.live()
    }

    /// Index in the CTA.
    pub fn warp_in_cta(&self) -> u32 {
        self.warp_in_cta
    }

    /// Call frames on the stack; 1 in the kernel itself.
    pub fn depth(&self) -> u32 {
        self.frames.len() as u32
    }

    /// Delivers the result of a deferred atomic or `malloc` to one lane. `dest` is the effect's.
    pub fn write_back(&mut self, dest: AtomicDest, lane: u32, bits: u64) {
        let lane = lane as usize & 31;
        match dest {
            AtomicDest::None => {}
            AtomicDest::Row(row) => {
                if let Some(row) = self.rows.get_mut(row as usize) {
                    row.0[lane] = bits as u32;
                }
            }
            AtomicDest::Wide(row) => {
                let rows = self.rows.get_mut(row as usize..).and_then(|r| r.first_chunk_mut());
                if let Some(window) = rows {
                    crate::alu::lanes64_mut(window)[lane] = bits;
                }
            }
            AtomicDest::Local(offset) => {
                let words = self.local.get_mut(offset as usize / 4..).and_then(|r| r.first_chunk_mut::<2>());
                if let Some([low, high]) = words {
                    low.0[lane] = bits as u32;
                    high.0[lane] = (bits >> 32) as u32;
                }
            }
        }
    }

    /// `%tid` of a lane.
    pub fn thread(&self, launch: &Launch, lane: u32) -> Dim3 {
        launch.thread_index(self.warp_in_cta * 32 + lane)
    }

    /// Makes room for a call of `function` on top of the current frame. `None` if a thread's stack is full: registers
    /// and local memory of all frames together.
    pub(crate) fn push_frame(&mut self, program: &Program, function: u32, call: u32) -> Option<Frame> {
        let caller = &program.functions[self.frame.function as usize];
        let callee = &program.functions[function as usize];
        let frame = Frame {
            function,
            row: self.frame.row + caller.rows,
            pred: self.frame.pred + caller.preds,
            local: (self.frame.local + caller.local_bytes).next_multiple_of(callee.local_align),
            call,
        };
        let local = frame.local as u64 + callee.local_bytes as u64;
        let registers = 4 * (frame.row as u64 + callee.rows as u64);
        if local + registers > (MAX_LOCAL_BYTES as u64).min(WINDOW) {
            return None;
        }
        let rows = file_rows(frame.row + callee.rows);
        if self.rows.len() < rows {
            self.rows.resize(rows, Row::ZERO);
        }
        let preds = (frame.pred + callee.preds) as usize;
        if self.preds.len() < preds {
            self.preds.resize(preds, 0);
        }
        let words = local.div_ceil(4) as usize;
        if self.local.len() < words {
            self.local.resize(words, Row::ZERO);
        }
        Some(frame)
    }

    /// Makes `frame` the current one, on top of the top entry's.
    pub(crate) fn enter_frame(&mut self, frame: Frame) -> u32 {
        self.frames.truncate(self.stack.top.frame as usize + 1);
        self.frames.push(frame);
        self.frame = frame;
        self.frames.len() as u32 - 1
    }

    /// Takes up the top entry's frame again, after a return or an exit.
    pub(crate) fn resume_frame(&mut self) {
        self.frames.truncate(self.stack.top.frame as usize + 1);
        if let Some(&frame) = self.frames.last() {
            self.frame = frame;
        }
    }
}

/// Rows of a register file: behind the registers lies a window that nothing reads on purpose, where results go that no
/// one wants, and which makes a window of the last register possible.
fn file_rows(registers: u32) -> usize {
    registers as usize + 2
}

fn clear(rows: &mut Vec<Row>, len: usize) {
    rows.clear();
    rows.resize(len, Row::ZERO);
}

fn component(v: Dim3, c: u8) -> u32 {
    v[(c as usize).min(2)]
}

/// Rows as bytes.
mod rows {
    use serde::{Deserializer, Serializer, de::Error};

    use crate::alu::Row;

    pub(super) fn serialize<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
        serde_bytes::serialize(bytemuck::cast_slice::<Row, u8>(rows), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Row>, D::Error> {
        let bytes: Vec<u8> = serde_bytes::deserialize(deserializer)?;
        if bytes.len() % size_of::<Row>() != 0 {
            return Err(D::Error::custom("a register file that is not whole rows"));
        }
        let mut rows = vec![Row::ZERO; bytes.len() / size_of::<Row>()];
        bytemuck::cast_slice_mut::<Row, u8>(&mut rows).copy_from_slice(&bytes);
        Ok(rows)
    }
}
