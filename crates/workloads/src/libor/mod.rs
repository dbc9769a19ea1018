//! `LIB`: Monte Carlo pricing of swaptions in the LIBOR market model.
//!
//! Algorithm: the model of Brace, Gątarek, Musiela, "The market model of interest rate dynamics", Mathematical Finance 7,
//! 1997, under the spot measure: in each period of length δ, each forward rate L(i) that is not fixed yet is multiplied by
//! exp(σᵢ (δ Σ σⱼ δL(j) / (1 + δL(j)) − δ σᵢ / 2 + √δ z)), the sum over the open rates up to i. Payer swaptions on swaps of
//! different lengths are valued on the last rates and discounted along the path. One thread a path, the rates in local
//! memory. The normal numbers are sums of twelve uniform ones from an integer generator in the kernel (Marsaglia,
//! "Xorshift RNGs", J. Statistical Software 8, 2003), so integer and floating-point phases take turns; all lanes stay
//! together.
//!
//! Tolerance: 2 × 10⁻⁶ of the nominal (100) times the number of swaptions. The random numbers agree exactly. A step's
//! `ex2.approx` is right to 2⁻²², and as much again comes from roundings of the argument and the product, so after at most
//! 30 steps a rate is right to 30 × 2⁻²¹, and a bond of up to 10 quarters at 5 % a year to 10 × 0.25 × 0.05 times that,
//! 1.8 × 10⁻⁶. The swaptions' average is half as long, which leaves room for paths whose rates have doubled; the roundings
//! of sums are smaller.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "LIB",
    suite: "ISPASS 2009",
    description: "LIBOR market model by Monte Carlo: integer random numbers, then exponentials; rates in local memory",
    small: "1536 paths, 40 rates, 16 steps, 9 swaptions",
    full: "12288 paths, 40 rates, 30 steps, 9 swaptions",
    kernels: &["lib_portfolio"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 128;
const RATES: usize = 40;
const PERIOD: f32 = 0.25;
const ROOT_PERIOD: f32 = 0.5;
const TOLERANCE: f64 = 2e-6;

struct Input {
    paths: usize,
    steps: usize,
    /// Today's rates.
    today: Vec<f32>,
    /// By periods until a rate is fixed.
    volatility: Vec<f32>,
    maturity: Vec<i32>,
    fixed_rate: Vec<f32>,
}

impl Input {
    fn generate(paths: usize, steps: usize) -> Self {
        let mut rng = Rng::named("LIB/market");
        let today = rng.floats(RATES, 0.045, 0.055);
        let volatility = rng.floats(RATES, 0.15, 0.25);
        let lengths = [1, 2, 3, 4, 5, 6, 8, 9, 10];
        let maturity = lengths.iter().map(|length| (steps + length - 1) as i32).collect();
        let fixed_rate = rng.floats(lengths.len(), 0.045, 0.055);
        Input { paths, steps, today, volatility, maturity, fixed_rate }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(1536, 16), Input::generate(12_288, 30));
    let got = drive(gpu, &input)?;
    let want = reference::values(&input);
    let nominal = 100.0 * input.maturity.len() as f64;
    Ok(Checker::new().close("values", &got, &want, |_| nominal, TOLERANCE).finish())
}

/// The portfolio's value on each path, discounted to today.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    store_symbol(gpu, "volatility", &input.volatility)?;
    store_symbol(gpu, "today", &input.today)?;
    store_symbol(gpu, "maturity", &input.maturity)?;
    store_symbol(gpu, "fixed_rate", &input.fixed_rate)?;
    let value = zeroed::<f32>(gpu, input.paths)?;
    let mut args = vec![Arg::Ptr(value)];
    args.extend([input.paths, RATES, input.steps, input.maturity.len()].map(int));
    args.extend([PERIOD, ROOT_PERIOD].map(Arg::F32));
    gpu.launch("lib_portfolio", [blocks(input.paths, THREADS), 1, 1], [THREADS as u32, 1, 1], 0, &args)?;
    load(gpu, value, input.paths)
}
