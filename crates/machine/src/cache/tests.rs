use super::*;

fn spec(sets: u32, ways: u32, set_index: SetIndex) -> CacheSpec {
    CacheSpec { sets, ways, line_bytes: 128, mshrs: 4, mshr_merges: 2, miss_queue: 4, set_index }
}

#[test]
fn absent_line_takes_invalid_ways_first_then_the_least_recent() {
    let mut t = TagArray::new(&spec(1, 2, SetIndex::Linear));
    for a in [0, 128] {
        let Probe::Miss(line) = t.probe(a, 0xf) else { panic!("absent") };
        assert_eq!(t.replace(line, a), None);
        t.fill(line, 0xf);
    }
    let first = t.find(0).unwrap();
    t.touch(first);
    let Probe::Miss(line) = t.probe(256, 0xf) else { panic!("absent") };
    assert_eq!(t.replace(line, 256), Some(Evicted { address: 128, dirty: 0 }));
    assert_eq!(t.find(128), None);
    assert_eq!(t.find(0), Some(first));
}

#[test]
fn reserved_lines_are_never_replaced() {
    let mut t = TagArray::new(&spec(1, 2, SetIndex::Linear));
    for a in [0, 128] {
        let line = t.victim(a).unwrap();
        t.replace(line, a);
        t.reserve(line, 0xf);
        assert_eq!(t.state(line), LineState::Reserved);
    }
    assert_eq!(t.probe(256, 1), Probe::NoLine);
    let line = t.find(128).unwrap();
    t.fill(line, 0xf);
    assert_eq!(t.probe(256, 1), Probe::Miss(line));
}

#[test]
fn sectors_have_states_of_their_own() {
    let mut t = TagArray::new(&spec(4, 2, SetIndex::Linear));
    assert_eq!(t.all_sectors(), 0xf);
    let line = t.victim(512).unwrap();
    t.replace(line, 512);
    t.reserve(line, 0b0011);
    assert_eq!(t.probe(512 + 40, 0b0010), Probe::Pending(line));
    assert_eq!(t.probe(512, 0b0100), Probe::SectorMiss(line));
    t.fill(line, 0b0001);
    assert_eq!(t.probe(512, 0b0001), Probe::Hit(line));
    assert_eq!(t.probe(512, 0b0011), Probe::Pending(line));
    assert_eq!(t.state(line), LineState::Reserved);
    t.fill(line, 0b0010);
    assert_eq!(t.state(line), LineState::Valid);
    t.write(line, 0b1000);
    assert_eq!(t.state(line), LineState::Modified);
    assert_eq!((t.valid(line), t.dirty(line), t.reserved(line)), (0b1011, 0b1000, 0));
    t.clean(line, 0b1000);
    assert_eq!(t.state(line), LineState::Valid);
}

#[test]
fn eviction_reports_address_and_dirty_sectors() {
    let mut t = TagArray::new(&spec(8, 1, SetIndex::Hash));
    let address = 0x1234_5680;
    let line = t.victim(address).unwrap();
    t.replace(line, address);
    t.write(line, 0b0101);
    assert_eq!(t.invalidate(address + 127), Some(Evicted { address, dirty: 0b0101 }));
    assert_eq!(t.invalidate(address), None);
    assert_eq!(t.state(line), LineState::Invalid);
}

#[test]
fn a_write_under_way_of_a_fill_stays_dirty() {
    let mut t = TagArray::new(&spec(8, 1, SetIndex::Linear));
    let line = t.victim(0).unwrap();
    t.replace(line, 0);
    t.reserve(line, 1);
    t.write(line, 1);
    t.fill(line, 1);
    assert_eq!((t.valid(line), t.dirty(line), t.reserved(line)), (1, 1, 0));
}

#[test]
fn invalidate_all_empties_everything() {
    let mut t = TagArray::new(&spec(2, 2, SetIndex::Linear));
    for a in [0u64, 128, 256, 384] {
        let line = t.victim(a).unwrap();
        t.replace(line, a);
        t.write(line, 0xf);
    }
    t.invalidate_all();
    assert!((0..4).all(|l| t.state(l) == LineState::Invalid));
    assert!([0u64, 128, 256, 384].iter().all(|&a| t.find(a).is_none()));
}

#[test]
fn linear_index_takes_low_bits_and_hash_spreads_power_of_two_strides() {
    let linear = TagArray::new(&spec(32, 4, SetIndex::Linear));
    assert_eq!(linear.set_of(128 * 33), 1);
    let hash = TagArray::new(&spec(32, 4, SetIndex::Hash));
    let stride = 128 * 32;
    let mut sets: Vec<u32> = (0..32).map(|i| hash.set_of(i * stride)).collect();
    assert!((0..32).all(|i| linear.set_of(i * stride) == 0));
    sets.sort_unstable();
    sets.dedup();
    assert_eq!(sets.len(), 32, "a stride of one way's size uses all sets");
    // Consecutive lines still use all sets.
    let mut sets: Vec<u32> = (0..32).map(|i| hash.set_of(0xc000_0000 + i * 128)).collect();
    sets.sort_unstable();
    sets.dedup();
    assert_eq!(sets.len(), 32);
}

/// Nugteren et al.: set bits 0 to 4 are address bits 7 to 11, each XORed with one of 13, 14, 15, 17, 19.
#[test]
fn fermi_index_folds_five_upper_bits() {
    let small = TagArray::new(&spec(32, 4, SetIndex::Fermi));
    let sets = |bits: &[u32]| small.set_of(bits.iter().map(|b| 1 << b).sum());
    for (set, (low, high)) in [(7, 13), (8, 14), (9, 15), (10, 17), (11, 19)].into_iter().enumerate() {
        assert_eq!((sets(&[low]), sets(&[high]), sets(&[low, high])), (1 << set, 1 << set, 0));
    }
    assert_eq!(sets(&[12, 16, 18, 20, 21]), 0);
    // 48 KiB: bit 12 is the sixth.
    let large = TagArray::new(&spec(64, 6, SetIndex::Fermi));
    assert_eq!((large.set_of(1 << 12), large.set_of(1 << 13)), (32, 1));
}

#[test]
fn mshr_merges_in_order_up_to_its_size() {
    let mut m = Mshr::<u32>::new(2, 3);
    assert_eq!(m.find(64), None);
    let a = m.allocate(64, 10).unwrap();
    assert_eq!(m.find(64), Some(a));
    assert!(m.merge(a, 11) && m.merge(a, 12));
    assert!(!m.can_merge(a) && !m.merge(a, 13));
    assert_eq!(m.tags(a), [10, 11, 12]);
    let b = m.allocate(128, 20).unwrap();
    assert_ne!(a, b);
    assert!(m.is_full());
    assert_eq!(m.allocate(192, 30), None);
    m.release(a);
    assert_eq!((m.find(64), m.find(128), m.used()), (None, Some(b), 1));
    let c = m.allocate(192, 30).unwrap();
    assert_eq!((m.tags(c), m.key(c)), ([30].as_slice(), 192));
}

#[test]
fn mshr_finds_every_entry_of_a_large_table() {
    let mut m = Mshr::<u32>::new(61, 1);
    let entries: Vec<u32> = (0..61).map(|i| m.allocate(i * 128, i as u32).unwrap()).collect();
    for (i, &e) in entries.iter().enumerate() {
        assert_eq!(m.find(i as u64 * 128), Some(e));
        assert_eq!(m.tags(e), [i as u32]);
    }
    assert_eq!(m.find(61 * 128), None);
}
