//! What a host program asked of the device, and what it read: enough to run the host program again and bring a restored
//! device back to where it was.
//!
//! A checkpoint is a transcript and the state of the machine. On resumption the host program is run anew. Its calls go
//! to the restored device, which passes over the launches that were complete ([`warpwatt_machine::gpu::Gpu::restore`]);
//! only what was read between them is answered from the transcript. The launch that was under way then goes on.
//!
//! A host program must be a function of what it reads; every call is fingerprinted, and one that differs from the
//! recorded one ends the resumption.

use crate::job::data::fnv1a;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3, TextureBinding};

/// One finished call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Call {
    fingerprint: u64,
    /// What a read gave.
    bytes: Vec<u8>,
}

/// The finished calls of a run, and the launch under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    calls: Vec<Call>,
    /// Kernel of the latest launch.
    #[serde(skip)]
    pub kernel: String,
    /// Wall time spent in launches.
    #[serde(skip)]
    pub in_launches: Duration,
}

/// A transcript as it grows, shared with what writes checkpoints.
pub type Shared = Arc<Mutex<Transcript>>;

/// Locks a shared transcript.
pub fn lock(shared: &Shared) -> MutexGuard<'_, Transcript> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device that keeps a transcript, and answers reads from an older one while that lasts.
pub struct Recorded<'a> {
    device: &'a mut dyn Device,
    script: VecDeque<Call>,
    log: Shared,
}

impl<'a> Recorded<'a> {
    /// Records a device's calls in `log`; those in `earlier` are repeated.
    pub fn new(device: &'a mut dyn Device, earlier: Transcript, log: Shared) -> Recorded<'a> {
        Recorded { device, script: earlier.calls.into(), log }
    }

    /// The recorded call, if the replay is not over.
    fn recorded(&mut self, fingerprint: u64) -> Result<Option<Call>, DeviceError> {
        match self.script.pop_front() {
            Some(call) if call.fingerprint != fingerprint => {
                let message = "the host program did not repeat what it did before the checkpoint";
                Err(DeviceError::Failed(message.to_owned()))
            }
            other => Ok(other),
        }
    }

    fn call<T>(
        &mut self,
        fingerprint: u64,
        perform: impl FnOnce(&mut dyn Device) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        self.recorded(fingerprint)?;
        let answer = perform(self.device)?;
        lock(&self.log).calls.push(Call { fingerprint, bytes: Vec::new() });
        Ok(answer)
    }
}

/// A fingerprint of a call: its kind and its arguments.
fn fingerprint(kind: &str, parts: &[&[u8]]) -> u64 {
    let mut bytes = kind.as_bytes().to_vec();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&fnv1a(part).to_le_bytes());
    }
    fnv1a(&bytes)
}

