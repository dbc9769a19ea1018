//! Global memory: allocations with exact bounds, module variables, constant banks, the device heap.
//!
//! Models: a flat 64-bit address space ([`crate::space`]) with bounds checked at byte precision per allocation (the
//! device heap counts as one allocation). Leaves out: translation, paging, freeing of host allocations.

mod access;
mod atomic;
mod heap;
mod log;

pub use access::{Direct, GlobalAccess};
pub(crate) use access::{gather, lanes_of, scatter, shape};
pub use atomic::apply as apply_atomic;
pub(crate) use atomic::on_bytes;
pub use log::{StoreLog, WindowView};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::effect::{AtomicOp, AtomicType};
use crate::fault::{AccessError, AccessProblem};
use crate::space::*;
use heap::Heap;

/// Bytes of a device's global memory.
pub const DEVICE_BYTES: u64 = 4 << 30;

/// Why memory could not be reserved or touched by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The device has less memory.
    #[error("out of device memory: {wanted} bytes wanted, {used} of {limit} bytes in use")]
    OutOfMemory {
        /// Bytes asked for.
        wanted: u64,
        /// Bytes in use.
        used: u64,
        /// Capacity.
        limit: u64,
    },
    /// A region of the address map is full.
    #[error("no room for {wanted} bytes in the {region} region of the address map")]
    RegionFull {
        /// Bytes asked for.
        wanted: u64,
        /// Region.
        region: &'static str,
    },
    /// The range is not inside one allocation.
    #[error("{bytes} bytes at device address {address:#x} are not inside an allocation")]
    OutOfBounds {
        /// Start.
        address: u64,
        /// Length.
        bytes: u64,
    },
}

/// Where a new allocation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Host buffers, from [`BUFFER_BASE`].
    Buffer,
    /// Module variables, from [`MODULE_BASE`].
    Module,
    /// Constant banks, from [`CONST_BASE`].
    Constant,
}

/// One allocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// First address, a multiple of [`ALLOCATION_ALIGN`].
    base: u64,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

impl Segment {
    #[inline(always)]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    #[inline(always)]
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    #[inline(always)]
    pub(crate) fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    #[inline(always)]
    fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }
}

/// Device memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GlobalMemory {
    /// In order of addresses.
    segments: Vec<Segment>,
    next_buffer: u64,
    next_module: u64,
    next_constant: u64,
    used: u64,
    limit: u64,
    heap: Heap,
}

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory::new(DEVICE_BYTES, 8 << 20)
    }
}

impl GlobalMemory {
    /// Empty memory of `limit` bytes, with a device heap of `heap` bytes (reserved at the first `malloc`).
    pub fn new(limit: u64, heap: u64) -> GlobalMemory {
        GlobalMemory {
            segments: Vec::new(),
            next_buffer: BUFFER_BASE,
            next_module: MODULE_BASE,
            next_constant: CONST_BASE,
            used: 0,
            limit,
            heap: Heap::new(heap.min(BUFFER_BASE - HEAP_BASE)),
        }
    }

    /// Reserves `bytes` zeroed bytes at the region's next multiple of 256. An allocation of no bytes takes a place of
    /// its own, but no access to it is valid.
    pub fn alloc(&mut self, region: Region, bytes: u64) -> Result<u64, MemoryError> {
        self.alloc_aligned(region, bytes, 1)
    }

    /// As [`GlobalMemory::alloc`], at a multiple of `align` (a power of two) too.
    pub fn alloc_aligned(&mut self, region: Region, bytes: u64, align: u32) -> Result<u64, MemoryError> {
        let room = self.limit - self.used;
        if bytes > room {
            return Err(MemoryError::OutOfMemory { wanted: bytes, used: self.used, limit: self.limit });
        }
        let (next, end, name) = match region {
            Region::Buffer => (&mut self.next_buffer, u64::MAX >> 1, "buffer"),
            Region::Module => (&mut self.next_module, MODULE_END, "module"),
            Region::Constant => (&mut self.next_constant, CONST_END, "constant"),
        };
        let base = next.next_multiple_of(ALLOCATION_ALIGN.max(align as u64));
        let step = bytes.max(1).next_multiple_of(ALLOCATION_ALIGN);
        if step > end.saturating_sub(base) {
            return Err(MemoryError::RegionFull { wanted: bytes, region: name });
        }
        *next = base + step;
        self.used += bytes;
        self.insert(base, bytes);
        Ok(base)
    }

