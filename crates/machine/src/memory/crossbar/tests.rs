//! Throughput and fairness of a switch with queues that never run dry.

use super::*;

/// Inputs with endless queues: `choose(input, n)` gives an input's n-th packet.
struct Traffic<F> {
    choose: F,
    sent: Vec<u64>,
    received: Vec<u64>,
}

fn run(inputs: u32, outputs: u32, cycles: u64, choose: impl Fn(u32, u64) -> Head) -> (u64, Traffic<()>) {
    let mut switch = Switch::new(inputs, outputs);
    let mut traffic = Traffic { choose, sent: vec![0; inputs as usize], received: vec![0; outputs as usize] };
    for input in 0..inputs {
        switch.offer(input, (traffic.choose)(input, 0));
    }
    let mut flits = 0;
    for _ in 0..cycles {
        flits += switch.cycle(
            &mut traffic,
            |_, _| true,
            |t, input, output| {
                t.received[output as usize] += 1;
                t.sent[input as usize] += 1;
                Some((t.choose)(input, t.sent[input as usize]))
            },
        );
    }
    (flits, Traffic { choose: (), sent: traffic.sent, received: traffic.received })
}

fn random(input: u32, n: u64) -> u64 {
    let mut x = (n << 8 | u64::from(input)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 32
}

#[test]
fn one_output_takes_exactly_one_flit_a_cycle_from_all_inputs_in_turn() {
    let (flits, traffic) = run(15, 12, 1500, |_, _| Head { output: 3, flits: 1 });
    assert_eq!(flits, 1500);
    assert!(traffic.sent.iter().all(|&n| n == 100), "{:?}", traffic.sent);
    assert_eq!(traffic.received[3], 1500);
}

#[test]
fn long_packets_hold_their_output_and_share_it_by_packets() {
    let (flits, traffic) = run(4, 2, 1200, |input, _| Head { output: 1, flits: if input == 0 { 3 } else { 1 } });
    assert_eq!(flits, 1200);
    assert_eq!(traffic.sent, [200; 4]);
}

#[test]
fn inputs_with_different_outputs_do_not_disturb_each_other() {
    let (flits, traffic) = run(12, 15, 1000, |input, _| Head { output: input + 3, flits: 2 });
    assert_eq!(flits, 12 * 1000);
    assert!(traffic.sent.iter().all(|&n| n == 500));
}

/// Uniform random traffic: head-of-line blocking limits many ports to 2 − √2 of their lines (Karol et al.). With 15 inputs
/// and 12 outputs the outputs are the fewer, so the limit per output is a little higher; with 32 × 32 it is near.
#[test]
fn uniform_traffic_reaches_the_limit_of_head_of_line_blocking() {
    let bound = 2.0 - 2f64.sqrt();
    let (flits, traffic) = run(32, 32, 20_000, |i, n| Head { output: (random(i, n) % 32) as u32, flits: 1 });
    let share = flits as f64 / 20_000.0 / 32.0;
    assert!((0.9 * bound..1.06 * bound).contains(&share), "{share} of 32 × 32");
    let (least, most) = (traffic.sent.iter().min().unwrap(), traffic.sent.iter().max().unwrap());
    assert!(*least as f64 > 0.95 * *most as f64, "fair: {least} … {most}");
    let (flits, _) = run(15, 12, 20_000, |i, n| Head { output: (random(i, n) % 12) as u32, flits: 1 });
    let share = flits as f64 / 20_000.0 / 12.0;
    assert!((bound..0.75).contains(&share), "{share} of 12 outputs");
}

#[test]
fn a_refused_output_blocks_what_stands_behind_its_packet() {
    let mut switch = Switch::new(2, 2);
    switch.offer(0, Head { output: 0, flits: 1 });
    switch.offer(1, Head { output: 1, flits: 1 });
    let mut delivered = Vec::new();
    for _ in 0..3 {
        switch.cycle(
            &mut delivered,
            |_, output| output != 0,
            |log: &mut Vec<(u32, u32)>, input, output| {
                log.push((input, output));
                None
            },
        );
    }
    assert_eq!(delivered, [(1, 1)]);
    assert!(switch.has_head(0) && !switch.has_head(1) && !switch.is_idle());
}
