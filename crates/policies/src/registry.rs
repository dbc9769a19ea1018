//! The list of all policies.

use crate::error::{PolicyError, suggest};
use crate::system::Definition;
use crate::{
    always_on, ccws, cpg, crisp, dyncta, equalizer, full_width, itap, lane_clock_gating, origami, pats, permute,
    shapes, static_point, ucstates, warped_gates,
};

/// All policies, in the order in which they are listed.
pub const POLICIES: &[Definition] = &[
    Definition::of::<always_on::AlwaysOn>(),
    Definition::of::<cpg::Cpg>(),
    Definition::of::<origami::Fold>(),
    Definition::of::<origami::Origami>(),
    Definition::of::<warped_gates::WarpedGates>(),
    Definition::of::<pats::Pats>(),
    Definition::of::<permute::Permute>(),
    Definition::of::<itap::ItapPow>(),
    Definition::of::<itap::ItapPerf>(),
    Definition::of::<itap::ItapIdeal>(),
    Definition::of::<lane_clock_gating::LaneClockGating>(),
    Definition::of::<equalizer::EqualizerEnergy>(),
    Definition::of::<equalizer::EqualizerPerformance>(),
    Definition::of::<dyncta::DynCta>(),
    Definition::of::<ccws::Ccws>(),
    Definition::of::<static_point::Static<0>>(),
    Definition::of::<static_point::Static<1>>(),
    Definition::of::<static_point::Static<2>>(),
    Definition::of::<static_point::Static<3>>(),
    Definition::of::<static_point::Ctas>(),
    Definition::of::<crisp::CrispModel>(),
    Definition::of::<crisp::CrispLModel>(),
    Definition::of::<crisp::LeadModel>(),
    Definition::of::<crisp::CritModel>(),
    Definition::of::<crisp::StallModel>(),
    Definition::of::<crisp::MissModel>(),
    Definition::of::<crisp::CrispEdp>(),
    Definition::of::<crisp::CrispEd2p>(),
    Definition::of::<crisp::CrispEnergy>(),
    Definition::of::<crisp::CrispLEdp>(),
    Definition::of::<crisp::CrispLEd2p>(),
    Definition::of::<crisp::CrispLEnergy>(),
    Definition::of::<crisp::LeadEdp>(),
    Definition::of::<crisp::LeadEd2p>(),
    Definition::of::<crisp::LeadEnergy>(),
    Definition::of::<crisp::CritEdp>(),
    Definition::of::<crisp::CritEd2p>(),
    Definition::of::<crisp::CritEnergy>(),
    Definition::of::<crisp::StallEdp>(),
    Definition::of::<crisp::StallEd2p>(),
    Definition::of::<crisp::StallEnergy>(),
    Definition::of::<crisp::MissEdp>(),
    Definition::of::<crisp::MissEd2p>(),
    Definition::of::<crisp::MissEnergy>(),
    Definition::of::<crisp::OracleEdp>(),
    Definition::of::<crisp::OracleEd2p>(),
    Definition::of::<crisp::OracleEnergy>(),
    Definition::of::<full_width::FullWidth>(),
    Definition::of::<ucstates::UcStates>(),
    Definition::of::<shapes::Static<0>>(),
    Definition::of::<shapes::Static<1>>(),
    Definition::of::<shapes::Static<2>>(),
    Definition::of::<shapes::Static<3>>(),
    Definition::of::<shapes::Static<4>>(),
    Definition::of::<shapes::Static<5>>(),
    Definition::of::<shapes::Static<6>>(),
    Definition::of::<shapes::Static<7>>(),
];

/// A policy by its name.
pub fn find(name: &str) -> Result<&'static Definition, PolicyError> {
    POLICIES.iter().find(|d| d.about.name == name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        let hint = suggest(name, &known).unwrap_or_else(|| format!("there is: {}", known.join(", ")));
        PolicyError::Unknown { name: name.to_owned(), hint }
    })
}

/// The names of all policies.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|d| d.about.name)
}
