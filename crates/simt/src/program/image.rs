//! A module placed in device memory: addresses of its variables, initial contents, the constant bank.

use warpwatt_ptx::Lines;
use warpwatt_ptx::ir::{FuncId, Init, InitValue, Linkage, Module, Space, Type, Variable};

use crate::memory::{GlobalMemory, MemoryError, Region};
use crate::space::{FUNCTION_BASE, TEXTURE_BASE};

/// Where a module's variables are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleImage {
    /// Per module variable: its device address (`.global`, `.const`), its handle (texture references), 0 otherwise.
    pub addresses: Vec<u64>,
    /// The same for the variables of each function's body.
    bodies: Vec<Vec<u64>>,
    /// Names of the texture references; handle i is [`TEXTURE_BASE`] + 16 i.
    pub textures: Vec<String>,
    /// Device address of the constant bank.
    pub constant_base: u64,
    /// Initial contents of the constant bank.
    pub constants: Vec<u8>,
    /// Lines of the module's text.
    pub(super) lines: Lines,
}

/// The generic address of a function.
pub fn function_address(function: u32) -> u64 {
    FUNCTION_BASE + 16 * function as u64
}

fn is_texture(v: &Variable) -> bool {
    v.ty == Type::TexRef || v.space == Space::Tex
}

impl ModuleImage {
    /// Reserves memory for the module's variables and writes their initial contents. `symbols` gives the addresses of
    /// variables that the module only declares (`.extern`).
    pub fn place(
        module: &Module,
        memory: &mut GlobalMemory,
        symbols: impl Fn(&str) -> Option<u64>,
    ) -> Result<ModuleImage, MemoryError> {
        let bodies: Vec<&[Variable]> =
            module.functions.iter().map(|f| f.body.as_ref().map_or(&[][..], |b| &b.variables)).collect();
        let mut image = ModuleImage { lines: Lines::new(&module.source), ..ModuleImage::default() };
        let (mut constants, mut constant_align) = (0u64, 1);
        let mut place = |v: &Variable, textures: &mut Vec<String>| -> Result<u64, MemoryError> {
            if is_texture(v) {
                textures.push(v.name.clone());
                return Ok(TEXTURE_BASE + 16 * (textures.len() as u64 - 1));
            }
            match v.space {
                Space::Global => {
                    if v.linkage == Linkage::Extern {
                        if let Some(known) = symbols(&v.name) {
                            return Ok(known);
                        }
                    }
                    memory.alloc_aligned(Region::Module, v.size, v.align)
                }
                Space::Const => {
                    let at = constants.next_multiple_of(v.align.max(1) as u64);
                    constants = at.saturating_add(v.size);
                    constant_align = constant_align.max(v.align);
                    Ok(at)
                }
                _ => Ok(0),
            }
        };
        for v in &module.variables {
            image.addresses.push(place(v, &mut image.textures)?);
        }
        for body in &bodies {
            let addresses = body.iter().map(|v| place(v, &mut image.textures)).collect::<Result<_, _>>()?;
            image.bodies.push(addresses);
        }
        image.constant_base = memory.alloc_aligned(Region::Constant, constants, constant_align)?;
        let base = image.constant_base;
        let variables = module.variables.iter().zip(&mut image.addresses);
        let locals = bodies.iter().zip(&mut image.bodies).flat_map(|(body, list)| body.iter().zip(list));
        for (v, address) in variables.chain(locals) {
            if v.space == Space::Const && !is_texture(v) {
                *address += base;
            }
        }
        let variables = module.variables.iter().zip(&image.addresses);
        let locals = bodies.iter().zip(&image.bodies).flat_map(|(body, list)| body.iter().zip(list));
        for (v, &address) in variables.chain(locals) {
            if matches!(v.space, Space::Global | Space::Const) && !is_texture(v) {
                for init in &v.init {
                    let (bytes, size) = image.value(init);
                    let room = v.size.saturating_sub(init.offset).min(size as u64) as usize;
                    memory.write(address + init.offset, &bytes[..room])?;
                }
            }
        }
        image.constants = vec![0; constants as usize];
        memory.read(base, &mut image.constants)?;
        Ok(image)
    }

    fn value(&self, init: &Init) -> ([u8; 8], u8) {
        let (value, size) = match init.value {
            InitValue::Bits { bits, size } => (bits, size),
            // Variables of .global and .const lie at their generic addresses.
            InitValue::Variable { variable, addend, size, byte, .. } => {
                let address = self.addresses.get(variable as usize).map_or(0, |a| a.wrapping_add_signed(addend));
                (address.unbounded_shr(8 * u32::from(byte)), size)
            }
            InitValue::Function { function, size } => (function_address(function.0), size),
        };
        (value.to_le_bytes(), size.min(8))
    }

    /// Device address of a variable that a function's body declares.
    pub(super) fn body_address(&self, function: FuncId, variable: u32) -> Option<u64> {
        self.bodies.get(function.0 as usize)?.get(variable as usize).copied()
    }

    /// Device address and size of a variable that the host may read and write.
    pub fn symbol(&self, module: &Module, name: &str) -> Option<(u64, u64)> {
        let index = module
            .variables
            .iter()
            .position(|v| v.name == name && matches!(v.space, Space::Global | Space::Const) && !is_texture(v))?;
        Some((self.addresses[index], module.variables[index].size))
    }
}
