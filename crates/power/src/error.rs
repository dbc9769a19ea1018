//! What can be wrong with an energy table, and what an audit may find.

use miette::Diagnostic;
use thiserror::Error;

/// A power model that cannot be built.
#[derive(Clone, Debug, PartialEq, Error, Diagnostic)]
pub enum PowerError {
    /// The GPU names a table that does not exist.
    #[error("unknown energy table `{name}`")]
    #[diagnostic(code(power::unknown_table), help("the tables are {known}: set `energy_table` to one of them"))]
    UnknownTable {
        /// The name.
        name: String,
        /// Tables that exist.
        known: String,
    },
    /// A table that is not valid TOML or lacks a figure.
    #[error("energy table `{name}`: {message}")]
    #[diagnostic(code(power::bad_table))]
    BadTable {
        /// The table.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// A base that is no table or leads back to itself.
    #[error("energy table `{name}` has the base `{base}`, which is no other table")]
    #[diagnostic(code(power::bad_base))]
    BadBase {
        /// The table.
        name: String,
        /// Its base.
        base: String,
    },
    /// An event without a row.
    #[error("energy table `{name}` has no row for the event `{event}`")]
    #[diagnostic(
        code(power::missing_event),
        help("add a [[charge]] for it, or a line under [uncharged] that says why it costs nothing")
    )]
    MissingEvent {
        /// The table.
        name: String,
        /// The event.
        event: String,
    },
    /// A row for something that does not exist.
    #[error("energy table `{name}`: unknown {what} `{given}`")]
    #[diagnostic(code(power::unknown_name))]
    UnknownName {
        /// The table.
        name: String,
        /// Event, component or label.
        what: &'static str,
        /// The name given.
        given: String,
    },
    /// A figure that is no energy, power or count.
    #[error("energy table `{name}`: `{figure}` = {value} must be {legal}")]
    #[diagnostic(code(power::bad_figure))]
    BadFigure {
        /// The table.
        name: String,
        /// The figure.
        figure: String,
        /// Its value.
        value: f64,
        /// What it must be.
        legal: &'static str,
    },
}

/// A miscount: a mistake in the simulator, or in the arithmetic of power.
#[derive(Clone, Debug, PartialEq, Error, Diagnostic)]
pub enum AuditError {
    /// A sample of the wrong shape.
    #[error("sample {sample}: {what}: {found} instead of {expected}")]
    #[diagnostic(code(audit::shape))]
    Shape {
        /// Index of the sample.
        sample: usize,
        /// SMs or events.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The lane-cycles of a unit do not add up.
    #[error(
        "sample {sample}, SM {sm}: the {unit} lanes' states add up to {found} lane-cycles, \
         but {lanes} lanes × {cycles} cycles are {expected}"
    )]
    #[diagnostic(code(audit::lane_residency))]
    LaneResidency {
        /// Index of the sample.
        sample: usize,
        /// SM.
        sm: usize,
        /// INT, FP or SFU.
        unit: &'static str,
        /// Lanes of the unit.
        lanes: u32,
        /// Cycles of the sample.
        cycles: u64,
        /// Lane-cycles that there must be.
        expected: u64,
        /// Lane-cycles counted.
        found: u64,
    },
    /// The group-cycles of a pipeline component do not add up.
    #[error(
        "sample {sample}, SM {sm}: {component} is on, gated and clock-gated for {found} group-cycles, \
         but {groups} groups × {cycles} cycles are {expected}"
    )]
    #[diagnostic(code(audit::component_residency))]
    ComponentResidency {
        /// Index of the sample.
        sample: usize,
        /// SM.
        sm: usize,
        /// Component.
        component: &'static str,
        /// Its groups.
        groups: u32,
        /// Cycles of the sample.
        cycles: u64,
        /// Group-cycles that there must be.
        expected: u64,
        /// Group-cycles counted.
        found: u64,
    },
    /// An execution unit's groups are power-gated for longer than its lanes.
    #[error(
        "sample {sample}, SM {sm}: {component} is power-gated for {group_cycles} group-cycles, \
         but its lanes sleep for only {lane_cycles} lane-cycles"
    )]
    #[diagnostic(
        code(audit::gated_lanes),
        help("the leakage of an execution unit follows its lanes: a policy that gates the group must gate them")
    )]
    GatedLanes {
        /// Index of the sample.
        sample: usize,
        /// SM.
        sm: usize,
        /// EX_SP or EX_SFU.
        component: &'static str,
        /// Group-cycles power-gated.
        group_cycles: u64,
        /// Lane-cycles in which a lane sleeps.
        lane_cycles: u64,
    },
    /// Energies that do not add up to the total.
    #[error("{what} add up to {found} J, but the total by the other path is {expected} J")]
    #[diagnostic(code(audit::energy))]
    Energy {
        /// What was summed.
        what: &'static str,
        /// The total by another path.
        expected: f64,
        /// The sum.
        found: f64,
    },
}
