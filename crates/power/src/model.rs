//! Activity and residency of a sample to joules.
//!
//! Energy = Σ events × energy(event, V) + Σ residency × leakage(component, V, sleep mode) + gating overheads +
//! constant terms.
//!
//! - Leakage is power × time. Of execution units it follows the lanes' states; of decode and schedulers the
//!   power-gated groups; everything else is always on.
//! - A clock-gated group takes its share of the component's dynamic energy with it (µC-States §3); so does half of the
//!   register file while all three operand collectors are tuned down.
//! - Hardware that a policy adds is charged to INT, FP and SFU as overhead ([`PolicyPower`]): a share of their power, and
//!   watts of a SIMD lane, half of them to its INT and half to its FP pipeline where they do not depend on use.
//! - A V/f transition costs a fixed energy, in the regulators (`other`).
//! - Left out: temperature (figures are for 380 K).

use crate::charges::{self, Resolved};
use crate::component::{CHIP_COMPONENTS, COMPONENTS, Component, LABELS, Label, SM_COMPONENTS};
use crate::energy::{Energy, SamplePower};
use crate::error::PowerError;
use crate::leakage;
use crate::options::{GatingCost, GatingEnergy, PolicyPower, PowerOptions};
use crate::scaling::{Level, Scaling, scaling};
use crate::table::EnergyTable;
use serde::{Deserialize, Serialize};
use warpwatt_machine::activity::{COMPONENTS as PIPELINE, LANE_STATES, LaneResidency, LaneState, Sample, SmActivity};
use warpwatt_machine::spec::{Spec, VfModel};

/// The power model of one GPU.
#[derive(Clone, Debug)]
pub struct PowerModel {
    pub(crate) spec: Spec,
    pub(crate) table: EnergyTable,
    pub(crate) options: PowerOptions,
    sm_charges: Vec<Resolved>,
    mem_charges: Vec<Resolved>,
    /// W at nominal voltage: of one SM, or of the chip.
    pub(crate) leakage: [f64; COMPONENTS],
    clock_w: f64,
    controllers_w: f64,
    lanes: LaneCosts,
}

/// Leakage and gating overhead of a lane by state.
#[derive(Clone, Copy, Debug)]
struct LaneCosts {
    /// Share of leakage left in each state.
    leaking: [f64; LANE_STATES],
    /// Cycles of leakage that transitions cost.
    gating: GatingEnergy,
}

/// A component of the chip, as built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InventoryRow {
    /// Component.
    pub component: Component,
    /// How many there are: one for each SM, or one.
    pub count: u32,
    /// Area of one, mm² (of 40 nm: the proportions matter).
    pub area_mm2: f64,
    /// Leakage of one at nominal voltage and speed, W.
    pub leakage_w: f64,
}

/// What a component has saved by sleeping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    /// Component.
    pub component: Component,
    /// Leakage, what transitions and added hardware cost taken off, J.
    pub leakage: f64,
    /// Dynamic energy, J.
    pub dynamic: f64,
}

impl PowerModel {
    /// The model of a GPU, with the energy table that it names.
    pub fn new(spec: &Spec, options: PowerOptions) -> Result<PowerModel, PowerError> {
        PowerModel::with_table(spec, EnergyTable::named(&spec.energy_table)?, options)
    }

    /// The model of a GPU with a table of the user's.
    pub fn with_table(spec: &Spec, table: EnergyTable, options: PowerOptions) -> Result<PowerModel, PowerError> {
        let charges = charges::resolve(&table, &options)?;
        let channels = f64::from(spec.channels) / table.reference.channels;
        Ok(PowerModel {
            spec: spec.clone(),
            options,
            sm_charges: charges.sm,
            mem_charges: charges.mem,
            leakage: leakage::leakage(&table, spec, options.leakage_split),
            clock_w: table.constant.clock_w * table.technology.core_dynamic,
            controllers_w: table.constant.memory_controllers_w * channels * table.technology.cache_dynamic,
            lanes: LaneCosts::new(&table, &options),
            table,
        })
    }

