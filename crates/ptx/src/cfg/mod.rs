//! Control flow of a body: basic blocks, and where divergent lanes meet again.
//!
//! Lanes that part at a branch meet at its immediate post-dominator (W. W. L. Fung et al., "Dynamic Warp Formation",
//! MICRO 2007, section 2). A path on which threads end (`exit`, `trap`, in a kernel also an early `ret`) never comes to a
//! meeting point, so it does not keep the others from meeting: post-dominance is taken over the paths that go on to the
//! body's main end, and over those that end early only where there are no others. Loops without an exit are treated as if
//! the last of their blocks could leave. Where no block is left, lanes meet at the end of the body.
//!
//! Left out: calls count as straight-line code, whether or not they return.

mod dominators;

use std::ops::Range;

use crate::ir::*;

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First instruction and one past the last.
    pub instructions: Range<u32>,
    /// Blocks that may follow, the branch targets first; the number of blocks stands for the end of the body.
    pub successors: Vec<u32>,
}

/// The control-flow graph of a body.
#[derive(Clone, Debug)]
pub struct Cfg {
    blocks: Vec<Block>,
    /// Block of each instruction.
    block_of: Vec<u32>,
    /// Immediate post-dominator of each block; the number of blocks stands for the end.
    post_dominator: Vec<u32>,
    length: u32,
}

