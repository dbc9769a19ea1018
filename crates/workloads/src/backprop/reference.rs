//! The same training step on the CPU.

use super::{HIDDEN, Input, MOMENTUM, Output, RATE, ROWS, hidden_deltas, hidden_units};

pub(super) fn train(input: &Input) -> Output {
    let inputs = input.values.len();
    let mut partial = Vec::with_capacity(inputs / ROWS * HIDDEN);
    for block in 0..inputs / ROWS {
        for unit in 0..HIDDEN {
            let mut products: [f32; ROWS] = std::array::from_fn(|row| {
                let i = block * ROWS + row;
                input.weights[i * HIDDEN + unit] * input.values[i]
            });
            let mut stride = 1;
            while stride < ROWS {
                for row in (0..ROWS).step_by(2 * stride) {
                    products[row] += products[row + stride];
                }
                stride *= 2;
            }
            partial.push(products[0]);
        }
    }

    let delta = hidden_deltas(&hidden_units(&partial, &input.weights[inputs * HIDDEN..]), &input.output_weights);
    let (mut weights, mut change) = (input.weights.clone(), input.change.clone());
    for i in 0..=inputs {
        // The bias is a weight whose input is always 1.
        let value = input.values.get(i).copied().unwrap_or(1.0);
        for (unit, delta) in delta.iter().enumerate() {
            let k = i * HIDDEN + unit;
            let step = MOMENTUM.mul_add(change[k], RATE * delta * value);
            weights[k] += step;
            change[k] = step;
        }
    }
    Output { partial, weights, change }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backprop::{TARGET, squash};

    fn answer(input: &Input, weights: &[f32]) -> f32 {
        let input = Input { weights: weights.to_vec(), ..clone(input) };
        let partial = train(&input).partial;
        let hidden = hidden_units(&partial, &weights[input.values.len() * HIDDEN..]);
        let sum: f32 = hidden.iter().zip(&input.output_weights).map(|(h, w)| h * w).sum();
        squash(sum + input.output_weights[HIDDEN])
    }

    fn clone(input: &Input) -> Input {
        Input {
            values: input.values.clone(),
            weights: input.weights.clone(),
            change: vec![0.0; input.change.len()],
            output_weights: input.output_weights.clone(),
        }
    }

    #[test]
    fn a_step_brings_the_output_nearer_to_the_target() {
        let input = clone(&Input::generate(64));
        let before = answer(&input, &input.weights);
        let after = answer(&input, &train(&input).weights);
        assert!((after - TARGET).abs() < (before - TARGET).abs(), "{before} → {after}");
    }

    #[test]
    fn the_step_is_the_gradient() {
        // The change of a weight, momentum off, is −rate × dE/dw for E = (output − target)² / 2: a difference quotient.
        let input = clone(&Input::generate(32));
        let step = train(&input).change;
        let error = |weights: &[f32]| f64::from(answer(&input, weights) - TARGET).powi(2) / 2.0;
        for k in [0, 37, 5 * HIDDEN + 3, 32 * HIDDEN + 7] {
            let nudged = |by: f32| {
                let mut weights = input.weights.clone();
                weights[k] += by;
                error(&weights)
            };
            let slope = (nudged(0.05) - nudged(-0.05)) / 0.1;
            let want = -f64::from(RATE) * slope;
            assert!((f64::from(step[k]) - want).abs() < 0.02 * want.abs() + 1e-7, "{k}: {} for {want}", step[k]);
        }
    }
}
