//! The same forest on the CPU, by Kruskal's algorithm.

use super::{Forest, Graph};

pub(super) fn forest(graph: &Graph) -> Forest {
    let mut parent: Vec<usize> = (0..graph.nodes).collect();
    let mut by_weight: Vec<usize> = (0..graph.ends.len()).collect();
    by_weight.sort_by_key(|&edge| graph.weight[edge]);
    let mut taken = vec![0; graph.ends.len()];
    let mut trees = graph.nodes as u32;
    for edge in by_weight {
        let [a, b] = graph.ends[edge].map(|v| root(&mut parent, v as usize));
        if a != b {
            parent[a] = b;
            taken[edge] = 1;
            trees -= 1;
        }
    }
    Forest { trees, weight: graph.total(&taken), taken }
}

/// Halves the path on the way.
fn root(parent: &mut [usize], mut v: usize) -> usize {
    while parent[v] != v {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_with_a_diagonal_and_a_loner() {
        let graph = Graph { nodes: 5, ends: vec![[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], weight: vec![4, 1, 3, 0, 2] };
        // 3–0 and 1–2 first, then the diagonal joins them.
        assert_eq!(forest(&graph), Forest { trees: 2, taken: vec![0, 1, 0, 1, 1], weight: 3 });
    }

    #[test]
    fn the_generated_graph_is_one_tree() {
        let found = forest(&Graph::generate(1000, 2000));
        assert_eq!(found.trees, 1);
        assert_eq!(found.taken.iter().map(|&t| usize::from(t)).sum::<usize>(), 999);
    }
}
