//! What a kernel can reach, and where its branches meet again.

use std::collections::BTreeSet;

use warpwatt_ptx::ir::*;

use super::decode::{Unit, builtin};

/// The functions that a kernel can reach, the kernel first, in the order of first mention. An indirect call can reach
/// every function whose address is taken, in a reachable function or in a variable's initial contents.
pub(super) fn functions(module: &Module, kernel: FuncId) -> Vec<FuncId> {
    let mut found = vec![kernel];
    let mut known = BTreeSet::from([kernel]);
    let mut next = 0;
    let mut tables = false;
    while next < found.len() {
        let function = &module.functions[found[next].0 as usize];
        next += 1;
        let Some(body) = &function.body else { continue };
        let mut mentioned = Vec::new();
        for i in &body.instructions {
            i.operands.iter().for_each(|o| functions_in(o, body, &mut mentioned));
            let indirect = i.opcode == Opcode::Call && i.operands.iter().any(|o| matches!(o, Operand::Reg(_)));
            if indirect && !tables {
                tables = true;
                for init in module.variables.iter().flat_map(|v| &v.init) {
                    if let InitValue::Function { function, .. } = init.value {
                        mentioned.push(function);
                    }
                }
            }
        }
        for id in mentioned {
            let f = &module.functions[id.0 as usize];
            let provided = f.body.is_none() && builtin(&f.name).is_some();
            if !provided && !f.entry && known.insert(id) {
                found.push(id);
            }
        }
    }
    found
}

fn functions_in(operand: &Operand, body: &Body, found: &mut Vec<FuncId>) {
    match operand {
        Operand::Function(id) => found.push(*id),
        Operand::CallTargets(list) => found.extend(&body.call_targets[*list as usize]),
        Operand::Vector(list) | Operand::Params(list) => list.iter().for_each(|o| functions_in(o, body, found)),
        _ => {}
    }
}

/// Successors of an instruction; the number of instructions stands for the return.
fn successors(body: &Body, at: usize, out: &mut Vec<usize>) {
    out.clear();
    let i = &body.instructions[at];
    let end = body.instructions.len();
    let falls = match i.opcode {
        Opcode::Bra => {
            if let Some(Operand::Label(t)) = i.operands.first() {
                out.push(*t as usize);
            }
            i.guard.is_some()
        }
        Opcode::Brx => {
            if let Some(Operand::BranchTargets(list)) = i.operands.get(1) {
                out.extend(body.branch_targets[*list as usize].iter().map(|&t| t as usize));
            }
            i.guard.is_some()
        }
        Opcode::Ret | Opcode::Exit | Opcode::Trap => {
            out.push(end);
            i.guard.is_some()
        }
        _ => true,
    };
    if falls {
        out.push(at + 1);
    }
}

/// Immediate post-dominator of each branch (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the
/// reversed graph of instructions).
pub(super) fn reconvergence(body: &Body) -> Vec<Option<u32>> {
    let n = body.instructions.len();
    let mut predecessors = vec![Vec::new(); n + 1];
    let mut out = Vec::new();
    for at in 0..n {
        successors(body, at, &mut out);
        for &s in &out {
            predecessors[s].push(at);
        }
    }
    // Order of finishing a search from the end along reversed edges.
    let mut order = vec![usize::MAX; n + 1];
    let mut finished = Vec::with_capacity(n + 1);
    let mut seen = vec![false; n + 1];
    let mut stack = vec![(n, 0)];
    seen[n] = true;
    while let Some((node, edge)) = stack.pop() {
        if let Some(&p) = predecessors[node].get(edge) {
            stack.push((node, edge + 1));
            if !seen[p] {
                seen[p] = true;
                stack.push((p, 0));
            }
        } else {
            order[node] = finished.len();
            finished.push(node);
        }
    }
    let mut dominator = vec![usize::MAX; n + 1];
    dominator[n] = n;
    let mut changed = true;
    while changed {
        changed = false;
        for &node in finished.iter().rev() {
            if node == n {
                continue;
            }
            successors(body, node, &mut out);
            let mut new = usize::MAX;
            for &s in out.iter().filter(|&&s| dominator[s] != usize::MAX) {
                if new == usize::MAX {
                    new = s;
                    continue;
                }
                let (mut a, mut b) = (s, new);
                while a != b {
                    while order[a] < order[b] {
                        a = dominator[a];
                    }
                    while order[b] < order[a] {
                        b = dominator[b];
                    }
                }
                new = a;
            }
            if new != dominator[node] {
                dominator[node] = new;
                changed = true;
            }
        }
    }
    (0..n)
        .map(|at| {
            let branch = matches!(body.instructions[at].opcode, Opcode::Bra | Opcode::Brx);
            (branch && dominator[at] < n).then_some(dominator[at] as u32)
        })
        .collect()
}

/// Registers that a thread needs, at least those of the kernel.
pub(super) fn live_registers(units: &[Unit<'_>]) -> u32 {
    units.iter().map(|u| u.storage.rows).max().unwrap_or(0)
}
