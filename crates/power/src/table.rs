//! Energy tables: the figures, as read from TOML.

use crate::component::Component;
use crate::error::PowerError;
use crate::options::LeakageSplit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warpwatt_machine::spec::Spec;

/// Name and text of each embedded table.
const FILES: &[(&str, &str)] = &[
    ("gtx480", include_str!("../tables/gtx480.toml")),
    ("c2050", include_str!("../tables/c2050.toml")),
    ("kepler-small", include_str!("../tables/kepler-small.toml")),
    ("kepler-big", include_str!("../tables/kepler-big.toml")),
    ("pascal16", include_str!("../tables/pascal16.toml")),
];

/// Names of the embedded tables.
pub fn tables() -> impl Iterator<Item = &'static str> + Clone {
    FILES.iter().map(|&(name, _)| name)
}

/// An embedded table's TOML text.
pub fn table_text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|&&(table, _)| table == name).map(|&(_, text)| text)
}

/// What scales a component's figures from the table's reference to the GPU at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Per {
    FetchUnits,
    Schedulers,
    SpUnits,
    SfuUnits,
    LdstUnits,
    Channels,
    L2Bytes,
}

/// Which technology factors a component takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Class {
    Core,
    Cache,
    Dram,
    None,
}

/// Area and leakage of a component, at the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentRow {
    /// mm².
    pub area_mm2: f64,
    /// W at nominal voltage, default split.
    pub leakage_w: f64,
    /// What both scale with, linearly.
    #[serde(default)]
    pub per: Option<Per>,
    /// Technology factors.
    pub class: Class,
}

/// What the figures stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Reference {
    pub core_mhz: f64,
    pub dram_mhz: f64,
    pub sp_units: f64,
    pub sfu_units: f64,
    pub ldst_units: f64,
    pub fetch_units: f64,
    pub schedulers: f64,
    pub channels: f64,
    pub l2_bytes: f64,
}

/// Constant power at the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Clock floor, W.
    pub clock_w: f64,
    /// Memory controllers, W.
    pub memory_controllers_w: f64,
}

/// GDDR5 precharge-standby current as a straight line over the data rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramBackground {
    /// Chips.
    pub chips: f64,
    /// Supply, V.
    pub volts: f64,
    /// Current of one chip at `rate_gbps`, mA.
    pub base_ma: f64,
    /// More for each Gb/s, mA.
    pub slope_ma: f64,
    /// Data rate of `base_ma`, Gb/s a pin.
    pub rate_gbps: f64,
}

/// The `area` split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AreaSplit {
    /// W for each mm² of an SM; so that an SM leaks what it does by default, if not given.
    pub core_w_per_mm2: Option<f64>,
    /// Factor on the leakage outside the SMs; 1 if not given.
    pub non_core: Option<f64>,
}

/// The `mcpat` split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpatSplit {
    /// Leakage of one SM's execution units at the reference, W.
    pub execution_w: f64,
}

/// Splits other than that of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Splits {
    /// The one that holds where nobody asks for another.
    #[serde(default, skip_serializing_if = "is_rows")]
    pub split: LeakageSplit,
    pub area: AreaSplit,
    pub mcpat: McpatSplit,
}

fn is_rows(split: &LeakageSplit) -> bool {
    *split == LeakageSplit::Default
}

/// How `physical` energies are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Physical {
    /// Shares of lane operations over which both kinds of energy agree on average.
    pub mix: BTreeMap<String, f64>,
}

/// Lane rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lanes {
    /// Energy of an inactive lane relative to an active one.
    pub inactive: f64,
}

/// Costs of gating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gating {
    /// Power gating, cycles of leakage (Origami's family).
    pub bet_cycles: f64,
    /// Power gating, cycles of leakage (ITAP's family).
    pub itap_pg_cycles: f64,
    /// VS0.3, cycles of leakage.
    pub itap_vs03_cycles: f64,
    /// VS0.5, cycles of leakage.
    pub itap_vs05_cycles: f64,
    /// Leakage left in VS0.3.
    pub vs03_leakage: f64,
    /// Leakage left in VS0.5.
    pub vs05_leakage: f64,
    /// Leakage left when power-gated.
    pub pg_leakage: f64,
    /// Power gating of a pipeline component's group, cycles of its leakage (µC-States).
    pub component_bet_cycles: f64,
    /// Dynamic energy that a clock-gated group keeps.
    pub clock_gated_dynamic: f64,
}

