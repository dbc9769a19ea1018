//! The counters of each model (CRISP §2.1, §3.6, §5.3), per SM. All count from the L1 miss on (§2.2).
//!
//! Time here is the SM's own: cycles in which it has warps and may issue.

use super::predict::Form;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use warpwatt_machine::hooks::{L1Cache, Outstanding};

/// Cycles by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// All in which the SM had warps and could issue.
    pub all: u64,
    /// Load stalls by CRISP's rules (§3.5).
    pub load_stall: u64,
    /// Those of them in which nothing issued and nothing but memory was waited for.
    pub full_stall: u64,
}

/// A model's way of counting T_Memory.
pub trait Model: Clone + Debug + Send + Serialize + DeserializeOwned + 'static {
    /// Its name.
    const NAME: &'static str;
    /// How its counters make a prediction.
    const FORM: Form;

    /// Begins to count; a fixed memory latency takes so long, fs.
    fn new(latency: u64) -> Self;

    /// A request goes out.
    fn requested(&mut self, now: u64, request: Outstanding);

    /// A request is answered.
    fn answered(&mut self, now: u64, request: Outstanding);

    /// Cycles have passed.
    fn passed(&mut self, cycles: Passed) {
        let _ = cycles;
    }

    /// A core cycle has a new length, fs.
    fn period(&mut self, period: u64) {
        let _ = period;
    }

    /// What it has counted since the last call; what is outstanding counts up to now, and anew from now on.
    fn take(&mut self, now: u64) -> u64;
}

/// One register per request that may be outstanding, made when first used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Registers(Vec<Stamp>);

/// When the requests of an entry went out, and how long the critical path was then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stamp {
    open: u32,
    since: u64,
    path: u64,
}

impl Registers {
    #[inline]
    fn of(&mut self, request: Outstanding) -> &mut Stamp {
        const CACHES: usize = L1Cache::None as usize + 1;
        let at = request.entry as usize * CACHES + request.cache as usize;
        if self.0.len() <= at {
            self.0.resize(at + CACHES, Stamp::default());
        }
        &mut self.0[at]
    }
}

/// The longest chain of dependent loads: CRIT (T_Memory of R. Miftakhutdinov et al., MICRO 2012); with load stalls that
/// prolong it as they come, CRISP's adjusted load critical path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct CriticalPath {
    path: u64,
    registers: Registers,
}

impl CriticalPath {
    fn requested(&mut self, now: u64, request: Outstanding) {
        let path = self.path;
        let stamp = self.registers.of(request);
        if stamp.open == 0 {
            (stamp.since, stamp.path) = (now, path);
        }
        stamp.open += 1;
    }

    fn answered(&mut self, now: u64, request: Outstanding) {
        let stamp = self.registers.of(request);
        stamp.open = stamp.open.saturating_sub(1);
        if stamp.open == 0 {
            self.path = self.path.max(stamp.path + (now - stamp.since));
        }
    }

    fn take(&mut self, now: u64) -> u64 {
        let open = self.registers.0.iter_mut().filter(|stamp| stamp.open > 0);
        let mut path = self.path;
        for stamp in open {
            path = path.max(stamp.path + (now - stamp.since));
            (stamp.since, stamp.path) = (now, 0);
        }
        self.path = 0;
        path
    }
}

/// CRISP: the adjusted load critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crisp(CriticalPath);

impl Model for Crisp {
    const NAME: &'static str = "crisp";
    const FORM: Form = Form::StalledPath;

    fn new(_: u64) -> Crisp {
        Crisp(CriticalPath::default())
    }

    fn requested(&mut self, now: u64, request: Outstanding) {
        self.0.requested(now, request);
    }

    fn answered(&mut self, now: u64, request: Outstanding) {
        self.0.answered(now, request);
    }

    fn passed(&mut self, cycles: Passed) {
        self.0.path += cycles.load_stall;
    }

    fn take(&mut self, now: u64) -> u64 {
        self.0.take(now)
    }
}

/// CRISP-L (§5.3): all cycles in which a load is outstanding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrispL {
    outstanding: u32,
    cycles: u64,
}

impl Model for CrispL {
    const NAME: &'static str = "crisp-l";
    const FORM: Form = Form::StalledPath;

