//! Texture fetches: 1D, 2D, 3D, layered, cube; nearest and linear; clamp and wrap.
//!
//! Source: CUDA C++ Programming Guide, appendix "Texture Fetching": filter weights are 9-bit fixed point with 8 fractional
//! bits, here rounded to nearest. Integer coordinates are never filtered and are clamped. Missing channels read zero.
//! Leaves out: mipmaps (any level reads the one level), border colours, gather, block-compressed formats. A fetch
//! accounts for one address per lane, that of its first texel.

use warpwatt_ptx::ir::TexGeom;

use super::memory::begin;
use super::{Env, Outcome, problem};
use crate::alu::Row;
use crate::device::{TexelFormat, TextureBinding};
use crate::effect::{Effect, EffectKind};
use crate::fault::{Direction, FaultKind};
use crate::memory::{GlobalAccess, lanes_of};
use crate::opinfo::MemSpace;
use crate::program::Program;
use crate::program::op::{Texture, TextureHandle};
use crate::space::TEXTURE_BASE;
use crate::warp::Warp;

impl TexelFormat {
    /// Bytes of a channel.
    pub fn bytes(self) -> u32 {
        match self {
            TexelFormat::U8 | TexelFormat::S8 => 1,
            TexelFormat::U16 | TexelFormat::S16 => 2,
            TexelFormat::U32 | TexelFormat::S32 | TexelFormat::F32 => 4,
        }
    }
}

/// Position on one axis: two texels and the weight of the second.
#[derive(Clone, Copy, Default)]
struct Axis {
    low: u32,
    high: u32,
    weight: f32,
}

/// Coordinates of a lane: up to three axes.
type Point = [Axis; 3];

fn clamp(i: f32, size: u32) -> u32 {
    // Conversions from float saturate, and a NaN becomes 0.
    (i as i64).clamp(0, size.max(1) as i64 - 1) as u32
}

/// A float coordinate to texels.
fn locate(x: f32, size: u32, binding: &TextureBinding) -> Axis {
    let n = size as f32;
    let wrap = binding.wrap && binding.normalized;
    let x = match (binding.normalized, wrap) {
        // Below 1, also where the difference rounds to it: the last texel.
        (true, true) => match x - x.floor() {
            1.0 => 1.0f32.next_down() * n,
            part => part * n,
        },
        (true, false) => x * n,
        (false, _) => x,
    };
    let index = |i: f32| {
        if wrap { (i as i64).rem_euclid(size.max(1) as i64) as u32 } else { clamp(i, size) }
    };
    if !binding.linear {
        let at = index(x.floor());
        return Axis { low: at, high: at, weight: 0.0 };
    }
    let x = x - 0.5;
    let low = x.floor();
    let weight = ((x - low) * 256.0 + 0.5).floor() / 256.0;
    Axis { low: index(low), high: index(low + 1.0), weight: if weight.is_nan() { 0.0 } else { weight } }
}

fn fixed(i: u32) -> Axis {
    Axis { low: i, high: i, weight: 0.0 }
}

