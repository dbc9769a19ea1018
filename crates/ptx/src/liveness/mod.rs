//! Live registers by backward data flow, and what follows from them: registers per thread, and rows of a register file in
//! which registers that are never live together share a place ([`allocate_rows`]).
//!
//! A register is live where some way on reads it before it is written in full and without a guard: a guarded write keeps
//! the old value in the lanes whose guard does not hold. Sets are kept for whole blocks only, and only of registers that
//! are live across blocks; those of single instructions are made when asked for.

mod rows;

use fixedbitset::FixedBitSet;

use crate::access::{Access, for_each_access};
use crate::cfg::Cfg;
use crate::ir::*;
use crate::support::{call_parts, reachable};

pub use rows::{Place, RowAllocation, allocate_rows};

/// Live registers of a body.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Registers live across blocks, by their place in the blocks' sets.
    global: Vec<RegId>,
    /// Place in the blocks' sets of each register.
    place: Vec<Option<u32>>,
    live_out: Vec<FixedBitSet>,
    live_in: Vec<FixedBitSet>,
    /// Registers that hold the return values.
    returns: Vec<RegId>,
    max_live: u32,
    max_live_predicates: u32,
}

/// What an instruction does to liveness.
struct Effect {
    reads: Vec<RegId>,
    /// Registers whose old value is gone.
    kills: Vec<RegId>,
    /// All registers written, the kills included.
    writes: Vec<RegId>,
}

impl Effect {
    fn new() -> Effect {
        Effect { reads: Vec::new(), kills: Vec::new(), writes: Vec::new() }
    }

    fn set(&mut self, instruction: &Instruction, returns: &[RegId]) {
        self.reads.clear();
        self.kills.clear();
        self.writes.clear();
        if instruction.opcode == Opcode::Ret {
            self.reads.extend(returns);
        }
        for_each_access(instruction, |id, access| match access {
            Access::Read => self.reads.push(id),
            Access::Write if instruction.guard.is_none() => {
                self.kills.push(id);
                self.writes.push(id);
            }
            Access::Write | Access::PartialWrite => self.writes.push(id),
        });
    }
}

impl Liveness {
    /// Computes the live registers of a function's body.
    pub fn new(function: &Function, cfg: &Cfg) -> Liveness {
        let none = Body::default();
        let body = function.body.as_ref().unwrap_or(&none);
        let returns: Vec<RegId> = function.returns.iter().filter_map(|v| v.reg).collect();
        let (global, place) = across_blocks(body, cfg, &returns);
        let count = cfg.blocks().len();
        let set = || FixedBitSet::with_capacity(global.len());
        let mut live = Liveness {
            live_out: vec![set(); count],
            live_in: vec![set(); count],
            global,
            place,
            returns,
            max_live: 0,
            max_live_predicates: 0,
        };
        live.solve(body, cfg);
        live.measure(body, cfg);
        live
    }

    /// The most 32-bit registers that are live at once: a 64-bit register counts two, a 16-bit one counts one, predicates
    /// none.
    pub fn max_live(&self) -> u32 {
        self.max_live
    }

    /// The most predicates that are live at once.
    pub fn max_live_predicates(&self) -> u32 {
        self.max_live_predicates
    }