impl Cfg {
    /// Builds the graph of a function's body; empty if it has none.
    pub fn new(function: &Function) -> Cfg {
        let instructions = function.body.as_ref().map_or(&[][..], |body| &body.instructions);
        let length = instructions.len() as u32;
        let mut leader = vec![false; instructions.len() + 1];
        leader[0] = true;
        if let Some(body) = &function.body {
            for (i, instruction) in instructions.iter().enumerate() {
                let ends = ends_block(instruction.opcode);
                leader[i + 1] |= ends;
                for_each_target(body, instruction, |target| leader[target as usize] = true);
            }
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut block_of = Vec::with_capacity(instructions.len());
        for i in 0..length {
            match blocks.last_mut() {
                Some(block) if !leader[i as usize] => block.instructions.end = i + 1,
                _ => blocks.push(Block { instructions: i..i + 1, successors: Vec::new() }),
            }
            block_of.push(blocks.len() as u32 - 1);
        }
        let mut cfg = Cfg { post_dominator: Vec::new(), blocks, block_of, length };
        if let Some(body) = &function.body {
            for b in 0..cfg.blocks.len() {
                cfg.blocks[b].successors = cfg.successors_of(body, b);
            }
            cfg.post_dominator = cfg.post_dominators(function.entry, body);
        }
        cfg
    }

    /// The blocks in the order of the text.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of an instruction; the number of blocks for the end of the body.
    pub fn block_of(&self, instruction: u32) -> u32 {
        self.block_of.get(instruction as usize).copied().unwrap_or(self.blocks.len() as u32)
    }

    /// Where lanes that part at this instruction meet: an instruction, or the number of instructions for the end of the
    /// body.
    pub fn reconvergence(&self, instruction: u32) -> u32 {
        let block = self.block_of(instruction);
        self.post_dominator.get(block as usize).map_or(self.length, |&p| self.first(p))
    }

    /// Immediate post-dominator of a block, in the sense of the module's introduction; the number of blocks stands for
    /// the end.
    pub fn post_dominator(&self, block: u32) -> u32 {
        self.post_dominator.get(block as usize).copied().unwrap_or(self.blocks.len() as u32)
    }

    /// First instruction of a block, or the end.
    fn first(&self, block: u32) -> u32 {
        self.blocks.get(block as usize).map_or(self.length, |b| b.instructions.start)
    }

    fn successors_of(&self, body: &Body, block: usize) -> Vec<u32> {
        let end = self.blocks[block].instructions.end;
        let last = &body.instructions[end as usize - 1];
        let mut list = Vec::new();
        let mut add = |b: u32| {
            if !list.contains(&b) {
                list.push(b);
            }
        };
        for_each_target(body, last, |target| add(self.block_of(target)));
        if ends_thread_or_function(last.opcode) {
            add(self.blocks.len() as u32);
        }
        let leaves = ends_thread_or_function(last.opcode) || matches!(last.opcode, Opcode::Bra | Opcode::Brx);
        if !leaves || last.guard.is_some() {
            add(self.block_of(end));
        }
        list
    }

    fn post_dominators(&self, entry: bool, body: &Body) -> Vec<u32> {
        let end = self.blocks.len();
        let reached = self.reached();
        let last = |b: usize| &body.instructions[self.blocks[b].instructions.end as usize - 1];
        // How a block ends the body: its own end, if any, among the main ones or the early ones.
        let ends: Vec<usize> =
            (0..end).filter(|&b| reached[b] && self.blocks[b].successors.contains(&(end as u32))).collect();
        // Going on to the end of the text is one place for all; each `ret`, `exit` or `trap` is one of its own.
        let rank = |b: usize| match last(b) {
            i if i.opcode == Opcode::Trap => 0,
            i if i.opcode == Opcode::Exit => 1,
            i if i.opcode == Opcode::Ret => 2,
            _ => 3,
        };
        let best = ends.iter().copied().max_by_key(|&b| (rank(b), b));
        let main: Vec<usize> = match best {
            // A `ret` of a kernel ends the thread: only one of them is the end that all others wait for.
            Some(best) if entry && rank(best) < 3 => vec![best],
            _ => ends.iter().copied().filter(|&b| rank(b) == 3 || (rank(b) == 2 && !entry)).collect(),
        };
        // Level by level: blocks that reach a main end, those that reach an early end, those in endless loops. A level
        // ignores edges to the later ones.
        let mut predecessors = vec![Vec::new(); end + 1];
        for (b, block) in self.blocks.iter().enumerate().filter(|&(b, _)| reached[b]) {
            for &next in block.successors.iter().filter(|&&s| s as usize != end) {
                predecessors[next as usize].push(b as u32);
            }
        }
        const UNSEEN: u32 = u32::MAX;
        let mut level = vec![UNSEEN; end];
        let mut to_end = vec![false; end];
        let mut spread = |roots: &[usize], number: u32| {
            let mut todo = Vec::new();
            for &b in roots.iter().filter(|&&b| level[b] == UNSEEN) {
                to_end[b] = true;
                todo.push(b);
            }
            todo.iter().for_each(|&b| level[b] = number);
            while let Some(b) = todo.pop() {
                for &p in &predecessors[b] {
                    if level[p as usize] == UNSEEN {
                        level[p as usize] = number;
                        todo.push(p as usize);
                    }
                }
            }
        };
        spread(&main, 0);
        spread(&ends, 1);
        for b in (0..end).rev().filter(|&b| reached[b]) {
            spread(&[b], 2 + (end - b) as u32);
        }
        // Post-dominators are dominators of the reversed graph, from the end.
        let mut reversed = vec![Vec::new(); end + 1];
        for (b, block) in self.blocks.iter().enumerate().filter(|&(b, _)| reached[b]) {
            for &next in &block.successors {
                if next as usize != end && level[next as usize] == level[b] {
                    reversed[next as usize].push(b as u32);
                }
            }
            if to_end[b] {
                reversed[end].push(b as u32);
            }
        }
        let immediate = dominators::immediate_dominators(&reversed, end as u32);
        (0..end).map(|b| immediate[b].unwrap_or(end as u32)).collect()
    }

    /// Blocks that control can come to.
    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        let mut todo = vec![0];
        while let Some(b) = todo.pop() {
            if let Some(seen) = reached.get_mut(b as usize)
                && !std::mem::replace(seen, true)
            {
                todo.extend(&self.blocks[b as usize].successors);
            }
        }
        reached
    }
}

fn ends_thread_or_function(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Ret | Opcode::Exit | Opcode::Trap)
}

fn ends_block(opcode: Opcode) -> bool {
    ends_thread_or_function(opcode) || matches!(opcode, Opcode::Bra | Opcode::Brx)
}

/// The instructions (or the end) that a branch may go to.
fn for_each_target(body: &Body, instruction: &Instruction, mut visit: impl FnMut(u32)) {
    for operand in &instruction.operands {
        match operand {
            Operand::Label(target) => visit(*target),
            Operand::BranchTargets(list) => body.branch_targets[*list as usize].iter().for_each(|&t| visit(t)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