    fn new(_: u64) -> CrispL {
        CrispL { outstanding: 0, cycles: 0 }
    }

    fn requested(&mut self, _: u64, _: Outstanding) {
        self.outstanding += 1;
    }

    fn answered(&mut self, _: u64, _: Outstanding) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    fn passed(&mut self, cycles: Passed) {
        if self.outstanding > 0 {
            self.cycles += cycles.all;
        }
    }

    fn take(&mut self, _: u64) -> u64 {
        std::mem::take(&mut self.cycles)
    }
}

/// LEAD: the latencies of leading loads, those that go out while no leading load is outstanding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lead {
    memory: u64,
    /// The leading load: cache, entry, requests of it outstanding, since when.
    leader: Option<(u8, u16, u32, u64)>,
}

impl Model for Lead {
    const NAME: &'static str = "lead";
    const FORM: Form = Form::Linear;

    fn new(_: u64) -> Lead {
        Lead { memory: 0, leader: None }
    }

    fn requested(&mut self, now: u64, request: Outstanding) {
        let (cache, entry) = (request.cache as u8, request.entry);
        match &mut self.leader {
            None => self.leader = Some((cache, entry, 1, now)),
            Some((c, e, open, _)) if (*c, *e) == (cache, entry) => *open += 1,
            Some(_) => {}
        }
    }

    fn answered(&mut self, now: u64, request: Outstanding) {
        let Some((cache, entry, open, since)) = &mut self.leader else { return };
        if (*cache, *entry) == (request.cache as u8, request.entry) {
            *open -= 1;
            if *open == 0 {
                self.memory += now - *since;
                self.leader = None;
            }
        }
    }

    fn take(&mut self, now: u64) -> u64 {
        if let Some((.., since)) = &mut self.leader {
            self.memory += now - *since;
            *since = now;
        }
        std::mem::take(&mut self.memory)
    }
}

/// CRIT: the longest chain of dependent loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crit(CriticalPath);

impl Model for Crit {
    const NAME: &'static str = "crit";
    const FORM: Form = Form::Linear;

    fn new(_: u64) -> Crit {
        Crit(CriticalPath::default())
    }

    fn requested(&mut self, now: u64, request: Outstanding) {
        self.0.requested(now, request);
    }

    fn answered(&mut self, now: u64, request: Outstanding) {
        self.0.answered(now, request);
    }

    fn take(&mut self, now: u64) -> u64 {
        self.0.take(now)
    }
}

/// STALL: cycles in which the SM can do nothing because of loads (§2.1). A cycle that has an arithmetic hazard beside the one on
/// memory, or in which a scheduler issues, is a load stall for CRISP alone: "unlike other models" (§3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall(u64);

impl Model for Stall {
    const NAME: &'static str = "stall";
    const FORM: Form = Form::Linear;

    fn new(_: u64) -> Stall {
        Stall(0)
    }

    fn requested(&mut self, _: u64, _: Outstanding) {}

    fn answered(&mut self, _: u64, _: Outstanding) {}

    fn passed(&mut self, cycles: Passed) {
        self.0 += cycles.full_stall;
    }

    fn take(&mut self, _: u64) -> u64 {
        std::mem::take(&mut self.0)
    }
}

/// MISS: a fixed latency for each data miss that is not within the latency of the last one that counted; it "ignores stall
/// cycles due to instruction cache misses" (§2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    latency: u64,
    cycles: u64,
    until: u64,
    memory: u64,
}

impl Model for Miss {
    const NAME: &'static str = "miss";
    const FORM: Form = Form::Linear;

    fn new(latency: u64) -> Miss {
        Miss { latency, cycles: latency.max(1), until: 0, memory: 0 }
    }

    fn requested(&mut self, now: u64, request: Outstanding) {
        if now >= self.until && request.cache != L1Cache::Instruction {
            self.until = now + self.cycles;
            self.memory += self.cycles;
        }
    }

    fn answered(&mut self, _: u64, _: Outstanding) {}

    fn period(&mut self, period: u64) {
        self.cycles = (self.latency / period.max(1)).max(1);
    }

    fn take(&mut self, now: u64) -> u64 {
        let later = self.until.saturating_sub(now);
        let memory = self.memory - later.min(self.memory);
        self.memory = later;
        memory
    }
}
