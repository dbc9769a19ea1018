//! What every text must survive, whether it is PTX or not. Also the body of the fuzz target.

use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::ir::FuncId;
use warpwatt_ptx::liveness::{Liveness, Place, allocate_rows, registers_per_thread};
use warpwatt_ptx::{parse_bytes, support};

/// Parses bytes and, if they are PTX, asks everything that can be asked of a module. Errors must have their place in the
/// text.
pub fn exercise(bytes: &[u8]) {
    let module = match parse_bytes("any.ptx", bytes) {
        Ok(module) => module,
        Err(errors) => {
            let text = String::from_utf8_lossy(bytes);
            assert!(!errors.errors.is_empty());
            for error in &errors.errors {
                let range = error.span.start as usize..error.span.end as usize;
                assert!(text.get(range).is_some(), "the span lies in the text and on characters' boundaries: {error}");
                assert!(error.line >= 1 && error.line as usize <= text.split('\n').count(), "{error}");
                assert!(!error.message.is_empty());
            }
            assert!(errors.errors.is_sorted_by_key(|e| e.span.start));
            return;
        }
    };
    for (i, function) in module.functions.iter().enumerate() {
        let id = FuncId(i as u32);
        for unsupported in support::kernel_report(&module, id) {
            assert!(module.source.get(unsupported.span.start as usize..unsupported.span.end as usize).is_some());
        }
        let Some(body) = &function.body else { continue };
        let cfg = Cfg::new(function);
        for i in 0..body.instructions.len() as u32 {
            assert!(cfg.reconvergence(i) as usize <= body.instructions.len());
        }
        let live = Liveness::new(function, &cfg);
        let rows = allocate_rows(function, &cfg, &live);
        assert!(rows.rows >= live.max_live() && rows.predicates >= live.max_live_predicates());
        assert!(rows.places.iter().all(|p| matches!(p, Place::Row(row) if *row <= rows.rows)
            || matches!(p, Place::Predicate(number) if *number <= rows.predicates)));
        registers_per_thread(&module, id);
    }
}
