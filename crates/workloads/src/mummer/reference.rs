//! The same matches on the CPU, by another structure: a suffix automaton (Blumer et al., "The smallest automaton
//! recognizing the subwords of a text", Theoretical Computer Science 40, 1985).

use super::{Input, Matches};

const NONE: usize = usize::MAX;

#[derive(Clone)]
struct State {
    next: [usize; 4],
    /// The state of the longest suffix with more occurrences.
    suffix: usize,
    length: usize,
    /// Where the first occurrence ends.
    first_end: usize,
}

fn automaton(text: &[u8]) -> Vec<State> {
    let mut states = vec![State { next: [NONE; 4], suffix: NONE, length: 0, first_end: 0 }];
    let mut last = 0;
    for (i, &base) in text.iter().enumerate() {
        let base = usize::from(base);
        let new = states.len();
        states.push(State { next: [NONE; 4], suffix: 0, length: i + 1, first_end: i + 1 });
        let mut p = last;
        while p != NONE && states[p].next[base] == NONE {
            states[p].next[base] = new;
            p = states[p].suffix;
        }
        if p != NONE {
            let q = states[p].next[base];
            if states[q].length == states[p].length + 1 {
                states[new].suffix = q;
            } else {
                let copy = states.len();
                let length = states[p].length + 1;
                states.push(State { length, ..states[q].clone() });
                while p != NONE && states[p].next[base] == q {
                    states[p].next[base] = copy;
                    p = states[p].suffix;
                }
                states[q].suffix = copy;
                states[new].suffix = copy;
            }
        }
        last = new;
    }
    states
}

/// Text and reads are read backwards, so that what the automaton knows (the longest match that *ends* here) is the longest
/// that begins here; its last occurrence backwards would be the first forwards, so the place is looked up forwards.
pub(super) fn matches(input: &Input) -> Matches {
    let forwards = automaton(&input.text);
    let backwards = automaton(&input.text.iter().rev().copied().collect::<Vec<_>>());
    let mut lengths = vec![0; input.bases.len()];
    for read in input.begin.windows(2) {
        let (mut state, mut length) = (0, 0);
        for i in (read[0] as usize..read[1] as usize).rev() {
            let base = usize::from(input.bases[i]);
            while state != 0 && backwards[state].next[base] == NONE {
                state = backwards[state].suffix;
                length = backwards[state].length;
            }
            if backwards[state].next[base] != NONE {
                state = backwards[state].next[base];
                length += 1;
            }
            lengths[i] = length as i32;
        }
    }
    let place = |(i, &length): (usize, &i32)| {
        let found =
            input.bases[i..i + length as usize].iter().fold(0, |state, &base| forwards[state].next[usize::from(base)]);
        (forwards[found].first_end as i32 - length).max(0)
    };
    let places = lengths.iter().enumerate().map(place).collect();
    Matches { lengths, places }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_by_hand() {
        // Text ACGTACGA; read CGAACGT: CGA at 5, GA at 6, A at 0, ACGT at 0, CGT at 1, GT at 2, T at 3.
        let input = Input { text: vec![0, 1, 2, 3, 0, 1, 2, 0], bases: vec![1, 2, 0, 0, 1, 2, 3], begin: vec![0, 7] };
        let found = matches(&input);
        assert_eq!(found.lengths, [3, 2, 1, 4, 3, 2, 1]);
        assert_eq!(found.places, [5, 6, 0, 0, 1, 2, 3]);
    }

    #[test]
    fn matches_of_the_generated_reads_are_what_searching_finds() {
        let input = Input::generate(2000, 20);
        let found = matches(&input);
        for read in input.begin.windows(2) {
            for i in read[0] as usize..read[1] as usize {
                let occurs = |length: usize| input.text.windows(length).position(|w| w == &input.bases[i..i + length]);
                let length = found.lengths[i] as usize;
                assert!(length > 0);
                assert_eq!(occurs(length), Some(found.places[i] as usize));
                assert!(i + length == read[1] as usize || occurs(length + 1).is_none());
            }
        }
    }
}
