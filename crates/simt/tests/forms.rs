//! Whatever the table of forms lets through can be decoded: every form of the survey, every kernel of the parser's files.

use std::path::Path;

use warpwatt_ptx::ir::{FuncId, Module};
use warpwatt_ptx::support;
use warpwatt_simt::memory::GlobalMemory;
use warpwatt_simt::program::{BuildOptions, ModuleImage, Program};

#[path = "../../ptx/tests/forms.rs"]
mod survey;

/// Builds the kernels that pass [`support`]; how many there are. `complaints` gets those that do not build.
fn build_all(what: &str, module: &Module, complaints: &mut Vec<String>) -> u32 {
    let mut memory = GlobalMemory::default();
    let image = ModuleImage::place(module, &mut memory, |_| None).unwrap();
    let options = BuildOptions { image: &image, registers_override: None };
    let mut built = 0;
    for (index, function) in module.functions.iter().enumerate().filter(|(_, f)| f.entry) {
        let kernel = FuncId(index as u32);
        let supported = support::kernel_report(module, kernel).is_empty();
        match Program::build(module, kernel, &options) {
            Ok(program) => {
                assert!(supported, "{what}: {} builds, but has a report", function.name);
                assert!(program.ops.iter().flat_map(|o| &o.names).all(|&n| (n as u32) < program.names));
                built += 1;
            }
            Err(e) if supported => complaints.push(format!("{what}: {}: {e}", function.name)),
            Err(e) => assert!(e.line > 0, "{what}: {e}"),
        }
    }
    built
}

#[test]
fn every_surveyed_form_that_passes_the_table_is_decoded() {
    let Some(folder) = warpwatt_workloads::reference::folder() else { return };
    let table = std::fs::read_to_string(folder.join("ptx-forms.tsv")).unwrap();
    let (mut built, mut complaints) = (0, Vec::new());
    for form in table.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        let module = warpwatt_ptx::parse("form.ptx", &survey::file(form, &survey::operands(form))).unwrap();
        built += build_all(form, &module, &mut complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(built > 600, "{built}");
}

#[test]
fn kernels_of_real_files_are_decoded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests/data");
    let (mut built, mut complaints) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Ok(module) = warpwatt_ptx::parse(&name, &std::fs::read_to_string(&path).unwrap()) {
            built += build_all(&name, &module, &mut complaints);
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(built > 10, "{built}");
}
