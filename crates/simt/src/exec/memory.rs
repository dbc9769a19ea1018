//! Loads and stores: addresses, spaces, and the way between memory bytes and registers.

use super::{Env, Outcome, problem};
use crate::alu::{Row, Window, merge64};
use crate::cta::Cta;
use crate::effect::{Access, Effect, EffectKind};
use crate::fault::{AccessError, AccessProblem, Direction, FaultKind};
use crate::launch::Launch;
use crate::memory::{GlobalAccess, gather, lanes_of, scatter, shape};
use crate::opinfo::MemSpace;
use crate::program::Program;
use crate::program::op::{Address, Mem, Src};
use crate::space::{CONST_BASE, CONST_END, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW};
use crate::warp::Warp;

/// Puts the address of every lane into `out`; lanes that do not execute repeat one that does.
#[inline(always)]
pub(super) fn addresses(warp: &Warp, program: &Program, a: &Address, lanes: u32, out: &mut [u64; 32]) {
    let offset = a.offset as u64;
    match a.base {
        None => {
            let frame = if a.frame { warp.frame.local as u64 } else { 0 };
            *out = [offset.wrapping_add(frame); 32];
            return;
        }
        Some(base) if a.wide => {
            let base = warp.registers(program).wide(base);
            for (to, from) in out.iter_mut().zip(base) {
                *to = from.wrapping_add(offset);
            }
        }
        Some(base) => {
            let base = warp.registers(program).row(base);
            for (to, from) in out.iter_mut().zip(base) {
                *to = from.wrapping_add(offset as u32) as u64;
            }
        }
    }
    fill(out, lanes);
}

/// Gives lanes outside the mask the address of one inside.
#[inline(always)]
fn fill(address: &mut [u64; 32], lanes: u32) {
    if lanes != u32::MAX {
        let first = address[lanes.trailing_zeros() as usize & 31];
        for (lane, a) in address.iter_mut().enumerate() {
            *a = if lanes >> lane & 1 != 0 { *a } else { first };
        }
    }
}

/// Empties the masks.
#[inline(always)]
pub(super) fn begin(access: &mut Access, bytes: u32, element: u32) {
    access.bytes = bytes;
    access.element = element;
    access.global = 0;
    access.shared = 0;
    access.local = 0;
    access.constant = 0;
    access.param = 0;
    access.texture = 0;
    access.bypass_l1 = false;
    access.read_only = false;
    access.shared_spread = u64::MAX;
}

/// The spaces that a generic access touches.
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub(super) global: u32,
    pub(super) shared: u32,
    pub(super) local: u32,
    pub(super) param: u32,
}

/// Sorts the lanes of a generic access by window. Windows are adjacent, so one comparison finds that all lanes are
/// outside.
#[inline(always)]
pub(super) fn split(address: &[u64; 32], lanes: u32) -> Split {
    const { assert!(LOCAL_WINDOW == SHARED_WINDOW + WINDOW && PARAM_WINDOW == LOCAL_WINDOW + WINDOW) };
    let mut windowed = false;
    for &a in address {
        windowed |= a.wrapping_sub(SHARED_WINDOW) < 3 * WINDOW;
    }
    let mut s = Split { global: lanes, shared: 0, local: 0, param: 0 };
    if windowed {
        for lane in lanes_of(lanes) {
            let bit = 1 << lane;
            match address[lane].wrapping_sub(SHARED_WINDOW) / WINDOW {
                0 => s.shared |= bit,
                1 => s.local |= bit,
                2 => s.param |= bit,
                _ => {}
            }
        }
        s.global &= !(s.shared | s.local | s.param);
    }
    s
}

/// Turns the generic addresses of `lanes` into offsets in the window at `base`.
#[inline(always)]
pub(super) fn rebase(address: &mut [u64; 32], lanes: u32, base: u64) {
    for lane in lanes_of(lanes) {
        address[lane] -= base;
    }
}

/// The addresses of some lanes of an access, repeated for the others.
pub(super) fn part(address: &[u64; 32], lanes: u32) -> [u64; 32] {
    let mut part = *address;
    fill(&mut part, lanes);
    part
}

