//! The parts that depend on the number of dimensions: [`dim3`](self) or [`dim2`](self), with the same names.

#[cfg_attr(dim2, path = "dim/dim2.rs")]
#[cfg_attr(not(dim2), path = "dim/dim3.rs")]
mod chosen;

pub use chosen::*;
