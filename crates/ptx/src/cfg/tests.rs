use super::*;
use proptest::prelude::*;

/// The first function of a file with this body.
fn function(header: &str, body: &str) -> Function {
    let text = format!(".version 7.0\n.target sm_70\n{header} {{ .reg .pred p; .reg .u32 r; {body} }}");
    let mut m = crate::parse("t", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    m.functions.remove(0)
}

fn kernel(body: &str) -> Cfg {
    Cfg::new(&function(".entry k()", body))
}

#[test]
fn if_else_meets_behind_it() {
    let c = kernel("@p bra E; mov.u32 r, 1; bra J; E: mov.u32 r, 2; J: mov.u32 r, 3; ret;");
    assert_eq!(c.reconvergence(0), 4);
    assert_eq!(c.blocks().len(), 4);
    assert_eq!(c.blocks()[0].successors, [2, 1]);
}

#[test]
fn a_loop_meets_behind_its_back_edge() {
    let c = kernel("L: mov.u32 r, 1; @p bra L; mov.u32 r, 2; ret;");
    assert_eq!(c.reconvergence(1), 2);
}

#[test]
fn a_break_out_of_a_loop_meets_behind_the_loop() {
    let c = kernel("L: @p bra X; mov.u32 r, 1; @p bra L; X: mov.u32 r, 2; ret;");
    assert_eq!((c.reconvergence(0), c.reconvergence(2)), (3, 3));
}

#[test]
fn early_ends_do_not_keep_others_from_meeting() {
    // if (p) { if (p) exit; x } y
    let inner = "@p bra Y; @p bra B; {} B: mov.u32 r, 1; Y: mov.u32 r, 2; ret;";
    for end in ["exit;", "ret;", "trap;"] {
        let c = kernel(&inner.replace("{}", end));
        assert_eq!((c.reconvergence(0), c.reconvergence(1)), (4, 3), "{end}");
    }
    // In a function that is called, `ret` is where lanes wait for each other.
    let f = Cfg::new(&function(".func f()", &inner.replace("{}", "ret;")));
    assert_eq!((f.reconvergence(0), f.reconvergence(1)), (6, 6));
    let f = Cfg::new(&function(".func f()", &inner.replace("{}", "exit;")));
    assert_eq!((f.reconvergence(0), f.reconvergence(1)), (4, 3));
}

#[test]
fn a_guarded_end_is_no_obstacle() {
    let c = kernel("@p bra Y; @p exit; mov.u32 r, 1; Y: ret;");
    assert_eq!(c.reconvergence(0), 3);
}

#[test]
fn kernels_that_only_exit() {
    let c = kernel("@p bra E; mov.u32 r, 1; exit; E: mov.u32 r, 2; exit;");
    assert_eq!(c.reconvergence(0), 3);
    let c = kernel("@p bra E; mov.u32 r, 1; E: exit;");
    assert_eq!(c.reconvergence(0), 2);
}

#[test]
fn endless_loops() {
    let c = kernel("L: @p bra M; mov.u32 r, 1; M: mov.u32 r, 2; bra L;");
    assert_eq!(c.reconvergence(0), 2);
    let c = kernel("@p bra L; ret; L: bra L;");
    assert_eq!(c.reconvergence(0), 1);
    assert_eq!(kernel("L: bra L;").reconvergence(0), 1);
}

#[test]
fn irreducible_flow() {
    // Two entries into the loop A <-> B.
    let c = kernel("@p bra B; A: mov.u32 r, 1; B: mov.u32 r, 2; @p bra A; mov.u32 r, 3; ret;");
    assert_eq!((c.reconvergence(0), c.reconvergence(3)), (2, 4));
}

#[test]
fn indexed_branches_and_the_end() {
    let c = kernel("ts: .branchtargets A, B, E; brx.idx r, ts; A: mov.u32 r, 1; bra E; B: mov.u32 r, 2; E:");
    assert_eq!(c.blocks()[0].successors, [1, 2, 3]);
    assert_eq!(c.reconvergence(0), 4);
    assert_eq!(c.block_of(4), 3);
    let empty = kernel("");
    assert_eq!((empty.blocks().len(), empty.reconvergence(0)), (0, 0));
}

#[test]
fn falling_off_the_end() {
    let c = kernel("@p bra E; mov.u32 r, 1; E: mov.u32 r, 2;");
    assert_eq!(c.reconvergence(0), 2);
}

/// A random body: per instruction a branch (target, guarded), an end, or straight-line code.
fn bodies() -> impl Strategy<Value = String> {
    let instruction = prop_oneof![
        3 => Just("mov.u32 r, 1;".to_owned()),
        3 => (0usize..30).prop_map(|t| format!("@p bra L{t};")),
        1 => (0usize..30).prop_map(|t| format!("bra L{t};")),
        1 => Just("ret;".to_owned()),
        1 => Just("@!p exit;".to_owned()),
        1 => Just("trap;".to_owned()),
    ];
    prop::collection::vec(instruction, 1..30).prop_map(|list| {
        let n = list.len() + 1;
        let mut text = String::new();
        for (i, line) in list.iter().enumerate() {
            let line = match line.rsplit_once('L') {
                Some((head, target)) => {
                    let target: usize = target.trim_end_matches(';').parse().unwrap();
                    format!("{head}L{};", target % n)
                }
                None => line.clone(),
            };
            text.push_str(&format!("L{i}: {line}\n"));
        }
        text + &format!("L{}:", list.len())
    })
}

proptest! {
    /// The meeting point of a branch cannot be avoided on a way to the main end, and is the nearest such place: checked by
    /// searching the graph with the place taken out.
    #[test]
    fn meeting_points_cannot_be_avoided(body in bodies()) {
        let c = kernel(&body);
        let end = c.blocks().len() as u32;
        let reached = c.reached();
        // Does `from` reach a block that satisfies `goal` without passing `without`?
        let reaches = |from: u32, goal: &dyn Fn(u32) -> bool, without: Option<u32>| {
            let mut seen = vec![false; end as usize + 1];
            let mut todo: Vec<u32> = vec![from];
            while let Some(b) = todo.pop() {
                if goal(b) {
                    return true;
                }
                if b == end { continue; }
                for &s in &c.blocks()[b as usize].successors {
                    if Some(s) != without && !std::mem::replace(&mut seen[s as usize], true) {
                        todo.push(s);
                    }
                }
            }
            false
        };
        // The main end is the block whose post-dominator is the end and that every other such chain leads to: find the
        // root of each block's chain of post-dominators.
        for b in (0..end).filter(|&b| reached[b as usize]) {
            let place = c.post_dominator(b);
            prop_assert_ne!(place, b);
            if place == end {
                continue;
            }
            prop_assert!(reaches(b, &|x| x == place, None), "block {} never comes to {}", b, place);
            let mut last = place;
            while c.post_dominator(last) != end {
                last = c.post_dominator(last);
            }
            // `last` is where b's threads go on to end; without `place`, b cannot come there.
            if last != place {
                prop_assert!(!reaches(b, &|x| x == last, Some(place)), "block {} avoids {} to {}", b, place, last);
            }
        }
    }
}
