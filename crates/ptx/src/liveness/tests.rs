use std::collections::BTreeSet;

use super::*;
use crate::parse;
use proptest::prelude::*;

fn module(items: &str) -> Module {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{items}");
    parse("t", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn kernel(body: &str) -> Module {
    module(&format!(
        ".entry k() {{ .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>; .reg .b128 %q<3>; .reg .v4 .f32 v; {body} }}"
    ))
}

fn analyse(m: &Module) -> (&Function, &Body, Cfg, Liveness) {
    let function = &m.functions[0];
    let cfg = Cfg::new(function);
    let live = Liveness::new(function, &cfg);
    (function, function.body.as_ref().unwrap(), cfg, live)
}

fn names(body: &Body, list: &[RegId]) -> Vec<String> {
    list.iter().map(|id| body.registers[id.0 as usize].name.clone()).collect()
}

#[test]
fn straight_line() {
    let m = kernel("mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3; ret;");
    let (_, body, cfg, live) = analyse(&m);
    assert_eq!(names(body, &live.live_out(body, &cfg, 1)), ["%r1", "%r2", "%rd1"]);
    assert_eq!(names(body, &live.live_out(body, &cfg, 2)), ["%r3", "%rd1"]);
    assert_eq!(live.max_live(), 4);
}

#[test]
fn a_guarded_write_keeps_the_old_value() {
    let m = kernel("mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.global.u32 [%rd1], %r1; ret;");
    let (_, body, cfg, live) = analyse(&m);
    assert!(names(body, &live.live_out(body, &cfg, 0)).contains(&"%r1".to_owned()));
    let m = kernel("mov.u32 %r1, 1; mov.u32 %r1, 2; st.global.u32 [%rd1], %r1; ret;");
    let (_, body, cfg, live) = analyse(&m);
    assert!(!names(body, &live.live_out(body, &cfg, 0)).contains(&"%r1".to_owned()));
}

#[test]
fn a_component_keeps_the_others() {
    let m = kernel("mov.f32 v.x, 1.0; mov.f32 v.y, 2.0; st.global.v4.f32 [%rd1], v; ret;");
    let (_, body, cfg, live) = analyse(&m);
    assert!(names(body, &live.live_out(body, &cfg, 0)).contains(&"v".to_owned()));
    assert_eq!(live.max_live(), 6);
}

#[test]
fn around_a_loop() {
    let m =
        kernel("mov.u32 %r1, 0; mov.u32 %r5, 9; L: add.u32 %r1, %r1, %r5; setp.lt.u32 %p1, %r1, 100; @%p1 bra L; ret;");
    let (_, body, cfg, live) = analyse(&m);
    assert_eq!(names(body, &live.live_out(body, &cfg, 4)), ["%r1", "%r5"]);
    assert_eq!((live.max_live(), live.max_live_predicates()), (2, 1));
}

#[test]
fn a_dead_result_takes_a_register_for_a_moment() {
    let m = kernel("mov.u64 %rd1, 1; mov.u64 %rd2, 2; st.global.u64 [%rd1], 5; ret;");
    assert_eq!(analyse(&m).3.max_live(), 4);
}

#[test]
fn return_values_in_registers_live_to_the_end() {
    let m = module(".func (.reg .u32 %o) f(.reg .u32 %a) { .reg .u32 t; mov.u32 %o, %a; mov.u32 t, 1; ret; }");
    let (function, body, cfg, live) = analyse(&m);
    assert_eq!(names(body, &live.live_out(body, &cfg, 1)), ["%o"]);
    let rows = allocate_rows(function, &cfg, &live);
    let place = |name: &str| rows.places[body.registers.iter().position(|r| r.name == name).unwrap()];
    assert!(place("%o") != place("%a") && place("%o") != place("t"));
    assert_eq!(rows.rows, 2);
}

#[test]
fn calls_add_up() {
    let m = module(
        ".entry k() { .reg .b32 %r<9>; .reg .b64 a; mov.u32 %r1, 1; mov.u32 %r2, 2; call (%r3), f, (%r1); \
         add.u32 %r3, %r3, %r2; st.global.u32 [a], %r3; ret; }\n\
         .func (.reg .u32 %o) f(.reg .u32 %a) { .reg .u64 %x<4>; mov.u64 %x1, 1; mov.u64 %x2, 2; add.u64 %x3, %x1, %x2; \
         cvt.u32.u64 %o, %x3; call (%o), f, (%o); ret; }",
    );
    // Across the call %r2 and the pair `a` live; the callee needs two pairs.
    assert_eq!(registers_per_thread(&m, FuncId(0)), 3 + 4);
}

#[test]
fn rows_are_shared_and_aligned() {
    let mut body = String::new();
    for i in 1..60 {
        body.push_str(&format!("mov.u32 %r{i}, {i}; st.global.u32 [%rd1], %r{i};"));
    }
    let m = kernel(&(body + "mov.u32 %r61, 1; mov.b64 %rd2, 2; mov.u32 %r62, 3; st.global.u64 [%rd1], %rd2; ret;"));
    let (function, body, cfg, live) = analyse(&m);
    let rows = allocate_rows(function, &cfg, &live);
    assert!(rows.rows <= 6, "{}", rows.rows);
    for (register, place) in body.registers.iter().zip(&rows.places) {
        if register.ty == Type::B64 {
            assert!(matches!(place, Place::Row(row) if row % 2 == 0));
        }
    }
}

/// A random body over a few registers of 32, 64 and 128 bits and predicates: 30 lines, branches anywhere.
fn bodies() -> impl Strategy<Value = String> {
    let r = || 1u32..9;
    let guard = prop_oneof![2 => Just(String::new()), 1 => (1u32..4).prop_map(|p| format!("@%p{p} "))];
    let line = prop_oneof![
        6 => (r(), r(), r()).prop_map(|(d, a, b)| format!("add.u32 %r{d}, %r{a}, %r{b};")),
        3 => (r(), r(), r()).prop_map(|(d, a, b)| format!("mul.wide.u32 %rd{d}, %r{a}, %r{b};")),
        2 => (r(), r()).prop_map(|(d, a)| format!("cvt.u32.u64 %r{d}, %rd{a};")),
        1 => (r(), r()).prop_map(|(d, a)| format!("mov.b64 {{%r{d}, _}}, %rd{a};")),
        1 => (1u32..3, r(), r()).prop_map(|(q, a, b)| format!("mov.b128 %q{q}, {{%rd{a}, %rd{b}}};")),
        1 => (1u32..3, r(), r()).prop_map(|(q, a, b)| format!("mov.b128 {{%rd{a}, %rd{b}}}, %q{q};")),
        1 => (0u32..4, r()).prop_map(|(e, a)| format!("mov.f32 v.{}, %r{a};", ["x", "y", "z", "w"][e as usize])),
        1 => (0u32..4, r()).prop_map(|(e, a)| format!("mov.f32 %r{a}, v.{};", ["x", "y", "z", "w"][e as usize])),
        2 => (1u32..4, r(), r()).prop_map(|(p, a, b)| format!("setp.lt.u32 %p{p}, %r{a}, %r{b};")),
        4 => (0usize..30).prop_map(|t| format!("bra L{t};")),
        1 => Just("exit;".to_owned()),
    ];
    prop::collection::vec((guard, line), 30).prop_map(|list| {
        let lines = list.iter().enumerate().map(|(i, (guard, line))| format!("L{i}: {guard}{line}\n"));
        lines.collect()
    })
}

/// Follows a lane through the body: at each guard a bit decides. Registers in places of their own and registers in rows
/// must always read the same.
struct Lane {
    pc: u32,
    own: Vec<Vec<u64>>,
    /// Rows, then predicates.
    shared: Vec<u64>,
}

/// Rows (or predicates, behind the rows) of a register's 32-bit parts.
fn parts(register: &Register, place: Place, rows: u32) -> Vec<usize> {
    match place {
        Place::Predicate(p) => vec![(rows + p) as usize],
        Place::Row(row) => (row..row + width(register).0).map(|r| r as usize).collect(),
    }
}

impl Lane {
    fn step(&mut self, body: &Body, rows: &RowAllocation, holds: bool, fresh: &mut u64) -> Result<(), String> {
        let instruction = &body.instructions[self.pc as usize];
        let mut writes = Vec::new();
        let mut wrong = None;
        for_each_access(instruction, |id, access| {
            let at = parts(&body.registers[id.0 as usize], rows.place(id), rows.rows);
            match access {
                Access::Read => {
                    let seen: Vec<u64> = at.iter().map(|&row| self.shared[row]).collect();
                    if seen != self.own[id.0 as usize] {
                        wrong = Some(format!("{} at {}", body.registers[id.0 as usize].name, self.pc));
                    }
                }
                Access::Write => writes.extend((0..at.len()).map(|i| (id, i, at[i]))),
                Access::PartialWrite => {
                    let element = instruction.operands.iter().find_map(|o| match o {
                        Operand::RegElement(of, e) if *of == id => Some(*e as usize),
                        _ => None,
                    });
                    writes.extend(element.map(|i| (id, i, at[i])));
                }
            }
        });
        if holds {
            for (id, part, row) in writes {
                *fresh += 1;
                self.own[id.0 as usize][part] = *fresh;
                self.shared[row] = *fresh;
            }
        }
        let ends = instruction.opcode == Opcode::Exit;
        self.pc = match &instruction.operands[..] {
            [Operand::Label(target)] if holds => *target,
            _ if ends && holds => body.instructions.len() as u32,
            _ => self.pc + 1,
        };
        wrong.map_or(Ok(()), Err)
    }
}

proptest! {
    #[test]
    fn shared_rows_never_lose_a_value(text in bodies(), guards in prop::collection::vec(any::<bool>(), 300)) {
        let m = kernel(&text);
        let (function, body, cfg, live) = analyse(&m);
        let rows = allocate_rows(function, &cfg, &live);
        let mut lane = Lane {
            pc: 0,
            own: body.registers.iter().map(|r| vec![0; parts(r, Place::Row(0), 0).len().max(1)]).collect(),
            shared: vec![0; (rows.rows + rows.predicates) as usize],
        };
        let mut fresh = 0;
        for bit in guards {
            if lane.pc as usize >= body.instructions.len() {
                break;
            }
            let guarded = body.instructions[lane.pc as usize].guard.is_some();
            if let Err(wrong) = lane.step(body, &rows, bit || !guarded, &mut fresh) {
                prop_assert!(false, "{}", wrong);
            }
        }
        for (register, place) in body.registers.iter().zip(&rows.places) {
            if let Place::Row(row) = place {
                prop_assert_eq!(row % register.ty.bytes().div_ceil(4), 0);
                prop_assert!(row + width(register).0 <= rows.rows);
            }
        }
        prop_assert!(rows.rows >= live.max_live());
    }

    /// Live by definition: a way on reads the register before an unguarded full write.
    #[test]
    fn live_sets_are_exact(text in bodies()) {
        let m = kernel(&text);
        let (_, body, cfg, live) = analyse(&m);
        let n = body.instructions.len() as u32;
        let next = |i: u32| {
            let x = &body.instructions[i as usize];
            let mut list = Vec::new();
            if let [Operand::Label(target)] = &x.operands[..] { list.push(*target); }
            let leaves = matches!(x.opcode, Opcode::Bra | Opcode::Exit);
            if !leaves || x.guard.is_some() { list.push(i + 1); }
            list.retain(|&t| t < n);
            list
        };
        for i in 0..n {
            let got: BTreeSet<RegId> = live.live_out(body, &cfg, i).into_iter().collect();
            let mut expected = BTreeSet::new();
            for r in (0..body.registers.len() as u32).map(RegId) {
                let mut seen = vec![false; n as usize];
                let mut todo = next(i);
                while let Some(at) = todo.pop() {
                    if std::mem::replace(&mut seen[at as usize], true) { continue; }
                    let x = &body.instructions[at as usize];
                    let (mut reads, mut kills) = (false, false);
                    for_each_access(x, |id, access| {
                        reads |= id == r && access == Access::Read;
                        kills |= id == r && access == Access::Write && x.guard.is_none();
                    });
                    if reads {
                        expected.insert(r);
                        break;
                    }
                    if !kills { todo.extend(next(at)); }
                }
            }
            prop_assert_eq!(got, expected, "behind {}", i);
        }
    }
}
