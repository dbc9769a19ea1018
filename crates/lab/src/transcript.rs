//! What a host program asked of the device and what it was told: enough to run the host program again without the
//! device. A checkpoint is a transcript and the state of the machine; on resumption the host program is run anew, its
//! calls answered from the transcript, until it reaches the call in whose middle the checkpoint was cut.
//!
//! A host program must be a function of the answers it gets; every call is fingerprinted, and one that differs from
//! the recorded one ends the resumption.

use crate::job::data::fnv1a;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3, TextureBinding};

/// A device whose launch may be cut by a checkpoint.
pub trait Resumable: Device {
    /// Goes on with the launch in whose middle the device was saved.
    fn continue_launch(&mut self) -> Result<(), DeviceError>;
}

/// What a call answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Answer {
    Done,
    Address(u64),
    Symbol(u64, u64),
    Bytes(Vec<u8>),
}

/// One finished call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Call {
    fingerprint: u64,
    answer: Answer,
}

/// The finished calls of a run, and the one under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    calls: Vec<Call>,
    under_way: Option<u64>,
}

impl Transcript {
    /// Finished calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether no call has finished.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

/// Where the device comes from when the replay is over.
pub type Wake<'a> = Box<dyn FnOnce() -> Result<Box<dyn Resumable + 'a>, DeviceError> + 'a>;

/// A device that keeps a transcript, or answers from one.
pub struct Recorded<'a> {
    /// Calls still to be answered from the transcript.
    script: VecDeque<Call>,
    /// The call in whose middle the transcript ends.
    under_way: Option<u64>,
    wake: Option<Wake<'a>>,
    device: Option<Box<dyn Resumable + 'a>>,
    log: Rc<RefCell<Transcript>>,
}

