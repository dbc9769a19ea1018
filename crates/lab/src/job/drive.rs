//! The host driver of a launch description: allocates, fills, launches, loops, reads back, compares.

use super::args::summary;
use super::file::Number;
use super::{Job, Rounds, Step};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use warpwatt_simt::device::{Device, DeviceError};

/// A buffer after the last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferResult {
    /// Name.
    pub name: String,
    /// Element type.
    #[serde(rename = "type")]
    pub element: String,
    /// Elements.
    pub count: u64,
    /// Sum of the elements: of whole numbers exactly up to 2⁶³, else in double precision; `null` if it is no finite number.
    pub sum: Option<Number>,
    /// FNV-1a (64 bit) of the bytes.
    pub fnv1a: String,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Driven {
    /// Buffers in order.
    pub buffers: Vec<BufferResult>,
    /// What differs from what was expected.
    pub differences: Vec<String>,
}

/// Runs a job's host side on a device. When `interrupted` is set, the device ends the launch under way, or the next one;
/// a loop that launches nothing is ended here.
pub fn drive(job: &Job, device: &mut dyn Device, interrupted: &AtomicBool) -> Result<Driven, DeviceError> {
    for module in &job.modules {
        device.load_module(&module.name, &module.text)?;
    }
    let mut addresses = Vec::new();
    for buffer in &job.buffers {
        let bytes = &buffer.contents.bytes;
        let address = match &buffer.symbol {
            Some(symbol) => device.symbol(symbol)?.0,
            None => device.alloc(bytes.len() as u64)?,
        };
        device.write(address, bytes)?;
        addresses.push(address);
    }
    for texture in &job.textures {
        let mut binding = texture.binding.clone();
        binding.address = addresses[texture.buffer];
        device.bind_texture(&texture.name, binding)?;
    }
    let mut host = Host { job, device, addresses, launches: 0, interrupted };
    host.steps(&job.steps, 0)?;
    host.results()
}

struct Host<'a> {
    job: &'a Job,
    device: &'a mut dyn Device,
    addresses: Vec<u64>,
    launches: u64,
    interrupted: &'a AtomicBool,
}

impl Host<'_> {
    fn steps(&mut self, steps: &[Step], round: u64) -> Result<(), DeviceError> {
        steps.iter().try_for_each(|step| self.step(step, round))
    }

    fn step(&mut self, step: &Step, round: u64) -> Result<(), DeviceError> {
        match step {
            Step::Reset(buffer) => {
                self.device.write(self.addresses[*buffer], &self.job.buffers[*buffer].contents.bytes)
            }
            Step::Copy(from, to) => {
                let bytes = self.read(*from)?;
                self.device.write(self.addresses[*to], &bytes)
            }
            Step::Loop(body, rounds) => self.rounds(*rounds, &mut |host, round| host.steps(body, round)),
            Step::Launch { kernel, grid, block, shared_bytes, args, rounds } => {
                let alone = matches!(rounds, Rounds::Count(1));
                self.rounds(*rounds, &mut |host, inner| {
                    let round = if alone { round } else { inner };
                    let args: Vec<_> = args.iter().map(|a| a.value(round, &host.addresses)).collect();
                    host.launches += 1;
                    host.device.launch(kernel, *grid, *block, *shared_bytes, &args)
                })
            }
        }
    }

    fn rounds(
        &mut self,
        rounds: Rounds,
        body: &mut dyn FnMut(&mut Self, u64) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut body = |host: &mut Self, round| {
            let launches = host.launches;
            body(host, round)?;
            let stop = host.launches == launches && host.interrupted.load(Ordering::Relaxed);
            if stop { Err(DeviceError::Interrupted) } else { Ok(()) }
        };
        match rounds {
            Rounds::Count(count) => (0..count).try_for_each(|round| body(self, round)),
            Rounds::UntilZero { buffer, at_most } => {
                let name = &self.job.buffers[buffer].name;
                for round in 0..at_most {
                    body(self, round)?;
                    let mut first = vec![0; self.job.buffers[buffer].contents.element.bytes()];
                    self.device.read(self.addresses[buffer], &mut first)?;
                    if first.iter().all(|byte| *byte == 0) {
                        return Ok(());
                    }
                }
                Err(DeviceError::Failed(format!("`{name}` is still not zero after {at_most} rounds")))
            }
        }
    }

    fn read(&mut self, buffer: usize) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = vec![0; self.job.buffers[buffer].contents.bytes.len()];
        self.device.read(self.addresses[buffer], &mut bytes)?;
        Ok(bytes)
    }

    fn results(&mut self) -> Result<Driven, DeviceError> {
        let mut driven = Driven::default();
        for index in 0..self.job.buffers.len() {
            let bytes = self.read(index)?;
            let buffer = &self.job.buffers[index];
            let (sum, checksum) = summary(&buffer.contents, &bytes);
            driven.buffers.push(BufferResult {
                name: buffer.name.clone(),
                element: buffer.contents.element.name().to_owned(),
                count: buffer.contents.count,
                sum: sum.to_f64().is_finite().then_some(sum),
                fnv1a: format!("{checksum:016x}"),
            });
            let expects = self.job.expects.iter().filter(|e| e.buffer == index);
            driven.differences.extend(expects.filter_map(|e| e.check(&buffer.name, &buffer.contents, &bytes).err()));
        }
        Ok(driven)
    }
}
