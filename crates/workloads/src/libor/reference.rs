//! The same paths on the CPU, in double precision.

use super::{Input, PERIOD};
use crate::math::exp;

/// The portfolio's value on each path.
pub(super) fn values(input: &Input) -> Vec<f64> {
    (0..input.paths as u32).map(|path| value(input, path)).collect()
}

fn value(input: &Input, path: u32) -> f64 {
    let period = f64::from(PERIOD);
    let mut rates: Vec<f64> = input.today.iter().copied().map(f64::from).collect();
    let mut random = Random::of_path(path);
    let mut numeraire = 1.0;
    for n in 0..input.steps {
        numeraire *= 1.0 + period * rates[n];
        let shock = period.sqrt() * f64::from(random.normal());
        let mut drift = 0.0;
        for (rate, &sigma) in rates[n + 1..].iter_mut().zip(&input.volatility) {
            let sigma = f64::from(sigma);
            drift += sigma * period * *rate / (1.0 + period * *rate);
            *rate *= exp(sigma * (period * (drift - 0.5 * sigma) + shock));
        }
    }
    100.0 * swaptions(input, &rates) / numeraire
}

/// What the swaps are worth to those who pay the fixed rate and need not exercise, for a nominal of 1 each.
fn swaptions(input: &Input, rates: &[f64]) -> f64 {
    let period = f64::from(PERIOD);
    let value = |(&last, &fixed): (&i32, &f32)| {
        let (mut bond, mut annuity) = (1.0, 0.0);
        for rate in &rates[input.steps..=last as usize] {
            bond /= 1.0 + period * rate;
            annuity += period * bond;
        }
        (1.0 - bond - f64::from(fixed) * annuity).max(0.0)
    };
    input.maturity.iter().zip(&input.fixed_rate).map(value).sum()
}

struct Random(u32);

impl Random {
    fn of_path(path: u32) -> Self {
        let mut random = Random((path + 1).wrapping_mul(2_654_435_761));
        (0..4).for_each(|_| {
            random.normal();
        });
        random
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// With the device's roundings.
    fn normal(&mut self) -> f32 {
        (0..12).fold(-6.0, |sum, _| ((self.next() >> 8) as f32).mul_add(1.0 / 16_777_216.0, sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xorshift_from_the_paper() {
        // Seed 1: 1 ^ 1 << 13 = 8193; >> 17 nothing; ^ 8193 << 5 = 270369.
        let mut random = Random(1);
        assert_eq!(random.next(), 270_369);
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let draws: Vec<f64> = (0..20_000).map(|path| f64::from(Random::of_path(path).normal())).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / 20_000.0 - mean * mean;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn a_swap_at_the_market_rate_is_worth_nothing_and_another_its_difference() {
        let mut input = Input::generate(1, 16);
        (input.maturity, input.fixed_rate) = (vec![19], vec![0.05]);
        assert!(swaptions(&input, &[0.05; 40]).abs() < 1e-9);
        // One period: 1 − b − K δ b with b = 1 / (1 + δ L) is δ (L − K) b.
        (input.maturity, input.fixed_rate) = (vec![16], vec![0.04]);
        assert!((swaptions(&input, &[0.08; 40]) - 0.25 * 0.04 / 1.02).abs() < 1e-9);
        assert_eq!(swaptions(&input, &[0.02; 40]), 0.0);
    }

    #[test]
    fn under_the_spot_measure_discounted_bonds_keep_their_price() {
        // The mean of (bond of two more periods) / numeraire is today's bond: the drift is right.
        let mut input = Input::generate(4000, 16);
        (input.maturity, input.fixed_rate) = (vec![17], vec![-1.0 / PERIOD]);
        // With this rate the swap is worth 1 − b₂ + (b₁ + b₂) = 1 + b₁, never negative.
        let mean = values(&input).iter().sum::<f64>() / 100.0 / 4000.0;
        let bond = |periods: usize| input.today[..periods].iter().fold(1.0, |b, r| b / (1.0 + 0.25 * f64::from(*r)));
        let want = bond(16) + bond(17);
        assert!((mean / want - 1.0).abs() < 2e-3, "{mean}, not {want}");
    }
}
