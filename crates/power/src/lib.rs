//! Activity and residency to joules.
