//! Verification can fail: a device that keeps memory but runs nothing passes in no workload.

use std::collections::BTreeMap;

use warpwatt_simt::device::{Arg, Device, DeviceError, Dim3, TextureBinding};
use warpwatt_workloads::{Size, all};

/// Buffers by address; kernels do nothing.
#[derive(Default)]
struct IdleDevice {
    buffers: BTreeMap<u64, Vec<u8>>,
    next: u64,
}

impl IdleDevice {
    fn buffer(&mut self, address: u64, length: usize) -> Result<&mut [u8], DeviceError> {
        let outside = || DeviceError::Failed(format!("{length} bytes at {address:#x} are outside every buffer"));
        let (start, buffer) = self.buffers.range_mut(..=address).next_back().ok_or_else(outside)?;
        let offset = (address - start) as usize;
        buffer.get_mut(offset..offset + length).ok_or_else(outside)
    }
}

impl Device for IdleDevice {
    fn load_module(&mut self, _: &str, _: &str) -> Result<(), DeviceError> {
        Ok(())
    }
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.next += 0x1000_0000;
        self.buffers.insert(self.next, vec![0; bytes as usize]);
        Ok(self.next)
    }
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.buffer(address, data.len())?.copy_from_slice(data);
        Ok(())
    }
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        data.copy_from_slice(self.buffer(address, data.len())?);
        Ok(())
    }
    fn symbol(&mut self, _: &str) -> Result<(u64, u64), DeviceError> {
        Ok((self.alloc(65_536)?, 65_536))
    }
    fn bind_texture(&mut self, _: &str, _: TextureBinding) -> Result<(), DeviceError> {
        Ok(())
    }
    fn launch(&mut self, _: &str, _: Dim3, _: Dim3, _: u32, _: &[Arg]) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[test]
fn an_idle_device_is_never_verified() {
    for workload in all() {
        let outcome = (workload.run)(&mut IdleDevice::default(), Size::Small).unwrap();
        assert!(!outcome.verified, "{}: {}", workload.name, outcome.detail);
        assert!(outcome.max_error.is_finite() && outcome.max_error > outcome.tolerance, "{}", workload.name);
    }
}
