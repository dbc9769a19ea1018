//! Bad GPU files and bad settings: each is a named error with its place and a remedy, none a panic.

use miette::Diagnostic;
use proptest::prelude::*;
use std::collections::BTreeSet;
use warpwatt_machine::spec::{Configuration, Rule, SpecError, preset_text, presets};

/// Text after `base = "gtx480"` on line 1, code, line and column, a part of message or help.
type Bad = (&'static str, &'static str, Option<(usize, usize)>, &'static str);

const FILES: &[Bad] = &[
    // Not TOML.
    ("sms = ", "gpu::syntax", Some((2, 7)), "TOML"),
    ("sms 15", "gpu::syntax", Some((2, 5)), "TOML"),
    ("[l1d\nsets = 32", "gpu::syntax", Some((2, 5)), "TOML"),
    ("sms = 15\nsms = 16", "gpu::syntax", Some((3, 1)), "TOML"),
    ("name = \"open", "gpu::syntax", Some((2, 13)), "TOML"),
    ("core_mhz = 0x", "gpu::wrong-type", Some((2, 12)), "0x"),
    ("sms = 15 16", "gpu::syntax", Some((2, 7)), "TOML"),
    ("[l1d]\nsets = 32\n[l1d]", "gpu::syntax", Some((4, 2)), "TOML"),
    // Unknown names.
    ("smss = 15", "gpu::unknown-parameter", Some((2, 1)), "did you mean `sms`?"),
    ("core_Mhz = 600", "gpu::unknown-parameter", Some((2, 1)), "did you mean `core_mhz`?"),
    ("core_hmz = 600", "gpu::unknown-parameter", Some((2, 1)), "did you mean `core_mhz`?"),
    ("[l1d]\nset = 32", "gpu::unknown-parameter", Some((3, 1)), "did you mean `l1d.sets`?"),
    ("[l1x]\nsets = 32", "gpu::unknown-parameter", Some((2, 2)), "unknown parameter `l1x`"),
    ("[dram]\nrdc = 12", "gpu::unknown-parameter", Some((3, 1)), "did you mean `dram.rcd`?"),
    ("op.fp_mad.latency = 5", "gpu::unknown-parameter", Some((2, 4)), "unknown parameter `op.fp_mad`"),
    ("zzz_no_such_thing = 1", "gpu::unknown-parameter", Some((2, 1)), "lists all parameters"),
    ("gpgpu_n_mem = 6", "gpu::unknown-parameter", Some((2, 1)), "GPGPU-Sim's name; here it is `channels`"),
    ("-gpgpu_num_reg_banks = 6", "gpu::unknown-parameter", Some((2, 1)), "here it is `register_banks`"),
    ("sms.count = 3", "gpu::wrong-type", Some((2, 1)), "`sms` must be a whole number, not a group"),
    ("\"\" = 3", "gpu::unknown-parameter", Some((2, 1)), "unknown parameter ``"),
    // Wrong types.
    ("sms = 15.5", "gpu::wrong-type", Some((2, 7)), "`sms` must be a whole number, not the number 15.5"),
    ("sms = \"15\"", "gpu::wrong-type", Some((2, 7)), "not the string \"15\""),
    ("sms = true", "gpu::wrong-type", Some((2, 7)), "not true"),
    ("sms = [15]", "gpu::wrong-type", Some((2, 7)), "not a list"),
    ("core_mhz = \"fast\"", "gpu::wrong-type", Some((2, 12)), "must be a number"),
    ("core_mhz = 2026-11-28", "gpu::wrong-type", Some((2, 12)), "not a date"),
    ("scheduler = 3", "gpu::wrong-type", Some((2, 13)), "lrr, gto, two-level-active, two-level-fetch"),
    ("name = 480", "gpu::wrong-type", Some((2, 8)), "must be a string"),
    ("dvfs.transition_halts = 1", "gpu::wrong-type", Some((2, 25)), "must be true or false"),
    ("dvfs.core_levels = 700", "gpu::wrong-type", Some((2, 20)), "a list of [MHz, volts]"),
    ("dvfs.core_levels = [700, 1.0]", "gpu::wrong-type", Some((2, 20)), "a list of [MHz, volts]"),
    ("dvfs.core_levels = [[700, 1.0, 2]]", "gpu::wrong-type", Some((2, 20)), "a list of [MHz, volts]"),
    ("dram_address_map = 32", "gpu::wrong-type", Some((2, 20)), "must be a string"),
    // Out of range.
    ("sms = 0", "gpu::out-of-range", Some((2, 7)), "1 to 1024 (SMs)"),
    ("sms = -1", "gpu::out-of-range", Some((2, 7)), "`sms` = -1 is out of range"),
    ("sms = 99999999999", "gpu::out-of-range", Some((2, 7)), "1 to 1024"),
    ("sms = 99999999999999999999999999999999999999999999", "gpu::out-of-range", Some((2, 7)), "1 to 1024"),
    ("core_mhz = 0", "gpu::out-of-range", Some((2, 12)), "10 to 10000 (MHz)"),
    ("core_mhz = nan", "gpu::out-of-range", Some((2, 12)), "`core_mhz` = nan is out"),
    ("core_mhz = inf", "gpu::out-of-range", Some((2, 12)), "inf is out of range"),
    ("core_mhz = -700.0", "gpu::out-of-range", Some((2, 12)), "10 to 10000"),
    ("warps_per_sm = 96", "gpu::out-of-range", Some((2, 16)), "1 to 64 (warps)"),
    ("noc_latency_cycles = 7", "gpu::out-of-range", Some((2, 22)), "8 to 1000 (NoC cycles)"),
    ("op.int_add.latency = 0", "gpu::out-of-range", Some((2, 22)), "1 to 4096 (core cycles)"),
    ("op.int_add = { latency = 4, initiation = 0 }", "gpu::out-of-range", Some((2, 42)), "op.int_add.initiation"),
    ("dram.banks = 128", "gpu::out-of-range", Some((2, 14)), "a power of two, 1 to 64 (banks)"),
    ("dvfs.transition_ns = -1", "gpu::out-of-range", Some((2, 22)), "0 to 1000000 (ns)"),
    // Powers of two.
    ("l1d.sets = 48", "gpu::not-a-power-of-two", Some((2, 12)), "the nearest are 32 and 64"),
    ("l2.sets = 192", "gpu::not-a-power-of-two", Some((2, 11)), "the nearest are 128 and 256"),
    ("dram.banks = 12", "gpu::not-a-power-of-two", Some((2, 14)), "8 and 16"),
    ("shared_banks = 31", "gpu::not-a-power-of-two", Some((2, 16)), "16 and 32"),
    ("l1c.line_bytes = 96", "gpu::not-a-power-of-two", Some((2, 18)), "64 and 128"),
    ("channel_interleave_bytes = 300", "gpu::not-a-power-of-two", Some((2, 28)), "256 and 512"),
    // Choices.
    ("scheduler = \"gtoo\"", "gpu::unknown-choice", Some((2, 13)), "did you mean `gto`?"),
    ("scheduler = \"GTO\"", "gpu::unknown-choice", Some((2, 13)), "did you mean `gto`?"),
    ("scheduler = \"fifo\"", "gpu::unknown-choice", Some((2, 13)), "the choices are lrr, gto"),
    ("l1d.set_index = \"xor\"", "gpu::unknown-choice", Some((2, 17)), "linear, hash, fermi"),
    ("dvfs.model = \"crips\"", "gpu::unknown-choice", Some((2, 14)), "did you mean `crisp`?"),
    // Levels.
    ("dvfs.core_levels = []", "gpu::bad-levels", Some((2, 20)), "the list is empty"),
    ("dvfs.core_levels = [[700, 1.0], [600, 0.9]]", "gpu::bad-levels", Some((2, 20)), "ascending order"),
    ("dvfs.core_levels = [[600, 1.0], [700, 0.9]]", "gpu::bad-levels", Some((2, 20)), "lower voltage"),
    ("dvfs.core_levels = [[700, 3.3]]", "gpu::bad-levels", Some((2, 20)), "0.3 to 1.5"),
    ("dvfs.mem_levels = [[924, nan]]", "gpu::bad-levels", Some((2, 19)), "outside 0.3 to 1.5"),
    ("dvfs.mem_levels = [[0, 1.0]]", "gpu::bad-levels", Some((2, 19)), "outside 10 to 10000"),
    // Groups.
    ("l1d = 32", "gpu::group", Some((2, 7)), "give its members under [l1d]: sets, ways, line_bytes"),
    ("op.sfu = 20", "gpu::group", Some((2, 10)), "latency, initiation"),
    ("dvfs = \"crisp\"", "gpu::group", Some((2, 8)), "model, core_levels"),
    // Rules between parameters, one each.
    ("name = \"my gpu\"", "gpu::rule::name", Some((2, 8)), "letters, digits"),
    ("energy_table = \"\"", "gpu::rule::name", Some((2, 16)), "is no name"),
    ("warps_per_sm = 32", "gpu::rule::threads", Some((2, 16)), "threads_per_sm at most 1024"),
    ("collectors_sp = 40\ncollectors_mem = 40", "gpu::rule::collectors", Some((2, 17)), "at most 63 together"),
    (
        "schedulers = 16\nwarps_per_sm = 8\nthreads_per_sm = 256",
        "gpu::rule::schedulers",
        Some((2, 14)),
        "16 schedulers share 8 warps",
    ),
    ("fetch_group_warps = 49", "gpu::rule::fetch-group", Some((2, 21)), "at most 48"),
    ("registers_per_sm = 1024", "gpu::rule::registers", Some((2, 20)), "too few for one warp"),
    ("shared_bytes_per_sm = 1024\nshared_unit_bytes = 2048", "gpu::rule::shared", Some((3, 21)), "at most 1024"),
    ("ibuffer_entries = 16\ninstruction_bytes = 16", "gpu::rule::fetch-line", Some((2, 19)), "a fetch of 256 B"),
    ("l1d.line_bytes = 64", "gpu::rule::data-line", Some((2, 18)), "must be 128"),
    ("l2.line_bytes = 32", "gpu::rule::l2-line", Some((2, 17)), "four 32-byte sectors"),
    ("noc_buffer_flits = 2", "gpu::rule::noc-buffer", Some((2, 20)), "a packet of 4 flits"),
    ("sms = 129", "gpu::rule::noc-ports", Some((2, 7)), "129 SMs and 12 L2 sub-partitions"),
    ("sub_partitions = 4\nchannels = 33", "gpu::rule::noc-ports", Some((3, 12)), "132 L2 sub-partitions"),
    ("noc_max_mhz = 600", "gpu::rule::noc-clock", Some((2, 15)), "noc_max_mhz at least 700"),
    (
        "dvfs.mem_levels = [[924, 1.0], [1848, 1.2]]",
        "gpu::rule::noc-clock",
        Some((2, 19)),
        "1400 MHz at the memory level of 1848 MHz",
    ),
    ("core_mhz = 701", "gpu::rule::core-clock", Some((2, 12)), "Add a level to dvfs.core_levels"),
    ("dram_mhz = 1000", "gpu::rule::memory-clock", Some((2, 12)), "Add a level to dvfs.mem_levels"),
    ("dram_bus_bits = 8", "gpu::rule::dram-burst", Some((2, 17)), "a burst of 8 B"),
    ("dram_beats_per_clock = 16", "gpu::rule::dram-beats", Some((2, 24)), "at most 8"),
    ("dram.ccd = 4", "gpu::rule::dram-column", Some((2, 12)), "dram.ccd = 4 is longer than dram.ccdl = 3"),
    ("dram.rcd = 30", "gpu::rule::dram-row", Some((2, 12)), "RCD ≤ RAS"),
    ("dram.rc = 39", "gpu::rule::dram-row", Some((2, 11)), "RAS + RP ≤ RC"),
    ("dram.bank_groups = 16\ndram.banks = 8", "gpu::rule::dram-banks", Some((2, 20)), "at most 8"),
    (
        "sub_partitions = 8\ndram.banks = 4\ndram.bank_groups = 2",
        "gpu::rule::sub-partitions",
        Some((2, 18)),
        "8 sub-partitions share 4 banks",
    ),
    ("dram_address_map = \"RRBBXX\"", "gpu::rule::address-map-letters", Some((2, 20)), "has a `X`"),
    ("dram_address_map = \"BBBBCCCCCCSSSSSS\"", "gpu::rule::address-map-length", Some((2, 20)), "at least one row bit"),
    ("dram_address_map = \"RRBBBCCCCCCSSSSSS\"", "gpu::rule::address-map-banks", Some((2, 20)), "16 needs 4"),
    ("dram_address_map = \"RRBBBBCCCCCCCSSSSS\"", "gpu::rule::address-map-burst", Some((2, 20)), "64 needs 6"),
    ("dram_address_map = \"RRCCCCCCBBBBSSSSSS\"", "gpu::rule::address-map-line", Some((2, 20)), "128-byte line apart"),
    ("dram_address_map = \"RRBBBBCCCCCSCSSSSS\"", "gpu::rule::address-map-line", Some((2, 20)), "lowest 6 bits"),
    ("dram_address_map = \"RRBBBBCCCCCSSSSSS\"", "gpu::rule::address-map-row", Some((2, 20)), "4096 needs 12"),
];

const SETTINGS: &[Bad] = &[
    ("", "gpu::bad-assignment", Some((1, 1)), "NAME=VALUE"),
    ("core_mhz", "gpu::bad-assignment", Some((1, 1)), "--set core_mhz=600"),
    ("core_mhz 600", "gpu::bad-assignment", Some((1, 1)), "NAME=VALUE"),
    ("=600", "gpu::unknown-parameter", Some((1, 1)), "unknown parameter"),
    ("core_mzh=600", "gpu::unknown-parameter", Some((1, 1)), "did you mean `core_mhz`?"),
    ("-gpgpu_shader_cta=8", "gpu::unknown-parameter", Some((1, 1)), "here it is `ctas_per_sm`"),
    ("core_mhz=", "gpu::wrong-type", Some((1, 10)), "must be a number"),
    ("core_mhz=fast", "gpu::wrong-type", Some((1, 10)), "the string \"fast\""),
    ("core_mhz=6 00", "gpu::wrong-type", Some((1, 10)), "the string \"6 00\""),
    ("sms=15.0", "gpu::wrong-type", Some((1, 5)), "whole number"),
    ("sms=4000", "gpu::out-of-range", Some((1, 5)), "1 to 1024"),
    ("sms=-4", "gpu::out-of-range", Some((1, 5)), "1 to 1024"),
    ("l1d.sets=33", "gpu::not-a-power-of-two", Some((1, 10)), "32 and 64"),
    ("l1d=33", "gpu::group", Some((1, 5)), "sets, ways"),
    ("scheduler=two-level", "gpu::unknown-choice", Some((1, 11)), "the choices are"),
    ("scheduler=two-level-activ", "gpu::unknown-choice", Some((1, 11)), "did you mean `two-level-active`?"),
    ("dvfs.core_levels=[[700]]", "gpu::wrong-type", Some((1, 18)), "a list of [MHz, volts]"),
    ("dvfs.core_levels=[[700,9]]", "gpu::bad-levels", Some((1, 18)), "outside 0.3 to 1.5"),
    ("core_mhz=900", "gpu::rule::core-clock", Some((1, 10)), "Add a level"),
    ("warps_per_sm=24", "gpu::rule::threads", Some((1, 14)), "at most 768"),
    ("base=kepler-big", "gpu::unknown-parameter", Some((1, 1)), "unknown parameter `base`"),
];

fn whole_message(error: &SpecError) -> String {
    format!("{error} | {}", error.help().map_or_else(String::new, |help| help.to_string()))
}

/// Checks an error against its row.
fn check(row: &Bad, error: &SpecError, wrong: &mut Vec<String>) {
    let (text, code, position, part) = row;
    let message = whole_message(error);
    let found = (error.problem.code(), error.position());
    if found != (*code, *position) || !message.contains(part) {
        wrong.push(format!("{text}\n  {found:?} {message}"));
    }
    // It can be drawn: the label lies in the source.
    if let (Some(source), Some(labels)) = (error.source_code(), error.labels()) {
        for label in labels {
            source.read_span(label.inner(), 1, 1).unwrap_or_else(|_| panic!("{text}: label outside the text"));
        }
    }
}

#[test]
fn bad_files_and_settings_are_named_errors() {
    let mut wrong = Vec::new();
    for row in FILES {
        let text = format!("base = \"gtx480\"\n{}\n", row.0);
        match Configuration::from_toml("bad.toml", &text) {
            Ok(_) => wrong.push(format!("accepted: {}", row.0)),
            Err(error) => check(row, &error, &mut wrong),
        }
    }
    for row in SETTINGS {
        let mut gpu = Configuration::preset("gtx480").unwrap();
        let outcome = gpu.set(row.0).and_then(|()| gpu.finish().map(drop));
        check(row, &outcome.expect_err(row.0), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let codes: BTreeSet<&str> = FILES.iter().chain(SETTINGS).map(|row| row.1).collect();
    assert!(FILES.len() + SETTINGS.len() >= 100, "{}", FILES.len() + SETTINGS.len());
    assert!(codes.len() >= 30, "{codes:?}");
    for rule in Rule::ALL {
        assert!(codes.contains(rule.code()), "no test breaks the rule {}: {}", rule.code(), rule.meaning());
    }
}

#[test]
fn bad_bases() {
    let error = |text: &str| Configuration::from_toml("bad.toml", text).expect_err(text);
    let unknown = error("# mine\nbase = \"gtx48\"");
    assert_eq!((unknown.problem.code(), unknown.position()), ("gpu::unknown-preset", Some((2, 8))));
    assert!(whole_message(&unknown).contains("did you mean `gtx480`?"));
    assert!(whole_message(&error("base = \"rtx\"")).contains("the presets are gtx480, gtx480-equalizer"));
    assert_eq!(error("base = 480").problem.code(), "gpu::wrong-type");
    let missing = error("sms = 3");
    assert_eq!(missing.problem.code(), "gpu::missing");
    assert!(whole_message(&missing).contains("start from a preset"), "{}", whole_message(&missing));
    assert_eq!(Configuration::preset("gtx4800").unwrap_err().problem.code(), "gpu::unknown-preset");
    assert_eq!(error("").problem.code(), "gpu::missing");
}

#[test]
fn good_forms() {
    let read =
        |text: &str| Configuration::from_toml("my.toml", &format!("base = \"gtx480\"\n{text}")).unwrap().finish();
    assert_eq!(read("threads_per_sm = 1_024").unwrap().threads_per_sm, 1024);
    assert_eq!(read("l1d.sets = 0x40").unwrap().l1d.sets, 64);
    assert_eq!(read("core_mhz = 6e2").unwrap().core_mhz, 600.0);
    assert_eq!(read("op.sfu = { latency = 30 }").unwrap().op.sfu.initiation, 8);
    let mut gpu = Configuration::preset("gtx480").unwrap();
    for setting in ["scheduler=lrr", "warps_per_sm = 32", "threads_per_sm=1024", "dvfs.core_levels=[[900, 1.1]]"] {
        gpu.set(setting).unwrap();
    }
    gpu.set("core_mhz=900").unwrap();
    let gpu = gpu.finish().unwrap();
    assert_eq!((gpu.warps_per_sm, gpu.core_volts(900.0)), (32, 1.1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Any change of a few bytes of a preset is read or refused, and never panics; what is read is valid.
    #[test]
    fn mutated_presets_never_panic(
        preset in 0..7usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..6),
    ) {
        let name = presets().nth(preset).unwrap();
        let mut letters: Vec<char> = preset_text(name).unwrap().chars().collect();
        for (at, letter) in edits {
            let at = at.index(letters.len());
            letters[at] = letter;
        }
        let text: String = letters.into_iter().collect();
        match Configuration::from_toml("mutated.toml", &text) {
            Ok(gpu) => prop_assert!(gpu.finish().is_ok()),
            Err(error) => prop_assert!(!whole_message(&error).is_empty()),
        }
    }

    #[test]
    fn any_setting_never_panics(setting in "[a-z_.0-9]{0,12}=?\\PC{0,12}") {
        let mut gpu = Configuration::preset("gtx480").unwrap();
        let _ = gpu.set(&setting).and_then(|()| gpu.finish().map(drop));
    }
}
