//! Two devices: one around another that writes down what happens, and one that plays it back.

use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3, TextureBinding};

/// One call, and what the device gave back.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Load(String, usize),
    Alloc(u64, u64),
    /// Address and a checksum of the data.
    Write(u64, u64),
    Read(u64, Vec<u8>),
    Symbol(String, (u64, u64)),
    Launch(String, Dim3, Dim3, u32, Vec<Arg>),
}

/// FNV-1a, 64 bits.
fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Passes every call on and writes it down.
pub struct Recorder<D> {
    device: D,
    transcript: Vec<Call>,
}

impl<D> Recorder<D> {
    pub fn new(device: D) -> Self {
        Recorder { device, transcript: Vec::new() }
    }
    pub fn into_parts(self) -> (D, Vec<Call>) {
        (self.device, self.transcript)
    }
}

impl<D: Device> Device for Recorder<D> {
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        self.device.load_module(name, ptx)?;
        self.transcript.push(Call::Load(name.to_string(), ptx.len()));
        Ok(())
    }
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let address = self.device.alloc(bytes)?;
        self.transcript.push(Call::Alloc(bytes, address));
        Ok(address)
    }
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.device.write(address, data)?;
        self.transcript.push(Call::Write(address, checksum(data)));
        Ok(())
    }
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.device.read(address, data)?;
        self.transcript.push(Call::Read(address, data.to_vec()));
        Ok(())
    }
    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        let found = self.device.symbol(name)?;
        self.transcript.push(Call::Symbol(name.to_string(), found));
        Ok(found)
    }
    fn bind_texture(&mut self, _: &str, _: TextureBinding) -> Result<(), DeviceError> {
        Err(DeviceError::Invalid("the suite uses no texture references".to_string()))
    }
    fn launch(&mut self, kernel: &str, grid: Dim3, block: Dim3, shared: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.device.launch(kernel, grid, block, shared, args)?;
        self.transcript.push(Call::Launch(kernel.to_string(), grid, block, shared, args.to_vec()));
        Ok(())
    }
}

/// Answers from a transcript; a call that is not the transcript's next one is an error.
pub struct Replayer {
    transcript: std::vec::IntoIter<Call>,
}

impl Replayer {
    pub fn new(transcript: Vec<Call>) -> Self {
        Replayer { transcript: transcript.into_iter() }
    }
    pub fn finished(&self) -> bool {
        self.transcript.len() == 0
    }
    fn expect(&mut self, call: Call) -> Result<(), DeviceError> {
        match self.transcript.next() {
            Some(next) if next == call => Ok(()),
            next => Err(DeviceError::Failed(format!("{call:?}, but the transcript has {next:?}"))),
        }
    }
}

impl Device for Replayer {
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        self.expect(Call::Load(name.to_string(), ptx.len()))
    }
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        match self.transcript.next() {
            Some(Call::Alloc(size, address)) if size == bytes => Ok(address),
            next => Err(DeviceError::Failed(format!("alloc {bytes}, but the transcript has {next:?}"))),
        }
    }
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.expect(Call::Write(address, checksum(data)))
    }
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        match self.transcript.next() {
            Some(Call::Read(from, bytes)) if from == address && bytes.len() == data.len() => {
                data.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(DeviceError::Failed(format!("read at {address:#x} is not in the transcript"))),
        }
    }
    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        match self.transcript.next() {
            Some(Call::Symbol(known, found)) if known == name => Ok(found),
            next => Err(DeviceError::Failed(format!("symbol {name}, but the transcript has {next:?}"))),
        }
    }
    fn bind_texture(&mut self, _: &str, _: TextureBinding) -> Result<(), DeviceError> {
        Err(DeviceError::Invalid("the suite uses no texture references".to_string()))
    }
    fn launch(&mut self, kernel: &str, grid: Dim3, block: Dim3, shared: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.expect(Call::Launch(kernel.to_string(), grid, block, shared, args.to_vec()))
    }
}
