//! The benchmark suite: kernels, host drivers, CPU references.
//!
//! Workloads that carry the names of benchmarks in published suites (Rodinia, Parboil, the CUDA SDK and others) because the
//! literature on GPU power reports results by those names. They are written anew from the algorithms, and stand for the
//! benchmarks' *behaviour*: where the original tiles through shared memory, diverges, or launches many small kernels, so
//! does ours. Inputs are generated, so results compare with a paper's in kind, not in number.
//!
//! Each workload is a folder: `kernel.cu`, the `kernel.ptx` that `scripts/make-ptx.sh` makes from it, a host driver, a
//! CPU reference. A driver sees the GPU through [`Device`] only, and its calls depend on nothing but what
//! [`Device::read`] gave it, so that a transcript of a run can be replayed. It verifies the results itself.
//!
//! Where the kernel only uses operations that IEEE 754 defines, the reference does the same operations in the same order
//! and the results must have equal bits. Where a kernel uses the hardware's approximate functions, each workload states
//! its tolerance and the reason.

mod host;
mod math;
mod rng;
mod suite;
mod verify;

pub mod backprop;
pub mod bfs;
pub mod black_scholes;
pub mod btree;
pub mod cfd;
pub mod cp;
pub mod cutcp;
pub mod fast_walsh;
pub mod gaussian;
pub mod heartwall;
pub mod histo;
pub mod hotspot;
pub mod kmeans;
pub mod kmeans_thrash;
pub mod lavamd;
pub mod lbm;
pub mod leukocyte;
pub mod libor;
pub mod lud;
pub mod mri_gridding;
pub mod mri_q;
pub mod mst;
pub mod mummer;
pub mod myocyte;
pub mod nn;
pub mod nw;
pub mod particlefilter;
pub mod pathfinder;
pub mod qtc;
pub mod ray;
pub mod reduction;
pub mod reference;
pub mod sad;
pub mod scalar_prod;
pub mod scan_large_array;
pub mod sgemm;
pub mod spmv;
pub mod spmv_phases;
pub mod srad;
pub mod stencil;
pub mod streamcluster;
pub mod transpose;

pub use suite::{Size, UnknownWorkload, Workload, all, find};
pub use verify::Verification;
pub use warpwatt_simt::device::{Device, DeviceError};
