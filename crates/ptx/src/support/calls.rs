//! Calls: which targets there are, whether arguments fit, and what a kernel can reach.

use super::operands::Context;
use crate::ir::*;

/// Functions that the simulator provides: name, parameters, return values.
pub const EXTERNS: &[(&str, usize, usize)] =
    &[("vprintf", 2, 1), ("__assertfail", 5, 0), ("malloc", 1, 1), ("free", 1, 0)];

/// The parts of a `call`, whose operands stand as written.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Places of the return values.
    pub returns: &'a [Operand],
    /// [`Operand::Function`] or [`Operand::Reg`].
    pub target: &'a Operand,
    /// Arguments.
    pub arguments: &'a [Operand],
    /// Prototype, list of targets, or a function that serves as prototype; of indirect calls.
    pub prototype: Option<&'a Operand>,
}

/// Takes a `call` apart; `None` if the instruction is none.
pub fn call_parts(instruction: &Instruction) -> Option<Call<'_>> {
    let (returns, rest): (&[Operand], _) = match &*instruction.operands {
        [Operand::Params(returns), rest @ ..] => (returns, rest),
        rest => (&[], rest),
    };
    let (target, rest) = rest.split_first()?;
    let (arguments, rest): (&[Operand], _) = match rest {
        [Operand::Params(arguments), rest @ ..] => (arguments, rest),
        rest => (&[], rest),
    };
    (instruction.opcode == Opcode::Call).then_some(Call { returns, target, arguments, prototype: rest.first() })
}

/// Whether a function can be called: it has a body, or the simulator provides it.
pub fn is_provided(function: &Function) -> bool {
    function.body.is_none() && EXTERNS.iter().any(|(name, ..)| *name == function.name)
}

impl Context<'_> {
    /// Checks a `call`.
    pub(super) fn check_call(&self, instruction: &Instruction) -> Result<(), String> {
        let Some(call) = call_parts(instruction) else { return Err("the call has no target".to_owned()) };
        match *call.target {
            Operand::Function(id) => self.check_target(&call, id),
            Operand::Reg(id) => {
                let Register { ty, name, vector } = &self.body.registers[id.0 as usize];
                if *vector != 1 || !matches!(ty.bytes(), 4 | 8) || ty.is_float() {
                    return Err(format!("`{name}`, declared .{}, holds no function's address", ty.name()));
                }
                match call.prototype {
                    Some(Operand::Prototype(i)) => {
                        let prototype = &self.body.prototypes[*i as usize];
                        self.check_lists(&call, &prototype.params, &prototype.returns)
                    }
                    Some(Operand::CallTargets(i)) => {
                        self.body.call_targets[*i as usize].iter().try_for_each(|&id| self.check_target(&call, id))
                    }
                    Some(Operand::Function(id)) => {
                        let function = self.module.function(*id);
                        self.check_lists(&call, &function.params, &function.returns)
                    }
                    _ => Err("an indirect call needs a prototype or a list of targets".to_owned()),
                }
            }
            _ => Err("a call goes to a function or through a register".to_owned()),
        }
    }

    fn check_target(&self, call: &Call<'_>, id: FuncId) -> Result<(), String> {
        let function = self.module.function(id);
        let name = &function.name;
        if function.entry {
            return Err(format!("`{name}` is a kernel, and kernels are not called"));
        }
        if function.body.is_none() {
            let Some(&(_, params, returns)) = EXTERNS.iter().find(|(known, ..)| known == name) else {
                return Err(format!("`{name}` is not defined in this module and the simulator does not provide it"));
            };
            if (function.params.len(), function.returns.len()) != (params, returns) {
                return Err(format!("`{name}` is declared with other parameters than the system's"));
            }
        }
        self.check_lists(call, &function.params, &function.returns).map_err(|reason| format!("`{name}`: {reason}"))
    }

    fn check_lists(&self, call: &Call<'_>, params: &[Variable], returns: &[Variable]) -> Result<(), String> {
        for (given, wanted, what) in [(call.arguments, params, "argument"), (call.returns, returns, "return value")] {
            if given.len() != wanted.len() {
                return Err(format!("{} {what}(s) are wanted, but {} are given", wanted.len(), given.len()));
            }
            for (i, (operand, variable)) in given.iter().zip(wanted).enumerate() {
                self.check_value(operand, variable, what).map_err(|reason| format!("{what} {}: {reason}", i + 1))?;
            }
        }
        Ok(())
    }

    /// An argument is a `.param` variable as large as the parameter, a register of its size, or a literal.
    fn check_value(&self, operand: &Operand, variable: &Variable, what: &str) -> Result<(), String> {
        let bytes = match *operand {
            Operand::Reg(id) => {
                let register = &self.body.registers[id.0 as usize];
                if register.ty == Type::Pred && variable.ty != Type::Pred {
                    return Err(format!("`{}` is a predicate", register.name));
                }
                u64::from(register.ty.bytes()) * u64::from(register.vector)
            }
            Operand::Variable(reference, 0) => match self.module.variable(self.function, reference) {
                Some(v) if v.space == Space::Param => v.size,
                _ => return Err("a variable in .param is wanted".to_owned()),
            },
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if what == "argument" => return Ok(()),
            _ => return Err("a variable in .param, a register or a literal is wanted".to_owned()),
        };
        if bytes == variable.size {
            Ok(())
        } else {
            Err(format!("{} bytes are wanted, but {bytes} are given", variable.size))
        }
    }
}

/// The functions that a kernel can reach, itself first, in the order of the module; an indirect call without a list of
/// targets reaches every function whose address is taken anywhere.
pub fn reachable(module: &Module, kernel: FuncId) -> Vec<FuncId> {
    let mut seen = vec![false; module.functions.len()];
    let mut todo = vec![kernel];
    let mut taken: Option<Vec<FuncId>> = None;
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        let Some(body) = &module.function(id).body else { continue };
        for call in body.instructions.iter().filter_map(call_parts) {
            match (call.target, call.prototype) {
                (Operand::Function(id), _) => todo.push(*id),
                (_, Some(Operand::CallTargets(list))) => todo.extend(&body.call_targets[*list as usize]),
                _ => todo.extend(taken.get_or_insert_with(|| address_taken(module)).iter()),
            }
        }
    }
    let others = (0..seen.len()).filter(|&i| seen[i] && i != kernel.0 as usize).map(|i| FuncId(i as u32));
    std::iter::once(kernel).chain(others).collect()
}

/// Functions whose address is a value somewhere: in an initialiser or in an operand other than a call's target.
pub fn address_taken(module: &Module) -> Vec<FuncId> {
    let mut taken = vec![false; module.functions.len()];
    let mut take = |id: FuncId| taken[id.0 as usize] = true;
    let bodies = || module.functions.iter().filter_map(|f| f.body.as_ref());
    let variables = module.variables.iter().chain(bodies().flat_map(|b| &b.variables));
    for init in variables.flat_map(|v| &v.init) {
        if let InitValue::Function { function, .. } = init.value {
            take(function);
        }
    }
    for instruction in bodies().flat_map(|b| &b.instructions).filter(|i| i.opcode != Opcode::Call) {
        for operand in &instruction.operands {
            if let Operand::Function(id) = operand {
                take(*id);
            }
        }
    }
    (0..taken.len()).filter(|&i| taken[i]).map(|i| FuncId(i as u32)).collect()
}
