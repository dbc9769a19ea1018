//! Power and energy by component.

use crate::table::{decimal, percent, si, table};
use warpwatt_lab::power::PowerRecord;

/// The table; shares are of the whole energy.
pub fn power(power: &PowerRecord) -> String {
    let total = &power.total;
    let all = total.joules.total();
    let watts = |w: Option<f64>| decimal(w, 2);
    let part = |part: f64, whole: f64| percent((whole > 0.0).then(|| part / whole));
    let mut rows = Vec::new();
    for component in &total.components {
        let joules = component.joules.total();
        let still = part(component.joules.leakage + component.joules.overhead, joules);
        let name = component.component.name().to_owned();
        let w = &component.watts;
        rows.push(vec![name, si(joules, "J"), percent(component.share), still, watts(w.average), watts(w.max)]);
    }
    let still = part(total.joules.leakage + total.joules.overhead, all);
    let share = part(all, all);
    rows.push(vec!["total".into(), si(all, "J"), share, still, watts(total.watts.average), watts(total.watts.max)]);
    let w = &total.watts;
    let one = |w: Option<f64>| decimal(w, 1);
    let range = format!(" average {} W, highest sample {} W, lowest {} W\n", one(w.average), one(w.max), one(w.min));
    range + &table(&["", "energy", "share", "static", "average W", "max W"], &rows, 1)
}