    /// Registers live at the end of a block.
    pub fn block_live_out(&self, block: u32) -> impl Iterator<Item = RegId> + '_ {
        self.live_out[block as usize].ones().map(|i| self.global[i])
    }

    /// Registers live at the beginning of a block.
    pub fn block_live_in(&self, block: u32) -> impl Iterator<Item = RegId> + '_ {
        self.live_in[block as usize].ones().map(|i| self.global[i])
    }

    /// Visits a block's instructions from the last to the first, each with the set of registers (by number) live behind
    /// it.
    pub fn for_each_live_out(&self, body: &Body, cfg: &Cfg, block: u32, mut visit: impl FnMut(u32, &FixedBitSet)) {
        let mut set = FixedBitSet::with_capacity(body.registers.len());
        set.extend(self.block_live_out(block).map(|id| id.0 as usize));
        let mut effect = Effect::new();
        for i in cfg.blocks()[block as usize].instructions.clone().rev() {
            visit(i, &set);
            effect.set(&body.instructions[i as usize], &self.returns);
            effect.kills.iter().for_each(|id| set.set(id.0 as usize, false));
            effect.reads.iter().for_each(|id| set.set(id.0 as usize, true));
        }
    }

    /// Registers live behind an instruction, in order. Walks through its block: for many instructions use
    /// [`Liveness::for_each_live_out`].
    pub fn live_out(&self, body: &Body, cfg: &Cfg, instruction: u32) -> Vec<RegId> {
        let mut list = Vec::new();
        let block = cfg.block_of(instruction);
        if (block as usize) < cfg.blocks().len() {
            self.for_each_live_out(body, cfg, block, |i, set| {
                if i == instruction {
                    list = set.ones().map(|r| RegId(r as u32)).collect();
                }
            });
        }
        list
    }

    fn solve(&mut self, body: &Body, cfg: &Cfg) {
        let blocks = cfg.blocks();
        let set = || FixedBitSet::with_capacity(self.global.len());
        let (mut exposed, mut killed) = (vec![set(); blocks.len()], vec![set(); blocks.len()]);
        let mut effect = Effect::new();
        for (b, block) in blocks.iter().enumerate() {
            for i in block.instructions.clone().rev() {
                effect.set(&body.instructions[i as usize], &self.returns);
                for place in effect.kills.iter().filter_map(|id| self.place[id.0 as usize]) {
                    exposed[b].set(place as usize, false);
                    killed[b].insert(place as usize);
                }
                for place in effect.reads.iter().filter_map(|id| self.place[id.0 as usize]) {
                    exposed[b].insert(place as usize);
                }
            }
        }
        let mut at_end = set();
        at_end.extend(self.returns.iter().filter_map(|id| self.place[id.0 as usize]).map(|p| p as usize));
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (b, block) in blocks.iter().enumerate() {
            for &next in &block.successors {
                match predecessors.get_mut(next as usize) {
                    Some(list) => list.push(b as u32),
                    None => self.live_out[b].union_with(&at_end),
                }
            }
        }
        // A block is looked at again when what is live at the beginning of a successor has grown.
        let mut waiting = vec![true; blocks.len()];
        let mut todo: Vec<u32> = (0..blocks.len() as u32).collect();
        while let Some(b) = todo.pop() {
            let b = b as usize;
            waiting[b] = false;
            for &next in blocks[b].successors.iter().filter(|&&next| (next as usize) < blocks.len()) {
                self.live_out[b].union_with(&self.live_in[next as usize]);
            }
            let mut live_in = self.live_out[b].clone();
            live_in.difference_with(&killed[b]);
            live_in.union_with(&exposed[b]);
            if live_in != self.live_in[b] {
                self.live_in[b] = live_in;
                for &p in &predecessors[b] {
                    if !std::mem::replace(&mut waiting[p as usize], true) {
                        todo.push(p);
                    }
                }
            }
        }
    }

    /// The largest number of registers live at once: behind an instruction, with its own results.
    fn measure(&mut self, body: &Body, cfg: &Cfg) {
        let width = |id: RegId| width(&body.registers[id.0 as usize]);
        let mut effect = Effect::new();
        for b in 0..cfg.blocks().len() as u32 {
            // Registers and predicates live at the current place.
            let mut set = FixedBitSet::with_capacity(body.registers.len());
            let mut live = [0u32; 2];
            let mut peak = [0u32; 2];
            let insert = |set: &mut FixedBitSet, live: &mut [u32; 2], id: RegId| {
                if !set.put(id.0 as usize) {
                    let (words, predicates) = width(id);
                    live[0] += words;
                    live[1] += predicates;
                }
            };
            self.block_live_out(b).for_each(|id| insert(&mut set, &mut live, id));
            for i in cfg.blocks()[b as usize].instructions.clone().rev() {
                effect.set(&body.instructions[i as usize], &self.returns);
                // A result that nobody reads takes its place at this instruction only.
                effect.kills.extend(effect.writes.iter().filter(|id| !set.contains(id.0 as usize)));
                effect.writes.iter().for_each(|&id| insert(&mut set, &mut live, id));
                peak = [peak[0].max(live[0]), peak[1].max(live[1])];
                for &id in &effect.kills {
                    if set.contains(id.0 as usize) {
                        set.set(id.0 as usize, false);
                        let (words, predicates) = width(id);
                        live[0] -= words;
                        live[1] -= predicates;
                    }
                }
                effect.reads.iter().for_each(|&id| insert(&mut set, &mut live, id));
            }
            self.max_live = self.max_live.max(peak[0]).max(live[0]);
            self.max_live_predicates = self.max_live_predicates.max(peak[1]).max(live[1]);
        }
    }
}