/// Factors from 40 nm to another node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Technology {
    pub core_dynamic: f64,
    pub cache_dynamic: f64,
    pub dram_dynamic: f64,
    pub leakage: f64,
    pub dram_background: f64,
}

impl Default for Technology {
    fn default() -> Technology {
        Technology { core_dynamic: 1.0, cache_dynamic: 1.0, dram_dynamic: 1.0, leakage: 1.0, dram_background: 1.0 }
    }
}

impl Technology {
    /// Factor on dynamic energy.
    pub(crate) fn dynamic(&self, class: Class) -> f64 {
        match class {
            Class::Core => self.core_dynamic,
            Class::Cache => self.cache_dynamic,
            Class::Dram => self.dram_dynamic,
            Class::None => 1.0,
        }
    }

    /// Factor on leakage.
    pub(crate) fn leakage(&self, class: Class) -> f64 {
        match class {
            Class::Core | Class::Cache => self.leakage,
            Class::Dram => self.dram_background,
            Class::None => 1.0,
        }
    }
}

/// The energy of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// The event.
    pub event: String,
    /// Component that draws it.
    pub component: String,
    /// AccelWattch's component.
    pub label: String,
    /// pJ for `per` events.
    #[serde(default)]
    pub pj: Option<f64>,
    /// Events that `pj` stands for.
    #[serde(default = "one")]
    pub per: f64,
    /// Published datapath energy of one event, pJ, for `physical`.
    #[serde(default)]
    pub datapath_pj: Option<f64>,
    /// `lanes.inactive` times the energy of this event, instead of `pj`.
    #[serde(default)]
    pub inactive_of: Option<String>,
}

fn one() -> f64 {
    1.0
}

/// An energy table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EnergyTable {
    pub name: String,
    pub reference: Reference,
    pub sm: BTreeMap<String, ComponentRow>,
    pub chip: BTreeMap<String, ComponentRow>,
    pub constant: Constant,
    pub dram_background: DramBackground,
    pub leakage: Splits,
    pub physical: Physical,
    pub lanes: Lanes,
    pub gating: Gating,
    #[serde(default)]
    pub technology: Technology,
    pub charge: Vec<Charge>,
    pub uncharged: BTreeMap<String, String>,
}

impl EnergyTable {
    /// An embedded table.
    pub fn named(name: &str) -> Result<EnergyTable, PowerError> {
        let Some(text) = table_text(name) else {
            let known = tables().collect::<Vec<_>>().join(", ");
            return Err(PowerError::UnknownTable { name: name.to_owned(), known });
        };
        EnergyTable::from_toml(name, text)
    }

    /// A table from TOML text; `base` names an embedded one that it starts from. `name` is for messages.
    pub fn from_toml(name: &str, text: &str) -> Result<EnergyTable, PowerError> {
        let bad = |message: String| PowerError::BadTable { name: name.to_owned(), message };
        let mut table: toml::Table = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        // Bases of bases; an embedded table's chain ends, and a longer one leads in a circle.
        for _ in 0..=FILES.len() {
            let Some(base) = table.remove("base") else {
                let table: EnergyTable = table.try_into().map_err(|error: toml::de::Error| bad(error.to_string()))?;
                table.check()?;
                return Ok(table);
            };
            let base = base.as_str().unwrap_or("?").to_owned();
            let Some(text) = table_text(&base) else {
                return Err(PowerError::BadBase { name: name.to_owned(), base });
            };
            let mut under: toml::Table = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
            overlay(&mut under, table);
            table = under;
        }
        Err(PowerError::BadBase { name: name.to_owned(), base: name.to_owned() })
    }

