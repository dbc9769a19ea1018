use std::time::Instant;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::device::{Arg, Device};

fn h(i: u64) -> u32 { (i as u32).wrapping_mul(2654435761) }
fn u(n: usize) -> Vec<u8> { (0..n as u64).flat_map(|i| ((h(i) >> 8) as f32 / 16777216.0).to_le_bytes()).collect() }
fn fnv(d: &[u8]) -> u64 { d.iter().fold(14695981039346656037u64, |a, b| (a ^ *b as u64).wrapping_mul(1099511628211)) }

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = std::env::var("WARPWATT_REFERENCE").unwrap();
    let ptx = std::fs::read_to_string(format!("{dir}/kernels/kernels.ptx")).unwrap();
    let threads: usize = std::env::var("T").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
    for case in &args {
        let mut spec = Spec::preset("gtx480").unwrap();
        for kv in std::env::var("SET").unwrap_or_default().split_whitespace() { let (k, v) = kv.split_once('=').unwrap(); spec.set(k, v).unwrap(); }
        let mut g = Gpu::new(spec, Options { threads, registers: std::env::var("REGS").ok().and_then(|r| r.parse().ok()), no_skip: std::env::var("NOSKIP").is_ok(), ..Default::default() }).unwrap();
        g.load_module("k", &ptx).unwrap();
        let mut buf = |g: &mut Gpu, d: Vec<u8>| { let p = g.alloc(d.len() as u64).unwrap(); g.write(p, &d).unwrap(); p };
        let t = Instant::now();
        let (out, n) = match case.as_str() {
            "vecadd" => { let a = buf(&mut g, u(131072)); let b = buf(&mut g, u(131072)); let c = buf(&mut g, vec![0; 131072*4]);
                g.launch("vecadd", [512,1,1], [256,1,1], 0, &[Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c), Arg::I32(131072)]).unwrap(); (c, 131072*4) }
            "copy4" => { let a = buf(&mut g, u(262144)); let c = buf(&mut g, vec![0; 262144*4]);
                g.launch("copy4", [60,1,1], [256,1,1], 0, &[Arg::Ptr(a), Arg::Ptr(c), Arg::I32(65536)]).unwrap(); (c, 262144*4) }
            "matmul" => { let a = buf(&mut g, u(65536)); let b = buf(&mut g, u(65536)); let c = buf(&mut g, vec![0; 65536*4]);
                g.launch("matmul", [16,16,1], [16,16,1], 0, &[Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c), Arg::I32(256)]).unwrap(); (c, 65536*4) }
            "intfp" => { let a = buf(&mut g, vec![0; 30720*4]); let b = buf(&mut g, vec![0; 30720*4]);
                g.launch("intfp", [120,1,1], [256,1,1], 0, &[Arg::Ptr(a), Arg::Ptr(b), Arg::I32(64)]).unwrap(); (b, 30720*4) }
            "chase_l1" | "chase_l2" | "chase_dram" => {
                let (n, s): (u64,u64) = match case.as_str() { "chase_l1" => (1024,32), "chase_l2" => (65536,32), _ => (1048576,1952) };
                let a = buf(&mut g, (0..n).flat_map(|i| (((i+s)%n) as u32).to_le_bytes()).collect()); let o = buf(&mut g, vec![0;4]);
                g.launch("chase", [1,1,1],[1,1,1],0,&[Arg::Ptr(a),Arg::Ptr(o),Arg::I32(4096)]).unwrap(); (o, 4) }
            _ => panic!(),
        };
        let dt = t.elapsed().as_secs_f64();
        let mut d = vec![0; n]; g.read(out, &mut d).unwrap();
        let s = g.stats();
        let l = s.launches.last().unwrap();
        println!("{case}: {:016x} cycles {} winst {} tinst {} l2 {}/{} wall {dt:.3} s: {:.0} c/s {:.2} Mw/s", fnv(&d), l.cycles, l.counters.warp_instructions, l.counters.thread_instructions, l.counters.l2_accesses, l.counters.l2_misses, l.cycles as f64/dt, l.counters.warp_instructions as f64/dt/1e6);
        if std::env::var("V").is_ok() { println!("regs {} ctas {} {} {:?}\n  {:?}\n stepped {}", l.registers_per_thread, l.ctas_per_sm, l.occupancy_limit, l.slots, l.counters, l.stepped_sm_cycles); }
    }
}
