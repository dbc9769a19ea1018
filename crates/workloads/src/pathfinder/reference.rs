//! The same costs on the CPU, row by row.

use super::Input;

pub(super) fn costs(input: &Input) -> Vec<i32> {
    input.wall.chunks_exact(input.columns).fold(input.first.clone(), |above, row| {
        let last = above.len() - 1;
        let least = |x: usize| above[x.saturating_sub(1)].min(above[x]).min(above[(x + 1).min(last)]);
        row.iter().enumerate().map(|(x, cost)| cost + least(x)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_grid_worked_by_hand() {
        let input = Input {
            columns: 4,
            first: vec![1, 9, 3, 9],
            wall: vec![
                5, 5, 5, 1, //
                2, 8, 8, 8,
            ],
            rows_per_launch: 1,
        };
        // Second row: 5+1, 5+1, 5+3, 1+3; third: 2+6, 8+6, 8+4, 8+4.
        assert_eq!(costs(&input), [8, 14, 12, 12]);
    }

    #[test]
    fn free_walls_cost_the_least_of_the_reachable_first_row() {
        let mut input = Input::generate(64, 5, 2);
        input.wall.fill(0);
        let found = costs(&input);
        for (x, cost) in found.iter().enumerate() {
            let reach = &input.first[x.saturating_sub(4)..(x + 5).min(64)];
            assert_eq!(cost, reach.iter().min().unwrap());
        }
    }
}
