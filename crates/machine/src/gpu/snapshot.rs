//! Saving a GPU in the middle of a launch, and going on from there.
//!
//! A snapshot holds everything that changes: SMs, mail, memory side, device memory, statistics. What follows from the
//! inputs (parameters, programs) is not in it: the host program is replayed up to the launch in progress, and the
//! kernel is attached again. Format: a length-free postcard record, compressed with zstd.

use super::{Gpu, Options, Replay, Running, State};
use crate::hooks::{Nominal, Policy};
use crate::kernel::Kernel;
use crate::memory::MemoryState;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, PoisonError, RwLock};
use thiserror::Error;
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::launch::Launch;
use warpwatt_simt::memory::GlobalMemory;

/// Increased with every change of the format.
const VERSION: u32 = 9;
const LEVEL: i32 = 1;

/// Why a snapshot cannot be used.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// Not a snapshot, or damaged.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// Written by another version.
    #[error("the snapshot has format {found}, this program reads format {VERSION}")]
    Version {
        /// The snapshot's.
        found: u32,
    },
    /// Taken with other parameters.
    #[error("the snapshot was taken with another GPU configuration or other options")]
    Configuration,
    /// The parameters themselves are not valid.
    #[error(transparent)]
    Spec(#[from] crate::spec::SpecError),
}

#[derive(Serialize)]
struct Saved<'a> {
    version: u32,
    spec: u64,
    state: &'a State,
    memory_side: &'a MemoryState,
    memory: &'a GlobalMemory,
}

#[derive(Deserialize)]
struct Loaded {
    version: u32,
    spec: u64,
    state: State,
    memory_side: MemoryState,
    memory: GlobalMemory,
}

impl Gpu {
    pub(super) fn save_with(&mut self, memory: &RwLock<GlobalMemory>) -> Vec<u8> {
        zstd::encode_all(&self.save_plain(memory)[..], LEVEL).unwrap_or_default()
    }

    /// A snapshot that is not compressed.
    pub(super) fn save_plain(&mut self, memory: &RwLock<GlobalMemory>) -> Vec<u8> {
        let memory = memory.read().unwrap_or_else(PoisonError::into_inner);
        self.state.hooks = self.state.sms.iter_mut().map(|sm| sm.save_hooks()).collect();
        self.state.governor = self.governor.as_ref().map(|g| g.save()).unwrap_or_default();
        let saved = Saved {
            version: VERSION,
            spec: self.spec.hash(),
            state: &self.state,
            memory_side: self.memory_side.state(),
            memory: &memory,
        };
        postcard::to_allocvec(&saved).unwrap_or_default()
    }

    /// Goes back to what this GPU was when it was saved, without its governor. Says whether it could.
    pub(super) fn go_back(&mut self, plain: &[u8], memory: &RwLock<GlobalMemory>) -> bool {
        let Ok(loaded) = postcard::from_bytes::<Loaded>(plain) else { return false };
        let mut last = std::mem::replace(&mut self.state, loaded.state);
        let states = std::mem::take(&mut self.state.hooks);
        let mut right = true;
        for (i, (sm, old)) in self.state.sms.iter_mut().zip(&mut last.sms).enumerate() {
            sm.set_skip(!self.options.no_skip);
            right &= sm.succeed(old, states.get(i).map_or(&[], |s| s)).is_ok();
        }
        self.memory_side.restore(loaded.memory_side);
        *memory.write().unwrap_or_else(PoisonError::into_inner) = loaded.memory;
        right
    }

    /// Goes on from a snapshot. The host program must be replayed with the same calls: what it loads, allocates and writes
    /// before the launch that was in progress goes to scratch memory, complete launches return at once, and what it read
    /// between them the caller must answer from a record. The launch that was in progress then goes on.
    pub fn restore(spec: Spec, options: Options, bytes: &[u8]) -> Result<Gpu, RestoreError> {
        Gpu::restore_with_policy(spec, options, &Nominal, bytes)
    }

    /// As [`Gpu::restore`], for a run under a policy.
    pub fn restore_with_policy(
        spec: Spec,
        options: Options,
        policy: &dyn Policy,
        bytes: &[u8],
    ) -> Result<Gpu, RestoreError> {
        let mut gpu = Gpu::with_policy(spec, options, policy)?;
        let damaged = |e: &dyn std::fmt::Display| RestoreError::Damaged(e.to_string());
        let plain = zstd::decode_all(bytes).map_err(|e| damaged(&e))?;
        let (version, _): (u32, _) = postcard::take_from_bytes(&plain).map_err(|e| damaged(&e))?;
        if version != VERSION {
            return Err(RestoreError::Version { found: version });
        }
        let loaded: Loaded = postcard::from_bytes(&plain).map_err(|e| damaged(&e))?;
        if loaded.spec != gpu.spec.hash() || loaded.version != VERSION {
            return Err(RestoreError::Configuration);
        }
        gpu.state = loaded.state;
        let states = std::mem::take(&mut gpu.state.hooks);
        for (i, sm) in gpu.state.sms.iter_mut().enumerate() {
            sm.set_skip(!gpu.options.no_skip);
            sm.restore_hooks(policy.sm(&gpu.spec, i as u32), states.get(i).map_or(&[], |s| s))
                .map_err(|e| damaged(&e))?;
        }
        if let Some(governor) = &mut gpu.governor {
            governor.load(&gpu.state.governor).map_err(|e| damaged(&e))?;
        }
        gpu.memory_side.restore(loaded.memory_side);
        gpu.replay = Some(Replay { memory: loaded.memory, passed: 0 });
        Ok(gpu)
    }

    /// The host has come to the launch that was in progress.
    pub(super) fn reattach(&mut self, launch: Launch) -> Result<(), DeviceError> {
        let Some(Running { stats, .. }) = &self.state.running else { return Ok(()) };
        if stats.kernel != launch.program.kernel || stats.grid != launch.grid || stats.block != launch.block {
            return Err(DeviceError::Invalid(format!(
                "the snapshot is in the middle of {} {:?} × {:?}, the host launches {} {:?} × {:?}",
                stats.kernel, stats.grid, stats.block, launch.program.kernel, launch.grid, launch.block
            )));
        }
        let kernel = Arc::new(Kernel::new(Arc::new(launch), &self.spec, stats.ctas_per_sm));
        for sm in &mut self.state.sms {
            sm.attach(kernel.clone());
        }
        Ok(())
    }
}
