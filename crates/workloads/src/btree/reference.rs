//! The same answers on the CPU, by bisection of the sorted keys.

use super::{Answers, Input};

pub(super) fn answers(input: &Input) -> Answers {
    let Input { keys, records, queries, lows, highs } = input;
    let find = |query: &i32| keys.binary_search(query).map_or(-1, |place| records[place]);
    let firsts: Vec<i32> = lows.iter().map(|&low| keys.partition_point(|&key| key < low) as i32).collect();
    let beyond = highs.iter().map(|&high| keys.partition_point(|&key| key <= high) as i32);
    let counts = beyond.zip(&firsts).map(|(beyond, first)| beyond - first).collect();
    Answers { found: queries.iter().map(find).collect(), firsts, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_keys() {
        let input = Input {
            keys: vec![2, 4, 6, 8],
            records: vec![20, 40, 60, 80],
            queries: vec![4, 5, 8, 0],
            lows: vec![4, 5, 9, 0, 0],
            highs: vec![6, 5, 12, 1, 99],
        };
        let want = Answers { found: vec![40, -1, 80, -1], firsts: vec![1, 2, 4, 0, 0], counts: vec![2, 0, 0, 0, 4] };
        assert_eq!(answers(&input), want);
    }

    #[test]
    fn most_ranges_hold_keys_and_some_queries_fail() {
        let answers = answers(&Input::generate(4096, 500, 100));
        let missing = answers.found.iter().filter(|&&record| record < 0).count();
        assert!((100..250).contains(&missing), "{missing}");
        assert!(answers.counts.iter().filter(|&&count| count > 0).count() > 90);
    }
}
