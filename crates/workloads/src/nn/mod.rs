//! `NN`: inference of a small convolutional network that reads handwritten digits.
//!
//! Algorithm: the network of Simard, Steinkraus, Platt, "Best practices for convolutional neural networks applied to visual
//! document analysis", ICDAR 2003: 29 × 29 pixels; 6 maps of 13 × 13 and 50 maps of 5 × 5, both by 5 × 5 windows at every
//! second place; 100 and 10 fully connected neurons; scaled hyperbolic tangents. One block per map and image in the
//! convolutions (blocks of 169 and 25 threads), one block of a single thread per neuron behind them: most warp instructions
//! have one active lane, and there is little to hide a latency behind. The weights are random (no training takes place).
//!
//! Tolerance: 10⁻⁵ of the activations' range, 1.7159. `ex2.approx` and `div.approx` are right to 2⁻²² of the result each
//! and the argument of `ex2` to 2⁻²³ or so: 10⁻⁶ a neuron. Errors of a layer reach the next one through weights whose
//! squares add up to one, and a slope of at most 1.15; roundings of sums of up to 1251 terms add √1251 × 2⁻²⁴.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "NN",
    suite: "ISPASS 2009",
    description: "neural network that reads digits: small convolutions, then blocks of one thread",
    small: "1 image",
    full: "16 images",
    kernels: &["nn_convolve", "nn_connect"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const EDGE: usize = 29;
const KERNEL: usize = 5;
const TOLERANCE: f64 = 1e-5;
/// The largest activation.
const RANGE: f64 = 1.7159;

/// Maps, edge of a map.
type Shape = (usize, usize);
/// Inputs of the two convolutions and the two fully connected layers, and the outputs of the last.
const SHAPES: [Shape; 5] = [(1, EDGE), (6, 13), (50, 5), (100, 1), (10, 1)];

struct Network {
    /// Per layer and neuron (in a convolution: per map): a bias and its weights.
    weights: Vec<Vec<f32>>,
    /// Image after image, −1 (white) to 1.
    images: Vec<f32>,
}

impl Network {
    fn generate(images: usize) -> Self {
        let mut rng = Rng::named("NN/weights");
        let layers = SHAPES.windows(2).enumerate().map(|(layer, shapes)| {
            let inputs = inputs_of_a_neuron(layer);
            // A variance of 1 / inputs each.
            let limit = (3.0 / inputs as f32).sqrt();
            rng.floats(shapes[1].0 * (inputs + 1), -limit, limit)
        });
        let weights = layers.collect();
        // Blurred strokes: discs along a bent line.
        let mut rng = Rng::named("NN/images");
        let images = (0..images).flat_map(|_| stroke(&mut rng)).collect();
        Network { weights, images }
    }

    fn image_count(&self) -> usize {
        self.images.len() / (EDGE * EDGE)
    }
}

fn inputs_of_a_neuron(layer: usize) -> usize {
    let (maps, edge) = SHAPES[layer];
    if layer < 2 { maps * KERNEL * KERNEL } else { maps * edge * edge }
}

fn stroke(rng: &mut Rng) -> Vec<f32> {
    let [x0, y0, x1, y1, x2, y2] = [(); 6].map(|()| rng.range(6.0, 23.0));
    let bend = |t: f32, a: f32, b: f32, c: f32| a * (1.0 - t) * (1.0 - t) + b * 2.0 * t * (1.0 - t) + c * t * t;
    let path: Vec<(f32, f32)> =
        (0..=24).map(|i| i as f32 / 24.0).map(|t| (bend(t, x0, x1, x2), bend(t, y0, y1, y2))).collect();
    let ink = |i: usize| {
        let (x, y) = ((i % EDGE) as f32, (i / EDGE) as f32);
        let nearest = path.iter().map(|(px, py)| (px - x) * (px - x) + (py - y) * (py - y)).fold(f32::MAX, f32::min);
        (2.0 - nearest / 3.0).clamp(-1.0, 1.0)
    };
    (0..EDGE * EDGE).map(ink).collect()
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let network = Network::generate(size.pick(1, 16));
    let got = drive(gpu, &network)?;
    let want = reference::layers(&network);
    let names = ["first maps", "second maps", "hidden neurons", "digits"];
    let mut checker = Checker::new();
    for ((name, got), want) in names.iter().zip(&got).zip(&want) {
        checker = checker.close(name, got, want, |_| RANGE, TOLERANCE);
    }
    Ok(checker.finish())
}

/// The activations of each layer.
fn drive(gpu: &mut dyn Device, network: &Network) -> Result<Vec<Vec<f32>>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let images = network.image_count();
    let mut input = upload(gpu, &network.images)?;
    let mut outputs = Vec::new();
    for (layer, weights) in network.weights.iter().enumerate() {
        let ((maps_in, edge_in), (maps, edge)) = (SHAPES[layer], SHAPES[layer + 1]);
        let weights = upload(gpu, weights)?;
        let count = images * maps * edge * edge;
        let output = zeroed::<f32>(gpu, count)?;
        let mut args = [input, weights, output].map(Arg::Ptr).to_vec();
        let kernel = if layer < 2 {
            args.extend([int(maps_in), int(edge_in)]);
            "nn_convolve"
        } else {
            args.push(int(inputs_of_a_neuron(layer)));
            "nn_connect"
        };
        gpu.launch(kernel, [maps as u32, images as u32, 1], [edge as u32, edge as u32, 1], 0, &args)?;
        outputs.push((output, count));
        input = output;
    }
    outputs.into_iter().map(|(output, count)| load(gpu, output, count)).collect()
}
