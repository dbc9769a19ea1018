//! Votes, shuffles, matches, reductions across a warp.

use warpwatt_ptx::ir::*;

use super::super::op::*;
use super::memory::atomic_op;
use super::{Decode, Decoder, unsupported};

impl Decoder<'_> {
    /// The member mask of a `.sync` form.
    fn member(&mut self, i: &Instruction, index: usize) -> Decode<Option<Src>> {
        if i.mods.sync { self.source32(i.operands.get(index)).map(Some) } else { Ok(None) }
    }

    pub(super) fn vote(&mut self, i: &Instruction) -> Decode<Kind> {
        let mode = match i.mods.vote {
            Some(VoteMode::All) => Vote::All,
            Some(VoteMode::Any) => Vote::Any,
            Some(VoteMode::Uni) => Vote::Uni,
            Some(VoteMode::Ballot) => Vote::Ballot,
            None => return unsupported("a vote without mode"),
        };
        let dest = match mode {
            Vote::Ballot => self.dest32(i.operands.first())?,
            _ => self.pred_dest(i.operands.first())? as u32,
        };
        let Some(operand) = i.operands.get(1) else { return unsupported("a vote without its operands") };
        let src = self.pred_source(operand)?;
        Ok(Kind::Vote { mode, dest, src, member: self.member(i, 2)? })
    }

    pub(super) fn shuffle(&mut self, i: &Instruction) -> Decode<Kind> {
        let Some(mode) = i.mods.shfl else { return unsupported("a shuffle without mode") };
        let at = 1 + i.mods.dual as usize;
        let pred = if i.mods.dual { self.pred_dest(i.operands.get(1))? } else { NO_PRED };
        Ok(Kind::Shuffle(Shuffle {
            mode,
            dest: self.dest32(i.operands.first())?,
            pred,
            src: self.source32(i.operands.get(at))?,
            lane: self.source32(i.operands.get(at + 1))?,
            clamp: self.source32(i.operands.get(at + 2))?,
            member: self.member(i, at + 3)?,
        }))
    }

    pub(super) fn matching(&mut self, i: &Instruction) -> Decode<Kind> {
        let all = match i.mods.vote {
            Some(VoteMode::All) => true,
            Some(VoteMode::Any) => false,
            _ => return unsupported("a match without mode"),
        };
        let at = 1 + i.mods.dual as usize;
        let pred = if i.mods.dual { self.pred_dest(i.operands.get(1))? } else { NO_PRED };
        let ty = i.mods.ty().unwrap_or(Type::B32);
        let wide = ty.bytes() == 8;
        let Some(operand) = i.operands.get(at) else { return unsupported("a match without its operands") };
        match self.source(operand, ty)? {
            (src, w) if w == wide => Ok(Kind::Match {
                all,
                wide,
                dest: self.dest32(i.operands.first())?,
                pred,
                src,
                member: self.member(i, at + 1)?,
            }),
            _ => unsupported("a match of a register of another size"),
        }
    }

    pub(super) fn redux(&mut self, i: &Instruction) -> Decode<Kind> {
        use AtomOp::*;
        let (Some(op), Some(ty)) = (i.mods.atom, i.mods.ty()) else { return unsupported("redux without operation") };
        if !matches!(op, Add | Min | Max | And | Or | Xor) || ty.bytes() != 4 || ty.is_float() {
            return unsupported("this form of redux");
        }
        Ok(Kind::Redux {
            op: atomic_op(op),
            signed: ty.is_signed(),
            dest: self.dest32(i.operands.first())?,
            src: self.source32(i.operands.get(1))?,
            member: self.member(i, 2)?,
        })
    }
}
