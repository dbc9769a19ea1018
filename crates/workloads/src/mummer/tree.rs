//! The suffix tree, by Ukkonen's algorithm (Algorithmica 14, 1995). No end marker is appended: a suffix that also occurs
//! earlier has no leaf of its own, which matching does not need.

const NONE: i32 = -1;

#[derive(Clone, Debug)]
struct Node {
    child: [i32; 4],
    start: usize,
    end: usize,
    link: i32,
}

/// Node 0 is the root. An edge's label is where its path first occurs in the text: a leaf's edge is cut from the suffix
/// that brings the path in, and a split leaves the upper part its place.
pub(super) struct SuffixTree(Vec<Node>);

impl SuffixTree {
    pub(super) fn new(text: &[u8]) -> Self {
        let node = |start, end, link| Node { child: [NONE; 4], start, end, link };
        let mut nodes = vec![node(0, 0, 0)];
        // The longest suffix that is no leaf yet: `length` bases down from `active` along the text's `edge`.
        let (mut active, mut edge, mut length) = (0usize, 0usize, 0usize);
        let mut waiting = 0;
        for (i, &base) in text.iter().enumerate() {
            waiting += 1;
            let mut without_link: Option<usize> = None;
            while waiting > 0 {
                if length == 0 {
                    edge = i;
                }
                let down = nodes[active].child[usize::from(text[edge])];
                if down == NONE {
                    nodes[active].child[usize::from(text[edge])] = nodes.len() as i32;
                    nodes.push(node(i, text.len(), NONE));
                    if let Some(from) = without_link.take() {
                        nodes[from].link = active as i32;
                    }
                } else {
                    let down = down as usize;
                    let reach = nodes[down].end.min(i + 1) - nodes[down].start;
                    if length >= reach {
                        edge += reach;
                        length -= reach;
                        active = down;
                        continue;
                    }
                    let split_at = nodes[down].start + length;
                    if text[split_at] == base {
                        if let Some(from) = without_link.take() {
                            nodes[from].link = active as i32;
                        }
                        length += 1;
                        break;
                    }
                    let middle = nodes.len();
                    let mut upper = node(nodes[down].start, split_at, 0);
                    upper.child[usize::from(text[split_at])] = down as i32;
                    upper.child[usize::from(base)] = middle as i32 + 1;
                    nodes.push(upper);
                    nodes.push(node(i, text.len(), NONE));
                    nodes[down].start = split_at;
                    nodes[active].child[usize::from(text[edge])] = middle as i32;
                    if let Some(from) = without_link.replace(middle) {
                        nodes[from].link = middle as i32;
                    }
                }
                waiting -= 1;
                if active == 0 && length > 0 {
                    length -= 1;
                    edge = i + 1 - waiting;
                } else if active != 0 {
                    active = nodes[active].link as usize;
                }
            }
        }
        SuffixTree(nodes)
    }

    /// The nodes as the kernel's `struct Node`.
    pub(super) fn flat(&self) -> Vec<i32> {
        let nodes = &self.0;
        let mut depth = vec![0; nodes.len()];
        let mut open = vec![0usize];
        while let Some(at) = open.pop() {
            for child in nodes[at].child.iter().filter(|&&child| child != NONE).map(|&child| child as usize) {
                depth[child] = depth[at] + nodes[child].end - nodes[child].start;
                open.push(child);
            }
        }
        let fields = |(node, depth): (&Node, &usize)| {
            let [a, c, g, t] = node.child;
            [a, c, g, t, node.start as i32, node.end as i32, node.link, *depth as i32]
        };
        nodes.iter().zip(&depth).flat_map(fields).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Every node's path as (first place, length), checked against the text.
    fn check(text: &[u8]) {
        let tree = SuffixTree::new(text);
        let flat = tree.flat();
        let path = |i: usize| {
            let (end, depth) = (flat[8 * i + 5] as usize, flat[8 * i + 7] as usize);
            &text[end - depth..end]
        };
        let mut leaves = 0;
        for (i, node) in tree.0.iter().enumerate().skip(1) {
            let first = text.windows(path(i).len()).position(|window| window == path(i)).unwrap();
            assert_eq!(first + path(i).len(), node.end, "the label is the first occurrence");
            let children = node.child.iter().filter(|&&child| child != NONE).count();
            if node.link == NONE {
                leaves += 1;
                assert_eq!((children, node.end), (0, text.len()));
            } else {
                assert!(children >= 2);
                assert_eq!(path(node.link as usize), &path(i)[1..], "a link drops the first base");
            }
            for child in node.child.into_iter().filter(|&child| child != NONE) {
                assert!(path(child as usize).starts_with(path(i)));
            }
        }
        // Suffixes that occur nowhere else are leaves.
        let unique =
            (0..text.len()).filter(|&i| text.windows(text.len() - i).filter(|w| *w == &text[i..]).count() == 1);
        assert_eq!(leaves, unique.count());
    }

    #[test]
    fn small_trees_are_suffix_trees() {
        check(&[0]);
        check(&[0, 0, 0, 0]);
        check(&[0, 1, 0, 1, 0, 2]);
        check(&[1, 0, 2, 0, 2, 0]);
        let mut rng = Rng::named("mummer/test");
        for length in 1..60 {
            let letters = 2 + length as u32 % 3;
            let text: Vec<u8> = (0..length).map(|_| rng.below(letters) as u8).collect();
            check(&text);
        }
    }
}
