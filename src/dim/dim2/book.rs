//! Compiles and runs the programs of the 2D docs as tests.

#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))]
struct Readme;

#[doc = include_str!("../../../docs/book/src/two-dimensions.md")]
struct TwoDimensions;
