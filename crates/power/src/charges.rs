//! What each event costs: the table's rows, resolved for the options at hand.

use crate::component::{Component, Label};
use crate::error::PowerError;
use crate::options::{Arithmetic, PowerOptions};
use crate::table::{Charge, EnergyTable};
use warpwatt_machine::activity::{MemEvent, SmEvent};

/// A row ready to be multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resolved {
    /// Index of the event, among SM or memory events.
    pub(crate) event: usize,
    pub(crate) component: Component,
    pub(crate) label: Label,
    /// Joules of one event at nominal voltage.
    pub(crate) joules: f64,
}

/// Rows of SM events and of memory events.
pub(crate) struct Charges {
    pub(crate) sm: Vec<Resolved>,
    pub(crate) mem: Vec<Resolved>,
}

/// The factor between published datapath energies and what GPUWattch charges: it makes the average lane operation,
/// over the table's mix, cost the same under both.
pub(crate) fn datapath_factor(table: &EnergyTable) -> f64 {
    let mean = |figure: &dyn Fn(&Charge) -> Option<f64>| -> f64 {
        let share = |charge: &Charge| table.physical.mix.get(&charge.event).copied().unwrap_or(0.0);
        table.charge.iter().filter_map(|charge| Some(share(charge) * figure(charge)? / charge.per)).sum()
    };
    let datapath = mean(&|charge| charge.datapath_pj.map(|pj| pj * charge.per));
    if datapath > 0.0 { mean(&|charge| charge.pj) / datapath } else { 1.0 }
}

/// Energy of one event of a row, pJ, before technology factors.
pub(crate) fn picojoules(table: &EnergyTable, options: &PowerOptions, charge: &Charge) -> f64 {
    if let Some(active) = &charge.inactive_of {
        if options.lane_clock_gating || options.policy.lane_clock_gating {
            return 0.0;
        }
        let active = table.charge.iter().find(|other| &other.event == active && other.inactive_of.is_none());
        return active.map_or(0.0, |active| table.lanes.inactive * picojoules(table, options, active));
    }
    match (options.arithmetic, charge.datapath_pj) {
        (Arithmetic::Physical, Some(datapath)) => datapath * datapath_factor(table),
        _ => charge.pj.unwrap_or(0.0) / charge.per,
    }
}

/// Resolves all rows; every event must have one, or a reason for having none.
pub(crate) fn resolve(table: &EnergyTable, options: &PowerOptions) -> Result<Charges, PowerError> {
    let unknown =
        |what, given: &str| PowerError::UnknownName { name: table.name.clone(), what, given: given.to_owned() };
    let sm_event = |name: &str| SmEvent::ALL.iter().position(|event| event.name() == name);
    let mem_event = |name: &str| MemEvent::ALL.iter().position(|event| event.name() == name);

    let mut charges = Charges { sm: Vec::new(), mem: Vec::new() };
    for charge in &table.charge {
        let component = Component::named(&charge.component).ok_or_else(|| unknown("component", &charge.component))?;
        let label = Label::named(&charge.label).ok_or_else(|| unknown("label", &charge.label))?;
        if charge.pj.is_some() == charge.inactive_of.is_some() {
            let message = format!("the row of `{}` needs one of `pj` and `inactive_of`", charge.event);
            return Err(PowerError::BadTable { name: table.name.clone(), message });
        }
        let of_nothing =
            |active: &&String| !table.charge.iter().any(|other| &other.event == *active && other.pj.is_some());
        if let Some(active) = charge.inactive_of.as_ref().filter(of_nothing) {
            return Err(unknown("event with an energy", active));
        }
        let class = table.row(component).map_or(1.0, |row| table.technology.dynamic(row.class));
        let joules = picojoules(table, options, charge) * class * 1e-12;
        let (list, event) = match (sm_event(&charge.event), mem_event(&charge.event)) {
            (Some(event), _) if component.in_sm() => (&mut charges.sm, event),
            (_, Some(event)) if !component.in_sm() => (&mut charges.mem, event),
            _ => return Err(unknown("event of this component", &charge.event)),
        };
        list.push(Resolved { event, component, label, joules });
    }

    let names = || SmEvent::ALL.iter().map(|event| event.name()).chain(MemEvent::ALL.iter().map(|event| event.name()));
    for event in names() {
        if !table.uncharged.contains_key(event) && !table.charge.iter().any(|charge| charge.event == event) {
            return Err(PowerError::MissingEvent { name: table.name.clone(), event: event.to_owned() });
        }
    }
    let listed = table.uncharged.keys().chain(table.physical.mix.keys());
    for event in listed {
        if !names().any(|name| name == event) {
            return Err(unknown("event", event));
        }
    }
    Ok(charges)
}