    /// The energy table in use.
    pub fn table(&self) -> &EnergyTable {
        &self.table
    }

    /// The options in use.
    pub fn options(&self) -> &PowerOptions {
        &self.options
    }

    /// The V/f model in use.
    pub fn vf_model(&self) -> VfModel {
        self.options.vf_model.unwrap_or(self.spec.dvfs.model)
    }

    /// Factor between published datapath energies and GPUWattch's, under [`Arithmetic::Physical`].
    ///
    /// [`Arithmetic::Physical`]: crate::options::Arithmetic::Physical
    pub fn datapath_factor(&self) -> f64 {
        charges::datapath_factor(&self.table)
    }

    /// All components with area and leakage (DRAM background at the GPU's own nominal data rate).
    pub fn inventory(&self) -> Vec<InventoryRow> {
        let nominal = self.scaling(Level {
            core_mhz: self.spec.core_mhz,
            core_volts: 1.0,
            dram_mhz: self.spec.dram_mhz,
            mem_volts: 1.0,
        });
        Component::ALL
            .iter()
            .map(|&component| InventoryRow {
                component,
                count: if component.in_sm() { self.spec.sms } else { 1 },
                area_mm2: leakage::area(&self.table, &self.spec, component),
                leakage_w: self.leakage[component as usize] * leakage_factor(&nominal, component),
            })
            .collect()
    }

    /// Leakage of the chip at nominal voltage and speed, W.
    pub fn leakage_watts(&self) -> f64 {
        self.inventory().iter().map(|row| f64::from(row.count) * row.leakage_w).sum()
    }

    /// Factors on nominal figures at a level.
    pub fn scaling(&self, level: Level) -> Scaling {
        let reference = Level {
            core_mhz: self.table.reference.core_mhz,
            core_volts: 1.0,
            dram_mhz: self.table.reference.dram_mhz,
            mem_volts: 1.0,
        };
        scaling(self.vf_model(), level, reference, self.spec.dram_beats_per_clock, &self.table.dram_background)
    }

    /// The energy of one sample.
    pub fn sample(&self, sample: &Sample) -> SamplePower {
        let factors = self.scaling(Level::from(sample));
        let seconds = sample.end.saturating_sub(sample.start) as f64 * 1e-15;
        let cycle = if sample.core_mhz > 0.0 { 1e-6 / sample.core_mhz } else { 0.0 };
        let mut labels = [0.0; LABELS];
        let sms = sample.sms.iter().map(|sm| self.sm(sm, &factors, seconds, cycle, &mut labels)).collect();
        let chip = self.chip(sample, &factors, seconds, &mut labels);
        SamplePower { start: sample.start, end: sample.end, launch: sample.launch, sms, chip, labels }
    }

    fn sm(
        &self,
        sm: &SmActivity,
        factors: &Scaling,
        seconds: f64,
        cycle: f64,
        labels: &mut [f64; LABELS],
    ) -> [Energy; SM_COMPONENTS] {
        let mut energy = [Energy::default(); SM_COMPONENTS];
        let clocked = self.clocked(sm);
        for charge in &self.sm_charges {
            let at = charge.component as usize;
            let joules = count(&sm.events, charge.event) * charge.joules * factors.core_event * clocked[at];
            energy[at].dynamic += joules;
            labels[charge.label as usize] += joules;
        }
        let mut leaked = 0.0;
        for (at, (own, powered)) in energy.iter_mut().zip(self.powered(sm)).enumerate() {
            own.leakage = self.leakage[at] * factors.core_leakage * seconds * powered;
            leaked += own.leakage;
        }
        let mut overhead = 0.0;
        for (component, gatings) in self.group_gatings(sm) {
            let unit = &mut energy[component as usize];
            unit.overhead = self.leakage[component as usize] * factors.core_leakage * cycle * gatings;
            overhead += unit.overhead;
        }
        for (component, lanes, residency) in self.units(sm) {
            let unit = &mut energy[component as usize];
            let one_cycle = self.leakage[component as usize] / f64::from(lanes.max(1)) * factors.core_leakage * cycle;
            unit.overhead = one_cycle * self.lanes.transitions(residency);
            unit.overhead += self.options.policy.hardware_share * unit.total();
            let lane_cycles = sm.cycles as f64 * f64::from(lanes);
            unit.overhead += self.lane_hardware(component, residency.busy as f64, lane_cycles) * factors.core_event;
            overhead += unit.overhead;
        }
        let idle = leaked * share(count(&sm.events, IDLE_CYCLE), sm.cycles as f64);
        labels[Label::IdleCorep as usize] += idle;
        labels[Label::Staticp as usize] += leaked - idle + overhead;
        energy
    }