impl Device for Recorded<'_> {
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        let print = fingerprint("load_module", &[name.as_bytes(), ptx.as_bytes()]);
        self.call(print, |device| device.load_module(name, ptx))
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let print = fingerprint("alloc", &[&bytes.to_le_bytes()]);
        self.call(print, |device| device.alloc(bytes))
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        let print = fingerprint("write", &[&address.to_le_bytes(), data]);
        self.call(print, |device| device.write(address, data))
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let print = fingerprint("read", &[&address.to_le_bytes(), &(data.len() as u64).to_le_bytes()]);
        match self.recorded(print)? {
            Some(call) if call.bytes.len() == data.len() => data.copy_from_slice(&call.bytes),
            Some(_) => return Err(DeviceError::Failed("the checkpoint's transcript is damaged".to_owned())),
            None => self.device.read(address, data)?,
        }
        lock(&self.log).calls.push(Call { fingerprint: print, bytes: data.to_vec() });
        Ok(())
    }

    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        let print = fingerprint("symbol", &[name.as_bytes()]);
        self.call(print, |device| device.symbol(name))
    }

    fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError> {
        let print = fingerprint("bind_texture", &[name.as_bytes(), format!("{binding:?}").as_bytes()]);
        self.call(print, |device| device.bind_texture(name, binding))
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let shape = format!("{grid:?}{block:?}{dynamic_shared}{args:?}");
        let print = fingerprint("launch", &[kernel.as_bytes(), shape.as_bytes()]);
        lock(&self.log).kernel = kernel.to_owned();
        let started = Instant::now();
        let result = self.call(print, |device| device.launch(kernel, grid, block, dynamic_shared, args));
        lock(&self.log).in_launches += started.elapsed();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of 64 bytes; a launch adds its number to every byte, in two halves that a checkpoint may part.
    #[derive(Clone, Default)]
    struct Toy {
        memory: Vec<u8>,
        launches: u8,
        stop_at: Option<u8>,
        /// A restored device: its memory, and how many launches it passes over before it goes on with one.
        restored: Option<(Vec<u8>, u8)>,
    }

    impl Toy {
        fn add(&mut self, range: std::ops::Range<usize>) {
            let launches = self.launches;
            self.memory[range].iter_mut().for_each(|b| *b += launches);
        }
    }

    impl Device for Toy {
        fn load_module(&mut self, _: &str, _: &str) -> Result<(), DeviceError> {
            Ok(())
        }
        fn alloc(&mut self, _: u64) -> Result<u64, DeviceError> {
            self.memory = vec![0; 64];
            Ok(0x100)
        }
        fn write(&mut self, _: u64, data: &[u8]) -> Result<(), DeviceError> {
            self.memory.copy_from_slice(data);
            Ok(())
        }
        fn read(&mut self, _: u64, data: &mut [u8]) -> Result<(), DeviceError> {
            assert!(self.restored.is_none(), "a restored device does not know what was read");
            data.copy_from_slice(&self.memory);
            Ok(())
        }
        fn symbol(&mut self, _: &str) -> Result<(u64, u64), DeviceError> {
            Ok((1, 2))
        }
        fn bind_texture(&mut self, _: &str, _: TextureBinding) -> Result<(), DeviceError> {
            Ok(())
        }
        fn launch(&mut self, _: &str, _: Dim3, _: Dim3, _: u32, _: &[Arg]) -> Result<(), DeviceError> {
            self.launches += 1;
            match self.restored.take() {
                Some((memory, passed)) if passed > 0 => {
                    self.restored = Some((memory, passed - 1));
                    return Ok(());
                }
                Some((memory, _)) => self.memory = memory,
                None => self.add(0..32),
            }
            if self.stop_at == Some(self.launches) {
                return Err(DeviceError::Failed("interrupted".to_owned()));
            }
            self.add(32..64);
            Ok(())
        }
    }

    fn host(device: &mut dyn Device, extra: u64) -> Result<Vec<u8>, DeviceError> {
        let address = device.alloc(64)?;
        device.write(address, &[extra as u8; 64])?;
        let mut sum = vec![0; 64];
        for round in 0..4u64 {
            device.launch("k", [1; 3], [32, 1, 1], 0, &[Arg::Ptr(address), Arg::U64(round + extra)])?;
            let mut bytes = vec![0; 64];
            device.read(address, &mut bytes)?;
            sum.iter_mut().zip(&bytes).for_each(|(s, b)| *s += b);
        }
        Ok(sum)
    }

    fn run(toy: &mut Toy, earlier: Transcript, extra: u64) -> (Result<Vec<u8>, DeviceError>, Transcript) {
        let log = Shared::default();
        let result = host(&mut Recorded::new(toy, earlier, log.clone()), extra);
        let transcript = lock(&log).clone();
        (result, transcript)
    }

    #[test]
    fn a_cut_run_goes_on_from_the_middle_of_its_launch() {
        let whole = run(&mut Toy::default(), Transcript::default(), 0).0.unwrap();
        for stop_at in 1..=4 {
            let mut toy = Toy { stop_at: Some(stop_at), ..Toy::default() };
            let (stopped, transcript) = run(&mut toy, Transcript::default(), 0);
            stopped.unwrap_err();
            let bytes = postcard::to_stdvec(&transcript).unwrap();
            let transcript: Transcript = postcard::from_bytes(&bytes).unwrap();
            let mut revived = Toy { restored: Some((toy.memory, stop_at - 1)), ..Toy::default() };
            assert_eq!(run(&mut revived, transcript, 0).0.unwrap(), whole, "cut in launch {stop_at}");
        }
    }

    #[test]
    fn a_host_program_that_strays_is_stopped() {
        let transcript = run(&mut Toy::default(), Transcript::default(), 0).1;
        let strayed = run(&mut Toy::default(), transcript, 1).0.unwrap_err();
        assert!(strayed.to_string().contains("did not repeat"));
    }
}
