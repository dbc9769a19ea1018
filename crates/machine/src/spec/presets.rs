//! The GPUs that come with the program.

/// Name and text of each preset; a `base` is another preset.
pub(super) const FILES: &[(&str, &str)] = &[
    ("gtx480", include_str!("../../gpus/gtx480.toml")),
    ("gtx480-equalizer", include_str!("../../gpus/gtx480-equalizer.toml")),
    ("gtx480-crisp", include_str!("../../gpus/gtx480-crisp.toml")),
    ("c2050", include_str!("../../gpus/c2050.toml")),
    ("kepler-big", include_str!("../../gpus/kepler-big.toml")),
    ("kepler-small", include_str!("../../gpus/kepler-small.toml")),
    ("pascal16", include_str!("../../gpus/pascal16.toml")),
];

/// Names of all presets.
pub fn presets() -> impl Iterator<Item = &'static str> + Clone {
    FILES.iter().map(|&(name, _)| name)
}

/// A preset's TOML text.
pub fn preset_text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|&&(preset, _)| preset == name).map(|&(_, text)| text)
}