    fn chip(
        &self,
        sample: &Sample,
        factors: &Scaling,
        seconds: f64,
        labels: &mut [f64; LABELS],
    ) -> [Energy; CHIP_COMPONENTS] {
        let mut energy = [Energy::default(); CHIP_COMPONENTS];
        for charge in &self.mem_charges {
            let joules = count(&sample.mem, charge.event) * charge.joules * factors.mem_event;
            energy[charge.component as usize - SM_COMPONENTS].dynamic += joules;
            labels[charge.label as usize] += joules;
        }
        for (own, &component) in energy.iter_mut().zip(&Component::ALL[SM_COMPONENTS..]) {
            own.leakage = self.leakage[component as usize] * leakage_factor(factors, component) * seconds;
            labels[Label::Staticp as usize] += own.leakage;
        }
        for (component, watts) in [
            (Component::Clock, self.clock_w * factors.clock),
            (Component::MemoryControllers, self.controllers_w * factors.controllers),
        ] {
            energy[component as usize - SM_COMPONENTS].dynamic += watts * seconds;
            labels[Label::ConstDynamicp as usize] += watts * seconds;
        }
        let transitions = f64::from(sample.transitions) * self.spec.dvfs.transition_nj * 1e-9;
        energy[Component::Other as usize - SM_COMPONENTS].overhead += transitions;
        labels[Label::Staticp as usize] += transitions;
        energy
    }

    /// Energy of the hardware that policies add to lanes, at nominal voltage. A SIMD lane has an INT and an FP pipeline.
    pub(crate) fn lane_hardware(&self, component: Component, worked: f64, lane_cycles: f64) -> f64 {
        let PolicyPower { hardware_lane_used_w: used, hardware_lane_w: always, .. } = self.options.policy;
        match component {
            Component::Int | Component::Fp => (used * worked + always / 2.0 * lane_cycles) / (self.spec.core_mhz * 1e6),
            _ => 0.0,
        }
    }

    /// Cycles of one lane's full leakage that some lanes' leakage and transitions amount to.
    pub(crate) fn leaked_cycles(&self, residency: &LaneResidency) -> f64 {
        let all: u64 = residency.cycles.iter().sum();
        all as f64 * self.lanes.leaking(residency) + self.lanes.transitions(residency)
    }

