//! Power and energy by component.

use crate::table::{percent, si, table};
use warpwatt_lab::power::PowerRecord;

/// The table; shares are of the whole energy.
pub fn power(power: &PowerRecord) -> String {
    let watts = &power.watts;
    let share = |joules: f64| percent((power.joules > 0.0).then(|| joules / power.joules));
    let mut rows = Vec::new();
    for component in &power.components {
        let joules = component.dynamic_joules + component.static_joules;
        let still = percent((joules > 0.0).then(|| component.static_joules / joules));
        let watts = format!("{:.2}", component.watts.average);
        rows.push(vec![component.name.clone(), component.label.clone(), si(joules, "J"), share(joules), still, watts]);
    }
    let still: f64 = power.components.iter().map(|c| c.static_joules).sum();
    let average = format!("{:.2}", watts.average);
    rows.push(vec!["total".into(), String::new(), si(power.joules, "J"), share(power.joules), share(still), average]);
    let header = ["", "", "energy", "share", "static", "average W"];
    let range =
        format!(" average {:.1} W, highest sample {:.1} W, lowest {:.1} W\n", watts.average, watts.max, watts.min);
    range + &table(&header, &rows, 2)
}
