//! Branches, calls, barriers.

use warpwatt_ptx::ir::*;

use super::super::op::*;
use super::{Decode, Decoder, unsupported};
use crate::cta::BarrierOp;

/// Names of the functions that the device provides.
fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "vprintf" => Builtin::Print,
        "__assertfail" => Builtin::AssertFail,
        "malloc" => Builtin::Malloc,
        "free" => Builtin::Free,
        _ => return None,
    })
}

impl Decoder<'_> {
    pub(super) fn branch(&mut self, i: &Instruction) -> Decode<Kind> {
        match i.operands.first() {
            Some(Operand::Label(target)) => Ok(Kind::Branch { target: self.here().entry + target }),
            _ => unsupported("a branch without a label"),
        }
    }

    pub(super) fn branch_list(&mut self, i: &Instruction) -> Decode<Kind> {
        let index = self.source32(i.operands.first())?;
        let Some(Operand::BranchTargets(list)) = i.operands.get(1) else {
            return unsupported("an indirect branch without a list of targets");
        };
        let here = self.here();
        let targets = here.body.branch_targets[*list as usize].iter().map(|t| here.entry + t).collect();
        Ok(Kind::BranchList { index, targets })
    }

    pub(super) fn call(&mut self, i: &Instruction) -> Decode<Kind> {
        let (mut returns, mut target, mut arguments, mut rest) = (&[][..], None, &[][..], None);
        for operand in &i.operands {
            match operand {
                Operand::Params(list) if target.is_none() => returns = list,
                Operand::Params(list) => arguments = list,
                other if target.is_none() => target = Some(other),
                other => rest = Some(other),
            }
        }
        let (target, params, results) = match target {
            Some(Operand::Function(id)) => self.direct(*id)?,
            Some(Operand::Reg(reg)) => {
                let (src, wide) = self.base(*reg)?;
                self.indirect(src, wide, rest, arguments.len(), returns.len())?
            }
            _ => return unsupported("a call without a target"),
        };
        if params.len() != arguments.len() || results.len() != returns.len() {
            return unsupported("a call whose arguments do not fit the function");
        }
        let arguments = arguments.iter().zip(&params).map(|(a, &p)| self.argument(a, p)).collect::<Decode<_>>()?;
        let returns = returns.iter().map(|r| self.result_slot(r)).collect::<Decode<_>>()?;
        Ok(Kind::Call(Box::new(Call { target, arguments, returns })))
    }

    /// Target, parameter and return slots of a function.
    fn direct(&self, id: FuncId) -> Decode<(Target, Vec<Slot>, Vec<Slot>)> {
        let function = &self.module.functions[id.0 as usize];
        if let Some(index) = self.units.iter().position(|u| u.id == id) {
            let frame = &self.units[index].frame;
            return Ok((Target::Function(index as u32), frame.params.clone(), frame.returns.clone()));
        }
        let Some(builtin) = builtin(&function.name) else {
            return unsupported(format!("a call of {}, which is not defined,", function.name));
        };
        let slots = |list: &[Variable]| list.iter().map(declared_slot).collect();
        Ok((Target::Builtin(builtin), slots(&function.params), slots(&function.returns)))
    }

    /// The functions that an indirect call may reach: those of the program with the same numbers of parameters and
    /// return values (and the same sizes, which each call checks), or the call's own list of targets.
    fn indirect(
        &self,
        src: Src,
        wide: bool,
        rest: Option<&Operand>,
        arguments: usize,
        returns: usize,
    ) -> Decode<(Target, Vec<Slot>, Vec<Slot>)> {
        let declared = |params: &[Variable], results: &[Variable]| {
            let slots = |list: &[Variable]| list.iter().map(declared_slot).collect::<Vec<_>>();
            (slots(params), slots(results))
        };
        let mut listed = None;
        let (params, results) = match rest {
            Some(Operand::Prototype(p)) => {
                let p = &self.here().body.prototypes[*p as usize];
                declared(&p.params, &p.returns)
            }
            Some(Operand::Function(f)) => {
                let f = &self.module.functions[f.0 as usize];
                declared(&f.params, &f.returns)
            }
            Some(Operand::CallTargets(list)) => {
                let list = &self.here().body.call_targets[*list as usize];
                listed = Some(list);
                match list.first() {
                    Some(f) => {
                        let f = &self.module.functions[f.0 as usize];
                        declared(&f.params, &f.returns)
                    }
                    None => return unsupported("an indirect call with an empty list of targets"),
                }
            }
            _ => return unsupported("an indirect call without a prototype"),
        };
        if params.len() != arguments || results.len() != returns {
            return unsupported("a call whose arguments do not fit its prototype");
        }
        let fits = |u: &super::Unit<'_>| {
            !u.function.entry && same_shape(&u.frame.params, &params) && same_shape(&u.frame.returns, &results)
        };
        let functions = self
            .units
            .iter()
            .enumerate()
            .filter(|(_, u)| fits(u) && listed.is_none_or(|l| l.contains(&u.id)))
            .map(|(index, _)| index as u32)
            .collect();
        Ok((Target::Indirect { src, wide, functions }, params, results))
    }

    fn argument(&mut self, operand: &Operand, param: Slot) -> Decode<Argument> {
        if let Operand::Variable(var, 0) = operand {
            let place = self.place(*var)?;
            if place.frame {
                let bytes = match param {
                    Slot::Local { bytes, .. } => bytes,
                    Slot::Row { wide, .. } => 4 + 4 * wide as u32,
                    Slot::Pred { .. } => return unsupported("a predicate argument in parameter storage"),
                };
                return Ok(Argument::Local { offset: place.address as u32, bytes });
            }
        }
        let (ty, wanted) = match param {
            Slot::Pred { .. } => return Ok(Argument::Pred(self.pred_source(operand)?)),
            Slot::Row { wide, .. } => (if wide { Type::B64 } else { Type::B32 }, wide),
            Slot::Local { bytes: 8, .. } => (Type::B64, true),
            Slot::Local { bytes: ..=4, .. } => (Type::B32, false),
            Slot::Local { .. } => return unsupported("a register as an argument of this size"),
        };
        match self.source(operand, ty)? {
            (src, wide) if wide == wanted => Ok(Argument::Row { src, wide }),
            _ => unsupported("an argument of another size than its parameter"),
        }
    }

    fn result_slot(&self, operand: &Operand) -> Decode<Slot> {
        match operand {
            Operand::Variable(var, 0) => {
                let place = self.place(*var)?;
                match var {
                    VarRef::Body(i) if place.frame => {
                        let bytes = self.here().body.variables[*i as usize].size as u32;
                        Ok(Slot::Local { offset: place.address as u32, bytes })
                    }
                    _ => unsupported("this destination of a return value"),
                }
            }
            Operand::Reg(r) => match self.here().storage.pred(*r) {
                Some(slot) => Ok(Slot::Pred { slot }),
                None => {
                    let (row, bytes) = self.dest(Some(operand), 1)?;
                    Ok(Slot::Row { row, wide: bytes == 8 })
                }
            },
            _ => unsupported("this destination of a return value"),
        }
    }

    pub(super) fn barrier(&mut self, i: &Instruction) -> Decode<Kind> {
        let operands = &i.operands;
        let mode = i.mods.bar.unwrap_or(BarMode::Sync);
        if mode == BarMode::WarpSync {
            return Ok(Kind::WarpSync { member: self.source32(operands.first())? });
        }
        let reduction = matches!(mode, BarMode::Red | BarMode::RedPopc);
        let at = reduction as usize;
        // bar.red d, a{, b}, c: the predicate comes last.
        let plain = operands.len().saturating_sub(2 * at);
        let number = self.source32(operands.get(at))?;
        let count = match plain {
            2 => Some(self.source32(operands.get(at + 1))?),
            1 => None,
            _ => return unsupported("a barrier with this number of operands"),
        };
        let predicate = match operands.last() {
            Some(p) if reduction => self.pred_source(p)?,
            _ => PredSrc::FALSE,
        };
        let (op, dest) = match (mode, i.mods.bool_op) {
            (BarMode::Arrive, _) => (BarrierOp::Arrive, 0),
            (BarMode::RedPopc, _) => (BarrierOp::RedPopc, self.dest32(operands.first())?),
            (BarMode::Red, Some(BoolOp::And)) => (BarrierOp::RedAnd, self.pred_dest(operands.first())? as u32),
            (BarMode::Red, Some(BoolOp::Or)) => (BarrierOp::RedOr, self.pred_dest(operands.first())? as u32),
            (BarMode::Red, _) => return unsupported("this reduction at a barrier"),
            _ => (BarrierOp::Sync, 0),
        };
        Ok(Kind::Barrier(Barrier { op, aligned: i.mods.aligned, number, count, predicate, dest }))
    }
}

/// A parameter's slot as a prototype declares it; its place is the callee's business.
fn declared_slot(v: &Variable) -> Slot {
    match (v.space, v.ty) {
        (Space::Reg, Type::Pred) => Slot::Pred { slot: 0 },
        (Space::Reg, ty) => Slot::Row { row: 0, wide: ty.bytes() == 8 },
        _ => Slot::Local { offset: 0, bytes: v.size as u32 },
    }
}

fn same_shape(a: &[Slot], b: &[Slot]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Slot::Local { bytes: a, .. }, Slot::Local { bytes: b, .. }) => a == b,
            (Slot::Row { wide: a, .. }, Slot::Row { wide: b, .. }) => a == b,
            (Slot::Pred { .. }, Slot::Pred { .. }) => true,
            _ => false,
        })
}
