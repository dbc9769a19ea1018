//! The same search with gains computed on the CPU.

use std::convert::Infallible;

use super::{Clusters, Input, search};

pub(super) fn cluster(input: &Input) -> Clusters {
    let points = input.points();
    let gains = |candidate: usize, cost: &[f32]| {
        let gain = |i: usize| {
            let apart =
                (0..input.dimensions).map(|d| &input.coordinates[d * points..][..points]).map(|x| x[i] - x[candidate]);
            let distance = apart.fold(0.0f32, |sum, apart| apart.mul_add(apart, sum));
            (-input.weight[i]).mul_add(distance, cost[i])
        };
        Ok::<_, Infallible>((0..points).map(gain).collect())
    };
    match search(input, gains) {
        Ok(clusters) => clusters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_point_becomes_a_centre_if_it_is_worth_the_price() {
        // Points at 0, 1, 10, 11 on a line; from the centre at 0 the far ones cost 100 and 121.
        let mut input = Input {
            dimensions: 1,
            coordinates: vec![0.0, 1.0, 10.0, 11.0],
            weight: vec![1.0; 4],
            candidates: vec![2],
            price: 50.0,
        };
        let found = cluster(&input);
        assert_eq!(found.centre, [0, 0, 2, 2]);
        assert_eq!(found.cost, [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(found.gain, [-100.0, -80.0, 100.0, 120.0]);
        input.price = 230.0;
        assert_eq!(cluster(&input).centre, [2, 2, 2, 2], "closing 0 saves 230, and costs 180");
        input.price = 1000.0;
        input.candidates = vec![1];
        // Moving everything from 0 to 1: gains −1, 1, 19, 21.
        assert_eq!(cluster(&input).centre, [1, 1, 1, 1]);
    }

    #[test]
    fn heaps_are_found() {
        let input = Input::generate(2000, 16, 24);
        let found = cluster(&input);
        let mut centres = found.centre.clone();
        centres.sort_unstable();
        centres.dedup();
        assert!((4..=12).contains(&centres.len()), "{}", centres.len());
        let first = cluster(&Input { candidates: vec![], ..Input::generate(2000, 16, 0) });
        let sum = |cost: &[f32]| cost.iter().map(|&c| f64::from(c)).sum::<f64>();
        assert!(sum(&found.cost) < 0.4 * sum(&first.cost));
    }
}
