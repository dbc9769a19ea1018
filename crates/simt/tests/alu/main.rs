//! Tests of the arithmetic: one per PTX form or family of forms, with values worked out from the PTX manual; rounding
//! modes against an independent soft-float; error bounds of the approximate functions.

mod harness;

mod approx;
mod atomic;
mod bits;
mod carry;
mod compare;
mod convert;
mod double;
mod float;
mod forms;
mod half;
mod integer;
mod lanes;
mod oracle;
