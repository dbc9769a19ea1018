//! Errors over several programs.

use super::Prediction;
use serde::Serialize;
use warpwatt_policies::crisp::MODELS;

/// A model's errors over programs and P-states below the nominal one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Model.
    pub model: &'static str,
    /// Mean absolute percentage error, as a share.
    pub mape: f64,
    /// The largest error.
    pub max: f64,
    /// The program that has it.
    pub worst: String,
    /// Mean absolute error at each P-state below the nominal one: MHz and error.
    pub by_state: Vec<(f64, f64)>,
}

/// Errors of all models; empty unless all programs' true times are known.
pub fn errors(predictions: &[Prediction]) -> Vec<Errors> {
    let one = |(at, model): (usize, &&'static str)| {
        let known: Option<Vec<f64>> = predictions.iter().map(|p| p.models.get(at)?.mape).collect();
        let known = known.filter(|k| !k.is_empty())?;
        let worst = |p: &&Prediction| p.models[at].max.unwrap_or(0.0);
        let most = predictions.iter().max_by(|a, b| worst(a).total_cmp(&worst(b)))?;
        let first = predictions.first()?;
        let by_state = first.targets().map(|state| {
            let off = predictions.iter().filter_map(|p| p.models[at].errors.get(state)).map(|e| e.abs());
            (first.states[state].mhz, off.sum::<f64>() / predictions.len() as f64)
        });
        Some(Errors {
            model,
            mape: known.iter().sum::<f64>() / known.len() as f64,
            max: worst(&most),
            worst: most.program.clone(),
            by_state: by_state.collect(),
        })
    };
    MODELS.iter().enumerate().filter_map(one).collect()
}

/// Whether errors are ordered as the paper's: CRISP's at most half of LEAD's and of CRIT's, and at most 8 %.
pub fn orders(errors: &[Errors]) -> Option<bool> {
    let of = |model: &str| errors.iter().find(|e| e.model == model).map(|e| e.mape);
    let (crisp, lead, crit) = (of("crisp")?, of("lead")?, of("crit")?);
    Some(crisp <= 0.08 && crisp <= lead / 2.0 && crisp <= crit / 2.0)
}
