//! The same network on the CPU, in double precision.

use super::{KERNEL, Network, RANGE, SHAPES, inputs_of_a_neuron};
use crate::math::exp;

/// The activations of each layer, image after image.
pub(super) fn layers(network: &Network) -> Vec<Vec<f64>> {
    let images = network.image_count();
    let mut input: Vec<f64> = network.images.iter().copied().map(f64::from).collect();
    let mut layers = Vec::new();
    for (layer, weights) in network.weights.iter().enumerate() {
        let ((maps_in, edge_in), (maps, edge)) = (SHAPES[layer], SHAPES[layer + 1]);
        let size = maps_in * edge_in * edge_in;
        let mut output = Vec::with_capacity(images * maps * edge * edge);
        for image in input.chunks_exact(size) {
            for neuron in weights.chunks_exact(inputs_of_a_neuron(layer) + 1) {
                for place in 0..edge * edge {
                    let inputs =
                        if layer < 2 { window(image, edge_in, place % edge, place / edge) } else { image.to_vec() };
                    output.push(activation(&inputs, neuron));
                }
            }
        }
        layers.push(output.clone());
        input = output;
    }
    layers
}

/// The window at column `x`, row `y` of every map, map after map.
fn window(image: &[f64], edge: usize, x: usize, y: usize) -> Vec<f64> {
    let rows = |map: &[f64]| -> Vec<f64> {
        (0..KERNEL).flat_map(|i| &map[(2 * y + i) * edge + 2 * x..][..KERNEL]).copied().collect()
    };
    image.chunks_exact(edge * edge).flat_map(rows).collect()
}

fn activation(inputs: &[f64], neuron: &[f32]) -> f64 {
    let sum = inputs.iter().zip(&neuron[1..]).fold(f64::from(neuron[0]), |sum, (x, w)| sum + x * f64::from(*w));
    RANGE * tanh(2.0 / 3.0 * sum)
}

fn tanh(x: f64) -> f64 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_activation_keeps_one() {
        // The constants are chosen so that ±1 stays ±1.
        for (x, y) in [(0.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (30.0, RANGE)] {
            assert!((activation(&[x], &[0.0, 1.0]) - y).abs() < 1e-4);
        }
    }

    #[test]
    fn windows_are_cut_from_every_second_place_of_every_map() {
        // Two maps of 7 × 7; the pixel (x, y) of map m is 100 m + 10 y + x.
        let image: Vec<f64> = (0..98).map(|i| f64::from(i / 49 * 100 + i / 7 % 7 * 10 + i % 7)).collect();
        let window = window(&image, 7, 1, 0);
        assert_eq!(window[..6], [2.0, 3.0, 4.0, 5.0, 6.0, 12.0]);
        assert_eq!((window[25], window[49]), (102.0, 146.0));
    }

    #[test]
    fn activations_neither_vanish_nor_saturate() {
        for layer in layers(&Network::generate(2)) {
            let square = layer.iter().map(|a| a * a).sum::<f64>() / layer.len() as f64;
            assert!((0.05..2.0).contains(&square), "{square}");
        }
    }
}
