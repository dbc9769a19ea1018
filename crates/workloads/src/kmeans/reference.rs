//! The same clustering on the CPU.

use std::convert::Infallible;

use super::{Clusters, Input, iterate};

pub(super) fn cluster(input: &Input) -> Clusters {
    let assign = |centroids: &[f32]| {
        let nearest = |point: &[f32]| {
            let (mut nearest, mut least) = (0, f32::MAX);
            for (c, centroid) in centroids.chunks_exact(input.features).enumerate() {
                let distance = point.iter().zip(centroid).fold(0.0f32, |sum, (x, y)| (x - y).mul_add(x - y, sum));
                if distance < least {
                    (nearest, least) = (c as i32, distance);
                }
            }
            nearest
        };
        Ok::<_, Infallible>(input.points.chunks_exact(input.features).map(nearest).collect())
    };
    match iterate(input, assign) {
        Ok(clusters) => clusters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_heaps_are_found() {
        // Around 0, 10 and 20 on a line; the first three points, one of each heap, are the first centroids.
        let points = vec![0.5, 10.5, 20.5, 0.0, 1.0, 10.0, 11.0, 20.0, 21.0];
        let input = Input { points, features: 1, clusters: 3, most_rounds: 10, few: 0 };
        let found = cluster(&input);
        assert_eq!(found.membership, [0, 1, 2, 0, 0, 1, 1, 2, 2]);
        assert_eq!(found.centroids, [0.5, 10.5, 20.5]);
        assert_eq!(found.rounds, 2);
    }

    #[test]
    fn each_round_brings_the_points_nearer_to_their_centroids() {
        let cost = |rounds| {
            let mut input = Input::generate(600, rounds);
            input.few = 0;
            let found = cluster(&input);
            let points = input.points.chunks_exact(input.features);
            points
                .zip(&found.membership)
                .flat_map(|(point, &c)| point.iter().zip(&found.centroids[c as usize * input.features..]))
                .map(|(x, y)| f64::from(x - y).powi(2))
                .sum::<f64>()
        };
        let costs = [1, 2, 3, 4].map(cost);
        assert!(costs.windows(2).all(|pair| pair[1] <= pair[0]), "{costs:?}");
        assert!(costs[3] < costs[0]);
    }

    #[test]
    fn an_empty_cluster_keeps_its_centroid() {
        let input = Input { points: vec![1.0, 1.0, 3.0], features: 1, clusters: 2, most_rounds: 1, few: 0 };
        let found = cluster(&input);
        assert_eq!(found.membership, [0, 0, 0]);
        assert_eq!(found.centroids[1], 1.0);
    }
}
