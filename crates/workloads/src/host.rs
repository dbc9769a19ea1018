//! What host programs do over and over: typed copies to and from the device, arguments, grid arithmetic.

use warpwatt_simt::device::{Arg, Device, DeviceError};

/// A type that buffers are made of; little-endian, as the device sees it.
pub trait Element: Copy {
    /// Size on the device.
    const BYTES: usize;
    /// Appends the value's bytes.
    fn put(self, out: &mut Vec<u8>);
    /// The value of exactly [`BYTES`](Element::BYTES) bytes.
    fn get(bytes: &[u8]) -> Self;
    /// The value as a float, for messages and errors.
    fn to_f64(self) -> f64;
    /// Same bits.
    fn same_bits(self, other: Self) -> bool;
}

macro_rules! element {
    ($($type:ty, $bits:expr);*) => {$(
        impl Element for $type {
            const BYTES: usize = size_of::<$type>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$type>()];
                array.copy_from_slice(bytes);
                Self::from_le_bytes(array)
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn same_bits(self, other: Self) -> bool {
                $bits(self) == $bits(other)
            }
        }
    )*};
}

element!(u8, u8::from; u16, u16::from; i32, i32::from; u32, u32::from; f32, f32::to_bits);

/// Bytes of a slice, as the device wants them.
fn bytes_of<T: Element>(data: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len() * T::BYTES);
    for &value in data {
        value.put(&mut bytes);
    }
    bytes
}

/// New device buffer with this content.
pub fn upload<T: Element>(gpu: &mut dyn Device, data: &[T]) -> Result<u64, DeviceError> {
    let address = zeroed::<T>(gpu, data.len())?;
    store(gpu, address, data)?;
    Ok(address)
}

/// New device buffer of `count` zeros.
pub fn zeroed<T: Element>(gpu: &mut dyn Device, count: usize) -> Result<u64, DeviceError> {
    gpu.alloc((count * T::BYTES) as u64)
}

/// Copies to an existing buffer.
pub fn store<T: Element>(gpu: &mut dyn Device, address: u64, data: &[T]) -> Result<(), DeviceError> {
    gpu.write(address, &bytes_of(data))
}

/// Copies `count` elements back.
pub fn load<T: Element>(gpu: &mut dyn Device, address: u64, count: usize) -> Result<Vec<T>, DeviceError> {
    let mut bytes = vec![0; count * T::BYTES];
    gpu.read(address, &mut bytes)?;
    Ok(bytes.chunks_exact(T::BYTES).map(T::get).collect())
}

/// Writes a module variable, from its beginning.
pub fn store_symbol<T: Element>(gpu: &mut dyn Device, name: &str, data: &[T]) -> Result<(), DeviceError> {
    let (address, size) = gpu.symbol(name)?;
    let bytes = bytes_of(data);
    if bytes.len() as u64 > size {
        return Err(DeviceError::Invalid(format!("{} bytes do not fit `{name}` ({size} bytes)", bytes.len())));
    }
    gpu.write(address, &bytes)
}

/// A count or size as a kernel's `int` parameter.
pub fn int(value: usize) -> Arg {
    Arg::I32(value as i32)
}

/// Blocks needed for `count` items.
pub fn blocks(count: usize, per_block: usize) -> u32 {
    count.div_ceil(per_block) as u32
}
