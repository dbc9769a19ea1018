//! A module placed in device memory: addresses of its variables, initial contents, the constant bank.

use warpwatt_ptx::ir::{Init, InitValue, Module, Space, Variable};

use crate::memory::{GlobalMemory, MemoryError, Region};
use crate::space::{FUNCTION_BASE, TEXTURE_BASE};

/// Where a module's variables are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleImage {
    /// Per module variable: its device address (`.global`, `.const`), its handle (texture references), 0 otherwise.
    pub addresses: Vec<u64>,
    /// Names of the texture references; handle i is [`TEXTURE_BASE`] + 16 i.
    pub textures: Vec<String>,
    /// Device address of the constant bank.
    pub constant_base: u64,
    /// Size of the constant bank.
    pub constant_bytes: u32,
}

/// The generic address of a function.
pub fn function_address(function: u32) -> u64 {
    FUNCTION_BASE + 16 * function as u64
}

impl ModuleImage {
    /// Reserves memory for the module's variables and writes their initial contents. `symbols` gives the addresses of
    /// variables that the module only declares (`.extern`).
    pub fn place(
        module: &Module,
        memory: &mut GlobalMemory,
        symbols: impl Fn(&str) -> Option<u64>,
    ) -> Result<ModuleImage, MemoryError> {
        let mut image = ModuleImage { addresses: vec![0; module.variables.len()], ..ModuleImage::default() };
        let mut constants = 0u64;
        for (variable, address) in module.variables.iter().zip(&mut image.addresses) {
            use warpwatt_ptx::ir::{Linkage, Type};
            if matches!(variable.ty, Type::TexRef) || variable.space == Space::Tex {
                *address = TEXTURE_BASE + 16 * image.textures.len() as u64;
                image.textures.push(variable.name.clone());
                continue;
            }
            let external = (variable.linkage == Linkage::Extern).then(|| symbols(&variable.name)).flatten();
            match (variable.space, external) {
                (Space::Global, Some(known)) => *address = known,
                (Space::Global, None) => *address = memory.alloc(Region::Module, variable.size)?,
                (Space::Const, _) => {
                    constants = constants.next_multiple_of(variable.align.max(1) as u64);
                    *address = constants;
                    constants += variable.size;
                }
                _ => {}
            }
        }
        image.constant_bytes = constants as u32;
        image.constant_base = memory.alloc(Region::Constant, constants)?;
        for (variable, address) in module.variables.iter().zip(&mut image.addresses) {
            if variable.space == Space::Const {
                *address += image.constant_base;
            }
        }
        for (variable, &address) in module.variables.iter().zip(&image.addresses) {
            if matches!(variable.space, Space::Global | Space::Const) {
                for init in &variable.init {
                    let (bytes, size) = image.value(init);
                    let room = variable.size.saturating_sub(init.offset).min(size as u64) as usize;
                    memory.write(address + init.offset, &bytes[..room])?;
                }
            }
        }
        Ok(image)
    }

    fn value(&self, init: &Init) -> ([u8; 8], u8) {
        let (value, size) = match init.value {
            InitValue::Bits { bits, size } => (bits, size),
            InitValue::Variable { variable, addend, size, .. } => {
                (self.addresses.get(variable as usize).map_or(0, |a| a.wrapping_add_signed(addend)), size)
            }
            InitValue::Function { function, size } => (function_address(function.0), size),
        };
        (value.to_le_bytes(), size.min(8))
    }

    /// Device address and size of a variable that the host may read and write.
    pub fn symbol(&self, module: &Module, name: &str) -> Option<(u64, u64)> {
        let host_visible = |v: &&Variable| matches!(v.space, Space::Global | Space::Const);
        let index = module.variables.iter().position(|v| v.name == name && host_visible(&v))?;
        Some((self.addresses[index], module.variables[index].size))
    }
}
