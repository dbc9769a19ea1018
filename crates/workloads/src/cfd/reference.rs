//! The same flow on the CPU, cell by cell, with the device's roundings.

use super::mesh::WALL;
use super::{COURANT, FAR_AWAY, Input, STAGES, part};

const GAMMA: f32 = 1.4;

pub(super) fn flow(input: &Input) -> Vec<f32> {
    let cells = input.mesh.cells();
    let mut variables = input.variables.clone();
    for _ in 0..input.steps {
        let before = variables.clone();
        let factor: Vec<f32> = (0..cells).map(|i| factor(input, &before, i)).collect();
        for stage in 0..STAGES {
            let inflow: Vec<[f32; 4]> = (0..cells).map(|i| inflow(input, &variables, i)).collect();
            for (at, variable) in variables.iter_mut().enumerate() {
                let (v, i) = (at / cells, at % cells);
                *variable = (part(stage) * factor[i]).mul_add(inflow[i][v], before[at]);
            }
        }
    }
    variables
}

struct State {
    conserved: [f32; 4],
    u: f32,
    v: f32,
    pressure: f32,
    enthalpy: f32,
    sound: f32,
}

impl State {
    fn of(variables: &[f32], i: usize) -> Self {
        let cells = variables.len() / 4;
        State::complete([0, 1, 2, 3].map(|v| variables[v * cells + i]))
    }

    fn complete(conserved: [f32; 4]) -> Self {
        let [density, mx, my, energy] = conserved;
        let volume = 1.0 / density;
        let (u, v) = (mx * volume, my * volume);
        let inner = (-0.5f32).mul_add(my.mul_add(v, mx * u), energy);
        let pressure = (GAMMA - 1.0) * inner;
        let enthalpy = (GAMMA - 1.0).mul_add(inner, energy);
        State { conserved, u, v, pressure, enthalpy, sound: (GAMMA * pressure * volume).sqrt() }
    }

    /// What crosses a face, as the volume in a unit of time.
    fn across(&self, [nx, ny]: [f32; 2]) -> f32 {
        self.v.mul_add(ny, self.u * nx)
    }
}

fn factor(input: &Input, variables: &[f32], i: usize) -> f32 {
    let s = State::of(variables, i);
    let speed = s.v.mul_add(s.v, s.u * s.u).sqrt();
    COURANT / (input.mesh.area[i].sqrt() * (speed + s.sound))
}

fn inflow(input: &Input, variables: &[f32], i: usize) -> [f32; 4] {
    let mesh = &input.mesh;
    let cells = mesh.cells();
    let here = State::of(variables, i);
    let mut sum = [0.0f32; 4];
    for at in (0..4).map(|f| f * cells + i) {
        let normal = [mesh.normal_x[at], mesh.normal_y[at]];
        let [nx, ny] = normal;
        if mesh.neighbour[at] == WALL {
            sum[1] = (-here.pressure).mul_add(nx, sum[1]);
            sum[2] = (-here.pressure).mul_add(ny, sum[2]);
            continue;
        }
        let there = match usize::try_from(mesh.neighbour[at]) {
            Ok(other) => State::of(variables, other),
            Err(_) => State::complete(FAR_AWAY),
        };
        let length = ny.mul_add(ny, nx * nx).sqrt();
        let (out, into) = (here.across(normal), there.across(normal));
        let wave = here.sound.mul_add(length, out.abs()).max(there.sound.mul_add(length, into.abs()));
        let pressure = here.pressure + there.pressure;
        let (a, b) = (here.conserved, there.conserved);
        let flux = [
            b[0].mul_add(into, a[0] * out),
            b[1].mul_add(into, a[1].mul_add(out, pressure * nx)),
            b[2].mul_add(into, a[2].mul_add(out, pressure * ny)),
            there.enthalpy.mul_add(into, here.enthalpy * out),
        ];
        for v in 0..4 {
            sum[v] = 0.5f32.mul_add(wave.mul_add(b[v] - a[v], -flux[v]), sum[v]);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::mesh::{FAR, Mesh};
    use super::*;

    fn undisturbed(below: i32) -> Input {
        let mesh = Mesh::generate(16, below);
        let variables = FAR_AWAY.iter().flat_map(|&v| vec![v; mesh.cells()]).collect();
        Input { mesh, steps: 5, variables }
    }

    #[test]
    fn sound_is_as_fast_as_it_should_be() {
        let state = State::complete(FAR_AWAY);
        assert!((state.pressure - 1.0 / 1.4).abs() < 1e-6 && (state.sound - 1.0).abs() < 1e-6);
    }

    #[test]
    fn undisturbed_flow_stays_as_it_is() {
        // Along a straight line only: a crooked wall disturbs.
        let input = undisturbed(FAR);
        let after = flow(&input);
        assert!(after.iter().zip(&input.variables).all(|(a, b)| (a - b).abs() < 1e-5));
    }

    #[test]
    fn a_wall_lets_nothing_through() {
        let input = undisturbed(WALL);
        let cells = input.mesh.cells();
        let at_wall = (0..cells).find(|&i| input.mesh.neighbour[i] == WALL).unwrap();
        let with = inflow(&input, &input.variables, at_wall);
        let without = inflow(&undisturbed(FAR), &input.variables, at_wall);
        let crossing = State::complete(FAR_AWAY).across([input.mesh.normal_x[at_wall], input.mesh.normal_y[at_wall]]);
        // What would have left through the face (density 1) stays.
        assert!((with[0] - without[0] - crossing).abs() < 1e-5);
    }

    #[test]
    fn a_bubble_spreads() {
        let input = Input::generate(16, 5);
        let after = flow(&input);
        let most = |variables: &[f32]| variables[..256].iter().copied().fold(0.0, f32::max);
        assert!(most(&after) < most(&input.variables) && after.iter().all(|v| v.is_finite()));
    }
}
