//! The same prices on the CPU, in double precision.

use super::{Input, RATE, VOLATILITY};
use crate::math::{exp, ln};

/// Calls and puts.
pub(super) fn prices(input: &Input) -> (Vec<f64>, Vec<f64>) {
    let options = input.stock.iter().zip(&input.strike).zip(&input.years);
    options.map(|((&s, &x), &t)| price(f64::from(s), f64::from(x), f64::from(t))).unzip()
}

fn price(stock: f64, strike: f64, years: f64) -> (f64, f64) {
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let spread = volatility * years.sqrt();
    let d1 = (ln(stock / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
    let (n1, n2) = (normal_below(d1), normal_below(d1 - spread));
    let discounted = strike * exp(-rate * years);
    (stock * n1 - discounted * n2, discounted * (1.0 - n2) - stock * (1.0 - n1))
}

/// Abramowitz and Stegun 26.2.17.
fn normal_below(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let p = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530];
    let polynomial = p.iter().fold(0.0, |sum, a| sum * k + a) * k;
    let tail = 0.3989422804 * exp(-0.5 * d * d) * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_from_tables() {
        for (d, p) in [(0.0, 0.5), (1.0, 0.841_344_75), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            assert!((normal_below(d) - p).abs() < 1e-7, "{d}");
        }
    }

    #[test]
    fn put_call_parity() {
        // C − P = S − X e^(−rT), exactly, whatever the volatility.
        for (s, x, t) in [(10.0, 10.0, 1.0), (5.0, 100.0, 10.0), (30.0, 1.0, 0.25)] {
            let (call, put) = price(s, x, t);
            assert!((call - put - (s - x * (-f64::from(RATE) * t).exp())).abs() < 1e-12);
        }
    }

    #[test]
    fn an_option_at_the_money_for_a_year() {
        // S = X = 100, r = 2 %, σ = 30 %: d1 = 13/60, d2 = −1/12; C = 100 N(d1) − 98.0199 N(d2) = 12.8216.
        let (call, _) = price(100.0, 100.0, 1.0);
        assert!((call - 12.8216).abs() < 1e-3, "{call}");
    }

    #[test]
    fn far_out_of_the_money_is_worthless() {
        let (call, put) = price(5.0, 100.0, 0.25);
        assert!(call.abs() < 1e-9 && (put - (100.0 * (-0.005f64).exp() - 5.0)).abs() < 1e-5);
    }
}
