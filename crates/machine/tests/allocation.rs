//! The cycle loop allocates nothing once queues have grown to what a kernel needs.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{KERNELS, find, gtx480};
use counting::allocations;
use std::sync::{Arc, Mutex};
use warpwatt_machine::{Control, Gpu, Options};
use warpwatt_simt::device::{Arg, Device};

/// Runs a kernel with `n` rounds. The observer, which is called every 512 windows, reads the allocations so far: gives how
/// many were made between its second call and its last one, and the cycles in between.
fn steady(kernel: &str, n: u32, no_skip: bool) -> (u64, u64) {
    let program = find(kernel);
    let mut gpu = Gpu::new(gtx480(), Options { no_skip, ..Options::default() }).unwrap();
    gpu.load_module("kernels.ptx", KERNELS).unwrap();
    let bytes = program.words as u64 * 4;
    let (a, b) = (gpu.alloc(bytes).unwrap(), gpu.alloc(bytes).unwrap());
    let data: Vec<u8> = (0..program.words).flat_map(|i| ((i * 97 + 1) % program.words).to_le_bytes()).collect();
    gpu.write(a, &data).unwrap();
    let seen = Arc::new(Mutex::new((0, [(0, 0); 2])));
    let keep = seen.clone();
    gpu.set_observer(Box::new(move |p| {
        let (calls, marks) = &mut *keep.lock().unwrap();
        *calls += 1;
        marks[(*calls > 2) as usize] = (allocations(), p.cycles);
        Control::Continue
    }));
    gpu.launch(kernel, program.grid, program.block, 0, &[Arg::Ptr(a), Arg::Ptr(b), Arg::U32(n)]).unwrap();
    let (calls, [(before, from), (after, to)]) = *seen.lock().unwrap();
    assert!(calls > 2, "{kernel} is too short");
    (after - before, to - from)
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn the_cycle_loop_allocates_nothing() {
    let kernels = [
        ("sums", 24, false),
        ("counters", 90, false),
        ("tickets", 45, false),
        ("diverge", 700, false),
        ("chase", 200, false),
        ("locals", 14, false),
        ("compute", 400, false),
        ("sums", 24, true),
    ];
    for (kernel, n, no_skip) in kernels {
        let (allocations, cycles) = steady(kernel, n, no_skip);
        println!("{kernel}: {cycles} cycles");
        assert!(cycles > 15_000, "{kernel}: only {cycles} cycles");
        assert_eq!(allocations, 0, "{kernel}: in {cycles} cycles");
    }
}
