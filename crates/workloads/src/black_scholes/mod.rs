//! `BlackScholes`: prices of European options.
//!
//! Algorithm: Black, Scholes, "The pricing of options and corporate liabilities", J. Political Economy 81, 1973, with the
//! normal distribution by Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.17. A grid-stride loop over
//! five arrays: long straight-line arithmetic with logarithm, exponentials, a square root and divisions; streaming access.
//!
//! Tolerance: 2 × 10⁻⁶ of the larger of the stock's and the strike's price. `lg2.approx` is right to 2⁻²², so the
//! logarithm of s / x to 1.7 × 10⁻⁷, and the spread that divides it is at least 0.15: d is right to 1.2 × 10⁻⁶, which
//! moves the price by at most 0.4 times that, the normal density's peak (large |d| have larger errors, but no density).
//! `ex2.approx` of the discount adds 2⁻²² of the strike, and the remaining roundings a few times 2⁻²⁴.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "BlackScholes",
    suite: "CUDA SDK",
    description: "option prices: straight-line arithmetic with lg2, ex2, sqrt and division over streams",
    small: "65536 options (1.3 MiB)",
    full: "1048576 options (20 MiB)",
    kernels: &["black_scholes"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const GRID: u32 = 480;
const THREADS: u32 = 128;
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.30;
const TOLERANCE: f64 = 2e-6;

struct Input {
    stock: Vec<f32>,
    strike: Vec<f32>,
    years: Vec<f32>,
}

struct Prices {
    call: Vec<f32>,
    put: Vec<f32>,
}

impl Input {
    fn generate(options: usize) -> Self {
        Input {
            stock: Rng::named("BlackScholes/stock").floats(options, 5.0, 30.0),
            strike: Rng::named("BlackScholes/strike").floats(options, 1.0, 100.0),
            years: Rng::named("BlackScholes/years").floats(options, 0.25, 10.0),
        }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = Input::generate(size.pick(65_536, 1_048_576));
    let got = drive(gpu, &input)?;
    let (call, put) = reference::prices(&input);
    let scale = |i: usize| f64::from(input.stock[i].max(input.strike[i]));
    Ok(Checker::new()
        .close("calls", &got.call, &call, scale, TOLERANCE)
        .close("puts", &got.put, &put, scale, TOLERANCE)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Prices, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let options = input.stock.len();
    let stock = upload(gpu, &input.stock)?;
    let strike = upload(gpu, &input.strike)?;
    let years = upload(gpu, &input.years)?;
    let call = zeroed::<f32>(gpu, options)?;
    let put = zeroed::<f32>(gpu, options)?;
    let mut args = [stock, strike, years, call, put].map(Arg::Ptr).to_vec();
    args.extend([int(options), Arg::F32(RATE), Arg::F32(VOLATILITY)]);
    gpu.launch("black_scholes", [GRID, 1, 1], [THREADS, 1, 1], 0, &args)?;
    Ok(Prices { call: load(gpu, call, options)?, put: load(gpu, put, options)? })
}
