//! Building the tree from sorted keys, level by level from the leaves.

use crate::rng::Rng;

use super::ORDER;

/// A node as the kernel's `struct Node`: ORDER + 1 keys (the last one a sentinel), ORDER children.
const NODE: usize = 2 * ORDER + 1;

pub(super) struct Tree {
    /// All nodes, the root first.
    pub nodes: Vec<i32>,
    /// Levels above the leaves.
    pub height: usize,
}

impl Tree {
    /// Keys must ascend and lie between the least and the greatest `i32`.
    pub(super) fn new(keys: &[i32]) -> Self {
        // The leaves' entries: key and place. Whatever is below the first key belongs to "place −1".
        let mut entries: Vec<(i32, i32)> = keys.iter().copied().zip(0..).collect();
        entries.insert(0, (i32::MIN, -1));
        // Nodes are half to wholly full, as insertions and splits leave them.
        let mut rng = Rng::named("b+tree/fill");
        let mut levels = Vec::new();
        loop {
            let mut nodes = Vec::new();
            let mut rest = &entries[..];
            while !rest.is_empty() {
                let full =
                    if rest.len() <= ORDER { ORDER } else { ORDER / 2 + rng.below(ORDER as u32 / 2 + 1) as usize };
                let (node, others) = rest.split_at(full.min(rest.len()));
                nodes.push(node.to_vec());
                rest = others;
            }
            entries = nodes.iter().zip(0..).map(|(node, i)| (node[0].0, i)).collect();
            levels.push(nodes);
            if entries.len() == 1 {
                break;
            }
        }
        let height = levels.len() - 1;
        let mut nodes = Vec::new();
        let mut next_level = 0;
        for (depth, level) in levels.iter().rev().enumerate() {
            next_level += level.len() as i32;
            // Inner nodes count their children within the level below; here, within the whole tree.
            let shift = if depth == height { 0 } else { next_level };
            level.iter().for_each(|node| put(&mut nodes, node, shift));
        }
        Tree { nodes, height }
    }
}

fn put(nodes: &mut Vec<i32>, entries: &[(i32, i32)], shift: i32) {
    let start = nodes.len();
    nodes.extend(entries.iter().map(|entry| entry.0));
    nodes.resize(start + ORDER + 1, i32::MAX);
    nodes.extend(entries.iter().map(|entry| entry.1 + shift));
    nodes.resize(start + NODE, -1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of the last key that is not above `query`, by the kernel's rule.
    fn descend(tree: &Tree, query: i32) -> i32 {
        let mut at = 0;
        for _ in 0..=tree.height {
            let node = &tree.nodes[at as usize * NODE..][..NODE];
            let mine: Vec<usize> = (0..ORDER).filter(|&t| node[t] <= query && query < node[t + 1]).collect();
            assert_eq!(mine.len(), 1, "one thread decides");
            at = node[ORDER + 1 + mine[0]];
        }
        at
    }

    #[test]
    fn one_leaf_is_a_tree() {
        let tree = Tree::new(&[3, 5]);
        assert_eq!((tree.height, tree.nodes.len()), (0, NODE));
        assert_eq!([0, 3, 4, 5, 9].map(|query| descend(&tree, query)), [-1, 0, 0, 1, 1]);
    }

    #[test]
    fn every_key_is_found_through_two_levels() {
        let keys: Vec<i32> = (0..20_000).map(|i| 3 * i).collect();
        let tree = Tree::new(&keys);
        assert_eq!(tree.height, 2);
        for place in (0..20_000).step_by(7) {
            assert_eq!([3 * place - 1, 3 * place, 3 * place + 2].map(|q| descend(&tree, q)), [place - 1, place, place]);
        }
    }
}
