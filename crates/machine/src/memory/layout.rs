//! The immutable part of the memory side: a GPU's parameters in the form that the loop wants them.

use super::MAX_PORTS;
use super::address::AddressMap;
use super::slice::MAX_PARTS;
use super::timing::Timing;
use crate::message::{ReplyKind, packet_flits};
use crate::spec::Spec;

/// Parameters of the memory side.
#[derive(Clone, Debug)]
pub struct Layout {
    /// SMs (crossbar ports).
    pub sms: u32,
    /// Memory channels.
    pub channels: u32,
    /// L2 slices (crossbar ports): channels × sub-partitions.
    pub slices: u32,
    /// Slices of a channel.
    pub sub_partitions: u32,
    /// Address map.
    pub map: AddressMap,
    /// DRAM timing.
    pub timing: Timing,
    /// One-way crossbar latency, NoC cycles.
    pub noc_latency: u64,
    /// Crossbar input buffer of an SM, flits.
    pub noc_buffer: usize,
    /// Flits of a reply with a sector, and of one without data.
    pub sector_flits: u8,
    /// See `sector_flits`.
    pub header_flits: u8,
    /// L2 cycles from the crossbar to the tags.
    pub rop_latency: u64,
    /// L2 cycles from the tags to the DRAM queue.
    pub dram_latency: u64,
    /// Packets between crossbar and tags: the pipeline of `rop_latency` stages, and the queue behind it.
    pub input_depth: usize,
    /// Accesses between tags and DRAM queue: likewise. At least a line's write-backs and a read.
    pub dram_depth: usize,
    /// Replies between slice and crossbar.
    pub reply_depth: usize,
    /// Reads under way from a channel to its slices.
    pub return_depth: usize,
    /// Sectors of a line that one DRAM burst may move.
    pub burst_parts: u64,
}

impl Layout {
    /// From a checked `Spec`.
    pub fn new(spec: &Spec) -> Self {
        let timing = Timing::new(spec);
        let channels = spec.channels.clamp(1, MAX_PORTS / spec.sub_partitions.clamp(1, MAX_PORTS));
        let map = AddressMap::new(spec, channels, timing.banks);
        let sub_partitions = map.sub_partitions();
        let queue = spec.partition_queue.max(1) as usize;
        let flits = |sectors: u32| packet_flits(sectors, spec.noc_flit_bytes.max(1)).clamp(1, 255) as u8;
        Layout {
            sms: spec.sms.min(MAX_PORTS),
            channels,
            slices: channels * sub_partitions,
            sub_partitions,
            timing,
            noc_latency: spec.noc_latency_cycles.into(),
            noc_buffer: spec.noc_buffer_flits as usize,
            sector_flits: flits(1),
            header_flits: flits(0),
            rop_latency: spec.rop_latency_cycles.into(),
            dram_latency: spec.dram_latency_cycles.into(),
            input_depth: spec.rop_latency_cycles as usize + queue,
            dram_depth: (spec.dram_latency_cycles + spec.l2.miss_queue).max(5) as usize,
            reply_depth: queue,
            return_depth: spec.dram_return_queue.max(1) as usize,
            burst_parts: if spec.dram_merge_sectors { u64::from(map.parts()).min(MAX_PARTS as u64) } else { 1 },
            map,
        }
    }

    /// Flits of a reply.
    pub fn reply_flits(&self, kind: ReplyKind) -> u8 {
        match kind {
            kind if kind.data_sectors() > 0 => self.sector_flits,
            _ => self.header_flits,
        }
    }
}
