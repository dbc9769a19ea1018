//! When it happens: a cycle-level SIMT GPU.
