//! The same table on the CPU, row by row.

use super::{GAP, Input, score};

pub(super) fn table(input: &Input) -> Vec<i32> {
    let stride = input.across.len() + 1;
    let mut table: Vec<i32> = (0..stride as i32).map(|j| -GAP * j).collect();
    for (i, &a) in input.down.iter().enumerate() {
        table.push(-GAP * (i as i32 + 1));
        for (j, &b) in input.across.iter().enumerate() {
            let diagonal = table[i * stride + j] + score(a, b);
            let up = table[i * stride + j + 1] - GAP;
            let left = table[(i + 1) * stride + j] - GAP;
            table.push(diagonal.max(up).max(left));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(across: &str, down: &str) -> i32 {
        let input = Input { across: across.into(), down: down.into() };
        *table(&input).last().unwrap()
    }

    #[test]
    fn equal_sequences_score_five_a_base() {
        assert_eq!(best("GATTACA", "GATTACA"), 35);
    }

    #[test]
    fn pairs_worked_by_hand() {
        assert_eq!(best("A", "G"), -2);
        assert_eq!(best("A", "C"), -4);
        // GATTACA / GA-TACA: six matches and a gap.
        assert_eq!(best("GATTACA", "GATACA"), 30 - 4);
        // GATTACA / GACTATA: five matches, two transitions (T–C, C–T).
        assert_eq!(best("GATTACA", "GACTATA"), 25 - 4);
    }

    #[test]
    fn against_nothing_there_are_only_gaps() {
        let input = Input { across: b"ACG".to_vec(), down: vec![] };
        assert_eq!(table(&input), [0, -4, -8, -12]);
    }
}
