//! The same iterations on the CPU.

use super::Input;

pub(super) fn iterate(input: &Input) -> Vec<f32> {
    let [nx, ny, nz] = input.shape;
    let plane = nx * ny;
    let mut now = input.grid.clone();
    for _ in 0..input.iterations {
        let mut then = now.clone();
        for z in 1..nz - 1 {
            for y in 1..ny - 1 {
                for x in 1..nx - 1 {
                    let i = z * plane + y * nx + x;
                    let beside = now[i - 1] + now[i + 1];
                    let along = now[i - nx] + now[i + nx];
                    let around = (now[i + plane] + now[i - plane]) + (along + beside);
                    then[i] = input.neighbour_weight.mul_add(around, -(input.centre_weight * now[i]));
                }
            }
        }
        now = then;
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_worked_by_hand() {
        let mut input = Input::generate([3, 3, 3], 1);
        input.grid = (0..27).map(|i| i as f32).collect();
        (input.centre_weight, input.neighbour_weight) = (2.0, 0.5);
        let after = iterate(&input);
        // Around 13: 12 + 14 + 10 + 16 + 4 + 22 = 78; 78 / 2 − 26.
        assert_eq!(after[13], 13.0);
        assert!((0..27).filter(|&i| i != 13).all(|i| after[i] == input.grid[i]));
    }

    #[test]
    fn a_constant_grid_decays_as_the_weights_say() {
        let mut input = Input::generate([6, 5, 4], 1);
        input.grid.fill(1.0);
        let inner = iterate(&input)[6 * 5 + 6 + 1];
        assert!((inner - (1.0 - 1.0 / 36.0)).abs() < 1e-6, "{inner}");
    }
}
