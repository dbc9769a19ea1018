//! Immediate dominators: K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

/// Marks a node that the root does not reach.
const NONE: u32 = u32::MAX;

/// Immediate dominators of the nodes that `root` reaches over `successors`; the root is its own, unreached nodes have
/// none. `successors[n]` lists the successors of node `n`.
pub(super) fn immediate_dominators(successors: &[Vec<u32>], root: u32) -> Vec<Option<u32>> {
    let order = postorder(successors, root);
    let mut number = vec![NONE; successors.len()];
    for (i, &node) in order.iter().enumerate() {
        number[node as usize] = i as u32;
    }
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &node in &order {
        for &next in &successors[node as usize] {
            predecessors[next as usize].push(node);
        }
    }
    // In postorder numbers, so that the root's is the largest.
    let mut dominator = vec![NONE; order.len()];
    let Some(last) = dominator.last_mut() else { return vec![None; successors.len()] };
    *last = order.len() as u32 - 1;
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..order.len() - 1).rev() {
            let known = predecessors[order[i] as usize].iter().map(|&p| number[p as usize]);
            let best = known.filter(|&p| dominator[p as usize] != NONE).reduce(|a, b| meet(&dominator, a, b));
            if let Some(best) = best
                && dominator[i] != best
            {
                dominator[i] = best;
                changed = true;
            }
        }
    }
    let of = |n: &u32| (*n != NONE && dominator[*n as usize] != NONE).then(|| order[dominator[*n as usize] as usize]);
    number.iter().map(of).collect()
}

/// The nearest common ancestor in the dominator tree.
fn meet(dominator: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a < b {
            a = dominator[a as usize];
        }
        while b < a {
            b = dominator[b as usize];
        }
    }
    a
}

/// The nodes that `root` reaches, each behind its descendants in a depth-first tree.
fn postorder(successors: &[Vec<u32>], root: u32) -> Vec<u32> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    seen[root as usize] = true;
    let mut stack = vec![(root, 0usize)];
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node as usize].get(*next) {
            Some(&child) => {
                *next += 1;
                if !std::mem::replace(&mut seen[child as usize], true) {
                    stack.push((child, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};
    use proptest::prelude::*;

    proptest! {
        /// Random graphs: irreducible, disconnected, with self-loops and double edges.
        #[test]
        fn agrees_with_petgraph(nodes in 1usize..40, edges in prop::collection::vec((0u32..40, 0u32..40), 0..120)) {
            let edges: Vec<_> = edges.iter().map(|&(a, b)| (a % nodes as u32, b % nodes as u32)).collect();
            let mut successors = vec![Vec::new(); nodes];
            let mut graph = DiGraph::<(), ()>::new();
            for _ in 0..nodes {
                graph.add_node(());
            }
            for &(a, b) in &edges {
                successors[a as usize].push(b);
                graph.add_edge(NodeIndex::new(a as usize), NodeIndex::new(b as usize), ());
            }
            let ours = immediate_dominators(&successors, 0);
            let theirs = simple_fast(&graph, NodeIndex::new(0));
            prop_assert_eq!(ours[0], Some(0));
            for (n, ours) in ours.iter().enumerate().skip(1) {
                let expected = theirs.immediate_dominator(NodeIndex::new(n)).map(|i| i.index() as u32);
                prop_assert_eq!(*ours, expected, "node {}", n);
            }
        }
    }
}
