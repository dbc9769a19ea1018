//! "Did you mean": the nearest of a list of names.

/// A hint for a name that is not among `names`: the nearest one, or else all of them after `otherwise`.
pub(super) fn among<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone, otherwise: &str) -> String {
    match nearest(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{otherwise} {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// The nearest name, if one is near enough to be a slip of the hand.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let slips = |near: &str| strsim::damerau_levenshtein(&name.to_lowercase(), near);
    names
        .map(|near| (slips(near), near))
        .filter(|&(slips, near)| slips <= 2.max(near.len() / 3).min(near.len() - 1))
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, near)| near)
}
