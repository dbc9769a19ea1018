//! The parts of the chip that energy is attributed to, and AccelWattch's names for groups of them.

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$meta:meta])* $name:ident, $count:ident: $($(#[doc = $doc:literal])* $variant:ident = $text:literal,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// All, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// Its name.
            pub fn name(self) -> &'static str { match self { $($name::$variant => $text,)* } }
            /// What it is.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => concat!($($doc,)*).trim_ascii(),)* }
            }
            /// By its name.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        /// How many there are.
        pub const $count: usize = $name::ALL.len();
    };
}

names! {
    /// A component: those of an SM first, then those of the chip.
    Component, COMPONENTS:
    /// Instruction cache and fetch.
    Fetch = "fetch",
    /// Decode.
    Decode = "decode",
    /// Instruction buffer.
    InstructionBuffer = "instruction-buffer",
    /// Warp schedulers and scoreboard.
    Scheduler = "scheduler",
    /// Register-file banks.
    RegisterFile = "register-file",
    /// Operand collectors and their crossbar.
    Collectors = "collectors",
    /// Pipeline registers.
    Pipeline = "pipeline",
    /// Integer lanes.
    Int = "int",
    /// Floating-point lanes.
    Fp = "fp",
    /// Special-function lanes.
    Sfu = "sfu",
    /// Load/store unit and coalescer.
    Ldst = "ldst",
    /// Shared memory.
    Shared = "shared",
    /// L1 data cache.
    L1Data = "l1-data",
    /// Constant and texture caches.
    ConstantTexture = "constant-texture",
    /// What McPAT does not attribute.
    Undifferentiated = "undifferentiated",
    /// L2 cache.
    L2 = "l2",
    /// Crossbar.
    Noc = "noc",
    /// Memory controllers and their physical interface.
    MemoryControllers = "memory-controllers",
    /// GDDR5 chips.
    Dram = "dram",
    /// Voltage regulators and IO.
    Other = "other",
    /// Clock floor: the clock tree's power whatever the activity.
    Clock = "clock",
}

/// Components of one SM: the first ones.
pub const SM_COMPONENTS: usize = Component::L2 as usize;
/// Components of the chip: the rest.
pub const CHIP_COMPONENTS: usize = COMPONENTS - SM_COMPONENTS;

impl Component {
    /// Whether every SM has one of its own.
    pub fn in_sm(self) -> bool {
        (self as usize) < SM_COMPONENTS
    }

    /// Whether it is an execution unit (INT, FP, SFU).
    pub fn is_execution_unit(self) -> bool {
        matches!(self, Component::Int | Component::Fp | Component::Sfu)
    }
}

names! {
    /// AccelWattch's (and GPUWattch's) power components, so that scripts keep working. Every joule has one.
    Label, LABELS:
    /// Instruction buffer.
    Ibp = "IBP",
    /// Instruction cache.
    Icp = "ICP",
    /// L1 data cache; the load/store unit, which has no label of its own.
    Dcp = "DCP",
    /// Texture cache.
    Tcp = "TCP",
    /// Constant cache.
    Ccp = "CCP",
    /// Shared memory.
    Shrdp = "SHRDP",
    /// Register file and operand collectors.
    Rfp = "RFP",
    /// Integer units.
    Spp = "SPP",
    /// Special-function units.
    Sfup = "SFUP",
    /// Floating-point units.
    Fpup = "FPUP",
    /// Schedulers.
    Schedp = "SCHEDP",
    /// L2.
    L2cp = "L2CP",
    /// Memory controllers.
    Mcp = "MCP",
    /// Crossbar.
    Nocp = "NOCP",
    /// DRAM accesses.
    Dramp = "DRAMP",
    /// Pipeline registers.
    Pipep = "PIPEP",
    /// Leakage of SMs in cycles without a CTA.
    IdleCorep = "IDLE_COREP",
    /// Constant dynamic power: clock floor, memory controllers.
    ConstDynamicp = "CONST_DYNAMICP",
    /// All other leakage, DRAM background and gating overheads.
    Staticp = "STATICP",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inventory_is_fifteen_and_six() {
        assert_eq!((SM_COMPONENTS, CHIP_COMPONENTS, LABELS), (15, 6, 19));
        assert!(Component::ALL.iter().enumerate().all(|(index, &one)| one as usize == index));
        assert_eq!(Component::named("l1-data"), Some(Component::L1Data));
        assert_eq!(Label::named("SHRDP"), Some(Label::Shrdp));
        assert_eq!(Component::ALL.iter().filter(|one| one.is_execution_unit()).count(), 3);
    }
}
