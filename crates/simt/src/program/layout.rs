//! Where variables lie: shared memory of the CTA, parameter block, local memory of frames.

use std::collections::BTreeMap;

use warpwatt_ptx::ir::*;

use super::Param;
use super::op::Slot;
use super::storage::Storage;

/// Local memory of a function's frame.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    /// Per body variable: offset in the frame's local memory (`.local` and `.param` variables).
    pub(super) variables: Vec<u32>,
    /// Parameters of a `.func`.
    pub(super) params: Vec<Slot>,
    /// Return values of a `.func`.
    pub(super) returns: Vec<Slot>,
    /// Size.
    pub(super) bytes: u64,
    /// Alignment, at least 16.
    pub(super) align: u32,
}

/// Bump allocation with alignment.
#[derive(Default)]
struct Bump(u64);

impl Bump {
    fn place(&mut self, bytes: u64, align: u32) -> u64 {
        let at = self.0.next_multiple_of(align.max(1) as u64);
        self.0 = at.saturating_add(bytes);
        at
    }
}

/// The least alignment of a frame's local memory.
pub(super) const FRAME_ALIGN: u32 = 16;

/// Lays out a function's frame. An entry's parameters are in the parameter block instead.
pub(super) fn frame(function: &Function, body: &Body, storage: &Storage) -> FrameLayout {
    let mut bump = Bump::default();
    let mut layout = FrameLayout { align: FRAME_ALIGN, ..FrameLayout::default() };
    if !function.entry {
        let mut slot = |v: &Variable| match v.reg {
            Some(reg) => match storage.pred(reg) {
                Some(slot) => Slot::Pred { slot },
                None => Slot::Row { row: storage.element_row(reg, 0), wide: v.ty.bytes() == 8 },
            },
            None => {
                // Whole words, so that arguments can be copied by words.
                let offset = bump.place(v.size.next_multiple_of(4), v.align.max(4)) as u32;
                Slot::Local { offset, bytes: v.size as u32 }
            }
        };
        layout.params = function.params.iter().map(&mut slot).collect();
        layout.returns = function.returns.iter().map(&mut slot).collect();
        for v in function.params.iter().chain(&function.returns).filter(|v| v.reg.is_none()) {
            layout.align = layout.align.max(v.align);
        }
    }
    for v in &body.variables {
        let place = matches!(v.space, Space::Local | Space::Param);
        if place {
            layout.align = layout.align.max(v.align);
        }
        layout.variables.push(if place { bump.place(v.size.next_multiple_of(4), v.align.max(4)) as u32 } else { 0 });
    }
    layout.bytes = bump.0;
    layout
}

/// The kernel's parameter block.
pub(super) fn parameter_block(kernel: &Function) -> (Vec<Param>, u64) {
    let mut bump = Bump::default();
    let params = kernel
        .params
        .iter()
        .map(|v| {
            let offset = bump.place(v.size, v.align) as u32;
            Param { name: v.name.clone(), offset, bytes: v.size as u32 }
        })
        .collect();
    (params, bump.0)
}

/// A shared variable: of the module (`None`) or of a function's body.
pub(super) type SharedKey = (Option<FuncId>, u32);

/// Offsets of shared variables.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLayout {
    pub(super) offsets: BTreeMap<SharedKey, u64>,
    /// Static bytes. Dynamic shared memory begins here.
    pub(super) bytes: u64,
}

/// Lays out the shared variables that the program's functions mention, in the order of the module, then of the bodies.
/// Unsized `.extern` arrays all begin where the static part ends.
pub(super) fn shared(module: &Module, functions: &[FuncId]) -> SharedLayout {
    let mut used = std::collections::BTreeSet::new();
    for &id in functions {
        let Some(body) = &module.functions[id.0 as usize].body else { continue };
        for instruction in &body.instructions {
            instruction.operands.iter().for_each(|o| mentioned(o, &mut used));
        }
    }
    let mut bump = Bump::default();
    let mut layout = SharedLayout::default();
    let mut dynamic = Vec::new();
    let mut dynamic_align = 16;
    let mut add = |key: SharedKey, v: &Variable| {
        if v.space != Space::Shared {
        } else if v.size == 0 {
            dynamic.push(key);
            dynamic_align = dynamic_align.max(v.align);
        } else {
            layout.offsets.insert(key, bump.place(v.size, v.align));
        }
    };
    for (i, v) in module.variables.iter().enumerate() {
        if used.contains(&(i as u32)) {
            add((None, i as u32), v);
        }
    }
    for &id in functions {
        if let Some(body) = &module.functions[id.0 as usize].body {
            for (i, v) in body.variables.iter().enumerate() {
                add((Some(id), i as u32), v);
            }
        }
    }
    if !dynamic.is_empty() {
        bump.place(0, dynamic_align);
    }
    layout.bytes = bump.0;
    layout.offsets.extend(dynamic.into_iter().map(|key| (key, bump.0)));
    layout
}

fn mentioned(operand: &Operand, used: &mut std::collections::BTreeSet<u32>) {
    match operand {
        Operand::Variable(VarRef::Module(i), _) | Operand::Address(AddressBase::Variable(VarRef::Module(i)), _) => {
            used.insert(*i);
        }
        Operand::Vector(list) | Operand::Params(list) => list.iter().for_each(|o| mentioned(o, used)),
        _ => {}
    }
}