/// Finds the lane to blame for an access of `bytes` bytes to a space of `size` bytes from `base` on.
#[cold]
pub(super) fn blame(address: &[u64; 32], lanes: u32, bytes: u32, base: u64, size: u64) -> AccessError {
    let mut error = AccessError { problem: AccessProblem::OutOfBounds, lane: lanes.trailing_zeros(), address: 0 };
    for lane in lanes_of(lanes) {
        error.lane = lane as u32;
        error.address = address[lane];
        let offset = address[lane].wrapping_sub(base);
        if address[lane] & (bytes as u64 - 1) != 0 {
            error.problem = AccessProblem::Misaligned;
            return error;
        }
        if offset > size || size - offset < bytes as u64 {
            error.problem = AccessProblem::OutOfBounds;
            return error;
        }
    }
    error
}

/// Loads from memory that is one array. Gives the addresses' spread ([`Access::shared_spread`]).
#[inline(always)]
fn load_array<const B: usize>(
    data: &[u8],
    base: u64,
    lanes: u32,
    address: &[u64; 32],
    out: &mut [[u8; B]; 32],
) -> Result<u64, AccessError> {
    let shape = shape::<B>(address, base, data.len() as u64);
    if !shape.inside {
        return Err(blame(address, lanes, B as u32, base, data.len() as u64));
    }
    gather(data, base, shape, lanes, address, out);
    Ok(shape.spread)
}

#[inline(always)]
fn store_array<const B: usize>(
    data: &mut [u8],
    lanes: u32,
    address: &[u64; 32],
    values: &[[u8; B]; 32],
) -> Result<u64, AccessError> {
    let shape = shape::<B>(address, 0, data.len() as u64);
    if !shape.inside {
        return Err(blame(address, lanes, B as u32, 0, data.len() as u64));
    }
    scatter(data, 0, shape, lanes, address, values);
    Ok(shape.spread)
}

/// Bytes of local memory that a thread has in its present frames.
pub(super) fn local_size(program: &Program, warp: &Warp) -> u64 {
    let function = &program.functions[warp.frame.function as usize];
    warp.frame.local as u64 + function.local_bytes as u64
}

#[inline(always)]
fn load_local<const B: usize>(
    local: &[Row],
    size: u64,
    lanes: u32,
    address: &[u64; 32],
    out: &mut [[u8; B]; 32],
) -> Result<(), AccessError> {
    let shape = shape::<B>(address, 0, size);
    if !shape.inside {
        return Err(blame(address, lanes, B as u32, 0, size));
    }
    for lane in lanes_of(lanes) {
        let at = address[lane] as usize;
        let value = &mut out[lane];
        if B >= 4 {
            for (n, word) in value.chunks_exact_mut(4).enumerate() {
                word.copy_from_slice(&local[at / 4 + n].0[lane].to_le_bytes());
            }
        } else {
            value.copy_from_slice(&local[at / 4].0[lane].to_le_bytes()[at % 4..][..B]);
        }
    }
    Ok(())
}

#[inline(always)]
fn store_local<const B: usize>(
    local: &mut [Row],
    size: u64,
    lanes: u32,
    address: &[u64; 32],
    values: &[[u8; B]; 32],
) -> Result<(), AccessError> {
    let shape = shape::<B>(address, 0, size);
    if !shape.inside {
        return Err(blame(address, lanes, B as u32, 0, size));
    }
    for lane in lanes_of(lanes) {
        let at = address[lane] as usize;
        let value = &values[lane];
        if B >= 4 {
            for (n, word) in value.chunks_exact(4).enumerate() {
                if let Ok(bytes) = word.try_into() {
                    local[at / 4 + n].0[lane] = u32::from_le_bytes(bytes);
                }
            }
        } else {
            let mut bytes = local[at / 4].0[lane].to_le_bytes();
            bytes[at % 4..][..B].copy_from_slice(value);
            local[at / 4].0[lane] = u32::from_le_bytes(bytes);
        }
    }
    Ok(())
}

/// Everything that a load or store reaches.
pub(super) struct Reach<'a, M> {
    pub(super) local: &'a mut [Row],
    pub(super) local_size: u64,
    pub(super) shared: &'a mut [u8],
    pub(super) memory: &'a mut M,
    pub(super) launch: &'a Launch,
}

