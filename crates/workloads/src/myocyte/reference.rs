//! The same cells on the CPU, in double precision.

use super::{AT_REST, Input, STATES, STEP, STEPS, STIMULUS_LASTS};
use crate::math::{exp, ln};

/// Variable after variable, at the end.
pub(super) fn states(input: &Input) -> Vec<f64> {
    let cells = input.stimulus.iter().zip(&input.slow);
    let ends: Vec<[f64; STATES]> = cells
        .map(|(&stimulus, &slow)| {
            let mut state = AT_REST.map(f64::from);
            (0..input.launches * STEPS).for_each(|n| advance(&mut state, n, f64::from(stimulus), f64::from(slow)));
            state
        })
        .collect();
    (0..STATES).flat_map(|v| ends.iter().map(move |state| state[v])).collect()
}

/// Coefficients of a gate's rates: (c1 e^(c2 (v + c3)) + c4 (v + c5)) / (e^(c6 (v + c3)) + c7), opening and closing.
const RATES: [[[f64; 7]; 2]; 6] = [
    [[0.0005, 0.083, 50.0, 0.0, 0.0, 0.057, 1.0], [0.0013, -0.06, 20.0, 0.0, 0.0, -0.04, 1.0]],
    [[0.0, 0.0, 47.0, -1.0, 47.0, -0.1, -1.0], [40.0, -0.056, 72.0, 0.0, 0.0, 0.0, 0.0]],
    [[0.126, -0.25, 77.0, 0.0, 0.0, 0.0, 0.0], [1.7, 0.0, 22.5, 0.0, 0.0, -0.082, 1.0]],
    [[0.055, -0.25, 78.0, 0.0, 0.0, -0.2, 1.0], [0.3, 0.0, 32.0, 0.0, 0.0, -0.1, 1.0]],
    [[0.095, -0.01, -5.0, 0.0, 0.0, -0.072, 1.0], [0.07, -0.017, 44.0, 0.0, 0.0, 0.05, 1.0]],
    [[0.012, -0.008, 28.0, 0.0, 0.0, 0.15, 1.0], [0.0065, -0.02, 30.0, 0.0, 0.0, -0.2, 1.0]],
];

fn rate([c1, c2, c3, c4, c5, c6, c7]: [f64; 7], v: f64) -> f64 {
    (c1 * exp(c2 * (v + c3)) + c4 * (v + c5)) / (exp(c6 * (v + c3)) + c7)
}

fn advance(state: &mut [f64; STATES], n: usize, stimulus: f64, slow: f64) {
    let [v, calcium, x1, m, h, j, d, f] = *state;
    let step = f64::from(STEP);
    let potassium = 0.35
        * (4.0 * (exp(0.04 * (v + 85.0)) - 1.0) / (exp(0.08 * (v + 53.0)) + exp(0.04 * (v + 53.0)))
            + 0.2 * (v + 23.0) / (1.0 - exp(-0.04 * (v + 23.0))));
    let rest = x1 * 0.8 * (exp(0.04 * (v + 77.0)) - 1.0) / exp(0.04 * (v + 35.0));
    let sodium = (4.0 * m * m * m * h * j + 0.003) * (v - 50.0);
    let inward = slow * d * f * (v - (-82.3 - 13.0287 * ln(calcium)));
    let pushed = if n as f32 * STEP < STIMULUS_LASTS { stimulus } else { 0.0 };

    for (gate, [opening, closing]) in state[2..].iter_mut().zip(RATES) {
        let (alpha, beta) = (rate(opening, v), rate(closing, v));
        let rest = alpha / (alpha + beta);
        *gate = rest + (*gate - rest) * exp(-step * (alpha + beta));
    }
    state[1] += step * (-1e-7 * inward + 0.07 * (1e-7 - calcium));
    state[0] -= step * (potassium + rest + sodium + inward - pushed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(stimulus: f64, steps: usize) -> Vec<f64> {
        let mut state = AT_REST.map(f64::from);
        (0..steps)
            .map(|n| {
                advance(&mut state, n, stimulus, 0.09);
                state[0]
            })
            .collect()
    }

    #[test]
    fn an_undisturbed_cell_stays_at_rest() {
        assert!(trace(0.0, 5000).iter().all(|v| (v + 84.5).abs() < 1.0));
    }

    #[test]
    fn a_stimulus_sets_off_an_action_potential_of_the_known_shape() {
        // Overshoot of 20 to 45 mV, a plateau around 0 to 20 mV after 60 ms, back at rest after 400.
        let v = trace(60.0, 20_000);
        let most = v.iter().copied().fold(f64::MIN, f64::max);
        assert!((10.0..45.0).contains(&most), "{most}");
        assert!((-10.0..25.0).contains(&v[3000]), "{}", v[3000]);
        assert!(v[19_999] < -80.0, "{}", v[19_999]);
    }
}
