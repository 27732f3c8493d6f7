//! Compiles and runs the programs of the README and of the book's chapters as tests.

#[doc = include_str!("../README.md")]
struct Readme;

#[doc = include_str!("../docs/book/src/loop.md")]
struct Loop;

#[doc = include_str!("../docs/book/src/strategies.md")]
struct Strategies;

#[doc = include_str!("../docs/book/src/from-rapier.md")]
struct FromRapier;

#[doc = include_str!("../docs/book/src/states.md")]
struct States;

#[cfg(feature = "checksum")]
#[doc = include_str!("../docs/book/src/determinism.md")]
struct Determinism;