impl<'a> Recorded<'a> {
    /// Records a device's calls from the start.
    pub fn new(device: Box<dyn Resumable + 'a>) -> Recorded<'a> {
        let (script, log) = (VecDeque::new(), Rc::default());
        Recorded { script, under_way: None, wake: None, device: Some(device), log }
    }

    /// Answers from a transcript, and then wakes the device.
    pub fn replay(transcript: Transcript, wake: Wake<'a>) -> Recorded<'a> {
        let Transcript { calls, under_way } = transcript;
        Recorded { script: calls.into(), under_way, wake: Some(wake), device: None, log: Rc::default() }
    }

    /// The transcript as it grows; what a checkpoint in the middle of a launch has to keep.
    pub fn log(&self) -> Rc<RefCell<Transcript>> {
        Rc::clone(&self.log)
    }

    fn call(
        &mut self,
        fingerprint: u64,
        perform: impl FnOnce(&mut dyn Resumable) -> Result<Answer, DeviceError>,
    ) -> Result<Answer, DeviceError> {
        if let Some(call) = self.script.pop_front() {
            if call.fingerprint != fingerprint {
                return Err(strayed());
            }
            let answer = call.answer.clone();
            self.log.borrow_mut().calls.push(call);
            return Ok(answer);
        }
        self.log.borrow_mut().under_way = Some(fingerprint);
        let device = match (&mut self.device, self.wake.take()) {
            (Some(device), _) => device,
            (None, Some(wake)) => self.device.insert(wake()?),
            (None, None) => return Err(DeviceError::Failed("the device could not be restored".to_owned())),
        };
        let answer = match self.under_way.take() {
            Some(cut) if cut != fingerprint => return Err(strayed()),
            Some(_) => device.continue_launch().map(|()| Answer::Done)?,
            None => perform(device.as_mut())?,
        };
        let mut log = self.log.borrow_mut();
        log.under_way = None;
        log.calls.push(Call { fingerprint, answer: answer.clone() });
        Ok(answer)
    }
}

fn strayed() -> DeviceError {
    DeviceError::Failed("the host program did not repeat what it did before the checkpoint".to_owned())
}

fn wrong_kind() -> DeviceError {
    DeviceError::Failed("the checkpoint's transcript is damaged".to_owned())
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
        self.call(print, |device| device.load_module(name, ptx).map(|()| Answer::Done)).map(drop)
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let print = fingerprint("alloc", &[&bytes.to_le_bytes()]);
        match self.call(print, |device| device.alloc(bytes).map(Answer::Address))? {
            Answer::Address(address) => Ok(address),
            _ => Err(wrong_kind()),
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        let print = fingerprint("write", &[&address.to_le_bytes(), data]);
        self.call(print, |device| device.write(address, data).map(|()| Answer::Done)).map(drop)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let print = fingerprint("read", &[&address.to_le_bytes(), &(data.len() as u64).to_le_bytes()]);
        let length = data.len();
        let answer = self.call(print, |device| {
            let mut bytes = vec![0; length];
            device.read(address, &mut bytes).map(|()| Answer::Bytes(bytes))
        })?;
        match answer {
            Answer::Bytes(bytes) if bytes.len() == length => {
                data.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(wrong_kind()),
        }
    }

    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        let print = fingerprint("symbol", &[name.as_bytes()]);
        match self.call(print, |device| device.symbol(name).map(|(address, size)| Answer::Symbol(address, size)))? {
            Answer::Symbol(address, size) => Ok((address, size)),
            _ => Err(wrong_kind()),
        }
    }

    fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError> {
        let print = fingerprint("bind_texture", &[name.as_bytes(), format!("{binding:?}").as_bytes()]);
        self.call(print, |device| device.bind_texture(name, binding).map(|()| Answer::Done)).map(drop)
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
        let perform = |device: &mut dyn Resumable| device.launch(kernel, grid, block, dynamic_shared, args);
        self.call(print, |device| perform(device).map(|()| Answer::Done)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of 64 bytes; a launch adds its number to every byte, in two halves that a checkpoint may part.
    #[derive(Clone, Default)]
    struct Toy(Rc<RefCell<State>>);

    #[derive(Clone, Default)]
    struct State {
        memory: Vec<u8>,
        launches: u8,
        stop_at: Option<u8>,
        allocations_and_writes: u32,
    }

    impl State {
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
            self.0.borrow_mut().memory = vec![0; 64];
            self.0.borrow_mut().allocations_and_writes += 1;
            Ok(0x100)
        }
        fn write(&mut self, _: u64, data: &[u8]) -> Result<(), DeviceError> {
            self.0.borrow_mut().memory.copy_from_slice(data);
            self.0.borrow_mut().allocations_and_writes += 1;
            Ok(())
        }
        fn read(&mut self, _: u64, data: &mut [u8]) -> Result<(), DeviceError> {
            data.copy_from_slice(&self.0.borrow().memory);
            Ok(())
        }
        fn symbol(&mut self, _: &str) -> Result<(u64, u64), DeviceError> {
            Ok((1, 2))
        }
        fn bind_texture(&mut self, _: &str, _: TextureBinding) -> Result<(), DeviceError> {
            Ok(())
        }
        fn launch(&mut self, _: &str, _: Dim3, _: Dim3, _: u32, _: &[Arg]) -> Result<(), DeviceError> {
            let mut state = self.0.borrow_mut();
            state.launches += 1;
            state.add(0..32);
            if state.stop_at == Some(state.launches) {
                return Err(DeviceError::Failed("interrupted".to_owned()));
            }
            state.add(32..64);
            Ok(())
        }
    }

    impl Resumable for Toy {
        fn continue_launch(&mut self) -> Result<(), DeviceError> {
            self.0.borrow_mut().add(32..64);
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

    #[test]
    fn a_cut_run_goes_on_from_the_middle_of_its_launch() {
        let whole = host(&mut Recorded::new(Box::new(Toy::default())), 0).unwrap();
        for stop_at in 1..=4 {
            let toy = Toy::default();
            toy.0.borrow_mut().stop_at = Some(stop_at);
            let mut recorded = Recorded::new(Box::new(toy.clone()));
            host(&mut recorded, 0).unwrap_err();
            let bytes = postcard::to_stdvec(&*recorded.log().borrow()).unwrap();
            let transcript: Transcript = postcard::from_bytes(&bytes).unwrap();

            let saved = State { stop_at: None, allocations_and_writes: 0, ..toy.0.borrow().clone() };
            let revived = Toy(Rc::new(RefCell::new(saved)));
            let again = revived.clone();
            let mut resumed = Recorded::replay(transcript, Box::new(move || Ok(Box::new(again))));
            assert_eq!(host(&mut resumed, 0).unwrap(), whole, "cut in launch {stop_at}");
            assert_eq!(revived.0.borrow().allocations_and_writes, 0, "these are not repeated");
        }
    }

    #[test]
    fn a_host_program_that_strays_is_stopped() {
        let mut recorded = Recorded::new(Box::new(Toy::default()));
        host(&mut recorded, 0).unwrap();
        let transcript = recorded.log().borrow().clone();
        let mut resumed = Recorded::replay(transcript, Box::new(|| Ok(Box::new(Toy::default()))));
        assert!(host(&mut resumed, 1).unwrap_err().to_string().contains("did not repeat"));
    }
}
