//! The benchmark suite: kernels, host drivers, CPU references.
