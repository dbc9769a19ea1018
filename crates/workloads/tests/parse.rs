//! Every kernel of the suite is PTX that the parser reads.

use warpwatt_workloads::all;

#[test]
fn every_module_parses_and_has_its_kernels() {
    for workload in all() {
        let module =
            warpwatt_ptx::parse(workload.name, workload.ptx).unwrap_or_else(|e| panic!("{}: {e:?}", workload.name));
        for kernel in workload.kernels {
            assert!(module.functions.iter().any(|f| f.entry && f.name == *kernel), "{kernel}");
        }
    }
}
