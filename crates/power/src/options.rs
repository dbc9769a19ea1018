//! Choices between published ways of computing power.

use serde::{Deserialize, Serialize};
use warpwatt_machine::spec::VfModel;

/// How leakage is shared out among the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakageSplit {
    /// Execution units about 20 % of the total on an average kernel, half of it static (Origami's figures).
    #[default]
    Default,
    /// In proportion to area, 60 % in the SMs and 40 % outside (µC-States §5).
    Area,
    /// As McPAT reports it: 4.87 W for a GTX 480's execution units.
    Mcpat,
}

/// Where the energy of INT and FP operations comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// What GPUWattch charges, as in the papers that are reproduced. An integer operation costs more than a
    /// floating-point one: an artefact of the regression behind it.
    #[default]
    Gpuwattch,
    /// Published 45 nm datapath energies, times one factor that leaves the average lane operation as it is.
    Physical,
}

/// What falling asleep and waking up cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatingCost {
    /// Power gating: break-even time (14) × leakage per cycle (Origami and those it compares with).
    #[default]
    BreakEven,
    /// Power gating: ITAP Table 4's wake-up energy, 13 cycles of leakage (ITAP, its CPG and PATS included).
    Itap,
}

/// Options of a power model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct PowerOptions {
    /// Leakage split.
    pub leakage_split: LeakageSplit,
    /// INT and FP energies.
    pub arithmetic: Arithmetic,
    /// Inactive lanes of an issued warp cost nothing (off in the papers: they cost half an active one).
    pub lane_clock_gating: bool,
    /// Gating overhead.
    pub gating_cost: GatingCost,
    /// V/f model; the GPU's own if `None`.
    pub vf_model: Option<VfModel>,
}
