//! A datapath policy's intervals, and the pipeline's widths that follow from its decisions (µC-States §4).

use crate::activity::COMPONENTS;
use crate::hooks::DatapathQuery;
use crate::kernel::{PORTS, Port};
use crate::sm::Sm;
use crate::sm::groups::{EX_SFU, EX_SP};
use serde::{Deserialize, Serialize};

/// A datapath policy's interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Interval {
    pub end: u64,
    /// Cycles counted, and in them warps with load/store instructions outstanding.
    pub cycles: u64,
    pub outstanding: u64,
    /// What was counted when it began: busy per component; decoded and issued per port; entered EX_LDST.
    busy: [u64; COMPONENTS],
    decoded: [u64; PORTS],
    issued: [u64; PORTS],
    entered: u64,
}

impl Interval {
    /// The interval of an SM without a datapath policy.
    pub(super) fn never() -> Interval {
        Interval { end: u64::MAX, ..Interval::default() }
    }
}

impl Sm {
    /// Instruction-cycles held per component, since the run began.
    pub(super) fn busy(&self) -> [u64; COMPONENTS] {
        let mut busy = self.counts.busy;
        busy[EX_SP] = self.alus.occupied(Port::Sp, self.now);
        busy[EX_SFU] = self.alus.occupied(Port::Sfu, self.now);
        busy
    }

    /// What `busy` counts of each component: how many there are.
    fn entries(&self) -> [u32; COMPONENTS] {
        let mut entries = self.groups.of;
        entries[0] = self.fetch.units();
        (0..PORTS).for_each(|p| entries[5 + p] = self.collector.units(p));
        entries
    }

    /// The end of a datapath interval: the policy says which groups stay on.
    #[cold]
    pub(super) fn tune(&mut self) {
        let (busy, entries, before) = (self.busy(), self.entries(), self.interval);
        let Some(datapath) = &mut self.hooks.datapath else {
            self.interval.end = u64::MAX;
            return;
        };
        let now = Interval {
            end: self.now.saturating_add(datapath.interval().max(1)),
            busy,
            decoded: self.fetch.decoded,
            issued: self.issued,
            entered: self.ldst.entered,
            ..Interval::default()
        };
        let since = |now: [u64; PORTS], old: [u64; PORTS]| std::array::from_fn(|p| now[p] - old[p]);
        let query = DatapathQuery {
            now: self.now,
            cycles: before.cycles,
            busy: std::array::from_fn(|c| busy[c] - before.busy[c]),
            entries,
            groups: self.groups.of,
            on: *self.groups.on(),
            decoded: since(now.decoded, before.decoded),
            issued: since(now.issued, before.issued),
            entered: now.entered - before.entered,
            outstanding: before.outstanding,
        };
        let on = datapath.decide(&query);
        self.interval = now;
        self.groups.want(self.now, &on, &mut self.counts.activity);
        self.set_widths();
    }

    /// Groups that have drained are off from now on.
    #[cold]
    pub(super) fn settle(&mut self) {
        let (fetch, collector, alus, ldst) = (&self.fetch, &self.collector, &self.alus, &self.ldst);
        let drained = |component: usize, group: u32| match component {
            0 => fetch.drained(group as usize),
            1 => true,
            EX_SP => alus.drained(Port::Sp, group as usize),
            EX_SFU => alus.drained(Port::Sfu, group as usize),
            2..=10 => collector.drained((component - 2) % PORTS)[(component - 2) / PORTS],
            _ => ldst.drained(group as usize),
        };
        self.groups.settle(self.now, drained, &mut self.counts.activity);
    }

    /// Gives each component the width of its groups that are on.
    pub(super) fn set_widths(&mut self) {
        let (on, of) = (*self.groups.on(), self.groups.of);
        self.share_out_warps();
        self.fetch.limit(on[0]);
        for (i, port) in [Port::Sp, Port::Sfu, Port::Mem].into_iter().enumerate() {
            self.collector.limit(port, on[2 + i], on[5 + i], on[8 + i], of[2 + i]);
        }
        self.collector.halve_reads(self.groups.registers_halved());
        self.alus.limit(Port::Sp, on[EX_SP]);
        self.alus.limit(Port::Sfu, on[EX_SFU]);
        self.ldst.limit(on[13]);
    }

    /// Schedulers that are on; the warps of the others join them in turn.
    #[inline(always)]
    pub(super) fn schedulers_on(&self) -> usize {
        (self.groups.on()[1] as usize).min(self.schedulers).max(1)
    }

    /// The warps that each scheduler chooses from.
    fn share_out_warps(&mut self) {
        let on = self.schedulers_on();
        for (i, pool) in self.pools.iter_mut().take(self.schedulers).enumerate() {
            let joined = self.orders.iter().skip(i).step_by(on);
            *pool = if i < on { joined.fold(0, |warps, order| warps | order.own) } else { 0 };
        }
    }
}
