//! The presets, figure by figure, against the papers' tables.

use warpwatt_machine::spec::{Configuration, Limit, Scheduler, Spec, declarations, occupancy, presets, schema};

fn spec(name: &str) -> Spec {
    Spec::preset(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_preset_is_valid_and_named_after_itself() {
    for name in presets() {
        assert_eq!(spec(name).name, name);
    }
    assert_eq!(presets().count(), 7);
}

#[test]
fn every_value_of_every_preset_has_a_source() {
    for name in presets() {
        for listed in Configuration::preset(name).unwrap().list() {
            let parameter = &listed.declaration.name;
            assert!(parameter == "name" || !listed.source.is_empty(), "{name}: {parameter}");
            assert!(!listed.declaration.meaning.is_empty(), "{parameter}");
        }
    }
}

#[test]
fn gtx480_is_the_papers_fermi() {
    let gpu = spec("gtx480");
    assert_eq!((gpu.sms, gpu.core_mhz, gpu.noc_mhz, gpu.l2_mhz, gpu.dram_mhz), (15, 700.0, 700.0, 700.0, 924.0));
    assert_eq!((gpu.schedulers, gpu.sp_units, gpu.sfu_units, gpu.ldst_units), (2, 2, 1, 1));
    assert_eq!((gpu.threads_per_sm, gpu.warps_per_sm, gpu.ctas_per_sm), (1536, 48, 8));
    assert_eq!((gpu.registers_per_sm, gpu.shared_bytes_per_sm), (32768, 48 << 10));
    assert_eq!((gpu.l1d.bytes(), gpu.l1d.ways, gpu.l1d.mshrs, gpu.l1d.mshr_merges), (16 << 10, 4, 64, 8));
    assert_eq!((gpu.l1t.bytes(), gpu.l1t.ways), (12 << 10, 24));
    assert_eq!((gpu.l1c.bytes(), gpu.l1c.ways, gpu.l1c.line_bytes), (8 << 10, 2, 64));
    assert_eq!((gpu.l1i.bytes(), gpu.l1i.ways), (2 << 10, 4));
    assert_eq!(gpu.l2.bytes() * u64::from(gpu.channels * gpu.sub_partitions), 768 << 10);
    assert_eq!(gpu.burst_bytes(), 64);
    let peak = gpu.dram_mhz * 1e6 * f64::from(gpu.dram_beats_per_clock * gpu.dram_bus_bits / 8 * gpu.channels);
    assert!((peak / 1e9 - 177.4).abs() < 0.1, "177.4 GB/s: {peak}");
    let dram = &gpu.dram;
    let timing = [dram.ccd, dram.ccdl, dram.rrd, dram.rcd, dram.ras, dram.rp, dram.rc, dram.cl, dram.wl];
    assert_eq!(timing, [2, 3, 6, 12, 28, 12, 40, 12, 4]);
    assert_eq!((dram.cdlr, dram.wr, dram.rtpl, dram.banks, dram.bank_groups), (5, 12, 2, 16, 4));
}

#[test]
fn variants_differ_where_their_papers_say() {
    let equalizer = spec("gtx480-equalizer");
    assert_eq!(equalizer.l1d.bytes(), 32 << 10);
    assert_eq!(equalizer.noc_max_mhz, 805.0);
    let crisp = spec("gtx480-crisp");
    assert_eq!(crisp.l1d.mshrs + crisp.l1t.mshrs + crisp.l1c.mshrs + crisp.l1i.mshrs, 164);
    let c2050 = spec("c2050");
    assert_eq!((c2050.sms, c2050.core_mhz, c2050.dram_mhz), (14, 575.0, 750.0));
    let big = spec("kepler-big");
    assert_eq!((big.sms, big.schedulers, big.sp_units, big.sfu_units, big.ldst_units), (16, 4, 4, 2, 2));
    assert_eq!((big.registers_per_sm, big.l1d.mshrs, big.l2.ways), (36864, 32, 16));
    assert_eq!(big.l2.bytes() * 12, 768 << 10);
    assert_eq!(big.component_groups(), [2, 4, 4, 2, 2, 4, 2, 2, 4, 2, 2, 4, 2, 2]);
    let small = spec("kepler-small");
    assert_eq!((small.sms, small.schedulers, small.sp_units, small.registers_per_sm), (16, 2, 2, 36864));
    let pascal = spec("pascal16");
    assert_eq!((pascal.sms, pascal.core_mhz, pascal.dram_mhz, pascal.dram.banks), (16, 1400.0, 1674.0, 8));
    assert_eq!((pascal.warps_per_sm, pascal.ctas_per_sm, pascal.registers_per_sm), (64, 32, 65536));
    assert_eq!(pascal.l2.bytes() * 2, 256 << 10);
    assert_eq!((pascal.l1d.bytes(), pascal.scheduler), (32 << 10, Scheduler::TwoLevelFetch));
}

#[test]
fn voltage_is_the_levels_own_and_linear_between() {
    let gpu = spec("gtx480-crisp");
    for step in 0..=6 {
        let mhz = 100.0 + 100.0 * f64::from(step);
        assert!((gpu.core_volts(mhz) - (0.55 + 0.00075 * (mhz - 100.0))).abs() < 1e-12, "{mhz}");
    }
    assert!((gpu.core_volts(650.0) - 0.9625).abs() < 1e-12);
    assert_eq!(gpu.core_volts(50.0), 0.55);
    assert_eq!(gpu.mem_volts(924.0), 1.0);
    assert_eq!(spec("gtx480-equalizer").core_volts(805.0), 1.15);
}

#[test]
fn hash_names_the_machine() {
    let gpu = spec("gtx480");
    assert_eq!(gpu.hash(), spec("gtx480").hash());
    let hashes: std::collections::BTreeSet<u64> = presets().map(|name| spec(name).hash()).collect();
    assert_eq!(hashes.len(), presets().count());
    let mut other = gpu.clone();
    other.set("op.sfu.latency", "21").unwrap();
    assert_ne!(gpu.hash(), other.hash());
    other.set("op.sfu.latency", "20").unwrap();
    assert_eq!(gpu.hash(), other.hash());
}

#[test]
fn canonical_text_reads_back_as_the_same_gpu() {
    for name in presets() {
        let gpu = spec(name);
        let read = Configuration::from_toml("x.toml", &gpu.canonical()).unwrap().finish().unwrap();
        assert_eq!(read, gpu);
    }
}

#[test]
fn listing_knows_where_a_value_comes_from() {
    let text = "base = \"gtx480\"\nsms = 20 # my chip\ncore_mhz = 600\n";
    let mut gpu = Configuration::from_toml("lab/my.toml", text).unwrap();
    gpu.set("l1d.sets=64").unwrap();
    let source = |name: &str| {
        let list = gpu.list();
        let found = list.iter().find(|listed| listed.declaration.name == name).unwrap();
        (found.value.clone(), found.source.clone())
    };
    assert_eq!(source("sms"), ("20".to_owned(), "lab/my.toml:2, my chip".to_owned()));
    assert_eq!(source("core_mhz"), ("600".to_owned(), "lab/my.toml:3".to_owned()));
    assert_eq!(source("l1d.sets"), ("64".to_owned(), "--set".to_owned()));
    assert_eq!(source("dram.banks").1, "µC-States Table 3: 16 DRAM banks per MC");
    assert_eq!(gpu.finish().unwrap().name, "my");
}

#[test]
fn names_are_unique_and_every_leaf_is_in_the_schema() {
    let all = declarations();
    let names: std::collections::BTreeSet<&str> = all.iter().map(|declared| declared.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    let schema = schema();
    for declared in &all {
        let mut at = &schema;
        for part in declared.name.split('.') {
            at = &at["properties"][part];
        }
        assert!(at["description"].is_string(), "{}", declared.name);
        assert!(!at["default"].is_null(), "{}", declared.name);
    }
    assert_eq!(schema["properties"]["dram"]["properties"]["rcd"]["default"], 12);
}

#[test]
fn occupancy_by_each_limit() {
    let gpu = spec("gtx480");
    let fit = |threads, registers, shared| {
        let found = occupancy(&gpu, threads, registers, shared);
        (found.ctas, found.limit)
    };
    assert_eq!(fit(64, 10, 0), (8, Limit::CtaSlots));
    assert_eq!(fit(256, 16, 0), (6, Limit::Warps));
    // 21 registers round up to 24: 256 × 24 = 6144, five times in 32768.
    assert_eq!(fit(256, 21, 0), (5, Limit::Registers));
    assert_eq!(fit(256, 20, 0), (6, Limit::Warps));
    assert_eq!(fit(64, 10, 20_000), (2, Limit::Shared));
    // 33 threads are two warps.
    assert_eq!(fit(33, 63, 0), (8, Limit::CtaSlots));
    assert_eq!(fit(1024, 40, 0), (0, Limit::Registers));
    assert_eq!(fit(64, 10, 50_000), (0, Limit::Shared));
    let mut few = gpu.clone();
    few.set("threads_per_sm", "512").unwrap();
    assert_eq!(occupancy(&few, 256, 10, 0).limit, Limit::Threads);
    // Nothing overflows.
    assert_eq!(occupancy(&gpu, u32::MAX, u32::MAX, u32::MAX).ctas, 0);
}
