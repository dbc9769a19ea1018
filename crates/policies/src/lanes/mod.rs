//! Power states of execution-unit lanes: what every policy that switches lanes shares.
//!
//! An SM's SPs have 32 lanes each (or fewer, `simd_width`), with an INT and an FP pipeline in every lane, and (if a policy
//! wants them) its SFUs have 4. A [`Pipe`] is the lanes of one type in one unit, or of both types where these are switched together. Lanes
//! of a pipe with the same history are one [`Cohort`]; an instruction splits cohorts, a power state is entered and left by
//! a whole cohort.
//!
//! Nothing is done per cycle. Lanes that are left alone are on until they are idle, then detect idleness, then sleep; so a
//! cohort is a few cycles ([`Cohort`]), and its state in any cycle follows from them. They change when an instruction wants
//! lanes or starts on them, and when a policy changes its mind; what has been is then counted, in closed form ([`Tracker`]).
//! When lanes sleep, for how long at least, and how long they take to wake up, a policy says ([`Control`]); [`Lanes`] makes a
//! hook object of both.
//!
//! # Conventions
//!
//! - A lane *works* from the cycle in which its instruction starts, for the unit's initiation interval (twice for a folded
//!   warp): the papers' pipeline bubbles are cycles in which nothing enters a pipe (Origami §2.3). With
//!   [`Occupancy::Pipeline`] it works until the result leaves it. Decision: Origami §3.1 says of a *unit* that it cannot be gated
//!   before its pipeline is empty, but has bubbles of a cycle or two (Fig. 2), and conventional gating that loses by them.
//! - An instruction that arrives in the cycle of a change comes first: after an idle period of exactly the idle-detect
//!   window a lane has not been gated. With a window of 0 it is gated in its first idle cycle.
//! - An instruction starts when all its lanes are awake. Meanwhile those that are awake stay so, and count as on.
//! - A demand is made when the instruction stands in front of the unit (OCEX register), not earlier; with
//!   [`Demand::Issue`] when it issues, of the SP in which it can start soonest (each instruction on its way takes a cycle
//!   of its SP, a folded warp two), so that lanes wake up while its operands are collected, and lanes that are awake are not
//!   gated meanwhile, also behind another instruction (unless the folded part of a phase begins in these cycles). Papers do
//!   not say which; Origami §4.4, where six more cycles of wake-up cost 1.4 % of time, means that most of the wake-up is
//!   hidden.
//! - The lanes of a group ([`Setup::granularity`]) are on while any of them works. A group is no larger than the SP.
//! - On a narrow SP ([`warpwatt_machine::simd`]) each sub-warp starts on its own lanes. An instruction that demands its lanes
//!   when it issues demands those of all its sub-warps at once.

mod account;
mod cohort;
mod control;
mod hook;
mod idle;
mod line;
mod setup;
mod tracker;

pub use cohort::{Cohort, Pipe, PipeKind};
pub use control::{Control, Idle};
pub use hook::Lanes;
pub use idle::{BINS, IdlePeriods};
pub use setup::{Demand, Occupancy, Scope, Setup};
pub use tracker::Tracker;