    /// A component's row.
    pub fn row(&self, component: Component) -> Option<&ComponentRow> {
        let rows = if component.in_sm() { &self.sm } else { &self.chip };
        rows.get(component.name())
    }

    fn check(&self) -> Result<(), PowerError> {
        let unknown =
            |what, given: &str| Err(PowerError::UnknownName { name: self.name.clone(), what, given: given.to_owned() });
        for (rows, in_sm) in [(&self.sm, true), (&self.chip, false)] {
            for name in rows.keys() {
                if Component::named(name).is_none_or(|component| component.in_sm() != in_sm) {
                    return unknown("component", name);
                }
            }
        }
        for component in Component::ALL {
            let Some(row) = self.row(*component) else {
                return unknown("or missing component", component.name());
            };
            self.not_negative(component.name(), "area_mm2", row.area_mm2)?;
            self.not_negative(component.name(), "leakage_w", row.leakage_w)?;
        }
        let reference = &self.reference;
        let counts = [
            ("core_mhz", reference.core_mhz),
            ("dram_mhz", reference.dram_mhz),
            ("sp_units", reference.sp_units),
            ("sfu_units", reference.sfu_units),
            ("ldst_units", reference.ldst_units),
            ("fetch_units", reference.fetch_units),
            ("schedulers", reference.schedulers),
            ("channels", reference.channels),
            ("l2_bytes", reference.l2_bytes),
        ];
        for (figure, value) in counts {
            self.positive("reference", figure, value)?;
        }
        let background = &self.dram_background;
        self.positive("dram_background", "base_ma", background.base_ma)?;
        self.not_negative("constant", "clock_w", self.constant.clock_w)?;
        self.not_negative("constant", "memory_controllers_w", self.constant.memory_controllers_w)?;
        self.not_negative("leakage.mcpat", "execution_w", self.leakage.mcpat.execution_w)?;
        self.not_negative("lanes", "inactive", self.lanes.inactive)?;
        for charge in &self.charge {
            self.positive(&charge.event, "per", charge.per)?;
            for pj in [charge.pj, charge.datapath_pj].into_iter().flatten() {
                self.not_negative(&charge.event, "pj", pj)?;
            }
        }
        Ok(())
    }

    fn positive(&self, group: &str, figure: &str, value: f64) -> Result<(), PowerError> {
        self.figure(group, figure, value, value > 0.0, "positive")
    }

    fn not_negative(&self, group: &str, figure: &str, value: f64) -> Result<(), PowerError> {
        self.figure(group, figure, value, value >= 0.0, "at least 0")
    }

    fn figure(&self, group: &str, figure: &str, value: f64, good: bool, legal: &'static str) -> Result<(), PowerError> {
        if good && value.is_finite() {
            return Ok(());
        }
        Err(PowerError::BadFigure { name: self.name.clone(), figure: format!("{group}.{figure}"), value, legal })
    }

    /// Factor from the reference to the GPU at hand.
    pub(crate) fn scale(&self, spec: &Spec, per: Option<Per>) -> f64 {
        let reference = &self.reference;
        let slices = f64::from(spec.channels * spec.sub_partitions);
        match per {
            None => 1.0,
            Some(Per::FetchUnits) => f64::from(spec.fetch_units) / reference.fetch_units,
            Some(Per::Schedulers) => f64::from(spec.schedulers) / reference.schedulers,
            Some(Per::SpUnits) => f64::from(spec.sp_units) / reference.sp_units,
            Some(Per::SfuUnits) => f64::from(spec.sfu_units) / reference.sfu_units,
            Some(Per::LdstUnits) => f64::from(spec.ldst_units) / reference.ldst_units,
            Some(Per::Channels) => f64::from(spec.channels) / reference.channels,
            Some(Per::L2Bytes) => spec.l2.bytes() as f64 * slices / reference.l2_bytes,
        }
    }
}

/// Puts `over` on `under`: tables member by member, anything else replaced.
fn overlay(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => overlay(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}
