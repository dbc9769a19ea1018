//! `backprop`: one training step of a perceptron with a wide input layer, 16 hidden units and one output.
//!
//! Algorithm: error back-propagation with momentum (Rumelhart, Hinton, Williams, Nature 323, 1986). As in the published
//! benchmark the device does the two passes over the big weight matrix: the products and partial sums of the forward
//! pass (tree sums in shared memory, half of each warp's rows dropping out at the first level), and the weight update
//! (streaming, bound by memory). The few hidden and output units are the host's.
//!
//! Bit-exact: the reference adds in the tree's order.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "backprop",
    suite: "Rodinia",
    description: "perceptron training step: shared-memory tree sums, then a streaming update of the weights",
    small: "8192 inputs, 16 hidden units",
    full: "131072 inputs, 16 hidden units (17 MiB)",
    kernels: &["backprop_forward", "backprop_adjust"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const HIDDEN: usize = 16;
const ROWS: usize = 16;
const RATE: f32 = 0.3;
const MOMENTUM: f32 = 0.3;
const TARGET: f32 = 0.1;

struct Input {
    values: Vec<f32>,
    /// One row of `HIDDEN` per input, and a last one for the bias.
    weights: Vec<f32>,
    /// The previous step's changes, same shape.
    change: Vec<f32>,
    /// Hidden to output, and the output's bias.
    output_weights: Vec<f32>,
}

struct Output {
    partial: Vec<f32>,
    weights: Vec<f32>,
    change: Vec<f32>,
}

impl Input {
    fn generate(inputs: usize) -> Self {
        let weights = (inputs + 1) * HIDDEN;
        // Weights small enough that the hidden units do not saturate.
        let span = 2.0 / (inputs as f32).sqrt();
        Input {
            values: Rng::named("backprop/values").floats(inputs, 0.0, 1.0),
            weights: Rng::named("backprop/weights").floats(weights, -span, span),
            change: Rng::named("backprop/change").floats(weights, -0.01 * span, 0.01 * span),
            output_weights: Rng::named("backprop/output").floats(HIDDEN + 1, -0.5, 0.5),
        }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = Input::generate(size.pick(8192, 131_072));
    let got = drive(gpu, &input)?;
    let want = reference::train(&input);
    Ok(Checker::new()
        .exact("partial sums", &got.partial, &want.partial)
        .exact("weights", &got.weights, &want.weights)
        .exact("changes", &got.change, &want.change)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Output, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let inputs = input.values.len();
    let grid = blocks(inputs, ROWS);
    let values = upload(gpu, &input.values)?;
    let weights = upload(gpu, &input.weights)?;
    let partial_count = grid as usize * HIDDEN;
    let partial = zeroed::<f32>(gpu, partial_count)?;
    let block = [HIDDEN as u32, ROWS as u32, 1];
    gpu.launch("backprop_forward", [grid, 1, 1], block, 0, &[Arg::Ptr(values), Arg::Ptr(weights), Arg::Ptr(partial)])?;

    let partial_sums = load::<f32>(gpu, partial, partial_count)?;
    let bias = &input.weights[inputs * HIDDEN..];
    let delta = hidden_deltas(&hidden_units(&partial_sums, bias), &input.output_weights);

    let delta_buffer = zeroed::<f32>(gpu, HIDDEN)?;
    store(gpu, delta_buffer, &delta)?;
    let change = upload(gpu, &input.change)?;
    let args = [
        Arg::Ptr(values),
        Arg::Ptr(delta_buffer),
        Arg::Ptr(weights),
        Arg::Ptr(change),
        Arg::F32(RATE),
        Arg::F32(MOMENTUM),
        int(inputs),
    ];
    gpu.launch("backprop_adjust", [grid, 1, 1], block, 0, &args)?;
    Ok(Output {
        partial: partial_sums,
        weights: load(gpu, weights, input.weights.len())?,
        change: load(gpu, change, input.change.len())?,
    })
}

/// The host's part of the forward pass: adds up the blocks' sums and squashes them.
fn hidden_units(partial: &[f32], bias: &[f32]) -> Vec<f32> {
    (0..HIDDEN)
        .map(|unit| {
            let sum = partial.iter().skip(unit).step_by(HIDDEN).fold(bias[unit], |sum, x| sum + x);
            squash(sum)
        })
        .collect()
}

/// The host's part of the backward pass: the output's error, led back to the hidden units.
fn hidden_deltas(hidden: &[f32], output_weights: &[f32]) -> Vec<f32> {
    let sum = hidden.iter().zip(output_weights).fold(output_weights[HIDDEN], |sum, (h, w)| h.mul_add(*w, sum));
    let output = squash(sum);
    let output_delta = output * (1.0 - output) * (TARGET - output);
    hidden.iter().zip(output_weights).map(|(h, w)| h * (1.0 - h) * (output_delta * w)).collect()
}

/// The logistic function.
fn squash(x: f32) -> f32 {
    (1.0 / (1.0 + crate::math::exp(-f64::from(x)))) as f32
}