    /// INT, FP and SFU with their lanes and residencies.
    pub(crate) fn units<'a>(&self, sm: &'a SmActivity) -> [(Component, u32, &'a LaneResidency); 3] {
        let (sp, sfu) = self.spec.lanes();
        [(Component::Int, sp, &sm.int), (Component::Fp, sp, &sm.fp), (Component::Sfu, sfu, &sm.sfu)]
    }

    /// Share of each component's leakage that is there.
    pub(crate) fn powered(&self, sm: &SmActivity) -> [f64; SM_COMPONENTS] {
        let mut powered = [1.0; SM_COMPONENTS];
        for (component, _, residency) in self.units(sm) {
            powered[component as usize] = self.lanes.leaking(residency);
        }
        powered[Component::Decode as usize] = 1.0 - Groups::of(sm, &[IFID]).gated();
        powered[Component::Scheduler as usize] = 1.0 - Groups::of(sm, &[SCH]).gated();
        if self.options.policy.absent {
            powered[Component::Fetch as usize] = 1.0 - Groups::of(sm, &[IFID]).gated();
            powered[Component::InstructionBuffer as usize] = 1.0 - Groups::of(sm, &[IFID]).gated();
            for (component, stages) in CLOCK_GATED {
                powered[component as usize] = 1.0 - Groups::of(sm, stages).unclocked();
            }
        }
        powered
    }

    /// Decoders and schedulers: what their gating events cost, in cycles of the whole component's leakage.
    pub(crate) fn group_gatings(&self, sm: &SmActivity) -> [(Component, f64); 2] {
        let cost = self.options.policy.component_gating.unwrap_or(self.table.gating.component_bet_cycles);
        let groups = self.spec.component_groups();
        [(Component::Decode, IFID), (Component::Scheduler, SCH)].map(|(component, stage)| {
            (component, cost * sm.component_gatings[stage] as f64 / f64::from(groups[stage].max(1)))
        })
    }

    /// What groups and lanes that slept have saved over some samples, against all of them always on: by component of the
    /// SMs, those that have saved nothing left out.
    pub fn savings(&self, samples: &[Sample]) -> Vec<Saving> {
        let mut savings = [(0.0, 0.0); SM_COMPONENTS];
        for sample in samples {
            let factors = self.scaling(Level::from(sample));
            let seconds = sample.end.saturating_sub(sample.start) as f64 * 1e-15;
            for (sm, energy) in sample.sms.iter().zip(self.sample(sample).sms) {
                let (powered, clocked) = (self.powered(sm), self.clocked(sm));
                for (at, saving) in savings.iter_mut().enumerate() {
                    let full = self.leakage[at] * factors.core_leakage * seconds;
                    saving.0 += full * (1.0 - powered[at]) - energy[at].overhead;
                }
                for charge in &self.sm_charges {
                    let at = charge.component as usize;
                    let full = count(&sm.events, charge.event) * charge.joules * factors.core_event;
                    savings[at].1 += full * (1.0 - clocked[at]);
                }
            }
        }
        let some = |(component, (leakage, dynamic)): (&Component, (f64, f64))| {
            (leakage != 0.0 || dynamic != 0.0).then_some(Saving { component: *component, leakage, dynamic })
        };
        Component::ALL.iter().zip(savings).filter_map(some).collect()
    }

    /// Share of each component's dynamic energy that its clocked groups draw. Where the others are absent nothing loses its
    /// clock: those that are there do all of the work.
    pub(crate) fn clocked(&self, sm: &SmActivity) -> [f64; SM_COMPONENTS] {
        let mut clocked = [1.0; SM_COMPONENTS];
        if self.options.policy.absent {
            return clocked;
        }
        let lost = 1.0 - self.table.gating.clock_gated_dynamic;
        clocked[Component::InstructionBuffer as usize] = 1.0 - lost * Groups::of(sm, &[IFID]).unclocked();
        for (component, stages) in CLOCK_GATED {
            clocked[component as usize] = 1.0 - lost * Groups::of(sm, stages).unclocked();
        }
        let halved = share(sm.register_file_halved as f64, sm.cycles as f64);
        clocked[Component::RegisterFile as usize] = 1.0 - lost * halved / 2.0;
        clocked
    }
}

// Indices into `COMPONENT_NAMES`.
const IFID: usize = 0;
const SCH: usize = 1;
/// IDOC and OCEX registers.
const PIPELINE_REGISTERS: [usize; 6] = [2, 3, 4, 8, 9, 10];
const COLLECTORS: [usize; 3] = [5, 6, 7];
const EX_LDST: usize = PIPELINE - 1;

const IDLE_CYCLE: usize = warpwatt_machine::activity::SmEvent::IdleCycle as usize;