impl<M: GlobalAccess> Reach<'_, M> {
    /// Loads `B` bytes per lane, and notes in `access` where from.
    #[inline(always)]
    fn load<const B: usize>(
        &mut self,
        space: MemSpace,
        lanes: u32,
        access: &mut Access,
        out: &mut [[u8; B]; 32],
    ) -> Result<(), (MemSpace, AccessError)> {
        let fail = |e| (space, e);
        match space {
            MemSpace::Global => {
                access.global = lanes;
                self.memory.load(lanes, &access.address, out).map_err(fail)
            }
            MemSpace::Shared => {
                access.shared = lanes;
                access.shared_spread = load_array(self.shared, 0, lanes, &access.address, out).map_err(fail)?;
                Ok(())
            }
            MemSpace::Local => {
                access.local = lanes;
                load_local(self.local, self.local_size, lanes, &access.address, out).map_err(fail)
            }
            MemSpace::Param => {
                access.param = lanes;
                load_array(&self.launch.params, 0, lanes, &access.address, out).map_err(fail)?;
                Ok(())
            }
            MemSpace::Const => {
                access.constant = lanes;
                let base = self.launch.program.constant_base;
                load_array(&self.launch.constants, base, lanes, &access.address, out).map_err(fail)?;
                rebase(&mut access.address, lanes, base);
                Ok(())
            }
            MemSpace::Generic => {
                let s = split(&access.address, lanes);
                if s.global == lanes {
                    access.global = lanes;
                    return self.memory.load(lanes, &access.address, out).map_err(|e| (MemSpace::Global, e));
                }
                self.load_generic(s, access, out)
            }
            MemSpace::Texture => Ok(()),
        }
    }

    #[inline(never)]
    fn load_generic<const B: usize>(
        &mut self,
        s: Split,
        access: &mut Access,
        out: &mut [[u8; B]; 32],
    ) -> Result<(), (MemSpace, AccessError)> {
        rebase(&mut access.address, s.shared, SHARED_WINDOW);
        rebase(&mut access.address, s.local, LOCAL_WINDOW);
        rebase(&mut access.address, s.param, PARAM_WINDOW);
        access.global = s.global;
        access.shared = s.shared;
        access.local = s.local;
        access.param = s.param;
        if s.global != 0 {
            self.memory.load(s.global, &part(&access.address, s.global), out).map_err(|e| (MemSpace::Global, e))?;
        }
        if s.shared != 0 {
            load_array(self.shared, 0, s.shared, &part(&access.address, s.shared), out)
                .map_err(|e| (MemSpace::Shared, e))?;
        }
        if s.local != 0 {
            load_local(self.local, self.local_size, s.local, &part(&access.address, s.local), out)
                .map_err(|e| (MemSpace::Local, e))?;
        }
        if s.param != 0 {
            load_array(&self.launch.params, 0, s.param, &part(&access.address, s.param), out)
                .map_err(|e| (MemSpace::Param, e))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn store<const B: usize>(
        &mut self,
        space: MemSpace,
        lanes: u32,
        access: &mut Access,
        values: &[[u8; B]; 32],
    ) -> Result<(), (MemSpace, AccessError)> {
        let fail = |e| (space, e);
        match space {
            MemSpace::Global => {
                access.global = lanes;
                self.memory.store(lanes, &access.address, values).map_err(fail)
            }
            MemSpace::Shared => {
                access.shared = lanes;
                access.shared_spread = store_array(self.shared, lanes, &access.address, values).map_err(fail)?;
                Ok(())
            }
            MemSpace::Local => {
                access.local = lanes;
                store_local(self.local, self.local_size, lanes, &access.address, values).map_err(fail)
            }
            MemSpace::Generic => {
                let s = split(&access.address, lanes);
                if s.global == lanes {
                    access.global = lanes;
                    return self.memory.store(lanes, &access.address, values).map_err(|e| (MemSpace::Global, e));
                }
                self.store_generic(s, access, values)
            }
            // Refused when the program was built.
            MemSpace::Param | MemSpace::Const | MemSpace::Texture => Ok(()),
        }
    }

    #[inline(never)]
    fn store_generic<const B: usize>(
        &mut self,
        s: Split,
        access: &mut Access,
        values: &[[u8; B]; 32],
    ) -> Result<(), (MemSpace, AccessError)> {
        if s.param != 0 {
            let lane = s.param.trailing_zeros();
            let address = access.address[lane as usize] - PARAM_WINDOW;
            return Err((MemSpace::Param, AccessError { problem: AccessProblem::Forbidden, lane, address }));
        }
        rebase(&mut access.address, s.shared, SHARED_WINDOW);
        rebase(&mut access.address, s.local, LOCAL_WINDOW);
        access.global = s.global;
        access.shared = s.shared;
        access.local = s.local;
        if s.global != 0 {
            self.memory.store(s.global, &part(&access.address, s.global), values).map_err(|e| (MemSpace::Global, e))?;
        }
        if s.shared != 0 {
            store_array(self.shared, s.shared, &part(&access.address, s.shared), values)
                .map_err(|e| (MemSpace::Shared, e))?;
        }
        if s.local != 0 {
            store_local(self.local, self.local_size, s.local, &part(&access.address, s.local), values)
                .map_err(|e| (MemSpace::Local, e))?;
        }
        Ok(())
    }
}

#[cold]
fn refused(space: MemSpace, e: AccessError, direction: Direction, bytes: u32) -> Outcome {
    problem(e.lane, FaultKind::access(e, space, direction, bytes))
}

#[inline(always)]
pub(super) fn load<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    m: &Mem,
    lanes: u32,
) -> Outcome {
    let bytes = m.element as u32 * m.count as u32;
    let access = &mut effect.access;
    begin(access, bytes, m.element as u32);
    access.bypass_l1 = m.bypass_l1;
    access.read_only = m.read_only;
    if m.quiet {
        effect.kind = EffectKind::Alu;
    } else {
        effect.kind = EffectKind::Load;
    }
    addresses(warp, program, &m.address, lanes, &mut access.address);
    match bytes {
        4 => load_bytes::<4, M>(warp, cta, env, access, program, m, lanes),
        8 => load_bytes::<8, M>(warp, cta, env, access, program, m, lanes),
        16 => load_bytes::<16, M>(warp, cta, env, access, program, m, lanes),
        2 => load_bytes::<2, M>(warp, cta, env, access, program, m, lanes),
        _ => load_bytes::<1, M>(warp, cta, env, access, program, m, lanes),
    }
}

