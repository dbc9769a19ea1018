//! How a warp reaches global memory: all lanes of an access at once, checked, with fast paths for the common shapes.
//!
//! The common case, a warp inside one allocation, costs one pass over the addresses that the compiler vectorizes; whole
//! warps at unit stride are one copy. Everything else goes lane by lane.

use super::GlobalMemory;
use crate::effect::{AtomicOp, AtomicType};
use crate::fault::{AccessError, AccessProblem};
use crate::space::{CONST_BASE, CONST_END};

/// Global memory as one warp sees it.
///
/// `lanes` is never zero. Every entry of `address` holds some address: lanes outside `lanes` repeat that of a lane
/// inside. Lanes outside `lanes` keep their place in `out`. The first lane in lane order with a problem is the one that is
/// reported, and then nothing was stored.
pub trait GlobalAccess {
    /// Whether atomics on global memory, and `malloc` and `free`, are left to the caller of
    /// [`step`](crate::exec::step), which finds their operands in the effect.
    const DEFERRED_ATOMICS: bool;

    /// Loads `B` (1, 2, 4, 8 or 16) bytes per lane.
    fn load<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        out: &mut [[u8; B]; 32],
    ) -> Result<(), AccessError>;

    /// Stores `B` bytes per lane; where lanes store to the same bytes, the highest lane wins.
    fn store<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        data: &[[u8; B]; 32],
    ) -> Result<(), AccessError>;

    /// Performs one atomic and gives the old value. Not called if [`GlobalAccess::DEFERRED_ATOMICS`].
    fn atomic(
        &mut self,
        lane: u32,
        address: u64,
        op: AtomicOp,
        ty: AtomicType,
        operand: u64,
        swap: u64,
    ) -> Result<u64, AccessError>;

    /// Whether an atomic of `bytes` bytes may be performed.
    fn check(&self, lane: u32, address: u64, bytes: u32) -> Result<(), AccessError>;

    /// Reads single bytes (format strings): `false` if the range is not inside an allocation.
    fn read(&self, address: u64, out: &mut [u8]) -> bool;

    /// Device `malloc`. Not called if [`GlobalAccess::DEFERRED_ATOMICS`].
    fn malloc(&mut self, bytes: u64) -> u64;

    /// Device `free`; `false` if the address is not a live block. Not called if [`GlobalAccess::DEFERRED_ATOMICS`].
    fn free(&mut self, address: u64) -> bool;
}

/// Memory that is executed on directly, atomics included: the functional simulator's view.
#[derive(Debug)]
pub struct Direct<'a> {
    memory: &'a mut GlobalMemory,
    hint: usize,
}

impl<'a> Direct<'a> {
    /// A view of all memory.
    pub fn new(memory: &'a mut GlobalMemory) -> Direct<'a> {
        Direct { memory, hint: 0 }
    }
}

/// The shape of an access of `B` bytes per lane relative to an allocation.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// All lanes are aligned and inside.
    pub(crate) inside: bool,
    /// Lane i is at the first lane's address + i × B.
    pub(crate) unit_stride: bool,
    /// All lanes have one address.
    pub(crate) uniform: bool,
    /// Bits in which any address differs from the first.
    pub(crate) spread: u64,
}

