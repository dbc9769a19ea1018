//! The same search on the CPU, with a queue.

use std::collections::VecDeque;

use super::Graph;

pub(super) fn levels(graph: &Graph) -> Vec<i32> {
    let mut level = vec![-1; graph.nodes()];
    level[graph.source] = 0;
    let mut queue = VecDeque::from([graph.source]);
    while let Some(v) = queue.pop_front() {
        for edge in graph.row[v]..graph.row[v + 1] {
            let u = graph.column[edge as usize] as usize;
            if level[u] < 0 {
                level[u] = level[v] + 1;
                queue.push_back(u);
            }
        }
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_graph() {
        // 0 → 1, 2; 1 → 3; 2 → 3; 3 → 0; 4 → 0 (nobody leads to 4).
        let graph = Graph { row: vec![0, 2, 3, 4, 5, 6], column: vec![1, 2, 3, 3, 0, 0], source: 0 };
        assert_eq!(levels(&graph), [0, 1, 1, 2, -1]);
    }

    #[test]
    fn the_generated_graph_is_mostly_reached_in_few_levels() {
        let level = levels(&Graph::generate(16_384));
        let reached = level.iter().filter(|&&l| l >= 0).count();
        let deepest = level.iter().max().copied().unwrap();
        assert!(reached > 16_000 && (6..14).contains(&deepest), "{reached} reached, {deepest} levels");
    }
}
