//! Choices between published ways of computing power.

use serde::{Deserialize, Serialize};
use warpwatt_machine::spec::VfModel;

/// How leakage is shared out among the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakageSplit {
    /// The energy table's own.
    #[default]
    Default,
    /// The table's rows: execution units about 20 % of the total on an average kernel, half of it static (Origami's figures).
    Origami,
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
    /// Power gating: break-even time (14) × leakage per cycle for each gating event (Origami and those it compares with).
    #[default]
    BreakEven,
    /// Power gating: ITAP Table 4's wake-up energy, 13 cycles of leakage for each wake-up (ITAP, its CPG and PATS
    /// included).
    Itap,
}

/// Options of a power model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What the run's policies say.
    pub policy: PolicyPower,
}

/// What falling asleep and waking up cost a lane, in cycles of its leakage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GatingEnergy {
    /// To be power-gated.
    pub gate: f64,
    /// To wake up from being power-gated.
    pub wake: f64,
    /// To wake up from VS0.5.
    pub wake_vs05: f64,
    /// To wake up from VS0.3.
    pub wake_vs03: f64,
}

impl GatingEnergy {
    /// ITAP Table 4.
    pub const ITAP: GatingEnergy = GatingEnergy { gate: 0.0, wake: 13.0, wake_vs05: 0.4, wake_vs03: 1.2 };

    /// Each gating event costs a break-even time (Origami §4.2).
    pub const fn break_even(cycles: f64) -> GatingEnergy {
        GatingEnergy { gate: cycles, wake: 0.0, wake_vs05: 0.4, wake_vs03: 1.2 }
    }
}

/// How policies change the computation of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct PolicyPower {
    /// Cost of falling asleep and waking up, instead of [`PowerOptions::gating_cost`].
    pub gating: Option<GatingEnergy>,
    /// Inactive lanes of an issued warp cost nothing.
    pub lane_clock_gating: bool,
    /// What a group of decoders or schedulers costs to be power-gated, in cycles of its leakage, instead of the table's
    /// break-even time.
    pub component_gating: Option<f64>,
    /// Groups without a clock are not there: they leak nothing.
    pub absent: bool,
    /// Added hardware: a share of the execution units' power.
    pub hardware_share: f64,
    /// Added hardware: W of a SIMD lane in a cycle in which it works.
    pub hardware_lane_used_w: f64,
    /// Added hardware: W of a SIMD lane in every cycle.
    pub hardware_lane_w: f64,
}

impl PolicyPower {
    /// Both together: what one says of gating holds where the other says nothing, hardware adds up.
    pub fn and(&self, other: &PolicyPower) -> PolicyPower {
        PolicyPower {
            gating: self.gating.or(other.gating),
            component_gating: self.component_gating.or(other.component_gating),
            absent: self.absent || other.absent,
            lane_clock_gating: self.lane_clock_gating || other.lane_clock_gating,
            hardware_share: self.hardware_share + other.hardware_share,
            hardware_lane_used_w: self.hardware_lane_used_w + other.hardware_lane_used_w,
            hardware_lane_w: self.hardware_lane_w + other.hardware_lane_w,
        }
    }
}