/// Components whose groups lose their clock alone, with their stages of the pipeline.
const CLOCK_GATED: [(Component, &[usize]); 3] =
    [(Component::Pipeline, &PIPELINE_REGISTERS), (Component::Collectors, &COLLECTORS), (Component::Ldst, &[EX_LDST])];

/// Group-cycles of some pipeline components.
struct Groups {
    on: f64,
    gated: f64,
    clock_gated: f64,
}

impl Groups {
    fn of(sm: &SmActivity, stages: &[usize]) -> Groups {
        let sum = |cycles: &[u64; PIPELINE]| stages.iter().map(|&stage| cycles[stage] as f64).sum();
        Groups {
            on: sum(&sm.component_on),
            gated: sum(&sm.component_gated),
            clock_gated: sum(&sm.component_clock_gated),
        }
    }

    fn all(&self) -> f64 {
        self.on + self.gated + self.clock_gated
    }

    /// Share of group-cycles without power.
    fn gated(&self) -> f64 {
        share(self.gated, self.all())
    }

    /// Share of group-cycles without a clock.
    fn unclocked(&self) -> f64 {
        share(self.gated + self.clock_gated, self.all())
    }
}

/// What transitions cost under some options.
pub(crate) fn gating(table: &EnergyTable, options: &PowerOptions) -> GatingEnergy {
    let (t, itap) = (&table.gating, options.gating_cost == GatingCost::Itap);
    options.policy.gating.unwrap_or(GatingEnergy {
        gate: if itap { 0.0 } else { t.bet_cycles },
        wake: if itap { t.itap_pg_cycles } else { 0.0 },
        wake_vs05: t.itap_vs05_cycles,
        wake_vs03: t.itap_vs03_cycles,
    })
}

impl LaneCosts {
    fn new(table: &EnergyTable, options: &PowerOptions) -> LaneCosts {
        let mut costs = LaneCosts { leaking: [1.0; LANE_STATES], gating: gating(table, options) };
        let gating = &table.gating;
        costs.leaking[LaneState::Gated as usize] = gating.pg_leakage;
        costs.leaking[LaneState::Blackout as usize] = gating.pg_leakage;
        costs.leaking[LaneState::Vs05 as usize] = gating.vs05_leakage;
        costs.leaking[LaneState::Vs03 as usize] = gating.vs03_leakage;
        costs
    }

    /// Average share of leakage over the lane-cycles of a sample.
    fn leaking(&self, residency: &LaneResidency) -> f64 {
        let all: f64 = residency.cycles.iter().map(|&cycles| cycles as f64).sum();
        let leaking: f64 = residency.cycles.iter().zip(self.leaking).map(|(&cycles, left)| cycles as f64 * left).sum();
        if all > 0.0 { leaking / all } else { 1.0 }
    }

    /// Cycles of one lane's leakage that the sample's transitions cost.
    fn transitions(&self, residency: &LaneResidency) -> f64 {
        let cost = &self.gating;
        let wakes = |state: LaneState| residency.wakes[state as usize] as f64;
        residency.entries[LaneState::Gated as usize] as f64 * cost.gate
            + wakes(LaneState::Gated) * cost.wake
            + wakes(LaneState::Vs05) * cost.wake_vs05
            + wakes(LaneState::Vs03) * cost.wake_vs03
    }
}

/// Factor on a component's leakage.
pub(crate) fn leakage_factor(factors: &Scaling, component: Component) -> f64 {
    match component {
        Component::Dram => factors.dram_background,
        Component::Other | Component::Clock => 1.0,
        Component::L2 | Component::Noc | Component::MemoryControllers => factors.mem_leakage,
        _ => factors.core_leakage,
    }
}

fn count(events: &[u64], event: usize) -> f64 {
    events.get(event).copied().unwrap_or(0) as f64
}

/// `part` of `all`; none of nothing.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { (part / all).min(1.0) } else { 0.0 }
}
