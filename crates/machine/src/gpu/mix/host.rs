//! An application's host program in its thread: it works on its own device memory between launches, hands memory and
//! launch over together, and waits.

use super::HostProgram;
use std::sync::mpsc::{Receiver, Sender};
use warpwatt_simt::device::DeviceError;
use warpwatt_simt::host::{Executor, Host};
use warpwatt_simt::launch::Launch;
use warpwatt_simt::memory::GlobalMemory;

/// Host → machine.
pub(super) enum Call {
    /// Run this on this memory.
    Launch(Box<Launch>, GlobalMemory),
    /// The host program is over.
    Ended(Result<(), DeviceError>),
}

/// Machine → host.
pub(super) enum Answer {
    /// The launch is complete, or it could not begin.
    Launched(GlobalMemory, Result<(), DeviceError>),
    /// Begin anew.
    Again,
}

/// The device that a host program sees.
struct Port<'a> {
    host: Host,
    calls: &'a Sender<Call>,
    answers: &'a Receiver<Answer>,
}

impl Executor for Port<'_> {
    fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// A machine that is gone has met its end elsewhere.
    fn execute(&mut self, launch: Launch) -> Result<(), DeviceError> {
        let memory = std::mem::take(&mut self.host.memory);
        self.calls.send(Call::Launch(Box::new(launch), memory)).map_err(|_| DeviceError::Interrupted)?;
        match self.answers.recv() {
            Ok(Answer::Launched(memory, result)) => {
                self.host.memory = memory;
                result
            }
            Ok(Answer::Again) | Err(_) => Err(DeviceError::Interrupted),
        }
    }
}

/// Runs a host program, and again for as long as the machine wants.
pub(super) fn live(
    mut program: HostProgram<'_>,
    host: impl Fn() -> Host,
    calls: &Sender<Call>,
    answers: &Receiver<Answer>,
) {
    for round in 0.. {
        let result = program(&mut Port { host: host(), calls, answers }, round);
        if calls.send(Call::Ended(result)).is_err() || !matches!(answers.recv(), Ok(Answer::Again)) {
            return;
        }
    }
}
