//! The mesh: a crooked grid of quadrilaterals whose cells are numbered as a mesher would, roughly by place.

use crate::rng::Rng;

pub(super) const WALL: i32 = -1;
pub(super) const FAR: i32 = -2;

pub(super) struct Mesh {
    pub area: Vec<f32>,
    /// Face after face: the cell on the other side, or `WALL` or `FAR`.
    pub neighbour: Vec<i32>,
    /// Outward normals, as long as the faces.
    pub normal_x: Vec<f32>,
    pub normal_y: Vec<f32>,
}

impl Mesh {
    /// `edge`² cells, with what `below` says along the lower edge and the far flow around the others.
    pub(super) fn generate(edge: usize, below: i32) -> Self {
        let mut rng = Rng::named("cfd/mesh");
        let corners: Vec<[f32; 2]> = (0..(edge + 1) * (edge + 1))
            .map(|i| [i % (edge + 1), i / (edge + 1)].map(|place| place as f32 + rng.range(-0.2, 0.2)))
            .collect();
        let number = numbers(edge, &mut rng);
        let cells = edge * edge;
        let mut mesh = Mesh {
            area: vec![0.0; cells],
            neighbour: vec![FAR; 4 * cells],
            normal_x: vec![0.0; 4 * cells],
            normal_y: vec![0.0; 4 * cells],
        };
        for place in 0..cells {
            let (x, y, i) = (place % edge, place / edge, number[place]);
            let corner = |dx: usize, dy: usize| corners[(y + dy) * (edge + 1) + x + dx];
            // Anticlockwise; face f leads from corner f to the next.
            let around = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            let beyond = [(y > 0, edge), (x + 1 < edge, 1), (y + 1 < edge, edge), (x > 0, 1)];
            for f in 0..4 {
                let ([x0, y0], [x1, y1]) = (around[f], around[(f + 1) % 4]);
                let at = f * cells + i;
                (mesh.normal_x[at], mesh.normal_y[at]) = (y1 - y0, x0 - x1);
                mesh.area[i] += 0.5 * (x0 * y1 - x1 * y0);
                mesh.neighbour[at] = match (beyond[f], f) {
                    ((true, step), 1 | 2) => number[place + step] as i32,
                    ((true, step), _) => number[place - step] as i32,
                    (_, 0) => below,
                    _ => FAR,
                };
            }
        }
        mesh
    }

    pub(super) fn cells(&self) -> usize {
        self.area.len()
    }
}

/// Numbers by place: cells of a 16 × 16 tile follow each other, in any order.
fn numbers(edge: usize, rng: &mut Rng) -> Vec<usize> {
    let tile = |place: usize| (place / edge / 16, place % edge / 16);
    let mut order: Vec<(_, u32, usize)> =
        (0..edge * edge).map(|place| (tile(place), rng.below(u32::MAX), place)).collect();
    order.sort_unstable();
    let mut number = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &(_, _, place))| number[place] = i);
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_closed_and_faces_are_shared() {
        let mesh = Mesh::generate(24, WALL);
        let cells = mesh.cells();
        let mut walls = 0;
        for i in 0..cells {
            assert!((0.2..2.0).contains(&mesh.area[i]));
            for normal in [&mesh.normal_x, &mesh.normal_y] {
                assert!((0..4).map(|f| normal[f * cells + i]).sum::<f32>().abs() < 1e-5);
            }
            for f in 0..4 {
                let other = mesh.neighbour[f * cells + i];
                walls += usize::from(other == WALL);
                if let Ok(other) = usize::try_from(other) {
                    // The neighbour's opposite face is the same, seen from the other side.
                    let back = (f + 2) % 4 * cells + other;
                    assert_eq!(mesh.neighbour[back], i as i32);
                    assert_eq!(mesh.normal_x[back], -mesh.normal_x[f * cells + i]);
                }
            }
        }
        assert_eq!(walls, 24);
    }
}
