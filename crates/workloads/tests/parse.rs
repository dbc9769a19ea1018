//! Every kernel of the suite is PTX that the parser reads, in forms that execute.

use warpwatt_ptx::ir::FuncId;
use warpwatt_ptx::support::kernel_report;
use warpwatt_workloads::all;

#[test]
fn every_module_parses_and_every_kernel_can_run() {
    for workload in all() {
        let module =
            warpwatt_ptx::parse(workload.name, workload.ptx).unwrap_or_else(|e| panic!("{}: {e:?}", workload.name));
        for kernel in workload.kernels {
            let index = module.functions.iter().position(|f| f.entry && f.name == *kernel).expect(kernel);
            assert_eq!(kernel_report(&module, FuncId(index as u32)), [], "{kernel}");
        }
    }
}