#[inline(always)]
fn load_bytes<const B: usize, M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    access: &mut Access,
    program: &Program,
    m: &Mem,
    lanes: u32,
) -> Outcome {
    let local_size = local_size(program, warp);
    let Warp { rows, local, frame, .. } = warp;
    let mut reach = Reach { local, local_size, shared: &mut cta.shared, memory: &mut env.memory, launch: env.launch };
    // One element of a register's size goes straight to its rows.
    if m.element as usize == B && m.register == m.element && B >= 4 && m.count == 1 {
        let first = frame.row as usize + m.registers[0].row();
        let out = bytemuck::cast_slice_mut::<Row, [u8; B]>(&mut rows[first..first + B / 4]);
        if let Some(out) = out.first_chunk_mut() {
            if let Err((space, e)) = reach.load(m.space, lanes, access, out) {
                return refused(space, e, Direction::Read, B as u32);
            }
        }
        return Ok(());
    }
    let mut out = [[0; B]; 32];
    if let Err((space, e)) = reach.load(m.space, lanes, access, &mut out) {
        return refused(space, e, Direction::Read, B as u32);
    }
    spread(warp, m, &out, lanes);
    Ok(())
}

/// Distributes loaded bytes to registers.
#[inline(always)]
fn spread<const B: usize>(warp: &mut Warp, m: &Mem, bytes: &[[u8; B]; 32], lanes: u32) {
    for n in 0..m.count as usize {
        let dest = m.registers[n].row() as u32;
        match (m.element, m.register) {
            (4, 4) => warp.row_mut(dest).merge(&Row(element::<B, 4>(bytes, n).map(u32::from_le_bytes)), lanes),
            (8, 8) => {
                let values: Window = bytemuck::cast(element::<B, 8>(bytes, n));
                merge64(warp.window_mut(dest), &values, lanes);
            }
            _ => narrow(warp, m, bytes, n, lanes),
        }
    }
}

/// Element `n` of every lane.
#[inline(always)]
fn element<const B: usize, const E: usize>(bytes: &[[u8; B]; 32], n: usize) -> [[u8; E]; 32] {
    std::array::from_fn(|lane| bytes[lane].get(n * E..).and_then(|b| b.first_chunk()).copied().unwrap_or([0; E]))
}

/// Elements smaller than their registers: extended.
#[inline(never)]
fn narrow<const B: usize>(warp: &mut Warp, m: &Mem, bytes: &[[u8; B]; 32], n: usize, lanes: u32) {
    let values: [u64; 32] = match (m.element, m.signed) {
        (1, false) => element::<B, 1>(bytes, n).map(|b| b[0] as u64),
        (1, true) => element::<B, 1>(bytes, n).map(|b| b[0] as i8 as u64),
        (2, false) => element::<B, 2>(bytes, n).map(|b| u16::from_le_bytes(b) as u64),
        (2, true) => element::<B, 2>(bytes, n).map(|b| i16::from_le_bytes(b) as u64),
        (_, false) => element::<B, 4>(bytes, n).map(|b| u32::from_le_bytes(b) as u64),
        (_, true) => element::<B, 4>(bytes, n).map(|b| i32::from_le_bytes(b) as u64),
    };
    let dest = m.registers[n].row() as u32;
    match m.register {
        8 => warp.set_lanes(dest, true, &values, lanes),
        4 => warp.set_lanes(dest, false, &values, lanes),
        // 8- and 16-bit values lie zero-extended in their row.
        2 => warp.set_lanes(dest, false, &values.map(|v| v & 0xffff), lanes),
        _ => warp.set_lanes(dest, false, &values.map(|v| v & 0xff), lanes),
    }
}