/// Face and face coordinates in [0, 1] of a direction (the major axis rule of every graphics API).
fn cube_face(x: f32, y: f32, z: f32) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, major, s, t) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, ax, -z, -y) } else { (1, ax, z, -y) }
    } else if ay >= az {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if z >= 0.0 {
        (4, az, x, -y)
    } else {
        (5, az, -x, -y)
    };
    (face, (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0)
}

/// Where a lane fetches.
fn point(t: &Texture, binding: &TextureBinding, coords: [u32; 4]) -> Point {
    let [width, height, depth] = binding.size;
    let sizes = [width, height, depth];
    let axis = |value: u32, size: u32| {
        if t.float_coords {
            locate(f32::from_bits(value), size, binding)
        } else {
            fixed((value as i32).clamp(0, size.max(1) as i32 - 1) as u32)
        }
    };
    let layer = |value: u32| fixed(value.min(depth.max(1) - 1));
    let mut p = [Axis::default(); 3];
    match t.geometry {
        TexGeom::D1 => p[0] = axis(coords[0], sizes[0]),
        TexGeom::D2 => (0..2).for_each(|n| p[n] = axis(coords[n], sizes[n])),
        TexGeom::D3 => (0..3).for_each(|n| p[n] = axis(coords[n], sizes[n])),
        TexGeom::A1d => p = [axis(coords[1], width), Axis::default(), layer(coords[0])],
        TexGeom::A2d => p = [axis(coords[1], width), axis(coords[2], height), layer(coords[0])],
        // Only these are decoded.
        _ => {
            let [x, y, z] = [coords[0], coords[1], coords[2]].map(f32::from_bits);
            let (face, s, t) = cube_face(x, y, z);
            // Face coordinates are normalized and do not wrap.
            let face_binding = TextureBinding { normalized: true, wrap: false, ..binding.clone() };
            p = [locate(s, width, &face_binding), locate(t, height, &face_binding), fixed(face)];
        }
    }
    p
}

/// A channel's value: integer bits, or a float's.
fn channel(bytes: &[u8], binding: &TextureBinding) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let raw = u32::from_le_bytes(word);
    let signed = |bits: u32| ((raw << (32 - bits)) as i32) >> (32 - bits);
    let normalized = |value: f32| if binding.read_normalized { Some(value.max(-1.0)) } else { None };
    let (integer, float) = match binding.format {
        TexelFormat::U8 => (raw, normalized(raw as f32 / 255.0)),
        TexelFormat::S8 => (signed(8) as u32, normalized(signed(8) as f32 / 127.0)),
        TexelFormat::U16 => (raw, normalized(raw as f32 / 65535.0)),
        TexelFormat::S16 => (signed(16) as u32, normalized(signed(16) as f32 / 32767.0)),
        TexelFormat::U32 | TexelFormat::S32 | TexelFormat::F32 => (raw, None),
    };
    float.map_or(integer, f32::to_bits)
}

/// Loads one texel per lane; `value[lane]` gets the bytes of up to four channels.
fn texels<M: GlobalAccess>(
    memory: &mut M,
    lanes: u32,
    address: &[u64; 32],
    bytes: u32,
    value: &mut [[u8; 16]; 32],
) -> Outcome {
    macro_rules! load {
        ($bytes:literal) => {{
            let mut out = [[0u8; $bytes]; 32];
            let result = memory.load(lanes, address, &mut out);
            for lane in lanes_of(lanes) {
                value[lane][..$bytes].copy_from_slice(&out[lane]);
            }
            result
        }};
    }
    let result = match bytes {
        1 => load!(1),
        2 => load!(2),
        4 => load!(4),
        8 => load!(8),
        _ => load!(16),
    };
    match result {
        Ok(()) => Ok(()),
        Err(e) => problem(e.lane, FaultKind::access(e, MemSpace::Texture, Direction::Read, bytes)),
    }
}

/// What the texture operand names; all lanes must name one.
fn binding<'a>(
    warp: &Warp,
    launch: &'a crate::launch::Launch,
    program: &Program,
    t: &Texture,
    lanes: u32,
) -> Outcome<&'a TextureBinding> {
    let first = lanes.trailing_zeros();
    let fault = |problem_text: String| problem(first, FaultKind::Texture { problem: problem_text });
    let index = match t.texture {
        TextureHandle::Index(index) => index as u64,
        TextureHandle::Register { src, wide } => {
            let regs = warp.registers(program);
            let handle = regs.lane(src, wide, first as usize & 31);
            if lanes_of(lanes).any(|lane| regs.lane(src, wide, lane) != handle) {
                return fault("the lanes of the warp name different textures".to_string());
            }
            let offset = handle.wrapping_sub(TEXTURE_BASE);
            if offset % 16 != 0 || offset / 16 >= program.textures.len() as u64 {
                return fault(format!("{handle:#x} is no handle of a texture reference"));
            }
            offset / 16
        }
    };
    match launch.textures.get(index as usize) {
        Some(Some(binding)) => Ok(binding),
        _ => fault(format!("nothing is bound to texture reference {}", program.textures[index as usize])),
    }
}

