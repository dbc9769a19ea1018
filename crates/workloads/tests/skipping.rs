//! Without the reference folder tests skip loudly: also under `cargo test`, which captures what passing tests print.

use std::process::Command;
use warpwatt_workloads::reference::folder;

#[test]
fn a_test_that_skips_says_so_past_the_capture() {
    let run = |reference: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_test_that_asks_for_the_folder"])
            .env("WARPWATT_REFERENCE", reference)
            .env_remove("RUST_TEST_NOCAPTURE")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success() && text(&output.stdout).contains("1 passed"), "{}", text(&output.stdout));
        assert!(!text(&output.stdout).contains("is captured"));
        text(&output.stderr)
    };
    let err = run("no such folder");
    assert!(err.contains("SKIPPED: no reference kernels in no such folder (set WARPWATT_REFERENCE"), "{err:?}");
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("kernels")).unwrap();
    std::fs::write(here.path().join("kernels/kernels.ptx"), "").unwrap();
    assert_eq!(run(here.path().to_str().unwrap()), "");
}

/// Run by the test above.
#[test]
fn a_test_that_asks_for_the_folder() {
    println!("this is captured");
    folder();
}
