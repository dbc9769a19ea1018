//! The host's half of a device: loaded modules, device memory, texture bindings, and launches made ready. Every device,
//! functional or timed, is this plus a way to run a launch ([`Executor`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_ptx::ir::{FuncId, Module};

use crate::device::{Arg, Device, DeviceError, Dim3, TextureBinding};
use crate::launch::{Launch, LaunchError, parameter_block};
use crate::memory::{GlobalMemory, Region};
use crate::program::{BuildOptions, ModuleImage, Program};

#[derive(Debug)]
struct Loaded {
    module: Module,
    image: ModuleImage,
    programs: BTreeMap<FuncId, Arc<Program>>,
}

/// Modules, memory and bindings of one device.
#[derive(Debug, Default)]
pub struct Host {
    /// Device memory.
    pub memory: GlobalMemory,
    /// Registers per thread, instead of the estimate from live registers.
    pub registers_override: Option<u32>,
    /// Most shared memory that a CTA can have, instead of [`crate::launch::MAX_SHARED_BYTES`].
    pub shared_limit: Option<u32>,
    modules: Vec<Loaded>,
    bindings: BTreeMap<String, TextureBinding>,
    launches: u64,
}

fn invalid(e: impl std::fmt::Display) -> DeviceError {
    DeviceError::Invalid(e.to_string())
}

impl Host {
    /// A host with a device of default size.
    pub fn new(registers_override: Option<u32>) -> Host {
        Host { registers_override, ..Host::default() }
    }

    /// Parses a module, places its variables in memory and makes its kernels known.
    pub fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        let module = warpwatt_ptx::parse(name, ptx).map_err(invalid)?;
        let modules = &self.modules;
        let known = |symbol: &str| modules.iter().rev().find_map(|m| m.image.symbol(&m.module, symbol)).map(|s| s.0);
        let image = ModuleImage::place(&module, &mut self.memory, known).map_err(invalid)?;
        self.modules.push(Loaded { module, image, programs: BTreeMap::new() });
        Ok(())
    }

    /// Reserves device memory.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.memory.alloc(Region::Buffer, bytes).map_err(invalid)
    }

    /// Host to device.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.memory.write(address, data).map_err(invalid)
    }

    /// Device to host.
    pub fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.memory.read(address, data).map_err(invalid)
    }

    /// Address and size of a module variable.
    pub fn symbol(&self, name: &str) -> Result<(u64, u64), DeviceError> {
        let found = self.modules.iter().rev().find_map(|m| m.image.symbol(&m.module, name));
        found.ok_or_else(|| DeviceError::Invalid(format!("no loaded module has a variable named {name}")))
    }

    /// Binds a texture reference.
    pub fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError> {
        if !self.modules.iter().any(|m| m.image.textures.iter().any(|t| t == name)) {
            return Err(DeviceError::Invalid(format!("no loaded module has a texture reference named {name}")));
        }
        self.bindings.insert(name.to_string(), binding);
        Ok(())
    }

    /// A kernel of the newest module that has it, built once.
    pub fn program(&mut self, kernel: &str) -> Result<Arc<Program>, DeviceError> {
        let find = |m: &Loaded| m.module.functions.iter().position(|f| f.entry && f.name == kernel);
        let found = self.modules.iter().enumerate().rev().find_map(|(i, m)| Some((i, find(m)?)));
        let Some((index, function)) = found else {
            let names = self.modules.iter().flat_map(|m| &m.module.functions).filter(|f| f.entry);
            let list: Vec<&str> = names.map(|f| f.name.as_str()).collect();
            let known = if list.is_empty() { "none is loaded".to_string() } else { list.join(", ") };
            return Err(DeviceError::Invalid(format!("no kernel named {kernel}; kernels: {known}")));
        };
        let id = FuncId(function as u32);
        let loaded = &mut self.modules[index];
        if let Some(program) = loaded.programs.get(&id) {
            return Ok(program.clone());
        }
        let options = BuildOptions { image: &loaded.image, registers_override: self.registers_override };
        let program = Program::build(&loaded.module, id, &options)
            .map_err(|e| DeviceError::Invalid(format!("{}: kernel {kernel}: {e}", loaded.module.name)))?;
        let program = Arc::new(program);
        loaded.programs.insert(id, program.clone());
        Ok(program)
    }

    /// Makes a launch ready: arguments checked and laid out, constants and textures as they are now.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<Launch, DeviceError> {
        let program = self.program(kernel)?;
        let params = parameter_block(&program, args).map_err(invalid)?;
        let (bytes, limit) = (u64::from(program.static_shared) + u64::from(dynamic_shared), self.shared_limit);
        if let Some(limit) = limit.filter(|limit| bytes > u64::from(*limit)) {
            return Err(invalid(LaunchError::SharedTooLarge { kernel: kernel.to_string(), bytes, limit }));
        }
        let mut launch =
            Launch::new(program.clone(), grid, block, dynamic_shared, params, self.launches).map_err(invalid)?;
        self.memory.read(program.constant_base, &mut launch.constants).map_err(invalid)?;
        launch.textures = program.textures.iter().map(|name| self.bindings.get(name).cloned()).collect();
        self.launches += 1;
        Ok(launch)
    }
}

/// A way to run a launch. Together with its [`Host`] it is a [`Device`].
pub trait Executor {
    /// Modules, memory and textures.
    fn host(&mut self) -> &mut Host;
    /// Runs a launch to its end.
    fn execute(&mut self, launch: Launch) -> Result<(), DeviceError>;
}

impl<T: Executor> Device for T {
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError> {
        self.host().load_module(name, ptx)
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.host().alloc(bytes)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.host().write(address, data)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.host().read(address, data)
    }

    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError> {
        self.host().symbol(name)
    }

    fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError> {
        self.host().bind_texture(name, binding)
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let launch = self.host().launch(kernel, grid, block, dynamic_shared, args)?;
        self.execute(launch)
    }
}
