//! The same steps on the CPU, over the whole grid at once.

use super::Input;

pub(super) fn simulate(input: &Input) -> Vec<f32> {
    let (width, height, p) = (input.width, input.height, input.physics);
    let mut now = input.temperature.clone();
    for _ in 0..input.steps {
        let at = |x: usize, y: usize| now[y * width + x];
        let mut then = Vec::with_capacity(now.len());
        for y in 0..height {
            for x in 0..width {
                let t = at(x, y);
                let (west, east) = (at(x.saturating_sub(1), y), at((x + 1).min(width - 1), y));
                let (north, south) = (at(x, y.saturating_sub(1)), at(x, (y + 1).min(height - 1)));
                let across = (-2.0f32).mul_add(t, west + east);
                let along = (-2.0f32).mul_add(t, north + south);
                let flow = across.mul_add(p.per_rx, input.power[y * width + x]);
                let flow = along.mul_add(p.per_ry, flow);
                let flow = (p.ambient - t).mul_add(p.per_rz, flow);
                then.push(p.step_over_capacity.mul_add(flow, t));
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
    fn a_chip_at_ambient_without_power_stays() {
        let mut input = Input::generate(8, 8, 5);
        input.power.fill(0.0);
        input.temperature.fill(input.physics.ambient);
        assert!(simulate(&input).iter().all(|&t| t == input.physics.ambient));
    }

    #[test]
    fn without_a_way_out_heat_is_conserved() {
        let mut input = Input::generate(16, 8, 20);
        input.physics.per_rz = 0.0;
        let sum = |grid: &[f32]| grid.iter().map(|&t| f64::from(t)).sum::<f64>();
        let power: f64 = sum(&input.power);
        let gained = sum(&simulate(&input)) - sum(&input.temperature);
        let want = power * f64::from(input.physics.step_over_capacity) * 20.0;
        assert!((gained - want).abs() < 2e-6 * sum(&input.temperature), "{gained} for {want}");
    }

    #[test]
    fn heat_spreads_to_the_four_neighbours_alike() {
        let mut input = Input::generate(5, 5, 1);
        input.power.fill(0.0);
        input.temperature.fill(300.0);
        input.physics.ambient = 300.0;
        input.temperature[12] = 400.0;
        let after = simulate(&input);
        assert!(after[12] < 400.0 && after[7] > 300.0);
        assert_eq!(after[7], after[11]);
        assert_eq!(after[7], after[13]);
        assert_eq!(after[7], after[17]);
        assert_eq!(after[6], 300.0);
    }
}
