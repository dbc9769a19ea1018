//! Tests of the whole memory side, driven through its messages.

mod bandwidth;
mod harness;
mod latency;
mod property;
