//! Runs, run directories, checkpoints, comparisons.
//!
//! A run is a *program* (a workload of the suite, a launch description, or a quick launch) on a *GPU*. Its inputs are
//! written down and hashed; the hash is the run's key. What comes out is a record ([`record`]) that holds everything a
//! report needs.

pub mod audit;
pub mod bottleneck;
pub mod check;
pub mod checkpoint;
pub mod compare;
pub mod governor;
pub mod idle;
pub mod job;
pub mod mix;
pub mod power;
pub mod predict;
pub mod problem;
pub mod record;
pub mod report;
pub mod request;
pub mod run;
pub mod series;
pub mod statistics;
pub mod store;
pub mod tables;
pub mod trace;
pub mod transcript;
