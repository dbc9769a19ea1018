//! The same clusters on the CPU.

use super::{Clusters, FREE, Input, WIDEST, largest};

pub(super) fn clusters(input: &Input) -> Clusters {
    let points = input.points();
    let distance: Vec<Vec<f32>> = (0..points).map(|i| (0..points).map(|j| apart(input, i, j)).collect()).collect();
    let mut owner = vec![FREE; points];
    let mut sizes = Vec::new();
    for cluster in 0..input.clusters as i32 {
        let grown: Vec<Vec<usize>> = (0..points).map(|seed| grow(&distance, &owner, seed)).collect();
        let round: Vec<i32> = grown.iter().map(|members| members.len() as i32).collect();
        grown[largest(&round)].iter().for_each(|&member| owner[member] = cluster);
        sizes.extend(round);
    }
    Clusters { sizes, owner }
}

fn apart(input: &Input, i: usize, j: usize) -> f32 {
    let (dx, dy) = (input.x[i] - input.x[j], input.y[i] - input.y[j]);
    dy.mul_add(dy, dx * dx).sqrt()
}

/// The members of the cluster of a free seed, in the order in which they join.
fn grow(distance: &[Vec<f32>], owner: &[i32], seed: usize) -> Vec<usize> {
    if owner[seed] != FREE {
        return Vec::new();
    }
    let mut members = vec![seed];
    // The width of the cluster with each point.
    let mut width = distance[seed].clone();
    loop {
        let open = (0..owner.len()).filter(|j| owner[*j] == FREE && !members.contains(j));
        // `min_by` gives the first of equals.
        match open.min_by(|&a, &b| width[a].total_cmp(&width[b])) {
            Some(j) if width[j] <= WIDEST => {
                members.push(j);
                width.iter_mut().zip(&distance[j]).for_each(|(width, &d)| *width = width.max(d));
            }
            _ => return members,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_on_a_line() {
        let x = vec![0.0, 0.05, 0.1, 0.9, 0.95, 0.15];
        let input = Input { y: vec![0.0; 6], x, clusters: 2 };
        let found = clusters(&input);
        assert_eq!(found.owner, [0, 0, 0, 1, 1, 0]);
        assert_eq!(found.sizes, [4, 4, 4, 2, 2, 4, 0, 0, 0, 2, 2, 0]);
    }

    #[test]
    fn clusters_shrink_and_are_narrow() {
        let input = Input::generate(128, 2);
        let found = clusters(&input);
        let members = |cluster| (0..128).filter(|&i| found.owner[i] == cluster).collect::<Vec<_>>();
        let (first, second) = (members(0), members(1));
        assert!(first.len() >= second.len() && second.len() > 5, "{} {}", first.len(), second.len());
        for i in &first {
            assert!(first.iter().all(|&j| apart(&input, *i, j) <= WIDEST));
        }
    }
}