/// 32-bit registers and predicates that a register counts for.
fn width(register: &Register) -> (u32, u32) {
    match register.ty {
        Type::Pred => (0, 1),
        ty => (ty.bytes().div_ceil(4) * u32::from(register.vector.max(1)), 0),
    }
}

/// Registers that some block reads before it writes them (only they can be live across blocks), and their numbers.
fn across_blocks(body: &Body, cfg: &Cfg, returns: &[RegId]) -> (Vec<RegId>, Vec<Option<u32>>) {
    let mut place = vec![None; body.registers.len()];
    let mut global = Vec::new();
    let mut effect = Effect::new();
    let mut written_in = vec![u32::MAX; body.registers.len()];
    let add = |id: RegId, place: &mut Vec<Option<u32>>, global: &mut Vec<RegId>| {
        if place[id.0 as usize].is_none() {
            place[id.0 as usize] = Some(global.len() as u32);
            global.push(id);
        }
    };
    returns.iter().for_each(|&id| add(id, &mut place, &mut global));
    for (b, block) in cfg.blocks().iter().enumerate() {
        for i in block.instructions.clone() {
            effect.set(&body.instructions[i as usize], returns);
            for &id in effect.reads.iter().filter(|id| written_in[id.0 as usize] != b as u32) {
                add(id, &mut place, &mut global);
            }
            effect.kills.iter().for_each(|id| written_in[id.0 as usize] = b as u32);
        }
    }
    (global, place)
}

/// An estimate of the 32-bit registers that a kernel needs per thread: the most that are live at once, the caller's live
/// registers added to the callee's along every chain of calls. Recursion counts once.
pub fn registers_per_thread(module: &Module, kernel: FuncId) -> u32 {
    let mut need = vec![Need::Unknown; module.functions.len()];
    let indirect = reachable(module, kernel);
    chain(module, kernel, &indirect, &mut need, 0)
}

#[derive(Clone, Copy)]
enum Need {
    Unknown,
    /// On the current chain of calls.
    Open,
    Known(u32),
}

/// Deeper chains of calls than this count as recursion.
const MAX_CHAIN: u32 = 200;

fn chain(module: &Module, id: FuncId, reachable: &[FuncId], need: &mut [Need], depth: u32) -> u32 {
    match need[id.0 as usize] {
        Need::Known(known) => return known,
        Need::Open => return 0,
        Need::Unknown if depth > MAX_CHAIN => return 0,
        Need::Unknown => need[id.0 as usize] = Need::Open,
    }
    let function = module.function(id);
    let mut total = 0;
    if let Some(body) = &function.body {
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        total = live.max_live();
        // Per call: what lives across it, and whom it calls.
        let mut calls: Vec<(u32, &[FuncId])> = Vec::new();
        let has_call = |b: &u32| cfg.blocks()[*b as usize].instructions.clone().any(|i| is_call(body, i));
        for block in (0..cfg.blocks().len() as u32).filter(has_call) {
            live.for_each_live_out(body, &cfg, block, |i, behind| {
                let instruction = &body.instructions[i as usize];
                let Some(call) = call_parts(instruction) else { return };
                let callees: &[FuncId] = match (call.target, call.prototype) {
                    (Operand::Function(callee), _) => std::slice::from_ref(callee),
                    (_, Some(Operand::CallTargets(list))) => &body.call_targets[*list as usize],
                    _ => reachable,
                };
                // Results come into being with the return.
                let mut across = behind.clone();
                for_each_access(instruction, |id, access| {
                    across.set(id.0 as usize, behind[id.0 as usize] && access == Access::Read)
                });
                calls.push((across.ones().map(|r| width(&body.registers[r]).0).sum(), callees));
            });
        }
        for (across, callees) in calls {
            for &callee in callees.iter().filter(|&&callee| callee != id) {
                total = total.max(across + chain(module, callee, reachable, need, depth + 1));
            }
        }
    }
    need[id.0 as usize] = Need::Known(total);
    total
}

fn is_call(body: &Body, instruction: u32) -> bool {
    body.instructions[instruction as usize].opcode == Opcode::Call
}

#[cfg(test)]
mod tests;