    fn insert(&mut self, base: u64, bytes: u64) {
        let at = self.segments.partition_point(|s| s.base < base);
        self.segments.insert(at, Segment { base, data: vec![0; bytes as usize] });
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Index of the allocation that holds `address`; `hint` is tried first.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64, hint: usize) -> Option<usize> {
        if let Some(s) = self.segments.get(hint) {
            if address.wrapping_sub(s.base) < s.data.len() as u64 {
                return Some(hint);
            }
        }
        self.search(address)
    }

    #[cold]
    fn search(&self, address: u64) -> Option<usize> {
        let after = self.segments.partition_point(|s| s.base <= address);
        let index = after.checked_sub(1)?;
        (address < self.segments[index].end()).then_some(index)
    }

    #[inline(always)]
    pub(crate) fn segment(&self, index: usize) -> &Segment {
        &self.segments[index]
    }

    #[inline(always)]
    pub(crate) fn segment_mut(&mut self, index: usize) -> &mut Segment {
        &mut self.segments[index]
    }

    /// `bytes` bytes at `address`, if one allocation holds them.
    #[inline]
    pub fn slice(&self, address: u64, bytes: u64) -> Option<&[u8]> {
        let segment = &self.segments[self.find(address, usize::MAX)?];
        let start = address - segment.base;
        segment.data.get(start as usize..start.checked_add(bytes)? as usize)
    }

    /// As [`GlobalMemory::slice`], to write to.
    #[inline]
    pub fn slice_mut(&mut self, address: u64, bytes: u64) -> Option<&mut [u8]> {
        let index = self.find(address, usize::MAX)?;
        let segment = &mut self.segments[index];
        let start = address - segment.base;
        segment.data.get_mut(start as usize..start.checked_add(bytes)? as usize)
    }

    /// Copies out of memory.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let bytes = out.len() as u64;
        if bytes == 0 {
            return Ok(());
        }
        out.copy_from_slice(self.slice(address, bytes).ok_or(MemoryError::OutOfBounds { address, bytes })?);
        Ok(())
    }

    /// Copies into memory.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let bytes = data.len() as u64;
        if bytes == 0 {
            return Ok(());
        }
        self.slice_mut(address, bytes).ok_or(MemoryError::OutOfBounds { address, bytes })?.copy_from_slice(data);
        Ok(())
    }

    /// Whether `bytes` bytes at `address` may be accessed: aligned and inside an allocation.
    pub fn check(&self, lane: u32, address: u64, bytes: u32) -> Result<(), AccessError> {
        let problem = if address < NULL_END {
            AccessProblem::Null
        } else if address & (bytes as u64 - 1) != 0 {
            AccessProblem::Misaligned
        } else if self.slice(address, bytes as u64).is_none() {
            AccessProblem::OutOfBounds
        } else if (CONST_BASE..CONST_END).contains(&address) {
            AccessProblem::Forbidden
        } else {
            return Ok(());
        };
        Err(AccessError { problem, lane, address })
    }

    /// Performs one atomic and gives the old value (zero-extended bits). This is what a memory partition does with a
    /// deferred atomic; the operands were checked when it issued. `atom.add.f32` on global memory flushes subnormal
    /// inputs and results to zero (PTX manual, `atom`).
    pub fn atomic(
        &mut self,
        address: u64,
        op: AtomicOp,
        ty: AtomicType,
        operand: u64,
        swap: u64,
    ) -> Result<u64, AccessError> {
        let bytes = ty.bytes();
        self.check(0, address, bytes)?;
        let Some(place) = self.slice_mut(address, bytes as u64) else {
            return Err(AccessError { problem: AccessProblem::OutOfBounds, lane: 0, address });
        };
        Ok(atomic::on_bytes(place, op, ty, operand, swap, true))
    }

    /// Device `malloc`: first fit, 16-byte aligned; 0 if the heap has no room.
    pub fn malloc(&mut self, bytes: u64) -> u64 {
        if !self.heap.reserved() {
            let size = self.heap.size().min(self.limit - self.used);
            self.heap.reserve(size);
            self.used += size;
            self.insert(HEAP_BASE, size);
        }
        self.heap.malloc(bytes).map_or(0, |offset| HEAP_BASE + offset)
    }

    /// Device `free`; a null pointer is ignored. Says whether the address was a live block.
    pub fn free(&mut self, address: u64) -> bool {
        address == 0 || (address >= HEAP_BASE && self.heap.free(address - HEAP_BASE))
    }
}