pub(super) fn fetch<M: GlobalAccess>(
    warp: &mut Warp,
    env: &mut Env<'_, M>,
    effect: &mut Effect,
    program: &Program,
    t: &Texture,
    lanes: u32,
) -> Outcome {
    let launch = env.launch;
    let binding = binding(warp, launch, program, t, lanes)?;
    let channel_bytes = binding.format.bytes();
    let texel_bytes = channel_bytes * binding.channels.clamp(1, 4) as u32;
    if !matches!(texel_bytes, 1 | 2 | 4 | 8 | 16) {
        let text = format!("texels of {texel_bytes} bytes");
        return problem(lanes.trailing_zeros(), FaultKind::Texture { problem: text });
    }
    let filtered = binding.linear && t.float_coords;
    let axes = match t.geometry {
        TexGeom::D1 | TexGeom::A1d => 1,
        TexGeom::D3 => 3,
        _ => 2,
    };
    let fault = |text: &str| problem(lanes.trailing_zeros(), FaultKind::Texture { problem: text.to_string() });
    if filtered && binding.format != TexelFormat::F32 && !binding.read_normalized {
        return fault("linear filtering of integers that are not read as normalized floats");
    }
    if binding.read_normalized && channel_bytes == 4 {
        return fault("elements of 32 bits are not read as normalized floats");
    }
    if t.geometry == TexGeom::Cube && (binding.size[0] != binding.size[1] || binding.size[2] < 6) {
        return fault("a cube has six square faces");
    }

    let regs = warp.registers(program);
    let coords = t.coords.map(|src| regs.row(src));
    let mut points = [Point::default(); 32];
    for lane in lanes_of(lanes) {
        points[lane] = point(t, binding, coords.map(|row| row[lane]));
    }
    let slice = binding.pitch * binding.size[1].max(1) as u64;
    let mut sums = [[0u32; 4]; 32];
    effect.kind = EffectKind::Texture;
    begin(&mut effect.access, texel_bytes, channel_bytes);
    effect.access.texture = lanes;
    effect.access.read_only = true;
    for corner in 0..(if filtered { 1 << axes } else { 1 }) {
        let pick = |n: usize, a: &Axis| if corner >> n & 1 != 0 { a.high } else { a.low };
        let mut address = [0; 32];
        for lane in lanes_of(lanes) {
            let [x, y, z] = &points[lane];
            address[lane] = binding
                .address
                .wrapping_add(pick(0, x) as u64 * texel_bytes as u64)
                .wrapping_add((pick(1, y) as u64).wrapping_mul(binding.pitch))
                .wrapping_add((pick(2, z) as u64).wrapping_mul(slice));
        }
        let address = super::memory::part(&address, lanes);
        if corner == 0 {
            effect.access.address = address;
        }
        let mut bytes = [[0; 16]; 32];
        texels(&mut env.memory, lanes, &address, texel_bytes, &mut bytes)?;
        for lane in lanes_of(lanes) {
            let mut weight = 1.0f32;
            for (n, axis) in points[lane].iter().enumerate().take(axes) {
                weight *= if corner >> n & 1 != 0 { axis.weight } else { 1.0 - axis.weight };
            }
            let texel = bytes[lane][..texel_bytes as usize].chunks_exact(channel_bytes as usize);
            for (sum, value) in sums[lane].iter_mut().zip(texel) {
                let value = channel(value, binding);
                *sum = if filtered { (f32::from_bits(*sum) + weight * f32::from_bits(value)).to_bits() } else { value };
            }
        }
    }
    for (n, dest) in t.dests.iter().enumerate() {
        if let Some(dest) = dest {
            warp.row_mut(*dest).merge(&Row(sums.map(|s| s[n])), lanes);
        }
    }
    Ok(())
}