#[inline(always)]
pub(super) fn store<M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    m: &Mem,
    lanes: u32,
) -> Outcome {
    let bytes = m.element as u32 * m.count as u32;
    let access = &mut effect.access;
    begin(access, bytes, m.element as u32);
    access.bypass_l1 = m.bypass_l1;
    effect.kind = if m.quiet { EffectKind::Alu } else { EffectKind::Store };
    addresses(warp, program, &m.address, lanes, &mut access.address);
    match bytes {
        4 => store_bytes::<4, M>(warp, cta, env, access, program, m, lanes),
        8 => store_bytes::<8, M>(warp, cta, env, access, program, m, lanes),
        16 => store_bytes::<16, M>(warp, cta, env, access, program, m, lanes),
        2 => store_bytes::<2, M>(warp, cta, env, access, program, m, lanes),
        _ => store_bytes::<1, M>(warp, cta, env, access, program, m, lanes),
    }
}

#[inline(always)]
fn store_bytes<const B: usize, M: GlobalAccess>(
    warp: &mut Warp,
    cta: &mut Cta,
    env: &mut Env<'_, M>,
    access: &mut Access,
    program: &Program,
    m: &Mem,
    lanes: u32,
) -> Outcome {
    let mut values = [[0; B]; 32];
    collect(warp, program, m, &mut values);
    let local_size = local_size(program, warp);
    let mut reach = Reach {
        local: &mut warp.local,
        local_size,
        shared: &mut cta.shared,
        memory: &mut env.memory,
        launch: env.launch,
    };
    match reach.store(m.space, lanes, access, &values) {
        Ok(()) => Ok(()),
        Err((space, e)) => refused(space, e, Direction::Write, B as u32),
    }
}

/// Gathers the bytes to store from registers.
#[inline(always)]
fn collect<const B: usize>(warp: &Warp, program: &Program, m: &Mem, values: &mut [[u8; B]; 32]) {
    let regs = warp.registers(program);
    for n in 0..m.count as usize {
        let src: Src = m.registers[n];
        match (m.element, m.register) {
            (4, 4) => put::<B, 4>(values, n, |lane| regs.row(src)[lane].to_le_bytes()),
            (8, _) => put::<B, 8>(values, n, |lane| regs.wide(src)[lane].to_le_bytes()),
            (4, _) => put::<B, 4>(values, n, |lane| (regs.wide(src)[lane] as u32).to_le_bytes()),
            (2, size) => put::<B, 2>(values, n, |lane| (regs.lane(src, size == 8, lane) as u16).to_le_bytes()),
            (_, size) => put::<B, 1>(values, n, |lane| [regs.lane(src, size == 8, lane) as u8]),
        }
    }
}

#[inline(always)]
fn put<const B: usize, const E: usize>(values: &mut [[u8; B]; 32], n: usize, value: impl Fn(usize) -> [u8; E]) {
    for (lane, bytes) in values.iter_mut().enumerate() {
        if let Some(place) = bytes.get_mut(n * E..).and_then(|b| b.first_chunk_mut()) {
            *place = value(lane);
        }
    }
}

/// Lanes whose generic address lies in a space.
pub(super) fn is_space(warp: &Warp, program: &Program, wide: bool, src: Src, space: MemSpace) -> u32 {
    let regs = warp.registers(program);
    let mut result = 0;
    for lane in 0..32 {
        let a = regs.lane(src, wide, lane);
        let window = a.wrapping_sub(SHARED_WINDOW) / WINDOW;
        let inside = match space {
            MemSpace::Shared => window == 0,
            MemSpace::Local => window == 1,
            MemSpace::Param => window == 2,
            MemSpace::Const => (CONST_BASE..CONST_END).contains(&a),
            // The window of the kernel's parameters lies in that of global memory (PTX manual, `isspacep`).
            _ => window >= 2 && !(CONST_BASE..CONST_END).contains(&a),
        };
        result |= (inside as u32) << lane;
    }
    result
}