/// One pass over the addresses, without branches.
#[inline(always)]
pub(crate) fn shape<const B: usize>(address: &[u64; 32], base: u64, size: u64) -> Shape {
    let Some(last) = size.checked_sub(B as u64) else {
        return Shape { inside: false, unit_stride: false, uniform: false, spread: u64::MAX };
    };
    let first = address[0];
    let (mut outside, mut low, mut stride, mut differ) = (0u64, 0u64, 0u64, 0u64);
    for (lane, &a) in address.iter().enumerate() {
        let offset = a.wrapping_sub(base);
        // Sizes are below 2⁶³, so the sign bit is set exactly if offset > last.
        outside |= offset | last.wrapping_sub(offset);
        low |= offset;
        stride |= a.wrapping_sub(first) ^ (lane * B) as u64;
        differ |= a ^ first;
    }
    Shape {
        inside: outside >> 63 == 0 && low & (B as u64 - 1) == 0,
        unit_stride: stride == 0,
        uniform: differ == 0,
        spread: differ,
    }
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

#[inline(always)]
pub(super) fn load<const B: usize>(
    memory: &GlobalMemory,
    hint: &mut usize,
    lanes: u32,
    address: &[u64; 32],
    out: &mut [[u8; B]; 32],
) -> Result<(), AccessError> {
    if let Some(index) = memory.find(address[0], *hint) {
        *hint = index;
        let segment = memory.segment(index);
        let data = segment.data();
        let shape = shape::<B>(address, segment.base(), data.len() as u64);
        if shape.inside {
            gather(data, segment.base(), shape, lanes, address, out);
            return Ok(());
        }
    }
    load_slowly(memory, lanes, address, out)
}

/// Copies lanes out of memory. `shape` is that of `address` in `data`, and is inside.
#[inline(always)]
pub(crate) fn gather<const B: usize>(
    data: &[u8],
    base: u64,
    shape: Shape,
    lanes: u32,
    address: &[u64; 32],
    out: &mut [[u8; B]; 32],
) {
    // SAFETY: `shape.inside` says that every address, active or not, is at an offset of at most `data.len() - B`.
    let at =
        |lane: usize| unsafe { data.as_ptr().add(address[lane].wrapping_sub(base) as usize).cast::<[u8; B]>().read() };
    debug_assert!(shape.inside);
    if lanes == u32::MAX {
        if shape.unit_stride {
            let start = (address[0] - base) as usize;
            out.as_flattened_mut().copy_from_slice(&data[start..start + 32 * B]);
        } else if shape.uniform {
            *out = [at(0); 32];
        } else {
            for (lane, value) in out.iter_mut().enumerate() {
                *value = at(lane);
            }
        }
    } else {
        for lane in lanes_of(lanes) {
            out[lane] = at(lane);
        }
    }
}

/// Copies lanes into memory. `shape` is that of `address` in `data`, and is inside.
#[inline(always)]
pub(crate) fn scatter<const B: usize>(
    data: &mut [u8],
    base: u64,
    shape: Shape,
    lanes: u32,
    address: &[u64; 32],
    values: &[[u8; B]; 32],
) {
    debug_assert!(shape.inside);
    if lanes == u32::MAX && shape.unit_stride {
        let start = (address[0] - base) as usize;
        data[start..start + 32 * B].copy_from_slice(values.as_flattened());
    } else {
        for lane in lanes_of(lanes) {
            // SAFETY: as in `gather`.
            unsafe {
                data.as_mut_ptr().add(address[lane].wrapping_sub(base) as usize).cast::<[u8; B]>().write(values[lane]);
            }
        }
    }
}

#[cold]
#[inline(never)]
fn load_slowly<const B: usize>(
    memory: &GlobalMemory,
    lanes: u32,
    address: &[u64; 32],
    out: &mut [[u8; B]; 32],
) -> Result<(), AccessError> {
    for lane in lanes_of(lanes) {
        match memory.check(lane as u32, address[lane], B as u32) {
            Ok(()) | Err(AccessError { problem: AccessProblem::Forbidden, .. }) => {}
            Err(e) => return Err(e),
        }
        if let Some(from) = memory.slice(address[lane], B as u64) {
            out[lane].copy_from_slice(from);
        }
    }
    Ok(())
}

/// Checks all lanes of a store one by one.
#[cold]
#[inline(never)]
pub(super) fn check_store<const B: usize>(
    memory: &GlobalMemory,
    lanes: u32,
    address: &[u64; 32],
) -> Result<(), AccessError> {
    lanes_of(lanes).try_for_each(|lane| memory.check(lane as u32, address[lane], B as u32))
}

/// Whether stores to a segment with this base are allowed.
#[inline(always)]
pub(super) fn writable(base: u64) -> bool {
    !(CONST_BASE..CONST_END).contains(&base)
}

impl GlobalAccess for Direct<'_> {
    const DEFERRED_ATOMICS: bool = false;

    #[inline(always)]
    fn load<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        out: &mut [[u8; B]; 32],
    ) -> Result<(), AccessError> {
        load(self.memory, &mut self.hint, lanes, address, out)
    }

    #[inline(always)]
    fn store<const B: usize>(
        &mut self,
        lanes: u32,
        address: &[u64; 32],
        data: &[[u8; B]; 32],
    ) -> Result<(), AccessError> {
        if let Some(index) = self.memory.find(address[0], self.hint) {
            self.hint = index;
            let segment = self.memory.segment_mut(index);
            let base = segment.base();
            let shape = shape::<B>(address, base, segment.data().len() as u64);
            if shape.inside && writable(base) {
                scatter(segment.data_mut(), base, shape, lanes, address, data);
                return Ok(());
            }
        }
        check_store::<B>(self.memory, lanes, address)?;
        for lane in lanes_of(lanes) {
            if let Some(to) = self.memory.slice_mut(address[lane], B as u64) {
                to.copy_from_slice(&data[lane]);
            }
        }
        Ok(())
    }

    #[inline]
    fn atomic(
        &mut self,
        lane: u32,
        address: u64,
        op: AtomicOp,
        ty: AtomicType,
        operand: u64,
        swap: u64,
    ) -> Result<u64, AccessError> {
        self.memory.atomic(address, op, ty, operand, swap).map_err(|e| AccessError { lane, ..e })
    }

    fn check(&self, lane: u32, address: u64, bytes: u32) -> Result<(), AccessError> {
        self.memory.check(lane, address, bytes)
    }

    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        self.memory.read(address, out).is_ok()
    }

    fn malloc(&mut self, bytes: u64) -> u64 {
        self.memory.malloc(bytes)
    }

    fn free(&mut self, address: u64) -> bool {
        self.memory.free(address)
    }
}
