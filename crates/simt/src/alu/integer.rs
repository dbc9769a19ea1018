//! Integer arithmetic (PTX manual, "Integer Arithmetic Instructions").

use super::AluOp;
use super::kernel::map2;
use super::select::Form;
use warpwatt_ptx::ir::{Opcode, Type};

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    use Type::*;
    match (form.opcode, form.ty()?) {
        (Opcode::Add, U32 | S32) => form.op(map2(u32::wrapping_add)),
        (Opcode::Add, U64 | S64) => form.op(map2(u64::wrapping_add)),
        _ => None,
    }
}
