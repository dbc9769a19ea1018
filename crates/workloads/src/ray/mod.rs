//! `RAY`: ray tracing of mirrored balls over a floor.
//!
//! Algorithm: Whitted, "An improved illumination model for shaded display", CACM 23, 1980: from each pixel a ray to the
//! nearest of all balls (in constant memory) and the floor, a ray from there to the light, and on in the mirrored direction.
//! A thread a pixel; neighbours part at the edges of balls and shadows and after each bounce, and what is seen at each bounce
//! goes through local memory, as with the recursion of the published benchmark. Square roots and divisions in between.
//!
//! Bit-exact: fused multiply-adds, divisions and square roots in the same order.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "RAY",
    suite: "ISPASS 2009",
    description: "ray tracing: shadows and reflections that diverge, square roots, a stack in local memory",
    small: "64 × 48 pixels, 12 balls, 4 bounces",
    full: "256 × 192 pixels, 20 balls, 4 bounces",
    kernels: &["ray_trace"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const BLOCK: [usize; 2] = [16, 8];
const BOUNCES: usize = 4;
const LIGHT: [f32; 3] = [-6.0, 9.0, -7.0];

struct Scene {
    width: usize,
    height: usize,
    /// Centre and squared radius.
    balls: Vec<[f32; 4]>,
    /// Colour and the share of light that is mirrored.
    surfaces: Vec<[f32; 4]>,
}

impl Scene {
    /// Balls that lie on the floor, some into each other; one in three does not mirror.
    fn generate(width: usize, height: usize, balls: usize) -> Self {
        let mut rng = Rng::named("RAY/scene");
        let mut scene = Scene { width, height, balls: Vec::new(), surfaces: Vec::new() };
        for k in 0..balls {
            let radius = rng.range(0.4, 1.2);
            scene.balls.push([rng.range(-5.0, 5.0), radius, rng.range(-2.0, 7.0), radius * radius]);
            let mirrored = if k % 3 == 0 { 0.0 } else { rng.range(0.3, 0.8) };
            scene.surfaces.push([rng.range(0.2, 1.0), rng.range(0.2, 1.0), rng.range(0.2, 1.0), mirrored]);
        }
        scene
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let scene = size.pick(Scene::generate(64, 48, 12), Scene::generate(256, 192, 20));
    let got = drive(gpu, &scene)?;
    Ok(Checker::new().exact("pixels", &got, &reference::picture(&scene)).finish())
}

/// Red, green and blue in a word each, from the lowest byte up.
fn drive(gpu: &mut dyn Device, scene: &Scene) -> Result<Vec<u32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    store_symbol(gpu, "ball", scene.balls.as_flattened())?;
    store_symbol(gpu, "surface", scene.surfaces.as_flattened())?;
    let count = scene.width * scene.height;
    let pixels = zeroed::<u32>(gpu, count)?;
    let mut args = vec![Arg::Ptr(pixels)];
    args.extend([scene.width, scene.height, scene.balls.len(), BOUNCES].map(int));
    args.extend(LIGHT.map(Arg::F32));
    let grid = [blocks(scene.width, BLOCK[0]), blocks(scene.height, BLOCK[1]), 1];
    gpu.launch("ray_trace", grid, [BLOCK[0] as u32, BLOCK[1] as u32, 1], 0, &args)?;
    load(gpu, pixels, count)
}
