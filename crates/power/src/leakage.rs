//! Leakage of each component at nominal voltage, under each split.
//!
//! A table names the split that is its default; without, it is that of its rows. The splits differ in how the watts are shared out, not in their sum, with one exception: under `area` the two
//! GPUs of µC-States have one density, so that what the big one leaks more than the small one follows from area.

use crate::component::{COMPONENTS, Component};
use crate::options::LeakageSplit;
use crate::table::EnergyTable;
use warpwatt_machine::spec::Spec;

/// W by component: of one SM for an SM's components, of the chip for the others.
pub(crate) fn leakage(table: &EnergyTable, spec: &Spec, split: LeakageSplit) -> [f64; COMPONENTS] {
    let mut watts = [0.0; COMPONENTS];
    for &component in Component::ALL {
        watts[component as usize] = default_watts(table, spec, component);
    }
    let split = if split == LeakageSplit::Default { table.leakage.split } else { split };
    match split {
        LeakageSplit::Default | LeakageSplit::Origami => {}
        LeakageSplit::Area => by_area(table, spec, &mut watts),
        LeakageSplit::Mcpat => as_mcpat(table, spec, &mut watts),
    }
    watts
}

/// Share of an SP's lanes that are there: tables describe SPs of 32. Leakage and area of the INT and FP pipelines are their
/// lanes' (ITAP's narrow SIMD units, §6.4.3, have fewer of the same); what lies before and behind them takes whole warps.
fn lanes(spec: &Spec, component: Component) -> f64 {
    match component {
        Component::Int | Component::Fp => f64::from(spec.simd_width) / f64::from(warpwatt_machine::simd::WARP),
        _ => 1.0,
    }
}

fn default_watts(table: &EnergyTable, spec: &Spec, component: Component) -> f64 {
    table.row(component).map_or(0.0, |row| {
        row.leakage_w * table.scale(spec, row.per) * lanes(spec, component) * table.technology.leakage(row.class)
    })
}

/// Area of a component, mm²: of one SM's, or of the chip's.
pub(crate) fn area(table: &EnergyTable, spec: &Spec, component: Component) -> f64 {
    table.row(component).map_or(0.0, |row| row.area_mm2 * table.scale(spec, row.per) * lanes(spec, component))
}

fn sm_components() -> impl Iterator<Item = Component> {
    Component::ALL.iter().copied().filter(|component| component.in_sm())
}

fn by_area(table: &EnergyTable, spec: &Spec, watts: &mut [f64; COMPONENTS]) {
    let split = &table.leakage.area;
    let sm_area: f64 = sm_components().map(|component| area(table, spec, component)).sum();
    let sm_watts: f64 = sm_components().map(|component| watts[component as usize]).sum();
    let density = split.core_w_per_mm2.unwrap_or(if sm_area > 0.0 { sm_watts / sm_area } else { 0.0 });
    for &component in Component::ALL {
        let own = &mut watts[component as usize];
        *own = if component.in_sm() {
            area(table, spec, component) * density
        } else {
            *own * split.non_core.unwrap_or(1.0)
        };
    }
}

fn as_mcpat(table: &EnergyTable, spec: &Spec, watts: &mut [f64; COMPONENTS]) {
    let units = || Component::ALL.iter().copied().filter(|component| component.is_execution_unit());
    let at_reference: f64 = units().filter_map(|unit| table.row(unit)).map(|row| row.leakage_w).sum();
    let before: f64 = units().map(|unit| watts[unit as usize]).sum();
    let sm: f64 = sm_components().map(|component| default_watts(table, spec, component)).sum();
    if at_reference <= 0.0 || sm <= before {
        return;
    }
    let of_units = table.leakage.mcpat.execution_w / at_reference;
    let of_others = (sm - before * of_units) / (sm - before);
    for component in sm_components() {
        watts[component as usize] *= if component.is_execution_unit() { of_units } else { of_others };
    }
}
