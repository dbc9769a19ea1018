//! Launch descriptions and quick launches that are right: what they compute.

mod common;

use common::{data, warpwatt, warpwatt_in};
use serde_json::Value;

/// Runs a description on both devices; the record of the timed run, after a check that both computed the same.
fn run(job: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    std::fs::write(folder.path().join("job.toml"), format!("ptx = 'basic.ptx'\n{job}")).unwrap();
    let timed = warpwatt_in(folder.path(), &["run", "job.toml", "--json"]);
    assert_eq!(timed.code, Some(0), "{}\n{}", timed.err, timed.out);
    let functional = warpwatt_in(folder.path(), &["run", "job.toml", "--json", "--functional"]);
    assert_eq!(timed.json()["buffers"], functional.json()["buffers"]);
    timed.json()
}

#[test]
fn saxpy_computes_and_verifies() {
    let record = run("
        [[buffer]]
        name = 'x'
        type = 'f32'
        shape = [4, 64]
        init = 'iota'
        [[buffer]]
        name = 'y'
        type = 'f32'
        shape = 256
        init = 'constant'
        value = 1
        [[step]]
        launch = 'saxpy'
        grid = 4
        block = 64
        args = [256, 2.0, 'x', 'y']
        [[expect]]
        buffer = 'y'
        range = [0, 4]
        values = [1, 3, 5, 7]
        [[expect]]
        buffer = 'y'
        range = [254, 256]
        values = [509, 511]
        [[expect]]
        buffer = 'y'
        sum = 65536
    ");
    assert_eq!(record["verification"]["verified"], true);
    assert_eq!(record["buffers"][1]["sum"], 65536.0);
}

#[test]
fn a_loop_runs_until_its_flag_is_zero() {
    let record = run("
        [[buffer]]
        name = 'flag'
        type = 'u32'
        shape = 1
        init = 'constant'
        value = 5
        [[step]]
        launch = 'countdown'
        grid = 1
        block = 32
        args = ['flag']
        until_zero = 'flag'
        [[expect]]
        buffer = 'flag'
        values = [0]
    ");
    assert_eq!(record["launches"].as_array().unwrap().len(), 5);
}

#[test]
fn arguments_change_with_the_rounds_and_structures_are_laid_out() {
    // Rounds 0, 1, 2 add 10 + 3 + (100, 110, 120) + 2 to a, b, a.
    let record = run("
        [[buffer]]
        name = 'a'
        type = 'u32'
        shape = 32
        [[buffer]]
        name = 'b'
        type = 'u32'
        shape = 32
        [[step]]
        repeat = 3
        [[step.do]]
        launch = 'mixed'
        grid = 1
        block = 32
        args = [{ fields = [{ alternate = ['a', 'b'] }, { u32 = 10 }] }, 3, { rounds_from = 100, by = 10 }, 2.5]
        [[step]]
        copy = ['a', 'b']
        [[step]]
        reset = 'a'
        [[expect]]
        buffer = 'b'
        range = [0, 2]
        values = [250, 250]
        [[expect]]
        buffer = 'a'
        sum = 0
    ");
    assert_eq!(record["launches"].as_array().unwrap().len(), 3);
}

#[test]
fn module_variables_and_textures_are_filled_from_buffers() {
    run("
        [[buffer]]
        name = 'table'
        type = 'u32'
        init = 'values'
        values = [7, 8, 9, 4294967295]
        symbol = 'weights'
        [[buffer]]
        name = 'out'
        type = 'u32'
        shape = 32
        [[buffer]]
        name = 'texels'
        type = 'f32'
        shape = 32
        init = 'iota'
        start = 0.5
        [[buffer]]
        name = 'fetched'
        type = 'f32'
        shape = 32
        [[texture]]
        name = 'picture'
        buffer = 'texels'
        size = 32
        [[step]]
        launch = 'weighted'
        grid = 1
        block = 32
        args = ['out']
        [[step]]
        launch = 'fetch'
        grid = 1
        block = 32
        args = ['fetched']
        [[expect]]
        buffer = 'out'
        range = [0, 5]
        values = [7, 8, 9, 4294967295, 7]
        [[expect]]
        buffer = 'fetched'
        range = [0, 3]
        values = [0.5, 1.5, 2.5]
    ");
}

#[test]
fn all_of_a_texture_is_read_whatever_the_cache_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data("basic.ptx"), folder.path().join("basic.ptx")).unwrap();
    let job = "ptx = 'basic.ptx'
        buffer = [{ name = 'texels', type = 'f32', shape = 1024 }, { name = 'out', type = 'f32', shape = 1024 }]
        texture = [{ name = 'picture', buffer = 'texels', size = 1024 }]
        step = [{ launch = 'fetch', grid = 1, block = 1024, args = ['out'] }]";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    for line in [32, 64, 128] {
        let set = format!("l1t.line_bytes={line}");
        let ran = warpwatt_in(folder.path(), &["run", "job.toml", "--json", "--set", &set]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.json()["totals"]["texture_misses"], 4096 / line);
    }
}

#[test]
fn a_quick_launch_prints_its_buffers() {
    let ran = warpwatt(&[
        "run",
        "basic.ptx",
        "--kernel",
        "saxpy",
        "--grid",
        "4",
        "--block",
        "64",
        "--arg",
        "u32:256",
        "--arg",
        "f32:2",
        "--arg",
        "buf:f32:256:iota",
        "--arg",
        "buf:f32:256:1",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("buffer1") && ran.out.contains("65536"), "{}", ran.out);
}

#[test]
fn what_kernels_print_is_shown() {
    for mode in [&[][..], &["--functional"]] {
        let command = [&["run", "printer.ptx", "--grid", "1", "--block", "4", "--json"], mode].concat();
        let printed = warpwatt(&command).json()["printed"].clone();
        let text: String = printed.as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
        assert_eq!(text, "hello from 0\nhello from 1\nhello from 2\nhello from 3\n");
    }
}

#[test]
fn the_readme_shows_the_example_as_it_is() {
    let read = |name: &str| {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
    };
    let shown = format!("```toml\n{}```", read("examples/jobs/jacobi.toml"));
    assert!(read("README.md").contains(&shown));
}

#[test]
fn the_examples_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/jobs");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let ran = warpwatt_in(&folder, &["run", path.to_str().unwrap()]);
            assert_eq!(ran.code, Some(0), "{}\n{}\n{}", path.display(), ran.out, ran.err);
            assert!(ran.out.contains("✔ verified"), "{}", ran.out);
        }
    }
}
