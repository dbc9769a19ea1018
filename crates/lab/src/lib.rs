//! Runs, run directories, checkpoints, comparisons.
